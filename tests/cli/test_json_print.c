/*
 * test_json_print.c: text is escaped, numbers read back the same. The
 * program's files are in no library, so the one under test is included, with
 * what it calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/json_print.c"

static void
assert_text(const char *text, const char *expected)
{
    char got[200] = "";
    FILE *to = fmemopen(got, sizeof got, "w");
    json_begin(to);
    json_text(to, "k", text);
    json_end(to);
    (void)fclose(to);
    assert_string_equal(got, expected);
}

static void
test_text(void **state)
{
    (void)state;
    assert_text(NULL, "{\"k\": null}\n");
    assert_text("", "{\"k\": \"\"}\n");
    assert_text("a\"b\\c", "{\"k\": \"a\\\"b\\\\c\"}\n");
    assert_text("\x01\n\x1f\x7f",
                "{\"k\": \"\\u0001\\u000a\\u001f\\u007f\"}\n");
    assert_text("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
                "{\"k\": \"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"}\n");
}

/* Cut short, overlong, a surrogate, beyond the last, a stray byte. */
static void
test_not_utf8(void **state)
{
    (void)state;
    assert_text("\xc3", "{\"k\": \"\\ufffd\"}\n");
    assert_text("\xe2\x82", "{\"k\": \"\\ufffd\\ufffd\"}\n");
    assert_text("\xc0\x80", "{\"k\": \"\\ufffd\\ufffd\"}\n");
    assert_text("\xed\xa0\x80", "{\"k\": \"\\ufffd\\ufffd\\ufffd\"}\n");
    assert_text("\xf4\x90\x80\x80",
                "{\"k\": \"\\ufffd\\ufffd\\ufffd\\ufffd\"}\n");
    assert_text("a\xff"
                "b",
                "{\"k\": \"a\\ufffdb\"}\n");
}

static void
assert_number(double number, const char *expected)
{
    char got[200] = "", whole[64];
    FILE *to = fmemopen(got, sizeof got, "w");
    json_begin(to);
    json_number(to, "n", number);
    json_end(to);
    (void)fclose(to);
    (void)snprintf(whole, sizeof whole, "{\"n\": %s}\n", expected);
    assert_string_equal(got, whole);
}

static void
test_numbers(void **state)
{
    static const double number[] = {4, 0.1, INFINITY};
    char got[200] = "";
    FILE *to = fmemopen(got, sizeof got, "w");
    (void)state;
    json_begin(to);
    json_numbers(to, "a", number, 3);
    json_numbers(to, "b", number, 1);
    json_numbers(to, "c", number, 0);
    json_end(to);
    (void)fclose(to);
    assert_string_equal(got, "{\"a\": [4,0.1,null], \"b\": [4], \"c\": []}\n");
}

static void
test_number(void **state)
{
    (void)state;
    assert_number(4, "4");
    assert_number(20, "20");
    assert_number(-1000000, "-1000000");
    assert_number(123456789012345, "123456789012345");
    assert_number(0, "0");
    assert_number(0.1, "0.1");
    assert_number(-2.5e-300, "-2.5e-300");
    assert_number(1.0 / 3, "0.3333333333333333");
    assert_number(0.1 + 0.2, "0.30000000000000004");
    assert_number(NAN, "null");
    assert_number(-INFINITY, "null");
}

static void
test_fields(void **state)
{
    char got[200] = "";
    FILE *to = fmemopen(got, sizeof got, "w");
    (void)state;
    for (int i = 0; i < 2; i++) {
        json_begin(to);
        json_size(to, "a", SIZE_MAX);
        json_decimal(to, "d", "0.10");
        json_bool(to, "b", true);
        json_bool(to, "c", false);
        json_end(to);
    }
    (void)fclose(to);
    assert_string_equal(got, "{\"a\": 18446744073709551615, \"d\": 0.10, "
                             "\"b\": true, \"c\": false}\n"
                             "{\"a\": 18446744073709551615, \"d\": 0.10, "
                             "\"b\": true, \"c\": false}\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),   cmocka_unit_test(test_not_utf8),
        cmocka_unit_test(test_number), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
