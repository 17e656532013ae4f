/*
 * test_character.c: what is a character, and what a terminal may be shown. The
 * program's files are in no library, so the one under test is included.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/character.c"

static void
assert_character(const char *text, size_t size, unsigned code)
{
    unsigned got = 0;
    assert_int_equal(character_size(text, strlen(text), &got), size);
    assert_int_equal(got, code);
    assert_int_equal(character_size(text, size, NULL), size);
    if (size > 1) { /* cut short */
        assert_int_equal(character_size(text, size - 1, NULL), 0);
    }
}

static void
test_characters(void **state)
{
    (void)state;
    assert_character("ab", 1, 'a');
    assert_character("\x7f", 1, 0x7f);
    assert_character("\xc2\x80", 2, 0x80);
    assert_character("\xc3\xa9t", 2, 0xe9);
    assert_character("\xe2\x82\xac", 3, 0x20ac);
    assert_character("\xf4\x8f\xbf\xbf", 4, 0x10ffff);
}

/* A stray byte, overlong, a surrogate, beyond the last, broken off. */
static void
test_none(void **state)
{
    static const char *const none[] = {
        "\x80",         "\x9b",         "\xff",
        "\xc0\x80",     "\xe0\x80\x80", "\xed\xa0\x80",
        "\xf8\x80\x80", "\xc3(",        "\xf4\x90\x80\x80",
    };
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        unsigned code = 7;
        assert_int_equal(character_size(none[i], strlen(none[i]), &code), 0);
        assert_int_equal(code, 7);
    }
}

static void
test_shown(void **state)
{
    (void)state;
    assert_true(character_shown(' '));
    assert_true(character_shown('~'));
    assert_true(character_shown(0xa0));
    assert_true(character_shown(0x10ffff));
    assert_false(character_shown(0));
    assert_false(character_shown('\t'));
    assert_false(character_shown(0x1b));
    assert_false(character_shown(0x7f));
    assert_false(character_shown(0x9b));
    assert_false(character_shown(0x202e));
    assert_false(character_shown(0x2067));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_characters),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
