/*
 * test_made.c: tables made in memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "table/table.h"

#define ROWS ((size_t)3)

static struct sotto_error err;
static const double numbers[ROWS] = {1.5, (double)NAN, -2};
static const char *const texts[ROWS] = {"b,\"x", "", "007"};
static const uint8_t samples[ROWS * 4] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
static const struct sotto_image image = {2, 1, 2};

static enum sotto_status
make(struct sotto_table **ret_table)
{
    struct sotto_table *table = NULL;
    enum sotto_status status = sotto_table_new(ROWS, &table, &err);
    if (status == SOTTO_STATUS_OK) {
        status = sotto_table_add_numbers(table, "n", numbers, &err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_table_add_texts(table, "t", texts, &err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_table_add_bytes(table, "b", samples, &image, &err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_table = table;
    } else {
        sotto_table_free(table);
    }
    return status;
}

static void
check_cells(const struct sotto_table *table)
{
    struct sotto_value cell = sotto_table_cell(table, 0, 0);
    assert_int_equal(cell.kind, SOTTO_VALUE_NUMBER);
    assert_true(cell.number == 1.5);
    assert_int_equal(sotto_table_cell(table, 1, 0).kind, SOTTO_VALUE_MISSING);
    cell = sotto_table_cell(table, 0, 1);
    assert_int_equal(cell.kind, SOTTO_VALUE_TEXT);
    assert_int_equal(cell.size, 4);
    assert_memory_equal(cell.data, "b,\"x", 4);
    assert_true(isnan(cell.number));
    assert_int_equal(sotto_table_cell(table, 1, 1).kind, SOTTO_VALUE_MISSING);
    cell = sotto_table_cell(table, 2, 1);
    assert_memory_equal(cell.data, "007", 3);
    assert_true(cell.number == 7);
    cell = sotto_table_cell(table, 2, 2);
    assert_int_equal(cell.kind, SOTTO_VALUE_BYTES);
    assert_int_equal(cell.size, 4);
    assert_memory_equal(cell.data, samples + 8, 4);
}

static void
test_columns(void **state)
{
    struct sotto_table *table = NULL;
    (void)state;
    assert_int_equal(make(&table), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rows(table), ROWS);
    assert_int_equal(sotto_table_columns(table), 3);
    assert_string_equal(sotto_table_name(table, 2), "b");
    assert_int_equal(sotto_table_find(table, "b"), 2);
    assert_true(sotto_table_find(table, "c") == SIZE_MAX);
    assert_int_equal(sotto_table_kind(table, 0), SOTTO_COLUMN_NUMBER);
    assert_int_equal(sotto_table_kind(table, 1), SOTTO_COLUMN_CATEGORY);
    assert_int_equal(sotto_table_kind(table, 2), SOTTO_COLUMN_BYTES);
    assert_int_equal(sotto_table_width(table, 2), 4);
    assert_int_equal(sotto_table_image(table, 2).channels, 2);
    assert_int_equal(sotto_table_line(table, 0), 0);
    check_cells(table);
    /* Floats without texts, as those of .npy. */
    assert_int_equal(sotto_table_set_category(table, 0, &err),
                     SOTTO_STATUS_USAGE);
    sotto_table_free(table);
}

/* Columns stay when others leave, also in a selection of the table. */
static void
test_change(void **state)
{
    static const size_t rows[] = {2, 0};
    struct sotto_table *table = NULL, *some = NULL;
    (void)state;
    assert_int_equal(make(&table), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_select(table, rows, 2, &some, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rename(some, 1, "label", &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rename(some, 1, "label", &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rename(some, 0, "label", &err),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(sotto_table_rename(some, 3, "x", &err),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(sotto_table_drop(some, 0, &err), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_drop(some, 2, &err), SOTTO_STATUS_USAGE);
    assert_int_equal(sotto_table_columns(some), 2);
    assert_string_equal(sotto_table_name(some, 0), "label");
    assert_string_equal(sotto_table_name(some, 1), "b");
    assert_memory_equal(sotto_table_cell(some, 0, 0).data, "007", 3);
    assert_string_equal(sotto_table_name(table, 1), "t");
    check_cells(table);
    sotto_table_free(table);
    assert_memory_equal(sotto_table_cell(some, 1, 1).data, samples, 4);
    sotto_table_free(some);
}

/* A column read without a name has one of its own once it is renamed. */
static void
test_named(void **state)
{
    static const char text[] = "1\n2\n";
    const struct sotto_table_options options = {.header = 0};
    struct sotto_table *table = NULL, *labels = NULL;
    (void)state;
    assert_int_equal(sotto_table_parse(text, 4, "t", &options, &table, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_parse(text, 4, "t", &options, &labels, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rename(labels, 0, "label", &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_join(table, labels, &err), SOTTO_STATUS_OK);
    assert_string_equal(sotto_table_name(table, 0), "c1");
    assert_string_equal(sotto_table_name(table, 1), "label");
    sotto_table_free(table);
}

static void
test_refused(void **state)
{
    const struct sotto_image none = {2, 0, 1};
    const struct sotto_image huge = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    struct sotto_table *table = NULL;
    (void)state;
    assert_int_equal(sotto_table_new(0, &table, &err), SOTTO_STATUS_USAGE);
    assert_null(table);
    assert_int_equal(make(&table), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_add_numbers(table, "t", numbers, &err),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(sotto_table_add_texts(table, "n", texts, &err),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(sotto_table_add_bytes(table, "x", samples, &none, &err),
                     SOTTO_STATUS_LIMIT);
    assert_int_equal(sotto_table_add_bytes(table, "x", samples, &huge, &err),
                     SOTTO_STATUS_LIMIT);
    assert_int_equal(sotto_table_columns(table), 3);
    check_cells(table);
    sotto_table_free(table);
}

static void
test_memory(void **state)
{
    struct sotto_table *table = NULL;
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        fail_alloc_at(++n);
        status = make(&table);
        assert_int_equal(status == SOTTO_STATUS_OK, table != NULL);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 15);
    check_cells(table);
    sotto_table_free(table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns), cmocka_unit_test(test_change),
        cmocka_unit_test(test_named),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
