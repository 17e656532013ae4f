/*
 * model_number.c: models whose classes are ranges of a number: what they say of
 * the number, and how near it is.
 *
 * Whatever learnt the probabilities of the ranges, the number's mean and
 * quantiles follow from them alone.
 *
 * With e_i the error of row i, d_i its distance from the mean of all rows and
 * R = sum e^2 / sum d^2, the mean of f_i has the variance of f_i over n. For
 * RMSE f = e^2, for MAE |e|, and for R2 = 1 - R, to first order, f = (e^2 - R
 * d^2) / mean(d^2) (the delta method).
 */
#include <math.h>
#include <stdlib.h>

#include "host/error.h"
#include "host/sort.h"
#include "host/wipe.h"
#include "learn/model.h"
#include "mechanism/mechanism.h"
#include "mechanism/rows.h"

#define INSIDE_LOW 0.05
#define INSIDE_HIGH 0.95

enum sotto_status
model_number(struct sotto_model *model, size_t column, size_t classes,
             struct sotto_error *err)
{
    model->column = column;
    model->classes = classes;
    model->value = calloc(classes + 1, sizeof *model->value);
    model->edge = calloc(classes + 2, sizeof *model->edge);
    return model->value != NULL && model->edge != NULL ? SOTTO_STATUS_OK
                                                       : host_fail_memory(err);
}

double
model_number_truth(const struct sotto_model *model, const struct rows *rows,
                   size_t row)
{
    size_t column = rows->column[model->column];
    struct sotto_value value = {.kind = SOTTO_VALUE_MISSING};
    if (column != SIZE_MAX) {
        value = schema_number.read(sotto_table_cell(rows->table, row, column));
    }
    return value.kind == SOTTO_VALUE_NUMBER && isfinite(value.number)
               ? value.number
               : (double)NAN;
}

size_t
model_number_class(const struct sotto_model *model, double number)
{
    size_t y = 0;
    while (y + 1 < model->classes && number >= model->edge[y + 1]) {
        y++;
    }
    return y;
}

bool
sotto_model_number(const struct sotto_model *model,
                   struct sotto_number *ret_number)
{
    if (model->value == NULL) {
        return false;
    }
    const struct schema_column *column =
        &model->mechanism->shape.schema.column[model->column];
    *ret_number = (struct sotto_number){.name = column->name,
                                        .lines = column->edges == NULL,
                                        .classes = model->classes,
                                        .value = model->value,
                                        .edge = model->edge,
                                        .features = model->features};
    return true;
}

double
sotto_number_mean(const struct sotto_number *number, const double *p)
{
    double sum = 0;
    for (size_t y = 0; y < number->classes; y++) {
        sum += p[y] * number->value[y];
    }
    return sum;
}

/* Inside a range all numbers are taken as equally likely. */
double
sotto_number_quantile(const struct sotto_number *number, const double *p,
                      double share)
{
    size_t y = 0;
    double below = 0, part;
    while (y + 1 < number->classes && below + p[y] < share) {
        below += p[y++];
    }
    part = p[y] > 0 ? (share - below) / p[y] : 0;
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return number->edge[y] + part * (number->edge[y + 1] - number->edge[y]);
}

/* ---- Evaluation ---------------------------------------------------------- */

/* Rows with a true number: what it is, how far off the answer was. */
struct scored {
    double *truth, *error;
    size_t rows, room;
    double mean, squares; /* sum of d^2 */
};

static struct sotto_score
score_mean(const double *f, size_t n, double z)
{
    double mean = 0, squares = 0, half;
    for (size_t i = 0; i < n; i++) {
        double off = f[i] - mean;
        mean += off / (double)(i + 1);
        squares += off * (f[i] - mean);
    }
    half = n > 1 ? z * sqrt(squares / (double)(n - 1) / (double)n)
                 : (double)INFINITY;
    return (struct sotto_score){mean, mean - half, mean + half};
}

static double
root(double x)
{
    return x > 0 ? sqrt(x) : 0;
}

/* Fills the three scores; `f` has room for every row. */
static void
score_errors(const struct scored *scored, double z, double *f,
             struct sotto_number_evaluation *ret)
{
    double n = (double)scored->rows, sum = 0, spread = scored->squares / n;
    struct sotto_score square;
    for (size_t i = 0; i < scored->rows; i++) {
        f[i] = scored->error[i] * scored->error[i];
        sum += f[i];
    }
    square = score_mean(f, scored->rows, z);
    ret->rmse = (struct sotto_score){root(square.value), root(square.low),
                                     root(square.high)};
    for (size_t i = 0; i < scored->rows; i++) {
        f[i] = fabs(scored->error[i]);
    }
    ret->mae = score_mean(f, scored->rows, z);
    ret->mae.low = ret->mae.low > 0 ? ret->mae.low : 0;
    for (size_t i = 0; i < scored->rows; i++) {
        double e = scored->error[i], d = scored->truth[i] - scored->mean;
        f[i] = (e * e - sum / scored->squares * d * d) / spread;
    }
    square = score_mean(f, scored->rows, z);
    ret->r2.value = 1 - sum / scored->squares;
    ret->r2.low = ret->r2.value + square.low - square.value;
    ret->r2.high = ret->r2.value + square.high - square.value;
    ret->rmse_constant = root(spread);
}

