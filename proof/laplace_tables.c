/*
 * laplace_tables.c: proves (L) and (T) of docs/proofs/laplace.md for every l
 * and epsilon that a device accepts, by intervals that are rounded outwards.
 *
 * A box is a range of l and one of epsilon. For all noises of a box at once it
 * bounds how far each threshold of src/random/dlaplace.c can lie from its real
 * value, operation by operation (u = 2^-320 is lost where a wide rounds,
 * v = 2^-256 where a threshold does), how small the probabilities are that the
 * thresholds differ by, and so how far a logarithm of (L) or (T) can be off.
 * Where that is less than what calibrating to epsilon (1 - 2^-60) leaves, the
 * box is proven; else it is cut in two. Every bound is an mpfr number that is
 * rounded to the safe side, so a box that passes is a proof for the box.
 *
 * The bounds are of the algorithm, not of the machine's code. So tables that
 * the code makes are compared with real values: in some thousand points, each
 * threshold must lie where the bounds say.
 *
 *     laplace_tables [POINTS]     prints boxes, least slack, points, seconds
 */
#include <gmp.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/decimal.h"
#include "channel/channel.h"
#include "random/dlaplace.h"

#define PRECISION 192
#define EXACT 768 /* bits of the real values that tables are compared with */
#define DEPTH_MAX 64
#define RATIO 1.1 /* a proven box is cut on until its sides are this near */

struct box {
    uint64_t l[2], eps[2];
};

/* Bounds for all noises of a box. `up` is never below, `down` never above. */
struct bounds {
    mpfr_t lambda_down, lambda_up; /* epsilon / 2l */
    mpfr_t kappa_down, kappa_up;   /* -ln r, for the r of the tables */
    mpfr_t drift;                  /* kappa is below lambda (1 - 2^-60) + it */
    mpfr_t off[DLAPLACE_GROUPS_MAX]; /* of a digit's thresholds, absolutely */
    mpfr_t log[DLAPLACE_GROUPS_MAX]; /* of a logarithm of its probabilities */
    mpfr_t log_last;                 /* the same of the top digit's last one */
    mpfr_t a, b, c, d, unit, tiny;
};

static double least_slack[2] = {1e9, 1e9}; /* (L), (T), in bits */
static unsigned long boxes;

static void
init_bounds(struct bounds *b)
{
    mpfr_inits2(PRECISION, b->lambda_down, b->lambda_up, b->kappa_down,
                b->kappa_up, b->drift, b->log_last, b->a, b->b, b->c, b->d,
                b->unit, b->tiny, (mpfr_ptr)NULL);
    for (uint32_t j = 0; j < DLAPLACE_GROUPS_MAX; j++) {
        mpfr_inits2(PRECISION, b->off[j], b->log[j], (mpfr_ptr)NULL);
    }
    mpfr_set_ui_2exp(b->unit, 1, -320, MPFR_RNDN);
    mpfr_set_ui_2exp(b->tiny, 1, -256, MPFR_RNDN);
}

/* ---- Bounds, one operation after the other --------------------------------
 */

/*
 * An upper bound of the relative error of wide_exp(x), x <= lambda_up: y =
 * x / 2^9 loses u; a term t_i = y^i / i! is off by beta_i <= (beta_(i-1) y +
 * u)/i + u; there are at most n terms, n the first with t_n < u, which comes
 * out as zero; those left out are at most u together. Nine squarings double a
 * relative error and add u each, since every value is 1 or more.
 */
static void
bound_exp(struct bounds *b, mpfr_t ret)
{
    mpfr_div_2ui(b->a, b->lambda_up, 9, MPFR_RNDU); /* y */
    mpfr_set_ui(b->b, 1, MPFR_RNDU);                /* t_i */
    mpfr_set_ui(b->c, 0, MPFR_RNDU);                /* beta_i */
    mpfr_mul_ui(ret, b->unit, 4, MPFR_RNDU);        /* y, and the tail */
    for (unsigned long i = 1; mpfr_cmp(b->b, b->unit) >= 0; i++) {
        mpfr_mul(b->b, b->b, b->a, MPFR_RNDU);
        mpfr_div_ui(b->b, b->b, i, MPFR_RNDU);
        mpfr_mul(b->c, b->c, b->a, MPFR_RNDU);
        mpfr_add(b->c, b->c, b->unit, MPFR_RNDU);
        mpfr_div_ui(b->c, b->c, i, MPFR_RNDU);
        mpfr_add(b->c, b->c, b->unit, MPFR_RNDU);
        mpfr_add(ret, ret, b->c, MPFR_RNDU);
    }
    for (int i = 0; i < 9; i++) {
        mpfr_mul_2ui(ret, ret, 1, MPFR_RNDU);
        mpfr_add(ret, ret, b->unit, MPFR_RNDU);
    }
}

