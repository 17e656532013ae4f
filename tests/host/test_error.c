/*
 * test_error.c: filling struct sotto_error, and names in messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "host/error.h"

#define SHOWN 160u

static void
test_fail(void **state)
{
    struct sotto_error err;
    char large[600];
    (void)state;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(
        host_fail(&err, SOTTO_STATUS_INPUT, 7, "%s %d", "number", 3),
        SOTTO_STATUS_INPUT);
    assert_int_equal(err.status, SOTTO_STATUS_INPUT);
    assert_int_equal(err.position, 7);
    assert_string_equal(err.message, "number 3");
    assert_int_equal(host_fail(NULL, SOTTO_STATUS_IO, 0, "x"), SOTTO_STATUS_IO);
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    assert_int_equal(host_fail(&err, SOTTO_STATUS_IO, 0, "%s", large),
                     SOTTO_STATUS_IO);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_int_equal(host_fail_memory(&err), SOTTO_STATUS_MEMORY);
    assert_string_equal(err.message, "out of memory");
}

/* The end is shown, and never half a character. */
static void
test_shown(void **state)
{
    char name[400];
    (void)state;
    assert_string_equal(host_shown(""), "");
    assert_string_equal(host_shown("a/b"), "a/b");
    memset(name, 'x', sizeof name);
    name[SHOWN] = '\0';
    assert_ptr_equal(host_shown(name), name);
    name[SHOWN] = 'x';
    name[SHOWN + 1] = '\0';
    assert_ptr_equal(host_shown(name), name + 1);
    memcpy(name, "\xe2\x82\xac", 3);
    assert_ptr_equal(host_shown(name), name + 3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fail),
        cmocka_unit_test(test_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
