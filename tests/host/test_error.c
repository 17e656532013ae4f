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

/* Each failure sets the subject anew, and the caller's word counts. */
static void
test_about(void **state)
{
    struct sotto_error err;
    char large[600];
    (void)state;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(host_about(host_fail(&err, SOTTO_STATUS_INPUT, 0, "x"),
                                &err, SOTTO_ABOUT_SETTING, "aux"),
                     SOTTO_STATUS_INPUT);
    assert_string_equal(err.subject, "aux");
    assert_int_equal(err.about, SOTTO_ABOUT_SETTING);
    assert_string_equal(err.message, "x");
    assert_string_equal(err.remedy, "");
    assert_int_equal(
        host_about(SOTTO_STATUS_INPUT, &err, SOTTO_ABOUT_FILE, "data"),
        SOTTO_STATUS_INPUT);
    assert_string_equal(err.subject, "data");
    assert_int_equal(err.about, SOTTO_ABOUT_FILE);
    assert_int_equal(
        host_about(SOTTO_STATUS_OK, &err, SOTTO_ABOUT_COLUMN, "no"),
        SOTTO_STATUS_OK);
    assert_string_equal(err.subject, "data");
    assert_int_equal(
        host_about(host_fail_memory(&err), &err, SOTTO_ABOUT_COLUMN, "no"),
        SOTTO_STATUS_MEMORY);
    assert_string_equal(err.subject, "");
    assert_int_equal(err.about, SOTTO_ABOUT_NOTHING);
    assert_int_equal(host_about(SOTTO_STATUS_IO, NULL, SOTTO_ABOUT_FILE, "no"),
                     SOTTO_STATUS_IO);
    memset(large, 'x', sizeof large - 1);
    memcpy(large + sizeof large - 3, "yz", 3);
    assert_int_equal(host_about(SOTTO_STATUS_IO, &err, SOTTO_ABOUT_FILE, large),
                     SOTTO_STATUS_IO);
    assert_int_equal(strlen(err.subject), sizeof err.subject - 1);
    assert_string_equal(err.subject + sizeof err.subject - 3, "yz");
}

/* A failure has its remedies until the next one. */
static void
test_remedy(void **state)
{
    struct sotto_error err;
    (void)state;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(host_remedy(host_fail(&err, SOTTO_STATUS_LIMIT, 0, "x"),
                                 &err, "drop eps"),
                     SOTTO_STATUS_LIMIT);
    assert_string_equal(err.remedy, "drop eps");
    (void)host_fail(&err, SOTTO_STATUS_LIMIT, 0, "y");
    assert_string_equal(err.remedy, "");
    assert_int_equal(host_remedy(SOTTO_STATUS_LIMIT, NULL, "drop"),
                     SOTTO_STATUS_LIMIT);
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
        cmocka_unit_test(test_about),
        cmocka_unit_test(test_remedy),
        cmocka_unit_test(test_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
