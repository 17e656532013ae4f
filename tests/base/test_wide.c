/*
 * test_wide.c: fixed-point arithmetic against GMP, and e^x against MPFR.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <gmp.h>
#include <mpfr.h>

#include "base/wide.h"
#include "random/seeded.h"

#define FRACTION (32 * WIDE_FRACTION)
#define PRECISION 512
#define TIMES 20000

/* The number times 2^320. */
static void
exact(const struct wide *a, mpz_t ret)
{
    mpz_import(ret, WIDE_LIMBS, -1, sizeof a->limb[0], 0, 0, a->limb);
}

static void
check_equal(const struct wide *a, mpz_srcptr expected)
{
    mpz_t value;
    mpz_init(value);
    exact(a, value);
    assert_int_equal(mpz_cmp(value, expected), 0);
    mpz_clear(value);
}

/* A number of random size below 2^bits, bits > 0 counted from the point. */
static void
draw(struct seeded *seeded, uint32_t bits, struct wide *ret)
{
    uint32_t drop = random_u32(&seeded->random) % 300;
    for (uint32_t i = 0; i < WIDE_LIMBS; i++) {
        ret->limb[i] = random_u32(&seeded->random);
        if (random_u32(&seeded->random) % 8 == 0) {
            ret->limb[i] = 0 - (random_u32(&seeded->random) & 1);
        }
    }
    wide_shift(ret, 64 - bits + drop % (200 + bits), ret);
}

static void
test_sums_products_and_shifts(void **state)
{
    struct seeded seeded;
    mpz_t x, y, z;
    (void)state;
    mpz_inits(x, y, z, NULL);
    seeded_init(&seeded, 11, 0);
    for (int i = 0; i < TIMES; i++) {
        struct wide a, b, c;
        uint32_t m = random_u32(&seeded.random), bits = m % 384;
        draw(&seeded, 32, &a);
        draw(&seeded, 31, &b);
        exact(&a, x);
        exact(&b, y);
        mpz_add(z, x, y);
        wide_add(&a, &b, &c);
        check_equal(&c, z);
        wide_subtract(&c, &b, &c);
        check_equal(&c, x);
        mpz_mul(z, x, y);
        mpz_fdiv_q_2exp(z, z, FRACTION);
        wide_multiply(&a, &b, &c);
        check_equal(&c, z);
        mpz_mul_ui(z, x, m);
        wide_scale(&a, m, &c);
        check_equal(&c, z);
        mpz_fdiv_q_2exp(z, x, bits);
        wide_shift(&a, bits, &a); /* in place, too */
        check_equal(&a, z);
    }
    mpz_clears(x, y, z, NULL);
}

static void
test_quotients_round_down(void **state)
{
    struct seeded seeded;
    mpz_t x, y;
    (void)state;
    mpz_inits(x, y, NULL);
    seeded_init(&seeded, 12, 0);
    for (int i = 0; i < 2000; i++) {
        struct wide a, b;
        draw(&seeded, 32, &a);
        draw(&seeded, 63, &b);
        if (i % 2 == 0) {
            b.limb[WIDE_FRACTION] |= 1; /* at least one */
        }
        exact(&a, x);
        exact(&b, y);
        if (mpz_sgn(y) == 0) {
            continue;
        }
        mpz_mul_2exp(x, x, FRACTION);
        mpz_fdiv_q(x, x, y);
        if (mpz_sizeinbase(x, 2) <= 32 * WIDE_LIMBS) {
            wide_divide(&a, &b, &a);
            check_equal(&a, x);
        }
    }
    mpz_clears(x, y, NULL);
}

