/*
 * task_basis.h: what a linear task needs of a record, direction by direction.
 *
 *     task     y = K x              K: m outputs of n inputs
 *     basis    K C K' = U diag(lambda) U'        C: covariance of x
 *              v_i = u_i' K (x - mean) / sqrt(lambda_i)
 *
 * These are the v of docs/task-aware.md: Q' L^-1 (x - mean) for C = L L' and
 * P = K L, P'P = Q diag(lambda) Q'. For P P' = K C K' has the same eigenvalues,
 * and P' u_i / sqrt(lambda_i) is column i of Q; L cancels, so that nothing need
 * be inverted and C may be singular. v has mean 0 and covariance 1 over the
 * rows it was made from, and sum lambda_i (v_i - v'_i)^2 = |K (x - x')|^2
 * there.
 *
 * Everything is doubles, row-major; rows are people's records, which the
 * caller wipes.
 */
#ifndef SOTTO_ENCODER_TASK_BASIS_H
#define SOTTO_ENCODER_TASK_BASIS_H

#include <stddef.h>

#include "sotto/sotto.h"

/* Of the largest lambda: what is a direction. */
#define TASK_BASIS_LEAST 1e-10

struct task_basis {
    size_t inputs;     /* n */
    size_t outputs;    /* m */
    size_t rank;       /* directions the task needs: at most n, m, rows - 1 */
    double *mean;      /* n */
    double *lambda;    /* rank, falling: the task's variance by directions */
    double *direction; /* rank rows of n: v_i = direction_i . (x - mean) */
    double *task;      /* rank rows of n: sqrt(lambda_i) direction_i */
};

/*
 * Finds the basis of K (m rows of n) for `rows` rows of n. Where m > n, K is
 * first replaced by a root of K'K, which gives the same loss. Clear it in any
 * case. Statuses: MEMORY, LIMIT (a matrix too large), INPUT (fewer than 2
 * rows, something not finite, or outputs that do not vary over the rows).
 */
SOTTO_CHECKED enum sotto_status task_basis_init(struct task_basis *basis,
                                                const double *x, size_t rows,
                                                size_t inputs, const double *K,
                                                size_t outputs,
                                                struct sotto_error *err);
void task_basis_clear(struct task_basis *basis);

/* The first `count` (at most rank) directions of `rows` rows of x: ret_v has
   rows of `count`. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status task_basis_apply(const struct task_basis *basis,
                                                 const double *x, size_t rows,
                                                 size_t count, double *ret_v,
                                                 struct sotto_error *err);

/* ret_y = (x - mean) K', rows of `outputs`, for any K. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
task_basis_outputs(const double *x, size_t rows, size_t inputs,
                   const double *mean, const double *K, size_t outputs,
                   double *ret_y, struct sotto_error *err);

/* The means of x's columns. */
void task_mean(const double *x, size_t rows, size_t inputs, double *ret_mean);

/* The covariance of x, n rows of n, divided by `rows`. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
task_covariance(const double *x, size_t rows, size_t inputs, const double *mean,
                double *ret_covariance, struct sotto_error *err);

#endif
