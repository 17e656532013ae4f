/*
 * predict.c: what a model says of clean and of privatised records, and how
 * often it is right.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "learn/labelled.h"
#include "learn/learner.h"
#include "mechanism/crew.h"
#include "mechanism/stages.h"

#define BLOCK 1024u
#define EVALUATION_Z 1.959963984540054 /* of 95% intervals */

/* ---- Clean records ------------------------------------------------------ */

/* Inputs of a block of rows, and room of each thread. */
struct block {
    const struct sotto_model *model;
    model_input *input;
    size_t first, in, room;
    int32_t *own; /* room numbers a thread */
    float *x;
};

static void
input_row(void *context, struct rows *rows, size_t row, unsigned worker)
{
    const struct block *block = context;
    block->input(block->model, rows, row, block->own + worker * block->room,
                 block->x + (row - block->first) * block->in);
}

static enum sotto_status
predict_rows(struct block *block, const struct networks *networks,
             struct tensor_backend *backend, struct crew *crew, size_t n,
             double *ret_p, struct sotto_error *err)
{
    size_t classes = networks->classes;
    size_t own_size = (crew->devices * block->room + 1) * sizeof *block->own;
    size_t x_size = BLOCK * networks->in * sizeof *block->x;
    float *p = malloc(BLOCK * classes * sizeof *p);
    enum sotto_status status = SOTTO_STATUS_OK;
    block->own = malloc(own_size);
    block->x = malloc(x_size);
    if (block->own == NULL || block->x == NULL || p == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t first = 0; first < n && status == SOTTO_STATUS_OK;
         first += BLOCK) {
        size_t count = n - first < BLOCK ? n - first : BLOCK;
        block->first = first;
        crew_run(crew, first, first + count, input_row, block);
        status = networks_forward(networks, backend, block->x, count, p, err);
        for (size_t i = 0; i < count * classes && status == SOTTO_STATUS_OK;
             i++) {
            ret_p[first * classes + i] = (double)p[i];
        }
    }
done:
    host_wipe_free(block->own, own_size);
    host_wipe_free(block->x, x_size);
    host_wipe_free(p, BLOCK * classes * sizeof *p);
    return status;
}

enum sotto_status
model_predict_rows(struct sotto_model *model, const struct networks *networks,
                   model_input *input, size_t room,
                   const struct sotto_table *table, double *ret_p,
                   struct sotto_error *err)
{
    struct block block = {
        .model = model, .input = input, .in = networks->in, .room = room};
    struct crew crew;
    enum sotto_status status = model_backend(model, err);
    status = HOST_THEN(
        status, crew_init(&crew, model->mechanism, table, model->pool, err));
    if (status == SOTTO_STATUS_OK) {
        status = predict_rows(&block, networks, model->backend, &crew,
                              sotto_table_rows(table), ret_p, err);
        crew_clear(&crew);
    }
    return status;
}

struct asking {
    size_t classes;
    float *logits; /* of a row, for each thread */
    double *p;
};

static void
ask_row(void *context, struct rows *rows, size_t row, unsigned worker)
{
    const struct asking *asking = context;
    size_t classes = asking->classes;
    float *logits = asking->logits + worker * classes;
    double *p = asking->p + row * classes, most, sum = 0;
    rows_encode(rows, row, NULL, logits);
    most = (double)logits[0];
    for (size_t y = 1; y < classes; y++) {
        most = (double)logits[y] > most ? (double)logits[y] : most;
    }
    for (size_t y = 0; y < classes; y++) {
        p[y] = exp((double)logits[y] - most);
        sum += p[y];
    }
    for (size_t y = 0; y < classes; y++) {
        p[y] /= sum;
    }
}

