/*
 * test_selection.c: a table of some of a table's rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "sotto/sotto.h"

static struct sotto_error err;

static struct sotto_table *
parse(const void *bytes, size_t size)
{
    struct sotto_table *table = NULL;
    assert_int_equal(sotto_table_parse(bytes, size, "-", NULL, &table, &err),
                     SOTTO_STATUS_OK);
    return table;
}

static struct sotto_table *
take(const struct sotto_table *table, const size_t *rows, size_t count)
{
    struct sotto_table *selected = NULL;
    assert_int_equal(sotto_table_select(table, rows, count, &selected, &err),
                     SOTTO_STATUS_OK);
    return selected;
}

static struct sotto_table *
parse_csv(void)
{
    static const char text[] = "n,word\n1,one\n2,two\n\"3\",three\n,\n5,five\n";
    return parse(text, strlen(text));
}

static struct sotto_table *
parse_images(void)
{
    static const uint8_t file[] = {0, 0, 8, 2, 0, 0, 0, 5, 0, 0, 0,
                                   2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    return parse(file, sizeof file);
}

static void
assert_text(const struct sotto_table *table, size_t row, size_t column,
            const char *text)
{
    struct sotto_value value = sotto_table_cell(table, row, column);
    assert_int_equal(value.size, strlen(text));
    assert_memory_equal(value.data, text, value.size);
}

/* ---- Rows --------------------------------------------------------------- */

/* The old table is freed first: the new one outlives it. */
static void
test_csv(void **state)
{
    static const size_t rows[] = {4, 0, 3, 0};
    struct sotto_table *table = parse_csv();
    assert_int_equal(sotto_table_set_category(table, 0, &err), SOTTO_STATUS_OK);
    struct sotto_table *some = take(table, rows, 4);
    (void)state;
    sotto_table_free(table);
    assert_int_equal(sotto_table_rows(some), 4);
    assert_int_equal(sotto_table_columns(some), 2);
    assert_string_equal(sotto_table_name(some, 1), "word");
    assert_int_equal(sotto_table_kind(some, 0), SOTTO_COLUMN_CATEGORY);
    assert_text(some, 0, 1, "five");
    assert_text(some, 1, 1, "one");
    assert_text(some, 3, 0, "1");
    assert_true(sotto_table_cell(some, 0, 0).number == 5);
    assert_true(sotto_table_cell(some, 3, 0).number == 1);
    assert_int_equal(sotto_table_cell(some, 2, 0).kind, SOTTO_VALUE_MISSING);
    assert_int_equal(sotto_table_cell(some, 4, 0).kind, SOTTO_VALUE_MISSING);
    assert_int_equal(sotto_table_line(some, 0), 6);
    assert_int_equal(sotto_table_line(some, 1), 2);
    assert_int_equal(sotto_table_line(some, 4), 0);
    sotto_table_free(some);
}

static void
test_again(void **state)
{
    static const size_t first[] = {4, 2, 0}, second[] = {2, 1};
    struct sotto_table *table = parse_csv();
    struct sotto_table *some = take(table, first, 3);
    struct sotto_table *fewer = take(some, second, 2);
    (void)state;
    sotto_table_free(some);
    sotto_table_free(table);
    assert_text(fewer, 0, 1, "one");
    assert_text(fewer, 1, 1, "three");
    assert_true(sotto_table_cell(fewer, 1, 0).number == 3);
    assert_int_equal(sotto_table_line(fewer, 1), 4);
    sotto_table_free(fewer);
}

/* Joined before or after, it is the same. */
static void
test_join(void **state)
{
    static const size_t rows[] = {3, 1};
    struct sotto_table *images = parse_images(), *words = parse_csv();
    struct sotto_table *some = take(images, rows, 2);
    struct sotto_table *others = take(words, rows, 2);
    (void)state;
    assert_int_equal(sotto_table_join(some, others, &err), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_join(images, words, &err), SOTTO_STATUS_OK);
    struct sotto_table *joined = take(images, rows, 2);
    sotto_table_free(images);
    for (size_t row = 0; row < 2; row++) {
        for (size_t i = 0; i < 3; i++) {
            struct sotto_value a = sotto_table_cell(some, row, i);
            struct sotto_value b = sotto_table_cell(joined, row, i);
            assert_int_equal(a.kind, b.kind);
            assert_int_equal(a.size, b.size);
            assert_true(a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
        }
    }
    struct sotto_value image = sotto_table_cell(joined, 0, 0);
    assert_int_equal(image.size, 2);
    assert_memory_equal(image.data, "\7\10", 2);
    assert_int_equal(sotto_table_image(some, 0).width, 2);
    assert_int_equal(sotto_table_image(joined, 0).width, 2);
    assert_text(joined, 1, 2, "two");
    assert_int_equal(sotto_table_line(joined, 0), 0);
    sotto_table_free(some);
    sotto_table_free(joined);
}

/* Made-up names stay made up: they are numbered anew when joined. */
static void
test_numbered(void **state)
{
    static const size_t rows[] = {1};
    struct sotto_table *table = parse("1,2\n3,4\n", 8);
    struct sotto_table *a = take(table, rows, 1), *b = take(table, rows, 1);
    (void)state;
    assert_int_equal(sotto_table_join(a, b, &err), SOTTO_STATUS_OK);
    assert_string_equal(sotto_table_name(a, 3), "c4");
    assert_true(sotto_table_cell(a, 0, 3).number == 4);
    sotto_table_free(table);
    sotto_table_free(a);
}

/* ---- Failures ----------------------------------------------------------- */

static void
test_refused(void **state)
{
    static const size_t rows[] = {0, 5};
    struct sotto_table *table = parse_csv(), *some = NULL;
    (void)state;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(sotto_table_select(table, rows, 2, &some, &err),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(err.status, SOTTO_STATUS_USAGE);
    assert_string_equal(err.message, "there is no row 5: the table has 5");
    assert_int_equal(sotto_table_select(table, rows, 0, &some, &err),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(sotto_table_select(table, NULL, 0, &some, NULL),
                     SOTTO_STATUS_USAGE);
    assert_null(some);
    sotto_table_free(table);
}

static void
test_memory(void **state)
{
    static const size_t rows[] = {4, 0};
    struct sotto_table *table = parse_csv(), *images = parse_images();
    enum sotto_status status;
    long n = 0;
    (void)state;
    assert_int_equal(sotto_table_join(table, images, &err), SOTTO_STATUS_OK);
    do {
        struct sotto_table *some = NULL;
        fail_alloc_at(++n);
        status = sotto_table_select(table, rows, 2, &some, &err);
        assert_true(status == SOTTO_STATUS_OK ||
                    (status == SOTTO_STATUS_MEMORY && some == NULL));
        sotto_table_free(some);
    } while (status != SOTTO_STATUS_OK);
    fail_alloc_at(0);
    assert_int_equal(n, 11);
    sotto_table_free(table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),     cmocka_unit_test(test_again),
        cmocka_unit_test(test_join),    cmocka_unit_test(test_numbered),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
