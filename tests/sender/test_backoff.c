/*
 * test_backoff.c: what a Retry-After asks for, and how long is waited.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "host/clock.h"
#include "sender/backoff.h"

#define NOW ((time_t)1445412480) /* Wed, 21 Oct 2015 07:28:00 GMT */

static void
test_asked(void **state)
{
    static const struct {
        const char *value;
        int64_t seconds;
    } row[] = {
        {"0", 0},
        {"120", 120},
        {"007", 7},
        {"2147483648", INT32_MAX},
        {"99999999999999999999999999", INT32_MAX},
        {"Wed, 21 Oct 2015 07:28:00 GMT", 0},
        {"Wed, 21 Oct 2015 07:29:30 GMT", 90},
        {"Wed, 21 Oct 2015 07:00:00 GMT", 0},
        {"Wed, 21 Oct 2099 07:28:00 GMT", INT32_MAX},
        {"", -1},
        {"-1", -1},
        {"1.5", -1},
        {"soon", -1},
        {"1 2", -1},
        {"0x10", -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        int64_t got = backoff_asked(row[i].value, NOW);
        if (got != row[i].seconds) {
            fail_msg("'%s' is %lld", row[i].value, (long long)got);
        }
    }
}

static void
test_most(void **state)
{
    (void)state;
    assert_int_equal(backoff_most(500, 1), 500);
    assert_int_equal(backoff_most(500, 2), 1000);
    assert_int_equal(backoff_most(500, 7), 32000);
    assert_int_equal(backoff_most(500, 8), BACKOFF_MOST_MS);
    assert_int_equal(backoff_most(500, 4000000000u), BACKOFF_MOST_MS);
    assert_int_equal(backoff_most(UINT64_MAX, 2), BACKOFF_MOST_MS);
    assert_int_equal(backoff_most(0, 5), 0);
}

/* Every value of 0 to 9, about as often: 100,000 draws, each count within 6
   deviations of its mean with probability above 1 - 10^-7. */
static void
test_draw(void **state)
{
    size_t count[10] = {0};
    uint64_t drawn = 0;
    struct sotto_error err = {0};
    (void)state;
    for (size_t i = 0; i < 100000; i++) {
        assert_int_equal(backoff_draw(9, &drawn, &err), SOTTO_STATUS_OK);
        assert_true(drawn <= 9);
        count[drawn]++;
    }
    for (size_t i = 0; i < 10; i++) {
        assert_in_range(count[i], 10000 - 570, 10000 + 570);
    }
    assert_int_equal(backoff_draw(0, &drawn, &err), SOTTO_STATUS_OK);
    assert_int_equal(drawn, 0);
    assert_int_equal(backoff_draw(UINT64_MAX, &drawn, &err), SOTTO_STATUS_OK);
    assert_true(drawn <= UINT32_MAX);
}

static bool
stop(void *context, const char *what, uint64_t done, uint64_t total)
{
    size_t *ticks = context;
    assert_string_equal(what, "waiting");
    assert_int_equal(total, 60);
    assert_true(done <= total);
    return ++*ticks < 3;
}

static void
test_wait(void **state)
{
    size_t ticks = 0;
    struct sotto_watch none = {NULL, NULL}, watch = {stop, &ticks};
    struct sotto_error err = {0};
    double began = host_seconds();
    (void)state;
    assert_int_equal(backoff_wait(120, "x", &none, &err), SOTTO_STATUS_OK);
    assert_true(host_seconds() - began >= 0.12);
    began = host_seconds();
    assert_int_equal(backoff_wait(60000, "waiting", &watch, &err),
                     SOTTO_STATUS_STOPPED);
    assert_true(host_seconds() - began < 30);
    assert_int_equal(err.status, SOTTO_STATUS_STOPPED);
    assert_string_equal(err.message, "stopped while waiting");
}

/* The time itself while it has not passed, then the next step from there. */
static void
test_align(void **state)
{
    (void)state;
    assert_true(backoff_align(7.25, 1, 3) == 7.25);
    assert_true(backoff_align(7.25, 1, 7.25) == 7.25);
    assert_true(backoff_align(7.25, 1, 7.5) == 8.25);
    assert_true(backoff_align(7.25, 1, 8.25) == 8.25);
    assert_true(backoff_align(7.25, 1, 9) == 9.25);
    assert_true(backoff_align(7.25, 60, 127.5) == 187.25);
    assert_true(backoff_align(7.25, 0, 9) == 9);
    assert_true(backoff_align(7.25, 0, 3) == 7.25);
}

/* Public facts alone: reports and multiply-adds. */
static void
test_allowance(void **state)
{
    (void)state;
    assert_true(backoff_allowance(UINT64_C(1) << 32, 0) == 0);
    assert_true(fabs(backoff_allowance(0, 1) - 0.43) < 1e-9);
    assert_true(fabs(backoff_allowance(1 << 28, 1) - 2.43) < 1e-9);
    assert_true(fabs(backoff_allowance(1 << 27, 100) - 108.35) < 1e-9);
    assert_int_equal(backoff_least_grid(0), 0);
    assert_int_equal(backoff_least_grid(1), 1);
    assert_int_equal(backoff_least_grid(1 << 26), 1);
    assert_int_equal(backoff_least_grid((1 << 26) + 1), 2);
    assert_int_equal(backoff_least_grid(UINT64_C(1) << 32), 64);
}

/* The turns of all fit into what is set aside, with the time to read before
   them, that to keep what is queued behind them, and three quarters of what is
   left over; an encoder never gets less than the allowance counts, nor more
   than four times that, however much is left. */
static void
test_schedule(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 1000; n += n / 3 + 1) {
        for (double spare = 0; spare < 3600; spare = 2 * spare + 0.5) {
            double least = backoff_allowance(1 << 24, n);
            struct sotto_schedule made =
                backoff_schedule(100, least + spare, 1 << 24, n);
            double end = made.first + (double)n * made.turn;
            double more = fmin(spare / 4 / (double)n, 3 * (0.04 + 0.0625));
            assert_true(made.first == 100.25);
            assert_true(fabs(made.encoder - 0.04 - 0.0625 - more) < 1e-9);
            assert_true(fabs(made.turn - made.encoder - made.stop - 0.0625 -
                             0.03) < 1e-9);
            assert_true(fabs(end + 0.1 - (double)n * more - (100 + least)) <
                        1e-6);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_align),    cmocka_unit_test(test_allowance),
        cmocka_unit_test(test_asked),    cmocka_unit_test(test_most),
        cmocka_unit_test(test_draw),     cmocka_unit_test(test_wait),
        cmocka_unit_test(test_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
