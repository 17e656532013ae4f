/*
 * collector_limit.h: how fast reports can be stored at all.
 */
#ifndef SOTTO_BENCH_COLLECTOR_LIMIT_H
#define SOTTO_BENCH_COLLECTOR_LIMIT_H

#include "bench/collector_place.h"

/*
 * Seconds in which one thread puts `reports` reports into the store at `url`,
 * `group` of them a commit, and moves windows on as a collector does: the same
 * tables and the same flushes, without HTTP and without judging. Opening is not
 * counted. Statuses: store_open's and store_put's; CHECK (one was not new).
 */
SOTTO_CHECKED enum sotto_status
collector_limit_run(const struct collector_place *place, const char *url,
                    uint64_t reports, size_t group, double *ret_seconds,
                    struct sotto_error *err);

/* How often a second the disk takes `bytes` bytes into a file that is there,
   each followed by fdatasync, tried for so long. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
collector_limit_flush(const struct collector_place *place, size_t bytes,
                      double seconds, double *ret_rate,
                      struct sotto_error *err);

#endif
