/*
 * test_status.c: messages, pinned values, and filling struct sotto_error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"

static void
test_every_status_has_its_own_message(void **state)
{
    const char *message[] = {
#define STATUS_MESSAGE(value, name, text)                                      \
    sotto_status_message(SOTTO_STATUS_##name),
        SOTTO_STATUS_LIST(STATUS_MESSAGE)
#undef STATUS_MESSAGE
    };
    const size_t count = sizeof message / sizeof message[0];
    (void)state;
    for (size_t i = 0; i < count; i++) {
        assert_true(strlen(message[i]) > 0);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(message[i], message[j]);
        }
    }
    assert_string_equal(sotto_status_message((enum sotto_status)9999),
                        "unknown status");
}

/* Programs in other languages know them by number. */
static void
test_values_are_pinned(void **state)
{
    (void)state;
    assert_int_equal(SOTTO_STATUS_OK, 0);
    assert_int_equal(SOTTO_STATUS_MEMORY, 1);
    assert_int_equal(SOTTO_STATUS_ENTROPY, 2);
    assert_int_equal(SOTTO_STATUS_FORMAT, 3);
    assert_int_equal(SOTTO_STATUS_LIMIT, 4);
    assert_int_equal(SOTTO_STATUS_SIZE, 5);
    assert_int_equal(SOTTO_STATUS_BUDGET, 6);
    assert_int_equal(SOTTO_STATUS_PIN, 7);
    assert_int_equal(SOTTO_STATUS_SIGNATURE, 8);
    assert_int_equal(SOTTO_STATUS_IO, 9);
    assert_int_equal(SOTTO_STATUS_INPUT, 10);
    assert_int_equal(SOTTO_STATUS_USAGE, 11);
    assert_int_equal(SOTTO_STATUS_REFUSED, 12);
    assert_int_equal(SOTTO_STATUS_STOPPED, 13);
    assert_int_equal(SOTTO_STATUS_CHECK, 14);
}

static void
test_fail_fills_the_error(void **state)
{
    struct sotto_error err;
    (void)state;
    memset(&err, 0x5a, sizeof err);
    assert_int_equal(status_fail(&err, SOTTO_STATUS_FORMAT, 17, "no comma"),
                     SOTTO_STATUS_FORMAT);
    assert_int_equal(err.status, SOTTO_STATUS_FORMAT);
    assert_int_equal(err.position, 17);
    assert_string_equal(err.message, "no comma");
    assert_int_equal(status_fail(NULL, SOTTO_STATUS_LIMIT, 0, "ignored"),
                     SOTTO_STATUS_LIMIT);
}

static void
test_fail_cuts_a_long_text(void **state)
{
    struct sotto_error err;
    char text[2 * sizeof err.message];
    (void)state;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    memset(&err, 0x5a, sizeof err);
    (void)status_fail(&err, SOTTO_STATUS_INPUT, 0, text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_status_has_its_own_message),
        cmocka_unit_test(test_values_are_pinned),
        cmocka_unit_test(test_fail_fills_the_error),
        cmocka_unit_test(test_fail_cuts_a_long_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
