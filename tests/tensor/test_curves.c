/*
 * test_curves.c: the vectorisable exponentials against the C library's, in
 * units of the last place, over all sizes of arguments.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tensor/cpu/curves.h"

/* Distance in units of the last place of the true value. */
static double
ulps(float got, double expected)
{
    double unit =
        nextafterf(fabsf((float)expected), INFINITY) - fabsf((float)expected);
    return fabs((double)got - expected) / unit;
}

/* The largest distance from `truth` on a fine grid over [low, high]. */
static double
worst(float (*curve)(float), double (*truth)(double), double low, double high)
{
    double most = 0;
    for (int i = 0; i <= 200000; i++) {
        float x = (float)(low + (high - low) * i / 200000);
        double away = ulps(curve(x), truth((double)x));
        most = away > most ? away : most;
    }
    return most;
}

static double
sigmoid(double a)
{
    return 1 / (1 + exp(-a));
}

static void
test_exp(void **state)
{
    (void)state;
    assert_true(worst(curve_exp, exp, -87, 88) < 2);
    assert_true(worst(curve_exp, exp, -1, 1) < 2);
    assert_true(curve_exp(0.0F) == 1.0F);
    assert_true(curve_exp(-INFINITY) > 0 && curve_exp(-INFINITY) < 2e-38F);
    assert_true(curve_exp(-1000.0F) == curve_exp(-87.0F));
    assert_true(curve_exp(1000.0F) == curve_exp(88.0F));
    assert_true(isnan(curve_exp(NAN)));
}

static void
test_log(void **state)
{
    (void)state;
    assert_true(worst(curve_log, log, 1e-4, 0.5) < 3);
    assert_true(worst(curve_log, log, 2, 1e9) < 3);
    assert_true(worst(curve_log, log, 0.70, 0.71) < 4);
    assert_true(worst(curve_log, log, 1.41, 1.42) < 4);
    assert_true(curve_log(1.0F) == 0.0F);
    for (float x = 0.99F; x < 1.01F; x += 1e-5F) { /* where it is 0 */
        assert_true(fabs((double)curve_log(x) - log((double)x)) < 1e-9);
    }
}

static void
test_sigmoid(void **state)
{
    (void)state;
    assert_true(worst(curve_sigmoid, sigmoid, -80, 80) < 4);
    assert_true(worst(curve_sigmoid, sigmoid, -2, 2) < 4);
    assert_true(curve_sigmoid(0.0F) == 0.5F);
    assert_true(curve_sigmoid(INFINITY) == 1.0F);
    assert_true(curve_sigmoid(-INFINITY) < 2e-38F);
    assert_true(isnan(curve_sigmoid(NAN)));
}

static void
test_tanh(void **state)
{
    (void)state;
    assert_true(worst(curve_tanh, tanh, -12, 12) < 4);
    assert_true(worst(curve_tanh, tanh, -1, 1) < 4);
    assert_true(worst(curve_tanh, tanh, -1e-3, 1e-3) < 2);
    assert_true(curve_tanh(0.0F) == 0.0F);
    assert_true(curve_tanh(-INFINITY) == -1.0F);
    assert_true(curve_tanh(INFINITY) == 1.0F);
    assert_true(isnan(curve_tanh(NAN)));
}

static void
test_log1p(void **state)
{
    (void)state;
    assert_true(worst(curve_log1p, log1p, 0, 1) < 4);
    assert_true(worst(curve_log1p, log1p, 0, 1e-3) < 3);
    assert_true(worst(curve_log1p, log1p, 1e-17, 1e-16) < 3);
    assert_true(curve_log1p(0.0F) == 0.0F);
    assert_true(isnan(curve_log1p(NAN)));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp),     cmocka_unit_test(test_log),
        cmocka_unit_test(test_sigmoid), cmocka_unit_test(test_tanh),
        cmocka_unit_test(test_log1p),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
