/*
 * trial_learn.c: a fit of an experiment.
 */
#include "experiment/trial_learn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/baseline.h"
#include "experiment/population.h"
#include "host/error.h"

bool
trial_does(const struct experiment_run *run, enum experiment_how how)
{
    return (run->mechanism->how & (unsigned)how) != 0;
}

/* ---- The plan ----------------------------------------------------------- */

static void
make_plan(const struct experiment_run *run, double eps, struct trial_plan *plan)
{
    const struct experiment *experiment = run->experiment;
    const char *settings = run->mechanism->settings;
    bool codes = trial_does(run, EXPERIMENT_CODES);
    *plan = (struct trial_plan){
        .encoder = *trial_encoder_find(experiment->data, settings,
                                       codes ? INFINITY : eps),
        .fit = *trial_fit_find(experiment->data, settings, run->options->level,
                               eps),
        .code = {.eps = eps, .classes = experiment->classes, .label = true},
        .total = eps};
    if (experiment->protocol->plan != NULL) {
        experiment->protocol->plan(run, eps, plan);
    }
}

void
trial_setting(const struct experiment_run *run, double eps,
              char text[EXPERIMENT_SETTING_SIZE])
{
    struct trial_plan plan;
    uint32_t epochs = run->options->epochs;
    make_plan(run, eps, &plan);
    if (run->mechanism->channel != NULL) {
        baseline_setting(run, &plan.encoder, text);
        return;
    }
    if (trial_does(run, EXPERIMENT_CODES)) {
        trial_codes_setting_text(&plan.encoder, &plan.code, epochs, text);
    } else {
        trial_setting_text(&plan.encoder, &plan.fit, plan.total, epochs, text);
    }
    size_t size = strlen(text);
    (void)snprintf(text + size, EXPERIMENT_SETTING_SIZE - size, "%s",
                   plan.more);
}

/* ---- A lattice ---------------------------------------------------------- */

/* Gives the mechanism the budget of a fit. */
static enum sotto_status
give_budget(struct sotto_mechanism **mechanism, double eps,
            const struct trial_encoder *encoder, struct sotto_error *err)
{
    char text[EXPERIMENT_EPS_SIZE];
    struct sotto_mechanism *other = NULL;
    experiment_eps_text(eps, text);
    enum sotto_status status =
        sotto_mechanism_rebudget(*mechanism, text, encoder->lambda,
                                 encoder->label_channel, NULL, &other, err);
    if (status == SOTTO_STATUS_OK) {
        sotto_mechanism_free(*mechanism);
        *mechanism = other;
    }
    return status;
}

/* Completes what a fit is asked for. */
static struct learn_options
finish_options(struct learn_options options, const struct experiment_run *run,
               const struct experiment_fit *fit)
{
    options.seed = experiment_seed("fit", run->options->seed, fit->trial,
                                   fit->draw, fit->eps);
    options.threads = run->options->threads;
    options.watch = run->watch;
    return options;
}

/* Lets people report. */
static enum sotto_status
take_reports(const struct sotto_table *people, const struct experiment_run *run,
             const struct experiment_fit *fit, struct trial_pieces *pieces,
             struct sotto_error *err)
{
    return population_report(pieces->mechanism, people,
                             experiment_seed("noise", run->options->seed,
                                             fit->trial, fit->draw, fit->eps),
                             trial_does(run, EXPERIMENT_FLOATS),
                             run->options->threads, &run->watch,
                             &pieces->reports, err);
}

/* Without noise: from the people's representations, or what the decoder makes
   of those. */
