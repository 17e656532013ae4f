/*
 * threshold.c: probabilities as 256-bit thresholds for draw_symbol.
 *
 * A wide fraction has limbs 9 (first 32 bits after the point) to 0; the
 * threshold keeps limbs 9 to 2.
 */
#include "random/threshold.h"

void
threshold_from(const struct wide *p, struct draw_threshold *ret)
{
    ret->high = (uint64_t)p->limb[9] << 24 | p->limb[8] >> 8;
    for (int i = 0; i < 6; i++) {
        ret->low[i] = p->limb[i + 2];
    }
    ret->low[6] = p->limb[8] & 0xff;
}

void
threshold_wide(const struct draw_threshold *t, struct wide *ret)
{
    wide_ratio(0, 1, ret);
    for (int i = 0; i < 6; i++) {
        ret->limb[i + 2] = t->low[i];
    }
    ret->limb[8] = (uint32_t)(t->high << 8) | t->low[6];
    ret->limb[9] = (uint32_t)(t->high >> 24);
}

void
threshold_double(const struct draw_threshold *t, struct draw_threshold *ret)
{
    struct wide value;
    threshold_wide(t, &value);
    wide_add(&value, &value, &value);
    threshold_from(&value, ret);
}
