/*
 * lattice_fit.c: a classifier from reports, or from clean records.
 *
 *     reports -> labels, plan        what each says of its class; the order
 *     prior   -> points, x           MARGINAL: where records may be
 *     reports -> posterior           MARGINAL: where each may be
 *     reports -> x                   otherwise: the estimate of each
 *     x, objective -> networks       trainer.c
 *
 * The inputs are made in lattice_inputs.c.
 *
 * All of it is on the collector's side of the noise: what is done to reports
 * costs no privacy (post-processing).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/pool.h"
#include "host/wipe.h"
#include "learn/lattice/lattice_fit.h"

#define HIDDEN 50u

static const uint32_t hidden_default[] = {HIDDEN};

static void
fit_clear(struct fit *fit)
{
    free(fit->report);
    labels_clear(&fit->labels);
    plan_clear(&fit->plan);
    marginal_clear(&fit->marginal);
    posterior_free(fit->posterior);
    prior_clear(&fit->prior);
    host_wipe_free(fit->point,
                   fit->points * fit->shape.width * sizeof *fit->point);
    host_wipe_free(fit->x, (fit->rows * fit->in + 1) * sizeof *fit->x);
    sotto_model_free(fit->model);
    tensor_backend_free(fit->backend);
    host_pool_free(fit->pool);
    prior_shape_clear(&fit->shape);
}

enum sotto_status
fit_end(struct fit *fit, enum sotto_status status,
        struct sotto_model **ret_model, struct sotto_fit_info *ret_info)
{
    if (status == SOTTO_STATUS_OK) {
        *ret_model = fit->model;
        fit->model = NULL;
        if (ret_info != NULL) {
            *ret_info = fit->info;
        }
    }
    fit_clear(fit);
    return status;
}

/* ---- Networks ----------------------------------------------------------- */

