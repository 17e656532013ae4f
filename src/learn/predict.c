/*
 * predict.c: what a model says of clean and of privatised records, and how
 * often it is right.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "learn/codes/classifier.h"
#include "mechanism/crew.h"
#include "mechanism/same.h"

#define BLOCK 1024u

/* ---- Clean records ------------------------------------------------------ */

size_t
model_point_width(const struct sotto_model *model)
{
    return model->codes.cells > 0 ? 1 : model->shape.width;
}

void
model_input(const struct sotto_model *model, struct rows *rows, size_t row,
            int32_t *point, float *ret_input)
{
    if (model->level == SOTTO_LEVEL_FEATURE) {
        rows_encode(rows, row, ret_input, NULL);
    } else if (model->codes.cells > 0) {
        rows_representation(rows, row, model->layers, ret_input);
    } else {
        rows_q(rows, row, point);
        prior_input(&model->shape, point, ret_input);
    }
}

static void
copy_doubles(const float *from, size_t count, double *to)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = (double)from[i];
    }
}

/* Inputs of a block of rows, and room for each thread's point. */
struct block {
    const struct sotto_model *model;
    size_t first, width;
    int32_t *point;
    float *input;
};

static void
input_row(void *context, struct rows *rows, size_t row, unsigned worker)
{
    const struct block *block = context;
    model_input(block->model, rows, row, block->point + worker * block->width,
                block->input + (row - block->first) * block->model->in);
}

static enum sotto_status
predict_rows(struct sotto_model *model, struct crew *crew, size_t n,
             double *ret_p, struct sotto_error *err)
{
    size_t classes = model->classes;
    struct block block = {.model = model, .width = model_point_width(model)};
    size_t size = crew->devices * block.width * sizeof *block.point;
    float *p = malloc(BLOCK * classes * sizeof *p);
    enum sotto_status status = SOTTO_STATUS_OK;
    block.point = malloc(size);
    block.input = malloc(BLOCK * model->in * sizeof *block.input);
    if (block.point == NULL || block.input == NULL || p == NULL) {
        status = host_fail_memory(err);
    }
    for (size_t first = 0; first < n && status == SOTTO_STATUS_OK;
         first += BLOCK) {
        size_t count = n - first < BLOCK ? n - first : BLOCK;
        block.first = first;
        crew_run(crew, first, first + count, input_row, &block);
        status = model_forward(model, block.input, count, p, err);
        if (status == SOTTO_STATUS_OK) {
            copy_doubles(p, count * classes, ret_p + first * classes);
        }
    }
    host_wipe_free(block.point, size);
    host_wipe_free(block.input, BLOCK * model->in * sizeof *block.input);
    host_wipe_free(p, BLOCK * classes * sizeof *p);
    return status;
}

