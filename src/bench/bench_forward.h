/*
 * bench_forward.h: one record through an encoder of images.
 */
#ifndef SOTTO_BENCH_BENCH_FORWARD_H
#define SOTTO_BENCH_BENCH_FORWARD_H

#include "sotto/sotto.h"

/*
 * Times the forward pass of a 28 x 28 image (two convolutions, a pool, one
 * more of each, a dense layer: 2 million multiply-adds) for some `seconds`,
 * beside as many products of one long sum in the cache, which is the limit.
 * Statuses: REFUSED (a wrong answer), MEMORY.
 */
SOTTO_CHECKED enum sotto_status
bench_forward_run(double seconds,
                  void (*row)(void *context, const struct sotto_bench_row *),
                  void *context, struct sotto_error *err);

#endif
