/*
 * test_declared.c: labels that no record has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "table/table.h"

static struct sotto_error err;
static const char text[] = "a,b\n1,2\n3,4\n";

static struct sotto_table *
make(void)
{
    struct sotto_table *table = NULL;
    assert_int_equal(
        sotto_table_parse(text, sizeof text - 1, "t.csv", NULL, &table, &err),
        SOTTO_STATUS_OK);
    return table;
}

/* A column of categories, all missing, whose words survive a selection. */
static void
test_column(void **state)
{
    static const char *const values[] = {"yes", "no", "it depends"};
    const size_t second[] = {1};
    struct sotto_table *table = make(), *some = NULL;
    const uint8_t *bytes;
    size_t count;
    (void)state;
    assert_int_equal(
        sotto_table_declare_label(table, "answer", values, 3, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_columns(table), 3);
    assert_string_equal(sotto_table_name(table, 2), "answer");
    assert_int_equal(sotto_table_kind(table, 2), SOTTO_COLUMN_CATEGORY);
    for (size_t row = 0; row < 2; row++) {
        assert_int_equal(sotto_table_cell(table, row, 2).kind,
                         SOTTO_VALUE_MISSING);
    }
    assert_null(table_words(table, 0, &count, &bytes));
    assert_int_equal(count, 0);
    assert_int_equal(sotto_table_select(table, second, 1, &some, &err),
                     SOTTO_STATUS_OK);
    const struct table_cell *words = table_words(some, 2, &count, &bytes);
    assert_non_null(words);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(words[i].size, strlen(values[i]));
        assert_memory_equal(bytes + words[i].start, values[i], words[i].size);
    }
    sotto_table_free(some);
    sotto_table_free(table);
}

static void
test_refused(void **state)
{
    static const char *const twice[] = {"x", "y", "x"};
    static const char *const empty[] = {"x", ""};
    static const char *const missing[] = {"x", "n/a"};
    static const char *const fine[] = {"x"};
    const char *many[1025];
    struct sotto_table *table = make();
    (void)state;
    for (size_t i = 0; i < 1025; i++) {
        many[i] = "x";
    }
    assert_int_equal(sotto_table_declare_label(table, "c", twice, 3, &err),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "twice"));
    assert_int_equal(sotto_table_declare_label(table, "c", empty, 2, &err),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(sotto_table_declare_label(table, "c", missing, 2, &err),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "\"n/a\" means"));
    assert_int_equal(sotto_table_declare_label(table, "c", fine, 0, &err),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(sotto_table_declare_label(table, "c", many, 1025, &err),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(sotto_table_declare_label(table, "b", fine, 1, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "have a column \"b\""));
    assert_int_equal(sotto_table_columns(table), 2);
    sotto_table_free(table);
}

/* Whichever allocation fails, the table is as it was. */
static void
test_memory(void **state)
{
    static const char *const values[] = {"x", "y"};
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    (void)state;
    for (long at = 1; status == SOTTO_STATUS_MEMORY; at++) {
        struct sotto_table *table = make();
        fail_alloc_at(at);
        status = sotto_table_declare_label(table, "c", values, 2, &err);
        fail_alloc_at(0);
        assert_int_equal(sotto_table_columns(table),
                         status == SOTTO_STATUS_OK ? 3 : 2);
        sotto_table_free(table);
    }
    assert_int_equal(status, SOTTO_STATUS_OK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_column),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
