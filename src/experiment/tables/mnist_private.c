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
 * (learn/codes/expected.h). class-flip   the classifier is sent to devices, and
 * the report is its class, by k-ary response: good for this one question. vlm
 * the papers': a representation on a lattice.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/analyst.h"
#include "encoder/codebook.h"
#include "experiment/population.h"
#include "experiment/trial_learn.h"
#include "host/error.h"
#include "learn/codes/codes_model.h"

#define CLASSES 10u
#define TEST_SHARE 0.7 /* of eps_train (P0 Table 4); vlm's lambda, too */
#define CLASS_FLIP "class-flip"
#define EPS_NOTE "eps_test=%.10g "

/* Codes that may be reported at inference. */
static const size_t counts[] = {10, 12, 15, 20, 30, 50, 100};
#define COUNTS (sizeof counts / sizeof *counts)

static enum sotto_status
open_state(const struct experiment_run *run, void **ret_state,
           char ret_hash[EXPERIMENT_HASH_SIZE], struct sotto_error *err)
{
    return mnist_trial_open(run, mnist_split_init, ret_state, ret_hash, err);
}

static bool
is_vlm(const struct experiment_run *run)
{
    return strcmp(run->mechanism, "vlm") == 0;
}

/* What reports are learnt from: a codebook's are for both its uses. */
static struct mnist_encoder
encoder_of(const struct experiment_run *run, double eps)
{
    struct mnist_encoder encoder =
        *mnist_encoder_find(is_vlm(run) ? "vlm" : "codebook", eps);
    encoder.lambda = TEST_SHARE;
    return encoder;
}

static struct mnist_code
code_at(double eps)
{
    return (struct mnist_code){.eps = eps, .classes = CLASSES, .label = true};
}

static void
setting(const struct experiment_run *run, double eps,
        char text[EXPERIMENT_SETTING_SIZE])
{
    struct mnist_encoder encoder = encoder_of(run, eps);
    uint32_t epochs = run->options->epochs;
    size_t size;
    if (is_vlm(run)) {
        mnist_setting_text(&encoder,
                           mnist_fit_find("vlm", run->options->level, eps), eps,
                           epochs, text);
    } else {
        struct mnist_code code = code_at(eps);
        mnist_codes_setting_text(&encoder, &code, epochs, text);
    }
    size = strlen(text);
    (void)snprintf(text + size, EXPERIMENT_SETTING_SIZE - size,
                   "; test at %g eps", TEST_SHARE);
}

/* ---- Codes of test images ----------------------------------------------- */

/* What the classifier says of every auxiliary image, as rows of classes; the
   caller frees it. */
