/*
 * codes_fit.c: a classifier from reports of a codebook's mechanism, or from
 * clean records of one.
 *
 *     analyst or aux -> z, codes        of the auxiliary records
 *     reports        -> classifier_fit      classifier_fit.c
 *     classifier         -> model           network and tables change hands
 *
 * Records and codes go through the device's own encoder: the code is what a
 * report is about.
 */
#include <stdlib.h>
#include <string.h>

#include "encoder/analyst.h"
#include "host/error.h"
#include "host/wipe.h"
#include "learn/codes/classifier.h"
#include "learn/lattice/lattice_fit.h"

#define CELL_COUNT 0.5 /* added to each cell's, as classifier_fit.c has it */

/* ---- Auxiliary records ----------------------------------------------------
 */

struct source {
    const struct sotto_model *model;
    const struct sotto_fit_options *options;
    float *z;
    uint32_t *code;
    size_t n;
};

static void
source_clear(struct source *source)
{
    size_t n = source->n;
    host_wipe_free(source->z, (n * source->model->in + 1) * sizeof(float));
    host_wipe_free(source->code, (n + 1) * sizeof *source->code);
}

uint32_t
fit_encode_code(const struct sotto_model *model, struct rows *rows, size_t row,
                float *scores, float *ret_z)
{
    const struct codes_shape *codes = &model->codes;
    rows_scores(rows, row, ret_z, scores);
    return (uint32_t)domain_largest(scores + codes->at, (uint32_t)codes->cells);
}

/* Rows of a table, and room for a thread's scores. */
struct taking {
    struct source *source;
    const size_t *row;
    float *scores;
    size_t width;
};

static void
take_row(void *context, struct rows *rows, size_t m, unsigned worker)
{
    const struct taking *taking = context;
    struct source *source = taking->source;
    source->code[m] = fit_encode_code(source->model, rows, taking->row[m],
                                      taking->scores + worker * taking->width,
                                      source->z + m * source->model->in);
}

static enum sotto_status
take_table(struct source *source, const struct sotto_table *aux,
           const size_t *row, struct host_pool *pool, struct sotto_error *err)
{
    struct taking taking = {.source = source, .row = row};
    struct crew crew;
    size_t size;
    enum sotto_status status =
        crew_init(&crew, source->model->mechanism, aux, pool, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    taking.width = rows_z_width(&crew.rows[0]);
    size = crew.devices * taking.width * sizeof *taking.scores;
    taking.scores = malloc(size);
    status = taking.scores != NULL
                 ? fit_encode(&crew, source->n, &source->options->watch,
                              take_row, &taking, err)
                 : host_fail_memory(err);
    host_wipe_free(taking.scores, size);
    crew_clear(&crew);
    return status;
}

static enum sotto_status
take_analyst(struct source *source, const struct sotto_analyst *analyst,
             const size_t *row, struct sotto_error *err)
{
    size_t in = source->model->in, width = 0;
    uint32_t layers = 0;
    const int32_t *code = sotto_analyst_prior(analyst);
    const float *z = analyst_representation(analyst, &width, &layers);
    if (z == NULL || width != in || layers != source->model->layers ||
        sotto_analyst_width(analyst) != 1) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the analyst file is not a codebook's, or its "
                         "representations are not the mechanism's");
    }
    for (size_t m = 0; m < source->n; m++) {
        memcpy(source->z + m * in, z + row[m] * in, in * sizeof *z);
        source->code[m] = (uint32_t)code[row[m]];
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
check_source(const struct sotto_model *model,
             const struct sotto_analyst *analyst, const struct sotto_table *aux,
             struct sotto_error *err)
{
    if (aux == NULL && analyst == NULL) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "learning from codes needs an analyst file or "
                         "auxiliary records");
    }
    if (aux != NULL && sotto_table_rows(aux) == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the auxiliary table has no rows");
    }
    return analyst != NULL ? sotto_analyst_check(analyst, model->mechanism, err)
                           : SOTTO_STATUS_OK;
}