enum sotto_status
sotto_model_predict(struct sotto_model *model, const struct sotto_table *table,
                    double *ret_p, struct sotto_error *err)
{
    struct crew crew;
    enum sotto_status status = model_backend(model, err);
    if (status == SOTTO_STATUS_OK) {
        status = crew_init(&crew, model->mechanism, table, model->pool, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status =
            predict_rows(model, &crew, sotto_table_rows(table), ret_p, err);
        crew_clear(&crew);
    }
    return status;
}

/* ---- Privatised records ------------------------------------------------- */

/* Columns of the model's p, each with the posterior's padding behind it. */
static float *
transpose_p(const struct sotto_model *model, size_t padded)
{
    float *v = calloc(padded * model->classes, sizeof *v);
    for (size_t m = 0; v != NULL && m < model->points; m++) {
        for (size_t y = 0; y < model->classes; y++) {
            v[y * padded + m] = model->p[m * model->classes + y];
        }
    }
    return v;
}

/* p(y | report) = sum_m w_m p(y | q_m), of one block of reports. */
static enum sotto_status
average_block(struct sotto_model *model, const struct prior *prior,
              const uint8_t *const *report, size_t n, const float *v,
              double *ret_p, struct sotto_error *err)
{
    struct posterior_options options = {.tau = 0};
    struct posterior *posterior = NULL;
    size_t first[BLOCK / POSTERIOR_CHUNK], chunks = 0;
    double s[POSTERIOR_CHUNK];
    enum sotto_status status;
    for (size_t i = 0; i < n; i += POSTERIOR_CHUNK) {
        first[chunks++] = i;
    }
    status = posterior_new(prior, report, n, first, chunks, model->pool,
                           &options, &posterior, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < n; i += POSTERIOR_CHUNK) {
        size_t rows = n - i < POSTERIOR_CHUNK ? n - i : POSTERIOR_CHUNK;
        for (size_t y = 0; y < model->classes; y++) {
            posterior_dots(posterior, i, rows, v + y * prior->padded, s);
            for (size_t j = 0; j < rows; j++) {
                ret_p[(i + j) * model->classes + y] = s[j];
            }
        }
    }
    posterior_free(posterior);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
predict_average(struct sotto_model *model, const uint8_t *reports, size_t n,
                double *ret_p, struct sotto_error *err)
{
    size_t size = model->mechanism->shape.report_size;
    const uint8_t *report[BLOCK];
    struct prior prior;
    float *v = NULL;
    enum sotto_status status =
        prior_init(&prior, &model->shape, model->point, model->points, err);
    if (status == SOTTO_STATUS_OK) {
        v = transpose_p(model, prior.padded);
        status = v != NULL ? model_backend(model, err) : host_fail_memory(err);
    }
    for (size_t first = 0; first < n && status == SOTTO_STATUS_OK;
         first += BLOCK) {
        size_t count = n - first < BLOCK ? n - first : BLOCK;
        for (size_t i = 0; i < count; i++) {
            report[i] = reports + (first + i) * size;
        }
        status = average_block(model, &prior, report, count, v,
                               ret_p + first * model->classes, err);
    }
    free(v);
    prior_clear(&prior);
    return status;
}

/* The report's own estimate, classified as if it were a point. */
static enum sotto_status
predict_estimates(struct sotto_model *model, const uint8_t *reports, size_t n,
                  double *ret_p, struct sotto_error *err)
{
    size_t size = model->mechanism->shape.report_size, in = model->in;
    double *z = malloc(in * sizeof *z);
    double *room = malloc(prior_room(&model->shape) * sizeof *room);
    float *input = malloc(BLOCK * in * sizeof *input);
    float *p = malloc(BLOCK * model->classes * sizeof *p);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (z == NULL || room == NULL || input == NULL || p == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t first = 0; first < n && status == SOTTO_STATUS_OK;
         first += BLOCK) {
        size_t count = n - first < BLOCK ? n - first : BLOCK;
        for (size_t i = 0; i < count; i++) {
            prior_estimate(&model->shape, reports + (first + i) * size, room,
                           z);
            for (size_t j = 0; j < in; j++) {
                input[i * in + j] = (float)z[j];
            }
        }
        status = model_forward(model, input, count, p, err);
        if (status == SOTTO_STATUS_OK) {
            copy_doubles(p, count * model->classes,
                         ret_p + first * model->classes);
        }
    }
done:
    free(z);
    free(room);
    free(input);
    free(p);
    return status;
}

static enum sotto_status
check_reports(const struct sotto_mechanism *mechanism, const uint8_t *reports,
              size_t n, struct sotto_error *err)
{
    size_t size = mechanism->shape.report_size;
    for (size_t i = 0; i < n; i++) {
        if (!report_valid(mechanism->client, reports + i * size, size)) {
            return host_fail(err, SOTTO_STATUS_INPUT, i,
                             "report %zu is none of the mechanism's", i + 1);
        }
    }
    return SOTTO_STATUS_OK;
}

/* By way of the cells of `classifier`. */
static enum sotto_status
predict_cells(const struct sotto_model *model,
              const struct classifier *classifier,
              const struct sotto_mechanism *mechanism, const uint8_t *reports,
              size_t n, double *ret_p, struct sotto_error *err)
{
    size_t size = mechanism->shape.report_size;
    const uint8_t *report[BLOCK];
    struct codes_shape shape;
    enum sotto_status status =
        codes_shape_init(&shape, mechanism, model->other, err);
    for (size_t first = 0; first < n && status == SOTTO_STATUS_OK;
         first += BLOCK) {
        size_t count = n - first < BLOCK ? n - first : BLOCK;
        for (size_t i = 0; i < count; i++) {
            report[i] = reports + (first + i) * size;
        }
        status = classifier_private(classifier, &shape, report, count,
                                    ret_p + first * model->classes, err);
    }
    return status;
}

static enum sotto_status
predict_codes(const struct sotto_model *model,
              const struct sotto_mechanism *mechanism, const uint8_t *reports,
              size_t n, double *ret_p, struct sotto_error *err)
{
    const struct classifier classifier = {.cells = model->codes.cells,
                                          .classes = model->classes,
                                          .pi = model->pi,
                                          .tau_bar = model->tau_bar};
    return predict_cells(model, &classifier, mechanism, reports, n, ret_p, err);
}

static enum sotto_status
predict_classes(const struct sotto_model *model,
                const struct sotto_mechanism *mechanism, const uint8_t *reports,
                size_t n, double *ret_p, struct sotto_error *err)
{
    double *share = model_class_tables(model);
    struct classifier classifier = {
        .cells = model->classes, .classes = model->classes, .pi = share};
    enum sotto_status status;
    if (share == NULL) {
        return host_fail_memory(err);
    }
    classifier.tau_bar = share + model->classes;
    status =
        predict_cells(model, &classifier, mechanism, reports, n, ret_p, err);
    free(share);
    return status;
}

enum sotto_status
sotto_model_predict_private_with(struct sotto_model *model,
                                 const struct sotto_mechanism *mechanism,
                                 const uint8_t *reports, size_t n,
                                 double *ret_p, struct sotto_error *err)
{
    bool class = false;
    enum sotto_status status;
    if (mechanism == NULL || (mechanism->size == model->mechanism->size &&
                              memcmp(mechanism->data, model->mechanism->data,
                                     mechanism->size) == 0)) {
        return sotto_model_predict_private(model, reports, n, ret_p, err);
    }
    if (model->codes.cells == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the model takes reports of its own mechanism only: "
                         "those of others need a codebook");
    }
    class = model_sends_class(model, mechanism);
    if (!class && !same_code(model->mechanism, mechanism)) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the mechanism has another encoder or codebook than "
                         "the model's");
    }
    status = check_reports(mechanism, reports, n, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    return class ? predict_classes(model, mechanism, reports, n, ret_p, err)
                 : predict_codes(model, mechanism, reports, n, ret_p, err);
}

