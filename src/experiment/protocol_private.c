/*
 * protocol_private.c: classifying private records (P0 section 5, Table 4).
 *
 *     people's reports at eps_train --learner--> classifier
 *     test record --privatised at eps_test = 0.7 eps_train--> one report
 *     report --p(class | report) under its channel--> the likeliest class
 *
 * Codes: the report is a code, by k-ary response: no label chose the cells.
 * p(y | r) = sum_c p(c | r) p(y | c), and p(y | c) is what the classifier says
 * of the cell's auxiliary records. How many cells is chosen by what it expects
 * of itself (sotto_model_cut). EXPERIMENT_CLASS: the classifier is sent to
 * devices, and the report is its class, by k-ary response: good for this one
 * question. Else, the papers': a representation on a lattice.
 */
#include <math.h>
#include <stdio.h>

#include "experiment/trial_learn.h"
#include "host/error.h"

#define TEST_SHARE                                                             \
    0.7 /* of eps_train (P0 Table 4); a lattice's lambda, too                  \
         */
#define EPS_NOTE "eps_test=%.10g "

static void
plan_private(const struct experiment_run *run, double eps,
             struct trial_plan *plan)
{
    (void)run;
    (void)eps;
    plan->encoder.lambda = TEST_SHARE;
    (void)snprintf(plan->more, sizeof plan->more, "; test at %g eps",
                   TEST_SHARE);
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
           const struct experiment_fit *fit, const struct trial_plan *plan,
           const struct trial_pieces *pieces,
           struct experiment_outcome *ret_outcome, struct sotto_error *err)
{
    double eps = TEST_SHARE * fit->eps;
    char text[EXPERIMENT_EPS_SIZE];
    struct sotto_codebook *codebook = NULL;
    struct sotto_mechanism *code = NULL;
    struct sotto_model *model = NULL;
    struct sotto_evaluation evaluation;
    enum sotto_status status =
        trial_cells(trial, run, &plan->encoder, false, &codebook, err);
    experiment_eps_text(eps, text);
    status = HOST_THEN(status, sotto_model_cut(pieces->model, codebook, NULL, 0,
                                               text, NULL, &code, &model, err));
    status = HOST_THEN(status, sotto_model_evaluate_private_with(
                                   model, code, trial->split.test,
                                   test_seed(run, fit), &evaluation, err));
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
             const struct experiment_fit *fit,
             const struct trial_pieces *pieces,
             struct experiment_outcome *ret_outcome, struct sotto_error *err)
{
    double eps = TEST_SHARE * fit->eps;
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_evaluation evaluation;
    char text[EXPERIMENT_EPS_SIZE];
    experiment_eps_text(eps, text);
    enum sotto_status status =
        sotto_model_mechanism_class(pieces->model, text, NULL, &mechanism, err);
    status = HOST_THEN(status, sotto_model_evaluate_private_with(
                                   pieces->model, mechanism, trial->split.test,
                                   test_seed(run, fit), &evaluation, err));
    if (status == SOTTO_STATUS_OK) {
        ret_outcome->accuracy = evaluation.accuracy;
        (void)snprintf(ret_outcome->note, sizeof ret_outcome->note,
                       EPS_NOTE "class by flip", eps);
    }
    sotto_mechanism_free(mechanism);
    return status;
}

/* ---- Any ----------------------------------------------------------------- */

static enum sotto_status
test_private(struct trial *trial, const struct experiment_run *run,
             const struct experiment_fit *fit, const struct trial_plan *plan,
             const struct trial_pieces *pieces,
             struct experiment_outcome *ret_outcome, struct sotto_error *err)
{
    bool noise = isfinite(fit->eps);
    if (noise && trial_does(run, EXPERIMENT_CLASS)) {
        return test_classes(trial, run, fit, pieces, ret_outcome, err);
    }
    if (noise && trial_does(run, EXPERIMENT_CODES)) {
        return test_codes(trial, run, fit, plan, pieces, ret_outcome, err);
    }
    if (noise) {
        (void)snprintf(ret_outcome->note, sizeof ret_outcome->note,
                       EPS_NOTE "lattice", TEST_SHARE * fit->eps);
    }
    return trial_evaluate(trial, pieces, noise, test_seed(run, fit),
                          ret_outcome, err);
}

const struct protocol protocol_private = {
    .plan = plan_private, .test = test_private, .told_share = TEST_SHARE};
