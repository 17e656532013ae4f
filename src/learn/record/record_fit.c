/*
 * record_fit.c: a network on records that the collector holds, from reports
 * about their labels.
 *
 *     reports, keys   -> row          which record each is about
 *     records         -> columns, x   fitted; or an encoder's own
 *     reports         -> labels       what each says of its class
 *     x, labels       -> network      Eq. 12
 *     columns, network -> the model's mechanism
 *
 * With an encoder the classes' layers are fitted first, on what it makes of the
 * records, and then all of it.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/settings.h"
#include "host/wipe.h"
#include "learn/record/record.h"
#include "mechanism/crew.h"
#include "schema/schema_fit.h"

#define RATE 2e-3
#define DECAY 1e-2
#define EPOCHS 30u
#define BATCH 256u
#define RATE_BEGUN 1e-3 /* from an encoder's weights */
#define EPOCHS_BEGUN 16u
#define EPOCHS_HEAD 4u
#define RATE_DENSE 3e-3 /* where records are no images */
#define DECAY_DENSE 3.0
#define EPS_DENSE 2.5 /* above it weights decay more slowly */
#define DECAY_DENSE_LARGE 1.0
#define STEPS_DENSE 1500u
#define EPOCHS_DENSE_LEAST 12u
#define EPOCHS_DENSE_MOST 100u
#define HELD_LEAST 500.0 /* reports that can tell which weights are better */

struct fit {
    struct sotto_model *model;
    const struct learn_job *job;
    size_t n, classes;
    size_t *row;
    struct schema schema;         /* fitted to the records; or empty */
    struct decompose from;        /* the encoder's; or empty */
    struct schema_column *column; /* of the records, then the label's */
    size_t columns;
    struct sotto_mechanism *plain; /* without a network */
    struct labels labels;
    struct record_data data;
    struct record_net net;
};

static void
clear_fit(struct fit *fit)
{
    free(fit->row);
    schema_clear(&fit->schema);
    decompose_clear(&fit->from);
    free(fit->column);
    sotto_mechanism_free(fit->plain);
    labels_clear(&fit->labels);
    host_wipe_free(fit->data.x,
                   (fit->data.n * fit->data.width + 1) * sizeof *fit->data.x);
    record_net_clear(&fit->net);
}

static enum sotto_status
fail_records(enum sotto_status status, struct sotto_error *err)
{
    return host_about(status, err, SOTTO_ABOUT_PARAMETER, "records");
}

size_t
record_classes(const struct sotto_mechanism *mechanism, bool other)
{
    size_t count = mechanism->shape.schema.column[mechanism->shape.label].count;
    return !other && count > 2 ? count - 1 : count;
}

/* ---- Columns ------------------------------------------------------------- */

/* Fits every column of the records but the label's and the keys'. */
static enum sotto_status
fit_columns(struct fit *fit, const char *label, struct sotto_error *err)
{
    static const struct schema_aim aim = {.input = true};
    const struct sotto_table *table = fit->job->table;
    const char *key = NULL;
    size_t columns = sotto_table_columns(table), at = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (fit->job->keys != NULL) {
        status = record_match_key(fit->job->keys, &at, err);
        key = status == SOTTO_STATUS_OK ? sotto_table_name(fit->job->keys, at)
                                        : NULL;
    }
    status = HOST_THEN(status, schema_init(&fit->schema, columns, err));
    for (size_t i = 0; i < columns && status == SOTTO_STATUS_OK; i++) {
        const char *name = sotto_table_name(table, i);
        if (strcmp(name, label) != 0 &&
            (key == NULL || strcmp(name, key) != 0)) {
            status = schema_fit(&fit->schema, table, i, &aim, err);
        }
    }
    fit->columns = fit->schema.columns;
    if (status == SOTTO_STATUS_OK && fit->columns == 0) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "there is no column to learn from");
    }
    return fail_records(status, err);
}

/* Takes the encoder's columns, without those that it does not read. One that
   reads the label would be asked for what nobody knows of a new record. */
