/*
 * test_ratio.c: Fieller's interval against its definition.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mechanism/ratio.h"

/* Whether theta is not ruled out, by the definition. */
static bool
is_open(const struct ratio_moments *m, double t, double z, double theta)
{
    double off = m->above - theta * m->below;
    double sample = m->above_above - 2 * theta * m->above_below +
                    theta * theta * m->below_below;
    double noise = m->noise * m->noise * (1 + theta * theta);
    return off * off <= t * t * sample / m->n ||
           off * off <= z * z * noise / m->n;
}

/* The ends are where the definition turns: just inside open, just outside
   ruled out. */
static void
test_ends(void **state)
{
    static const struct ratio_moments moments[] = {
        {100, 0.3, 0.6, 2, 0.1, 1.5, 0, 0},
        {100, -0.3, 0.6, 2, -0.9, 1.5, 0, 0},
        {1000, 0.01, 0.99, 0.4, 0.3, 0.5, 0.6, 0},
        {1000, 0.5, 0.7, 0.01, 0.005, 0.01, 0.9, 0}, /* the noise is more */
        {25, 0, 2, 1, 0.4, 1, 0.5, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        struct ratio ratio;
        ratio_estimate(&moments[i], 2.1, 2, &ratio);
        assert_true(ratio.bounded);
        assert_true(ratio.low < ratio.value && ratio.value < ratio.high);
        assert_true(fabs(ratio.value - moments[i].above / moments[i].below) <
                    1e-15);
        assert_true(is_open(&moments[i], 2.1, 2, ratio.low + 1e-9));
        assert_true(is_open(&moments[i], 2.1, 2, ratio.high - 1e-9));
        assert_false(is_open(&moments[i], 2.1, 2, ratio.low - 1e-9));
        assert_false(is_open(&moments[i], 2.1, 2, ratio.high + 1e-9));
    }
}

/* Where the lower mean cannot be told from 0, by the sample or by the noise
   alone, or is below it, nothing is ruled out. */
static void
test_unbounded(void **state)
{
    static const struct ratio_moments moments[] = {
        {100, 0.3, 0.1, 2, 0.1, 1.5, 0, 0},
        {100, 0.3, 0.1, 0.001, 0, 0.001, 1.3, 0},
        {100, 0.3, -0.9, 0.01, 0, 0.01, 0.1, 0},
        {100, 0.3, 0, 0.01, 0, 0.01, 0.1, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        struct ratio ratio;
        ratio_estimate(&moments[i], 2.1, 2, &ratio);
        assert_false(ratio.bounded);
        assert_true(isinf(ratio.low) && ratio.low < 0);
        assert_true(isinf(ratio.high) && ratio.high > 0);
        assert_int_equal(isnan(ratio.value), moments[i].below <= 0);
    }
}

/* No spread and no noise: the ratio itself; what the means may be off by is
   added to both sides. */
static void
test_exact(void **state)
{
    struct ratio_moments moments = {10, 0.25, 0.5, 0, 0, 0, 0, 0};
    struct ratio ratio;
    (void)state;
    ratio_estimate(&moments, 2.1, 2, &ratio);
    assert_true(ratio.bounded);
    assert_true(ratio.low == 0.5 && ratio.high == 0.5 && ratio.value == 0.5);
    assert_true(ratio.noise_deviation == 0);
    moments.bias = 0.01;
    ratio_estimate(&moments, 2.1, 2, &ratio);
    assert_true(fabs(ratio.low - 0.46) < 1e-12);
    assert_true(fabs(ratio.high - 0.54) < 1e-12);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_unbounded),
        cmocka_unit_test(test_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
