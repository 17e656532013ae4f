/*
 * test_csv_field.c: fields are quoted where they must be, and only there.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/csv_field.h"

static void
assert_field(const char *text, const char *expected)
{
    char got[80] = "";
    FILE *to = fmemopen(got, sizeof got, "w");
    csv_field_print(to, text);
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

/* In a line of text; numbers that are none are empty. */
static void
test_line(void **state)
{
    struct host_text text;
    (void)state;
    host_text_init(&text, 100);
    csv_field_add(&text, "plain %d");
    csv_field_add(&text, "");
    host_text_print(&text, ";");
    csv_field_add(&text, "a\r\n\"b\",");
    host_text_print(&text, ";");
    csv_field_number(&text, 1.0 / 3);
    csv_field_number(&text, (double)NAN);
    csv_field_number(&text, (double)INFINITY);
    assert_string_equal(text.data, "plain %d;\"a  \"\"b\"\",\";0.3333333333");
    host_text_clear(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_field),
        cmocka_unit_test(test_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