static enum sotto_status
take_source(struct source *source, const struct sotto_analyst *analyst,
            const struct sotto_table *aux, struct host_pool *pool,
            struct sotto_error *err)
{
    size_t count, most = source->options->prior_most, *row = NULL;
    enum sotto_status status = check_source(source->model, analyst, aux, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    count = aux != NULL ? sotto_table_rows(aux) : sotto_analyst_points(analyst);
    source->n = most > 0 && most < count ? most : count;
    row = malloc((source->n + 1) * sizeof *row);
    source->z = source->n < SIZE_MAX / sizeof(float) / (source->model->in + 1)
                    ? calloc(source->n * source->model->in + 1, sizeof(float))
                    : NULL;
    source->code = calloc(source->n + 1, sizeof *source->code);
    if (row == NULL || source->z == NULL || source->code == NULL) {
        status = host_fail_memory(err);
    } else {
        fit_draw(source->options->seed, count, source->n, row);
        status = aux != NULL ? take_table(source, aux, row, pool, err)
                             : take_analyst(source, analyst, row, err);
    }
    free(row);
    return status;
}

/* ---- From reports ---------------------------------------------------------
 */

static enum sotto_status
check_options(const struct sotto_fit_options *options, struct sotto_error *err)
{
    if (options->objective != SOTTO_OBJECTIVE_MARGINAL) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "reports about codes are learnt from by their "
                         "likelihood: the objectives label and plain are not "
                         "for codebooks, leave --objective out");
    }
    if (options->restarts > 1) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a codebook's classifier is one network: leave "
                         "--restarts out");
    }
    return SOTTO_STATUS_OK;
}

/* The network and the tables change hands; the shapes are the same. */
static void
take_over(struct sotto_model *model, struct classifier *classifier)
{
    struct model_net held = model->net[0];
    double *pi = model->pi, *tau = model->tau, *tau_bar = model->tau_bar;
    model->net[0] = classifier->net;
    classifier->net = held;
    model->net[0].stack.arena = &model->net[0].arena;
    classifier->net.stack.arena = &classifier->net.arena;
    model->pi = classifier->pi;
    model->tau = classifier->tau;
    model->tau_bar = classifier->tau_bar;
    classifier->pi = pi;
    classifier->tau = tau;
    classifier->tau_bar = tau_bar;
}

static void
tell(struct sotto_fit_info *info, const struct classifier_info *found,
     size_t reports, size_t points)
{
    *info = (struct sotto_fit_info){.reports = reports,
                                    .points = points,
                                    .kept = 1,
                                    .log_p = found->log_p,
                                    .validation = found->validation,
                                    .epochs = found->epochs,
                                    .memory = found->memory};
}

enum sotto_status
fit_codes(struct sotto_mechanism *mechanism,
          const struct sotto_report_reader *reader,
          const struct sotto_analyst *analyst, const struct sotto_table *aux,
          const struct sotto_fit_options *options,
          struct sotto_model **ret_model, struct sotto_fit_info *ret_info,
          struct sotto_error *err)
{
    struct source source = {.options = options};
    struct classifier *classifier = NULL;
    struct classifier_info found;
    struct fit fit;
    enum sotto_status status = fit_init(&fit, mechanism, options, false, err);
    source.model = fit.model;
    if (status == SOTTO_STATUS_OK) {
        status = check_options(options, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = take_source(&source, analyst, aux, fit.pool, err);
    }
    if (status == SOTTO_STATUS_OK) {
        const struct classifier_aux known = {.z = source.z,
                                             .code = source.code,
                                             .n = source.n,
                                             .d = fit.model->in};
        status = classifier_fit(mechanism, reader, &known, options->shifted,
                                options, &classifier, &found, err);
    }
    if (status == SOTTO_STATUS_OK) {
        take_over(fit.model, classifier);
        tell(&fit.info, &found, sotto_report_reader_count(reader), source.n);
    }
    classifier_free(classifier);
    if (source.model != NULL) {
        source_clear(&source);
    }
    return fit_end(&fit, status, ret_model, ret_info);
}

/* ---- From clean records ---------------------------------------------------
 */

/* Shares of cells and labels in counts, and a pseudo-count a cell that is
   spread like all labels. */
static void
set_tables(struct sotto_model *model, const double *count, const double *label,
           double people)
{
    size_t cells = model->codes.cells, classes = model->classes;
    for (size_t c = 0; c < cells; c++) {
        double in = 0;
        for (size_t y = 0; y < classes; y++) {
            in += count[c * classes + y];
        }
        model->pi[c] =
            (in + CELL_COUNT) / (people + CELL_COUNT * (double)cells);
        for (size_t y = 0; y < classes; y++) {
            model->tau[c * classes + y] =
                (count[c * classes + y] + label[y] / people) / (in + 1);
        }
    }
    memcpy(model->tau_bar, model->tau, cells * classes * sizeof *model->tau);
}

enum sotto_status
fit_count_codes(struct sotto_model *model, const uint32_t *code,
                const size_t *truth, size_t n, struct sotto_error *err)
{
    size_t pairs = model->codes.cells * model->classes;
    double *count = calloc(pairs + model->classes, sizeof *count);
    if (count == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        count[code[i] * model->classes + truth[i]]++;
        count[pairs + truth[i]]++;
    }
    set_tables(model, count, count + pairs, (double)n);
    host_wipe_free(count, (pairs + model->classes) * sizeof *count);
    return SOTTO_STATUS_OK;
}
