/*
 * test_csv.c: CSV text to cells, and every way the text can be wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "table/table.h"

static struct sotto_table *table;
static struct sotto_error err;

/* ---- Helpers ------------------------------------------------------------ */

static int
setup(void **state)
{
    (void)state;
    table = NULL;
    memset(&err, 0xa5, sizeof err);
    fail_alloc_at(0);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    sotto_table_free(table);
    return 0;
}

static enum sotto_status
parse_sized(const void *text, size_t size, int header)
{
    const struct sotto_table_options options = {.header = header};
    sotto_table_free(table);
    table = NULL;
    return sotto_table_parse(text, size, "file.csv", &options, &table, &err);
}

static void
parse(const char *text, int header, size_t rows, size_t columns)
{
    assert_int_equal(parse_sized(text, strlen(text), header), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rows(table), rows);
    assert_int_equal(sotto_table_columns(table), columns);
}

/* The text is refused at `position` with `message` after the file's name. */
static void
refuse_sized(const void *text, size_t size, int header, size_t position,
             const char *message)
{
    char expected[512];
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(parse_sized(text, size, header), SOTTO_STATUS_INPUT);
    assert_null(table);
    assert_int_equal(err.status, SOTTO_STATUS_INPUT);
    assert_int_equal(err.position, position);
    (void)snprintf(expected, sizeof expected, "file.csv: %s", message);
    assert_string_equal(err.message, expected);
}

static void
refuse(const char *text, int header, size_t position, const char *message)
{
    refuse_sized(text, strlen(text), header, position, message);
}

static void
assert_missing(size_t row, size_t column)
{
    struct sotto_value value = sotto_table_cell(table, row, column);
    assert_int_equal(value.kind, SOTTO_VALUE_MISSING);
    assert_null(value.data);
    assert_int_equal(value.size, 0);
}

static void
assert_text(size_t row, size_t column, const char *text)
{
    struct sotto_value value = sotto_table_cell(table, row, column);
    assert_int_equal(value.kind, SOTTO_VALUE_TEXT);
    assert_int_equal(value.size, strlen(text));
    assert_memory_equal(value.data, text, value.size);
}

static void
assert_number(size_t row, size_t column, double number, const char *text)
{
    struct sotto_value value = sotto_table_cell(table, row, column);
    assert_int_equal(value.kind, SOTTO_VALUE_NUMBER);
    assert_true(value.number == number);
    assert_int_equal(value.size, strlen(text));
    assert_memory_equal(value.data, text, value.size);
}

/* ---- What is read ------------------------------------------------------- */

static void
test_plain(void **state)
{
    (void)state;
    parse("age,sex\n31,f\n-2.5e1,m\n", -1, 2, 2);
    assert_string_equal(sotto_table_name(table, 0), "age");
    assert_string_equal(sotto_table_name(table, 1), "sex");
    assert_int_equal(sotto_table_kind(table, 0), SOTTO_COLUMN_NUMBER);
    assert_int_equal(sotto_table_kind(table, 1), SOTTO_COLUMN_CATEGORY);
    assert_int_equal(sotto_table_width(table, 0), 0);
    assert_number(0, 0, 31.0, "31");
    assert_number(1, 0, -25.0, "-2.5e1");
    assert_text(0, 1, "f");
    assert_text(1, 1, "m");
    assert_int_equal(sotto_table_line(table, 0), 2);
    assert_int_equal(sotto_table_line(table, 1), 3);
}

/* A last line without a newline, CRLF, a byte-order mark, blank lines last. */
static void
test_line_ends(void **state)
{
    static const char *const texts[] = {
        "a,b\n1,2\n3,x",
        "a,b\r\n1,2\r\n3,x\r\n",
        "\xef\xbb\xbf\x61,b\r\n1,2\n3,x\r",
        "a,b\n1,2\n3,x\n\n \n\t\r\n\r\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        parse(texts[i], -1, 2, 2);
        assert_string_equal(sotto_table_name(table, 0), "a");
        assert_number(1, 0, 3.0, "3");
        assert_text(1, 1, "x");
        assert_int_equal(sotto_table_line(table, 1), 3);
    }
}

