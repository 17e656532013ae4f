/*
 * mnist_collection.c: data collection on MNIST, classifying clean records (P0
 * 4.1 and D.1; P1 4.3.1).
 *
 *     45,000 images, no labels --train--> mechanism, decoder, prior
 *     15,000 people: image and label --mechanism at epsilon--> reports
 *     reports + prior --learner--> classifier --> 2,500 test images, clean
 *
 * The trainer is told the label's column for the list of classes alone, which
 * is public; no label of an auxiliary image is used.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/encoder_cache.h"
#include "experiment/experiment.h"
#include "experiment/mnist_data.h"
#include "experiment/mnist_settings.h"
#include "experiment/population.h"
#include "host/error.h"
#include "host/text.h"

#define FLOAT_MECHANISM "vlm-float" /* vlm with floating-point noise */
#define TRAIN_EPS "1" /* any: every use gives it its budget anew */

struct state {
    struct mnist_data data;
    char hash[EXPERIMENT_HASH_SIZE];
    struct mnist_split split;
    uint32_t trial; /* of the split */
};

static bool
is_float(const struct experiment_run *run)
{
    return strcmp(run->mechanism, FLOAT_MECHANISM) == 0;
}

/* The mechanism whose settings and encoders a run uses. */
static const char *
settings_of(const struct experiment_run *run)
{
    return is_float(run) ? "vlm" : run->mechanism;
}

/* ---- Life cycle --------------------------------------------------------- */

static void
close_state(void *context)
{
    struct state *state = context;
    mnist_split_clear(&state->split);
    mnist_data_close(&state->data);
    free(state);
}

static enum sotto_status
open_state(const struct experiment_run *run, void **ret_state,
           char ret_hash[EXPERIMENT_HASH_SIZE], struct sotto_error *err)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status =
        mnist_data_open(run->options->data, &state->data, state->hash, err);
    if (status != SOTTO_STATUS_OK) {
        free(state);
        return status;
    }
    memcpy(ret_hash, state->hash, EXPERIMENT_HASH_SIZE);
    *ret_state = state;
    return SOTTO_STATUS_OK;
}

static void
setting(const struct experiment_run *run, double eps,
        char text[EXPERIMENT_SETTING_SIZE])
{
    mnist_setting_text(
        mnist_encoder_find(settings_of(run), eps),
        mnist_fit_find(settings_of(run), run->options->level, eps), eps,
        run->options->epochs, text);
}

/* The splits of a trial; those of the last one are kept. */
static enum sotto_status
take_split(struct state *state, const struct experiment_run *run,
           uint32_t trial, struct sotto_error *err)
{
    enum sotto_status status = mnist_data_read(&state->data, err);
    if (status != SOTTO_STATUS_OK ||
        (state->split.aux != NULL && state->trial == trial)) {
        return status;
    }
    mnist_split_clear(&state->split);
    state->trial = trial;
    return mnist_split_init(
        &state->split, &state->data, run->aux_share,
        experiment_seed("split", run->options->seed, trial, 0, 0), err);
}

/* ---- Mechanisms --------------------------------------------------------- */

static enum sotto_status
train(const struct state *state, const struct experiment_run *run,
      const struct mnist_encoder *encoder, const struct encoder_files *files,
      uint64_t seed, struct sotto_error *err)
{
    const struct sotto_experiment_options *options = run->options;
    if (strcmp(encoder->mechanism, "pca") == 0) {
        struct sotto_pca_options pca = {.eps = TRAIN_EPS,
                                        .lambda = encoder->lambda,
                                        .label = "label",
                                        .name = "mnist-collection-pca",
                                        .d = MNIST_D,
                                        .inside = MNIST_INSIDE,
                                        .threads = options->threads};
        return sotto_train_pca(state->split.aux, &pca, files->mechanism,
                               files->analyst, NULL, err);
    }
    struct sotto_train_info info;
    struct sotto_vlm_options vlm = {
        .eps = TRAIN_EPS,
        .lambda = encoder->lambda,
        .label = "label",
        .name = "mnist-collection-vlm",
        .d = MNIST_D,
        .linear = strcmp(encoder->mechanism, "vlm-linear") == 0,
        .l = encoder->l,
        .eps_pre = encoder->eps_pre,
        .autogen = encoder->autogen,
        .epochs = options->epochs > 0 ? options->epochs : encoder->epochs,
        .batch = encoder->batch,
        .rate = encoder->rate,
        .seed = seed,
        .threads = options->threads,
        .checkpoint = files->checkpoint,
        .watch = run->watch};
    return sotto_train_vlm(state->split.aux, &vlm, files->mechanism,
                           files->analyst, &info, NULL, err);
}

