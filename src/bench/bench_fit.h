/*
 * bench_fit.h: fitting by P0 Eq. 11 beside the same in PyTorch.
 */
#ifndef SOTTO_BENCH_BENCH_FIT_H
#define SOTTO_BENCH_BENCH_FIT_H

#include "sotto/sotto.h"

/* How much there is to fit. */
struct bench_fit_size {
    size_t reports, points;
    uint32_t epochs, batches;
};

/* The size of P0's experiments. */
extern const struct bench_fit_size bench_fit_full;

/* Statuses: CHECK (the two do not come to the same), MEMORY, IO. */
SOTTO_CHECKED enum sotto_status
bench_fit_run(const struct bench_fit_size *size,
              void (*row)(void *context, const struct sotto_bench_row *),
              void *context, struct sotto_error *err);

#endif
