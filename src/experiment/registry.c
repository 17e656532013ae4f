/*
 * registry.c: the experiments there are, and their mechanisms, by name.
 */
#include <string.h>

#include "experiment/experiment.h"
#include "host/error.h"
#include "host/text.h"

static const struct experiment *const experiments[] = {
    &experiment_mnist_collection,
    &experiment_mnist_novel,
    &experiment_mnist_private,
    &experiment_task_theory,
    &experiment_task_power,
    &experiment_task_realestate,
    &experiment_task_cancer,
    &experiment_task_mnist,
    &experiment_eq13,
};
#define EXPERIMENTS (sizeof experiments / sizeof *experiments)

const struct experiment *
experiment_find(const char *name)
{
    for (size_t i = 0; i < EXPERIMENTS; i++) {
        if (strcmp(experiments[i]->name, name) == 0) {
            return experiments[i];
        }
    }
    return NULL;
}

const char *
sotto_experiment_at(size_t i, const char **ret_about)
{
    if (i >= EXPERIMENTS) {
        return NULL;
    }
    *ret_about = experiments[i]->help;
    return experiments[i]->name;
}

const struct experiment_mechanism *
experiment_mechanism_find(const struct experiment *experiment, const char *name)
{
    const struct experiment_mechanism *at = experiment->mechanisms;
    while (at->name != NULL && strcmp(at->name, name) != 0) {
        at++;
    }
    return at->name != NULL ? at : NULL;
}

const char *
sotto_experiment_mechanism_at(const char *experiment, size_t i)
{
    const struct experiment *found = experiment_find(experiment);
    for (size_t j = 0; found != NULL && found->mechanisms[j].name != NULL;
         j++) {
        if (j == i) {
            return found->mechanisms[j].name;
        }
    }
    return NULL;
}

enum sotto_status
experiment_fail_name(const struct experiment *of, const char *name,
                     struct sotto_error *err)
{
    struct host_text list;
    const char *at, *about;
    host_text_init(&list, 400);
    for (size_t i = 0;
         (at = of != NULL ? of->mechanisms[i].name
                          : sotto_experiment_at(i, &about)) != NULL;
         i++) {
        host_text_print(&list, "%s%s", i > 0 ? ", " : "", at);
    }
    at = list.data != NULL ? list.data : "others";
    enum sotto_status status =
        of != NULL ? host_fail(err, SOTTO_STATUS_USAGE, 0,
                               "%s has no mechanism '%.80s': it has %s",
                               of->name, name, at)
                   : host_fail(err, SOTTO_STATUS_USAGE, 0,
                               "no experiment is called '%.80s': there is %s",
                               name, at);
    host_text_clear(&list);
    return status;
}
