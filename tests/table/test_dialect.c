/*
 * test_dialect.c: files as people have them, read as the plain ones they mean.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "table/dialect.h"

static struct sotto_table *table;
static struct sotto_error err;

static int
teardown(void **state)
{
    (void)state;
    fail_alloc_at(0);
    sotto_table_free(table);
    table = NULL;
    return 0;
}

static void
parse(const char *text, const struct sotto_table_options *options)
{
    sotto_table_free(table);
    table = NULL;
    enum sotto_status status =
        sotto_table_parse(text, strlen(text), "f.csv", options, &table, &err);
    if (status != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
}

static void
expect_number(size_t row, size_t column, double number)
{
    struct sotto_value value = sotto_table_cell(table, row, column);
    assert_int_equal(value.kind, SOTTO_VALUE_NUMBER);
    assert_true(value.number == number);
}

static void
expect_text(size_t row, size_t column, const char *text)
{
    struct sotto_value value = sotto_table_cell(table, row, column);
    assert_int_equal(value.kind, SOTTO_VALUE_TEXT);
    assert_int_equal(value.size, strlen(text));
    assert_memory_equal(value.data, text, value.size);
}

/* As Excel writes in Europe. */
static void
test_semicolons(void **state)
{
    (void)state;
    parse("\xef\xbb\xbf\"na;me\";value;share\r\n"
          "A;3,5;\"10,1 %\"\r\n"
          "\"B \"\"b\"\";\nx\";1.234,56;5%\r\n"
          "c,d;-0,25;7%\r\n",
          NULL);
    assert_int_equal(sotto_table_rows(table), 3);
    assert_string_equal(sotto_table_name(table, 0), "na;me");
    expect_text(1, 0, "B \"b\";\nx");
    expect_text(2, 0, "c,d");
    expect_number(0, 1, 3.5);
    expect_number(1, 1, 1234.56);
    expect_number(2, 1, -0.25);
    expect_number(0, 2, 10.1);
    assert_int_equal(sotto_table_line(table, 2), 5);
    assert_int_equal(sotto_table_reading(table).separator, ';');
    assert_int_equal(sotto_table_reading(table).decimal, ',');
}

/* Points are points where the numbers say so, and thousands where commas are
   decimal. */
static void
test_decimal(void **state)
{
    const struct sotto_table_options comma = {
        .header = 1, .reading = {.separator = ';', .decimal = ','}};
    (void)state;
    parse("a;b\n1.5;x\n2.25;y\n", NULL);
    expect_number(0, 0, 1.5);
    assert_int_equal(sotto_table_reading(table).decimal, '.');
    parse("a;b\n1.234;x\n2.500;y\n", NULL);
    expect_number(0, 0, 1.234);
    parse("a;b\n1.234;x\n2.500;y\n", &comma);
    expect_number(0, 0, 1234);
    expect_number(1, 0, 2500);
    /* Without a header: every comma between digits. */
    parse("1,5;2,5\n3,5;4,5\n", NULL);
    assert_int_equal(sotto_table_columns(table), 2);
    expect_number(1, 1, 4.5);
}

static void
test_separators(void **state)
{
    (void)state;
    parse("a\tb\n1\tx,y\n\t z\n", NULL);
    expect_number(0, 0, 1);
    expect_text(0, 1, "x,y");
    assert_int_equal(sotto_table_cell(table, 1, 0).kind, SOTTO_VALUE_MISSING);
    parse("a|b\n1|\n2|y\n", NULL);
    expect_number(1, 0, 2);
    assert_int_equal(sotto_table_cell(table, 0, 1).kind, SOTTO_VALUE_MISSING);
    /* Semicolons in a file with commas are text. */
    parse("a,b\n1,x;y\n2,z\n", NULL);
    expect_text(0, 1, "x;y");
    assert_int_equal(sotto_table_reading(table).separator, ',');
    parse("words\nx;y\nz\n", NULL);
    assert_int_equal(sotto_table_columns(table), 1);
}

static void
test_latin1(void **state)
{
    const struct sotto_table_options latin1 = {.header = -1,
                                               .reading = {.latin1 = true}};
    (void)state;
    parse("a;b\nM\xfcller;5 \x80\nx;1.000,5 \x80\n", &latin1);
    expect_text(0, 0, "M\xc3\xbcller");
    expect_number(0, 1, 5);
    expect_number(1, 1, 1000.5);
}

/* An index as pandas and R write it. */
static void
test_index(void **state)
{
    (void)state;
    parse(",a\n0,5\n1,6\n", NULL);
    assert_int_equal(sotto_table_columns(table), 1);
    assert_string_equal(sotto_table_name(table, 0), "a");
    expect_number(1, 0, 6);
    assert_true(sotto_table_reading(table).indexed);
    assert_int_equal(sotto_table_line(table, 1), 3);
    parse("\"\",\"a\"\n\"1\",5\n\"2\",6\n", NULL);
    assert_true(sotto_table_reading(table).indexed);
    /* Only in the first place, and only beside others. */
    assert_int_equal(sotto_table_parse("a,\n1,2\n", 7, "f", NULL, &table, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "no name for column 2"));
}

static void
test_memory(void **state)
{
    static const char text[] = ";a\n1;2,5\n2;M\xfc\n";
    const struct sotto_table_options latin1 = {.header = -1,
                                               .reading = {.latin1 = true}};
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    (void)state;
    for (long i = 1; status == SOTTO_STATUS_MEMORY; i++) {
        fail_alloc_at(i);
        status = sotto_table_parse(text, sizeof text - 1, "f", &latin1, &table,
                                   &err);
        assert_true(i < 1000);
    }
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    expect_text(0, 0, "2.5");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_semicolons, teardown),
        cmocka_unit_test_teardown(test_decimal, teardown),
        cmocka_unit_test_teardown(test_separators, teardown),
        cmocka_unit_test_teardown(test_latin1, teardown),
        cmocka_unit_test_teardown(test_index, teardown),
        cmocka_unit_test_teardown(test_memory, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
