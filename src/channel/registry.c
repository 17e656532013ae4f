/*
 * registry.c: every channel there is, one row each.
 */
#include "base/decimal.h"
#include "channel/channel.h"
#include "random/dlaplace.h"

extern const struct channel channel_flip;
extern const struct channel channel_subset;
extern const struct channel channel_laplace;

static const struct channel *const registry[] = {
    &channel_flip,
    &channel_subset,
    &channel_laplace,
    NULL,
};

const struct channel *
channel_at(size_t i)
{
    return registry[i];
}

static bool
is_named(const struct channel *channel, const char *name, size_t size)
{
    size_t i = 0;
    while (i < size && channel->name[i] != '\0' &&
           channel->name[i] == name[i]) {
        i++;
    }
    return i == size && channel->name[i] == '\0';
}

const struct channel *
channel_find(const char *name, size_t size)
{
    for (size_t i = 0; registry[i] != NULL; i++) {
        if (is_named(registry[i], name, size)) {
            return registry[i];
        }
    }
    return NULL;
}

enum sotto_status
channel_init(struct channel_instance *instance, const struct channel *channel,
             uint32_t size, uint32_t l, uint64_t eps, void *own)
{
    bool fits = channel->domain == CHANNEL_DOMAIN_LATTICE
                    ? size >= 1 && size <= CHANNEL_D_MAX && l >= 1 &&
                          l <= DLAPLACE_L_MAX
                    : size >= 2 && size <= CHANNEL_K_MAX && l == 0;
    if (!fits) {
        return SOTTO_STATUS_LIMIT;
    }
    if (eps < DECIMAL_EPS_MIN || eps > DECIMAL_EPS_MAX) {
        return SOTTO_STATUS_BUDGET;
    }
    instance->channel = channel;
    instance->size = size;
    instance->l = l;
    instance->eps = eps;
    instance->eps_exact = (double)eps / (double)DECIMAL_UNIT;
    instance->own = own;
    return channel->init(instance, own);
}
