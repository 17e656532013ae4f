/*
 * test_clock.c: seconds are seconds, and do not go back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <time.h>

#include "host/clock.h"

static void
test_seconds(void **state)
{
    const struct timespec wait = {.tv_nsec = 20000000};
    double before = host_seconds(), last = before;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        double at = host_seconds();
        assert_true(at >= last);
        last = at;
    }
    assert_int_equal(clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, NULL), 0);
    assert_true(host_seconds() - before >= 0.0199);
    assert_true(host_seconds() - before < 60); /* not some other unit */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