static void
test_quotes(void **state)
{
    (void)state;
    parse("\"the \"\"name\"\"\",b\n\"x, y\",\"\"\"\"\n"
          "\"two\r\nlines\n\", 5\" pipe \n  \" kept \"\t,\"\"\n",
          -1, 3, 2);
    assert_string_equal(sotto_table_name(table, 0), "the \"name\"");
    assert_text(0, 0, "x, y");
    assert_text(0, 1, "\"");
    assert_text(1, 0, "two\r\nlines\n");
    assert_text(1, 1, "5\" pipe");
    assert_text(2, 0, " kept ");
    assert_missing(2, 1);
    assert_int_equal(sotto_table_line(table, 0), 2);
    assert_int_equal(sotto_table_line(table, 1), 3);
    assert_int_equal(sotto_table_line(table, 2), 6);
}

static void
test_blanks(void **state)
{
    (void)state;
    parse(" a\t, b c \n  x y ,\t 7 \n\t, \" 8\" \n", -1, 2, 2);
    assert_string_equal(sotto_table_name(table, 0), "a");
    assert_string_equal(sotto_table_name(table, 1), "b c");
    assert_text(0, 0, "x y");
    assert_missing(1, 0);
    assert_number(0, 1, 7.0, "7");
    assert_number(1, 1, 8.0, " 8");
}

static void
test_missing(void **state)
{
    (void)state;
    parse("a,b,c,d,e,f,g\n,NA,n/A,nan,NULL,?,\"na\"\n1,2,3,4,5,6,7\n", -1, 2,
          7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(sotto_table_kind(table, i), SOTTO_COLUMN_NUMBER);
        assert_missing(0, i);
        assert_int_equal(sotto_table_cell(table, 1, i).kind,
                         SOTTO_VALUE_NUMBER);
    }
    /* An empty field is missing in quotes, too: programs that quote all
       fields write it so. */
    parse("a,b\n\"\",\n1,2\n", -1, 2, 2);
    assert_int_equal(sotto_table_kind(table, 0), SOTTO_COLUMN_NUMBER);
    assert_missing(0, 0);
    assert_missing(0, 1);
    /* Words that only begin so are text. */
    parse("a\nNAN0\n??\nnulls\nN/\n", -1, 4, 1);
    for (size_t row = 0; row < 4; row++) {
        assert_int_equal(sotto_table_cell(table, row, 0).kind,
                         SOTTO_VALUE_TEXT);
    }
}

/* Numbers in a CATEGORY column keep their value beside their text. */
static void
test_mixed(void **state)
{
    (void)state;
    parse("a\n1\n1.0\nx\n1e999\n", -1, 4, 1);
    assert_int_equal(sotto_table_kind(table, 0), SOTTO_COLUMN_CATEGORY);
    assert_text(0, 0, "1");
    assert_text(1, 0, "1.0");
    assert_text(3, 0, "1e999");
    assert_true(sotto_table_cell(table, 1, 0).number == 1.0);
    assert_true(isnan(sotto_table_cell(table, 2, 0).number));
    /* Beyond a double is beyond any range, and no word. */
    assert_true(sotto_table_cell(table, 3, 0).number == DBL_MAX);
}

