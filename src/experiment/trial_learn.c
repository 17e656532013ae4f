/*
 * trial_learn.c: a classifier from the people's reports, of either kind of
 * mechanism, or from what they would have reported without noise.
 */
#include "experiment/trial_learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/population.h"

const char *
trial_settings_of(const char *mechanism)
{
    return strcmp(mechanism, MNIST_FLOAT) == 0 ? "vlm" : mechanism;
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

void
trial_pieces_clear(struct trial_pieces *pieces)
{
    sotto_model_free(pieces->model);
    sotto_table_free(pieces->decoded);
    sotto_report_reader_free(pieces->reports);
    sotto_analyst_free(pieces->analyst);
    sotto_mechanism_free(pieces->mechanism);
    memset(pieces, 0, sizeof *pieces);
}

static struct learn_options
fit_options(const struct experiment_run *run, const struct experiment_fit *fit,
            const struct trial_fit *how)
{
    struct learn_options options = trial_fit_options(how, fit->eps);
    options.seed = experiment_seed("fit", run->options->seed, fit->trial,
                                   fit->draw, fit->eps);
    options.threads = run->options->threads;
    options.watch = run->watch;
    return options;
}

/* Without noise: from the people's representations, or what the decoder makes
   of those. */
static enum sotto_status
learn_clean(const struct trial *trial, const struct experiment_run *run,
            const struct experiment_fit *fit, const struct trial_fit *how,
            struct trial_pieces *pieces, struct sotto_error *err)
{
    struct learn_options options = fit_options(run, fit, how);
    struct sotto_fit_info info;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (options.level == SOTTO_LEVEL_FEATURE) {
        status = population_decode(pieces->mechanism, pieces->analyst,
                                   trial->split.people, &run->watch,
                                   &pieces->decoded, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    return learn_fit_clean(pieces->mechanism,
                           pieces->decoded != NULL ? pieces->decoded
                                                   : trial->split.people,
                           &options, &pieces->model, &info, err);
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
    struct learn_options options = fit_options(run, fit, how);
    bool choose = options.bootstrap > 0;
    struct sotto_fit_info info;
    uint64_t noise = experiment_seed("noise", run->options->seed, fit->trial,
                                     fit->draw, fit->eps);
    enum sotto_status status =
        give_budget(&pieces->mechanism, fit->eps, encoder, err);
    if (status == SOTTO_STATUS_OK) {
        status = population_report(
            pieces->mechanism,
            choose ? trial->split.reporting : trial->split.people, noise,
            strcmp(run->mechanism, MNIST_FLOAT) == 0, run->options->threads,
            &run->watch, &pieces->reports, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = learn_fit(pieces->mechanism, pieces->reports, pieces->analyst,
                           NULL, &options, &pieces->model, &info, err);
    }
    if (status == SOTTO_STATUS_OK && choose) {
        status = choose_network(trial, run, fit, pieces->model, err);
    }
    return status;
}

enum sotto_status
trial_learn(const struct trial *trial, const struct experiment_run *run,
            const struct experiment_fit *fit,
            const struct trial_encoder *encoder, const struct trial_fit *how,
            struct trial_pieces *pieces, struct sotto_error *err)
{
    enum sotto_status status = trial_encoder_make(
        trial, run, encoder, &pieces->mechanism, &pieces->analyst, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    return isfinite(fit->eps)
               ? learn_private(trial, run, fit, encoder, how, pieces, err)
               : learn_clean(trial, run, fit, how, pieces, err);
}

/* ---- Codes -------------------------------------------------------------- */

enum sotto_status
trial_learn_codes(struct trial *trial, const struct experiment_run *run,
                  const struct experiment_fit *fit,
                  const struct trial_encoder *encoder,
                  const struct trial_code *code, struct trial_pieces *pieces,
                  struct sotto_error *err)
{
    struct learn_options options = trial_codes_fit_options(fit->eps);
    struct sotto_fit_info info;
    enum sotto_status status = trial_codebook(
        trial, run, encoder, code, &pieces->mechanism, &pieces->analyst, err);
    options.seed = experiment_seed("fit", run->options->seed, fit->trial,
                                   fit->draw, fit->eps);
    options.threads = run->options->threads;
    options.watch = run->watch;
    options.shifted = code->shifted;
    if (status == SOTTO_STATUS_OK && !isfinite(fit->eps)) {
        return learn_fit_clean(pieces->mechanism, trial->split.people, &options,
                               &pieces->model, &info, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = population_report(
            pieces->mechanism, trial->split.people,
            experiment_seed("noise", run->options->seed, fit->trial, fit->draw,
                            fit->eps),
            false, run->options->threads, &run->watch, &pieces->reports, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = learn_fit(pieces->mechanism, pieces->reports, pieces->analyst,
                           NULL, &options, &pieces->model, &info, err);
    }
    return status;
}
