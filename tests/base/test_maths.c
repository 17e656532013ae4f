/*
 * test_maths.c: the freestanding real functions against MPFR.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <mpfr.h>

#include "base/maths.h"
#include "random/seeded.h"

#define TIMES 200000

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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp_is_within_three_units),
        cmocka_unit_test(test_exp_at_the_ends),
        cmocka_unit_test(test_log_is_within_three_units),
        cmocka_unit_test(test_activations),
        cmocka_unit_test(test_activations_at_the_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
