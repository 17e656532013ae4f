/*
 * registry.c: every channel that devices run, one row each. A device can be
 * built without gaussian, the only one whose promise rests on doubles.
 */
#include "base/bytes.h"
#include "base/decimal.h"
#include "channel/channel.h"

extern const struct channel channel_flip;
extern const struct channel channel_subset;
extern const struct channel channel_signs;
extern const struct channel channel_laplace;
extern const struct channel channel_duchi;
extern const struct channel channel_window;
#ifndef SOTTO_WITHOUT_GAUSSIAN
extern const struct channel channel_gaussian;
#endif

const struct channel *const channel_exact[] = {
    &channel_flip,     &channel_subset, &channel_signs, &channel_laplace,
#ifndef SOTTO_WITHOUT_GAUSSIAN
    &channel_gaussian,
#endif
    &channel_duchi,    &channel_window, NULL,
};

const struct channel *
channel_find(const struct channel *const *list, const char *name, size_t size)
{
    while (*list != NULL && !bytes_spell(name, size, (*list)->name)) {
        list++;
    }
    return *list;
}

/* k_1 >= 2 rows of k_2 >= 2 each. */
static bool
is_table(uint32_t size, uint32_t rows)
{
    return rows >= 2 && size % rows == 0 && size / rows >= 2;
}

static bool
fits(const struct channel *channel, uint32_t size, uint32_t l)
{
    if (channel->domain == CHANNEL_DOMAIN_SYMBOLS) {
        return size >= 2 && size <= CHANNEL_K_MAX && l == 0;
    }
    return size >= 1 && size <= (channel->scalar ? 1 : CHANNEL_D_MAX) &&
           l >= 1 && l <= CHANNEL_L_MAX;
}

static bool
affordable(const struct channel *channel, uint64_t eps, uint64_t delta)
{
    bool sound = channel->approximate
                     ? delta >= DECIMAL_DELTA_MIN && delta <= DECIMAL_DELTA_MAX
                     : delta == 0;
    return sound && eps >= DECIMAL_EPS_MIN && eps <= DECIMAL_EPS_MAX;
}

enum sotto_status
channel_init(struct channel_instance *instance, const struct channel *channel,
             uint32_t size, uint32_t rows, uint32_t l, uint64_t eps,
             uint64_t delta, void *own)
{
    if (!fits(channel, size, l) || (channel->pairs && !is_table(size, rows))) {
        return SOTTO_STATUS_LIMIT;
    }
    if (!affordable(channel, eps, delta)) {
        return SOTTO_STATUS_BUDGET;
    }
    instance->channel = channel;
    instance->size = size;
    instance->rows = channel->pairs ? rows : 0;
    instance->l = l;
    instance->eps = eps;
    instance->delta = delta;
    instance->own = own;
    return channel->init(instance, own);
}
