/*
 * optimiser.h: Adam and SGD with momentum, learning-rate schedules, early
 * stopping.
 */
#ifndef SOTTO_NN_OPTIMISER_H
#define SOTTO_NN_OPTIMISER_H

#include "nn/arena.h"

enum nn_method { NN_METHOD_ADAM = 0, NN_METHOD_SGD = 1 };
enum nn_schedule {
    NN_SCHEDULE_CONSTANT = 0,
    NN_SCHEDULE_COSINE = 1, /* down to `floor` times the rate at the end */
    NN_SCHEDULE_LINEAR = 2, /* likewise, in a straight line */
    NN_SCHEDULE_STEPS = 3   /* times `floor` after each third of the way */
};

struct nn_optimiser {
    enum nn_method method;
    float rate;
    float momentum; /* SGD */
    float decay;    /* decoupled weight decay */
    enum nn_schedule schedule;
    float floor;     /* see the schedules */
    uint64_t warmup; /* steps over which the rate rises from 0 */
    uint64_t steps;  /* in all; 0 for a constant rate */
};

/* The rate at a step, from 0. */
float nn_rate(const struct nn_optimiser *optimiser, uint64_t step);
/* Moves arena->value against arena->gradient; counts arena->step. */
void nn_step(const struct nn_optimiser *optimiser,
             struct tensor_backend *backend, struct nn_arena *arena);
/* Moves the floats from `from` to before `end` alone, and counts nothing: of a
   step that the arena's parts take in turn. */
void nn_step_part(const struct nn_optimiser *optimiser,
                  struct tensor_backend *backend, struct nn_arena *arena,
                  size_t from, size_t end);

/* Early stopping: keep the weights with the lowest score; stop once `patience`
   scores (0: never) were no better. */
struct nn_stopping {
    uint64_t patience;
    uint64_t since; /* scores since the best */
    double best;    /* INFINITY before the first */
    float *kept;    /* a copy of the arena's values at the best, or NULL */
};
/* Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status nn_stopping_init(struct nn_stopping *stopping,
                                                 const struct nn_arena *arena,
                                                 uint64_t patience,
                                                 struct sotto_error *err);
/* Whether to go on. */
bool nn_stopping_score(struct nn_stopping *stopping,
                       const struct nn_arena *arena, double score);
/* Puts the best weights back, if there was a score. */
void nn_stopping_restore(const struct nn_stopping *stopping,
                         struct nn_arena *arena);
void nn_stopping_clear(struct nn_stopping *stopping);

#endif