enum sotto_status
sotto_model_predict_private(struct sotto_model *model, const uint8_t *reports,
                            size_t n, double *ret_p, struct sotto_error *err)
{
    enum sotto_status status = check_reports(model->mechanism, reports, n, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (model->codes.cells > 0) {
        return predict_codes(model, model->mechanism, reports, n, ret_p, err);
    }
    if (model->objective == SOTTO_OBJECTIVE_MARGINAL) {
        return predict_average(model, reports, n, ret_p, err);
    }
    if (model->level == SOTTO_LEVEL_FEATURE) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a classifier of records that was not fitted by Eq. "
                         "11 cannot take reports: fit it with the objective "
                         "marginal, or at the level of representations");
    }
    return predict_estimates(model, reports, n, ret_p, err);
}

/* ---- Evaluation --------------------------------------------------------- */

/* Reports of every row, simulated from (seed, row). */
struct sending {
    uint64_t seed;
    size_t size;
    uint8_t *reports;
    enum sotto_status *status; /* of every row */
};

static void
send_row(void *context, struct rows *rows, size_t row, unsigned worker)
{
    const struct sending *sending = context;
    (void)worker;
    sending->status[row] = sotto_simulate(
        rows->mechanism, sending->seed, row, rows_at(rows, row), rows->count,
        sending->reports + row * sending->size, sending->size);
}

