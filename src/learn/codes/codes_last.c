/*
 * codes_last.c: the last fit: a network on the record itself.
 *
 * Reports do not say which record of a code, or of a leaf, has which label: a
 * network on x does, by what records look like. It begins where the encoder and
 * the network on z are, so it needs few epochs. Images are distorted.
 */
#include "learn/codes/codes_last.h"

#include <stdlib.h>

#include "host/error.h"
#include "host/wipe.h"
#include "learn/codes/targets.h"
#include "learn/record_net.h"
#include "mechanism/crew.h"

#define EPOCHS 8u
#define WORTH_LEAST 1e4  /* n g from which on it pays */
#define SAMPLES_MOST 1e9 /* numbers of all records, 4 GB of them */
#define RATE 1e-3
#define DECAY 1e-2
#define VIEWS 0.5
#define BATCH 256u
#define SEED_OF_SECOND UINT64_C(0x6c61737400000000)

/* ---- Whether to ----------------------------------------------------------
 */

/* Why there can be none; NULL: there can. */
static const char *
find_obstacle(const struct sotto_model *model, const struct learn_job *job)
{
    const struct codes_model *own = codes_of(model);
    size_t head = job->options->hiddens > 0 ? job->options->hiddens + 1 : 2;
    if (job->table == NULL) {
        return "needs the auxiliary records themselves: give their table";
    }
    if (own->layers == 0) {
        return "goes on from the encoder's layers, and this mechanism has none";
    }
    if (own->layers + head > RECORD_LAYERS_MAX) {
        return "is not for encoders of so many layers";
    }
    if (model->mechanism->device.terms->central_eps.size > 0) {
        return "learns from the auxiliary records beyond what the mechanism "
               "says that they cost: leave it out";
    }
    for (size_t i = 0; i < own->layers; i++) {
        if (decompose_layer(model->mechanism, i).bf16) {
            return "needs the encoder as it was trained, and this one's "
                   "weights are cut short";
        }
    }
    return model->classes > 1 ? NULL : "needs two classes";
}

enum sotto_status
codes_last_check(const struct sotto_model *model, const struct learn_job *job,
                 struct sotto_error *err)
{
    uint32_t asked = job->options->last;
    const char *why =
        asked == LEARN_LAST_CHOSEN ? NULL : find_obstacle(model, job);
    return asked == 0 || why == NULL ? SOTTO_STATUS_OK
                                     : settings_fail(err, "last", "%s", why);
}

/* The image that the encoder takes, if it takes one and nothing else. */
static struct sotto_image
find_image(const struct sotto_model *model, const struct learn_job *job)
{
    const struct shape *shape = &model->mechanism->shape;
    size_t inputs = 0, at = 0;
    for (size_t i = 0; i < shape->schema.columns; i++) {
        if (shape->schema.column[i].inputs > 0) {
            at = i;
            inputs++;
        }
    }
    return inputs == 1
               ? record_net_image(job->table, shape->schema.column[at].name,
                                  shape->x)
               : (struct sotto_image){0, 0, 0};
}

/* n g: what all reports together tell of codes (codes_choose.c). */
static double
get_worth(const struct sotto_model *model, const struct learn_job *job)
{
    return (double)learn_job_reports(job) /
           codes_of(model)->shape.code->variance_other;
}

/* Numbers of all auxiliary records. */
static double
get_samples(const struct sotto_model *model, const struct learn_job *job)
{
    return (double)sotto_table_rows(job->table) *
           (double)model->mechanism->shape.x;
}

uint32_t
codes_last_epochs(const struct sotto_model *model, const struct learn_job *job)
{
    if (job->options->last == 0 || find_obstacle(model, job) != NULL) {
        return 0;
    }
    if (job->options->last != LEARN_LAST_CHOSEN) {
        return job->options->last;
    }
    return find_image(model, job).height > 0 &&
                   get_worth(model, job) >= WORTH_LEAST &&
                   get_samples(model, job) <= SAMPLES_MOST
               ? EPOCHS
               : 0;
}

/* ---- Training ------------------------------------------------------------
 */

struct fit {
    struct sotto_model *model;
    const struct learn_job *job;
    const struct codes_last *records;
    struct record_data data;
    struct record_net net;
};

static void
take_row(void *context, struct rows *rows, size_t m, unsigned worker)
{
    const struct fit *fit = context;
    (void)worker;
    rows_encode(rows, fit->records->row[m], fit->data.x + m * fit->data.width,
                NULL);
}

/* Reads the records again, as the encoder takes them. */
static enum sotto_status
take_x(struct fit *fit, struct sotto_error *err)
{
    struct sotto_model *model = fit->model;
    struct record_data *data = &fit->data;
    struct crew crew;
    enum sotto_status status;
    data->n = fit->records->n;
    data->width = model->mechanism->shape.x;
    data->classes = model->classes;
    data->target = fit->records->target;
    data->image = find_image(model, fit->job);
    data->x = data->n < SIZE_MAX / sizeof(float) / (data->width + 1)
                  ? calloc(data->n * data->width + 1, sizeof(float))
                  : NULL;
    if (data->x == NULL) {
        return host_fail_memory(err);
    }
    status =
        crew_init(&crew, model->mechanism, fit->job->table, model->pool, err);
    if (status == SOTTO_STATUS_OK) {
        status = crew_run_watched(&crew, data->n, &fit->job->options->watch,
                                  "reading", take_row, fit, err);
        crew_clear(&crew);
    }
    return status;
}