static void
test_ratios_round_down(void **state)
{
    static const uint64_t number[] = {0,
                                      1,
                                      2,
                                      3,
                                      7,
                                      10,
                                      4294967295,
                                      4294967296,
                                      1000000000000,
                                      (UINT64_C(1) << 63) - 1};
    const size_t count = sizeof number / sizeof number[0];
    mpz_t x;
    (void)state;
    mpz_init(x);
    for (size_t i = 0; i < count * count; i++) {
        uint64_t a = number[i / count], b = number[i % count];
        struct wide c;
        if (b > 0) {
            wide_ratio(a, b, &c);
            mpz_set_ui(x, a);
            mpz_mul_2exp(x, x, FRACTION);
            mpz_fdiv_q_ui(x, x, b);
            check_equal(&c, x);
        }
    }
    mpz_clear(x);
}

/* 0 <= e^x - wide_exp(x) < 2^-300 e^x. */
static void
check_exp(const struct wide *x)
{
    struct wide power;
    mpfr_t truth, value;
    mpz_t integer;
    mpz_init(integer);
    mpfr_inits2(PRECISION, truth, value, (mpfr_ptr)NULL);
    exact(x, integer);
    mpfr_set_z(truth, integer, MPFR_RNDN); /* exact: under 384 bits */
    mpfr_div_2ui(truth, truth, FRACTION, MPFR_RNDN);
    mpfr_exp(truth, truth, MPFR_RNDD);
    wide_exp(x, &power);
    exact(&power, integer);
    mpfr_set_z(value, integer, MPFR_RNDN);
    mpfr_div_2ui(value, value, FRACTION, MPFR_RNDN);
    mpfr_sub(value, truth, value, MPFR_RNDN);
    assert_true(mpfr_sgn(value) >= 0);
    mpfr_div(value, value, truth, MPFR_RNDN);
    assert_true(mpfr_cmp_ui_2exp(value, 1, -300) < 0);
    mpfr_clears(truth, value, (mpfr_ptr)NULL);
    mpz_clear(integer);
}

static void
test_exp_is_a_lower_bound_within_2_to_the_minus_300(void **state)
{
    struct seeded seeded;
    struct wide x;
    (void)state;
    seeded_init(&seeded, 13, 0);
    for (uint64_t i = 0; i <= 40; i++) {
        wide_ratio(i, 1, &x);
        check_exp(&x);
        wide_ratio(i, 3 * (UINT64_C(1) << i), &x);
        check_exp(&x);
    }
    for (int i = 0; i < 100; i++) {
        draw(&seeded, 5, &x);
        check_exp(&x);
    }
    memset(&x, 0, sizeof x);
    x.limb[0] = 1; /* the least number above 0 */
    check_exp(&x);
}

/* A decoder written from docs/format.md must come to the same doubles. */
static void
check_double(const struct wide *a)
{
    double ours = wide_double(a), nearest;
    mpz_t integer;
    mpfr_t value;
    mpz_init(integer);
    mpfr_init2(value, PRECISION);
    exact(a, integer);
    mpfr_set_z(value, integer, MPFR_RNDN);
    mpfr_div_2ui(value, value, FRACTION, MPFR_RNDN);
    nearest = mpfr_get_d(value, MPFR_RNDN);
    assert_true(ours == nearest);
    mpfr_clear(value);
    mpz_clear(integer);
}

static void
test_double_is_the_nearest(void **state)
{
    struct seeded seeded;
    struct wide a;
    (void)state;
    seeded_init(&seeded, 14, 0);
    for (int i = 0; i < TIMES; i++) {
        draw(&seeded, 64, &a);
        check_double(&a);
    }
    for (uint32_t i = 0; i < 384; i++) {
        memset(&a, 0, sizeof a);
        a.limb[i / 32] = UINT32_C(1) << (i % 32);
        assert_true(wide_double(&a) == ldexp(1, (int)i - (int)FRACTION));
    }
    wide_ratio(0, 1, &a);
    assert_true(wide_double(&a) == 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_products_and_shifts),
        cmocka_unit_test(test_quotients_round_down),
        cmocka_unit_test(test_ratios_round_down),
        cmocka_unit_test(test_exp_is_a_lower_bound_within_2_to_the_minus_300),
        cmocka_unit_test(test_double_is_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
