/*
 * mnist_private.c: classifying private records on MNIST (P0 section 5, Table
 * 4).
 *
 *     people's reports at eps_train --learner--> classifier
 *     test image --privatised at eps_test = 0.7 eps_train--> one report
 *     report --p(class | report) under its channel--> the likeliest class
 *
 * codebook     the report is a code, by k-ary response: no label chose the
 *              cells. p(y | r) = sum_c p(c | r) p(y | c), and p(y | c) is what
 *              the classifier says of the cell's auxiliary images. How many
 *              cells is chosen by what it expects of itself
 * (sotto_model_cut). class-flip   the classifier is sent to devices, and
 * the report is its class, by k-ary response: good for this one question. vlm
 * the papers': a representation on a lattice.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/trial_learn.h"

#define CLASSES 10u
#define TEST_SHARE 0.7 /* of eps_train (P0 Table 4); vlm's lambda, too */
#define CLASS_FLIP "class-flip"
#define EPS_NOTE "eps_test=%.10g "

static enum sotto_status
open_state(const struct experiment_run *run, void **ret_state,
           char ret_hash[EXPERIMENT_HASH_SIZE], struct sotto_error *err)
{
    return trial_open(run, mnist_split_init, ret_state, ret_hash, err);
}

static bool
is_vlm(const struct experiment_run *run)
{
    return strcmp(run->mechanism, "vlm") == 0;
}

/* What reports are learnt from: a codebook's are for both its uses. */
static struct trial_encoder
encoder_of(const struct experiment_run *run, double eps)
{
    struct trial_encoder encoder =
        *trial_encoder_find(is_vlm(run) ? "vlm" : "codebook", eps);
    encoder.lambda = TEST_SHARE;
    return encoder;
}

static struct trial_code
code_at(double eps)
{
    return (struct trial_code){.eps = eps, .classes = CLASSES, .label = true};
}

static void
setting(const struct experiment_run *run, double eps,
        char text[EXPERIMENT_SETTING_SIZE])
{
    struct trial_encoder encoder = encoder_of(run, eps);
    uint32_t epochs = run->options->epochs;
    size_t size;
    if (is_vlm(run)) {
        trial_setting_text(&encoder,
                           trial_fit_find("vlm", run->options->level, eps), eps,
                           epochs, text);
    } else {
        struct trial_code code = code_at(eps);
        trial_codes_setting_text(&encoder, &code, epochs, text);
    }
    size = strlen(text);
    (void)snprintf(text + size, EXPERIMENT_SETTING_SIZE - size,
                   "; test at %g eps", TEST_SHARE);
}

/* ---- Codes of test images ----------------------------------------------- */

static uint64_t
test_seed(const struct experiment_run *run, const struct experiment_fit *fit)
{
    return experiment_seed("test noise", run->options->seed, fit->trial,
                           fit->draw, fit->eps);
}

