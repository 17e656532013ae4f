/*
 * mnist_novel.c: "9 or not" on MNIST, by mechanisms that never saw a 9 (P0 4.2
 * and D.1.2, Table 2).
 *
 *     images of 0 to 8, no labels --train--> mechanism
 *     people, half of them 9s: image --mechanism at epsilon--> reports
 *     reports, and whether each is a 9 --learner--> classifier --> test images
 *
 * In the papers, only people of the new class are asked, and their label is
 * none of what they report: taking part tells it, so the label's epsilon is
 * unbounded (vlm, codebook). vlm-label and codebook-label ask everyone, for
 * image and label together at epsilon.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/population.h"
#include "experiment/trial_learn.h"

#define CLASSES 2u
/* Epsilon of a label in the clear: false once in 10^8. */
#define LABEL_EPS 20.0
#define EPS_MOST 32.0
#define UNBOUNDED "label epsilon: unbounded"

static bool
asks_label(const struct experiment_run *run)
{
    return strstr(run->mechanism, "-label") != NULL;
}

static bool
is_vlm(const struct experiment_run *run)
{
    return strncmp(run->mechanism, "vlm", 3) == 0;
}

static enum sotto_status
open_state(const struct experiment_run *run, void **ret_state,
           char ret_hash[EXPERIMENT_HASH_SIZE], struct sotto_error *err)
{
    return trial_open(run, mnist_split_novel, ret_state, ret_hash, err);
}

/* ---- Settings ------------------------------------------------------------ */

/* All of epsilon for the image, and a label in the clear beside it. */
static double
total_of(const struct experiment_run *run, double eps)
{
    bool clear = !asks_label(run) && isfinite(eps);
    return clear ? fmin(eps + LABEL_EPS, EPS_MOST) : eps;
}

static struct trial_encoder
encoder_of(const struct experiment_run *run, double eps)
{
    struct trial_encoder encoder =
        *trial_encoder_find(is_vlm(run) ? "vlm" : "codebook", eps);
    if (!asks_label(run) && isfinite(eps)) {
        encoder.lambda = eps / total_of(run, eps);
        encoder.label_channel = "flip";
    }
    return encoder;
}

/* The prior has no 9s, so not Eq. 11 but 12 (P0 4.2). */
static struct trial_fit
fit_of(double eps)
{
    return (struct trial_fit){.eps = eps,
                              .level = SOTTO_LEVEL_LATENT,
                              .decay = -1,
                              .marginal = -1,
                              .entropy = -1,
                              .eq12 = true};
}

/* Cells for the new class are not among the auxiliary images': k is not to be
   chosen by simulating those, so it is given, more than the ten digits. These
   were fixed beforehand, not chosen by results (docs/experiments.md). */
static size_t
codes_at(double eps)
{
    return eps >= 6 ? 200 : eps >= 4 ? 100 : eps >= 2 ? 50 : 30;
}

static struct trial_code
code_at(const struct experiment_run *run, double eps)
{
    return (struct trial_code){.eps = eps,
                               .classes = CLASSES,
                               .label = asks_label(run) || !isfinite(eps),
                               .k = codes_at(eps),
                               .shifted = true};
}

static void
setting(const struct experiment_run *run, double eps,
        char text[EXPERIMENT_SETTING_SIZE])
{
    struct trial_encoder encoder = encoder_of(run, eps);
    uint32_t epochs = run->options->epochs;
    size_t size;
    if (is_vlm(run)) {
        struct trial_fit fit = fit_of(eps);
        trial_setting_text(&encoder, &fit, total_of(run, eps), epochs, text);
    } else {
        struct trial_code code = code_at(run, eps);
        trial_codes_setting_text(&encoder, &code, epochs, text);
    }
    size = strlen(text);
    (void)snprintf(text + size, EXPERIMENT_SETTING_SIZE - size,
                   "; novel %s, %s", MNIST_NOVEL,
                   asks_label(run) ? "a private label from everyone"
                                   : UNBOUNDED);
}

/* ---- Codes, and labels in the clear ---------------------------------------
 */

static enum sotto_status
fit_clear_labels(struct trial *trial, const struct experiment_run *run,
                 const struct experiment_fit *fit, struct trial_pieces *pieces,
                 struct sotto_error *err)
{
    struct learn_options options = trial_codes_fit_options(fit->eps);
    options.seed = experiment_seed("fit", run->options->seed, fit->trial,
                                   fit->draw, fit->eps);
    options.threads = run->options->threads;
    options.watch = run->watch;
    options.shifted = true;
    return learn_fit_labelled(pieces->mechanism, pieces->reports,
                              trial->split.people, "label", pieces->analyst,
                              NULL, &options, &pieces->model, NULL, err);
}

/* ---- A fit --------------------------------------------------------------- */

