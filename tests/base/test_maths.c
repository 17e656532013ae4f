/*
 * test_maths.c: the freestanding real functions against MPFR, and those that
 * choose by masks against the same with branches, bit by bit.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <mpfr.h>

#include "base/maths.h"
#include "random/seeded.h"

#define TIMES 200000

static uint64_t
bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* |ours - truth| in units of the truth's last place. */
static double
units_off(double ours, double x,
          int (*function)(mpfr_t, mpfr_srcptr, mpfr_rnd_t))
{
    mpfr_t truth;
    double nearest, off;
    mpfr_init2(truth, 128);
    mpfr_set_d(truth, x, MPFR_RNDN);
    function(truth, truth, MPFR_RNDN);
    nearest = mpfr_get_d(truth, MPFR_RNDN);
    mpfr_d_sub(truth, ours, truth, MPFR_RNDN);
    off = fabs(mpfr_get_d(truth, MPFR_RNDN)) /
          (nextafter(fabs(nearest), INFINITY) - fabs(nearest));
    mpfr_clear(truth);
    return off;
}

/* Uniform in [-1, 1). */
static double
draw_signed(struct seeded *seeded)
{
    return (double)random_u56(&seeded->random) * 0x1p-55 - 1;
}

static void
test_exp_is_within_three_units(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 15, 0);
    for (int i = 0; i < TIMES; i++) {
        double x = 707 * draw_signed(&seeded) * ldexp(1, -(i % 40));
        assert_true(units_off(maths_exp(x), x, mpfr_exp) <= 3);
    }
}

static void
test_exp_at_the_ends(void **state)
{
    (void)state;
    assert_true(maths_exp(0) == 1);
    assert_true(maths_exp(-0.0) == 1);
    assert_true(maths_exp(710) == INFINITY);
    assert_true(maths_exp(INFINITY) == INFINITY);
    assert_true(maths_exp(DBL_MAX) == INFINITY);
    assert_true(maths_exp(-710) == 0);
    assert_true(maths_exp(-INFINITY) == 0);
    assert_true(maths_exp(-DBL_MAX) == 0);
    assert_true(isnan(maths_exp(NAN)));
    assert_true(maths_exp(DBL_MIN) == 1);
}

static void
test_log_is_within_three_units(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 16, 0);
    for (int i = 0; i < TIMES; i++) {
        double x = ldexp(2 + draw_signed(&seeded), i % 2090 - 1074);
        double near = 1 + draw_signed(&seeded) * ldexp(1, -(i % 50) - 1);
        assert_true(units_off(maths_log(x), x, mpfr_log) <= 3);
        assert_true(near == 1 ||
                    units_off(maths_log(near), near, mpfr_log) <= 3);
    }
    assert_true(maths_log(1) == 0);
    assert_true(units_off(maths_log(DBL_MAX), DBL_MAX, mpfr_log) <= 3);
    assert_true(units_off(maths_log(DBL_TRUE_MIN), DBL_TRUE_MIN, mpfr_log) <=
                3);
}

/* Whatever the sign. What 1 + |x| rounds away is not the logarithm's. */
static void
test_signed_log(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 17, 0);
    for (int i = 0; i < TIMES; i++) {
        double x = ldexp(2 + draw_signed(&seeded), i % 1078 - 56);
        double y = maths_log_signed(x);
        if (1 + x > 1) {
            assert_true(units_off(y, 1 + x, mpfr_log) <= 3);
        }
        assert_true(maths_log_signed(-x) == -y);
    }
    for (uint64_t j = 0; j < 2000; j++) { /* around the root of two */
        double x;
        uint64_t bits = bits_of(0x1.6a09e667f3bcdp0) + j - 1000;
        memcpy(&x, &bits, sizeof x);
        assert_true(maths_log_signed(x - 1) == maths_log(1 + (x - 1)));
    }
}

/* Never a NaN, never an infinity: what they count as is the caller's. */
static void
test_signed_log_at_the_ends(void **state)
{
    (void)state;
    assert_true(maths_log_signed(0) == 0);
    assert_true(maths_log_signed(-0.0) == 0);
    assert_true(maths_log_signed(0x1p-480) == 0);
    assert_true(maths_log_signed(-0x1p-54) == 0);
    assert_true(maths_log_signed(0x1p-52) > 0);
    assert_true(units_off(maths_log_signed(DBL_MAX), DBL_MAX, mpfr_log) <= 3);
    assert_true(isfinite(maths_log_signed(INFINITY)));
    assert_true(isfinite(maths_log_signed(-INFINITY)));
    assert_true(isfinite(maths_log_signed(NAN)));
    assert_true(isfinite(maths_log_signed(-NAN)));
}

static void
test_activations(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 17, 0);
    for (int i = 0; i < TIMES; i++) {
        float x = (float)(80 * draw_signed(&seeded) * ldexp(1, -(i % 30)));
        double sigmoid = 1 / (1 + exp(-(double)x));
        assert_true(maths_relu(x) == (x > 0 ? x : 0));
        assert_true(fabs(maths_sigmoid(x) - sigmoid) <= 1e-7 * sigmoid);
        assert_true(fabs(maths_tanh(x) - tanh((double)x)) <= 1e-7);
    }
}