static enum sotto_status
test_codes(struct trial *trial, const struct experiment_run *run,
           const struct experiment_fit *fit, struct trial_pieces *pieces,
           struct experiment_outcome *ret_outcome, struct sotto_error *err)
{
    struct trial_encoder encoder = encoder_of(run, fit->eps);
    double eps = TEST_SHARE * fit->eps;
    char text[EXPERIMENT_EPS_SIZE];
    struct sotto_codebook *codebook = NULL;
    struct sotto_mechanism *code = NULL;
    struct sotto_model *model = NULL;
    struct sotto_evaluation evaluation;
    enum sotto_status status =
        trial_cells(trial, run, &encoder, false, &codebook, err);
    experiment_eps_text(eps, text);
    if (status == SOTTO_STATUS_OK) {
        status = sotto_model_cut(pieces->model, codebook, NULL, 0, text, NULL,
                                 &code, &model, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_model_evaluate_private_with(
            model, code, trial->split.test, test_seed(run, fit), &evaluation,
            err);
    }
    if (status == SOTTO_STATUS_OK) {
        struct sotto_part_info part;
        sotto_mechanism_part(code, 0, &part);
        ret_outcome->accuracy = evaluation.accuracy;
        (void)snprintf(ret_outcome->note, sizeof ret_outcome->note,
                       EPS_NOTE "k=%zu flip", eps, part.size);
    }
    sotto_model_free(model);
    sotto_mechanism_free(code);
    return status;
}

/* ---- The classifier's own class ------------------------------------------ */

/* The network goes to devices; what they send is its class. */
static enum sotto_status
test_classes(const struct trial *trial, const struct experiment_run *run,
             const struct experiment_fit *fit, struct trial_pieces *pieces,
             struct experiment_outcome *ret_outcome, struct sotto_error *err)
{
    double eps = TEST_SHARE * fit->eps;
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_evaluation evaluation;
    char text[EXPERIMENT_EPS_SIZE];
    experiment_eps_text(eps, text);
    enum sotto_status status =
        sotto_model_mechanism_class(pieces->model, text, NULL, &mechanism, err);
    if (status == SOTTO_STATUS_OK) {
        status = sotto_model_evaluate_private_with(
            pieces->model, mechanism, trial->split.test, test_seed(run, fit),
            &evaluation, err);
    }
    if (status == SOTTO_STATUS_OK) {
        ret_outcome->accuracy = evaluation.accuracy;
        (void)snprintf(ret_outcome->note, sizeof ret_outcome->note,
                       EPS_NOTE "class by flip", eps);
    }
    sotto_mechanism_free(mechanism);
    return status;
}

/* ---- A fit --------------------------------------------------------------- */

static enum sotto_status
test_model(struct trial *trial, const struct experiment_run *run,
           const struct experiment_fit *fit, struct trial_pieces *pieces,
           struct experiment_outcome *ret_outcome, struct sotto_error *err)
{
    bool noise = isfinite(fit->eps);
    struct sotto_evaluation evaluation;
    if (noise && strcmp(run->mechanism, CLASS_FLIP) == 0) {
        return test_classes(trial, run, fit, pieces, ret_outcome, err);
    }
    if (noise && !is_vlm(run)) {
        return test_codes(trial, run, fit, pieces, ret_outcome, err);
    }
    enum sotto_status status =
        sotto_model_evaluate(pieces->model, trial->split.test, noise,
                             test_seed(run, fit), &evaluation, err);
    if (status == SOTTO_STATUS_OK) {
        ret_outcome->accuracy = evaluation.accuracy;
        if (noise) {
            (void)snprintf(ret_outcome->note, sizeof ret_outcome->note,
                           EPS_NOTE "lattice", TEST_SHARE * fit->eps);
        }
    }
    return status;
}

static enum sotto_status
run_fit(void *context, const struct experiment_run *run,
        const struct experiment_fit *fit,
        struct experiment_outcome *ret_outcome, struct sotto_error *err)
{
    struct trial *trial = context;
    struct trial_encoder encoder = encoder_of(run, fit->eps);
    struct trial_code code = code_at(fit->eps);
    struct trial_pieces pieces = {0};
    enum sotto_status status = trial_take(trial, run, fit->trial, err);
    if (status == SOTTO_STATUS_OK) {
        status = is_vlm(run)
                     ? trial_learn(
                           trial, run, fit, &encoder,
                           trial_fit_find("vlm", run->options->level, fit->eps),
                           &pieces, err)
                     : trial_learn_codes(trial, run, fit, &encoder, &code,
                                         &pieces, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = test_model(trial, run, fit, &pieces, ret_outcome, err);
    }
    trial_pieces_clear(&pieces);
    return status;
}

static const char *const mechanisms[] = {"codebook", CLASS_FLIP, "vlm", NULL};

const struct experiment experiment_mnist_private = {
    .name = "mnist-private",
    .about =
        "MNIST, splits as in mnist-collection. epsilon is what people spend on "
        "their reports, image and label together, of which the classifier is "
        "learnt. Then each of 2,500 test images is privatised by itself, at "
        "0.7 epsilon, and its class is told from that one report; at none, "
        "from the image.",
    .help =
        "test images are privatised, too, at 0.7 of epsilon: codebook, vlm,\n"
        "and class-flip, where devices have the classifier and report its\n"
        "class.",
    .mechanisms = mechanisms,
    .aux_share = 1 - MNIST_PEOPLE,
    .aux_share_most = 1 - MNIST_PEOPLE,
    .setting = setting,
    .open = open_state,
    .fit = run_fit,
    .close = trial_close,
};
