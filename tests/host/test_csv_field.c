/*
 * test_csv_field.c: fields are quoted where they must be, and only there.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

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

/* The second field of a line, in place. */
static void
assert_second(const char *line, const char *expected)
{
    char text[80];
    (void)snprintf(text, sizeof text, "%s", line);
    const char *end = text + strlen(text), *first = csv_field_end(text, end);
    assert_non_null(first);
    char *at = text + (first - text) + 1;
    const char *stop = csv_field_end(at, end);
    if (expected == NULL) {
        assert_null(stop);
    } else {
        assert_non_null(stop);
        csv_field_undo(at, text + (stop - text));
        assert_string_equal(at, expected);
    }
}

static void
test_read(void **state)
{
    (void)state;
    assert_second("a,b", "b");
    assert_second("a,b,c", "b");
    assert_second("a,", "");
    assert_second("a,,", "");
    assert_second("\"a,\"\"x\",\"\"", "");
    assert_second("a,\"b, \"\"c\"\"\",d", "b, \"c\"");
    assert_second("a,b\"c", "b\"c");
    assert_second("a,\"b", NULL);
    assert_second("a,\"b\"c", NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_field),
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
