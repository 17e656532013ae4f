/*
 * train_vlm.h: how fast the variational mechanism learns.
 */
#ifndef SOTTO_BENCH_TRAIN_VLM_H
#define SOTTO_BENCH_TRAIN_VLM_H

#include "sotto/sotto.h"

/* How much is measured. */
struct train_vlm_size {
    size_t rounds;   /* of everything in turns; at most TRAIN_VLM_ROUNDS_MAX */
    size_t steps;    /* in a round, times the batch */
    size_t settings; /* of the peer's threads: up to PEER_SETTINGS */
    const char *python;
};

#define TRAIN_VLM_ROUNDS_MAX 64u

extern const struct train_vlm_size train_vlm_full;

/*
 * Training steps of an encoder 784-400-150-50-8 and its mirrored decoder at
 * batches of 64 and 1024, on two threads: seconds a step, against PyTorch at
 * the best of its settings, and against OpenBLAS alone doing the same products.
 * Loss and gradients are compared with plain loops first, and the loss after a
 * step with the peer's. Statuses: MEMORY, IO, CHECK (a wrong answer).
 */
SOTTO_CHECKED enum sotto_status
train_vlm_run(const struct train_vlm_size *size,
              void (*row)(void *context, const struct sotto_bench_row *row),
              void *context, struct sotto_error *err);

#endif
