/*
 * registry.c: every idealised channel, one row each. No reader of mechanisms
 * gets this table.
 */
#include <string.h>

#include "idealised/attributes.h"
#include "idealised/privunit.h"

const struct idealised idealised_table[] = {
    {&idealised_piecewise, &idealised_piecewise_likelihood,
     attributes_variance},
    {&idealised_hybrid, &idealised_hybrid_likelihood, attributes_variance},
    {&idealised_privunit2, &idealised_privunit2_likelihood, privunit_variance},
    {&idealised_privunitg, &idealised_privunitg_likelihood, privunit_variance},
    {NULL, NULL, NULL},
};

const struct idealised *
idealised_find(const char *name)
{
    const struct idealised *at = idealised_table;
    while (at->channel != NULL && strcmp(at->channel->name, name) != 0) {
        at++;
    }
    return at->channel != NULL ? at : NULL;
}

bool
idealised_named(const char *name)
{
    return idealised_find(name) != NULL;
}

enum sotto_status
idealised_init(const struct idealised *idealised, uint32_t d, uint32_t l,
               uint64_t eps, void *own, struct channel_instance *ret_instance,
               struct likelihood_instance *ret_at)
{
    enum sotto_status status =
        channel_init(ret_instance, idealised->channel, d, 0, l, eps, 0, own);
    if (status == SOTTO_STATUS_OK) {
        likelihood_bind(ret_at, idealised->likelihood, ret_instance);
    }
    return status;
}

void
idealised_draw(const struct channel_instance *instance, const int32_t *q,
               struct simulation *simulation, uint8_t *ret_wire)
{
    instance->channel->sample(instance, q, &simulation->random, ret_wire);
}
