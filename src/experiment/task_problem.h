/*
 * task_problem.h: a linear task on records split in two, and the losses of the
 * methods that P2 compares, each with its decoder fitted to what it sends.
 *
 *     auxiliary rows --fit--> encoder, clip, decoder
 *     test rows --encoder, clip, noise, decoder--> E |K (x - x^)|^2
 *
 * Losses are exact in the noise; nothing is drawn. Noise is Laplace's in
 * floats, for any epsilon, also above what the format has.
 */
#ifndef SOTTO_EXPERIMENT_TASK_PROBLEM_H
#define SOTTO_EXPERIMENT_TASK_PROBLEM_H

#include "encoder/task_basis.h"
#include "experiment/study.h"

struct task_part {
    size_t rows;
    double *x; /* rows of inputs */
    double *v; /* rows of the basis's rank: directions the task needs */
    double *y; /* rows of outputs: K (x - mean), mean that of auxiliary rows */
};

struct task_problem {
    size_t inputs, outputs;
    double *K; /* outputs rows of inputs */
    struct task_basis basis;
    struct task_part aux, test;
};

/* Takes x (copied): the first `aux` of `rows` rows are auxiliary, the others
   test. Clear it in any case. Statuses: MEMORY, LIMIT, INPUT. */
SOTTO_CHECKED enum sotto_status
task_problem_init(struct task_problem *problem, const double *x, size_t rows,
                  size_t aux, size_t inputs, const double *K, size_t outputs,
                  struct sotto_error *err);
void task_problem_clear(struct task_problem *problem);

/*
 * Measures the loss of the point's method, by its name:
 *
 * - task-aware: directions by need, water-filling, clip (task_design)
 * - task-codes: cells cut under the channel's noise (task_cells)
 * - task-agnostic: x itself, clipped
 * - privacy-agnostic: the first Z directions at one scale, clipped; Z chosen
 * - privacy-agnostic-3: the same, Z is 3
 *
 * task-aware-drawn and task-codes-drawn: the same, every report drawn by the
 * very channel, a few hundred times a row, to check the closed form by.
 *
 * Of these all settings are chosen on auxiliary rows. As the authors' code has
 * them, without a clip, the sensitivity that of the test rows' own codes, which
 * breaks epsilon: unsound-aware, unsound-agnostic, unsound-privacy-agnostic (Z
 * is 3) with the paper's noise, 2 (sensitivity / epsilon)^2, and with -code
 * behind the name with their code's, half of that.
 *
 * Of the point, epsilon, `most` and seed count. Statuses: USAGE (no such
 * method), MEMORY, LIMIT, INPUT.
 */
SOTTO_CHECKED enum sotto_status task_problem_measure(
    const struct task_problem *problem, const struct study_point *point,
    struct study_outcome *ret_outcome, struct sotto_error *err);

/* What the table of methods says of each, for the tables' rows. */
#define TASK_AWARE_IS                                                          \
    "directions in the order of the task's need, scaled by water-filling and " \
    "refined, clipped to the L1 ball, decoder fitted to the clipped codes"
#define TASK_CODES_IS                                                          \
    "which of k cells, cut by the task's loss behind the channel; k and the "  \
    "channel (k-ary response or subset) by auxiliary rows held out"
#define DRAWN_IS                                                               \
    "the same, 200 reports of every test row drawn by the channel that "       \
    "devices run, in place of the closed form"
#define TASK_AGNOSTIC_IS                                                       \
    "the record itself, clipped to an L1 ball of its own radius, decoder "     \
    "fitted to the clipped records"
#define PRIVACY_AGNOSTIC_IS                                                    \
    "the first Z directions at one scale, clipped at a radius of its own, "    \
    "decoder fitted; Z by auxiliary rows left out"
#define PRIVACY_AGNOSTIC_3_IS "the same with the paper's Z, 3"
#define UNSOUND_IS                                                             \
    "nothing is clipped, and the sensitivity is the largest distance between " \
    "test rows' codes; "
#define UNSOUND_CODE_IS                                                        \
    "nothing is clipped; the sensitivity is the largest distance between "     \
    "test rows' codes; the noise is that of the authors' code, of half the "   \
    "paper's variance"

#endif
