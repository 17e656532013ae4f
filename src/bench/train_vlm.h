/*
 * train_vlm.h: how fast the variational encoder's networks learn.
 */
#ifndef SOTTO_BENCH_TRAIN_VLM_H
#define SOTTO_BENCH_TRAIN_VLM_H

#include "sotto/sotto.h"

/*
 * Training steps of an encoder 784-400-150-50-8 and its mirrored decoder at
 * batches of 64 and 1024, on all cores: samples a second, against OpenBLAS
 * alone doing the same products, and against PyTorch where there is one. The
 * gradients are compared with plain loops first. Statuses: MEMORY, IO, REFUSED
 * (a wrong answer).
 */
SOTTO_CHECKED enum sotto_status
train_vlm_run(void (*row)(void *context, const struct sotto_bench_row *row),
              void *context, struct sotto_error *err);

#endif
