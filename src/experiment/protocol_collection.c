/*
 * protocol_collection.c: data collection, classifying clean records (P0 4.1 and
 * D.1; P1 4.3.1). Of MNIST:
 *
 *     45,000 images, no labels --train--> mechanism, decoder, prior
 *     15,000 people: image and label --mechanism at epsilon--> reports
 *     reports + prior --learner--> classifier --> 2,500 test images, clean
 *
 * A codebook mechanism has no decoder; what it has of the auxiliary records is
 * their representations and codes.
 */
#include <math.h>

#include "experiment/trial_learn.h"

static enum sotto_status
test_clean(struct trial *trial, const struct experiment_run *run,
           const struct experiment_fit *fit, const struct trial_plan *plan,
           const struct trial_pieces *pieces,
           struct experiment_outcome *ret_outcome, struct sotto_error *err)
{
    (void)plan;
    if (trial_does(run, EXPERIMENT_CODES) && isfinite(fit->eps)) {
        trial_code_note(pieces->mechanism, ret_outcome->note);
    }
    return trial_evaluate(trial, pieces, false, 0, ret_outcome, err);
}

const struct protocol protocol_collection = {.test = test_clean};
