/*
 * train_clm.h: how fast the contrastive mechanism learns.
 */
#ifndef SOTTO_BENCH_TRAIN_CLM_H
#define SOTTO_BENCH_TRAIN_CLM_H

#include "sotto/sotto.h"

/* How much is measured. */
struct train_clm_size {
    size_t batch;    /* records */
    size_t rounds;   /* of everything in turns; at most TRAIN_CLM_ROUNDS_MAX */
    size_t steps;    /* in a round */
    size_t settings; /* of the peer's threads: up to PEER_SETTINGS */
    const char *python;
};

#define TRAIN_CLM_ROUNDS_MAX 64u

extern const struct train_clm_size train_clm_full;

/*
 * Training steps of the encoder of images of 28x28, on two threads: seconds a
 * step, against PyTorch at the best of its settings, and against oneDNN alone
 * doing the same convolutions on as many threads; then a row for the distortion
 * of images before a step, whose ratio is to the step. Loss and gradients are
 * compared with plain loops first, and the loss after a step with the peer's.
 * Statuses: MEMORY, IO, CHECK (a wrong answer), LIMIT.
 */
SOTTO_CHECKED enum sotto_status
train_clm_run(const struct train_clm_size *size,
              void (*row)(void *context, const struct sotto_bench_row *row),
              void *context, struct sotto_error *err);

#endif
