/*
 * dlaplace.h: the discrete Laplace distribution, exactly and in fixed work.
 *
 *     P(X = x) = (1-r)/(1+r) r^|x|,   r = e^(-1/t),   x any integer.
 *
 * The noise that gives epsilon-LDP to integers of sensitivity 2l has
 * t = 2l/epsilon; here it is calibrated to epsilon (1 - 2^-60), so that the
 * rounding of thresholds to 256 bits stays on the safe side (docs/proofs.md
 * has the bound).
 */
#ifndef SOTTO_RANDOM_DLAPLACE_H
#define SOTTO_RANDOM_DLAPLACE_H

#include <stdint.h>

#include "base/wide.h"
#include "random/draw.h"

#define DLAPLACE_RADIX DRAW_FULL
#define DLAPLACE_GROUPS_MAX 10u

struct dlaplace {
    uint32_t groups;  /* base-32 digits of the geometric */
    uint32_t top;     /* values of its highest digit, 1 to 32 */
    uint32_t count;   /* thresholds */
    uint64_t horizon; /* top 32^(groups-1): noise beyond it is cut there */
    struct wide r;    /* e^(-1/t) */
    struct draw_threshold
        threshold[DRAW_SMALL + DLAPLACE_GROUPS_MAX * DRAW_FULL];
};

/*
 * Noise for sensitivity 2l at eps units of 10^-12: 1 <= l <= 2^20,
 * DECIMAL_EPS_MIN <= eps <= DECIMAL_EPS_MAX. horizon >= 32 t + 2l.
 */
void dlaplace_init(struct dlaplace *noise, uint32_t l, uint64_t eps);

/* Noise of a given 1/t in [2^-54, 40], with a horizon of at least `need`, and
   at most 2^50 and some 64 t. */
void dlaplace_init_rate(struct dlaplace *noise, const struct wide *rate,
                        uint64_t need);

/* Bytes each draw takes. */
size_t dlaplace_draw_size(const struct dlaplace *noise);

/*
 * X, exactly distributed, except that |X| > horizon comes out as
 * horizon + 1. `tables` are this noise's, made ready by draw_tables.
 */
int64_t dlaplace_draw(const struct dlaplace *noise, struct random *random,
                      struct draw_tables *tables);

#endif
