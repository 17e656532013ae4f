/*
 * task_matrix.h: a linear task as people give it, as a matrix on x.
 *
 *     K.csv        a header of columns, a row an output: y = sum K_j column_j,
 *                  in the columns' own units; a column that is not in it has 0
 *     COL=W,...    every column by itself, times W: a number in units of its
 *                  own deviation, every category's indicator as it is
 *     target       the column's least-squares predictor from x
 *
 * COL=VALUE names one category of COL, in a header and in weights. A number of
 * which the schema takes the logarithm is its logarithm here.
 */
#ifndef SOTTO_ENCODER_TASK_MATRIX_H
#define SOTTO_ENCODER_TASK_MATRIX_H

#include "encoder/learnt.h"

/* One of the three; the others are NULL. */
struct task_given {
    const char *matrix; /* a file */
    const char *weights;
    const char *target;
};

/* Of a mechanism's note on its auxiliary data, what a task may take. */
#define TASK_SAID_SIZE 72u

struct task_matrix {
    double *K; /* outputs rows of inputs, on x */
    size_t inputs, outputs;
    double told; /* of a target: the share of its variance that the predictor
                    tells of rows left out; else NAN */
    char said[TASK_SAID_SIZE]; /* in plain ASCII: "weights wage=1" */
};

/* Whether exactly one is given. Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status task_given_check(const struct task_given *given,
                                                 struct sotto_error *err);

/* The size of the first COL=W of a list of them: up to the first comma behind a
   '=', for a column's name may have commas, too. */
size_t task_list_piece(const char *text);

/*
 * Reads the task for learnt->schema; x is learnt->x in doubles. Clear it in
 * any case. Statuses: USAGE (weights, a target), INPUT (a file, or a target
 * that is missing throughout), IO, LIMIT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status task_matrix_init(struct task_matrix *matrix,
                                                 const struct task_given *given,
                                                 const struct learnt *learnt,
                                                 const double *x,
                                                 struct sotto_error *err);
void task_matrix_clear(struct task_matrix *matrix);

/* ---- task_target.c ------------------------------------------------------- */

/* The target's column of the table. Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status
task_target_find(const struct sotto_table *table, const char *target,
                 size_t *ret_column, struct sotto_error *err);
/* Fills K with the least-squares predictor of a column of the table. */
SOTTO_CHECKED enum sotto_status task_target_fill(struct task_matrix *matrix,
                                                 const char *target,
                                                 const struct learnt *learnt,
                                                 const double *x,
                                                 struct sotto_error *err);

#endif