/* Begins with the encoder, and the network behind it. */
static enum sotto_status
take_layers(struct fit *fit, struct sotto_error *err)
{
    const struct codes_model *own = codes_of(fit->model);
    const struct nn_graph *stack = &own->classifier->networks.net[0].stack;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < own->layers && status == SOTTO_STATUS_OK; i++) {
        status = record_net_add(&fit->net,
                                decompose_layer(fit->model->mechanism, i), err);
    }
    for (size_t i = 0; i < stack->layers && status == SOTTO_STATUS_OK; i++) {
        status = record_net_add(&fit->net, device_net_layer(stack, i), err);
    }
    return status;
}

static enum sotto_status
train_epochs(struct fit *fit, uint32_t epochs, uint64_t seed,
             struct sotto_error *err)
{
    const struct record_plan plan = {.rate = RATE,
                                     .decay = DECAY,
                                     .views = VIEWS,
                                     .epochs = epochs,
                                     .batch = BATCH,
                                     .pool = fit->model->pool,
                                     .backend = fit->model->backend,
                                     .watch = &fit->job->options->watch,
                                     .what = "last fit"};
    struct record_fitted fitted = {0};
    fit->data.seed = seed;
    return epochs > 0
               ? record_net_train(&fit->net, &fit->data, &plan, &fitted, err)
               : SOTTO_STATUS_OK;
}

/* p of every record, undistorted. */
static enum sotto_status
ask_records(const struct fit *fit, float *ret_p, struct sotto_error *err)
{
    const struct record_data *data = &fit->data;
    struct tensor_backend *backend = fit->model->backend;
    size_t size = (data->n * data->classes + 1) * sizeof(float);
    float *logits = malloc(size);
    enum sotto_status status =
        logits != NULL
            ? record_net_run(fit->net.layer, fit->net.layers, data->x, data->n,
                             data->width, backend, logits, err)
            : host_fail_memory(err);
    if (status == SOTTO_STATUS_OK) {
        backend->ops->softmax(backend, data->n, data->classes, logits, ret_p);
    }
    host_wipe_free(logits, size);
    return status;
}

/* Sets the targets by what the network says now. */
static enum sotto_status
set_targets(const struct fit *fit, struct sotto_error *err)
{
    const struct classifier *classifier = codes_of(fit->model)->classifier;
    const struct codes_last *records = fit->records;
    enum sotto_status status = ask_records(fit, records->target, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    return records->codes != NULL
               ? targets_weigh(classifier, records->codes, records->code,
                               records->n, records->target, err)
               : targets_scale(classifier, records->code, records->n,
                               records->target, err);
}

static enum sotto_status
train_halves(struct fit *fit, uint32_t epochs, struct sotto_error *err)
{
    uint64_t seed = fit->job->options->seed;
    uint32_t second = epochs / 2;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (fit->records->codes != NULL) {
        status = set_targets(fit, err);
    }
    status = HOST_THEN(status, train_epochs(fit, epochs - second, seed, err));
    status = HOST_THEN(status, set_targets(fit, err));
    return HOST_THEN(status,
                     train_epochs(fit, second, seed ^ SEED_OF_SECOND, err));
}

/* Sets what the network makes of codes. */
static enum sotto_status
set_tau_bar(const struct fit *fit, struct sotto_error *err)
{
    struct classifier *classifier = codes_of(fit->model)->classifier;
    const struct classifier_aux aux = {.code = fit->records->code,
                                       .n = fit->records->n};
    double *count = malloc((classifier->cells + 1) * sizeof *count);
    enum sotto_status status = count != NULL
                                   ? ask_records(fit, fit->records->target, err)
                                   : host_fail_memory(err);
    if (status == SOTTO_STATUS_OK) {
        classifier_means(&aux, classifier->cells, classifier->classes,
                         classifier->tau, fit->records->target,
                         classifier->tau_bar, count);
    }
    free(count);
    return status;
}

/* ---- All of it ----------------------------------------------------------- */

enum sotto_status
codes_last_set(struct sotto_model *model, const struct device_net *net,
               struct sotto_error *err)
{
    const struct compose_part part = {
        .covers = "features",
        .channel = "flip",
        .eps = SOTTO_UNIT, /* nothing is sent */
        .blocks = 1,
        .factor = {{.k = (uint32_t)model->classes}},
        .factors = 1};
    const struct sending_plan plan = {
        .name = "last", .net = net, .part = &part};
    return sending_write(model, &plan, &codes_of(model)->last, err);
}

enum sotto_status
codes_last_fit(struct sotto_model *model, const struct learn_job *job,
               const struct codes_last *records, uint32_t epochs,
               struct sotto_error *err)
{
    struct fit fit = {.model = model, .job = job, .records = records};
    enum sotto_status status = take_x(&fit, err);
    status = HOST_THEN(status, take_layers(&fit, err));
    status = HOST_THEN(status, train_halves(&fit, epochs, err));
    if (status == SOTTO_STATUS_OK) {
        const struct device_net net = {.layer = fit.net.layer,
                                       .layers = fit.net.layers};
        status = codes_last_set(model, &net, err);
    }
    status = HOST_THEN(status, set_tau_bar(&fit, err));
    if (status != SOTTO_STATUS_OK) { /* the model is as it was */
        sotto_mechanism_free(codes_of(model)->last);
        codes_of(model)->last = NULL;
    }
    host_wipe_free(fit.data.x,
                   (fit.data.n * fit.data.width + 1) * sizeof *fit.data.x);
    record_net_clear(&fit.net);
    return status;
}
