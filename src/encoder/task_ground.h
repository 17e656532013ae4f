/*
 * task_ground.h: what mechanisms for a linear task begin with, and what they
 * say of columns.
 *
 *     table, but for the target --learnt_begin--> x
 *     the task as people give it --> K, and the directions of K (x - mean)
 */
#ifndef SOTTO_ENCODER_TASK_GROUND_H
#define SOTTO_ENCODER_TASK_GROUND_H

#include "encoder/task_basis.h"
#include "encoder/task_matrix.h"

/* The rows of the settings that say which task; `own` has them as `given`, a
   struct task_given. */
/* clang-format off */
#define TASK_GIVEN_SETTINGS(own)                                               \
    SETTING("task", TEXT, offsetof(struct own, given.matrix), 0, 0, NULL,      \
            "K.csv",                                                           \
            "what reports are for: a header of columns, and a\n"               \
            "row of weights for each output (none)"),                          \
    SETTING("weights", TEXT, offsetof(struct own, given.weights), 0, 0, NULL,  \
            "COL=W,...",                                                       \
            "the same as weights of columns, each measured by\n"               \
            "its own deviation (none)"),                                       \
    SETTING("target", TEXT, offsetof(struct own, given.target), 0, 0, NULL,    \
            "COL",                                                             \
            "the same as a column to be told from the others,\n"               \
            "which is no input (none)")
/* clang-format on */

/* Of an entry of x: its variance, and the part that reports tell of it. */
struct task_kept {
    double all, part;
};

struct task_ground {
    struct learnt learnt;
    struct sotto_train_options options; /* without the target's column */
    struct encoder_job job;
    const char **drop;
    double *x; /* learnt.x in doubles */
    struct task_matrix matrix;
    struct task_basis basis;
    struct task_kept *kept; /* of every entry of x; `part` begins as 0 */
};

/* Checks settings that linear tasks share. Statuses: learnt_settings_check's
   and task_given_check's. */
SOTTO_CHECKED enum sotto_status
task_ground_check(struct learnt_settings *set, const struct task_given *given,
                  struct sotto_error *err);

/*
 * Begins with a job, whose options, table and settings must outlive it. A
 * target is left out of the columns unless it is the label, which is no input
 * anyway. Stays where it is until it is cleared; clear it in any case.
 * Statuses: learnt_begin's, task_matrix_init's and task_basis_init's; LIMIT
 * (too many inputs).
 */
SOTTO_CHECKED enum sotto_status
task_ground_init(struct task_ground *ground, const struct encoder_job *job,
                 const struct learnt_settings *set,
                 const struct task_given *given, struct sotto_error *err);
void task_ground_clear(struct task_ground *ground);

/* The variance of the task's outputs, all together. */
double task_ground_variance(const struct task_ground *ground);
/* The task's loss without a report: of a row that is answered by the mean of
   the others, for a report's loss is of rows left out, too. */
double task_ground_without(const struct task_ground *ground);
/* Adds the task to the facts, and what is known of its target. */
void task_ground_tell(const struct task_ground *ground,
                      struct sotto_train_facts *facts);

/* ---- task_kept.c: what is kept of each column ---------------------------- */

/* Adds the share of each column's variance that is kept; `by` is what tells of
   it: "the kept directions explain". */
void task_kept_say(const struct task_ground *ground, const char *by,
                   struct sotto_train_facts *facts);
/* The columns' shares, as the analyst file has them; NULL: no memory. */
json_t *task_kept_pack(const struct task_ground *ground);

#endif
