/*
 * registry.c: the likelihood of every channel, one row each.
 */
#include <string.h>

#include "likelihood/likelihood.h"
#include "likelihood/realised.h"

extern const struct likelihood likelihood_flip;
extern const struct likelihood likelihood_subset;
extern const struct likelihood likelihood_signs;
extern const struct likelihood likelihood_laplace;
extern const struct likelihood likelihood_gaussian;
extern const struct likelihood likelihood_duchi;
extern const struct likelihood likelihood_window;

static const struct likelihood *const registry[] = {
    &likelihood_flip,     &likelihood_subset,
    &likelihood_signs,    &likelihood_laplace,
    &likelihood_gaussian, &likelihood_duchi,
    &likelihood_window,   NULL,
};

const struct likelihood *
likelihood_find(const char *name)
{
    size_t i = 0;
    while (registry[i] != NULL && strcmp(registry[i]->name, name) != 0) {
        i++;
    }
    return registry[i];
}

void
likelihood_bind(struct likelihood_instance *at,
                const struct likelihood *likelihood,
                const struct channel_instance *instance)
{
    memset(at, 0, sizeof *at);
    at->likelihood = likelihood;
    at->instance = instance;
    at->realised = REALISED_NONE;
    likelihood->init(at);
}

enum sotto_status
likelihood_init(struct likelihood_instance *at,
                const struct channel_instance *instance)
{
    const struct likelihood *found = likelihood_find(instance->channel->name);
    if (found == NULL) {
        return SOTTO_STATUS_USAGE;
    }
    likelihood_bind(at, found, instance);
    at->realised = found->realised(instance);
    return SOTTO_STATUS_OK;
}
