/*
 * test_real.c: every bound is on its side, and near; the heap is not used.
 */
#include "privacy_fixture.h"

#include <stdlib.h>

#include "privacy/real.h"

#define UNIT DECIMAL_UNIT

static const uint64_t some[] = {0,
                                1,
                                DECIMAL_EPS_MIN,
                                UNIT / 3,
                                UNIT,
                                32 * UNIT - 1,
                                32 * UNIT,
                                32 * UNIT + 1,
                                1000 * UNIT,
                                320000 * UNIT,
                                UINT64_MAX};
#define SOME (sizeof some / sizeof *some)

static void
test_units(void **state)
{
    (void)state;
    struct real x;
    REAL_INIT(&x);
    assert_true(mpfr_zero_p(x.value));
    for (size_t i = 0; i < SOME; i++) {
        real_set_units(x.value, some[i], MPFR_RNDD);
        assert_int_equal(real_units_up(x.value), some[i]);
    }
    for (uint64_t units = 1; units < UINT64_MAX / 3; units = 3 * units + 1) {
        real_set_units(x.value, units, MPFR_RNDD);
        assert_int_equal(real_units_up(x.value), units);
        mpfr_nextabove(x.value);
        mpfr_nextabove(x.value);
        assert_int_equal(real_units_up(x.value), units + 1);
    }
    mpfr_set_si(x.value, -5, MPFR_RNDN);
    assert_int_equal(real_units_up(x.value), 0);
    mpfr_set_ui_2exp(x.value, 1, 100, MPFR_RNDN);
    assert_true(real_units_up(x.value) == UINT64_MAX);
    mpfr_set_ui_2exp(x.value, 1, -100, MPFR_RNDN);
    assert_int_equal(real_units_up(x.value), 1);
}

static void
test_exp(void **state)
{
    (void)state;
    struct real low, high;
    mpfr_t truth, gap;
    mpfr_inits2(PRECISION, truth, gap, NULL);
    REAL_INIT(&low, &high);
    for (size_t i = 0; i < SOME; i++) {
        exact_units(truth, some[i]);
        mpfr_exp(truth, truth, MPFR_RNDN);
        real_exp_down(low.value, some[i]);
        real_exp_up(high.value, some[i]);
        assert_true(mpfr_cmp(low.value, truth) <= 0);
        assert_true(mpfr_cmp(high.value, truth) >= 0);
        mpfr_sub(gap, high.value, low.value, MPFR_RNDN);
        mpfr_div(gap, gap, truth, MPFR_RNDN);
        assert_true(mpfr_cmp_ui_2exp(gap, 1, -190) < 0);
    }
    mpfr_clears(truth, gap, NULL);
    mpfr_free_cache();
}

static void
test_power(void **state)
{
    (void)state;
    struct real x, low, high;
    mpfr_t truth;
    mpfr_init2(truth, PRECISION);
    REAL_INIT(&x, &low, &high);
    real_set_units(x.value, UNIT - 1, MPFR_RNDN);
    for (uint32_t n = 0; n < UINT32_MAX / 5; n = 5 * n + 1) {
        mpfr_pow_ui(truth, x.value, n, MPFR_RNDN);
        real_power(low.value, x.value, n, MPFR_RNDD);
        real_power(high.value, x.value, n, MPFR_RNDU);
        assert_true(mpfr_cmp(low.value, truth) <= 0);
        assert_true(mpfr_cmp(high.value, truth) >= 0);
    }
    mpfr_clear(truth);
}

/* The least u with e^u >= x. */
static void
test_log(void **state)
{
    (void)state;
    struct real x;
    mpfr_t truth;
    mpfr_init2(truth, PRECISION);
    REAL_INIT(&x);
    mpfr_set_ui_2exp(x.value, 1, -70, MPFR_RNDN);
    for (int i = -70; i < 1000; i += 3) {
        mpfr_log(truth, x.value, MPFR_RNDN);
        if (mpfr_sgn(truth) <= 0) {
            assert_int_equal(real_log_up(x.value, UINT64_MAX), 0);
        } else {
            assert_bounds(truth, real_log_up(x.value, UINT64_MAX), 1);
        }
        mpfr_mul_ui(x.value, x.value, 7, MPFR_RNDN);
    }
    assert_int_equal(real_log_up(x.value, 12345), 12345);
    mpfr_clear(truth);
    mpfr_free_cache();
}

/* ---- The heap ------------------------------------------------------------ */

static size_t allocations;

static void *
count_new(size_t size)
{
    allocations++;
    return malloc(size);
}

static void *
count_resize(void *data, size_t old, size_t size)
{
    (void)old;
    allocations++;
    return realloc(data, size);
}

static void
count_free(void *data, size_t size)
{
    (void)size;
    free(data);
}

/* MPFR ends the program where memory ends: so it must not ask for any. */
static void
test_no_heap(void **state)
{
    (void)state;
    static const struct sotto_account_budget budgets[] = {
        {UNIT / 10, 1000000, 2000}, {DECIMAL_EPS_MAX, 0, 3}};
    struct sotto_account_cost cost;
    uint64_t delta;
    mp_set_memory_functions(count_new, count_resize, count_free);
    allocations = 0;
    assert_int_equal(sotto_account_drv(budgets, 1, 1000, &cost, NULL), 0);
    assert_int_equal(sotto_account_kov(budgets, 1, 1000, &cost, NULL), 0);
    assert_int_equal(sotto_account_kov(budgets, 2, 1000, &cost, NULL), 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(
            sotto_account_optimal(budgets + i, 1, 2, 1000, &cost, NULL), 0);
        assert_int_equal(
            sotto_account_delta(budgets + i, 1, 2, UNIT, &delta, NULL), 0);
    }
    assert_int_equal(
        sotto_account_optimal(budgets + 1, 1, 9, 1000, &cost, NULL), 0);
    assert_int_equal(allocations, 0);
    mpfr_t watched;
    mpfr_init2(watched, PRECISION);
    assert_int_equal(allocations, 1); /* the counter does count */
    mpfr_clear(watched);
    mp_set_memory_functions(NULL, NULL, NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_heap), cmocka_unit_test(test_units),
        cmocka_unit_test(test_exp),     cmocka_unit_test(test_power),
        cmocka_unit_test(test_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