static void
test_header(void **state)
{
    (void)state;
    parse("a,1\n2,3\n", -1, 2, 2);
    assert_string_equal(sotto_table_name(table, 1), "c2");
    assert_text(0, 0, "a");
    assert_int_equal(sotto_table_line(table, 0), 1);
    parse("a,b\n2,3\n", 0, 2, 2);
    assert_string_equal(sotto_table_name(table, 0), "c1");
    parse("1,2\n3,4\n", 1, 1, 2);
    assert_string_equal(sotto_table_name(table, 1), "2");
    assert_int_equal(sotto_table_line(table, 0), 2);
    parse("x\n", 0, 1, 1);
    parse("inf,nan\n1,2\n", -1, 1, 2);
    assert_string_equal(sotto_table_name(table, 0), "inf");

    sotto_table_free(table);
    assert_int_equal(sotto_table_parse("a,b\n1,2", 7, "-", NULL, &table, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rows(table), 1);
}

/* In a single column a blank line is a missing value, but not at the end. */
static void
test_one_column(void **state)
{
    (void)state;
    parse("a\n1\n\n  \n2\n\n\n", -1, 4, 1);
    assert_number(0, 0, 1.0, "1");
    assert_missing(1, 0);
    assert_missing(2, 0);
    assert_number(3, 0, 2.0, "2");
    assert_int_equal(sotto_table_line(table, 3), 5);
    parse("\n1\n", 0, 2, 1);
    assert_missing(0, 0);
}

static void
test_last_field_empty(void **state)
{
    (void)state;
    parse("a,b\n1,\n2,", -1, 2, 2);
    assert_missing(0, 1);
    assert_missing(1, 1);
    assert_int_equal(sotto_table_kind(table, 1), SOTTO_COLUMN_NUMBER);
}

static void
test_largest(void **state)
{
    const size_t columns = TABLE_MAX_COLUMNS;
    char *text = malloc(TABLE_MAX_FIELD + 16);
    (void)state;
    assert_non_null(text);
    memset(text, 'x', TABLE_MAX_FIELD);
    assert_int_equal(parse_sized(text, TABLE_MAX_FIELD, 0), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_cell(table, 0, 0).size, TABLE_MAX_FIELD);

    memset(text, '"', TABLE_MAX_FIELD + 2);
    memset(text + 1, 'x', TABLE_MAX_FIELD);
    assert_int_equal(parse_sized(text, TABLE_MAX_FIELD + 2, 0),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_cell(table, 0, 0).size, TABLE_MAX_FIELD);

    memset(text, ',', columns);
    assert_int_equal(parse_sized(text, columns - 1, 0), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_columns(table), columns);
    assert_string_equal(sotto_table_name(table, columns - 1), "c65536");
    free(text);
}

/* Enough rows for every array to grow, against what was written. */
static void
test_many_rows(void **state)
{
    const size_t rows = 20000;
    char *text = malloc(rows * 32);
    size_t size = 0;
    (void)state;
    assert_non_null(text);
    for (size_t row = 0; row < rows; row++) {
        size += (size_t)snprintf(text + size, 32, "%zu,v%zu,%zu.5\n", row,
                                 row % 7, row);
    }
    assert_int_equal(parse_sized(text, size, -1), SOTTO_STATUS_OK);
    free(text);
    assert_int_equal(sotto_table_rows(table), rows);
    for (size_t row = 0; row < rows; row++) {
        char category[8];
        (void)snprintf(category, sizeof category, "v%zu", row % 7);
        assert_true(sotto_table_cell(table, row, 0).number == (double)row);
        assert_text(row, 1, category);
        assert_true(sotto_table_cell(table, row, 2).number ==
                    (double)row + 0.5);
        assert_int_equal(sotto_table_line(table, row), row + 1);
    }
}

/* ---- What is refused ---------------------------------------------------- */

static void
test_ragged(void **state)
{
    (void)state;
    refuse("a,b\n1,2\n3,4\n5,6,7,8\n", -1, 12,
           "row 3 (line 4) has 4 fields, expected 2: every row needs as many "
           "as the first one; a field with a comma in it must stand in "
           "quotes");
    refuse("1,\"2\n\"\n3\n", -1, 7,
           "row 2 (line 3) has 1 fields, expected 2: every row needs as many "
           "as the first one; a field with a comma in it must stand in "
           "quotes");
}

static void
test_bad_quotes(void **state)
{
    (void)state;
    refuse("a,b\n1,2\n3,\"4\n5,6\n", -1, 10,
           "the quote that opens on line 3 (field 2) is never closed: close "
           "it, and double a quote that belongs to the text");
    refuse("a,b\n\"", -1, 4,
           "the quote that opens on line 2 (field 1) is never closed: close "
           "it, and double a quote that belongs to the text");
    refuse("a,b\n1,\"2\" x\n", -1, 10,
           "row 1 (line 2), field 2: text after the closing quote: double a "
           "quote that belongs to the text");
    refuse("\"a\"\"\"b\n", -1, 5,
           "the first row (line 1), field 1: text after the closing quote: "
           "double a quote that belongs to the text");
}

static void
test_bad_text(void **state)
{
    (void)state;
    refuse_sized("a,b\n1,\0\n", 8, -1, 6,
                 "line 2 holds a NUL byte (offset 6): this is not a text "
                 "file, or a damaged one");
    refuse("a\n1\ncaf\xe9\n", -1, 7,
           "line 3 is not UTF-8 (byte 0xe9 at offset 7): convert the file, "
           "for instance with iconv -f LATIN1 -t UTF-8, or say that its "
           "encoding is latin1");
    refuse_sized("\xff\xfe"
                 "a\0",
                 4, -1, 0, "is UTF-16 text: save it as UTF-8");
    refuse("a,b\r1,2\r", -1, 3,
           "the first row (line 1), field 2: a carriage return without a "
           "line feed: end every line with LF or CRLF");
}

static void
test_nothing(void **state)
{
    static const char *const texts[] = {"", "\n", " \r\n\n", "\xef\xbb\xbf\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (int header = -1; header <= 1; header++) {
            refuse(texts[i], header, 0,
                   "the file is empty: give a CSV, IDX or .npy file");
        }
    }
    refuse_sized(NULL, 0, -1, 0,
                 "the file is empty: give a CSV, IDX or .npy file");
    refuse("a,b\n", -1, 3,
           "has a header but no rows: add some, or say that the file has no "
           "header");
}

