/*
 * group.c: the share of a set of symbols, as one report estimates it.
 *
 * A report names w of k symbols: the true one with probability h, and beside it
 * a uniform subset of the k-1 others. How many of the set are named is
 * hypergeometric but for the truth itself (docs/plan.md).
 */
#include "likelihood/group.h"

#include "likelihood/chance.h"
#include "likelihood/symbols_likelihood.h"

/* The variance of how many of `count` come up, if `drawn` of `all` do. */
static double
hypergeometric(double drawn, double count, double all)
{
    double rate = count / all;
    return all > 1 ? drawn * rate * (1 - rate) * (all - drawn) / (all - 1) : 0;
}

bool
group_variances(const struct likelihood_instance *at, uint32_t size,
                double *ret_true, double *ret_other)
{
    const struct channel *channel = at->instance->channel;
    struct chance chance;
    if (channel->domain != CHANNEL_DOMAIN_SYMBOLS || channel->pairs) {
        return false;
    }
    chance_init(&chance, &symbols_of(at->instance)->odds);
    double gap = at->own[SYMBOLS_GAP], all = at->instance->size - 1.0;
    double w = symbols_of(at->instance)->w, in = chance.in, out = chance.out;
    for (int i = 0; i < 2; i++) {
        double others = i == 0 ? size - 1.0 : size, rate = others / all;
        double step = i == 0 ? 1 - rate : rate;
        double variance = in * hypergeometric(w - 1, others, all) +
                          out * hypergeometric(w, others, all) +
                          in * out * step * step;
        *(i == 0 ? ret_true : ret_other) = variance / (gap * gap);
    }
    return true;
}

void
group_ends(const struct likelihood_instance *at, uint32_t size, double *ret_low,
           double *ret_high)
{
    uint32_t k = at->instance->size, w = symbols_of(at->instance)->w;
    double most = w < size ? w : size, least = w + size > k ? w + size - k : 0;
    double mean = size * at->own[SYMBOLS_RATE_OTHER];
    *ret_low = (least - mean) / at->own[SYMBOLS_GAP];
    *ret_high = (most - mean) / at->own[SYMBOLS_GAP];
}

double
group_most(const struct likelihood_instance *at, uint32_t size)
{
    double low, high;
    group_ends(at, size, &low, &high);
    return high > -low ? high : -low;
}