/* With the devices of the mechanism that privatises. */
static enum sotto_status
predict_simulated(struct sotto_model *model, struct crew *crew, size_t n,
                  uint64_t seed, double *ret_p, struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = crew->rows[0].mechanism;
    struct sending sending = {.seed = seed,
                              .size = mechanism->shape.report_size};
    enum sotto_status status = SOTTO_STATUS_OK;
    sending.reports = calloc(n + 1, sending.size);
    sending.status = calloc(n + 1, sizeof *sending.status);
    if (sending.reports == NULL || sending.status == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    crew_run(crew, 0, n, send_row, &sending);
    for (size_t i = 0; i < n; i++) {
        if (sending.status[i] != SOTTO_STATUS_OK) {
            status = host_fail(err, sending.status[i], i,
                               "row %zu cannot be privatised", i + 1);
            goto done;
        }
    }
    status = sotto_model_predict_private_with(model, mechanism, sending.reports,
                                              n, ret_p, err);
done:
    free(sending.reports);
    free(sending.status);
    return status;
}

size_t
model_likeliest(const double *p, size_t classes)
{
    size_t best = 0;
    for (size_t y = 1; y < classes; y++) {
        best = p[y] > p[best] ? y : best;
    }
    return best;
}

enum sotto_status
model_truth(struct sotto_model *model, const struct sotto_table *table,
            size_t *ret_truth, struct sotto_error *err)
{
    struct rows rows;
    enum sotto_status status = rows_init(&rows, model->mechanism, table, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < sotto_table_rows(table); i++) {
        ret_truth[i] = rows_class(&rows, i);
    }
    rows_clear(&rows);
    return SOTTO_STATUS_OK;
}

/* Counts the answers against the truth. */
static void
score(struct sotto_model *model, struct rows *rows, const double *p,
      struct sotto_evaluation *ret)
{
    size_t classes = model->classes, right = 0;
    *ret = (struct sotto_evaluation){.confusion = model->confusion};
    memset(model->confusion, 0, classes * classes * sizeof *model->confusion);
    for (size_t i = 0; i < sotto_table_rows(rows->table); i++) {
        const double *at = p + i * classes;
        size_t truth = rows_class(rows, i);
        size_t best = model_likeliest(at, classes);
        if (truth >= classes) {
            continue;
        }
        ret->rows++;
        right += best == truth ? 1 : 0;
        ret->log_p += log(at[truth] > 1e-300 ? at[truth] : 1e-300);
        model->confusion[truth * classes + best]++;
    }
    ret->accuracy = ret->rows > 0 ? (double)right / (double)ret->rows : 0;
    ret->log_p = ret->rows > 0 ? ret->log_p / (double)ret->rows : 0;
}

/* What it says of every row: of reports, if there is a mechanism for them. */
static enum sotto_status
predict_table(struct sotto_model *model, struct sotto_mechanism *mechanism,
              const struct sotto_table *table, uint64_t seed, double *ret_p,
              struct sotto_error *err)
{
    size_t n = sotto_table_rows(table);
    struct crew crew;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (mechanism == NULL) {
        return sotto_model_predict(model, table, ret_p, err);
    }
    status = model_backend(model, err);
    if (status == SOTTO_STATUS_OK) {
        status = crew_init(&crew, mechanism, table, model->pool, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = predict_simulated(model, &crew, n, seed, ret_p, err);
        crew_clear(&crew);
    }
    return status;
}

static enum sotto_status
evaluate(struct sotto_model *model, struct sotto_mechanism *mechanism,
         const struct sotto_table *table, uint64_t seed,
         struct sotto_evaluation *ret_evaluation, struct sotto_error *err)
{
    size_t n = sotto_table_rows(table);
    struct sotto_evaluation evaluation;
    struct rows rows;
    double *p = NULL;
    enum sotto_status status = rows_init(&rows, model->mechanism, table, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    p = calloc(n + 1, model->classes * sizeof *p);
    if (model->confusion == NULL) {
        model->confusion =
            calloc(model->classes * model->classes, sizeof(uint64_t));
    }
    if (p == NULL || model->confusion == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = predict_table(model, mechanism, table, seed, p, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    score(model, &rows, p, &evaluation);
    if (evaluation.rows == 0) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "no row has a label that the model knows");
        goto done;
    }
    *ret_evaluation = evaluation;
done:
    host_wipe_free(p, (n + 1) * model->classes * sizeof *p);
    rows_clear(&rows);
    return status;
}

enum sotto_status
sotto_model_evaluate(struct sotto_model *model, const struct sotto_table *table,
                     bool private_records, uint64_t seed,
                     struct sotto_evaluation *ret_evaluation,
                     struct sotto_error *err)
{
    return evaluate(model, private_records ? model->mechanism : NULL, table,
                    seed, ret_evaluation, err);
}

enum sotto_status
sotto_model_evaluate_private_with(struct sotto_model *model,
                                  struct sotto_mechanism *mechanism,
                                  const struct sotto_table *table,
                                  uint64_t seed,
                                  struct sotto_evaluation *ret_evaluation,
                                  struct sotto_error *err)
{
    return evaluate(model, mechanism != NULL ? mechanism : model->mechanism,
                    table, seed, ret_evaluation, err);
}
