/*
 * options.c: what can be said of a fit, by the settings of a learner, and what
 * is chosen where they do not say it.
 */
#include "learn/options.h"

#include <math.h>
#include <string.h>

#include "host/error.h"
#include "learn/learner.h"

const char *const learn_objectives[] = {"marginal", "label", "plain", NULL};
const char *const learn_levels[] = {"latent", "feature", NULL};

size_t
learn_word(const char *word, const char *const *list)
{
    size_t i = 0;
    while (word != NULL && list[i] != NULL && strcmp(word, list[i]) != 0) {
        i++;
    }
    return word != NULL && list[i] != NULL ? i : SIZE_MAX;
}

enum sotto_status
learn_options_read(const struct learner *learner,
                   const struct sotto_fit_options *from,
                   struct learn_options *ret_options, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    memset(ret_options, 0, sizeof *ret_options);
    settings_init(learner->settings, ret_options);
    ret_options->decay = -1; /* not said: 0 says something */
    ret_options->marginal = -1;
    ret_options->entropy = -1;
    ret_options->last = LEARN_LAST_CHOSEN;
    for (size_t i = 0; i < from->sets && status == SOTTO_STATUS_OK; i++) {
        status = settings_put(learner->settings, ret_options, from->set[i].name,
                              from->set[i].value, err);
    }
    ret_options->objective = (enum sotto_objective)learn_word(
        ret_options->objective_word, learn_objectives);
    ret_options->level =
        (enum sotto_level)learn_word(ret_options->level_word, learn_levels);
    ret_options->hiddens = ret_options->hidden_list.count;
    ret_options->hidden = ret_options->hidden_list.count > 0
                              ? ret_options->hidden_list.value
                              : NULL;
    if (!(ret_options->validation > 0)) {
        ret_options->validation = -1; /* none: 0 would be the default */
    }
    ret_options->learner = learner->name;
    ret_options->threads = from->threads;
    ret_options->watch = from->watch;
    return HOST_THEN(status, learn_options_check(ret_options, err));
}

enum sotto_status
learn_options_check(const struct learn_options *options,
                    struct sotto_error *err)
{
    if (options->linear && options->hiddens > 0) {
        return settings_fail(err, "linear",
                             "means no hidden layer: leave hidden out");
    }
    if (options->entropy > 0 &&
        options->objective != SOTTO_OBJECTIVE_MARGINAL) {
        return settings_fail(err, "entropy",
                             "belongs to the objective marginal");
    }
    return SOTTO_STATUS_OK;
}

/* ---- What is chosen ------------------------------------------------------ */

#define BALANCED 0.1   /* weight of a share that is known */
#define VALIDATION 0.1 /* share of the reports */
#define FLOOR 0.1

/*
 * What suits an objective, up to a budget of the label; the first row that
 * holds is taken. The less a label report says, the more a network learns of
 * its noise: at small epsilon the weights decay faster and training ends
 * sooner.
 */
static const struct {
    enum sotto_objective objective;
    double eps_y, rate, decay;
    uint32_t epochs, patience, batches, batch;
} chosen[] = {
    {SOTTO_OBJECTIVE_MARGINAL, 0.5, 5e-3, 3e-1, 40, 10, 10, 0},
    {SOTTO_OBJECTIVE_MARGINAL, 1.5, 5e-3, 1e-1, 60, 10, 10, 0},
    {SOTTO_OBJECTIVE_MARGINAL, INFINITY, 5e-3, 1e-2, 80, 10, 10, 0},
    {SOTTO_OBJECTIVE_LABEL, 1.5, 1e-3, 1e-1, 30, 5, 0, 256},
    {SOTTO_OBJECTIVE_LABEL, INFINITY, 2e-3, 1e-2, 40, 8, 0, 128},
    {SOTTO_OBJECTIVE_PLAIN, INFINITY, 2e-3, 1e-3, 60, 8, 0, 128},
};

struct learn_options
learn_options_settle(const struct learn_options *options, double eps_y)
{
    struct learn_options all = *options;
    size_t i = 0;
    while (i + 1 < sizeof chosen / sizeof *chosen &&
           (chosen[i].objective != all.objective || eps_y > chosen[i].eps_y)) {
        i++;
    }
    all.floor = FLOOR;
    all.patience = chosen[i].patience;
    all.batch = chosen[i].batch;
    all.rate = all.rate > 0 ? all.rate : chosen[i].rate;
    all.decay = all.decay >= 0 ? all.decay : chosen[i].decay;
    all.epochs = all.epochs > 0 ? all.epochs : chosen[i].epochs;
    all.batches = all.batches > 0 ? all.batches : chosen[i].batches;
    all.restarts = all.restarts > 0 ? all.restarts : 1;
    all.entropy = all.entropy >= 0 ? all.entropy : 0;
    if (!(all.marginal >= 0)) {
        all.marginal = all.balanced ? BALANCED : 0;
    }
    all.validation = all.validation < 0   ? 0
                     : all.validation > 0 ? all.validation
                                          : VALIDATION;
    return all;
}

/* ---- What there is to choose from ---------------------------------------- */

bool
sotto_fit_learner_at(size_t i, struct sotto_fit_learner *ret_learner)
{
    for (size_t j = 0; j <= i; j++) {
        if (learner_table[j] == NULL) {
            return false;
        }
    }
    *ret_learner = (struct sotto_fit_learner){learner_table[i]->name,
                                              learner_table[i]->about};
    return true;
}

bool
sotto_fit_setting_at(const char *learner, size_t i,
                     struct sotto_setting_info *ret_setting)
{
    const struct setting *row = NULL;
    for (size_t j = 0; learner_table[j] != NULL; j++) {
        if (strcmp(learner_table[j]->name, learner) == 0) {
            row = learner_table[j]->settings;
        }
    }
    return row != NULL && settings_tell(row, i, ret_setting);
}