/* The best constants, and what they come to; sorts the truths. */
static void
score_constants(struct scored *scored, struct sotto_number_evaluation *ret)
{
    size_t n = scored->rows;
    host_sort_doubles(scored->truth, n);
    ret->mean = scored->mean;
    ret->median = (scored->truth[(n - 1) / 2] + scored->truth[n / 2]) / 2;
    for (size_t i = 0; i < n; i++) {
        ret->mae_constant += fabs(scored->truth[i] - ret->median) / (double)n;
    }
}

static void
take_rows(const struct sotto_model *model, const struct rows *rows,
          const double *p, struct scored *scored,
          struct sotto_number_evaluation *ret)
{
    struct sotto_number number = {0};
    size_t inside = 0;
    if (!sotto_model_number(model, &number)) {
        return;
    }
    for (size_t i = 0; i < sotto_table_rows(rows->table); i++) {
        double truth = model_number_truth(model, rows, i), off;
        const double *at = p + i * model->classes;
        if (!isfinite(truth)) {
            continue;
        }
        scored->truth[scored->rows] = truth;
        scored->error[scored->rows++] = sotto_number_mean(&number, at) - truth;
        off = truth - scored->mean;
        scored->mean += off / (double)scored->rows;
        scored->squares += off * (truth - scored->mean);
        ret->beyond +=
            truth < number.edge[0] || truth > number.edge[number.classes] ? 1
                                                                          : 0;
        inside +=
            truth >= sotto_number_quantile(&number, at, INSIDE_LOW) &&
                    truth <= sotto_number_quantile(&number, at, INSIDE_HIGH)
                ? 1
                : 0;
    }
    ret->rows = scored->rows;
    ret->inside = scored->rows > 0 ? (double)inside / (double)scored->rows : 0;
}

static enum sotto_status
score_table(struct sotto_model *model, const struct rows *rows, const double *p,
            double z, struct sotto_number_evaluation *ret,
            struct sotto_error *err)
{
    size_t n = sotto_table_rows(rows->table) + 1;
    struct scored scored = {.room = n};
    struct sotto_number_evaluation own = {0};
    double *f = malloc(n * sizeof *f);
    enum sotto_status status = SOTTO_STATUS_OK;
    scored.truth = calloc(n, sizeof *scored.truth);
    scored.error = calloc(n, sizeof *scored.error);
    if (f == NULL || scored.truth == NULL || scored.error == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    take_rows(model, rows, p, &scored, &own);
    if (scored.rows == 0 || !(scored.squares > 0)) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           scored.rows == 0
                               ? "no row has a number for the label"
                               : "all rows have the same number for the "
                                 "label: there is nothing to explain");
        goto done;
    }
    score_errors(&scored, z, f, &own);
    score_constants(&scored, &own);
    *ret = own;
done:
    host_wipe_free(f, n * sizeof *f);
    host_wipe_free(scored.truth, n * sizeof *scored.truth);
    host_wipe_free(scored.error, n * sizeof *scored.error);
    return status;
}

enum sotto_status
sotto_model_evaluate_number(struct sotto_model *model, bool private_records,
                            struct sotto_mechanism *mechanism,
                            const struct sotto_table *table, uint64_t seed,
                            double z,
                            struct sotto_number_evaluation *ret_evaluation,
                            struct sotto_error *err)
{
    size_t size = (sotto_table_rows(table) + 1) * model->classes;
    struct rows rows;
    double *p = NULL;
    enum sotto_status status;
    if (model->value == NULL) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the model tells classes apart, and no number");
    }
    status = rows_init(&rows, model->mechanism, table, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    p = calloc(size, sizeof *p);
    if (p == NULL) {
        status = host_fail_memory(err);
    }
    mechanism = mechanism != NULL ? mechanism : model->mechanism;
    status = HOST_THEN(
        status, model_predict_table(model, private_records ? mechanism : NULL,
                                    table, seed, p, err));
    status =
        HOST_THEN(status, score_table(model, &rows, p, z, ret_evaluation, err));
    host_wipe_free(p, size * sizeof *p);
    rows_clear(&rows);
    return status;
}
