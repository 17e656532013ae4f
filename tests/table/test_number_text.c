/*
 * test_number_text.c: numbers as people write them, and what is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "table/number_text.h"

static void
test_read(void **state)
{
    static const struct {
        const char *text;
        double number;
    } cases[] = {
        {"12", 12},
        {" -1.5e3 ", -1500},
        {"11.22%", 11.22},
        {"5 %", 5},
        {"$5", 5},
        {"-$5.25", -5.25},
        {"$-5", -5},
        {"$ 1,234.5", 1234.5},
        {"5 \xe2\x82\xac", 5},
        {"\xc2\xa3"
         "12,000",
         12000},
        {"1,234,567", 1234567},
        {"1 234", 1234},
        {"1\xc2\xa0"
         "234\xc2\xa0"
         "567.5",
         1234567.5},
        {"1'234", 1234},
        {"\xe2\x88\x92"
         "3",
         -3},
        {"(1,234)", -1234},
        {"($5)", -5},
        {".5%", 0.5},
        {"1e400", DBL_MAX},
        {"-1e400", -DBL_MAX},
        {"12345678901234567890123456789012345678901",
         12345678901234567890123456789012345678901.0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double number = 77;
        size_t size = strlen(cases[i].text);
        char *exact = malloc(size); /* so that reading too far shows */
        assert_non_null(exact);
        memcpy(exact, cases[i].text, size);
        if (!number_text_parse(exact, size, &number)) {
            fail_msg("\"%s\" is not read", cases[i].text);
        }
        assert_true(number == cases[i].number);
        free(exact);
    }
}

static void
test_refused(void **state)
{
    static const char *const texts[] = {
        "",         "%",     "$",       "1,23",      "1,2345", "1,234 567",
        "1234,567", "12 34", "1 2",     "--5",       "-$-5",   "$5$",
        "$5%",      "5%%",   "(5)",     "(1,234",    "1,234)", "-(1,234)",
        "10+",      "< 1",   "1 year",  "5 kg",      "1,234,", ",234",
        "1.234,5",  "A1",    "2011-12", "36 months", "1e5%e3", "$",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double number = 77;
        if (number_text_parse(texts[i], strlen(texts[i]), &number)) {
            fail_msg("\"%s\" is read", texts[i]);
        }
        assert_true(number == 77);
    }
}

/* A text beyond 64 bytes is a number only if it is a plain one. */
static void
test_long(void **state)
{
    char text[80];
    double number = 77;
    (void)state;
    memset(text, '1', sizeof text);
    assert_true(number_text_parse(text, sizeof text, &number));
    text[79] = '%';
    number = 77;
    assert_false(number_text_parse(text, sizeof text, &number));
    assert_true(number == 77);
    assert_true(number_text_parse(text + 16, 64, &number));
    assert_true(number > 1.1e62 && number < 1.2e62);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
