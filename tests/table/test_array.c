/*
 * test_array.c: arrays to tables: texts of whole numbers, shapes that lie, and
 * what happens to the bytes. test_idx.c and test_npy.c have the headers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "table/array.h"

static struct sotto_error err;

/* An array of `count` bytes behind `start` others, from malloc. */
static struct array
make_array(const void *elements, size_t count, size_t start)
{
    struct array array = {.size = start + count,
                          .name = "file",
                          .format = "a test file",
                          .shown = "its shape says",
                          .start = start,
                          .shape_at = 3,
                          .shape_step = 5,
                          .err = &err};
    array.bytes = calloc(1, start + count);
    assert_non_null(array.bytes);
    memcpy(array.bytes + start, elements, count);
    memset(&err, 0xa5, sizeof err);
    return array;
}

/* Signed numbers of one byte, which share texts, and of two, which do not. */
static void
test_texts(void **state)
{
    const int8_t small[] = {-128, 127, 0, -1, 127, -128};
    const int16_t large[] = {-32768, 32767, 0, -1, 32767, -32768};
    static const char *const texts[2][3] = {{"-128", "127", "0"},
                                            {"-32768", "32767", "0"}};
    (void)state;
    for (size_t item = 1; item <= 2; item++) {
        struct sotto_table *table = NULL;
        struct array array =
            make_array(item == 1 ? (const void *)small : (const void *)large,
                       6 * item, item);
        array.kind = 'i';
        array.item = item;
        array.rank = 2;
        array.shape[0] = 3;
        array.shape[1] = 2;
        assert_false(array_is_image(&array));
        assert_int_equal(array_table(&array, &table), SOTTO_STATUS_OK);
        assert_int_equal(sotto_table_columns(table), 2);
        assert_int_equal(sotto_table_rows(table), 3);
        for (size_t i = 0; i < 6; i++) {
            struct sotto_value cell = sotto_table_cell(table, i / 2, i % 2);
            double wanted = item == 1 ? small[i] : large[i];
            const char *text = i == 3   ? "-1"
                               : i == 4 ? texts[item - 1][1]
                               : i == 5 ? texts[item - 1][0]
                                        : texts[item - 1][i];
            assert_true(cell.number == wanted);
            assert_int_equal(cell.size, strlen(text));
            assert_memory_equal(cell.data, text, cell.size);
        }
        sotto_table_free(table);
    }
}

/* What fails leaves the bytes to the caller. */
static void
test_refused(void **state)
{
    struct sotto_table *table = NULL;
    struct array array = make_array("abcdef", 6, 4);
    (void)state;
    array.kind = 'u';
    array.item = 1;
    array.rank = 2;
    array.shape[0] = 3;
    assert_true(array_is_image(&array));
    assert_int_equal(array_table(&array, &table), SOTTO_STATUS_INPUT);
    assert_int_equal(err.position, 8);
    assert_non_null(strstr(err.message, "dimension 2 of the test file is 0"));
    array.shape[1] = 3;
    assert_int_equal(array_table(&array, &table), SOTTO_STATUS_INPUT);
    assert_int_equal(err.position, 10);
    assert_non_null(strstr(err.message, "a test file cut short: expected 13"));
    array.shape[1] = 1;
    assert_int_equal(array_table(&array, &table), SOTTO_STATUS_INPUT);
    assert_int_equal(err.position, 7);
    assert_non_null(
        strstr(err.message, "more than its shape says: expected 7"));
    array.shape[1] = 2;
    for (int rank = 1; rank <= 2; rank++) {
        array.rank = (size_t)rank;
        array.shape[0] = rank == 1 ? 6 : 3;
        enum sotto_status status = SOTTO_STATUS_MEMORY;
        unsigned at = 1;
        for (; status == SOTTO_STATUS_MEMORY; at++) {
            uint8_t *copy = malloc(array.size);
            assert_non_null(copy);
            memcpy(copy, array.bytes, array.size);
            struct array mine = array;
            mine.bytes = copy;
            fail_alloc_at(at);
            status = array_table(&mine, &table);
            fail_alloc_at(0);
            if (status != SOTTO_STATUS_OK) {
                free(copy);
            }
        }
        assert_int_equal(status, SOTTO_STATUS_OK);
        assert_true(at > 3);
        sotto_table_free(table);
    }
    free(array.bytes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