/*
 * lambda, and kappa = -ln r: the rate is lambda (1 - 2^-60) up to u on either
 * side; 1/r is e^rate up to the relative error of wide_exp, and r loses u.
 */
static void
bound_rate(struct bounds *b, const struct box *box)
{
    mpfr_set_ui(b->lambda_down, box->eps[0], MPFR_RNDD);
    mpfr_div_ui(b->lambda_down, b->lambda_down, 2 * box->l[1], MPFR_RNDD);
    mpfr_div_ui(b->lambda_down, b->lambda_down, DECIMAL_UNIT, MPFR_RNDD);
    mpfr_set_ui(b->lambda_up, box->eps[1], MPFR_RNDU);
    mpfr_div_ui(b->lambda_up, b->lambda_up, 2 * box->l[0], MPFR_RNDU);
    mpfr_div_ui(b->lambda_up, b->lambda_up, DECIMAL_UNIT, MPFR_RNDU);

    mpfr_exp(b->drift, b->lambda_up, MPFR_RNDU); /* -ln(1 - u e^rate) <= */
    mpfr_mul(b->drift, b->drift, b->unit, MPFR_RNDU);
    mpfr_mul_ui(b->drift, b->drift, 2, MPFR_RNDU);
    mpfr_add(b->drift, b->drift, b->unit, MPFR_RNDU);

    bound_exp(b, b->d);
    mpfr_mul_ui(b->d, b->d, 2, MPFR_RNDU); /* -ln(1 - x) <= 2x */
    mpfr_add(b->d, b->d, b->unit, MPFR_RNDU);
    mpfr_mul_2si(b->a, b->lambda_down, -60, MPFR_RNDU);
    mpfr_add(b->a, b->a, b->d, MPFR_RNDU);
    mpfr_sub(b->kappa_down, b->lambda_down, b->a, MPFR_RNDD);
    mpfr_add(b->kappa_up, b->lambda_up, b->drift, MPFR_RNDU);
}

/* e^(-n 32^j kappa), from above for the least kappa or below for the largest.
 */
static void
bound_power(struct bounds *b, uint32_t n, uint32_t j, mpfr_rnd_t round,
            mpfr_t ret)
{
    bool up = round == MPFR_RNDU;
    mpfr_mul_ui(ret, up ? b->kappa_down : b->kappa_up, n,
                up ? MPFR_RNDD : MPFR_RNDU);
    mpfr_mul_2ui(ret, ret, 5ul * j, up ? MPFR_RNDD : MPFR_RNDU);
    mpfr_neg(ret, ret, MPFR_RNDN);
    mpfr_exp(ret, ret, round);
}

/* |ln(1 + x)| <= x / (1 - x) for |x| <= off / value; false unless below 1/2. */
static bool
bound_log(mpfr_t off, mpfr_t value, mpfr_t ret)
{
    mpfr_div(ret, off, value, MPFR_RNDU);
    if (mpfr_cmp_d(ret, 0.5) >= 0 || mpfr_nan_p(ret)) {
        return false;
    }
    mpfr_mul_2ui(ret, ret, 1, MPFR_RNDU);
    return true;
}

/* How far power_32's R of digit j is off: each squaring doubles it and adds
   u. */
static void
bound_digit_r(struct bounds *b, uint32_t j, mpfr_t ret)
{
    mpfr_set_ui(ret, 0, MPFR_RNDU);
    for (uint32_t i = 0; i < 5 * j; i++) {
        mpfr_mul_2ui(ret, ret, 1, MPFR_RNDU);
        mpfr_add(ret, ret, b->unit, MPFR_RNDU);
    }
}

/*
 * A digit but the top one: S_i = (R^i - R^32) c, c = 1/(1 - R^32). With R off
 * by alpha, R^i is by 31 (alpha + u) or less and R^32 by 32 alpha + 31 u; their
 * difference and c carry both, and three operations round. The least
 * probability is R^31 (1 - R) c >= R^31 (1 - R) and >= R^31 / 32.
 */
