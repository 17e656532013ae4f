/*
 * test_printable.c: text of others, made safe to show.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "fail_alloc.h"
#include "host/printable.h"

#define R "\xef\xbf\xbd"

static void
assert_shown(const char *from, size_t most, const char *expected)
{
    struct host_text text;
    host_text_init(&text, 10000);
    host_text_add(&text, "", 0);
    host_printable_add(&text, from, most);
    assert_false(text.failed);
    assert_string_equal(text.data, expected);
    host_text_clear(&text);
}

static void
test_kept(void **state)
{
    static const char *const kept[] = {
        "",
        "plain text ~",
        "\xc2\xa0",         /* U+A0, the first behind C1 */
        "\xdf\xbf",         /* U+7FF */
        "\xe0\xa0\x80",     /* U+800 */
        "\xed\x9f\xbf",     /* U+D7FF */
        "\xee\x80\x80",     /* U+E000 */
        "\xef\xbf\xbf",     /* U+FFFF */
        "\xf0\x90\x80\x80", /* U+10000 */
        "\xf4\x8f\xbf\xbf", /* U+10FFFF */
        R,
    };
    (void)state;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        assert_shown(kept[i], 100, kept[i]);
    }
}

static void
test_replaced(void **state)
{
    static const char *const rows[][2] = {
        {"\x1b[0m", R "[0m"},
        {"a\nb\rc\td\x7f", "a" R "b" R "c" R "d" R},
        {"\xc2\x9b", R},               /* C1: CSI */
        {"\xe2\x80\xae", R},           /* right-to-left override */
        {"\xe2\x80\xa8", R},           /* line separator */
        {"\xe2\x81\xa6", R},           /* isolate */
        {"\xef\xbb\xbf", R},           /* byte-order mark */
        {"\x80", R},                   /* a continuation alone */
        {"\xc3", R},                   /* cut short */
        {"\xe2\x82", R R},             /* cut short */
        {"\xc3(", R "("},              /* not continued */
        {"\xc0\xaf", R R},             /* overlong */
        {"\xe0\x80\xaf", R R R},       /* overlong */
        {"\xed\xa0\x80", R R R},       /* a surrogate */
        {"\xf4\x90\x80\x80", R R R R}, /* above U+10FFFF */
        {"\xff\xfe", R R},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_shown(rows[i][0], 100, rows[i][1]);
    }
}

static void
test_cut(void **state)
{
    (void)state;
    assert_shown("abc", 3, "abc");
    assert_shown("abcd", 3, "ab...");
    assert_shown("\xc3\xa4\xc3\xb6\xc3\xbc", 3, "\xc3\xa4\xc3\xb6\xc3\xbc");
    assert_shown("\xc3\xa4\xc3\xb6\xc3\xbcx", 3, "\xc3\xa4\xc3\xb6...");
}

static void
test_memory(void **state)
{
    struct host_text text;
    (void)state;
    host_text_init(&text, 10000);
    fail_alloc_at(1);
    host_printable_add(&text, "abc", 10);
    fail_alloc_at(0);
    assert_true(text.failed);
    host_text_clear(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
