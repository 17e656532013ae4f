/*
 * bench_reading.h: how fast a table is read, beside wc -l, Python's csv module
 * with float() on every number, and pandas; and in how much memory.
 */
#ifndef SOTTO_BENCH_BENCH_READING_H
#define SOTTO_BENCH_BENCH_READING_H

#include <stddef.h>

#include "sotto/sotto.h"

struct bench_reading_size {
    size_t bytes; /* of each table */
    int times;    /* each is read; the best counts */
    bool peers;
};
extern const struct bench_reading_size bench_reading_full;

/* Makes a table of numbers, one with quoted texts, and the first one gzipped;
   hands over a row for each reader. The rate is in megabytes (10^6 bytes of the
   plain text) a second. Statuses: CHECK (a wrong sum), IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
bench_reading_run(const struct bench_reading_size *size,
                  void (*row)(void *context, const struct sotto_bench_row *),
                  void *context, struct sotto_error *err);

/* Reads that many bytes from a pipe, and hands over a row with the most memory
   the process has had after each `step` of them. Statuses: as above. */
#define BENCH_READING_MEMORY ((size_t)10000000000)
#define BENCH_READING_STEP ((size_t)1000000000)
SOTTO_CHECKED enum sotto_status
bench_reading_memory(size_t bytes, size_t step,
                     void (*row)(void *context, const struct sotto_bench_row *),
                     void *context, struct sotto_error *err);

#endif