static bool
bound_low_digit(struct bounds *b, uint32_t j)
{
    bound_digit_r(b, j, b->a);
    mpfr_add(b->a, b->a, b->unit, MPFR_RNDU);
    mpfr_mul_ui(b->a, b->a, 31 + 32, MPFR_RNDU);
    bound_power(b, 32, j, MPFR_RNDU, b->b);
    mpfr_ui_sub(b->b, 1, b->b, MPFR_RNDD);
    if (mpfr_sgn(b->b) <= 0) {
        return false;
    }
    mpfr_div(b->off[j], b->a, b->b, MPFR_RNDU);
    mpfr_mul_ui(b->c, b->unit, 2, MPFR_RNDU);
    mpfr_add(b->off[j], b->off[j], b->c, MPFR_RNDU);
    mpfr_add(b->off[j], b->off[j], b->tiny, MPFR_RNDU);

    bound_power(b, 1, j, MPFR_RNDU, b->c);
    mpfr_ui_sub(b->c, 1, b->c, MPFR_RNDD);
    if (mpfr_cmp_d(b->c, 1.0 / 32) < 0) {
        mpfr_set_d(b->c, 1.0 / 32, MPFR_RNDD);
    }
    bound_power(b, 31, j, MPFR_RNDD, b->d);
    mpfr_mul(b->d, b->d, b->c, MPFR_RNDD);
    mpfr_mul(b->c, b->d, b->b, MPFR_RNDD);
    if (mpfr_cmp(b->c, b->a) <= 0) {
        return false; /* wide_subtract: R^31 as it is must exceed R^32 */
    }
    mpfr_mul_ui(b->a, b->off[j], 2, MPFR_RNDU);
    return bound_log(b->a, b->d, b->log[j]);
}

/* The top one: S_i = R^i, i up to `top` at most. Its probabilities are
   R^i (1 - R), i < top, and R^top. */
static bool
bound_top_digit(struct bounds *b, uint32_t j, uint32_t top)
{
    bound_digit_r(b, j, b->a);
    mpfr_add(b->a, b->a, b->unit, MPFR_RNDU);
    mpfr_mul_ui(b->a, b->a, top, MPFR_RNDU);
    mpfr_add(b->off[j], b->a, b->tiny, MPFR_RNDU);

    bound_power(b, top, j, MPFR_RNDD, b->d);
    if (!bound_log(b->off[j], b->d, b->log_last)) {
        return false;
    }
    bound_power(b, 1, j, MPFR_RNDU, b->c);
    mpfr_ui_sub(b->c, 1, b->c, MPFR_RNDD);
    if (mpfr_cmp_d(b->c, 0x1p-54) < 0) {
        return false; /* threshold_from: S_1 < 1 - 2^-55 */
    }
    bound_power(b, top - 1, j, MPFR_RNDD, b->d);
    mpfr_mul(b->d, b->d, b->c, MPFR_RNDD);
    mpfr_mul_ui(b->a, b->off[j], 2, MPFR_RNDU);
    return bound_log(b->a, b->d, b->log[j]);
}

/* ---- A box --------------------------------------------------------------- */

/* Whether `off` < room; and keeps the least distance, in bits. */
static bool
fits_in(mpfr_t off, mpfr_t room, double *least)
{
    double bits;
    if (mpfr_sgn(room) <= 0 || mpfr_cmp(off, room) >= 0) {
        return false;
    }
    bits = (double)(mpfr_get_exp(room) - mpfr_get_exp(off)) - 1;
    *least = bits < *least ? bits : *least;
    return true;
}

/*
 * (L): between x >= 1 and x + 1 at most every digit changes. Between 0 and 1
 * also P(0) = 1 - 2 S_2 = (1-r)/(1+r) and S_2 = r/(1+r) do, both off by
 * 2 (u + v) at most; (1-r)/(1+r) >= (1-r)/2 and r/(1+r) >= r/2.
 */