static void
test_blank_lines(void **state)
{
    (void)state;
    refuse("a,b\n1,2\n\n3,4\n", -1, 8, "line 3 is blank: remove it");
    refuse("\na,b\n1,2\n", -1, 0, "line 1 is blank: remove it");
    refuse("  \na\n", 1, 0, "line 1 is blank: remove it");
}

static void
test_bad_names(void **state)
{
    (void)state;
    refuse("a,,b\n1,2,3\n", -1, 2,
           "the header (line 1) has no name for column 2: name it, or say "
           "that the file has no header");
    refuse("a,b,\"\"\n1,2,3\n", -1, 5,
           "the header (line 1) has no name for column 3: name it, or say "
           "that the file has no header");
    refuse("x,a,b,a\n1,2,3,4\n", -1, 6,
           "the header (line 1) has the name \"a\" twice, the second time "
           "for column 4: rename one, or say that the file has no header");
}

static void
test_too_large(void **state)
{
    char *text = malloc(TABLE_MAX_FIELD + 16);
    (void)state;
    assert_non_null(text);
    memset(text, 'x', TABLE_MAX_FIELD + 16);
    memcpy(text, "a\n", 2);
    refuse_sized(text, TABLE_MAX_FIELD + 3, -1, 2,
                 "row 1 (line 2), field 1: is longer than 1 MiB");
    text[2] = '"';
    refuse_sized(text, TABLE_MAX_FIELD + 16, -1, 3,
                 "row 1 (line 2), field 1: is longer than 1 MiB: is its "
                 "closing quote missing?");
    memset(text, ',', TABLE_MAX_COLUMNS);
    refuse_sized(text, TABLE_MAX_COLUMNS, 0, TABLE_MAX_COLUMNS,
                 "the first row (line 1), field 65537: more than 65536 "
                 "columns");
    free(text);
}

/* ---- Surroundings ------------------------------------------------------- */

/* Where a locale with a decimal comma is installed, it changes nothing. */
static void
test_locale(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE",
                                        "fr_FR.UTF-8", "fr_FR"};
    bool set = false;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !set; i++) {
        set = setlocale(LC_ALL, names[i]) != NULL;
    }
    parse("a\n1.5\n0.1234567890123456789\n", -1, 2, 1);
    (void)setlocale(LC_ALL, "C");
    assert_number(0, 0, 1.5, "1.5");
    assert_number(1, 0, 0.1234567890123456789, "0.1234567890123456789");
}

/* Every allocation fails in turn, and nothing leaks or breaks. */
static void
test_memory(void **state)
{
    static const char *const texts[] = {"a,b\n1,x\n2,\"y\"\"\"\n", "1,x\n2,y"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        enum sotto_status status;
        long n = 0;
        do {
            memset(&err, 0xa5, sizeof err);
            fail_alloc_at(++n);
            status = parse_sized(texts[i], strlen(texts[i]), -1);
            if (status != SOTTO_STATUS_OK) {
                assert_int_equal(status, SOTTO_STATUS_MEMORY);
                assert_int_equal(err.status, SOTTO_STATUS_MEMORY);
                assert_int_equal(err.position, 0);
                assert_string_equal(err.message, "out of memory");
                assert_null(table);
            }
        } while (fail_alloc_count() >= n);
        fail_alloc_at(0);
        assert_int_equal(status, SOTTO_STATUS_OK);
        assert_true(n > 8);
        assert_int_equal(sotto_table_rows(table), 2);
    }
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_plain),
        TEST(test_line_ends),
        TEST(test_quotes),
        TEST(test_blanks),
        TEST(test_missing),
        TEST(test_mixed),
        TEST(test_header),
        TEST(test_one_column),
        TEST(test_last_field_empty),
        TEST(test_largest),
        TEST(test_many_rows),
        TEST(test_ragged),
        TEST(test_bad_quotes),
        TEST(test_bad_text),
        TEST(test_nothing),
        TEST(test_blank_lines),
        TEST(test_bad_names),
        TEST(test_too_large),
        TEST(test_locale),
        TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
