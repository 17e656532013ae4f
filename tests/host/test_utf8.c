/*
 * test_utf8.c: what is UTF-8 and what is not, and where.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "host/utf8.h"

/* Checks `sequence` alone and behind and before ASCII of every length. */
static void
assert_bad_at(const char *sequence, size_t position)
{
    size_t size = strlen(sequence);
    for (size_t before = 0; before < 20; before++) {
        uint8_t text[64];
        memset(text, 'x', sizeof text);
        memcpy(text + before, sequence, size);
        for (size_t after = 0; after < 20; after++) {
            size_t bad = position == size ? size + after : position;
            assert_int_equal(host_utf8_check(text, before + size + after),
                             before + bad);
        }
    }
}

static void
assert_valid(const char *sequence)
{
    assert_bad_at(sequence, strlen(sequence));
}

static void
test_valid(void **state)
{
    (void)state;
    assert_int_equal(host_utf8_check((const uint8_t *)"", 0), 0);
    assert_valid("a");
    assert_valid("\x7f");
    assert_valid("\xc2\x80");
    assert_valid("\xdf\xbf");
    assert_valid("\xe0\xa0\x80");
    assert_valid("\xed\x9f\xbf");
    assert_valid("\xee\x80\x80");
    assert_valid("\xef\xbf\xbf");
    assert_valid("\xf0\x90\x80\x80");
    assert_valid("\xf4\x8f\xbf\xbf");
    assert_valid("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
}

static void
test_invalid(void **state)
{
    (void)state;
    assert_bad_at("\x80", 0);
    assert_bad_at("\xbf", 0);
    assert_bad_at("\xc0\x80", 0);         /* overlong */
    assert_bad_at("\xc1\xbf", 0);         /* overlong */
    assert_bad_at("\xe0\x9f\xbf", 0);     /* overlong */
    assert_bad_at("\xf0\x8f\xbf\xbf", 0); /* overlong */
    assert_bad_at("\xed\xa0\x80", 0);     /* a surrogate */
    assert_bad_at("\xf4\x90\x80\x80", 0); /* above U+10FFFF */
    assert_bad_at("\xf5\x80\x80\x80", 0);
    assert_bad_at("\xff", 0);
    assert_bad_at("\xc3", 0); /* cut short */
    assert_bad_at("\xe2\x82", 0);
    assert_bad_at("\xf0\x9f\x98", 0);
    assert_bad_at("\xe2\x28\xa1", 0); /* not continued */
    assert_bad_at("\xf0\x9f\x28\x80", 0);
    assert_bad_at("\xc3\xa9\xff", 2);
}

static void
assert_decodes(const char *sequence, uint32_t character)
{
    const uint8_t *text = (const uint8_t *)sequence;
    size_t size = strlen(sequence);
    uint32_t got = 0;
    assert_int_equal(host_utf8_decode(text, size, &got), size);
    assert_int_equal(got, character);
    for (size_t cut = 1; cut < size; cut++) {
        assert_int_equal(host_utf8_decode(text, cut, &got), 0);
        assert_int_equal(got, character);
    }
}

static void
test_decode(void **state)
{
    uint32_t got = 7;
    (void)state;
    assert_decodes("a", 'a');
    assert_decodes("\xc2\x80", 0x80);
    assert_decodes("\xdf\xbf", 0x7ff);
    assert_decodes("\xe0\xa0\x80", 0x800);
    assert_decodes("\xe2\x82\xac", 0x20ac);
    assert_decodes("\xef\xbf\xbf", 0xffff);
    assert_decodes("\xf0\x9f\x98\x80", 0x1f600);
    assert_decodes("\xf4\x8f\xbf\xbf", 0x10ffff);
    assert_int_equal(host_utf8_decode((const uint8_t *)"", 1, &got), 1);
    assert_int_equal(got, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_decode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