static enum sotto_status
take_columns(struct fit *fit, const char *label, struct sotto_error *err)
{
    const struct sotto_mechanism *from = fit->job->from;
    enum sotto_status status = decompose_init(&fit->from, from, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < from->shape.schema.columns; i++) {
        if (from->shape.schema.column[i].inputs > 0) {
            if (strcmp(fit->from.column[i].name, label) == 0) {
                return schema_column_fail(
                    SOTTO_STATUS_USAGE, "the label ", label,
                    " goes into the encoder: take one that was trained "
                    "without it",
                    err);
            }
            fit->from.column[fit->columns++] = fit->from.column[i];
        }
    }
    for (size_t i = 0; i < from->shape.z_layers; i++) {
        if (fit->from.layer[i].bf16) {
            return host_fail(err, SOTTO_STATUS_USAGE, 0,
                             "the encoder's weights are cut short: take the "
                             "one that was trained");
        }
    }
    return from->shape.z_layers > 0 && fit->columns > 0
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "the mechanism to begin with has no encoder");
}

/* Puts the label's column behind those of the records. */
static enum sotto_status
set_columns(struct fit *fit, const struct decompose *own,
            struct sotto_error *err)
{
    size_t label = fit->model->mechanism->shape.label;
    const char *name = own->column[label].name;
    const struct schema_column *columns;
    enum sotto_status status = fit->job->from != NULL
                                   ? take_columns(fit, name, err)
                                   : fit_columns(fit, name, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    columns = fit->job->from != NULL ? fit->from.column : fit->schema.column;
    fit->column = calloc(fit->columns + 1, sizeof *fit->column);
    if (fit->column == NULL || columns == NULL) {
        return host_fail_memory(err);
    }
    memcpy(fit->column, columns, fit->columns * sizeof *fit->column);
    fit->column[fit->columns] = own->column[label];
    fit->column[fit->columns++].input = false;
    return SOTTO_STATUS_OK;
}

/* ---- The mechanism ------------------------------------------------------- */

/* What protects the records, in a mechanism's words. */
static const char nothing[] =
    "none: the collector holds the records, and the network tells of them";

/* Composes the mechanism of the label with the records' columns, and the
   network if there is one. */
static enum sotto_status
compose_model(const struct fit *fit, const struct decompose *own,
              struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    struct compose_spec spec = own->spec;
    struct compose_part part =
        own->part[fit->model->mechanism->shape.label_part];
    part.factor[0].at = (uint32_t)fit->columns - 1;
    spec.auxiliary = nothing;
    spec.column = fit->column;
    spec.columns = fit->columns;
    spec.layer = fit->net.layer;
    spec.layers = fit->net.room != NULL ? fit->net.layers : 0;
    spec.part = &part;
    spec.parts = 1;
    return compose_open(&spec, ret_mechanism, err);
}

/* ---- x and labels -------------------------------------------------------- */

static void
take_row(void *context, struct rows *rows, size_t i, unsigned worker)
{
    const struct fit *fit = context;
    (void)worker;
    rows_encode(rows, fit->row[i], fit->data.x + i * fit->data.width, NULL);
}

static enum sotto_status
take_x(struct fit *fit, struct sotto_error *err)
{
    struct record_data *data = &fit->data;
    struct crew crew;
    enum sotto_status status;
    data->n = fit->n;
    data->width = fit->plain->shape.x;
    data->x = data->n < SIZE_MAX / sizeof(float) / (data->width + 1)
                  ? calloc(data->n * data->width + 1, sizeof(float))
                  : NULL;
    if (data->x == NULL) {
        return host_fail_memory(err);
    }
    if (fit->columns == 2) {
        data->image =
            record_net_image(fit->job->table, fit->column[0].name, data->width);
    }
    status = fail_records(
        crew_init(&crew, fit->plain, fit->job->table, fit->model->pool, err),
        err);
    if (status == SOTTO_STATUS_OK) {
        status = crew_run_watched(&crew, fit->n, &fit->job->options->watch,
                                  "reading", take_row, fit, err);
        crew_clear(&crew);
    }
    return status;
}

static enum sotto_status
take_labels(struct fit *fit, struct sotto_error *err)
{
    const struct sotto_mechanism *mechanism = fit->model->mechanism;
    size_t at = mechanism->shape.label_part;
    const struct labels_part part = {.likelihood = &mechanism->likelihood[at],
                                     .offset = mechanism->shape.part[at].offset,
                                     .classes = fit->classes};
    const uint8_t **report = malloc((fit->n + 1) * sizeof *report);
    enum sotto_status status;
    if (report == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < fit->n; i++) {
        report[i] = sotto_report_reader_at(fit->job->reader, i);
    }
    status = labels_init(&fit->labels, &part, report, fit->n, false, 0, err);
    free(report);
    return status;
}

/* ---- The network --------------------------------------------------------- */

static double
get_eps(const struct fit *fit)
{
    return (double)fit->model->mechanism->shape.eps / (double)SOTTO_UNIT;
}

/* How to train: an image's network with few and long passes, others with many
   short ones, and weights that decay the more the less a report says. */
static struct record_plan
plan_training(const struct fit *fit, bool image)
{
    struct record_plan plan = {.rate = RATE,
                               .decay = DECAY,
                               .views = fit->job->options->views,
                               .epochs = EPOCHS,
                               .batch = BATCH,
                               .even = !image,
                               .pool = fit->model->pool,
                               .backend = fit->model->backend,
                               .watch = &fit->job->options->watch,
                               .what = "learning"};
    if (!image) {
        size_t epochs = STEPS_DENSE / (fit->n / BATCH + 1) + 1;
        epochs = epochs < EPOCHS_DENSE_LEAST ? EPOCHS_DENSE_LEAST : epochs;
        plan.epochs =
            (uint32_t)(epochs > EPOCHS_DENSE_MOST ? EPOCHS_DENSE_MOST : epochs);
        plan.rate = RATE_DENSE;
        plan.decay = get_eps(fit) > EPS_DENSE ? DECAY_DENSE_LARGE : DECAY_DENSE;
    }
    return plan;
}

/* Puts what was asked for in place of what was chosen. */
static void
set_asked(struct record_plan *plan, const struct learn_options *options)
{
    plan->rate = options->rate > 0 ? options->rate : plan->rate;
    plan->decay = options->decay >= 0 ? options->decay : plan->decay;
    plan->epochs = options->epochs > 0 ? options->epochs : plan->epochs;
}

/* Fits the layers of the classes to what the encoder makes of the records. */
static enum sotto_status
train_head(struct fit *fit, struct record_net *head,
           struct record_fitted *fitted, struct sotto_error *err)
{
    const struct shape *shape = &fit->job->from->shape;
    struct record_plan plan = plan_training(fit, true);
    struct record_data data = fit->data;
    enum sotto_status status;
    data.image = (struct sotto_image){0, 0, 0};
    data.width = shape->width[shape->z_layers];
    data.x = data.n < SIZE_MAX / sizeof(float) / (data.width + 1)
                 ? calloc(data.n * data.width + 1, sizeof(float))
                 : NULL;
    if (data.x == NULL) {
        return host_fail_memory(err);
    }
    plan.even = true;
    plan.epochs = EPOCHS_HEAD;
    plan.stream = 1;
    status = record_net_run(fit->from.layer, shape->z_layers, fit->data.x,
                            data.n, fit->data.width, plan.backend, data.x, err);
    status = HOST_THEN(status, record_layers_add_head(head, fit->classes, err));
    status =
        HOST_THEN(status, record_net_train(head, &data, &plan, fitted, err));
    host_wipe_free(data.x, (data.n * data.width + 1) * sizeof *data.x);
    return status;
}

/* Begins with the encoder's weights. */
static enum sotto_status
train_begun(struct fit *fit, struct record_fitted *fitted,
            struct sotto_error *err)
{
    size_t layers = fit->job->from->shape.z_layers;
    struct record_plan plan = plan_training(fit, true);
    struct record_net head = {.layers = 0};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (layers + 2 > RECORD_LAYERS_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "the encoder has too many layers to begin with");
    }
    status = train_head(fit, &head, fitted, err);
    if (status == SOTTO_STATUS_OK) {
        memcpy(fit->net.layer, fit->from.layer,
               layers * sizeof *fit->net.layer);
        memcpy(fit->net.layer + layers, head.layer, 2 * sizeof *head.layer);
        fit->net.layers = layers + 2;
        plan.rate = RATE_BEGUN;
        plan.epochs = EPOCHS_BEGUN;
        set_asked(&plan, fit->job->options);
        status = record_net_train(&fit->net, &fit->data, &plan, fitted, err);
    }
    record_net_clear(&head);
    return status;
}