/* The trained mechanism and what the analyst has of it, from the cache if they
   are there. */
static enum sotto_status
take_encoder(const struct state *state, const struct experiment_run *run,
             const struct mnist_encoder *encoder, uint32_t trial,
             struct sotto_mechanism **ret_mechanism,
             struct sotto_analyst **ret_analyst, struct sotto_error *err)
{
    uint64_t base = run->options->seed;
    uint64_t seed = experiment_seed("encoder", base, trial, 0, 0);
    char text[EXPERIMENT_SETTING_SIZE];
    struct encoder_files files = {0};
    struct sotto_mechanism *mechanism = NULL;
    struct host_text all;
    enum sotto_status status;
    mnist_encoder_text(encoder, run->options->epochs, text);
    host_text_init(&all, 4096);
    host_text_print(&all,
                    "%s\naux_share %.10g seed %ju trial %ju\ndata %s\n"
                    "sotto %s\n",
                    text, run->aux_share, (uintmax_t)base, (uintmax_t)trial,
                    state->hash, SOTTO_VERSION);
    if (all.failed) {
        status = host_fail_memory(err);
        goto done;
    }
    status = encoder_files_init(&files, run->folder, all.data, err);
    if (status == SOTTO_STATUS_OK && !encoder_files_there(&files)) {
        status = train(state, run, encoder, &files, seed, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_mechanism_read(files.mechanism, &mechanism, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_analyst_read(files.analyst, ret_analyst, err);
    }
    if (status != SOTTO_STATUS_OK) {
        sotto_mechanism_free(mechanism);
        goto done;
    }
    *ret_mechanism = mechanism;
done:
    encoder_files_clear(&files);
    host_text_clear(&all);
    return status;
}

/* The mechanism at the budget of a fit; the file it goes through is not
   kept. */
static enum sotto_status
give_budget(struct sotto_mechanism **mechanism,
            const struct experiment_run *run, double eps,
            const struct mnist_encoder *encoder, struct sotto_error *err)
{
    char text[EXPERIMENT_EPS_SIZE];
    struct sotto_mechanism *other = NULL;
    char *path = host_text_path("%s/%s", run->folder, "budget.sotto");
    if (path == NULL) {
        return host_fail_memory(err);
    }
    experiment_eps_text(eps, text);
    enum sotto_status status =
        sotto_mechanism_rebudget(*mechanism, text, encoder->lambda,
                                 encoder->label_channel, path, &other, err);
    (void)unlink(path);
    free(path);
    if (status == SOTTO_STATUS_OK) {
        sotto_mechanism_free(*mechanism);
        *mechanism = other;
    }
    return status;
}

/* ---- Learning ----------------------------------------------------------- */

/* A fit's pieces, freed together. */
struct pieces {
    struct sotto_mechanism *mechanism;
    struct sotto_analyst *analyst;
    struct sotto_report_reader *reports;
    struct sotto_table *decoded;
    struct sotto_model *model;
};

static void
pieces_clear(struct pieces *pieces)
{
    sotto_model_free(pieces->model);
    sotto_table_free(pieces->decoded);
    sotto_report_reader_free(pieces->reports);
    sotto_analyst_free(pieces->analyst);
    sotto_mechanism_free(pieces->mechanism);
}

static struct sotto_fit_options
fit_options(const struct experiment_run *run, const struct experiment_fit *fit)
{
    struct sotto_fit_options options = mnist_fit_options(
        mnist_fit_find(settings_of(run), run->options->level, fit->eps),
        fit->eps);
    options.seed = experiment_seed("fit", run->options->seed, fit->trial,
                                   fit->draw, fit->eps);
    options.threads = run->options->threads;
    options.watch = run->watch;
    return options;
}

/* Without noise: from the people's representations, or what the decoder makes
   of those. */
static enum sotto_status
learn_clean(const struct state *state, const struct experiment_run *run,
            const struct experiment_fit *fit, struct pieces *pieces,
            struct sotto_error *err)
{
    struct sotto_fit_options options = fit_options(run, fit);
    struct sotto_fit_info info;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (options.level == SOTTO_LEVEL_FEATURE) {
        status = population_decode(pieces->mechanism, pieces->analyst,
                                   state->split.people, &run->watch,
                                   &pieces->decoded, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    return sotto_fit_clean(pieces->mechanism,
                           pieces->decoded != NULL ? pieces->decoded
                                                   : state->split.people,
                           &options, &pieces->model, &info, err);
}

/* The people who did not report answer one question each. */
static enum sotto_status
choose_network(const struct state *state, const struct experiment_run *run,
               const struct experiment_fit *fit, struct sotto_model *model,
               struct sotto_error *err)
{
    char text[EXPERIMENT_EPS_SIZE];
    experiment_eps_text(fit->eps, text);
    return sotto_model_choose(model, state->split.asked, text,
                              experiment_seed("choose", run->options->seed,
                                              fit->trial, fit->draw, fit->eps),
                              NULL, err);
}

static enum sotto_status
learn_private(const struct state *state, const struct experiment_run *run,
              const struct experiment_fit *fit, struct pieces *pieces,
              const struct mnist_encoder *encoder, struct sotto_error *err)
{
    struct sotto_fit_options options = fit_options(run, fit);
    bool choose = options.bootstrap > 0;
    struct sotto_fit_info info;
    uint64_t noise = experiment_seed("noise", run->options->seed, fit->trial,
                                     fit->draw, fit->eps);
    enum sotto_status status =
        give_budget(&pieces->mechanism, run, fit->eps, encoder, err);
    if (status == SOTTO_STATUS_OK) {
        status = population_report(pieces->mechanism,
                                   choose ? state->split.reporting
                                          : state->split.people,
                                   noise, is_float(run), run->options->threads,
                                   &run->watch, &pieces->reports, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_fit(pieces->mechanism, pieces->reports, pieces->analyst,
                           NULL, &options, &pieces->model, &info, err);
    }
    if (status == SOTTO_STATUS_OK && choose) {
        status = choose_network(state, run, fit, pieces->model, err);
    }
    return status;
}

static enum sotto_status
run_fit(void *context, const struct experiment_run *run,
        const struct experiment_fit *fit, double *ret_accuracy,
        struct sotto_error *err)
{
    struct state *state = context;
    const struct mnist_encoder *encoder =
        mnist_encoder_find(settings_of(run), fit->eps);
    struct pieces pieces = {0};
    struct sotto_evaluation evaluation;
    enum sotto_status status = take_split(state, run, fit->trial, err);
    if (status == SOTTO_STATUS_OK) {
        status = take_encoder(state, run, encoder, fit->trial,
                              &pieces.mechanism, &pieces.analyst, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = isfinite(fit->eps)
                     ? learn_private(state, run, fit, &pieces, encoder, err)
                     : learn_clean(state, run, fit, &pieces, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_model_evaluate(pieces.model, state->split.test, false, 0,
                                      &evaluation, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_accuracy = evaluation.accuracy;
    }
    pieces_clear(&pieces);
    return status;
}

static const char *const mechanisms[] = {"vlm", "vlm-linear", "pca",
                                         FLOAT_MECHANISM, NULL};

const struct experiment experiment_mnist_collection = {
    .name = "mnist-collection",
    .about =
        "MNIST. Of the 60,000 training images 75% (or the auxiliary share), "
        "without labels, train the mechanism; 25% are people, who "
        "privatise image and label with it; a tenth of them may validate or "
        "choose between classifiers, as privately. 2,500 of the 10,000 test "
        "images, clean, test the "
        "classifier that was learnt from the reports.",
    .mechanisms = mechanisms,
    .aux_share = 1 - MNIST_PEOPLE,
    .aux_share_most = 1 - MNIST_PEOPLE,
    .setting = setting,
    .open = open_state,
    .fit = run_fit,
    .close = close_state,
};