static bool
holds_lipschitz(struct bounds *b, uint32_t groups, double *least)
{
    mpfr_t sum, part;
    bool holds;
    mpfr_inits2(PRECISION, sum, part, (mpfr_ptr)NULL);
    mpfr_add(b->a, b->unit, b->tiny, MPFR_RNDU);
    mpfr_mul_ui(b->a, b->a, 2, MPFR_RNDU);
    bound_power(b, 1, 0, MPFR_RNDU, b->b);
    mpfr_ui_sub(b->b, 1, b->b, MPFR_RNDD);
    mpfr_div_2ui(b->b, b->b, 1, MPFR_RNDD);
    holds = mpfr_cmp_d(b->b, 0x1p-54) > 0 && bound_log(b->a, b->b, sum);
    bound_power(b, 1, 0, MPFR_RNDD, b->b);
    mpfr_div_2ui(b->b, b->b, 1, MPFR_RNDD);
    holds = holds && bound_log(b->a, b->b, part);
    mpfr_add(sum, sum, part, MPFR_RNDU);
    for (uint32_t j = 0; j < groups; j++) {
        mpfr_mul_ui(part, b->log[j], 2, MPFR_RNDU);
        mpfr_add(sum, sum, part, MPFR_RNDU);
    }
    mpfr_mul_2si(part, b->lambda_down, -60, MPFR_RNDD);
    mpfr_sub(part, part, b->drift, MPFR_RNDD);
    holds = holds && fits_in(sum, part, least);
    mpfr_clears(sum, part, (mpfr_ptr)NULL);
    return holds;
}

/*
 * (T): P(h) / P(X > h) is e^kappa - 1 but for every digit's error and that of
 * R^top, and ln (e^lambda - 1)/(e^kappa - 1) >= ln lambda/kappa >=
 * 1 - kappa/lambda >= 2^-60 - drift/lambda.
 */
static bool
holds_tail(struct bounds *b, uint32_t groups, double *least)
{
    mpfr_t sum, part;
    bool holds;
    mpfr_inits2(PRECISION, sum, part, (mpfr_ptr)NULL);
    mpfr_set(sum, b->log_last, MPFR_RNDU);
    for (uint32_t j = 0; j < groups; j++) {
        mpfr_add(sum, sum, b->log[j], MPFR_RNDU);
    }
    mpfr_div(part, b->drift, b->lambda_down, MPFR_RNDU);
    mpfr_ui_sub(part, 0, part, MPFR_RNDD);
    mpfr_set_ui_2exp(b->a, 1, -60, MPFR_RNDN);
    mpfr_add(part, part, b->a, MPFR_RNDD);
    holds = fits_in(sum, part, least);
    mpfr_clears(sum, part, (mpfr_ptr)NULL);
    return holds;
}

/* ceil(64 l / epsilon) + 2l, as needed_horizon has it. */
static uint64_t
needed(uint64_t l, uint64_t l_t, uint64_t eps)
{
    unsigned __int128 top = (unsigned __int128)64 * l_t * DECIMAL_UNIT;
    return (uint64_t)((top + eps - 1) / eps) + 2 * l;
}

/* All noises of the box whose tables have this many digits. */
static bool
holds_groups(struct bounds *b, uint32_t groups, uint64_t from, uint64_t to,
             double least[2])
{
    uint64_t unit = UINT64_C(1) << (5 * (groups - 1));
    uint64_t most = to < 32 * unit ? to : 32 * unit;
    if (to < from || (groups > 1 && to <= unit) || from > 32 * unit) {
        return true; /* there is none */
    }
    for (uint32_t j = 0; j + 1 < groups; j++) {
        if (!bound_low_digit(b, j)) {
            return false;
        }
    }
    return bound_top_digit(b, groups - 1,
                           (uint32_t)((most + unit - 1) / unit)) &&
           holds_lipschitz(b, groups, &least[0]) &&
           holds_tail(b, groups, &least[1]);
}

static bool
holds_box(struct bounds *b, const struct box *box)
{
    uint64_t from = needed(box->l[0], box->l[0], box->eps[1]);
    uint64_t to = needed(box->l[1], box->l[1], box->eps[0]);
    double least[2] = {least_slack[0], least_slack[1]};
    bound_rate(b, box);
    if (mpfr_sgn(b->kappa_down) <= 0 || to > UINT64_C(1)
                                                 << (5 * DLAPLACE_GROUPS_MAX)) {
        return false;
    }
    for (uint32_t groups = 1; groups <= DLAPLACE_GROUPS_MAX; groups++) {
        if (!holds_groups(b, groups, from, to, least)) {
            return false;
        }
    }
    least_slack[0] = least[0];
    least_slack[1] = least[1];
    return true;
}