static enum sotto_status
train_network(struct fit *fit, struct record_fitted *fitted,
              struct sotto_error *err)
{
    bool image = fit->data.image.height > 0;
    struct record_plan plan = plan_training(fit, image);
    enum sotto_status status;
    if (fit->job->from != NULL) {
        return train_begun(fit, fitted, err);
    }
    set_asked(&plan, fit->job->options);
    status = record_layers_plan(&fit->net, &fit->data, fit->job->options, err);
    plan.even = fit->net.layer[0].kind == LAYER_DENSE;
    return HOST_THEN(
        status, record_net_train(&fit->net, &fit->data, &plan, fitted, err));
}

/* ---- All of it ----------------------------------------------------------- */

static enum sotto_status
check_job(const struct fit *fit, struct sotto_error *err)
{
    if (fit->job->table == NULL) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the records are missing: reports about the label "
                         "alone are learnt from beside the records that they "
                         "are about");
    }
    if (fit->n < 2) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "%zu report%s cannot be learnt from: at least 2",
                         fit->n, fit->n == 1 ? "" : "s");
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
run_fit(struct fit *fit, const struct decompose *own,
        struct record_fitted *fitted, struct sotto_error *err)
{
    const struct learn_options *options = fit->job->options;
    enum sotto_status status;
    fit->row = calloc(fit->n + 1, sizeof *fit->row);
    if (fit->row == NULL) {
        return host_fail_memory(err);
    }
    status = record_match(fit->job->reader, fit->job->table, fit->job->keys,
                          fit->row, err);
    status = HOST_THEN(status, set_columns(fit, own, err));
    status = HOST_THEN(status, compose_model(fit, own, &fit->plain, err));
    status = HOST_THEN(status, take_labels(fit, err));
    status = HOST_THEN(status, take_x(fit, err));
    fit->data.labels = &fit->labels;
    fit->data.classes = fit->classes;
    fit->data.seed = options->seed;
    fit->data.validation = options->validation * (double)fit->n < HELD_LEAST
                               ? 0
                               : options->validation;
    return HOST_THEN(status, train_network(fit, fitted, err));
}