static enum sotto_status
learn_clean(const struct trial *trial, const struct experiment_run *run,
            const struct experiment_fit *fit, const struct trial_fit *how,
            struct trial_pieces *pieces, struct sotto_error *err)
{
    struct learn_options options =
        finish_options(trial_fit_options(how, fit->eps), run, fit);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (options.level == SOTTO_LEVEL_FEATURE) {
        status = population_decode(pieces->mechanism, pieces->analyst,
                                   trial->split.people, &run->watch,
                                   &pieces->decoded, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    return learn_fit(pieces->mechanism,
                     &(struct learn_job){.table = pieces->decoded != NULL
                                                      ? pieces->decoded
                                                      : trial->split.people,
                                         .options = &options},
                     &pieces->model, NULL, err);
}

/* The people who did not report answer one question each. */
static enum sotto_status
choose_network(const struct trial *trial, const struct experiment_run *run,
               const struct experiment_fit *fit, struct sotto_model *model,
               struct sotto_error *err)
{
    char text[EXPERIMENT_EPS_SIZE];
    experiment_eps_text(fit->eps, text);
    return sotto_model_choose(model, trial->split.asked, text,
                              experiment_seed("choose", run->options->seed,
                                              fit->trial, fit->draw, fit->eps),
                              NULL, err);
}

static enum sotto_status
learn_private(const struct trial *trial, const struct experiment_run *run,
              const struct experiment_fit *fit,
              const struct trial_encoder *encoder, const struct trial_fit *how,
              struct trial_pieces *pieces, struct sotto_error *err)
{
    struct learn_options options =
        finish_options(trial_fit_options(how, fit->eps), run, fit);
    bool choose = options.bootstrap > 0;
    enum sotto_status status =
        give_budget(&pieces->mechanism, fit->eps, encoder, err);
    status = HOST_THEN(status, take_reports(choose ? trial->split.reporting
                                                   : trial->split.people,
                                            run, fit, pieces, err));
    status = HOST_THEN(status,
                       learn_fit(pieces->mechanism,
                                 &(struct learn_job){.reader = pieces->reports,
                                                     .analyst = pieces->analyst,
                                                     .options = &options},
                                 &pieces->model, NULL, err));
    if (status == SOTTO_STATUS_OK && choose) {
        status = choose_network(trial, run, fit, pieces->model, err);
    }
    return status;
}

/* Learns from a representation on a lattice, and the label beside it. The seeds
   of noise and fit are made of the mechanism's whole budget. */
static enum sotto_status
learn_lattice(const struct trial *trial, const struct experiment_run *run,
              const struct experiment_fit *fit, const struct trial_plan *plan,
              struct trial_pieces *pieces, struct sotto_error *err)
{
    const struct experiment_fit whole = {plan->total, fit->trial, fit->draw};
    enum sotto_status status = trial_encoder_make(
        trial, run, &plan->encoder, &pieces->mechanism, &pieces->analyst, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    return isfinite(fit->eps)
               ? learn_private(trial, run, &whole, &plan->encoder, &plan->fit,
                               pieces, err)
               : learn_clean(trial, run, &whole, &plan->fit, pieces, err);
}

/* ---- Codes -------------------------------------------------------------- */

/* Learns from codes with labels, or with labels in the clear beside them. */
static enum sotto_status
learn_codes(struct trial *trial, const struct experiment_run *run,
            const struct experiment_fit *fit, const struct trial_plan *plan,
            struct trial_pieces *pieces, struct sotto_error *err)
{
    const struct sotto_table *people = trial->split.people;
    struct learn_options options =
        finish_options(trial_codes_fit_options(fit->eps), run, fit);
    enum sotto_status status =
        trial_codebook(trial, run, &plan->encoder, &plan->code,
                       &pieces->mechanism, &pieces->analyst, err);
    options.shifted = plan->code.shifted;
    if (status == SOTTO_STATUS_OK && !isfinite(fit->eps)) {
        return learn_fit(
            pieces->mechanism,
            &(struct learn_job){.table = people, .options = &options},
            &pieces->model, NULL, err);
    }
    status = HOST_THEN(status, take_reports(people, run, fit, pieces, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    return learn_fit(
        pieces->mechanism,
        &(struct learn_job){.reader = pieces->reports,
                            .labels = plan->code.label ? NULL : people,
                            .column = "label",
                            .analyst = pieces->analyst,
                            .options = &options},
        &pieces->model, NULL, err);
}

/* ---- A fit --------------------------------------------------------------- */

enum sotto_status
trial_evaluate(const struct trial *trial, const struct trial_pieces *pieces,
               bool noise, uint64_t seed,
               struct experiment_outcome *ret_outcome, struct sotto_error *err)
{
    struct sotto_evaluation evaluation;
    enum sotto_status status = sotto_model_evaluate(
        pieces->model, trial->split.test, noise, seed, &evaluation, err);
    if (status == SOTTO_STATUS_OK) {
        ret_outcome->accuracy = evaluation.accuracy;
    }
    return status;
}

static void
pieces_clear(struct trial_pieces *pieces)
{
    sotto_model_free(pieces->model);
    sotto_table_free(pieces->decoded);
    sotto_report_reader_free(pieces->reports);
    sotto_analyst_free(pieces->analyst);
    sotto_mechanism_free(pieces->mechanism);
}

enum sotto_status
trial_run(struct trial *trial, const struct experiment_run *run,
          const struct experiment_fit *fit,
          struct experiment_outcome *ret_outcome, struct sotto_error *err)
{
    bool codes = trial_does(run, EXPERIMENT_CODES);
    struct trial_plan plan;
    struct trial_pieces pieces = {0};
    enum sotto_status status;
    if (codes && run->options->level == SOTTO_LEVEL_FEATURE) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "codes are learnt from at the latent level alone");
    }
    make_plan(run, fit->eps, &plan);
    status = trial_take(trial, run, fit->trial, err);
    if (run->mechanism->channel != NULL) {
        return HOST_THEN(status, baseline_run(trial, run, fit, &plan.encoder,
                                              ret_outcome, err));
    }
    status = HOST_THEN(
        status, codes ? learn_codes(trial, run, fit, &plan, &pieces, err)
                      : learn_lattice(trial, run, fit, &plan, &pieces, err));
    status = HOST_THEN(
        status, run->experiment->protocol->test(trial, run, fit, &plan, &pieces,
                                                ret_outcome, err));
    pieces_clear(&pieces);
    return status;
}