enum sotto_status
model_predict_logits(struct sotto_model *model,
                     struct sotto_mechanism *mechanism,
                     const struct sotto_table *table, double *ret_p,
                     struct sotto_error *err)
{
    struct asking asking = {.classes = model->classes};
    struct crew crew;
    size_t size;
    enum sotto_status status = model_backend(model, err);
    asking.p = ret_p;
    status =
        HOST_THEN(status, crew_init(&crew, mechanism, table, model->pool, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    size = crew.devices * model->classes * sizeof *asking.logits;
    asking.logits = malloc(size);
    if (asking.logits != NULL) {
        crew_run(&crew, 0, sotto_table_rows(table), ask_row, &asking);
    } else {
        status = host_fail_memory(err);
    }
    host_wipe_free(asking.logits, size);
    crew_clear(&crew);
    return status;
}

enum sotto_status
sotto_model_predict(struct sotto_model *model, const struct sotto_table *table,
                    double *ret_p, struct sotto_error *err)
{
    return model->learner->predict(model, table, ret_p, err);
}

/* ---- Privatised records ------------------------------------------------- */

static enum sotto_status
check_reports(const struct sotto_mechanism *mechanism, const uint8_t *reports,
              size_t n, struct sotto_error *err)
{
    size_t size = mechanism->shape.report_size;
    for (size_t i = 0; i < n; i++) {
        if (!stages_valid(mechanism, reports + i * size, size)) {
            return host_fail(err, SOTTO_STATUS_INPUT, i,
                             "report %zu is none of the mechanism's", i + 1);
        }
    }
    return SOTTO_STATUS_OK;
}

static bool
is_own(const struct sotto_model *model, const struct sotto_mechanism *mechanism)
{
    return mechanism == NULL || (mechanism->size == model->mechanism->size &&
                                 memcmp(mechanism->data, model->mechanism->data,
                                        mechanism->size) == 0);
}

/* Classifies reports of the mechanism that the model's was made from, by adding
   a label that somebody knew. */
static enum sotto_status
predict_unlabelled(struct sotto_model *model,
                   const struct sotto_mechanism *mechanism,
                   const uint8_t *reports, size_t n, double *ret_p,
                   struct sotto_error *err)
{
    struct sotto_mechanism *labelled = NULL;
    size_t size = (n + 1) * model->mechanism->shape.report_size;
    uint8_t *whole = NULL;
    enum sotto_status status = SOTTO_STATUS_INPUT;
    if (mechanism->shape.label == SIZE_MAX && model->column != SIZE_MAX) {
        status = labelled_like(model, mechanism, &labelled, err);
    }
    if (status == SOTTO_STATUS_MEMORY) {
        return status;
    }
    if (status != SOTTO_STATUS_OK || !is_own(model, labelled)) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "the model takes reports of its own mechanism only: "
                           "those of others need a codebook");
        goto done;
    }
    status = check_reports(mechanism, reports, n, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    whole = malloc(size);
    if (whole == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    labelled_reports(mechanism, labelled, reports, n, whole);
    status = model->learner->predict_private(model, model->mechanism, whole, n,
                                             ret_p, err);
done:
    free(whole);
    sotto_mechanism_free(labelled);
    return status;
}

enum sotto_status
sotto_model_predict_private_with(struct sotto_model *model,
                                 const struct sotto_mechanism *mechanism,
                                 const uint8_t *reports, size_t n,
                                 double *ret_p, struct sotto_error *err)
{
    const struct learner *learner = model->learner;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (is_own(model, mechanism)) {
        mechanism = model->mechanism;
    } else if (learner->check_reports != NULL) {
        status = learner->check_reports(model, mechanism, err);
    } else {
        return predict_unlabelled(model, mechanism, reports, n, ret_p, err);
    }
    status = HOST_THEN(status, check_reports(mechanism, reports, n, err));
    return HOST_THEN(status, learner->predict_private(model, mechanism, reports,
                                                      n, ret_p, err));
}

enum sotto_status
sotto_model_predict_private(struct sotto_model *model, const uint8_t *reports,
                            size_t n, double *ret_p, struct sotto_error *err)
{
    return sotto_model_predict_private_with(model, NULL, reports, n, ret_p,
                                            err);
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

/* What it says of every row: of reports, if there is a mechanism for them. */
enum sotto_status
model_predict_table(struct sotto_model *model,
                    struct sotto_mechanism *mechanism,
                    const struct sotto_table *table, uint64_t seed,
                    double *ret_p, struct sotto_error *err)
{
    size_t n = sotto_table_rows(table);
    struct crew crew;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (mechanism == NULL) {
        return sotto_model_predict(model, table, ret_p, err);
    }
    status = model_backend(model, err);
    status =
        HOST_THEN(status, crew_init(&crew, mechanism, table, model->pool, err));
    if (status == SOTTO_STATUS_OK) {
        status = predict_simulated(model, &crew, n, seed, ret_p, err);
        crew_clear(&crew);
    }
    return status;
}

/* Names the column that rows have their true class in, if it is missing. */
static enum sotto_status
check_labels(const struct sotto_model *model, const struct sotto_table *table,
             struct sotto_error *err)
{
    const struct shape *shape = &model->mechanism->shape;
    enum sotto_status status = SOTTO_STATUS_INPUT;
    if (shape->label == SIZE_MAX) {
        return SOTTO_STATUS_OK; /* no row will have a class */
    }
    if (sotto_table_find(table, shape->schema.column[shape->label].name) !=
        SIZE_MAX) {
        return SOTTO_STATUS_OK;
    }
    status = host_fail(err, status, 0,
                       "the table has no column \"%.80s\", which holds the "
                       "true label of each row; add it, or give the labels in "
                       "a file of their own",
                       shape->schema.column[shape->label].name);
    status = host_about(status, err, SOTTO_ABOUT_PARAMETER, "table");
    return host_remedy(status, err, "labels");
}

/* Fills the short form of the scores that the model keeps. */
static void
tell_evaluation(const struct sotto_model *model, struct sotto_evaluation *ret)
{
    const struct sotto_scores *scores = model->scores;
    *ret = (struct sotto_evaluation){.rows = scores->rows,
                                     .accuracy = scores->accuracy.value,
                                     .log_p = -scores->log_loss.value,
                                     .confusion = scores->confusion,
                                     .scores = scores};
}

static enum sotto_status
evaluate_with(struct sotto_model *model, struct sotto_mechanism *mechanism,
              const struct sotto_table *table, uint64_t seed,
              struct sotto_evaluation *ret_evaluation, struct sotto_error *err)
{
    size_t n = sotto_table_rows(table);
    double *p = calloc(n + 1, model->classes * sizeof *p);
    size_t *truth = calloc(n + 1, sizeof *truth);
    struct sotto_scores *scores = NULL;
    enum sotto_status status = p != NULL && truth != NULL
                                   ? model_truth(model, table, truth, err)
                                   : host_fail_memory(err);
    status = HOST_THEN(status, check_labels(model, table, err));
    status = HOST_THEN(
        status, model_predict_table(model, mechanism, table, seed, p, err));
    status = HOST_THEN(status, sotto_scores_new(p, truth, n, model->classes,
                                                EVALUATION_Z, &scores, err));
    if (status == SOTTO_STATUS_OK) {
        sotto_scores_free(model->scores);
        model->scores = scores;
        tell_evaluation(model, ret_evaluation);
    }
    host_wipe_free(p, (n + 1) * model->classes * sizeof *p);
    host_wipe_free(truth, (n + 1) * sizeof *truth);
    return status;
}

enum sotto_status
sotto_model_evaluate(struct sotto_model *model, const struct sotto_table *table,
                     bool private_records, uint64_t seed,
                     struct sotto_evaluation *ret_evaluation,
                     struct sotto_error *err)
{
    return evaluate_with(model, private_records ? model->mechanism : NULL,
                         table, seed, ret_evaluation, err);
}

enum sotto_status
sotto_model_evaluate_private_with(struct sotto_model *model,
                                  struct sotto_mechanism *mechanism,
                                  const struct sotto_table *table,
                                  uint64_t seed,
                                  struct sotto_evaluation *ret_evaluation,
                                  struct sotto_error *err)
{
    return evaluate_with(model,
                         mechanism != NULL ? mechanism : model->mechanism,
                         table, seed, ret_evaluation, err);
}
