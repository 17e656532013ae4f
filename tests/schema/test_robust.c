/*
 * test_robust.c: ranges that no record decides.
 */
#include "schema/robust.h"

#include "schema_fixture.h"

static double low, high;

/* 1, 2, ..., count, each times `unit`. */
static double *
ramp(size_t count, double unit)
{
    double *value = calloc(count, sizeof *value);
    assert_non_null(value);
    for (size_t i = 0; i < count; i++) {
        value[i] = (double)(i + 1) * unit;
    }
    return value;
}

static void
expect(const double *value, size_t count, bool whole, double from, double to)
{
    assert_true(robust_range(value, count, whole, 10, &low, &high));
    if (low != from || high != to) {
        fail_msg("%g to %g, not %g to %g", low, high, from, to);
    }
}

/* Quantiles, rounded outward; near zero, to zero. */
static void
test_rounding(void **state)
{
    double *value = ramp(1000, 1);
    (void)state;
    expect(value, 1000, true, 0, 1000);
    for (size_t i = 0; i < 1000; i++) {
        value[i] = 1950.5 + (double)i * 0.06;
    }
    expect(value, 1000, false, 1950, 2010);
    for (size_t i = 0; i < 1000; i++) {
        value[i] = -0.031 + (double)i * 1e-6;
    }
    expect(value, 1000, false, -0.031, -0.03);
    free(value);
}

/* One rich person, or nine, change nothing; and no end is a value. */
static void
test_outliers(void **state)
{
    double *value = ramp(1000, 137.31);
    (void)state;
    assert_true(robust_range(value, 1000, false, 10, &low, &high));
    double from = low, to = high;
    for (size_t i = 0; i < 1000; i++) {
        assert_true(value[i] != from && value[i] != to);
    }
    for (size_t i = 991; i < 1000; i++) {
        value[i] = 6e9;
    }
    expect(value, 1000, false, from, to);
    value[999] = 1.7e308;
    expect(value, 1000, false, from, to);
    free(value);
}

/* Nearly all zero: the others decide, if there are ten. */
static void
test_spike(void **state)
{
    double value[2000] = {0};
    (void)state;
    for (size_t i = 0; i < 9; i++) {
        value[1991 + i] = 50 + (double)i;
    }
    assert_false(robust_range(value, 2000, true, 10, &low, &high));
    value[1990] = 40;
    expect(value, 2000, true, 0, 60);
    /* A constant has no range, whoever asks. */
    assert_false(robust_range(value, 1000, true, 1, &low, &high));
    assert_false(robust_range(value, 0, true, 1, &low, &high));
}

/* Whole numbers have whole ends, and a step of one at least. */
static void
test_whole(void **state)
{
    double value[100];
    (void)state;
    for (size_t i = 0; i < 100; i++) {
        value[i] = (double)(1 + i / 20);
    }
    expect(value, 100, true, 1, 5);
    for (size_t i = 0; i < 100; i++) {
        value[i] = (double)(100 + i / 4);
    }
    expect(value, 100, true, 100, 125);
}

/* Beyond what a mechanism takes, and where nothing can be rounded. */
static void
test_extremes(void **state)
{
    double *value = ramp(100, 1e306);
    (void)state;
    assert_false(robust_range(value, 100, false, 10, &low, &high));
    for (size_t i = 0; i < 100; i++) {
        value[i] = (double)i * 1e-300;
    }
    assert_true(robust_range(value, 100, false, 10, &low, &high));
    assert_true(low == 0 && high > 9e-299 && high <= 1e-298);
    free(value);
}

/* Incomes have a heavy tail, also where most people have none; ages, sums that
   may be negative, and shares, of which ln(1 + v) is all but v, have not. */
static void
test_heavy(void **state)
{
    double value[1000], other[1000];
    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        double z = 6 * ((double)i + 0.5) / 1000 - 3;
        value[i] = exp(10 + 0.9 * z);
        other[i] = i < 900 ? 0 : exp(8 + 10 * (z - 2.7));
    }
    assert_true(robust_heavy(value, 1000));
    assert_true(robust_heavy(other, 1000));
    assert_false(robust_heavy(other, 940)); /* 40 people */
    assert_false(robust_heavy(NULL, 0));
    value[0] = -1;
    assert_false(robust_heavy(value, 1000));
    for (size_t i = 0; i < 1000; i++) {
        value[i] = 20 + (double)i / 20;
        other[i] = 1e-9 * exp((double)i / 200);
    }
    assert_false(robust_heavy(value, 1000));
    assert_false(robust_heavy(other, 1000));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounding), cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_spike),    cmocka_unit_test(test_whole),
        cmocka_unit_test(test_extremes), cmocka_unit_test(test_heavy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
