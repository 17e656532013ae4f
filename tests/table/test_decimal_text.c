/*
 * test_decimal_text.c: doubles from decimal text, against strtod.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/decimal_text.h"

static double
read_number(const char *text)
{
    double number = NAN;
    assert_true(decimal_text_parse(text, strlen(text), &number));
    return number;
}

/* The compiler's own reading of the literal, for each form. */
static void
test_forms(void **state)
{
    (void)state;
    assert_true(read_number("0") == 0.0);
    assert_true(read_number("+12") == 12.0);
    assert_true(read_number("-12.5") == -12.5);
    assert_true(read_number(".5") == 0.5);
    assert_true(read_number("5.") == 5.0);
    assert_true(read_number("1e3") == 1000.0);
    assert_true(read_number("1.25E+2") == 125.0);
    assert_true(read_number("1e-2") == 0.01);
    assert_true(read_number(" \t-7\t ") == -7.0);
    assert_true(read_number("000000000000000000000000001.50") == 1.5);
    assert_true(signbit(read_number("-0")) != 0);
    assert_true(read_number("9007199254740993") == 9007199254740992.0);
    assert_true(read_number("1e23") == 1e23);
    assert_true(read_number("0.1") == 0.1);
    assert_true(read_number("123456789012345678901234567890") ==
                123456789012345678901234567890.0);
}

static void
test_extremes(void **state)
{
    (void)state;
    assert_true(read_number("1.7976931348623157e308") == DBL_MAX);
    assert_true(read_number("1.7976931348623158e308") == DBL_MAX);
    assert_true(read_number("4.9406564584124654e-324") == DBL_TRUE_MIN);
    assert_true(read_number("2.4703282292062327e-324") == 0.0);
    assert_true(read_number("1e-99999999999999999999999999") == 0.0);
    assert_true(read_number("0e99999999999999999999999999") == 0.0);
    assert_true(read_number("0.000e400") == 0.0);
}

static void
test_refused(void **state)
{
    static const char *const texts[] = {
        "",
        " ",
        ".",
        "+",
        "-",
        "e5",
        "1e",
        "1e+",
        "1 2",
        "1,5",
        "0x10",
        "0x1p3",
        "inf",
        "-Infinity",
        "nan",
        "NaN",
        "--1",
        "+-1",
        "1.2.3",
        "1e5.0",
        "1_000",
        "1f",
        "- 1",
        "\n1",
        "1\n",
        "1e309",
        "-1e309",
        "٣",
        "1e99999999999999999999999",
        "1.797693134862315808e308",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double number = 77.0;
        assert_false(decimal_text_parse(texts[i], strlen(texts[i]), &number));
        assert_true(number == 77.0);
    }
    double number = 77.0;
    assert_false(decimal_text_parse(NULL, 0, &number));
    assert_false(decimal_text_parse("1\0", 2, &number));
}

/* Reads no further than it is told. */
static void
test_bounds(void **state)
{
    double number = 0.0;
    (void)state;
    assert_true(decimal_text_parse("12345", 2, &number));
    assert_true(number == 12.0);
}

/* Numbers of every length and size, against strtod in the C locale. */
static void
test_against_strtod(void **state)
{
    uint64_t noise = 12345;
    (void)state;
    for (int trial = 0; trial < 200000; trial++) {
        char text[64];
        noise = noise * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint64_t digits = noise >> (noise >> 58);
        int exponent = (int)(noise >> 20 & 1023) % 700 - 350;
        if (trial % 2 == 0) {
            exponent %= 25;
        }
        (void)snprintf(text, sizeof text, "%llu.%03ue%d",
                       (unsigned long long)digits, (unsigned)(noise & 511),
                       exponent);
        double expected = strtod(text, NULL);
        double number = INFINITY;
        bool read = decimal_text_parse(text, strlen(text), &number);
        assert_int_equal(read, isfinite(expected));
        assert_memory_equal(&number, &expected, sizeof number);
    }
}

/* The quick way and the plain one give the same answer, bit for bit. */
static void
assert_same(const char *text, size_t size)
{
    double quick = 77.0, plain = 77.0;
    bool read = decimal_text_parse(text, size, &quick);
    if (read != decimal_text_parse_plain(text, size, &plain) ||
        memcmp(&quick, &plain, sizeof quick) != 0) {
        fail_msg("\"%.*s\": %.17g and %.17g", (int)size, text, quick, plain);
    }
}

/* Points halfway between two doubles, and their neighbours: m 2^e, written out
   in full or cut to 19 digits. */
static void
test_halfway(void **state)
{
    uint64_t noise = 99;
    (void)state;
    for (int trial = 0; trial < 20000; trial++) {
        char text[128];
        noise = noise * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint64_t odd = (noise >> 10 | UINT64_C(1) << 53) | 1;
        int exponent = (int)(noise & 127) - 80;
        long double half = ldexpl((long double)odd, exponent);
        for (int digits = 14; digits < 24; digits++) {
            int size = snprintf(text, sizeof text, "%.*Le", digits, half);
            assert_same(text, (size_t)size);
        }
        int size = snprintf(text, sizeof text, "%.20Lf", half);
        assert_same(text, (size_t)size);
    }
}

/* Random letters of numbers: most are none. */
static void
test_nasty(void **state)
{
    static const char letters[] = "00123456789999..eE+-- \t\"x,";
    uint64_t noise = 7;
    (void)state;
    for (int trial = 0; trial < 300000; trial++) {
        char text[40];
        size_t size = 0;
        noise = noise * UINT64_C(6364136223846793005) + 1442695040888963407u;
        size_t most = (noise >> 59) + (noise >> 40 & 7);
        for (uint64_t n = noise; size < most; size++) {
            n = n * UINT64_C(6364136223846793005) + 1442695040888963407u;
            /* mostly digits, so that some are numbers */
            size_t kinds = (n >> 50 & 7) > 0 ? 15 : sizeof letters - 1;
            text[size] = letters[(n >> 33) % kinds];
        }
        assert_same(text, size);
    }
}

/* Digits by the thousand: the last of them can decide a tie. */
static void
test_long(void **state)
{
    size_t size = 5000;
    char *text = malloc(size + 1);
    (void)state;
    assert_non_null(text);
    int length = snprintf(text, size, "%.1080f", DBL_TRUE_MIN);
    assert_true(length > 1000);
    assert_true(read_number(text) == DBL_TRUE_MIN);

    /* 1 + 2^-53, halfway between 1 and the next double, then zeros. */
    length = snprintf(
        text, size, "1.00000000000000011102230246251565404236316680908203125");
    memset(text + length, '0', size - (size_t)length);
    text[size] = '\0';
    assert_true(read_number(text) == 1.0);
    text[size - 1] = '1';
    assert_true(read_number(text) == 1.0 + DBL_EPSILON);

    /* A long integer that its exponent brings back. */
    (void)snprintf(text, size, "3%0*de-4900", 4900, 0);
    assert_true(read_number(text) == 3.0);
    free(text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),          cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_against_strtod), cmocka_unit_test(test_halfway),
        cmocka_unit_test(test_nasty),          cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
