/*
 * timing.h: whether the time of a report depends on its record (invariant 7).
 *
 * Instruction counts are proved in CI (tests/client/test_timing_callgrind.sh).
 * They say nothing of caches, branch predictors and instructions of variable
 * duration; a stopwatch does. The test is that of Reparaz, Balasch and
 * Verbauwhede, "Dude, is my code constant time?" (2017): two classes of
 * inputs, one fixed and one random, drawn by a coin before each run, and
 * Welch's t between their times (welch.h). It can show a dependence, and only
 * bound one: leaky routines in the same run show what it would have seen.
 */
#ifndef SOTTO_BENCH_TIMING_H
#define SOTTO_BENCH_TIMING_H

#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"

#define TIMING_RUNS 1000000u

/* What is timed. */
struct timing_subject {
    /* Puts input `row` of the class in place: the same steps for both classes,
       and as many addresses. Not timed; nor is `finish`. */
    void (*prepare)(void *context, uint32_t row, unsigned class_of);
    void (*run)(void *context);
    void (*finish)(void *context);
    void *context;
    uint32_t rows; /* of each class, at most 256 */
};

struct timing_result {
    double t;            /* welch_cropped() */
    double microseconds; /* of a run, the median */
};

/* Times `runs` runs, the class and the row of each drawn from `seed`.
   Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
timing_compare(const struct timing_subject *subject, size_t runs, uint64_t seed,
               struct timing_result *ret_result, struct sotto_error *err);

/*
 * From the encoder's output to the finished report, for every channel there
 * is, `runs` each; before them two leaky controls. Hands over one row each.
 * Statuses: CHECK (a control was not seen), REFUSED (after all rows: a
 * channel's time depends on the record), MEMORY, ENTROPY.
 */
SOTTO_CHECKED enum sotto_status
timing_run(size_t runs,
           void (*row)(void *context, const struct sotto_bench_row *row),
           void *context, struct sotto_error *err);

#endif
