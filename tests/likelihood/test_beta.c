/*
 * test_beta.c: the incomplete beta function against closed forms and Simpson's
 * rule.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "likelihood/beta.h"

static void
test_beta_log(void **state)
{
    (void)state;
    assert_true(fabs(beta_log(1, 1)) < 1e-14);
    assert_true(fabs(beta_log(2, 3) - log(1.0 / 12)) < 1e-13);
    assert_true(fabs(beta_log(0.5, 0.5) - log(acos(-1))) < 1e-13);
}

static void
test_beta_closed_forms(void **state)
{
    (void)state;
    for (double x = 0.01; x < 1; x += 0.01) {
        double arc = 2 / acos(-1) * asin(sqrt(x));
        assert_true(fabs(beta_below(1, 1, x) - x) < 1e-14);
        assert_true(fabs(beta_below(3, 1, x) - x * x * x) < 1e-14);
        assert_true(fabs(beta_below(0.5, 0.5, x) - arc) < 1e-13);
    }
    assert_true(beta_below(2, 3, 0) == 0 && beta_below(2, 3, 1) == 1);
    assert_true(beta_below(2, 3, -1) == 0 && beta_below(2, 3, 2) == 1);
}

/* a and b as the caps of spheres have them; b >= 1, where the ends are flat
   enough for Simpson. */
static void
test_beta_is_the_integral(void **state)
{
    static const double a[] = {2, 7.5, 49.5, 391.5};
    (void)state;
    for (int i = 0; i < 4; i++) {
        for (double x = 0.3; x < 1; x += 0.23) {
            double sum = 0, h = x / 20000;
            for (int n = 0; n <= 20000; n++) {
                double weight = n % 20000 == 0 ? 1 : n % 2 == 1 ? 4 : 2;
                double t = n * h;
                sum +=
                    weight * (t > 0 ? exp((a[i] - 1) * log(t) +
                                          1.5 * log1p(-t) - beta_log(a[i], 2.5))
                                    : 0);
            }
            sum *= h / 3;
            assert_true(fabs(beta_below(a[i], 2.5, x) - sum) < 1e-10);
        }
    }
}

/* Small values keep their digits: I_x(a, 1) = x^a. */
static void
test_beta_keeps_small_digits(void **state)
{
    (void)state;
    for (double x = 0.05; x < 0.95; x += 0.05) {
        double exact = pow(x, 391.5);
        if (exact > 1e-300) {
            assert_true(fabs(beta_below(391.5, 1, x) - exact) <= 1e-11 * exact);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beta_log),
        cmocka_unit_test(test_beta_closed_forms),
        cmocka_unit_test(test_beta_is_the_integral),
        cmocka_unit_test(test_beta_keeps_small_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
