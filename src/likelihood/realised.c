/*
 * realised.c: the epsilon of a channel's tables, as they will be drawn.
 *
 * MPFR does the arithmetic, on the stack: sums, products and quotients of 640
 * bits do not take memory from the heap (tests/likelihood/test_realised.c
 * watches the allocator). Thresholds, their differences and their products with
 * a small integer are exact.
 */
#include "likelihood/realised.h"

#define MPFR_USE_INTMAX_T
#include <mpfr.h>

#include "base/decimal.h"

#define PRECISION 640
#define MOST (2 * DECIMAL_EPS_MAX) /* units: more is NONE */
#define HALVINGS 16                /* of an exponent before its series */
#define TERMS 60                   /* (64 2^-16)^60 / 60! < 2^-800 */
#define SLACK (-600)               /* below 100 roundings to nearest */
#define NEAR (-240)

/* A number and the memory of its digits. It must not be copied or moved. */
struct number {
    mpfr_t value;
    mp_limb_t limb[PRECISION / GMP_NUMB_BITS];
};

#define INIT(...) init_numbers((struct number *const[]){__VA_ARGS__, NULL})

static void
init_numbers(struct number *const *x)
{
    for (; *x != NULL; x++) {
        mpfr_custom_init((*x)->limb, PRECISION);
        mpfr_custom_init_set((*x)->value, MPFR_ZERO_KIND, 0, PRECISION,
                             (*x)->limb);
    }
}

/* ---- Exponentials and logarithms ---------------------------------------- */

/* A lower bound of e^(numerator / denominator), at most 64, within 2^-600 of it
   relatively: all terms are positive, and all roundings go down. */
static void
set_exp(mpfr_ptr ret, uint64_t numerator, uint64_t denominator)
{
    struct number x, term;
    INIT(&x, &term);
    (void)mpfr_set_uj(x.value, numerator, MPFR_RNDN);      /* exact */
    (void)mpfr_set_uj(term.value, denominator, MPFR_RNDN); /* exact */
    (void)mpfr_div(x.value, x.value, term.value, MPFR_RNDD);
    (void)mpfr_div_2ui(x.value, x.value, HALVINGS, MPFR_RNDD);
    (void)mpfr_set_ui(term.value, 1, MPFR_RNDN);
    (void)mpfr_set_ui(ret, 1, MPFR_RNDN);
    for (unsigned long k = 1; k < TERMS; k++) {
        (void)mpfr_mul(term.value, term.value, x.value, MPFR_RNDD);
        (void)mpfr_div_ui(term.value, term.value, k, MPFR_RNDD);
        (void)mpfr_add(ret, ret, term.value, MPFR_RNDD);
    }
    for (int i = 0; i < HALVINGS; i++) {
        (void)mpfr_mul(ret, ret, ret, MPFR_RNDD);
    }
}

/* Whether e^units is not below the ratio. */
static bool
is_enough(mpfr_srcptr ratio, uint64_t units)
{
    struct number power;
    INIT(&power);
    set_exp(power.value, units, DECIMAL_UNIT);
    return mpfr_cmp(ratio, power.value) <= 0;
}

