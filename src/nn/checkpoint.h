/*
 * checkpoint.h: all of a training run's state in one safetensors file, so that
 * a run that was stopped goes on and ends with the same weights.
 *
 * Holds the arena's values and moments, the best weights of early stopping,
 * the counters, and `key`, a UTF-8 text that says what is being trained: a
 * checkpoint of anything else is neither taken nor written over. Random numbers
 * are a function of (seed, step), so no generator's state is needed.
 */
#ifndef SOTTO_NN_CHECKPOINT_H
#define SOTTO_NN_CHECKPOINT_H

#include "nn/arena.h"
#include "nn/optimiser.h"

struct nn_progress {
    uint64_t epoch; /* whole epochs done */
    double loss;    /* whatever the trainer wants to remember */
};

/* In one step: the old checkpoint or the new one, never half of one. `stopping`
   may be NULL, here and there alike. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status nn_checkpoint_write(
    const char *path, const char *key, const struct nn_arena *arena,
    const struct nn_stopping *stopping, const struct nn_progress *progress,
    struct sotto_error *err);
/*
 * Fills what `_write` was given. `ret_found` is false, and nothing is touched,
 * if there is no file. Statuses: IO, INPUT (it has another key), FORMAT (it is
 * damaged), MEMORY; the messages of the two say that it may be removed.
 */
SOTTO_CHECKED enum sotto_status
nn_checkpoint_read(const char *path, const char *key, struct nn_arena *arena,
                   struct nn_stopping *stopping, struct nn_progress *progress,
                   bool *ret_found, struct sotto_error *err);

#endif
