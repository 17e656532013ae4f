/*
 * odds.c: a coin with odds of m e^epsilon : n, from below.
 */
#include "channel/odds.h"

#include "base/bytes.h"
#include "base/decimal.h"
#include "random/threshold.h"

#define SCALE 23u /* bits: (m E + n) 2^-23 < 2^48 */

void
odds_exp(uint64_t eps, struct wide *ret)
{
    struct wide x;
    wide_ratio(eps, DECIMAL_UNIT, &x);
    wide_exp(&x, ret);
}

/* n 2^-23 is exact, m E 2^-23 is rounded down, and so their share is. */
void
odds_init(struct odds *odds, uint64_t eps, uint32_t m, uint32_t n)
{
    struct wide power, rest, h;
    odds_exp(eps, &power);
    wide_shift(&power, SCALE, &power);
    wide_scale(&power, m, &power);
    wide_ratio(n, UINT64_C(1) << SCALE, &rest);
    wide_add(&power, &rest, &rest);
    wide_divide(&power, &rest, &h);
    bytes_clear((uint8_t *)odds->threshold, sizeof odds->threshold);
    threshold_from(&h, &odds->threshold[0]);
}

uint32_t
odds_draw(const struct odds *odds, struct random *random)
{
    struct draw_tables tables;
    draw_tables(random, odds->threshold, DRAW_SMALL, &tables);
    return draw_symbol(random, &tables, 0, DRAW_SMALL);
}
