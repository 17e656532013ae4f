/*
 * test_binomial.c: Clopper-Pearson bounds against binomial sums in 256 bits.
 *
 * A lower bound is right if P(X >= k) at it is at most alpha, and close if at
 * a slightly larger p it is more.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <mpfr.h>

#include "privacy/binomial.h"

#define BITS 256

/* ln C(n, i) p^i (1-p)^(n-i), as exp'ed MPFR terms added up from k to n. */
static double
tail(uint64_t k, uint64_t n, double p, double alpha)
{
    mpfr_t term, sum, odds, whole;
    double quotient;
    mpfr_inits2(BITS, term, sum, odds, whole, (mpfr_ptr)NULL);
    mpfr_set_d(odds, p, MPFR_RNDN); /* exactly */
    mpfr_ui_sub(whole, 1, odds, MPFR_RNDN);
    mpfr_div(odds, odds, whole, MPFR_RNDN);
    mpfr_pow_ui(term, whole, n, MPFR_RNDN); /* i = 0 */
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    for (uint64_t i = 0; i <= n; i++) {
        if (i >= k) {
            mpfr_add(sum, sum, term, MPFR_RNDN);
        }
        mpfr_mul(term, term, odds, MPFR_RNDN);
        mpfr_mul_ui(term, term, n - i, MPFR_RNDN);
        mpfr_div_ui(term, term, i + 1, MPFR_RNDN);
    }
    quotient = mpfr_get_d(sum, MPFR_RNDN) / alpha;
    mpfr_clears(term, sum, odds, whole, (mpfr_ptr)NULL);
    return quotient;
}

static void
check(uint64_t k, uint64_t n, double alpha)
{
    double low = binomial_lower(k, n, alpha);
    double high = binomial_upper(k, n, alpha);
    assert_true(low >= 0 && low <= (double)k / (double)n);
    assert_true(high <= 1 && high >= (double)k / (double)n);
    if (k > 0) {
        assert_true(tail(k, n, low, alpha) <= 1);
        assert_true(tail(k, n, low, alpha) > 1 - 1e-5);
    } else {
        assert_true(low == 0);
    }
    /* P(X <= k) at `high` is P(n - X >= n - k) at 1 - high, which is exact;
       `high` itself has no more than 2^-53 to spare. */
    if (k < n) {
        assert_true(tail(n - k, n, 1 - high, alpha) <= 1);
        assert_true(1 - high < 1e-9 ||
                    tail(n - k, n, 1 - high, alpha) > 1 - 1e-5);
    } else {
        assert_true(high == 1);
    }
}

static void
test_all_small(void **state)
{
    static const double alpha[] = {0.5, 0.05, 0.0005, 1e-9, 5e-13};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        for (uint64_t n = 1; n <= 40; n++) {
            for (uint64_t k = 0; k <= n; k++) {
                check(k, n, alpha[i]);
            }
        }
    }
}

static void
test_large(void **state)
{
    static const uint64_t some[][2] = {
        {0, 100000},     {1, 100000},     {7, 100000},     {2500, 100000},
        {50000, 100000}, {99999, 100000}, {100000, 100000}};
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        check(some[i][0], some[i][1], 0.0005);
    }
    check(1, 1000000, 0.0005);
    check(731000, 1000000, 0.0005);
}

/* k = 0 and k = n have closed forms. */
static void
test_closed_forms(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 100000000; n *= 10) {
        double root = -expm1(log(0.001) / (double)n); /* 1 - alpha^(1/n) */
        double high = binomial_upper(0, n, 0.001);
        double low = binomial_lower(n, n, 0.001);
        assert_true(high >= root * (1 - 1e-15) && high <= root * (1 + 1e-5));
        assert_true(1 - low >= root * (1 - 1e-7) &&
                    1 - low <= root * (1 + 1e-5));
    }
}

static void
test_monotone(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < 1000; k++) {
        assert_true(binomial_lower(k, 1000, 0.01) <
                    binomial_lower(k + 1, 1000, 0.01));
        assert_true(binomial_upper(k, 1000, 0.01) <
                    binomial_upper(k + 1, 1000, 0.01) + (k + 1 == 1000));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_small),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_monotone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
