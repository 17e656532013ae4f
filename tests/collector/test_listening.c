/*
 * test_listening.c: the socket that a collector listens on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collector/listening.h"

static struct sotto_error err;
static bool loopback;

static void
expect_fail(const char *place, bool open, enum sotto_status wanted)
{
    int fd = -7;
    unsigned port = 7;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(listening_open(place, open, &fd, &port, &loopback, &err),
                     wanted);
    assert_int_equal(err.status, wanted);
    assert_int_equal(fd, -7);
    assert_int_equal(port, 7);
}

static void
test_places(void **state)
{
    static const char *const good[] = {"127.0.0.1:0", "localhost:0",
                                       "127.9.9.9:0"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        int fd = -1;
        unsigned port = 0;
        assert_int_equal(
            listening_open(good[i], false, &fd, &port, &loopback, &err),
            SOTTO_STATUS_OK);
        assert_true(fd >= 0 && port > 0);
        (void)close(fd);
    }
}

static void
test_bad(void **state)
{
    static const char *const bad[] = {"",
                                      ":",
                                      "8470",
                                      "localhost",
                                      "127.0.0.1:x",
                                      "a:65536",
                                      "::1:80",
                                      "127.0.0.1:-1",
                                      "[::1]",
                                      "127.0.0.1: 1",
                                      "127.0.0.1:1x",
                                      "no such host.invalid:1"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        expect_fail(bad[i], true, SOTTO_STATUS_USAGE);
    }
}

/* Other machines only get in where that was said. */
static void
test_open(void **state)
{
    int fd = -1;
    unsigned port = 0;
    (void)state;
    expect_fail("0.0.0.0:0", false, SOTTO_STATUS_REFUSED);
    expect_fail(":0", false, SOTTO_STATUS_REFUSED);
    assert_int_equal(listening_open(":0", true, &fd, &port, &loopback, &err),
                     SOTTO_STATUS_OK);
    assert_true(port > 0);
    assert_false(loopback);
    (void)close(fd);
    assert_int_equal(listening_check("0.0.0.0:0", true, &err), SOTTO_STATUS_OK);
    assert_int_equal(listening_check("0.0.0.0:0", false, &err),
                     SOTTO_STATUS_REFUSED);
    assert_int_equal(listening_check("nowhere", true, &err),
                     SOTTO_STATUS_USAGE);
}

static void
test_taken(void **state)
{
    char place[64];
    int fd = -1;
    unsigned port = 0;
    (void)state;
    assert_int_equal(
        listening_open("127.0.0.1:0", false, &fd, &port, &loopback, &err),
        SOTTO_STATUS_OK);
    (void)snprintf(place, sizeof place, "127.0.0.1:%u", port);
    assert_true(loopback);
    expect_fail(place, false, SOTTO_STATUS_IO);
    assert_int_equal(listening_check(place, false, &err), SOTTO_STATUS_OK);
    assert_non_null(strstr(err.message, place));
    (void)close(fd);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
