/*
 * test_armour.c: comment lines and base64 lines, read strictly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "mechanism/armour.h"

/* Whether the text is one base64 line of two bytes, and which. */
static bool
read_two(const char *text, size_t size, bool mailed, uint8_t bytes[2])
{
    struct armour armour = {.text = text, .size = size, .mailed = mailed};
    bool good = armour_bytes(&armour, bytes, 2);
    assert_int_equal(armour.at, good ? size : 0);
    return good && armour_at_end(&armour);
}

/* "++8=" is the one spelling of these bytes: no other character will do. */
static void
test_one_spelling(void **state)
{
    uint8_t bytes[2];
    (void)state;
    assert_true(read_two("++8=\n", 5, false, bytes));
    assert_int_equal(bytes[0], 0xfb);
    assert_int_equal(bytes[1], 0xef);
    for (size_t at = 0; at < 5; at++) {
        char text[] = "++8=\n";
        for (int c = 0; c < 256; c++) {
            text[at] = (char)c;
            if (read_two(text, 5, false, bytes) && text[at] != "++8=\n"[at]) {
                /* Another character, then, stands for other bytes. */
                assert_false(bytes[0] == 0xfb && bytes[1] == 0xef);
                assert_in_range(at, 0, 2);
                assert_in_range(c, '+', 'z');
            }
        }
    }
    assert_false(read_two("++8\n", 4, false, bytes));
    assert_false(read_two("++8==\n", 6, false, bytes));
    assert_false(read_two("++ 8=\n", 6, false, bytes));
    assert_false(read_two("++9=\n", 5, false, bytes)); /* stray low bits */
    assert_false(read_two("--8=\n", 5, false, bytes)); /* URL alphabet */
    assert_false(read_two("\n", 1, false, bytes));
    assert_false(read_two("", 0, false, bytes));
    assert_false(read_two("", 0, true, bytes));
}

static void
test_mailed(void **state)
{
    uint8_t bytes[2];
    (void)state;
    assert_false(read_two("++8=", 4, false, bytes));
    assert_false(read_two("++8=\r\n", 6, false, bytes));
    assert_true(read_two("++8=", 4, true, bytes));
    assert_true(read_two("++8=\r\n", 6, true, bytes));
    assert_true(read_two("++8=\r", 5, true, bytes));
    assert_false(read_two("++8=\r\r\n", 7, true, bytes));
}

static void
test_comment(void **state)
{
    static const char text[] = "c: hello\nc: \nd: x\nc: a\0b\n";
    struct armour armour = {.text = text, .size = sizeof text - 1};
    const char *comment = NULL;
    size_t size = 0;
    (void)state;
    assert_false(armour_comment(&armour, "c: ", 8, &comment, &size));
    assert_int_equal(armour.at, 0);
    assert_true(armour_comment(&armour, "c: ", 9, &comment, &size));
    assert_ptr_equal(comment, text + 3);
    assert_int_equal(size, 5);
    assert_true(armour_comment(&armour, "c: ", 9, &comment, &size));
    assert_int_equal(size, 0);
    assert_false(armour_comment(&armour, "c: ", 9, &comment, &size));
    assert_int_equal(armour.at, 13);
    assert_true(armour_comment(&armour, "d: ", 9, &comment, &size));
    assert_false(armour_comment(&armour, "c: ", 9, &comment, &size));
    assert_false(armour_at_end(&armour));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_spelling),
        cmocka_unit_test(test_mailed),
        cmocka_unit_test(test_comment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