static enum sotto_status
judge_aux(struct mnist_pieces *pieces, float **ret_p, struct sotto_error *err)
{
    size_t width = 0, n = sotto_analyst_points(pieces->analyst);
    uint32_t layers = 0;
    const float *z = analyst_representation(pieces->analyst, &width, &layers);
    const struct networks *networks =
        &codes_of(pieces->model)->classifier->networks;
    float *p;
    if (z == NULL || width != networks->in ||
        pieces->model->classes != CLASSES) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the classifier does not take the codebook's "
                         "representations, or has not %u classes",
                         CLASSES);
    }
    p = calloc(n, CLASSES * sizeof *p);
    if (p == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status = model_backend(pieces->model, err);
    if (status == SOTTO_STATUS_OK) {
        status =
            networks_forward(networks, pieces->model->backend, z, n, p, err);
    }
    if (status != SOTTO_STATUS_OK) {
        free(p);
        return status;
    }
    *ret_p = p;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
make_code(struct sotto_codebook *codebook, size_t k, double eps,
          struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    struct sotto_codebook_choice choice = {.k = k, .channel = "flip"};
    char text[EXPERIMENT_EPS_SIZE];
    experiment_eps_text(eps, text);
    return sotto_codebook_write(codebook, &choice, text, NULL, NULL,
                                ret_mechanism, err);
}

/* ---- Reports of test images ---------------------------------------------- */

/* The share of rows whose likeliest class, of rows of `p`, is their own. */
static enum sotto_status
score(struct sotto_model *model, const struct sotto_table *table,
      const double *p, double *ret_accuracy, struct sotto_error *err)
{
    size_t n = sotto_table_rows(table), right = 0;
    size_t *truth = calloc(n, sizeof *truth);
    if (truth == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status = model_truth(model, table, truth, err);
    for (size_t i = 0; i < n; i++) {
        right += model_likeliest(p + i * CLASSES, CLASSES) == truth[i] ? 1 : 0;
    }
    free(truth);
    *ret_accuracy = (double)right / (double)n;
    return status;
}

/* p(class | report) of all reports of a mechanism about codes alone; the
   caller frees it. */
static enum sotto_status
judge_reports(const struct expected_cells *cells,
              const struct sotto_mechanism *code,
              const struct sotto_report_reader *reports, double **ret_p,
              struct sotto_error *err)
{
    size_t n = sotto_report_reader_count(reports);
    const uint8_t **report = calloc(n, sizeof *report);
    double *p = calloc(n, CLASSES * sizeof *p);
    struct codes_shape shape;
    enum sotto_status status;
    if (report == NULL || p == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < n; i++) {
        report[i] = sotto_report_reader_at(reports, i);
    }
    status = codes_shape_init(&shape, code, false, err);
    if (status == SOTTO_STATUS_OK) {
        status = expected_predict(cells, &shape, report, n, p, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_p = p;
        p = NULL;
    }
done:
    free(report);
    free(p);
    return status;
}

static uint64_t
test_seed(const struct experiment_run *run, const struct experiment_fit *fit)
{
    return experiment_seed("test noise", run->options->seed, fit->trial,
                           fit->draw, fit->eps);
}

static enum sotto_status
test_codes(struct mnist_trial *trial, const struct experiment_run *run,
           const struct experiment_fit *fit, struct mnist_pieces *pieces,
           struct experiment_outcome *ret_outcome, struct sotto_error *err)
{
    struct mnist_encoder encoder = encoder_of(run, fit->eps);
    double eps = TEST_SHARE * fit->eps, *p = NULL;
    struct sotto_codebook *codebook = NULL;
    struct sotto_mechanism *code = NULL;
    struct sotto_report_reader *reports = NULL;
    struct expected_cells cells = {0};
    float *judged = NULL;
    enum sotto_status status = judge_aux(pieces, &judged, err);
    if (status == SOTTO_STATUS_OK) {
        status = mnist_trial_cells(trial, run, &encoder, false, &codebook, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = expected_choose_cut(codebook, counts, COUNTS, CLASSES, judged,
                                     eps, &cells, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = make_code(codebook, cells.cells, eps, &code, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = population_report(code, trial->split.test, test_seed(run, fit),
                                   false, run->options->threads, &run->watch,
                                   &reports, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = judge_reports(&cells, code, reports, &p, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = score(pieces->model, trial->split.test, p,
                       &ret_outcome->accuracy, err);
        (void)snprintf(ret_outcome->note, sizeof ret_outcome->note,
                       EPS_NOTE "k=%zu flip", eps, cells.cells);
    }
    sotto_report_reader_free(reports);
    sotto_mechanism_free(code);
    expected_cells_clear(&cells);
    free(judged);
    free(p);
    return status;
}

/* ---- The classifier's own class ------------------------------------------ */

/* The network goes to devices; what they send is its class. */
static enum sotto_status
test_classes(const struct mnist_trial *trial, const struct experiment_run *run,
             const struct experiment_fit *fit, struct mnist_pieces *pieces,
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
test_model(struct mnist_trial *trial, const struct experiment_run *run,
           const struct experiment_fit *fit, struct mnist_pieces *pieces,
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
    struct mnist_trial *trial = context;
    struct mnist_encoder encoder = encoder_of(run, fit->eps);
    struct mnist_code code = code_at(fit->eps);
    struct mnist_pieces pieces = {0};
    enum sotto_status status = mnist_trial_take(trial, run, fit->trial, err);
    if (status == SOTTO_STATUS_OK) {
        status = is_vlm(run)
                     ? mnist_learn(
                           trial, run, fit, &encoder,
                           mnist_fit_find("vlm", run->options->level, fit->eps),
                           &pieces, err)
                     : mnist_learn_codes(trial, run, fit, &encoder, &code,
                                         &pieces, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = test_model(trial, run, fit, &pieces, ret_outcome, err);
    }
    mnist_pieces_clear(&pieces);
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
    .mechanisms = mechanisms,
    .aux_share = 1 - MNIST_PEOPLE,
    .aux_share_most = 1 - MNIST_PEOPLE,
    .setting = setting,
    .open = open_state,
    .fit = run_fit,
    .close = mnist_trial_close,
};
