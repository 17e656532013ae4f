/*
 * real.c: real numbers of 256 bits whose every rounding has a known side.
 */
#include "privacy/real.h"

#include "base/decimal.h"
#include "base/wide.h"

#define EXP_STEP DECIMAL_EPS_MAX /* in units: what wide_exp takes at once */
#define LN2_DOWN UINT64_C(693147180559) /* ln 2 in units, rounded down */
#define EXP_SLACK_BITS 200 /* real_exp_down is nearer than 2^-this */

void
real_init(struct real *const *x)
{
    for (; *x != NULL; x++) {
        mpfr_custom_init((*x)->limb, REAL_PRECISION);
        mpfr_custom_init_set((*x)->value, MPFR_ZERO_KIND, 0, REAL_PRECISION,
                             (*x)->limb);
    }
}

void
real_set_units(mpfr_ptr ret, uint64_t units, mpfr_rnd_t side)
{
    struct real unit;
    REAL_INIT(&unit);
    (void)mpfr_set_uj(unit.value, DECIMAL_UNIT, MPFR_RNDN); /* exact */
    (void)mpfr_set_uj(ret, units, MPFR_RNDN);               /* exact */
    (void)mpfr_div(ret, ret, unit.value, side);
}

/* mpfr_get_uj would use the heap. In halves, which doubles hold exactly. */
static uint64_t
to_integer(mpfr_srcptr x)
{
    struct real high, low;
    REAL_INIT(&high, &low);
    (void)mpfr_div_2ui(high.value, x, 32, MPFR_RNDN); /* exact */
    (void)mpfr_rint(high.value, high.value, MPFR_RNDD);
    (void)mpfr_mul_2ui(low.value, high.value, 32, MPFR_RNDN);
    (void)mpfr_sub(low.value, x, low.value, MPFR_RNDN);
    return ((uint64_t)mpfr_get_d(high.value, MPFR_RNDN) << 32) +
           (uint64_t)mpfr_get_d(low.value, MPFR_RNDN);
}

uint64_t
real_units_up(mpfr_srcptr x)
{
    struct real scaled, most;
    if (mpfr_sgn(x) <= 0) {
        return 0;
    }
    REAL_INIT(&scaled, &most);
    (void)mpfr_set_uj(most.value, DECIMAL_UNIT, MPFR_RNDN);
    (void)mpfr_mul(scaled.value, x, most.value, MPFR_RNDU);
    (void)mpfr_rint(scaled.value, scaled.value, MPFR_RNDU);
    (void)mpfr_set_uj(most.value, UINT64_MAX, MPFR_RNDN);
    if (mpfr_cmp(scaled.value, most.value) >= 0) {
        return UINT64_MAX;
    }
    return to_integer(scaled.value);
}

/* By squaring: every factor is on the asked side, so the product is. */
void
real_power(mpfr_ptr ret, mpfr_srcptr x, uint32_t n, mpfr_rnd_t side)
{
    struct real square;
    REAL_INIT(&square);
    (void)mpfr_set(square.value, x, side);
    (void)mpfr_set_ui(ret, 1, side);
    for (; n > 0; n >>= 1) {
        if ((n & 1) != 0) {
            (void)mpfr_mul(ret, ret, square.value, side);
        }
        (void)mpfr_mul(square.value, square.value, square.value, side);
    }
}

/* e^(units / 10^12) for at most EXP_STEP units. */
static void
exp_step_down(mpfr_ptr ret, uint64_t units)
{
    struct wide x, power;
    struct real limb;
    wide_ratio(units, DECIMAL_UNIT, &x);
    wide_exp(&x, &power);
    REAL_INIT(&limb);
    (void)mpfr_set_ui(ret, 0, MPFR_RNDD);
    for (uint32_t i = WIDE_LIMBS; i-- > 0;) {
        (void)mpfr_set_ui(limb.value, power.limb[i], MPFR_RNDN);
        (void)mpfr_mul_2si(limb.value, limb.value,
                           32 * ((long)i - (long)WIDE_FRACTION), MPFR_RNDN);
        (void)mpfr_add(ret, ret, limb.value, MPFR_RNDD);
    }
}

/*
 * e^x = (e^32)^m e^rest. With m < 2^20 the power's squarings and products
 * lose less than 2^20 2^-250 relatively: see EXP_SLACK_BITS.
 */
static void
exp_down(mpfr_ptr ret, uint64_t units, mpfr_srcptr step)
{
    struct real rest;
    REAL_INIT(&rest);
    exp_step_down(rest.value, units % EXP_STEP);
    real_power(ret, step, (uint32_t)(units / EXP_STEP), MPFR_RNDD);
    (void)mpfr_mul(ret, ret, rest.value, MPFR_RNDD);
}

void
real_exp_down(mpfr_ptr ret, uint64_t units)
{
    struct real step;
    REAL_INIT(&step);
    if (units >= EXP_STEP) {
        exp_step_down(step.value, EXP_STEP);
    }
    exp_down(ret, units, step.value);
}

void
real_exp_up(mpfr_ptr ret, uint64_t units)
{
    struct real more;
    REAL_INIT(&more);
    real_exp_down(ret, units);
    (void)mpfr_div_2ui(more.value, ret, EXP_SLACK_BITS, MPFR_RNDU);
    (void)mpfr_add(ret, ret, more.value, MPFR_RNDU);
}

/* times * each, or `most` if that is less. */
static uint64_t
multiple(uint64_t times, uint64_t each, uint64_t most)
{
    return times > most / each ? most : times * each;
}

/*
 * The least u with a lower bound of e^u at x or above: then e^u >= x. With
 * 2^(n-1) <= x < 2^n it is looked for between multiples of ln 2, so that the
 * work is some 40 exponentials, whatever x and `most` are.
 */
uint64_t
real_log_up(mpfr_srcptr x, uint64_t most)
{
    struct real power, step;
    if (mpfr_cmp_ui(x, 1) <= 0) {
        return 0;
    }
    uint64_t n = (uint64_t)mpfr_get_exp(x);
    uint64_t low = multiple(n - 1, LN2_DOWN, most);
    uint64_t high = multiple(n, LN2_DOWN + 1, most);
    REAL_INIT(&power, &step);
    exp_step_down(step.value, EXP_STEP);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        exp_down(power.value, middle, step.value);
        if (mpfr_cmp(power.value, x) >= 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return high;
}
