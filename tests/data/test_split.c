/*
 * test_split.c: rows split into shares, at random, within classes, by time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "sotto/sotto.h"

#define COUNT 1000u

static struct sotto_error err;

static struct sotto_table *
parse(const char *text)
{
    struct sotto_table *table = NULL;
    assert_int_equal(
        sotto_table_parse(text, strlen(text), "-", NULL, &table, &err),
        SOTTO_STATUS_OK);
    return table;
}

/* Every number below `count` at most once among the first `size`. */
static void
assert_distinct(const size_t *rows, size_t size, size_t count)
{
    bool seen[COUNT] = {false};
    for (size_t i = 0; i < size; i++) {
        assert_true(rows[i] < count && !seen[rows[i]]);
        seen[rows[i]] = true;
    }
}

/* ---- At random ---------------------------------------------------------- */

static void
test_shares(void **state)
{
    static const double share[] = {0.75, 0.25 / 3, 0.5 / 3};
    size_t rows[COUNT], again[COUNT], other[COUNT], sizes[3];
    size_t in_place = 0;
    (void)state;
    assert_int_equal(sotto_split_shares(COUNT, share, 3, 7, rows, sizes, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sizes[0], 750);
    assert_int_equal(sizes[1], 83);
    assert_int_equal(sizes[2], 167);
    assert_distinct(rows, COUNT, COUNT);
    assert_int_equal(sotto_split_shares(COUNT, share, 2, 7, again, sizes, &err),
                     SOTTO_STATUS_OK);
    assert_memory_equal(rows, again, sizeof rows);
    assert_int_equal(sotto_split_shares(COUNT, share, 3, 8, other, sizes, &err),
                     SOTTO_STATUS_OK);
    assert_memory_not_equal(rows, other, sizeof rows);
    for (size_t i = 0; i < COUNT; i++) {
        in_place += rows[i] == i;
    }
    assert_true(in_place < 10);
}

/* Files that were split before are split the same way for ever. */
static void
test_known(void **state)
{
    static const double share = 1;
    static const size_t expected[] = {1, 0, 7, 3, 6, 5, 2, 4};
    size_t rows[8], size;
    (void)state;
    assert_int_equal(sotto_split_shares(8, &share, 1, 1, rows, &size, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(size, 8);
    assert_memory_equal(rows, expected, sizeof expected);
}

/* All orders of three rows come up alike: chi-squared with 5 degrees of
   freedom is above 30 once in 70,000 times; the seeds are fixed. */
static void
test_uniform(void **state)
{
    static const double share = 1;
    size_t counts[27] = {0}, rows[3], size;
    double chi = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 6000; seed++) {
        assert_int_equal(
            sotto_split_shares(3, &share, 1, seed, rows, &size, &err),
            SOTTO_STATUS_OK);
        counts[rows[0] * 9 + rows[1] * 3 + rows[2]]++;
    }
    for (size_t i = 0; i < 27; i++) {
        double off = (double)counts[i] - 1000;
        chi += counts[i] > 0 ? off * off / 1000 : 0;
    }
    assert_true(chi < 30);
}

static void
test_bad_shares(void **state)
{
    static const double bad[][2] = {
        {0.5, 0.6}, {-0.1, 0.5}, {NAN, 0.1}, {INFINITY, 0}, {1.1, 0}};
    size_t rows[4], sizes[2];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memset(&err, 0xa5, sizeof err);
        assert_int_equal(sotto_split_shares(4, bad[i], 2, 0, rows, sizes, &err),
                         SOTTO_STATUS_USAGE);
        assert_int_equal(err.status, SOTTO_STATUS_USAGE);
        assert_non_null(strstr(err.message, "share"));
    }
    assert_int_equal(sotto_split_shares(4, bad[0], 0, 0, rows, sizes, NULL),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(sotto_split_shares(4, bad[0], 1, 0, rows, sizes, NULL),
                     SOTTO_STATUS_OK);
    assert_int_equal(sizes[0], 2);
}

/* ---- Within classes ----------------------------------------------------- */

static struct sotto_table *
parse_classes(void)
{
    static char text[16 * COUNT];
    size_t at = (size_t)snprintf(text, sizeof text, "n,kind\n");
    for (size_t i = 0; i < COUNT; i++) {
        const char *kind = i % 10 == 0 ? "b" : i % 10 == 1 ? "" : "a";
        at +=
            (size_t)snprintf(text + at, sizeof text - at, "%zu,%s\n", i, kind);
    }
    return parse(text);
}

static void
test_classes(void **state)
{
    static const double share[] = {0.1, 0.3, 0.5};
    struct sotto_table *table = parse_classes();
    size_t rows[COUNT], again[COUNT], sizes[3], at = 0;
    (void)state;
    assert_int_equal(
        sotto_split_classes(table, 1, share, 3, 5, rows, sizes, &err),
        SOTTO_STATUS_OK);
    assert_distinct(rows, 900, COUNT);
    for (size_t part = 0; part < 3; part++) {
        size_t rare = 0, none = 0, turns = 0;
        assert_int_equal(sizes[part], (size_t)(share[part] * COUNT + 0.5));
        for (size_t i = 0; i < sizes[part]; i++, at++) {
            rare += rows[at] % 10 == 0;
            none += rows[at] % 10 == 1;
            turns += i > 0 && rows[at] < rows[at - 1];
        }
        assert_int_equal(rare, sizes[part] / 10);
        assert_int_equal(none, sizes[part] / 10);
        assert_true(turns > sizes[part] / 4);
    }
    assert_int_equal(
        sotto_split_classes(table, 1, share, 3, 5, again, sizes, &err),
        SOTTO_STATUS_OK);
    assert_memory_equal(rows, again, 900 * sizeof *rows);
    sotto_table_free(table);
}

/* ---- By time ------------------------------------------------------------ */

static void
test_time(void **state)
{
    static const double share[] = {0.5, 0.25};
    struct sotto_table *table = parse("year,date,x\n"
                                      "10,2015-03-01,a\n"
                                      "9,2014-12,b\n"
                                      ",2015-03,c\n"
                                      "10,,d\n"
                                      "-1,2015-03,e\n");
    static const size_t by_year[] = {4, 1, 0, 3}, by_date[] = {1, 2, 4, 0};
    size_t rows[5], sizes[2];
    (void)state;
    assert_int_equal(sotto_split_time(table, 0, share, 2, rows, sizes, &err),
                     SOTTO_STATUS_OK);
    assert_memory_equal(rows, by_year, sizeof by_year);
    assert_int_equal(sizes[0], 2);
    assert_int_equal(sizes[1], 1);
    assert_int_equal(sotto_split_time(table, 1, share, 2, rows, sizes, &err),
                     SOTTO_STATUS_OK);
    assert_memory_equal(rows, by_date, sizeof by_date);
    sotto_table_free(table);
}

/* ---- Failures ----------------------------------------------------------- */

static void
test_bad_columns(void **state)
{
    static const uint8_t images[] = {0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 1, 1};
    static const double share = 1;
    struct sotto_table *table = NULL;
    size_t row, size;
    (void)state;
    assert_int_equal(
        sotto_table_parse(images, sizeof images, "-", NULL, &table, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(
        sotto_split_classes(table, 0, &share, 1, 0, &row, &size, &err),
        SOTTO_STATUS_INPUT);
    assert_string_equal(err.message, "column \"image\" holds images: it "
                                     "cannot tell a row's class");
    assert_int_equal(sotto_split_time(table, 0, &share, 1, &row, &size, &err),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(sotto_split_time(table, 1, &share, 1, &row, &size, &err),
                     SOTTO_STATUS_USAGE);
    assert_string_equal(err.message, "there is no column 2: the table has 1");
    sotto_table_free(table);
}

static void
test_memory(void **state)
{
    static const double share = 1;
    struct sotto_table *table = parse("a\nx\ny\n");
    size_t rows[2], size;
    (void)state;
    for (long n = 1; n <= 4; n++) {
        fail_alloc_at(n);
        assert_int_equal(
            sotto_split_classes(table, 0, &share, 1, 0, rows, &size, &err),
            SOTTO_STATUS_MEMORY);
    }
    fail_alloc_at(1);
    assert_int_equal(sotto_split_time(table, 0, &share, 1, rows, &size, &err),
                     SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
    sotto_table_free(table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),      cmocka_unit_test(test_known),
        cmocka_unit_test(test_uniform),     cmocka_unit_test(test_bad_shares),
        cmocka_unit_test(test_classes),     cmocka_unit_test(test_time),
        cmocka_unit_test(test_bad_columns), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
