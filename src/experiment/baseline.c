/*
 * baseline.c: a classifier from noised vectors and noised labels.
 *
 * A simulation: records and noise are in one program, and no report is kept.
 * The noise is the channel's own, exact for laplace and duchi.
 */
#include "experiment/baseline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/trial_learn.h"
#include "host/error.h"
#include "host/pool.h"
#include "learn/record/record.h"
#include "random/seeded.h"
#include "tensor/tensor.h"

/* Of what a row is besides its settings: counted up with every change of code
   that changes results. */
#define BASELINE_PROTOCOL 1u
#define VALIDATION 0.1 /* of the reports (P0 D.1.1: 9 to 1) */
#define RATE 3e-3
#define BATCH 256u
#define STEPS 1500u
#define EPOCHS_LEAST 12u
#define EPOCHS_MOST 100u

/* Of the weights: the best on the validation reports is taken. */
static const double decays[] = {0.1, 1, 3, 10, 30};
#define DECAYS (sizeof decays / sizeof *decays)

void
baseline_setting(const struct experiment_run *run,
                 const struct trial_encoder *encoder,
                 char text[EXPERIMENT_SETTING_SIZE])
{
    char first[EXPERIMENT_SETTING_SIZE];
    trial_encoder_text(encoder, run->options->epochs, first);
    (void)snprintf(text, EXPERIMENT_SETTING_SIZE,
                   "%.16s of %s; lambda=%g label=flip; ranges of the auxiliary "
                   "records; fit eq12 hidden=50 steps=%u rate=%g decay=0.1 to "
                   "30 by reports; %.110s; baseline=%u",
                   run->mechanism->channel,
                   trial_does(run, EXPERIMENT_RAW) ? "the record" : "z",
                   BASELINE_LAMBDA, STEPS, RATE, first, BASELINE_PROTOCOL);
}

struct baseline {
    struct trial *trial;
    const struct experiment_run *run;
    const struct experiment_fit *fit;
    struct host_pool *pool;
    struct tensor_backend *backend;
    struct sotto_mechanism *mechanism; /* its encoder, and no more */
    struct baseline_vectors people, test;
    struct baseline_frame frame;
    struct labels labels;
};

static uint64_t
seed_of(const struct baseline *baseline, const char *purpose)
{
    const struct experiment_fit *fit = baseline->fit;
    return experiment_seed(purpose, baseline->run->options->seed, fit->trial,
                           fit->draw, fit->eps);
}

static enum sotto_status
take_vectors(const struct baseline *baseline, const struct sotto_table *table,
             struct baseline_vectors *ret_vectors, struct sotto_error *err)
{
    return baseline_vectors_init(ret_vectors, baseline->mechanism, table,
                                 trial_does(baseline->run, EXPERIMENT_RAW),
                                 baseline->pool, &baseline->run->watch, err);
}

/* ---- Reports ------------------------------------------------------------ */

/* Draws every person's label through flip: `report` points to n of them. */
static void
draw_labels(const struct baseline *baseline,
            const struct channel_instance *instance, uint8_t *wire,
            const uint8_t **report)
{
    uint64_t seed = seed_of(baseline, "label noise");
    size_t classes = instance->size;
    for (size_t i = 0; i < baseline->people.rows; i++) {
        size_t truth = baseline->people.truth[i];
        int32_t y = (int32_t)(truth < classes ? truth : classes - 1);
        struct seeded seeded;
        seeded_init(&seeded, seed, i);
        report[i] = wire + i * instance->wire_size;
        instance->channel->sample(instance, &y, &seeded.random,
                                  wire + i * instance->wire_size);
    }
}

