/*
 * task_ground.c: what mechanisms for a linear task begin with.
 */
#include "encoder/task_ground.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"

#define WIDTH_MAX ((size_t)8192) /* as pca's: matrices have its square */

/* ---- Columns ------------------------------------------------------------- */

/* The options, with the target left out of the columns unless it is the label,
   which is no input anyway. */
static enum sotto_status
drop_target(struct task_ground *ground, const char *target,
            struct sotto_error *err)
{
    struct sotto_train_options *options = &ground->options;
    ground->drop = calloc(options->drops + 1, sizeof *ground->drop);
    if (ground->drop == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < options->drops; i++) {
        ground->drop[i] = options->drop[i];
    }
    if (target != NULL &&
        (options->label == NULL || strcmp(target, options->label) != 0)) {
        ground->drop[options->drops++] = target;
    }
    options->drop = ground->drop;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
check_width(const struct learnt *learnt, struct sotto_error *err)
{
    return learnt->width <= WIDTH_MAX
               ? SOTTO_STATUS_OK
               : host_remedy(host_fail(err, SOTTO_STATUS_LIMIT, 0,
                                       "%zu inputs are too many for a linear "
                                       "task: at most %zu; drop some",
                                       learnt->width, WIDTH_MAX),
                             err, "drop");
}

/* ---- x ------------------------------------------------------------------- */

/* learnt.x in doubles, and the variance of each entry. */
static enum sotto_status
copy_x(struct task_ground *ground, struct sotto_error *err)
{
    size_t n = ground->learnt.n, width = ground->learnt.width;
    ground->x = malloc(n * width * sizeof *ground->x);
    ground->kept = calloc(width, sizeof *ground->kept);
    if (ground->x == NULL || ground->kept == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < n * width; i++) {
        ground->x[i] = (double)ground->learnt.x[i];
    }
    return SOTTO_STATUS_OK;
}

static void
find_variances(struct task_ground *ground)
{
    size_t n = ground->learnt.n, width = ground->learnt.width;
    for (size_t i = 0; i < n * width; i++) {
        double from = ground->x[i] - ground->basis.mean[i % width];
        ground->kept[i % width].all += from * from / (double)n;
    }
}

/* ---- All of it ----------------------------------------------------------- */

enum sotto_status
task_ground_check(struct learnt_settings *set, const struct task_given *given,
                  struct sotto_error *err)
{
    enum sotto_status status = learnt_settings_check(set, err);
    return HOST_THEN(status, task_given_check(given, err));
}

enum sotto_status
task_ground_init(struct task_ground *ground, const struct encoder_job *job,
                 const struct learnt_settings *set,
                 const struct task_given *given, struct sotto_error *err)
{
    struct learnt *learnt = &ground->learnt;
    size_t column = 0;
    enum sotto_status status;
    *ground = (struct task_ground){.options = *job->options, .job = *job};
    ground->job.options = &ground->options;
    status = given->target != NULL
                 ? task_target_find(job->table, given->target, &column, err)
                 : SOTTO_STATUS_OK;
    status = HOST_THEN(status, drop_target(ground, given->target, err));
    status = HOST_THEN(status, learnt_begin(learnt, &ground->job, set, err));
    status = HOST_THEN(status, check_width(learnt, err));
    status = HOST_THEN(status, copy_x(ground, err));
    status = HOST_THEN(status, task_matrix_init(&ground->matrix, given, learnt,
                                                ground->x, err));
    status =
        HOST_THEN(status, task_basis_init(&ground->basis, ground->x, learnt->n,
                                          learnt->width, ground->matrix.K,
                                          ground->matrix.outputs, err));
    if (status == SOTTO_STATUS_OK) {
        find_variances(ground);
    }
    return status;
}

void
task_ground_clear(struct task_ground *ground)
{
    host_wipe_free(ground->x,
                   ground->learnt.n * ground->learnt.width * sizeof *ground->x);
    task_matrix_clear(&ground->matrix);
    task_basis_clear(&ground->basis);
    free(ground->kept);
    learnt_clear(&ground->learnt);
    free(ground->drop);
    memset(ground, 0, sizeof *ground);
}

double
task_ground_variance(const struct task_ground *ground)
{
    double sum = 0;
    for (size_t i = 0; i < ground->basis.rank; i++) {
        sum += ground->basis.lambda[i];
    }
    return sum;
}

/* From the mean of the others, a row is n / (n - 1) times as far as from that
   of all. */
double
task_ground_without(const struct task_ground *ground)
{
    double n = (double)ground->learnt.n, further = n / (n - 1);
    return further * further * task_ground_variance(ground);
}

void
task_ground_tell(const struct task_ground *ground,
                 struct sotto_train_facts *facts)
{
    fact_text(facts, "task", ground->matrix.said);
    if (!isnan(ground->matrix.told)) {
        fact_number(facts, "target_told", ground->matrix.told);
        fact_say(facts,
                 "A linear predictor from the inputs tells %.0f%% of the "
                 "target's variance.\n",
                 100 * ground->matrix.told);
    }
}