static enum sotto_status
evaluate(const struct trial *trial, struct trial_pieces *pieces,
         double *ret_accuracy, struct sotto_error *err)
{
    struct sotto_evaluation evaluation;
    enum sotto_status status = sotto_model_evaluate(
        pieces->model, trial->split.test, false, 0, &evaluation, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_accuracy = evaluation.accuracy;
    }
    return status;
}

static enum sotto_status
fit_codes(struct trial *trial, const struct experiment_run *run,
          const struct experiment_fit *fit, struct trial_pieces *pieces,
          double *ret_accuracy, struct sotto_error *err)
{
    struct trial_encoder encoder = encoder_of(run, fit->eps);
    struct trial_code code = code_at(run, fit->eps);
    enum sotto_status status;
    if (code.label) {
        status =
            trial_learn_codes(trial, run, fit, &encoder, &code, pieces, err);
        return status == SOTTO_STATUS_OK
                   ? evaluate(trial, pieces, ret_accuracy, err)
                   : status;
    }
    status = trial_codebook(trial, run, &encoder, &code, &pieces->mechanism,
                            &pieces->analyst, err);
    if (status == SOTTO_STATUS_OK) {
        status = population_report(
            pieces->mechanism, trial->split.people,
            experiment_seed("noise", run->options->seed, fit->trial, fit->draw,
                            fit->eps),
            false, run->options->threads, &run->watch, &pieces->reports, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = fit_clear_labels(trial, run, fit, pieces, err);
    }
    return status == SOTTO_STATUS_OK
               ? evaluate(trial, pieces, ret_accuracy, err)
               : status;
}

static enum sotto_status
fit_lattice(struct trial *trial, const struct experiment_run *run,
            const struct experiment_fit *fit, struct trial_pieces *pieces,
            double *ret_accuracy, struct sotto_error *err)
{
    struct trial_encoder encoder = encoder_of(run, fit->eps);
    struct trial_fit how = fit_of(fit->eps);
    struct experiment_fit whole = *fit;
    /* The mechanism's budget is that of image and label, and the seeds of noise
       and fit are made of it: of epsilon + 20, where the label is in the clear.
       That is odd, but as good as any: they differ from epsilon to epsilon. */
    whole.eps = total_of(run, fit->eps);
    enum sotto_status status =
        trial_learn(trial, run, &whole, &encoder, &how, pieces, err);
    return status == SOTTO_STATUS_OK
               ? evaluate(trial, pieces, ret_accuracy, err)
               : status;
}

static enum sotto_status
run_fit(void *context, const struct experiment_run *run,
        const struct experiment_fit *fit,
        struct experiment_outcome *ret_outcome, struct sotto_error *err)
{
    struct trial *trial = context;
    struct trial_pieces pieces = {0};
    double *accuracy = &ret_outcome->accuracy;
    enum sotto_status status = trial_take(trial, run, fit->trial, err);
    if (status == SOTTO_STATUS_OK) {
        status = is_vlm(run)
                     ? fit_lattice(trial, run, fit, &pieces, accuracy, err)
                     : fit_codes(trial, run, fit, &pieces, accuracy, err);
    }
    if (status == SOTTO_STATUS_OK && isfinite(fit->eps)) {
        char code[EXPERIMENT_NOTE_SIZE] = "";
        if (!is_vlm(run)) {
            trial_code_note(pieces.mechanism, code);
        }
        (void)snprintf(ret_outcome->note, sizeof ret_outcome->note, "%.40s%s%s",
                       code, code[0] != '\0' && !asks_label(run) ? ", " : "",
                       asks_label(run) ? "" : UNBOUNDED);
    }
    trial_pieces_clear(&pieces);
    return status;
}

static const char *const mechanisms[] = {"vlm", "codebook", "vlm-label",
                                         "codebook-label", NULL};

const struct experiment experiment_mnist_novel = {
    .name = "mnist-novel",
    .about =
        "MNIST, whether an image is a 9. 8/9 of the training images of 0 to 8, "
        "without labels, train the mechanism, which never sees a 9; the other "
        "ninth and all 9s are people. Of the test images all 9s and a ninth of "
        "the others test the classifier, clean: half of them 9s. The papers "
        "ask people of the new class alone, so that taking part tells the "
        "label (label epsilon: unbounded); with -label everyone reports image "
        "and label together at epsilon.",
    .help =
        "whether it is a 9, by mechanisms that never saw one: vlm, codebook;\n"
        "vlm-label and codebook-label, where everyone's label is private,\n"
        "too.",
    .mechanisms = mechanisms,
    .aux_share = MNIST_NOVEL_AUX,
    .aux_share_most = MNIST_NOVEL_AUX,
    .setting = setting,
    .open = open_state,
    .fit = run_fit,
    .close = trial_close,
};
