/*
 * test_learning.c: that fit says so when memory thinned the prior.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "verb/learning.c"

static char noted[512];

void
cli_note(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)vsnprintf(noted, sizeof noted, format, list);
    va_end(list);
}

/* What the rest of learning.c calls, and these tests do not. */
void
cli_error(const char *format, ...)
{
    (void)format;
}

int
cli_fail(const struct sotto_error *err)
{
    (void)err;
    return CLI_EXIT_FAILED;
}

bool
cli_names_option(const struct sotto_error *err)
{
    (void)err;
    return false;
}

static void
test_thinned(void **state)
{
    (void)state;
    learning_note_thinned(100000, 0, 74048, 13500);
    assert_non_null(strstr(noted, "74048 of 100000 points"));
    assert_non_null(strstr(noted, "13500 reports may take 2 GB"));
    noted[0] = '\0';
    learning_note_thinned(100000, 80000, 74048, 13500);
    assert_non_null(strstr(noted, "74048 of 80000 points"));
}

/* All there are, or as few as were asked for: nothing to say. */
static void
test_whole(void **state)
{
    (void)state;
    noted[0] = '\0';
    learning_note_thinned(45000, 0, 45000, 13500);
    learning_note_thinned(45000, 9, 9, 13500);
    learning_note_thinned(45000, 50000, 45000, 13500);
    assert_string_equal(noted, "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thinned),
        cmocka_unit_test(test_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
