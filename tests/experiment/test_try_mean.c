/*
 * test_try_mean.c: what several simulated collections promise for a campaign.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiment/try.h"

#define SHARE 0.5
#define ROWS_ERROR 0.02 /* of the gain and of the AUC, by the test rows */

/* The mean of four runs with these accuracies, all with this AUC. */
static struct sotto_try_mean
mean_of(const double accuracy[4], double auc)
{
    struct sotto_try_mean mean;
    try_mean_begin(&mean);
    for (size_t i = 0; i < 4; i++) {
        const struct sotto_campaign_score score = {.accuracy = accuracy[i],
                                                   .share = SHARE,
                                                   .auc = auc,
                                                   .gain_error = ROWS_ERROR,
                                                   .auc_error = ROWS_ERROR};
        try_mean_add(&mean, &score);
    }
    try_mean_end(&mean, 1);
    return mean;
}

static void
test_errors(void **state)
{
    const double accuracy[4] = {0.6, 0.7, 0.8, 0.7};
    struct sotto_try_mean mean = mean_of(accuracy, 0.5);
    double s = sqrt(0.02 / 3);
    (void)state;
    assert_true(fabs(mean.accuracy - 0.7) < 1e-12);
    assert_true(fabs(mean.gain - 0.2) < 1e-12);
    assert_true(fabs(mean.deviation - s) < 1e-12);
    assert_true(fabs(mean.gain_error - hypot(ROWS_ERROR, s / 2)) < 1e-12);
    assert_true(fabs(mean.gain_once - hypot(ROWS_ERROR, s * sqrt(1.25))) <
                1e-12);
    assert_true(mean.low == 0.6 && mean.high == 0.8);
}

/* Of a number R2 is the gain, over a constant that has 0; nobody is ranked. Of
   two kinds that learn nothing the one with the larger R2 is better. */
static void
test_number(void **state)
{
    const struct sotto_campaign_number run[2] = {
        {.rows = 9, .r2 = 0.5, .r2_error = ROWS_ERROR, .rmse = 3},
        {.rows = 9, .r2 = 0.4, .r2_error = ROWS_ERROR, .rmse = 4}};
    const struct sotto_campaign_number bad = {
        .rows = 9, .r2 = -0.5, .r2_error = ROWS_ERROR, .rmse = 9};
    struct sotto_try_mean mean, worse, worst;
    (void)state;
    try_mean_begin(&mean);
    try_mean_add_number(&mean, &run[0]);
    try_mean_add_number(&mean, &run[1]);
    try_mean_end(&mean, 1);
    assert_true(fabs(mean.accuracy - 0.45) < 1e-12);
    assert_true(mean.gain == mean.accuracy && fabs(mean.rmse - 3.5) < 1e-12);
    assert_int_equal(mean.verdict, SOTTO_TRY_LEARNS);
    try_mean_begin(&worst);
    try_mean_add_number(&worst, &bad);
    try_mean_end(&worst, 1);
    assert_true(worst.low == -0.5 && worst.high == -0.5);
    assert_int_equal(worst.verdict, SOTTO_TRY_NOTHING);
    worse = worst;
    worse.gain = -0.1;
    assert_true(try_mean_is_better(&worse, &worst));
    assert_true(!try_mean_is_better(&worst, &worse));
    assert_true(try_mean_is_better(&mean, &worst));
}

/* The same mean promises a gain where runs agree, and none where they differ
   widely, although its own error is small enough in both. */
static void
test_verdict(void **state)
{
    const double alike[4] = {0.69, 0.71, 0.7, 0.7};
    const double wide[4] = {0.52, 0.88, 0.6, 0.8};
    struct sotto_try_mean a = mean_of(alike, 0.7), b = mean_of(wide, 0.7);
    struct sotto_try_mean c = mean_of(wide, 0.53);
    (void)state;
    assert_true(b.gain > 2 * b.gain_error);
    assert_int_equal(a.verdict, SOTTO_TRY_LEARNS);
    assert_int_equal(b.verdict, SOTTO_TRY_RANKS);
    assert_int_equal(c.verdict, SOTTO_TRY_NOTHING);
}

static void
test_preferred(void **state)
{
    const double sure[4] = {0.59, 0.61, 0.6, 0.6};
    const double surer[4] = {0.69, 0.71, 0.7, 0.7};
    const double wide[4] = {0.55, 0.95, 0.65, 0.85};
    struct sotto_try_mean a = mean_of(sure, 0.7), b = mean_of(wide, 0.9);
    struct sotto_try_mean c = mean_of(surer, 0.6), none;
    (void)state;
    try_mean_begin(&none);
    assert_true(b.gain > a.gain);
    assert_true(try_mean_is_better(&a, &b)); /* it promises more */
    assert_false(try_mean_is_better(&b, &a));
    assert_true(try_mean_is_better(&c, &a));
    assert_true(try_mean_is_better(&a, &none));
    assert_false(try_mean_is_better(&none, &a));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_number),
        cmocka_unit_test(test_verdict),
        cmocka_unit_test(test_preferred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