/* What each of those reports says of the classes. */
static enum sotto_status
read_labels(struct baseline *baseline, const struct channel_instance *instance,
            struct sotto_error *err)
{
    size_t n = baseline->people.rows;
    const uint8_t **report = calloc(n + 1, sizeof *report);
    uint8_t *wire = calloc(n + 1, instance->wire_size);
    struct likelihood_instance said;
    const struct labels_part part = {.likelihood = &said,
                                     .classes = instance->size};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (report == NULL || wire == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    draw_labels(baseline, instance, wire, report);
    status = likelihood_init(&said, instance);
    status = HOST_THEN(status, labels_init(&baseline->labels, &part, report, n,
                                           false, 0, err));
done:
    free(wire);
    free(report);
    return status;
}

static enum sotto_status
report_labels(struct baseline *baseline, double eps, struct sotto_error *err)
{
    const struct channel *flip = channel_find(channel_exact, "flip", 4);
    uint64_t units = (uint64_t)(eps * (double)SOTTO_UNIT);
    uint64_t *own = calloc(flip->own_size / sizeof *own + 1, sizeof *own);
    struct channel_instance instance;
    enum sotto_status status;
    if (own == NULL) {
        return host_fail_memory(err);
    }
    status = channel_init(&instance, flip,
                          (uint32_t)baseline->run->experiment->classes, 0, 0,
                          units, 0, own);
    status = status == SOTTO_STATUS_OK
                 ? read_labels(baseline, &instance, err)
                 : host_fail(err, status, 0,
                             "labels cannot be reported at epsilon %g", eps);
    free(own);
    return status;
}

/* The vectors become estimates from reports, and the labels reports. */
static enum sotto_status
report_people(struct baseline *baseline, struct sotto_error *err)
{
    const char *channel = baseline->run->mechanism->channel;
    double eps = baseline->fit->eps;
    struct baseline_vectors aux = {0};
    enum channel_domain domain;
    enum sotto_status status = baseline_domain(channel, &domain, err);
    if (!isfinite(eps)) {
        return HOST_THEN(
            status, labels_init_clean(
                        &baseline->labels, baseline->run->experiment->classes,
                        baseline->people.truth, baseline->people.rows, 0, err));
    }
    status = HOST_THEN(
        status, take_vectors(baseline, baseline->trial->split.aux, &aux, err));
    status = HOST_THEN(
        status, baseline_frame_init(&baseline->frame, domain, &aux, err));
    baseline_vectors_clear(&aux);
    status = HOST_THEN(
        status, report_labels(baseline, (1 - BASELINE_LAMBDA) * eps, err));
    return HOST_THEN(status,
                     baseline_report(&baseline->people, &baseline->frame,
                                     channel, BASELINE_LAMBDA * eps,
                                     seed_of(baseline, "noise"), baseline->pool,
                                     &baseline->run->watch, err));
}

/* ---- The classifier ----------------------------------------------------- */

static uint32_t
clamp_epochs(size_t epochs)
{
    epochs = epochs < EPOCHS_LEAST ? EPOCHS_LEAST : epochs;
    return (uint32_t)(epochs > EPOCHS_MOST ? EPOCHS_MOST : epochs);
}

static enum sotto_status
train_one(struct baseline *baseline, double decay, struct record_net *net,
          struct record_fitted *ret_fitted, struct sotto_error *err)
{
    const struct learn_options options = {0};
    size_t epochs = STEPS / (baseline->people.rows / BATCH + 1) + 1;
    struct record_data data = {.x = baseline->people.x,
                               .n = baseline->people.rows,
                               .width = baseline->people.d,
                               .classes = baseline->run->experiment->classes,
                               .labels = &baseline->labels,
                               .seed = seed_of(baseline, "fit"),
                               .validation = VALIDATION};
    const struct record_plan plan = {.rate = RATE,
                                     .decay = decay,
                                     .epochs = clamp_epochs(epochs),
                                     .batch = BATCH,
                                     .even = true,
                                     .pool = baseline->pool,
                                     .backend = baseline->backend,
                                     .watch = &baseline->run->watch,
                                     .what = "learning"};
    enum sotto_status status = record_layers_plan(net, &data, &options, err);
    return HOST_THEN(status,
                     record_net_train(net, &data, &plan, ret_fitted, err));
}

/* How many of the test records have the class that is likeliest. */
static size_t
count_right(const struct baseline_vectors *test, const float *logit,
            size_t classes)
{
    size_t right = 0;
    for (size_t i = 0; i < test->rows; i++) {
        size_t best = 0;
        for (size_t y = 1; y < classes; y++) {
            best =
                logit[i * classes + y] > logit[i * classes + best] ? y : best;
        }
        right += best == test->truth[i];
    }
    return right;
}

static enum sotto_status
test_net(const struct baseline *baseline, const struct record_net *net,
         double *ret_accuracy, struct sotto_error *err)
{
    const struct baseline_vectors *test = &baseline->test;
    size_t classes = baseline->run->experiment->classes;
    float *logit = calloc(test->rows * classes + 1, sizeof *logit);
    enum sotto_status status;
    if (logit == NULL) {
        return host_fail_memory(err);
    }
    status = record_net_run(net->layer, net->layers, test->x, test->rows,
                            test->d, baseline->backend, logit, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_accuracy = (double)count_right(test, logit, classes) /
                        (double)(test->rows > 0 ? test->rows : 1);
    }
    free(logit);
    return status;
}

/* The decay whose network likes the validation reports best. */
static enum sotto_status
learn(struct baseline *baseline, struct experiment_outcome *ret_outcome,
      struct sotto_error *err)
{
    double best = -INFINITY;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < DECAYS && status == SOTTO_STATUS_OK; i++) {
        struct record_net net = {.layers = 0};
        struct record_fitted fitted = {0};
        status = train_one(baseline, decays[i], &net, &fitted, err);
        if (status == SOTTO_STATUS_OK && fitted.validation > best) {
            best = fitted.validation;
            (void)snprintf(ret_outcome->note, sizeof ret_outcome->note,
                           "decay %g", decays[i]);
            status = test_net(baseline, &net, &ret_outcome->accuracy, err);
        }
        record_net_clear(&net);
    }
    return status;
}

/* ---- A fit --------------------------------------------------------------- */

static void
clear_baseline(struct baseline *baseline)
{
    labels_clear(&baseline->labels);
    baseline_frame_clear(&baseline->frame);
    baseline_vectors_clear(&baseline->people);
    baseline_vectors_clear(&baseline->test);
    sotto_mechanism_free(baseline->mechanism);
    if (baseline->backend != NULL) {
        tensor_backend_free(baseline->backend);
    }
    host_pool_free(baseline->pool);
}

enum sotto_status
baseline_run(struct trial *trial, const struct experiment_run *run,
             const struct experiment_fit *fit,
             const struct trial_encoder *encoder,
             struct experiment_outcome *ret_outcome, struct sotto_error *err)
{
    struct baseline baseline = {.trial = trial, .run = run, .fit = fit};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (run->options->level == SOTTO_LEVEL_FEATURE) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "vectors are learnt from as they are reported: there "
                         "is no feature level");
    }
    status = host_pool_new(run->options->threads, &baseline.pool, err);
    status = HOST_THEN(
        status, tensor_new("cpu", baseline.pool, &baseline.backend, err));
    status =
        HOST_THEN(status, trial_encoder_make(trial, run, encoder,
                                             &baseline.mechanism, NULL, err));
    status = HOST_THEN(status, take_vectors(&baseline, trial->split.people,
                                            &baseline.people, err));
    status = HOST_THEN(status, take_vectors(&baseline, trial->split.test,
                                            &baseline.test, err));
    status = HOST_THEN(status, report_people(&baseline, err));
    status = HOST_THEN(status, learn(&baseline, ret_outcome, err));
    clear_baseline(&baseline);
    return status;
}
