/*
 * bench_analyst.h: what an analyst does with a collector's store: counting,
 * exporting and learning, in which time and memory.
 */
#ifndef SOTTO_BENCH_BENCH_ANALYST_H
#define SOTTO_BENCH_BENCH_ANALYST_H

#include <stddef.h>

#include "sotto/sotto.h"

#define BENCH_ANALYST_REPORTS ((size_t)1000000)
#define BENCH_ANALYST_LARGE ((size_t)100000000)

/*
 * Makes a store of so many simulated reports about a code of ten and a label of
 * three, by flip and then by subset, through the collector's own writer, in a
 * folder of its own that is removed; then decodes, exports and learns from it.
 * Estimates must be within six standard errors of what was simulated, a fit
 * must give each code its label. A row for making the store, decode, export to
 * Parquet and CSV, and fit: reports a second, and the most memory the process
 * has had so far. Statuses: CHECK (a wrong answer), IO, MEMORY, ENTROPY.
 */
SOTTO_CHECKED enum sotto_status
bench_analyst_run(size_t reports,
                  void (*row)(void *context, const struct sotto_bench_row *),
                  void *context, struct sotto_error *err);

/*
 * Makes the store and its mechanism alone, FOLDER/CHANNEL.db and .sotto, and
 * leaves them there, for programs of others. Statuses: IO, MEMORY, ENTROPY.
 */
SOTTO_CHECKED enum sotto_status bench_analyst_make(const char *folder,
                                                   const char *channel,
                                                   size_t reports,
                                                   struct sotto_error *err);

#endif
