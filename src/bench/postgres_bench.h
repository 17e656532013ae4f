/*
 * postgres_bench.h: how many reports a second collectors put into PostgreSQL,
 * beside COPY.
 */
#ifndef SOTTO_BENCH_POSTGRES_BENCH_H
#define SOTTO_BENCH_POSTGRES_BENCH_H

#include "sotto/sotto.h"

/* How much is measured. */
struct postgres_bench_size {
    const size_t *batch; /* reports of a request, each a setting; ends with 0 */
    size_t connections;
    size_t rounds; /* in turns */
    double seconds;
};

extern const struct postgres_bench_size postgres_bench_full;

/*
 * The server is the one that libpq's own environment names (PGHOST, PGUSER,
 * PGDATABASE, ...); what is made there is in schemas of its own, dropped
 * afterwards. For each setting two rows: a collector in this program, beside
 * COPY of as many rows, as many a commit, into a table with the same unique
 * index; and two collectors on one store, beside one. Statuses: IO, MEMORY,
 * ENTROPY, CHECK (a wrong answer), REFUSED.
 */
SOTTO_CHECKED enum sotto_status postgres_bench_run(
    const struct postgres_bench_size *size,
    void (*row)(void *context, const struct sotto_bench_row *row),
    void *context, struct sotto_error *err);

#endif
