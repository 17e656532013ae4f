/*
 * codes_model.c: the learner for reports about codes of a codebook and labels:
 * its row, and what a model of it says of records and reports.
 */
#include "learn/codes/codes_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "mechanism/rows.h"
#include "mechanism/same.h"

static bool
takes_codes(const struct sotto_mechanism *mechanism)
{
    return mechanism->shape.code != SIZE_MAX;
}

static enum sotto_status
check_shape(const struct codes_shape *shape, enum sotto_level level,
            struct sotto_error *err)
{
    if (shape->symbols < 2) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the mechanism has no label: nothing to learn to "
                         "tell from its reports");
    }
    if (level != SOTTO_LEVEL_LATENT) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a codebook's classifier sees representations, not "
                         "records: use the level latent");
    }
    return SOTTO_STATUS_OK;
}

/*
 * What a range stands for: its middle. Of the first and the last, which have no
 * end but that of nearly all values, no further from the edge than the next
 * range is wide: ranges hold about equally many people, so that a density that
 * falls off exponentially from the edge on has its mean there.
 */
static double
range_number(const struct sotto_model *model, size_t y)
{
    const double *edge = model->edge;
    double half = (edge[y + 1] - edge[y]) / 2;
    if (y == 0) {
        return edge[1] - fmin(half, edge[2] - edge[1]);
    }
    return edge[y] +
           (y + 1 == model->classes ? fmin(half, edge[y] - edge[y - 1]) : half);
}

