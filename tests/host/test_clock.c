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

static void
test_utc_now(void **state)
{
    uint64_t before = (uint64_t)time(NULL);
    (void)state;
    assert_true(host_utc_now() >= before && host_utc_now() < before + 60);
}

static void
test_utc(void **state)
{
    static const char *const wrong[] = {"",
                                        "2099",
                                        "2099-02-30",
                                        "2099-1-31",
                                        "2099-13-01",
                                        "2099-01-31 ",
                                        " 2099-01-31",
                                        "2099-01-31T00:00:00",
                                        "tomorrow",
                                        "2099-01-31T24:00:00Z"};
    char text[HOST_UTC_SIZE];
    uint64_t second = 7;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(host_utc_read(wrong[i], &second));
    }
    assert_int_equal(second, 7);
    assert_true(host_utc_read("2099-01-31", &second));
    assert_int_equal(second, 4073500800);
    host_utc_write(second, text);
    assert_string_equal(text, "2099-01-31 00:00:00 UTC");
    assert_true(host_utc_read("2096-02-29T12:30:01Z", &second));
    host_utc_write(second, text);
    assert_string_equal(text, "2096-02-29 12:30:01 UTC");
    host_utc_write(UINT64_MAX / 2, text);
    assert_string_equal(text, "second 9223372036854775807");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seconds),
        cmocka_unit_test(test_utc),
        cmocka_unit_test(test_utc_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