enum sotto_status
record_fit(struct sotto_model *model, const struct learn_job *job,
           struct sotto_fit_info *ret_info, struct sotto_error *err)
{
    struct fit fit = {.model = model,
                      .job = job,
                      .n = sotto_report_reader_count(job->reader)};
    struct record_fitted fitted = {0};
    struct sotto_mechanism *mechanism = NULL;
    struct decompose own = {0};
    enum sotto_status status = check_job(&fit, err);
    status = HOST_THEN(status, decompose_init(&own, model->mechanism, err));
    if (status == SOTTO_STATUS_OK) {
        fit.classes = record_classes(model->mechanism, job->options->other);
        status = run_fit(&fit, &own, &fitted, err);
    }
    status = HOST_THEN(status, compose_model(&fit, &own, &mechanism, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_info = (struct sotto_fit_info){.reports = fit.n,
                                            .kept = 1,
                                            .log_p = fitted.log_p,
                                            .validation = fitted.validation,
                                            .epochs = fitted.epochs};
        model->classes = fit.classes;
        model->column = mechanism->shape.label;
    }
    clear_fit(&fit);
    decompose_clear(&own);
    if (status == SOTTO_STATUS_OK) { /* what was decomposed is done with */
        sotto_mechanism_free(model->mechanism);
        model->mechanism = mechanism;
    }
    return status;
}
