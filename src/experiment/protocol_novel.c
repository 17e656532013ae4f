/*
 * protocol_novel.c: "this class or not", by mechanisms that never saw the class
 * (P0 4.2 and D.1.2, Table 2). Of MNIST, with the class 9:
 *
 *     images of 0 to 8, no labels --train--> mechanism
 *     people, half of them 9s: image --mechanism at epsilon--> reports
 *     reports, and whether each is a 9 --learner--> classifier --> test images
 *
 * In the papers, only people of the new class are asked, and their label is
 * none of what they report: taking part tells it, so the label's epsilon is
 * unbounded. With EXPERIMENT_LABELS everyone is asked, for record and label
 * together at epsilon.
 */
#include <math.h>
#include <stdio.h>

#include "experiment/trial_learn.h"

/* Epsilon of a label in the clear: false once in 10^8. */
#define LABEL_EPS 20.0
#define EPS_MOST 32.0
#define UNBOUNDED "label epsilon: unbounded"

/* Cells for the new class are not among the auxiliary records': k is not to be
   chosen by simulating those, so it is given, more than the ten digits. These
   were fixed beforehand, not chosen by results (docs/experiments.md). */
static size_t
codes_at(double eps)
{
    return eps >= 6 ? 200 : eps >= 4 ? 100 : eps >= 2 ? 50 : 30;
}

/* The prior has none of the class, so not Eq. 11 but 12 (P0 4.2). With a label
   in the clear, all of epsilon is for the record. */
static void
plan_novel(const struct experiment_run *run, double eps,
           struct trial_plan *plan)
{
    bool asks = trial_does(run, EXPERIMENT_LABELS);
    if (!asks && isfinite(eps)) {
        plan->total = fmin(eps + LABEL_EPS, EPS_MOST);
        plan->encoder.lambda = eps / plan->total;
        plan->encoder.label_channel = "flip";
    }
    plan->fit = (struct trial_fit){.eps = eps,
                                   .level = SOTTO_LEVEL_LATENT,
                                   .decay = -1,
                                   .marginal = -1,
                                   .entropy = -1,
                                   .eq12 = true};
    plan->code.label = asks || !isfinite(eps);
    plan->code.k = codes_at(eps);
    plan->code.shifted = true;
    (void)snprintf(plan->more, sizeof plan->more, "; novel %s, %s",
                   run->experiment->novel,
                   asks ? "a private label from everyone" : UNBOUNDED);
}

static enum sotto_status
test_novel(struct trial *trial, const struct experiment_run *run,
           const struct experiment_fit *fit, const struct trial_plan *plan,
           const struct trial_pieces *pieces,
           struct experiment_outcome *ret_outcome, struct sotto_error *err)
{
    bool asks = trial_does(run, EXPERIMENT_LABELS);
    char code[EXPERIMENT_NOTE_SIZE] = "";
    (void)plan;
    if (isfinite(fit->eps)) {
        if (trial_does(run, EXPERIMENT_CODES)) {
            trial_code_note(pieces->mechanism, code);
        }
        (void)snprintf(ret_outcome->note, sizeof ret_outcome->note, "%.40s%s%s",
                       code, code[0] != '\0' && !asks ? ", " : "",
                       asks ? "" : UNBOUNDED);
    }
    return trial_evaluate(trial, pieces, false, 0, ret_outcome, err);
}

const struct protocol protocol_novel = {.plan = plan_novel, .test = test_novel};
