/*
 * integers_likelihood.c: what reports that are d integers have in common.
 */
#include "likelihood/integers_likelihood.h"

bool
integers_clamped(const struct likelihood_instance *at, int64_t y)
{
    int64_t clamp = integers_of(at)->clamp;
    return y == clamp || y == -clamp;
}

void
integers_set_ends(struct likelihood_instance *at)
{
    at->most = (double)integers_of(at)->clamp;
    at->high = at->most;
    at->low = -at->most;
    at->mean_high = at->instance->l;
    at->mean_low = -at->mean_high;
}

void
integers_estimate(const struct likelihood_instance *at, const uint8_t *wire,
                  double *ret_estimate)
{
    for (uint32_t i = 0; i < at->values; i++) {
        ret_estimate[i] = (double)integers_at(integers_of(at), wire, i);
    }
}

void
integers_unpack(const struct likelihood_instance *at, const uint8_t *wire,
                int64_t *ret_values)
{
    for (uint32_t i = 0; i < at->values; i++) {
        ret_values[i] = integers_at(integers_of(at), wire, i);
    }
}

bool
integers_pack(const struct likelihood_instance *at, const int64_t *values,
              uint8_t *ret_wire)
{
    int64_t clamp = integers_of(at)->clamp;
    for (uint32_t i = 0; i < at->values; i++) {
        if (values[i] > clamp || values[i] < -clamp) {
            return false;
        }
        integers_put(integers_of(at), ret_wire, i, values[i]);
    }
    return true;
}
