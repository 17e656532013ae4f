/*
 * test_outlook_interval.c: one more campaign is inside as often as it should
 * be; a few that fail are left out; test records count even where simulated
 * campaigns agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "sotto/sotto.h"

#define TRIALS 2000u /* a share of 0.9 is known to 0.0067 */

static uint64_t word = 7;

static double
draw_uniform(void)
{
    word = word * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return ((double)(word >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller. */
static double
draw_normal(double mean, double deviation)
{
    double u = draw_uniform(), v = draw_uniform();
    return mean + deviation * sqrt(-2 * log(u)) * cos(6.283185307 * v);
}

/* How often one more of n + 1 normal draws is inside, where test records make
   next to nothing of them. */
static double
inside_share(size_t n)
{
    size_t inside = 0;
    for (size_t t = 0; t < TRIALS; t++) {
        double accuracy[40], low, high, last;
        const struct sotto_outlook_draws draws = {accuracy, n, 1000000,
                                                  1000000};
        for (size_t i = 0; i < n; i++) {
            accuracy[i] = draw_normal(0.5, 0.02);
        }
        last = draw_normal(0.5, 0.02);
        sotto_outlook_interval(&draws, 0.9, &low, &high);
        inside += last >= low && last <= high ? 1 : 0;
    }
    return (double)inside / TRIALS;
}

/* The shortest interval of few draws is a little too short: by 4 points with
   12 of them. */
static void
test_one_more_is_inside(void **state)
{
    double few = inside_share(12), many = inside_share(40);
    (void)state;
    assert_true(few > 0.84 && few < 0.94);
    assert_true(many > 0.86 && many < 0.93);
}

/* Campaigns that agree: what is left is the binomial error of both sets of
   records, 1.645 sqrt(0.25 / 100 + 0.25 / 400) to either side, and a little for
   the mean. */
static void
test_test_records_count(void **state)
{
    double accuracy[] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
    const struct sotto_outlook_draws draws = {accuracy, 10, 100, 400};
    double low, high, half = 1.645 * sqrt(0.25 / 100 + 0.25 / 400);
    (void)state;
    sotto_outlook_interval(&draws, 0.9, &low, &high);
    assert_true(high - low > 2 * half && high - low < 2.3 * half);
    assert_true(fabs((low + high) / 2 - 0.5) < 0.002);
}

/* Of 40 campaigns 2 fail: nine of ten do not. */
static void
test_few_failures_are_left_out(void **state)
{
    double accuracy[40], low, high;
    const struct sotto_outlook_draws draws = {accuracy, 40, 1000, 2500};
    (void)state;
    for (size_t i = 0; i < 40; i++) {
        accuracy[i] = i < 2 ? 0.3 : i % 2 == 0 ? 0.79 : 0.81;
    }
    sotto_outlook_interval(&draws, 0.9, &low, &high);
    assert_true(low > 0.7 && high < 0.9);
    for (size_t i = 0; i < 8; i++) { /* of 8 that is not so */
        accuracy[i] = 0.3;
    }
    sotto_outlook_interval(&draws, 0.9, &low, &high);
    assert_true(low < 0.4);
}

/* The ends are shares, and certainty is not told of few records. */
static void
test_ends(void **state)
{
    double accuracy[] = {1, 1, 1};
    const struct sotto_outlook_draws draws = {accuracy, 3, 50, 120};
    double low, high;
    (void)state;
    sotto_outlook_interval(&draws, 0.9, &low, &high);
    assert_true(high == 1 && low < 1 && low > 0.9);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_more_is_inside),
        cmocka_unit_test(test_test_records_count),
        cmocka_unit_test(test_few_failures_are_left_out),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