/* The middle of a range of whole numbers, by ratio. */
static uint64_t
middle(const uint64_t range[2])
{
    uint64_t low = range[0], high = range[1];
    while (low < high) {
        uint64_t at = low + (high - low) / 2;
        if ((unsigned __int128)at * at <
            (unsigned __int128)range[0] * range[1]) {
            low = at + 1;
        } else {
            high = at;
        }
    }
    return low < range[1] ? low : range[1] - 1;
}

static bool
prove(struct bounds *b, const struct box *box, int depth)
{
    struct box half[2] = {*box, *box};
    uint64_t at;
    if ((double)box->l[1] <= RATIO * (double)box->l[0] &&
        (double)box->eps[1] <= RATIO * (double)box->eps[0] &&
        holds_box(b, box)) {
        boxes++;
        return true;
    }
    if (depth == DEPTH_MAX ||
        (box->l[0] == box->l[1] && box->eps[0] == box->eps[1])) {
        printf("not proven: l %lu to %lu, epsilon %lu to %lu units\n",
               box->l[0], box->l[1], box->eps[0], box->eps[1]);
        return false;
    }
    if ((double)box->l[1] / box->l[0] > (double)box->eps[1] / box->eps[0]) {
        at = middle(box->l);
        half[0].l[1] = at;
        half[1].l[0] = at + 1;
    } else {
        at = middle(box->eps);
        half[0].eps[1] = at;
        half[1].eps[0] = at + 1;
    }
    return prove(b, &half[0], depth + 1) && prove(b, &half[1], depth + 1);
}

/* ---- The code's tables, compared with real values -------------------------
 */

static void
read_threshold(const struct draw_threshold *t, mpfr_t ret)
{
    mpfr_set_ui(ret, t->high, MPFR_RNDN);
    mpfr_mul_2ui(ret, ret, 8, MPFR_RNDN);
    mpfr_add_ui(ret, ret, t->low[6], MPFR_RNDN);
    for (int i = 5; i >= 0; i--) {
        mpfr_mul_2ui(ret, ret, 32, MPFR_RNDN);
        mpfr_add_ui(ret, ret, t->low[i], MPFR_RNDN);
    }
    mpfr_div_2ui(ret, ret, 256, MPFR_RNDN);
}

static void
read_wide(const struct wide *w, mpfr_t ret)
{
    mpfr_set_ui(ret, 0, MPFR_RNDN);
    for (uint32_t i = WIDE_LIMBS; i-- > 0;) {
        mpfr_mul_2ui(ret, ret, 32, MPFR_RNDN);
        mpfr_add_ui(ret, ret, w->limb[i], MPFR_RNDN);
    }
    mpfr_div_2ui(ret, ret, 32 * WIDE_FRACTION, MPFR_RNDN);
}

/* Whether |found - real| <= off, or found = 0 where there must be nothing. */
static bool
lies_near(const struct draw_threshold *found, mpfr_t real, mpfr_t off)
{
    mpfr_t value;
    bool near;
    mpfr_init2(value, EXACT);
    read_threshold(found, value);
    mpfr_sub(value, value, real, MPFR_RNDN);
    near = mpfr_cmpabs(value, off) <= 0;
    mpfr_clear(value);
    return near;
}

/* S_i of digit j, from r as it is. */
static void
real_threshold(mpfr_t r, const struct dlaplace *noise, uint32_t j, uint32_t i,
               mpfr_t ret)
{
    mpfr_t power, last;
    mpfr_inits2(EXACT, power, last, (mpfr_ptr)NULL);
    mpfr_pow_ui(power, r, 1ul << (5 * j), MPFR_RNDN);
    mpfr_pow_ui(ret, power, i, MPFR_RNDN);
    if (j + 1 < noise->groups) {
        mpfr_pow_ui(last, power, 32, MPFR_RNDN);
        mpfr_sub(ret, ret, last, MPFR_RNDN);
        mpfr_ui_sub(last, 1, last, MPFR_RNDN);
        mpfr_div(ret, ret, last, MPFR_RNDN);
    } else if (i > noise->top) {
        mpfr_set_ui(ret, 0, MPFR_RNDN);
    }
    mpfr_clears(power, last, (mpfr_ptr)NULL);
}