static enum sotto_status
check_options(const struct sotto_fit_options *options, struct sotto_error *err)
{
    if ((unsigned)options->objective > SOTTO_OBJECTIVE_PLAIN ||
        (unsigned)options->level > SOTTO_LEVEL_FEATURE) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "no such objective or level");
    }
    if (options->linear && options->hiddens > 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a linear classifier has no hidden layer");
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
fit_init(struct fit *fit, struct sotto_mechanism *mechanism,
         const struct sotto_fit_options *options, bool clean,
         struct sotto_error *err)
{
    const uint32_t *hidden = options->hidden;
    size_t hiddens = hidden != NULL ? options->hiddens : 0;
    enum sotto_status status = check_options(options, err);
    memset(fit, 0, sizeof *fit);
    fit->mechanism = mechanism;
    fit->options = options;
    if (hidden == NULL && !options->linear) {
        hidden = hidden_default;
        hiddens = 1;
    }
    if (status == SOTTO_STATUS_OK && mechanism->shape.code == SIZE_MAX) {
        status = prior_shape_init(&fit->shape, mechanism, options->other, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = learn_settle(
            options, clean ? INFINITY : fit->shape.eps_features,
            clean ? INFINITY : fit->shape.eps_label, &fit->setting, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = model_new(mechanism, options->objective, options->level,
                           options->other, hidden, hiddens,
                           fit->setting.restarts, &fit->model, err);
    }
    if (status == SOTTO_STATUS_OK) {
        fit->in = fit->model->in;
        status = host_pool_new(options->threads, &fit->pool, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = tensor_new("cpu", fit->pool, &fit->backend, err);
    }
    return status;
}

static enum sotto_status
train_nets(struct fit *fit, struct trainer *trainer, const float *shift,
           const float *scale, struct sotto_error *err)
{
    size_t nets = fit->model->nets;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < nets && status == SOTTO_STATUS_OK; i++) {
        struct trainer_result result = {0};
        status =
            trainer_run(trainer, &fit->model->net[i], i, nets, &result, err);
        inputs_fold(&fit->model->net[i].stack, shift, scale);
        fit->info.epochs += result.epochs;
        fit->info.log_p += result.log_p / (double)nets;
        fit->info.validation += result.validation / (double)nets;
    }
    return status;
}

static enum sotto_status
train(struct fit *fit, struct sotto_error *err)
{
    struct trainer trainer = {
        .backend = fit->backend,
        .labels = &fit->labels,
        .plan = &fit->plan,
        .setting = fit->setting,
        .marginal = fit->posterior != NULL ? &fit->marginal : NULL,
        .rows = fit->rows,
        .in = fit->in,
        .x = fit->x,
        .bootstrap = fit->options->bootstrap,
        .seed = fit->options->seed,
        .watch = &fit->options->watch};
    float *shift = malloc(2 * fit->in * sizeof *shift), *scale;
    enum sotto_status status = trainer_init(&trainer, err);
    if (shift == NULL || status != SOTTO_STATUS_OK) {
        status = host_fail_memory(err);
        goto done;
    }
    scale = shift + fit->in;
    inputs_moments(fit->x, fit->rows, fit->in, shift, scale);
    inputs_apply(fit->x, fit->rows, fit->in, shift, scale);
    status = train_nets(fit, &trainer, shift, scale, err);
    for (size_t i = 0; i < fit->in; i++) { /* x as it was */
        shift[i] = -shift[i] * scale[i];
        scale[i] = 1 / scale[i];
    }
    inputs_apply(fit->x, fit->rows, fit->in, shift, scale);
    fit->info.reports = fit->labels.reports;
done:
    trainer_clear(&trainer);
    free(shift);
    return status;
}

/* The prior goes with the model: private records are classified by it. */
static enum sotto_status
keep_prior(struct fit *fit, struct sotto_error *err)
{
    struct sotto_model *model = fit->model;
    model->p = malloc(fit->points * model->classes * sizeof *model->p);
    if (model->p == NULL) {
        return host_fail_memory(err);
    }
    model->point = fit->point;
    model->points = fit->points;
    fit->point = NULL;
    return model_forward(model, fit->x, fit->points, model->p, err);
}

/* ---- From reports, and from clean records ------------------------------- */

enum sotto_status
sotto_fit(struct sotto_mechanism *mechanism,
          const struct sotto_report_reader *reader,
          const struct sotto_analyst *analyst, const struct sotto_table *aux,
          const struct sotto_fit_options *options,
          struct sotto_model **ret_model, struct sotto_fit_info *ret_info,
          struct sotto_error *err)
{
    bool marginal = options->objective == SOTTO_OBJECTIVE_MARGINAL;
    struct fit fit;
    enum sotto_status status;
    if (mechanism->shape.code != SIZE_MAX) {
        return fit_codes(mechanism, reader, analyst, aux, options, ret_model,
                         ret_info, err);
    }
    status = fit_init(&fit, mechanism, options, false, err);
    if (status == SOTTO_STATUS_OK && analyst != NULL) {
        status = sotto_analyst_check(analyst, mechanism, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = fit_take_reports(&fit, reader, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = marginal ? fit_take_prior(&fit, analyst, aux, err)
                          : fit_take_estimates(&fit, analyst, err);
    }
    if (status == SOTTO_STATUS_OK && marginal) {
        status = fit_weigh_reports(&fit, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = train(&fit, err);
    }
    if (status == SOTTO_STATUS_OK && marginal) {
        status = keep_prior(&fit, err);
    }
    return fit_end(&fit, status, ret_model, ret_info);
}

enum sotto_status
sotto_fit_clean(struct sotto_mechanism *mechanism,
                const struct sotto_table *table,
                const struct sotto_fit_options *options,
                struct sotto_model **ret_model, struct sotto_fit_info *ret_info,
                struct sotto_error *err)
{
    struct sotto_fit_options plain = *options;
    struct fit fit;
    struct crew crew;
    enum sotto_status status;
    plain.objective = SOTTO_OBJECTIVE_PLAIN;
    status = fit_init(&fit, mechanism, &plain, true, err);
    if (status == SOTTO_STATUS_OK) {
        status = crew_init(&crew, mechanism, table, fit.pool, err);
        if (status == SOTTO_STATUS_OK) {
            status = fit_take_table(&fit, &crew, err);
            crew_clear(&crew);
        }
    }
    if (status == SOTTO_STATUS_OK) {
        status = train(&fit, err);
    }
    return fit_end(&fit, status, ret_model, ret_info);
}
