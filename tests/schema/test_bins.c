/*
 * test_bins.c: ranges of a number: where they are cut, that no value decides an
 * edge, names.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../fail_alloc.h"
#include "schema/schema_fit.h"

#define ROWS 1000

static struct sotto_error err;

/* A table of one column, f(i) in row i. */
static struct sotto_table *
make_table(double (*f)(size_t i))
{
    size_t size = 64 * ROWS, at = 0;
    char *text = malloc(size);
    struct sotto_table *table = NULL;
    assert_non_null(text);
    at += (size_t)snprintf(text, size, "y\n");
    for (size_t i = 0; i < ROWS; i++) {
        at += (size_t)snprintf(text + at, size - at, "%.17g\n", f(i));
    }
    const struct sotto_table_options options = {.header = 1};
    assert_int_equal(
        sotto_table_parse(text, at, "y.csv", &options, &table, &err),
        SOTTO_STATUS_OK);
    free(text);
    return table;
}

static double
even(size_t i)
{
    return (double)i / 10;
}

static double
skewed(size_t i)
{
    return exp((double)(i * 7919 % ROWS) / 100);
}

static double
two(size_t i)
{
    return (double)(i % 2);
}

static double
one(size_t i)
{
    (void)i;
    return 3;
}

/* The share of values in each range, as a device has them. */
static void
check_shares(double (*f)(size_t i), const struct schema_column *column,
             double least, double most)
{
    size_t bins = column->count - 1;
    for (size_t b = 0; b < bins; b++) {
        size_t inside = 0;
        for (size_t i = 0; i < ROWS; i++) {
            double y = f(i);
            inside += (b == 0 || column->edges[b - 1] <= y) &&
                      (b + 1 == bins || y < column->edges[b]);
        }
        assert_in_range(inside, (size_t)(least * ROWS), (size_t)(most * ROWS));
    }
}

static enum sotto_status
fit(const struct sotto_table *table, size_t bins, struct schema *ret)
{
    enum sotto_status status = schema_init(ret, 1, &err);
    if (status == SOTTO_STATUS_OK) {
        status = schema_fit_label(ret, table, 0, NULL, bins, &err);
    }
    return status;
}

static void
test_quantiles(void **state)
{
    double (*const of[])(size_t) = {even, skewed};
    (void)state;
    for (size_t j = 0; j < 2; j++) {
        struct sotto_table *table = make_table(of[j]);
        struct schema schema;
        assert_int_equal(fit(table, 4, &schema), SOTTO_STATUS_OK);
        const struct schema_column *column = &schema.column[0];
        assert_int_equal(column->kind, SOTTO_COLUMN_BINS);
        assert_int_equal(column->count, 5);
        assert_int_equal(column->inputs, 0);
        check_shares(of[j], column, 0.15, 0.35);
        schema_clear(&schema);
        sotto_table_free(table);
    }
}

/* A grid, and names by it. */
static void
test_names(void **state)
{
    struct sotto_table *table = make_table(even);
    struct schema schema;
    (void)state;
    assert_int_equal(fit(table, 4, &schema), SOTTO_STATUS_OK);
    const struct schema_column *column = &schema.column[0];
    assert_string_equal(column->values[0], "below 20");
    assert_string_equal(column->values[1], "20 to 50");
    assert_string_equal(column->values[2], "50 to 80");
    assert_string_equal(column->values[3], "80 or more");
    assert_true(column->edges[0] == 20 && column->edges[2] == 80);
    schema_clear(&schema);
    sotto_table_free(table);
}

static double
mostly_zero(size_t i)
{
    return i % 10 < 6 ? 0 : (double)(i % 97) + 1;
}

/* Zeros, which most have, are a range of their own. */
static void
test_zeros(void **state)
{
    struct sotto_table *table = make_table(mostly_zero);
    struct schema schema;
    (void)state;
    assert_int_equal(fit(table, 4, &schema), SOTTO_STATUS_OK);
    const struct schema_column *column = &schema.column[0];
    size_t first = 0;
    for (size_t i = 0; i < ROWS; i++) {
        first += mostly_zero(i) < column->edges[0];
    }
    assert_in_range(first, 6 * ROWS / 10, 7 * ROWS / 10);
    schema_clear(&schema);
    sotto_table_free(table);
}

static size_t odd_one;

static double
moved(size_t i)
{
    return i == odd_one ? 1e9 : even(i);
}

/* No more ranges than 20 values each; and one value, however far it goes, moves
   an edge by a step of the grid at most, where its rank tips the rounding. */
static void
test_one_value(void **state)
{
    struct sotto_table *table = make_table(even);
    struct schema schema, other;
    (void)state;
    assert_int_equal(fit(table, 256, &schema), SOTTO_STATUS_OK);
    assert_true(schema.column[0].count <= ROWS / 20 + 1);
    schema_clear(&schema);
    assert_int_equal(fit(table, 4, &schema), SOTTO_STATUS_OK);
    sotto_table_free(table);
    for (odd_one = 0; odd_one < ROWS; odd_one += 111) {
        table = make_table(moved);
        assert_int_equal(fit(table, 4, &other), SOTTO_STATUS_OK);
        for (size_t j = 0; j < 3; j++) {
            assert_true(fabs(other.column[0].edges[j] -
                             schema.column[0].edges[j]) <= 10);
        }
        schema_clear(&other);
        sotto_table_free(table);
    }
    schema_clear(&schema);
}

/* A schema's range holds. */
static void
test_range(void **state)
{
    const struct sotto_schema_column as = {
        .name = "y", .type = SOTTO_SCHEMA_NUMBER, .low = 0, .high = 50};
    struct sotto_table *table = make_table(even);
    struct schema schema;
    (void)state;
    assert_int_equal(schema_init(&schema, 1, &err), SOTTO_STATUS_OK);
    assert_int_equal(schema_fit_label(&schema, table, 0, &as, 4, &err),
                     SOTTO_STATUS_OK);
    const struct schema_column *column = &schema.column[0];
    assert_true(column->edges[column->count - 3] < 50);
    assert_true(column->shift == 25 && column->scale == 0.04);
    schema_clear(&schema);
    sotto_table_free(table);
}

/* Fewer edges where values are few; none where there is one. */
static void
test_few_values(void **state)
{
    struct sotto_table *table = make_table(two);
    struct schema schema;
    (void)state;
    assert_int_equal(fit(table, 8, &schema), SOTTO_STATUS_OK);
    assert_int_equal(schema.column[0].count, 3);
    check_shares(two, &schema.column[0], 0.5, 0.5);
    schema_clear(&schema);
    sotto_table_free(table);
    table = make_table(one);
    assert_int_equal(fit(table, 4, &schema), SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "hardly more than one value"));
    schema_clear(&schema);
    sotto_table_free(table);
}

static void
test_memory(void **state)
{
    struct sotto_table *table = make_table(even);
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        struct schema schema = {0};
        fail_alloc_at(++n);
        status = fit(table, 4, &schema);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        schema_clear(&schema);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 4);
    sotto_table_free(table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles),  cmocka_unit_test(test_names),
        cmocka_unit_test(test_few_values), cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_one_value),  cmocka_unit_test(test_range),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
