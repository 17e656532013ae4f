/*
 * test_threshold.c: thresholds against MPFR.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <gmp.h>
#include <mpfr.h>

#include "base/decimal.h"
#include "random/seeded.h"
#include "random/threshold.h"

#define PRECISION 512

/* The threshold times 2^256. */
static void
exact_threshold(const struct draw_threshold *t, mpz_t ret)
{
    mpz_set_ui(ret, t->high);
    mpz_mul_2exp(ret, ret, 8);
    mpz_add_ui(ret, ret, t->low[6]);
    for (int i = 5; i >= 0; i--) {
        mpz_mul_2exp(ret, ret, 32);
        mpz_add_ui(ret, ret, t->low[i]);
    }
}

static void
check_exp(uint64_t numerator, uint64_t denominator)
{
    struct draw_threshold t;
    mpfr_t truth, error;
    mpz_t value;
    mpz_init(value);
    mpfr_inits2(PRECISION, truth, error, (mpfr_ptr)NULL);
    threshold_exp(numerator, denominator, &t);
    exact_threshold(&t, value);
    mpfr_set_ui(truth, numerator, MPFR_RNDN);
    mpfr_div_ui(truth, truth, denominator, MPFR_RNDN);
    mpfr_neg(truth, truth, MPFR_RNDN);
    mpfr_exp(truth, truth, MPFR_RNDU);
    mpfr_set_z(error, value, MPFR_RNDN);
    mpfr_div_2ui(error, error, 256, MPFR_RNDN);
    mpfr_sub(error, error, truth, MPFR_RNDN);
    assert_true(mpfr_sgn(error) > 0);
    assert_true(mpfr_cmp_ui_2exp(error, 1, -255) < 0);
    mpfr_clears(truth, error, (mpfr_ptr)NULL);
    mpz_clear(value);
}

/* Every epsilon and radius the samplers meet, and the ends of the range. */
static void
test_exp_is_rounded_up_by_less_than_2_to_the_minus_255(void **state)
{
    static const uint64_t eps[] = {DECIMAL_EPS_MIN, DECIMAL_UNIT / 10,
                                   DECIMAL_UNIT, 10 * DECIMAL_UNIT,
                                   DECIMAL_EPS_MAX};
    static const uint64_t l[] = {1, UINT64_C(1) << 10, UINT64_C(1) << 20};
    (void)state;
    for (size_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        check_exp(eps[i], DECIMAL_UNIT);
        for (size_t j = 0; j < sizeof l / sizeof l[0]; j++) {
            check_exp(eps[i], 2 * l[j] * DECIMAL_UNIT);
        }
    }
    check_exp(1, UINT64_C(1) << 46);
    check_exp(40, 1);
    check_exp(1, 3);
}

static void
test_exp_holds_for_random_exponents(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 3, 0);
    for (int i = 0; i < 200; i++) {
        uint64_t denominator = 1 + random_u56(&seeded.random) / 16384;
        uint64_t numerator = 1 + random_u56(&seeded.random) % denominator;
        check_exp(numerator + denominator * (uint64_t)(i % 39), denominator);
    }
}

static void
test_from_and_wide_are_inverse_and_round_down(void **state)
{
    struct wide p, back;
    struct draw_threshold t;
    (void)state;
    for (uint32_t i = 0; i < WIDE_LIMBS; i++) {
        p.limb[i] = i < WIDE_FRACTION ? UINT32_C(0x89abcdef) + i : 0;
    }
    threshold_from(&p, &t);
    assert_true(t.high < UINT64_C(1) << 56);
    assert_true(t.low[6] < 0x100);
    threshold_wide(&t, &back);
    for (uint32_t i = 0; i < WIDE_LIMBS; i++) {
        assert_int_equal(back.limb[i], i < 2 ? 0 : p.limb[i]);
    }
}

static void
test_double_is_exact(void **state)
{
    struct draw_threshold t, twice;
    mpz_t a, b;
    (void)state;
    mpz_inits(a, b, NULL);
    for (uint64_t n = 2; n < 100; n++) {
        struct wide p;
        wide_ratio(n / 2, n + 1, &p);
        threshold_from(&p, &t);
        threshold_double(&t, &twice);
        exact_threshold(&t, a);
        exact_threshold(&twice, b);
        mpz_mul_ui(a, a, 2);
        assert_int_equal(mpz_cmp(a, b), 0);
    }
    mpz_clears(a, b, NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_exp_is_rounded_up_by_less_than_2_to_the_minus_255),
        cmocka_unit_test(test_exp_holds_for_random_exponents),
        cmocka_unit_test(test_from_and_wide_are_inverse_and_round_down),
        cmocka_unit_test(test_double_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