/* The least number of units that is enough; `stated` is where it should be. */
static uint64_t
round_log_up(mpfr_srcptr ratio, uint64_t stated)
{
    uint64_t low = 0, high = MOST;
    if (mpfr_number_p(ratio) == 0 || !is_enough(ratio, MOST)) {
        return REALISED_NONE;
    }
    if (is_enough(ratio, stated)) {
        high = stated;
        low = stated > 0 && !is_enough(ratio, stated - 1) ? stated : 0;
    }
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (is_enough(ratio, middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return high;
}

/* ---- Tables -------------------------------------------------------------- */

/* S_i of a table, i >= 1; exact. */
static void
set_threshold(mpfr_ptr ret, const struct draw_threshold *table, uint32_t i)
{
    const struct draw_threshold *t = &table[i - 1];
    (void)mpfr_set_uj(ret, t->high, MPFR_RNDN);
    (void)mpfr_mul_2ui(ret, ret, 8, MPFR_RNDN);
    (void)mpfr_add_ui(ret, ret, t->low[6], MPFR_RNDN);
    for (int j = 5; j >= 0; j--) {
        (void)mpfr_mul_2ui(ret, ret, 32, MPFR_RNDN);
        (void)mpfr_add_ui(ret, ret, t->low[j], MPFR_RNDN);
    }
    (void)mpfr_div_2ui(ret, ret, 256, MPFR_RNDN);
}

/* Symbol i's probability, S_i - S_(i+1), in a table of n thresholds in use;
   exact. */
static void
set_weight(mpfr_ptr ret, const struct draw_threshold *table, uint32_t n,
           uint32_t i)
{
    struct number next;
    INIT(&next);
    (void)mpfr_set_ui(ret, 1, MPFR_RNDN);
    if (i > 0) {
        set_threshold(ret, table, i);
    }
    if (i < n) {
        set_threshold(next.value, table, i + 1);
        (void)mpfr_sub(ret, ret, next.value, MPFR_RNDN);
    }
}

/* Whether thresholds n+1 to `size` are 0: no symbol beyond n is drawn. */
static bool
ends_at(const struct draw_threshold *table, uint32_t n, uint32_t size)
{
    struct number rest;
    bool empty = true;
    INIT(&rest);
    for (uint32_t i = n + 1; i <= size; i++) {
        set_threshold(rest.value, table, i);
        empty = empty && mpfr_zero_p(rest.value) != 0;
    }
    return empty;
}

/* Raises `most` to a/b and to b/a; to infinity if one of them is not above
   0. */
static void
note_ratio(mpfr_ptr most, mpfr_srcptr a, mpfr_srcptr b)
{
    struct number ratio;
    INIT(&ratio);
    if (mpfr_sgn(a) <= 0 || mpfr_sgn(b) <= 0) {
        mpfr_set_inf(most, 1);
        return;
    }
    (void)mpfr_div(ratio.value, a, b, MPFR_RNDU);
    (void)mpfr_max(most, most, ratio.value, MPFR_RNDU);
    (void)mpfr_div(ratio.value, b, a, MPFR_RNDU);
    (void)mpfr_max(most, most, ratio.value, MPFR_RNDU);
}

/* ---- One coin ------------------------------------------------------------ */

uint64_t
realised_odds(const struct odds *odds, uint32_t m, uint32_t n, uint64_t stated)
{
    struct number in, out, most;
    INIT(&in, &out, &most);
    set_weight(in.value, odds->threshold, 1, 1);
    set_weight(out.value, odds->threshold, 1, 0);
    (void)mpfr_mul_ui(in.value, in.value, n, MPFR_RNDN);
    (void)mpfr_mul_ui(out.value, out.value, m, MPFR_RNDN);
    note_ratio(most.value, in.value, out.value);
    return ends_at(odds->threshold, 1, DRAW_SMALL)
               ? round_log_up(most.value, stated)
               : REALISED_NONE;
}

uint64_t
realised_signs(const struct draw_threshold *tables, bool ties, uint64_t stated)
{
    struct number in, out, tie, most;
    INIT(&in, &out, &tie, &most);
    set_weight(in.value, tables, 1, 1);
    set_weight(out.value, tables, 1, 0);
    note_ratio(most.value, in.value, out.value);
    if (ties) {
        set_weight(tie.value, tables + DRAW_SMALL, 1, 1);
        (void)mpfr_div_2ui(tie.value, tie.value, 1, MPFR_RNDN);
        note_ratio(most.value, tie.value, in.value);
        note_ratio(most.value, tie.value, out.value);
    }
    return ends_at(tables, 1, DRAW_SMALL) &&
                   ends_at(tables + DRAW_SMALL, 1, DRAW_SMALL)
               ? round_log_up(most.value, stated)
               : REALISED_NONE;
}

/* ---- Discrete Laplace noise ---------------------------------------------- */

static const struct draw_threshold *
digit_table(const struct dlaplace *noise, uint32_t j)
{
    return noise->threshold + DRAW_SMALL + (size_t)j * DRAW_FULL;
}

/* Thresholds in use for digit j: the top one counts to `top`. */
static uint32_t
digit_size(const struct dlaplace *noise, uint32_t j)
{
    return j + 1 < noise->groups ? DLAPLACE_RADIX - 1 : noise->top;
}

/* Whether plus and minus weigh the same and every table ends where it should:
   the shape that dlaplace_draw takes for granted. */
static bool
has_shape(const struct dlaplace *noise)
{
    struct number any, minus;
    uint64_t unit = 1;
    bool good = noise->groups >= 1 && noise->groups <= DLAPLACE_GROUPS_MAX &&
                noise->top >= 1 && noise->top <= DLAPLACE_RADIX &&
                noise->count == DRAW_SMALL + noise->groups * DRAW_FULL;
    INIT(&any, &minus);
    set_threshold(any.value, noise->threshold, 1);
    set_threshold(minus.value, noise->threshold, 2);
    (void)mpfr_mul_2ui(minus.value, minus.value, 1, MPFR_RNDN);
    good = good && mpfr_equal_p(any.value, minus.value) != 0 &&
           ends_at(noise->threshold, 2, DRAW_SMALL);
    for (uint32_t j = 0; good && j < noise->groups; j++) {
        good = ends_at(digit_table(noise, j), digit_size(noise, j), DRAW_FULL);
        unit *= j > 0 ? DLAPLACE_RADIX : 1;
    }
    return good && noise->horizon == noise->top * unit;
}

/* Steps from x to x + 1 that raise digit j: the digits below it, whose products
   at 31 and at 0 are `full` and `empty`, go back to 0. */
static void
note_steps(mpfr_ptr most, const struct dlaplace *noise, uint32_t j,
           mpfr_srcptr full, mpfr_srcptr empty)
{
    const struct draw_threshold *table = digit_table(noise, j);
    uint32_t size = digit_size(noise, j);
    uint32_t last = j + 1 < noise->groups ? size : size - 1;
    struct number here, there;
    INIT(&here, &there);
    for (uint32_t i = 0; i < last; i++) {
        set_weight(here.value, table, size, i);
        set_weight(there.value, table, size, i + 1);
        (void)mpfr_mul(here.value, here.value, full, MPFR_RNDN);
        (void)mpfr_mul(there.value, there.value, empty, MPFR_RNDN);
        note_ratio(most, here.value, there.value);
    }
}

/* Multiplies by the weight of digit j's value i. */
static void
multiply_weight(mpfr_ptr product, const struct dlaplace *noise, uint32_t j,
                uint32_t i)
{
    struct number weight;
    INIT(&weight);
    set_weight(weight.value, digit_table(noise, j), digit_size(noise, j), i);
    (void)mpfr_mul(product, product, weight.value, MPFR_RNDN);
}

/* The largest of all e^lambda that (L) and (T) ask for. */
static void
set_step(mpfr_ptr most, const struct dlaplace *noise)
{
    uint32_t top = noise->groups - 1;
    struct number full, empty, x, one;
    INIT(&full, &empty, &x, &one);
    (void)mpfr_set_ui(full.value, 1, MPFR_RNDN);
    (void)mpfr_set_ui(empty.value, 1, MPFR_RNDN);
    (void)mpfr_set_ui(one.value, 1, MPFR_RNDN);
    for (uint32_t j = 0; j <= top; j++) {
        note_steps(most, noise, j, full.value, empty.value);
        multiply_weight(full.value, noise, j,
                        j < top ? DLAPLACE_RADIX - 1 : noise->top - 1);
        multiply_weight(empty.value, noise, j, 0);
    }
    set_threshold(x.value, noise->threshold, 2); /* P(1) = S_2 ... */
    (void)mpfr_mul(empty.value, empty.value, x.value, MPFR_RNDN);
    set_weight(x.value, noise->threshold, 2, 0);
    note_ratio(most, x.value, empty.value);
    (void)mpfr_set_ui(x.value, 1, MPFR_RNDN); /* P(X > h) over S_2 */
    multiply_weight(x.value, noise, top, noise->top);
    (void)mpfr_add(full.value, full.value, x.value, MPFR_RNDN);
    note_ratio(most, full.value, x.value);
}

uint64_t
realised_laplace(const struct dlaplace *noise, uint32_t l, uint64_t stated)
{
    struct number most, power;
    if (!has_shape(noise)) {
        return REALISED_NONE;
    }
    INIT(&most, &power);
    set_step(most.value, noise);
    (void)mpfr_set_ui_2exp(power.value, 1, SLACK, MPFR_RNDN);
    (void)mpfr_add_ui(power.value, power.value, 1, MPFR_RNDU);
    (void)mpfr_mul(most.value, most.value, power.value, MPFR_RNDU);
    (void)mpfr_set_ui(power.value, 1, MPFR_RNDN);
    for (uint32_t n = 2 * l; n > 0; n >>= 1) {
        if ((n & 1) != 0) {
            (void)mpfr_mul(power.value, power.value, most.value, MPFR_RNDU);
        }
        (void)mpfr_mul(most.value, most.value, most.value, MPFR_RNDU);
    }
    return round_log_up(power.value, stated);
}

/* ---- Discrete Gaussian noise --------------------------------------------- */

static bool
is_near(const struct draw_threshold *table, uint32_t i, mpfr_srcptr truth)
{
    struct number off;
    INIT(&off);
    set_threshold(off.value, table, i);
    (void)mpfr_sub(off.value, off.value, truth, MPFR_RNDN);
    (void)mpfr_abs(off.value, off.value, MPFR_RNDN);
    return mpfr_cmp_ui_2exp(off.value, 1, NEAR) < 0;
}

static void
raise_32(mpfr_ptr ret, mpfr_srcptr x)
{
    (void)mpfr_set(ret, x, MPFR_RNDN);
    for (int i = 0; i < 5; i++) {
        (void)mpfr_mul(ret, ret, ret, MPFR_RNDN);
    }
}

/* Whether S_i = (R^i - last) / (1 - last) for n thresholds; leaves R^32 in
   `r`. */
static bool
are_powers(const struct draw_threshold *table, uint32_t n, mpfr_ptr r,
           mpfr_srcptr last)
{
    struct number power, truth, scale;
    bool near = true;
    INIT(&power, &truth, &scale);
    (void)mpfr_set(power.value, r, MPFR_RNDN);
    (void)mpfr_ui_sub(scale.value, 1, last, MPFR_RNDN);
    for (uint32_t i = 1; i <= n; i++) {
        (void)mpfr_sub(truth.value, power.value, last, MPFR_RNDN);
        (void)mpfr_div(truth.value, truth.value, scale.value, MPFR_RNDN);
        near = is_near(table, i, truth.value) && near;
        (void)mpfr_mul(power.value, power.value, r, MPFR_RNDN);
    }
    raise_32(r, r);
    return near && ends_at(table, n, DRAW_FULL);
}

/* The proposal: discrete Laplace noise with r = e^(-256/t). */
static bool
is_proposal(const struct dlaplace *noise, uint32_t t)
{
    struct number r, x, last;
    bool near = has_shape(noise);
    INIT(&r, &x, &last);
    set_exp(r.value, DGAUSS_UNIT, t);
    (void)mpfr_add_ui(x.value, r.value, 1, MPFR_RNDN); /* 1/x = r/(1+r) */
    (void)mpfr_ui_div(x.value, 1, x.value, MPFR_RNDN);
    (void)mpfr_ui_div(r.value, 1, r.value, MPFR_RNDN);
    near = near && is_near(noise->threshold, 2, x.value);
    for (uint32_t j = 0; near && j < noise->groups; j++) {
        (void)mpfr_set_ui(last.value, 0, MPFR_RNDN);
        if (j + 1 < noise->groups) {
            raise_32(last.value, r.value);
        }
        near = are_powers(digit_table(noise, j), digit_size(noise, j), r.value,
                          last.value);
    }
    return near;
}

bool
realised_gaussian(const struct dgauss *noise)
{
    uint64_t square = (uint64_t)noise->t * noise->t;
    struct number r, zero;
    bool near = noise->t >= DGAUSS_T_MIN && noise->t <= DGAUSS_T_MAX &&
                noise->digits <= DGAUSS_DIGITS_MAX &&
                16 * noise->noise.horizon >= noise->t &&
                is_proposal(&noise->noise, noise->t);
    INIT(&r, &zero);
    set_exp(r.value, 1, 2 * square);
    (void)mpfr_ui_div(r.value, 1, r.value, MPFR_RNDN);
    for (uint32_t j = 0; near && j < noise->digits; j++) {
        near = are_powers(noise->threshold + (size_t)j * DRAW_FULL,
                          DRAW_FULL - 1, r.value, zero.value);
    }
    return near;
}
