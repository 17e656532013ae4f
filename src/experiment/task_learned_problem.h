/*
 * task_learned_problem.h: what the files of a learnt task share, task_learned.c
 * and task_learned_methods.c.
 */
#ifndef SOTTO_EXPERIMENT_TASK_LEARNED_PROBLEM_H
#define SOTTO_EXPERIMENT_TASK_LEARNED_PROBLEM_H

#include "experiment/task_learned.h"
#include "host/pool.h"

#define TASK_LEARNED_RATE 0.001 /* Adam's, as the paper has it */

struct task_learned {
    const struct task_learned_spec *spec;
    struct task_learned_data data;
    struct host_pool *pool;
    struct tensor_backend *backend;
    struct task_block block;
    struct task_function function, paper;
    uint32_t *row;  /* 0 to rows - 1 */
    double *honest; /* f(x) of auxiliary rows by functions that did not see
                       them, then of test rows by f: rows of out */
    double *truth;  /* y: rows of out */
    float *answer;  /* f(x) of all rows */
};

#endif
