/*
 * collector_bench.h: how many reports a second a collector takes, durably; and
 * whether its memory stays as it is.
 */
#ifndef SOTTO_BENCH_COLLECTOR_BENCH_H
#define SOTTO_BENCH_COLLECTOR_BENCH_H

#include "sotto/sotto.h"

#define COLLECTOR_BENCH_ROUNDS_MAX 16u

/* How much is measured. */
struct collector_bench_size {
    const size_t *batch; /* reports of a request, each a setting; ends with 0 */
    size_t connections;
    size_t rounds;     /* of ours and the limit, in turns */
    double seconds;    /* of ours in a round; the disk's alone takes a third */
    uint64_t most;     /* reports in a round; 0: no limit */
    const char *where; /* the folder for the stores; NULL: the system's */
};

extern const struct collector_bench_size collector_bench_full;

/*
 * A row for each setting: a collector started in this program and load.h's
 * requests to it; beside it, in turns and into a store of its own, as many
 * reports straight into the tables with as many a flush (collector_limit.h).
 * Rates are medians over rounds, times those of all requests. Statuses: IO,
 * MEMORY, ENTROPY, CHECK (a wrong answer).
 */
SOTTO_CHECKED enum sotto_status collector_bench_run(
    const struct collector_bench_size *size,
    void (*row)(void *context, const struct sotto_bench_row *row),
    void *context, struct sotto_error *err);

/* How far a store grows. */
struct collector_growth_size {
    uint64_t step, most; /* reports to a row, and in all */
    size_t batch, connections;
    const char *where;
};

/*
 * A row for every step: a collector is started on the store as it is, which is
 * timed, takes the step's reports, and is stopped. Rates are of the step alone,
 * memory is this program's, bytes are those of the store's files. Statuses: as
 * above.
 */
SOTTO_CHECKED enum sotto_status collector_growth_run(
    const struct collector_growth_size *size,
    void (*row)(void *context, const struct sotto_bench_row *row),
    void *context, struct sotto_error *err);

/* How much is sent to look at memory. */
struct collector_memory_size {
    uint64_t step; /* reports to a row */
    size_t steps;
    size_t batch, connections;
    const char *where;
};

extern const struct collector_memory_size collector_memory_full;

/* One collector, and a row whenever it has taken a step's reports: their rate,
   and the memory of this program, which is the collector's and 64 requests'.
   Statuses: as above. */
SOTTO_CHECKED enum sotto_status collector_memory_run(
    const struct collector_memory_size *size,
    void (*row)(void *context, const struct sotto_bench_row *row),
    void *context, struct sotto_error *err);

#endif
