/*
 * clm_step.h: the training step that is timed: that of the contrastive
 * mechanism itself, on made-up images of 28x28, without their distortion.
 */
#ifndef SOTTO_BENCH_CLM_STEP_H
#define SOTTO_BENCH_CLM_STEP_H

#include "encoder/contrastive.h"
#include "random/seeded.h"

#define CLM_SIDE 28u
#define CLM_RECORDS ((size_t)1024)
#define CLM_TRIED ((size_t)8) /* records whose answer is checked */
#define CLM_RATE 3e-3
#define CLM_DECAY 1e-5

struct clm_step {
    struct sotto_table *table;
    struct learnt learnt;
    struct sotto_train_options options;
    struct encoder_job job;
    struct contrastive_settings set;
    struct contrastive_net net;
    struct contrastive_views views;
    uint32_t *row; /* of the views: 2 n */
    struct seeded seeded;
};

/* At batches of n records, the weights the same whatever n is; clear it in any
   case. Statuses: MEMORY, LIMIT. */
SOTTO_CHECKED enum sotto_status clm_step_init(struct clm_step *step,
                                              struct host_pool *pool,
                                              struct tensor_backend *backend,
                                              size_t n,
                                              struct sotto_error *err);
void clm_step_clear(struct clm_step *step);

/* Draws 2 n records to be the views, runs them through, moves the weights. */
void clm_step_run(struct clm_step *step);
/* Makes 2 n views, as training does before a step. */
void clm_step_distort(struct clm_step *step);

/* Compares loss and gradients of the first 2 n records with those by plain
   loops. Statuses: CHECK (they differ), MEMORY. */
SOTTO_CHECKED enum sotto_status clm_step_check(struct clm_step *step,
                                               struct sotto_error *err);
/* A step over the first 2 n records; their loss after it. */
double clm_step_try(struct clm_step *step);

#endif
