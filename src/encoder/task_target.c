/*
 * task_target.c: a column's least-squares predictor from x, as a task.
 *
 *     t ~ mean t + K (x - mean x)        K = Cov(t, x) (Cov(x) + p I)^-1
 *
 * t is the column as a device would take it: a number of variance 1, or the
 * indicators of its categories. Rows in which it is missing do not count. The
 * penalty p is the one of a few that errs least on rows left out
 * (task_code.h: a code without a clip, whose noise is the penalty); the least
 * of them is next to nothing, and is there so that inputs which follow from
 * others do no harm.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/task_code.h"
#include "encoder/task_matrix.h"
#include "host/error.h"
#include "host/wipe.h"
#include "schema/matrix.h"

/* Of the mean variance of an entry of x. */
static const double penalties[] = {1e-9, 1e-4, 1e-3, 1e-2, 1e-1, 1};
#define PENALTIES (sizeof penalties / sizeof penalties[0])

/* Rows that have the target. */
struct known {
    size_t rows, width, outputs;
    double *x; /* rows of width */
    double *t; /* rows of outputs */
};

static void
known_clear(struct known *known)
{
    host_wipe_free(known->x, known->rows * known->width * sizeof *known->x);
    host_wipe_free(known->t, known->rows * known->outputs * sizeof *known->t);
}

/* The target of every row as x would have it. */
static enum sotto_status
read_target(const struct learnt *learnt, size_t column, float **ret_t,
            size_t *ret_outputs, struct sotto_error *err)
{
    const struct sotto_table *table = learnt->job->table;
    struct schema_aim aim = {
        .input = true,
        .as = schema_fit_as(learnt->job->options->schema, table, column)};
    struct schema schema;
    float *t = NULL;
    enum sotto_status status = schema_init(&schema, 1, err);
    status = HOST_THEN(status, schema_fit(&schema, table, column, &aim, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_outputs = matrix_width(schema.column, 1);
        t = calloc(learnt->n, *ret_outputs * sizeof *t);
        status = t != NULL ? matrix_fill(&schema, table, t, err)
                           : host_fail_memory(err);
    }
    schema_clear(&schema);
    if (status == SOTTO_STATUS_OK) {
        *ret_t = t;
    } else {
        free(t);
    }
    return status;
}

static bool
has_target(const struct learnt *learnt, size_t row, size_t column)
{
    return sotto_table_cell(learnt->job->table, row, column).kind !=
           SOTTO_VALUE_MISSING;
}

static enum sotto_status
known_init(struct known *known, const struct learnt *learnt, size_t column,
           const double *x, const float *t, struct sotto_error *err)
{
    size_t width = known->width, outputs = known->outputs;
    known->x = calloc(learnt->n, width * sizeof *known->x);
    known->t = calloc(learnt->n, outputs * sizeof *known->t);
    if (known->x == NULL || known->t == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < learnt->n; i++) {
        if (has_target(learnt, i, column)) {
            double *to = known->t + known->rows * outputs;
            memcpy(known->x + known->rows * width, x + i * width,
                   width * sizeof *x);
            for (size_t j = 0; j < outputs; j++) {
                to[j] = (double)t[i * outputs + j];
            }
            known->rows++;
        }
    }
    return known->rows >= 2
               ? SOTTO_STATUS_OK
               : settings_fail(err, "target",
                               "has a value in %zu row%s only: at least 2",
                               known->rows, known->rows == 1 ? "" : "s");
}

/* The mean over rows of |row|^2. */
static double
mean_square(const double *x, size_t rows, size_t width)
{
    double sum = 0;
    for (size_t i = 0; i < rows * width; i++) {
        sum += x[i] * x[i];
    }
    return sum / (double)rows;
}

/* The largest |x|_1: a ball of it clips nothing. */
static double
find_reach(const struct known *known)
{
    double reach = 1;
    for (size_t i = 0; i < known->rows; i++) {
        reach = fmax(reach, task_norm(TASK_BALL_L1, known->width,
                                      known->x + i * known->width));
    }
    return reach;
}

/* Fits at a penalty; *ret_error is the mean squared error of rows left out. */
static enum sotto_status
fit_penalty(struct task_fitting *fitting, const struct known *known,
            double reach, double penalty, double *ret_error,
            struct sotto_error *err)
{
    double loss = 0, left_out = 0;
    enum sotto_status status =
        task_fitting_fit(fitting, known->x, known->width, TASK_BALL_L1, reach,
                         penalty / (reach * reach), &loss, &left_out, err);
    *ret_error =
        left_out - penalty * mean_square(fitting->decoder, 1,
                                         known->outputs * known->width);
    return status;
}

/* The best penalty is fitted last; its decoder is K. */
static enum sotto_status
choose_penalty(struct task_fitting *fitting, const struct known *known,
               double *ret_error, struct sotto_error *err)
{
    double reach = find_reach(known), unit, best = INFINITY, chosen = 0;
    enum sotto_status status =
        fit_penalty(fitting, known, reach, 1, ret_error, err);
    unit = mean_square(fitting->c, known->rows, known->width) /
           (double)known->width;
    unit = unit > 0 ? unit : 1;
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < PENALTIES; i++) {
        status = fit_penalty(fitting, known, reach, penalties[i] * unit,
                             ret_error, err);
        if (*ret_error < best) {
            best = *ret_error;
            chosen = penalties[i] * unit;
        }
    }
    return HOST_THEN(status,
                     fit_penalty(fitting, known, reach,
                                 chosen > 0 ? chosen : unit, ret_error, err));
}

static enum sotto_status
fit_predictor(struct task_matrix *matrix, const struct known *known,
              struct sotto_error *err)
{
    struct task_fitting fitting = {0};
    size_t size = known->outputs * known->width * sizeof *matrix->K;
    double error = 0, all;
    enum sotto_status status = task_fitting_init(
        &fitting, known->t, known->rows, known->outputs, known->width, err);
    status = HOST_THEN(status, choose_penalty(&fitting, known, &error, err));
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    all = mean_square(fitting.y, known->rows, known->outputs);
    matrix->outputs = known->outputs;
    matrix->told = all > 0 ? fmax(0, 1 - error / all) : 0;
    matrix->K = host_text_copy(fitting.decoder, size);
    status = matrix->K != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
done:
    task_fitting_clear(&fitting);
    return status;
}

enum sotto_status
task_target_find(const struct sotto_table *table, const char *target,
                 size_t *ret_column, struct sotto_error *err)
{
    enum sotto_status status =
        schema_fit_find(table, "target", target, ret_column, err);
    if (status == SOTTO_STATUS_OK &&
        sotto_table_kind(table, *ret_column) == SOTTO_COLUMN_BYTES) {
        return settings_fail(err, "target",
                             "is a column of images: give one of numbers or "
                             "categories");
    }
    return status;
}

enum sotto_status
task_target_fill(struct task_matrix *matrix, const char *target,
                 const struct learnt *learnt, const double *x,
                 struct sotto_error *err)
{
    struct known known = {.width = learnt->width};
    size_t column = 0;
    float *t = NULL;
    enum sotto_status status =
        task_target_find(learnt->job->table, target, &column, err);
    status =
        HOST_THEN(status, read_target(learnt, column, &t, &known.outputs, err));
    status = HOST_THEN(status, known_init(&known, learnt, column, x, t, err));
    status = HOST_THEN(status, fit_predictor(matrix, &known, err));
    host_wipe_free(t, learnt->n * known.outputs * sizeof *t);
    known_clear(&known);
    return status;
}
