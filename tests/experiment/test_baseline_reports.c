/*
 * test_baseline_reports.c: vectors through every channel of vectors come back
 * unbiased, with the variance that the channel says, whatever the threads.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "experiment/baseline.h"
#include "host/pool.h"

#define ROWS 20000u

static const char *const channels[] = {"laplace", "duchi",     "piecewise",
                                       "hybrid",  "privunit2", "privunitg"};
static const float truth[3] = {0.5F, -1, 0.25F};
static float x[ROWS * 3];

/* ROWS times the same vector, in a frame of half widths 2 or radius 2. */
static enum sotto_status
report(const char *channel, double eps, struct host_pool *pool,
       struct sotto_error *problem)
{
    static double middle[3], half[3] = {2, 2, 2};
    struct baseline_vectors vectors = {.rows = ROWS, .d = 3, .x = x};
    struct baseline_frame frame = {.d = 3, .middle = middle, .half = half};
    enum sotto_status status;
    for (size_t i = 0; i < ROWS; i++) {
        memcpy(x + 3 * i, truth, sizeof truth);
    }
    status = baseline_domain(channel, &frame.domain, problem);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    frame.radius = frame.domain == CHANNEL_DOMAIN_BALL ? 2 : 0;
    return baseline_report(&vectors, &frame, channel, eps, 5, pool, NULL,
                           problem);
}

/* Each mean within 5.3 of its deviations: alpha = 18 * 1.2e-7 < 3e-6. */
static void
test_reports_are_unbiased(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof channels / sizeof *channels; c++) {
        struct sotto_error problem;
        assert_int_equal(report(channels[c], 3, NULL, &problem),
                         SOTTO_STATUS_OK);
        for (size_t j = 0; j < 3; j++) {
            double mean = 0, square = 0;
            for (size_t i = 0; i < ROWS; i++) {
                double at = (double)x[3 * i + j];
                mean += at / ROWS;
                square += at * at / ROWS;
            }
            assert_true(square > mean * mean);
            assert_true(fabs(mean - (double)truth[j]) <
                        5.3 * sqrt((square - mean * mean) / ROWS));
        }
    }
}

/* laplace takes each of d entries at eps / d: 2 (2 half d / eps)^2. Within 5.3
   deviations of a variance, whose fourth moment is 6 of that squared. */
static void
test_laplace_shares_epsilon(void **state)
{
    struct sotto_error problem;
    double variance = 2 * pow(2 * 2 * 3 / 3.0, 2), seen = 0;
    (void)state;
    assert_int_equal(report("laplace", 3, NULL, &problem), SOTTO_STATUS_OK);
    for (size_t i = 0; i < ROWS; i++) {
        seen += pow((double)(x[3 * i] - truth[0]), 2) / ROWS;
    }
    assert_true(fabs(seen - variance) < 5.3 * variance * sqrt(5.0 / ROWS));
}

static void
test_threads_change_nothing(void **state)
{
    static float first[ROWS * 3];
    struct sotto_error problem;
    struct host_pool *pool = NULL;
    (void)state;
    assert_int_equal(host_pool_new(3, &pool, &problem), SOTTO_STATUS_OK);
    assert_int_equal(report("privunit2", 2, NULL, &problem), SOTTO_STATUS_OK);
    memcpy(first, x, sizeof x);
    assert_int_equal(report("privunit2", 2, pool, &problem), SOTTO_STATUS_OK);
    assert_memory_equal(first, x, sizeof x);
    host_pool_free(pool);
}

static void
test_other_channels_are_refused(void **state)
{
    static const char *const others[] = {"flip", "gaussian", "window", "none"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct sotto_error problem;
        assert_int_equal(report(others[i], 3, NULL, &problem),
                         SOTTO_STATUS_USAGE);
        assert_non_null(strstr(problem.message, others[i]));
    }
    struct sotto_error problem;
    assert_int_equal(report("duchi", 100, NULL, &problem), SOTTO_STATUS_BUDGET);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reports_are_unbiased),
        cmocka_unit_test(test_laplace_shares_epsilon),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_other_channels_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
