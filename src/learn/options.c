/*
 * options.c: what can be said of a fit, by the settings of a learner.
 */
#include "learn/options.h"

#include <string.h>

#include "learn/learner.h"

/* Finds a word in its list; the settings have checked that it is there. */
static unsigned
find_word(const char *word, const char *const *list)
{
    unsigned i = 0;
    while (word != NULL && list[i] != NULL && strcmp(word, list[i]) != 0) {
        i++;
    }
    return i;
}

enum sotto_status
learn_options_read(const struct learner *learner,
                   const struct sotto_fit_options *from,
                   struct learn_options *ret_options, struct sotto_error *err)
{
    static const char *const objectives[] = {"marginal", "label", "plain",
                                             NULL};
    static const char *const levels[] = {"latent", "feature", NULL};
    enum sotto_status status = SOTTO_STATUS_OK;
    memset(ret_options, 0, sizeof *ret_options);
    settings_init(learner->settings, ret_options);
    ret_options->decay = -1; /* not said: 0 says something */
    ret_options->marginal = -1;
    ret_options->entropy = -1;
    for (size_t i = 0; i < from->sets && status == SOTTO_STATUS_OK; i++) {
        status = settings_put(learner->settings, ret_options, from->set[i].name,
                              from->set[i].value, err);
    }
    ret_options->objective = (enum sotto_objective)find_word(
        ret_options->objective_word, objectives);
    ret_options->level =
        (enum sotto_level)find_word(ret_options->level_word, levels);
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
    return status;
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