static bool
check_point(struct bounds *b, uint32_t l, uint64_t eps)
{
    struct box point = {{l, l}, {eps, eps}};
    struct dlaplace noise;
    uint64_t need = needed(l, l, eps), unit = 1;
    uint32_t first = DRAW_SMALL;
    bool good;
    mpfr_t r, real;
    mpfr_inits2(EXACT, r, real, (mpfr_ptr)NULL);
    dlaplace_init(&noise, l, eps);
    good = holds_box(b, &point);
    for (uint32_t j = 1; j < noise.groups; j++) {
        unit *= 32;
    }
    good = good && noise.horizon >= need && noise.horizon - need < unit &&
           noise.horizon == noise.top * unit &&
           (noise.groups == 1 || need > unit) && noise.top <= 32;
    read_wide(&noise.r, r);
    mpfr_log(real, r, MPFR_RNDN);
    mpfr_neg(real, real, MPFR_RNDN);
    good = good && mpfr_cmp(real, b->kappa_down) >= 0 &&
           mpfr_cmp(real, b->kappa_up) <= 0;
    mpfr_add_ui(real, r, 1, MPFR_RNDN);
    mpfr_div(real, r, real, MPFR_RNDN);
    mpfr_mul_ui(b->a, b->tiny, 2, MPFR_RNDN);
    good = good && lies_near(&noise.threshold[1], real, b->a);
    for (uint32_t j = 0; j < noise.groups; j++, first += DRAW_FULL) {
        for (uint32_t i = 1; i <= DRAW_FULL; i++) {
            real_threshold(r, &noise, j, i, real);
            good = good &&
                   lies_near(&noise.threshold[first + i - 1], real, b->off[j]);
        }
    }
    mpfr_clears(r, real, (mpfr_ptr)NULL);
    return good;
}

/* Points spread evenly over the logarithms, and the corners. */
static bool
check_points(struct bounds *b, const struct box *all, unsigned long points)
{
    unsigned long side = 2;
    while (side * side < points) {
        side++;
    }
    for (unsigned long i = 0; i < side * side; i++) {
        uint64_t at[2];
        const uint64_t *range[2] = {all->l, all->eps};
        for (int k = 0; k < 2; k++) {
            unsigned long step = k == 0 ? i % side : i / side;
            mpfr_set_ui(b->a, range[k][1], MPFR_RNDN);
            mpfr_div_ui(b->a, b->a, range[k][0], MPFR_RNDN);
            mpfr_log(b->a, b->a, MPFR_RNDN);
            mpfr_mul_ui(b->a, b->a, step, MPFR_RNDN);
            mpfr_div_ui(b->a, b->a, side - 1, MPFR_RNDN);
            mpfr_exp(b->a, b->a, MPFR_RNDN);
            mpfr_mul_ui(b->a, b->a, range[k][0], MPFR_RNDN);
            at[k] = mpfr_get_ui(b->a, MPFR_RNDN);
            at[k] = at[k] > range[k][1] ? range[k][1] : at[k];
        }
        if (!check_point(b, (uint32_t)at[0], at[1])) {
            printf("the code's tables leave the bounds: l %lu, epsilon %lu "
                   "units\n",
                   at[0], at[1]);
            return false;
        }
    }
    return true;
}

int
main(int argc, char **argv)
{
    const struct box all = {{1, CHANNEL_L_MAX},
                            {DECIMAL_EPS_MIN, DECIMAL_EPS_MAX}};
    unsigned long points = argc > 1 ? strtoul(argv[1], NULL, 10) : 2500;
    struct bounds *b = (struct bounds *)malloc(sizeof *b);
    bool proven;
    if (b == NULL) {
        return 1;
    }
    init_bounds(b);
    proven = prove(b, &all, 0);
    printf("(L) and (T): %s for l 1 to %u, epsilon 0.000001 to 32: %lu boxes, "
           "least slack %.0f and %.0f bits\n",
           proven ? "proven" : "NOT proven", CHANNEL_L_MAX, boxes,
           least_slack[0], least_slack[1]);
    proven = proven && check_points(b, &all, points);
    printf("tables of the code within the bounds: %s, %lu points\n",
           proven ? "yes" : "no", points);
    printf("%.1f s\n", (double)clock() / CLOCKS_PER_SEC);
    free(b);
    return proven ? 0 : 1;
}
