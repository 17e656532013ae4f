/*
 * task_design.h: the task-aware linear encoder: how many directions are kept,
 * and how each is scaled.
 *
 *     z_i = scale_i v_i, i < kept           clipped to the ball of radius 1
 *
 * In the L1 ball, candidates are the water-filling of every assumed radius r of
 * a grid, at every clip of another. In the others a number's noise does not
 * fall with its scale, so equal scales are best: candidates are, for every
 * clip, as many directions as then leave the least loss (task_gaussian_keep).
 * The best candidates are refined by gradient on the loss of the clipped code
 * (task_code.h), through the clip. Choices are made by the loss on rows left
 * out, and of the refinement's steps the one is taken where that is least.
 */
#ifndef SOTTO_ENCODER_TASK_DESIGN_H
#define SOTTO_ENCODER_TASK_DESIGN_H

#include <stddef.h>

#include "encoder/task_code.h"
#include "sotto/sotto.h"

struct task_design_wanted {
    enum task_ball ball;
    double ratio; /* variance of the noise at radius 1: task_laplace_ratio, or
                     the channel's own */
    const double *ratios; /* the same for 1, 2, ... `count` numbers, where it
                             hangs on them; NULL: it does not */
    size_t most;          /* directions that may be kept; 0: all */
    bool plain;           /* no refinement: the best candidate as it is */
};

struct task_design {
    size_t kept;
    double *scale;    /* kept, and room behind them */
    double r;         /* of the water-filling it began with; else of the clip */
    double predicted; /* Eq. 13 at that r, or task_gaussian_keep's */
    double loss;      /* on these rows, as task_code has it */
    double left_out;
};

/*
 * Finds the design for v (rows of `count` directions, as task_basis_apply
 * gives) of a task with these lambda. Clear it in any case. Statuses: MEMORY,
 * LIMIT, INPUT.
 */
SOTTO_CHECKED enum sotto_status
task_design_find(struct task_design *design, const double *v, size_t rows,
                 const double *lambda, size_t count,
                 const struct task_design_wanted *wanted,
                 struct sotto_error *err);
void task_design_clear(struct task_design *design);

/* z of rows of `count` directions: ret_z has rows of `kept`. */
void task_design_apply(const struct task_design *design, const double *v,
                       size_t rows, size_t count, double *ret_z);

#endif
