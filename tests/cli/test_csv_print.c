/*
 * test_csv_print.c: fields are quoted where they must be, and only there. The
 * program's files are in no library, so the one under test is included.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/csv_print.c"

static void
assert_field(const char *text, const char *expected)
{
    char got[80] = "";
    FILE *to = fmemopen(got, sizeof got, "w");
    csv_field(to, text);
    (void)fclose(to);
    assert_string_equal(got, expected);
}

static void
test_field(void **state)
{
    (void)state;
    assert_field("", "");
    assert_field("plain text; 1.5", "plain text; 1.5");
    assert_field("100%d", "100%d");
    assert_field("a,b", "\"a,b\"");
    assert_field("say \"yes\"", "\"say \"\"yes\"\"\"");
    assert_field("two\nlines", "\"two\nlines\"");
    assert_field("two\rlines, %s", "\"two\rlines, %s\"");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
