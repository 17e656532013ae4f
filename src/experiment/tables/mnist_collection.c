/*
 * mnist_collection.c: data collection on MNIST, classifying clean records (P0
 * 4.1 and D.1; P1 4.3.1).
 *
 *     45,000 images, no labels --train--> mechanism, decoder, prior
 *     15,000 people: image and label --mechanism at epsilon--> reports
 *     reports + prior --learner--> classifier --> 2,500 test images, clean
 *
 * A codebook mechanism has no decoder; what it has of the auxiliary images is
 * their representations and codes.
 */
#include <math.h>
#include <string.h>

#include "experiment/trial_learn.h"
#include "host/error.h"

#define CLASSES 10u

static enum sotto_status
open_state(const struct experiment_run *run, void **ret_state,
           char ret_hash[EXPERIMENT_HASH_SIZE], struct sotto_error *err)
{
    return trial_open(run, mnist_split_init, ret_state, ret_hash, err);
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
    const char *of = trial_settings_of(run->mechanism);
    const struct trial_encoder *encoder = trial_encoder_find(of, eps);
    uint32_t epochs = run->options->epochs;
    if (trial_is_codebook(of)) {
        struct trial_code code = code_at(eps);
        trial_codes_setting_text(encoder, &code, epochs, text);
    } else {
        trial_setting_text(encoder,
                           trial_fit_find(of, run->options->level, eps), eps,
                           epochs, text);
    }
}

static enum sotto_status
run_fit(void *context, const struct experiment_run *run,
        const struct experiment_fit *fit,
        struct experiment_outcome *ret_outcome, struct sotto_error *err)
{
    struct trial *trial = context;
    const char *of = trial_settings_of(run->mechanism);
    const struct trial_encoder *encoder = trial_encoder_find(of, fit->eps);
    bool codes = trial_is_codebook(of);
    struct trial_code code = code_at(fit->eps);
    struct trial_pieces pieces = {0};
    struct sotto_evaluation evaluation;
    if (codes && run->options->level == SOTTO_LEVEL_FEATURE) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "codes are learnt from at the latent level alone");
    }
    enum sotto_status status = trial_take(trial, run, fit->trial, err);
    if (status == SOTTO_STATUS_OK) {
        status =
            codes
                ? trial_learn_codes(trial, run, fit, encoder, &code, &pieces,
                                    err)
                : trial_learn(trial, run, fit, encoder,
                              trial_fit_find(of, run->options->level, fit->eps),
                              &pieces, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_model_evaluate(pieces.model, trial->split.test, false, 0,
                                      &evaluation, err);
    }
    if (status == SOTTO_STATUS_OK) {
        ret_outcome->accuracy = evaluation.accuracy;
        if (codes && isfinite(fit->eps)) {
            trial_code_note(pieces.mechanism, ret_outcome->note);
        }
    }
    trial_pieces_clear(&pieces);
    return status;
}

static const char *const mechanisms[] = {
    "vlm",      "vlm-linear",   "pca",          MNIST_FLOAT, "clm",
    "codebook", "vlm-codebook", "pca-codebook", NULL};

const struct experiment experiment_mnist_collection = {
    .name = "mnist-collection",
    .about =
        "MNIST. Of the 60,000 training images 75% (or the auxiliary share), "
        "without labels, train the mechanism; 25% are people, who "
        "privatise image and label with it; a tenth of them may validate or "
        "choose between classifiers, as privately. 2,500 of the 10,000 test "
        "images, clean, test the "
        "classifier that was learnt from the reports.",
    .help =
        "of MNIST's training images 75% without labels train the mechanism,\n"
        "25% are people who report image and label through it, and a\n"
        "classifier learnt from their reports is tested on 2,500 clean test\n"
        "images. Mechanisms: vlm, vlm-linear, pca, clm; codebook,\n"
        "vlm-codebook and pca-codebook, which report one of k codes, k\n"
        "chosen by simulation; vlm-float: vlm with noise in floating point,\n"
        "to compare with.",
    .mechanisms = mechanisms,
    .aux_share = 1 - MNIST_PEOPLE,
    .aux_share_most = 1 - MNIST_PEOPLE,
    .setting = setting,
    .open = open_state,
    .fit = run_fit,
    .close = trial_close,
};
