/*
 * regression.c: the learner for reports beside a label that is one number.
 */
#include "learn/lattice/regression.h"
#include "learn/lattice/lattice_fit.h"

#include <math.h>
#include <stdlib.h>

#include "host/error.h"

/* ---- Its own ------------------------------------------------------------- */

/* Takes a label whose number is a column as it is: else nobody could say what
   the number means. */
static bool
takes_number(const struct sotto_mechanism *mechanism)
{
    const struct shape *shape = &mechanism->shape;
    for (size_t i = 0; i < shape->parts; i++) {
        if (prior_label_number(&shape->part[i]) &&
            mechanism_source(mechanism, shape->part[i].from) != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

/* Cuts the label's range into cells: the classes, and what each stands for. */
static enum sotto_status
cut_cells(struct sotto_model *model, struct sotto_error *err)
{
    struct regression *regression = regression_of(model);
    const struct shape *shape = &model->mechanism->shape;
    const struct shape_part *part = &shape->part[regression->shape.label_part];
    size_t column = mechanism_source(model->mechanism, part->from), cells;
    const struct schema_column *own = &shape->schema.column[column];
    uint64_t steps = 2 * (uint64_t)part->instance->l + 1;
    enum sotto_status status;
    cells = steps < REGRESSION_CELLS ? (size_t)steps : REGRESSION_CELLS;
    status = model_number(model, column, cells, err);
    regression->cell = calloc(cells + 1, sizeof *regression->cell);
    if (status != SOTTO_STATUS_OK || regression->cell == NULL) {
        return host_fail_memory(err);
    }
    for (size_t g = 0; g <= cells; g++) {
        double at = 2 * (double)g / (double)cells - 1;
        model->edge[g] = schema_column_value(own, at);
    }
    for (size_t g = 0; g < cells; g++) {
        regression->cell[g] = (2 * (double)g + 1) / (double)cells - 1;
        model->value[g] = schema_column_value(own, regression->cell[g]);
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
regression_new(struct sotto_model *model, size_t hidden,
               struct sotto_error *err)
{
    struct regression *own = calloc(1, sizeof *own);
    enum sotto_status status;
    if (own == NULL) {
        return host_fail_memory(err);
    }
    model->own = own;
    status = prior_shape_init(&own->shape, model->mechanism, true, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    own->in = own->shape.inputs;
    own->hidden = hidden;
    model->features = hidden;
    own->terms = 1 + own->in + hidden;
    if (own->terms > REGRESSION_TERMS_MOST) {
        return host_remedy(
            host_fail(err, SOTTO_STATUS_LIMIT, own->terms,
                      "a report tells of %zu numbers and symbols: a regression "
                      "takes at most %u; keep fewer columns",
                      own->in, REGRESSION_TERMS_MOST - 1),
            err, "drop");
    }
    own->shift = calloc(own->in + 1, sizeof *own->shift);
    own->scale = calloc(own->in + 1, sizeof *own->scale);
    own->line = calloc(hidden + 1, (own->in + 1) * sizeof *own->line);
    own->theta = calloc(own->terms + 1, sizeof *own->theta);
    own->covariance = calloc(own->terms, own->terms * sizeof(double));
    return own->shift != NULL && own->scale != NULL && own->line != NULL &&
                   own->theta != NULL && own->covariance != NULL
               ? cut_cells(model, err)
               : host_fail_memory(err);
}

void
regression_terms(const struct regression *regression, const float *input,
                 float *ret_phi)
{
    size_t in = regression->in;
    ret_phi[0] = 1;
    for (size_t i = 0; i < in; i++) {
        ret_phi[1 + i] =
            (input[i] - regression->shift[i]) * regression->scale[i];
    }
    for (size_t j = 0; j < regression->hidden; j++) {
        const float *line = regression->line + j * (in + 1);
        double sum = 0;
        for (size_t i = 0; i <= in; i++) {
            sum += (double)(line[i] * ret_phi[i]);
        }
        ret_phi[1 + in + j] = (float)tanh(sum);
    }
}

static void
free_own(void *own)
{
    struct regression *regression = own;
    prior_shape_clear(&regression->shape);
    free(regression->shift);
    free(regression->scale);
    free(regression->line);
    free(regression->theta);
    free(regression->covariance);
    free(regression->cell);
    free(regression->point);
    free(regression);
}

/* ---- The row ------------------------------------------------------------- */

static enum sotto_status
refuse_device(const struct sotto_model *model, size_t network,
              struct device_net *ret_net, struct sotto_error *err)
{
    (void)model;
    (void)network;
    *ret_net = (struct device_net){0};
    return host_fail(err, SOTTO_STATUS_USAGE, 0,
                     "the model tells a number: there is no class that it "
                     "could be right about");
}

static const struct setting settings[] = {
    LEARN_SETTING("features", SETTING_WHOLE, features, 0, 512, "0",
                  "bends beside the line: that many tanh of random\n"
                  "lines, as strong as the reports show them to be"),
    LEARN_SETTING("prior-most", SETTING_WHOLE, prior_most, 1, 1e9, "1024",
                  "use at most N points of the prior"),
    LEARN_SETTING("seed", SETTING_SEED, seed, 0, 0, "0",
                  "the same seed, the same model"),
    SETTING_END};

const struct learner learner_regression = {
    .name = "number",
    .about =
        "for a label that is a number: weighs each report over a prior, and\n"
        "fits a line with Gaussian errors to all of them; how steep it may\n"
        "be is up to the reports (docs/regression.md).",
    .settings = settings,
    .takes = takes_number,
    .check = lattice_check_prior,
    .fit = regression_fit,
    .fit_clean = regression_fit_clean,
    .predict = regression_predict,
    .predict_private = regression_predict_private,
    .device = refuse_device,
    .write = regression_write,
    .read = regression_read,
    .free = free_own,
};
