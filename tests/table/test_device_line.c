/*
 * test_device_line.c: one line to cells, whatever its bytes are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "table/device_line.h"

#define WIDTH 3u

static struct table_cell row[WIDTH];
static uint8_t bytes[256];

/* ---- Helpers ------------------------------------------------------------ */

/* Splits a line into three cells, the first of which is the person's. */
static bool
split_sized(const char *line, size_t size, bool exact, size_t person)
{
    const struct device_shape shape = {WIDTH, exact, person};
    memset(row, 0xa5, sizeof row);
    memcpy(bytes, line, size);
    return device_line_split(bytes, 0, size, &shape, row);
}

static bool
split(const char *line)
{
    return split_sized(line, strlen(line), true, 0);
}

/* A cell has this text; NULL: it is missing. */
static void
check_cell(size_t i, const char *text)
{
    assert_int_equal(row[i].missing, text == NULL);
    if (text != NULL) {
        assert_int_equal(row[i].size, strlen(text));
        assert_memory_equal(bytes + row[i].start, text, row[i].size);
    }
}

static void
check(const char *first, const char *second, const char *third)
{
    check_cell(0, first);
    check_cell(1, second);
    check_cell(2, third);
}

/* ---- Fields ------------------------------------------------------------- */

static void
test_ordinary(void **state)
{
    (void)state;
    assert_true(split("ann,red,30"));
    check("ann", "red", "30");
    assert_true(split(" ann\t, \"red, \"\"pale\"\"\" , 30 "));
    check("ann", "red, \"pale\"", "30");
    assert_true(split("ann,r\"d,\"\""));
    check("ann", "r\"d", NULL);
    assert_true(split("ann,,"));
    check("ann", NULL, NULL);
    assert_true(split("ann,NA,\"null\""));
    check("ann", NULL, NULL);
    assert_true(split("ann,\"a\rb\",30"));
    check("ann", "a\rb", "30");
}

static void
test_unreadable(void **state)
{
    (void)state;
    assert_false(split("ann,ros\xe9,30"));
    check("ann", NULL, "30");
    assert_false(split_sized("ann,r\0d,30", 10, true, 0));
    check("ann", NULL, "30");
    assert_false(split("ann,\"r\xff\",30"));
    check("ann", NULL, "30");
    assert_false(split("ann,a\rb,30"));
    check("ann", NULL, "30");
    assert_false(split("\xff,red,30"));
    check(NULL, "red", "30");
}

/* A quote that is not closed spoils its field and no other. */
static void
test_quotes(void **state)
{
    (void)state;
    assert_false(split("ann,\"red,30"));
    check("ann", NULL, "30");
    assert_false(split("ann,\"red\"x,30"));
    check("ann", NULL, "30");
    assert_false(split("ann,30,\""));
    check("ann", "30", NULL);
    assert_false(split("ann,\"a,\"b\""));
    check("ann", NULL, "b");
    assert_false(split("\"ann,red,30"));
    check(NULL, "red", "30");
}

static void
test_long_field(void **state)
{
    (void)state;
    const struct device_shape shape = {2, true, 0};
    size_t size = TABLE_MAX_FIELD + 3;
    uint8_t *line = malloc(size);
    assert_non_null(line);
    memset(line, 'x', size);
    line[1] = ',';
    assert_false(device_line_split(line, 0, size, &shape, row));
    assert_int_equal(row[0].missing, 0);
    assert_int_equal(row[1].missing, 1);
    assert_true(device_line_split(line, 0, size - 1, &shape, row));
    assert_int_equal(row[1].size, TABLE_MAX_FIELD);
    free(line);
}

/* ---- Rows --------------------------------------------------------------- */

/* A row of another width is missing but for the person. */
static void
test_width(void **state)
{
    (void)state;
    static const char *const lines[] = {"ann", "ann,red", "ann,red,13,5",
                                        "ann,,,,,,,,,"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_false(split(lines[i]));
        check("ann", NULL, NULL);
    }
    assert_false(split(""));
    check(NULL, NULL, NULL);
    assert_false(split(",,,"));
    check(NULL, NULL, NULL);
}

/* Nobody who is in the last column is moved by commas before. */
static void
test_person_last(void **state)
{
    (void)state;
    static const char *const lines[] = {"ann", "red,ann", "red,13,5,ann",
                                        "\"red,\",\"13,5,ann"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_false(split_sized(lines[i], strlen(lines[i]), true, 2));
        check(NULL, NULL, "ann");
    }
    assert_false(split_sized("a,b,c,d", 7, true, DEVICE_NOWHERE));
    check(NULL, NULL, NULL);
    assert_true(split_sized("red, 30 ,ann ", 13, true, 2));
    check("red", "30", "ann");
}

/* A name in quotes is found from the end, whatever stands before it. */
static void
test_person_quoted(void **state)
{
    (void)state;
    static const char *const names[] = {
        "\"ann\"",          " \"ann\" ",       "\",x\"",
        "\"a,\"\"b\"\",\"", "\"\"\"x\"",       "\"x\"\"\"",
        "\"\"\"\"",         "\" \"\",\"\" \"", "\"a\"\",b\""};
    static const char *const texts[] = {
        "ann", "ann", ",x", "a,\"b\",", "\"x", "x\"", "\"", " \",\" ", "a\",b"};
    static const char *const before[] = {"red,30",      "red,\"30", "\",\"",
                                         "\"a\",\"b\"", "a,b,c,\"", "\"\",\"\"",
                                         "\"",          "",         "x\"y,\" "};
    char line[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (size_t j = 0; j < sizeof before / sizeof *before; j++) {
            int size =
                snprintf(line, sizeof line, "%s,%s", before[j], names[i]);
            (void)split_sized(line, (size_t)size, true, 2);
            check_cell(2, texts[i]);
        }
        (void)split_sized(names[i], strlen(names[i]), true, 2);
        check(NULL, NULL, texts[i]);
    }
}

/* Without a header what follows is let be; what is short is missing. */
static void
test_inexact(void **state)
{
    (void)state;
    assert_true(split_sized("ann,red,13,5", 12, false, 0));
    check("ann", "red", "13");
    assert_false(split_sized("ann,red", 7, false, 0));
    check("ann", NULL, NULL);
    assert_false(split_sized("ann", 3, false, 0));
    check("ann", NULL, NULL);
}

/* Quotes, however they lie, take no more than linear time. */
static void
test_time(void **state)
{
    (void)state;
    static const char *const parts[] = {"\"a,",       "\"\"a,", "\"\"\"a,",
                                        "\"a,\"\"b,", "\" ,",   "\"\" x,"};
    const struct device_shape shape = {WIDTH, true, 0};
    size_t size = (size_t)1 << 22;
    uint8_t *line = malloc(size);
    assert_non_null(line);
    clock_t begin = clock();
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t length = strlen(parts[i]);
        for (size_t j = 0; j < size; j++) {
            line[j] = (uint8_t)parts[i][j % length];
        }
        (void)device_line_split(line, 0, size, &shape, row);
    }
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 60.0);
    free(line);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ordinary), cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_quotes),   cmocka_unit_test(test_long_field),
        cmocka_unit_test(test_width),    cmocka_unit_test(test_person_last),
        cmocka_unit_test(test_inexact),  cmocka_unit_test(test_person_quoted),
        cmocka_unit_test(test_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
