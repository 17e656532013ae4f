/*
 * vlm_step.h: the training step that is timed: that of the variational
 * mechanism itself, on made-up records.
 */
#ifndef SOTTO_BENCH_VLM_STEP_H
#define SOTTO_BENCH_VLM_STEP_H

#include "encoder/variational.h"
#include "random/seeded.h"

/* Units from x to z and back to x; the layers are between them. */
#define VLM_LAYERS 8u
extern const size_t vlm_sizes[VLM_LAYERS + 1];

#define VLM_RECORDS ((size_t)2000)
#define VLM_TRIED ((size_t)8) /* records whose answer is checked */
#define VLM_L 5.0             /* radius of the ball */
#define VLM_B 1.25            /* scale of the noise: epsilon 8 */
#define VLM_RATE 1e-3

struct vlm_step {
    struct variational_net net;
    struct analyst_block block; /* of x: all one Bernoulli */
    float *data;                /* VLM_RECORDS rows, 0 or 1 */
    uint32_t *row;              /* a batch's */
    struct seeded seeded;
};

/* Batches of up to n records; clear it in any case. Statuses: MEMORY, LIMIT. */
SOTTO_CHECKED enum sotto_status vlm_step_init(struct vlm_step *step,
                                              struct tensor_backend *backend,
                                              size_t n,
                                              struct sotto_error *err);
void vlm_step_clear(struct vlm_step *step);

/* Draws n records, runs them through, moves the weights. */
void vlm_step_run(struct vlm_step *step, size_t n);

/* Compares loss and gradients of the first VLM_TRIED records with those by
   plain loops. Statuses: CHECK (they differ), MEMORY. */
SOTTO_CHECKED enum sotto_status vlm_step_check(struct vlm_step *step,
                                               struct sotto_error *err);

/* A step over the first VLM_TRIED records; their loss after it, per record and
   with the same noise. */
double vlm_step_try(struct vlm_step *step);

#endif