/* Makes classes that are ranges of a number tell the number. */
static enum sotto_status
set_number(struct sotto_model *model, const struct schema_column *column,
           struct sotto_error *err)
{
    size_t classes = model->classes;
    double half = column->scale != 0 ? 1 / column->scale : 0;
    bool good =
        isfinite(column->shift) && isfinite(half) && isfinite(column->edges[0]);
    for (size_t i = 1; i + 1 < classes; i++) {
        good = good && isfinite(column->edges[i]) &&
               column->edges[i] > column->edges[i - 1];
    }
    if (!good) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the label's ranges do not follow each other: the "
                         "mechanism was not made by sotto");
    }
    enum sotto_status status = model_number(model, model->column, classes, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    model->edge[0] = fmin(column->shift - half, column->edges[0]);
    memcpy(model->edge + 1, column->edges, (classes - 1) * sizeof(double));
    model->edge[classes] =
        fmax(column->shift + half, column->edges[classes - 2]);
    for (size_t y = 0; y < classes; y++) {
        model->value[y] = range_number(model, y);
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
codes_model_new(struct sotto_model *model, bool other, enum sotto_level level,
                struct sotto_error *err)
{
    struct codes_model *own = calloc(1, sizeof *own);
    enum sotto_status status;
    if (own == NULL) {
        return host_fail_memory(err);
    }
    model->own = own;
    status = codes_shape_init(&own->shape, model->mechanism, other, err);
    status = HOST_THEN(status, check_shape(&own->shape, level, err));
    if (status == SOTTO_STATUS_OK) {
        own->layers = (uint32_t)model->mechanism->shape.z_layers;
        own->in = model->mechanism->shape.width[own->layers];
        model->classes = own->shape.classes;
        model->column = own->shape.column;
        const struct schema_column *label =
            &model->mechanism->shape.schema.column[model->column];
        if (label->edges != NULL && model->classes + 1 == label->count) {
            status = set_number(model, label, err);
        }
    }
    return status;
}

struct expected_cells
codes_model_cells(const struct sotto_model *model)
{
    const struct classifier *classifier = codes_of(model)->classifier;
    return (struct expected_cells){.cells = classifier->cells,
                                   .classes = classifier->classes,
                                   .pi = classifier->pi,
                                   .tau = classifier->tau_bar};
}

static void
free_own(void *own)
{
    struct codes_model *codes = own;
    classifier_free(codes->classifier);
    sotto_mechanism_free(codes->last);
    free(codes);
}

/* ---- Records ------------------------------------------------------------- */

static void
input_row(const struct sotto_model *model, struct rows *rows, size_t row,
          void *room, float *ret_input)
{
    (void)room;
    rows_representation(rows, row, codes_of(model)->layers, ret_input);
}

static enum sotto_status
predict_records(struct sotto_model *model, const struct sotto_table *table,
                double *ret_p, struct sotto_error *err)
{
    const struct codes_model *own = codes_of(model);
    return own->last != NULL
               ? model_predict_logits(model, own->last, table, ret_p, err)
               : model_predict_rows(model, &own->classifier->networks,
                                    input_row, 0, table, ret_p, err);
}

/* ---- Reports ------------------------------------------------------------- */

static enum sotto_status
check_reports(const struct sotto_model *model,
              const struct sotto_mechanism *mechanism, struct sotto_error *err)
{
    return codes_sends_class(model, mechanism) ||
                   same_code(model->mechanism, mechanism)
               ? SOTTO_STATUS_OK
               : host_about(host_fail(err, SOTTO_STATUS_INPUT, 0,
                                      "the mechanism has another encoder or "
                                      "codebook than the model's"),
                            err, SOTTO_ABOUT_PARAMETER, "mechanism");
}

static enum sotto_status
predict_cells(const struct expected_cells *cells,
              const struct sotto_mechanism *mechanism, bool other,
              const uint8_t *reports, size_t n, double *ret_p,
              struct sotto_error *err)
{
    struct codes_shape shape;
    enum sotto_status status = codes_shape_init(&shape, mechanism, other, err);
    return HOST_THEN(status, expected_predict(cells, &shape, reports,
                                              mechanism->shape.report_size, n,
                                              ret_p, err));
}

static enum sotto_status
predict_private(struct sotto_model *model,
                const struct sotto_mechanism *mechanism, const uint8_t *reports,
                size_t n, double *ret_p, struct sotto_error *err)
{
    bool other = codes_of(model)->classifier->networks.plan.other;
    struct expected_cells cells = codes_model_cells(model);
    enum sotto_status status;
    if (mechanism->shape.books > 1) {
        return host_about(
            host_fail(err, SOTTO_STATUS_USAGE, 0,
                      "a report about one of several codebooks is to learn "
                      "from, not to be classified: make a mechanism for that "
                      "with sotto train class, or code --recut"),
            err, SOTTO_ABOUT_PARAMETER, "mechanism");
    }
    if (mechanism == model->mechanism || !codes_sends_class(model, mechanism)) {
        return predict_cells(&cells, mechanism, other, reports, n, ret_p, err);
    }
    status = codes_class_cells(model, &cells, err);
    if (status == SOTTO_STATUS_OK) {
        status =
            predict_cells(&cells, mechanism, other, reports, n, ret_p, err);
        expected_cells_clear(&cells);
    }
    return status;
}

/* ---- One of several networks, from clean records ------------------------- */

static struct networks *
get_networks(const struct sotto_model *model)
{
    return &codes_of(model)->classifier->networks;
}

static const double *
get_exchanged(const struct sotto_model *model)
{
    return codes_of(model)->classifier->exchanged;
}

static enum sotto_status
keep_network(struct sotto_model *model, size_t network, struct sotto_error *err)
{
    (void)err;
    networks_swap(get_networks(model), 0, network);
    networks_drop(get_networks(model));
    return SOTTO_STATUS_OK;
}

static const struct setting settings[] = {
    LEARN_SETTINGS,
    LEARN_SETTING("balanced", SETTING_FLAG, balanced, 0, 0, NULL,
                  "classes are known to be equally frequent"),
    LEARN_SETTING("shifted", SETTING_FLAG, shifted, 0, 0, NULL,
                  "the people's codes have other shares than the\n"
                  "auxiliary records': estimate them as well"),
    LEARN_SETTING("particles", SETTING_WHOLE, particles, 2, 1024, NULL,
                  "samples that labels are learnt with, where leaves have\n"
                  "them: fewer are quicker and less sure, more need more\n"
                  "memory (256; fewer where a product would be large)"),
    LEARN_SETTING("last", SETTING_WHOLE, last, 0, 1000, NULL,
                  "epochs of a last fit, with --aux: a network on the\n"
                  "record itself, from the encoder's weights; 0: none (8\n"
                  "for images where reports say enough)"),
    SETTING_END};

const struct learner learner_codes = {
    .name = "codes",
    .about =
        "for codes of a codebook and labels: learns which labels the codes\n"
        "have, and from the auxiliary records what they are like.",
    .settings = settings,
    .takes = takes_codes,
    .check = codes_check,
    .counted = true,
    .tallies = codes_tallies,
    .fit = codes_fit,
    .fit_clean = codes_fit_clean,
    .predict = predict_records,
    .check_reports = check_reports,
    .predict_private = predict_private,
    .networks = get_networks,
    .keep = keep_network,
    .device = codes_device,
    .exchanged = get_exchanged,
    .write = codes_write,
    .read = codes_read,
    .free = free_own,
};
