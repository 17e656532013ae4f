/*
 * lattice_fit.c: a classifier from reports, or from clean records.
 *
 *     reports -> labels, plan        what each says of its class; the order
 *     prior   -> points, x           MARGINAL: where records may be
 *     reports -> posterior           MARGINAL: where each may be
 *     reports -> x                   otherwise: the estimate of each
 *     x, objective -> networks       supervision.c
 *
 * The inputs are made in lattice_inputs.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "learn/lattice/lattice_fit.h"

static void
clear_fit(struct lattice_fit *fit)
{
    size_t width = fit->shape != NULL ? fit->shape->width : 0;
    free(fit->report);
    marginal_clear(&fit->marginal);
    posterior_free(fit->posterior);
    prior_clear(&fit->prior);
    host_wipe_free(fit->point, fit->points * width * sizeof *fit->point);
    supervision_clear(&fit->learnt);
}

static enum sotto_status
init_fit(struct lattice_fit *fit, struct sotto_model *model,
         const struct learn_job *job, struct sotto_error *err)
{
    const struct learn_options *options = job->options;
    struct networks_plan plan;
    struct lattice *lattice;
    bool clean = job->reader == NULL;
    enum sotto_status status = lattice_new(model, options->other, err);
    *fit = (struct lattice_fit){.model = model, .job = job};
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    lattice = lattice_of(model);
    fit->shape = &lattice->shape;
    fit->in = lattice_inputs(model, options->level);
    supervision_init(&fit->learnt, model, options,
                     clean ? INFINITY : fit->shape->eps_label);
    status =
        networks_plan_init(&plan, options, fit->learnt.options.restarts, err);
    status = HOST_THEN(status, networks_init(&lattice->networks, &plan, fit->in,
                                             model->classes, err));
    return status;
}

/* Leaves the prior in the model: private records are classified by it. */
static enum sotto_status
keep_prior(struct lattice_fit *fit, struct sotto_error *err)
{
    struct lattice *lattice = lattice_of(fit->model);
    lattice->p = malloc(fit->points * fit->model->classes * sizeof(float));
    if (lattice->p == NULL) {
        return host_fail_memory(err);
    }
    lattice->point = fit->point;
    lattice->points = fit->points;
    fit->point = NULL;
    return networks_forward(&lattice->networks, fit->model->backend,
                            fit->learnt.x, fit->points, lattice->p, err);
}

static enum sotto_status
take_inputs(struct lattice_fit *fit, bool marginal, struct sotto_error *err)
{
    enum sotto_status status = lattice_take_reports(fit, err);
    status = HOST_THEN(status, marginal ? lattice_take_prior(fit, err)
                                        : lattice_take_estimates(fit, err));
    if (status == SOTTO_STATUS_OK && marginal) {
        status = lattice_weigh_reports(fit, err);
    }
    return status;
}

enum sotto_status
lattice_check(const struct sotto_mechanism *mechanism,
              const struct learn_job *job, struct sotto_error *err)
{
    return job->options->objective == SOTTO_OBJECTIVE_MARGINAL
               ? lattice_check_prior(mechanism, job, err)
               : SOTTO_STATUS_OK;
}

enum sotto_status
lattice_fit(struct sotto_model *model, const struct learn_job *job,
            struct sotto_fit_info *ret_info, struct sotto_error *err)
{
    bool marginal = job->options->objective == SOTTO_OBJECTIVE_MARGINAL;
    struct lattice_fit fit;
    enum sotto_status status = init_fit(&fit, model, job, err);
    status = HOST_THEN(status, take_inputs(&fit, marginal, err));
    status = HOST_THEN(
        status, supervision_train(&fit.learnt, marginal ? marginal_batch : NULL,
                                  &fit.marginal, &lattice_of(model)->networks,
                                  &fit.info, err));
    if (status == SOTTO_STATUS_OK && marginal) {
        status = keep_prior(&fit, err);
    }
    *ret_info = fit.info;
    clear_fit(&fit);
    return status;
}

enum sotto_status
lattice_fit_clean(struct sotto_model *model, const struct learn_job *job,
                  struct sotto_fit_info *ret_info, struct sotto_error *err)
{
    struct lattice_fit fit;
    enum sotto_status status = init_fit(&fit, model, job, err);
    status = HOST_THEN(status, lattice_take_table(&fit, err));
    status = HOST_THEN(status, supervision_train(&fit.learnt, NULL, NULL,
                                                 &lattice_of(model)->networks,
                                                 &fit.info, err));
    *ret_info = fit.info;
    clear_fit(&fit);
    return status;
}