static void
test_activations_at_the_ends(void **state)
{
    (void)state;
    assert_true(maths_relu(-INFINITY) == 0);
    assert_true(maths_relu(INFINITY) == INFINITY);
    assert_true(maths_sigmoid(-INFINITY) == 0);
    assert_true(maths_sigmoid(INFINITY) == 1);
    assert_true(maths_sigmoid(-FLT_MAX) == 0);
    assert_true(maths_sigmoid(0) == 0.5f);
    assert_true(maths_tanh(INFINITY) == 1);
    assert_true(maths_tanh(-INFINITY) == -1);
    assert_true(maths_tanh(0) == 0);
    assert_true(isnan(maths_sigmoid(NAN)));
    assert_true(isnan(maths_tanh(NAN)));
}

/* ---- Masks against branches ----------------------------------------------
 */

static double
from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* In every bit, but for the sign of a NaN: the compilers differ on it. */
static bool
same_float(float a, float b)
{
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

static double
plain_exp(double x)
{
    const double high = 0x1.62e42fefa0000p-1, low = 0x1.cf79abc9e3b3ap-40;
    double r, sum = 1;
    int k;
    if (x != x) {
        return x;
    }
    if (x > 709.7) {
        return INFINITY;
    }
    if (x < -708) {
        return 0;
    }
    k = (int)(x * 0x1.71547652b82fep0 + (x < 0 ? -0.5 : 0.5));
    r = (x - k * high) - k * low;
    for (int i = 14; i > 0; i--) {
        sum = 1 + r * sum / i;
    }
    return sum * from_bits((uint64_t)(k / 2 + 1023) << 52) *
           from_bits((uint64_t)(k - k / 2 + 1023) << 52);
}

static void
check_exp(uint64_t bits)
{
    double x = from_bits(bits);
    if (bits_of(maths_exp(x)) != bits_of(plain_exp(x))) {
        fail_msg("exp(%a): %a, not %a", x, maths_exp(x), plain_exp(x));
    }
}

/* Any bits at all; every exponent; a thousand doubles either side of each end
   and of each place where k steps. */
static void
test_exp_is_the_plain_one(void **state)
{
    static const double ends[] = {709.7,
                                  -708,
                                  DBL_MAX,
                                  DBL_MIN,
                                  -DBL_MIN,
                                  INFINITY,
                                  0x1.62e42fefa39efp-2,
                                  -0x1.62e42fefa39efp-2};
    const uint64_t sign = UINT64_C(1) << 63;
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 18, 0);
    for (int i = 0; i < TIMES; i++) {
        uint64_t bits = (uint64_t)random_u32(&seeded.random) << 32;
        check_exp(bits | random_u32(&seeded.random));
        check_exp(bits_of(720 * draw_signed(&seeded)));
    }
    for (uint64_t exponent = 0; exponent < 4096; exponent++) {
        check_exp(exponent << 52);
        check_exp((exponent << 52) + 1);
        check_exp((exponent << 52) - 1);
        check_exp(exponent << 52 | UINT64_C(0x8000000000000));
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        for (uint64_t j = 0; j < 2000; j++) {
            check_exp(bits_of(ends[i]) + j - 1000);
            check_exp((bits_of(ends[i]) ^ sign) + j - 1000);
        }
    }
    for (int k = -1024; k <= 1024; k++) {
        uint64_t bits = bits_of((k + 0.5) * 0x1.62e42fefa39efp-1);
        for (uint64_t j = 0; j < 10; j++) {
            check_exp(bits + j - 5);
        }
    }
}

static void
check_activations(uint32_t bits)
{
    float x, relu, sigmoid, tangent;
    memcpy(&x, &bits, sizeof x);
    relu = x > 0 ? x : 0;
    sigmoid = x < -87 ? 0 : (float)(1 / (1 + plain_exp(-(double)x)));
    tangent = (float)(1 - 2 / (plain_exp(2 * (double)x) + 1));
    if (!same_float(maths_relu(x), relu) ||
        !same_float(maths_sigmoid(x), sigmoid) ||
        !same_float(maths_tanh(x), tangent)) {
        fail_msg("activation of %a", (double)x);
    }
}

/* One float of 4,099, and all around the ends. */
static void
test_activations_are_the_plain_ones(void **state)
{
    static const uint32_t ends[] = {0, 0x7f800000, 0x7fc00000, 0x00800000,
                                    0x42ae0000 /* 87 */};
    (void)state;
    for (uint32_t i = 0; i < UINT32_MAX / 4099; i++) {
        check_activations(4099 * i);
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        for (uint32_t j = 0; j < 2000; j++) {
            check_activations(ends[i] + j - 1000);
            check_activations((ends[i] ^ 0x80000000) + j - 1000);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp_is_within_three_units),
        cmocka_unit_test(test_exp_at_the_ends),
        cmocka_unit_test(test_log_is_within_three_units),
        cmocka_unit_test(test_signed_log),
        cmocka_unit_test(test_signed_log_at_the_ends),
        cmocka_unit_test(test_activations),
        cmocka_unit_test(test_activations_at_the_ends),
        cmocka_unit_test(test_exp_is_the_plain_one),
        cmocka_unit_test(test_activations_are_the_plain_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
