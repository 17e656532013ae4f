/*
 * test_split_novel.c: splits for a class that the mechanism never saw.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blobs.h"
#include "experiment/data_set.h"
#include "fail_alloc.h"
#include "scratch.h"

#define TRAIN 90u /* fewer than 91, so that every picture is another */
#define TEST 40u

static struct sotto_error err;
static struct data_records data;

static int
setup(void **state)
{
    char hash[EXPERIMENT_HASH_SIZE];
    (void)state;
    if (scratch_make() != 0 || blobs_write(folder, TRAIN, TEST) != 0 ||
        data_records_open(&data_set_mnist, folder, &data, hash, &err) !=
            SOTTO_STATUS_OK) {
        return -1;
    }
    return data_records_read(&data, &err) == SOTTO_STATUS_OK ? 0 : -1;
}

static int
teardown(void **state)
{
    (void)state;
    data_records_close(&data);
    return scratch_remove();
}

/* The training picture that a row shows, by its pixels; SIZE_MAX: none. */
static size_t
find(const struct sotto_table *in, const struct sotto_table *table, size_t row)
{
    struct sotto_value wanted = sotto_table_cell(table, row, 0);
    for (size_t i = 0; i < sotto_table_rows(in); i++) {
        struct sotto_value cell = sotto_table_cell(in, i, 0);
        if (cell.size == wanted.size &&
            memcmp(cell.data, wanted.data, cell.size) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* How many rows are 9s; each says so if `told`, and none comes twice. */
static size_t
count_novel(const struct sotto_table *from, const struct sotto_table *table,
            bool told, bool *seen)
{
    size_t novel = 0;
    for (size_t i = 0; i < sotto_table_rows(table); i++) {
        size_t at = find(from, table, i);
        assert_true(at != SIZE_MAX && !seen[at]);
        seen[at] = true;
        bool is = sotto_table_cell(from, at, 1).number == 9;
        novel += is ? 1 : 0;
        if (told) {
            assert_true(sotto_table_cell(table, i, 1).number == (is ? 1 : 0));
        }
    }
    return novel;
}

static void
test_split(void **state)
{
    struct data_split split, other;
    bool seen[TRAIN] = {false}, tested[TEST] = {false};
    (void)state;
    assert_int_equal(data_split_novel(&split, &data, &experiment_mnist_novel,
                                      8.0 / 9, 1, &err),
                     SOTTO_STATUS_OK);
    /* 9 of each class: of 81 others 72 are auxiliary, and 9 people */
    assert_int_equal(sotto_table_rows(split.aux), 72);
    assert_int_equal(count_novel(data.train, split.aux, false, seen), 0);
    assert_int_equal(sotto_table_rows(split.people), 18);
    assert_int_equal(count_novel(data.train, split.people, true, seen), 9);
    assert_int_equal(sotto_table_rows(split.test), 8);
    assert_int_equal(count_novel(data.test, split.test, true, tested), 4);
    assert_int_equal(sotto_table_image(split.aux, 0).height, 28);
    assert_int_equal(sotto_table_kind(split.aux, 1), SOTTO_COLUMN_CATEGORY);
    /* the list of classes has both, though no 9 is there */
    assert_true(sotto_table_cell(split.aux, 0, 1).number !=
                sotto_table_cell(split.aux, 1, 1).number);
    assert_int_equal(
        data_split_novel(&other, &data, &experiment_mnist_novel, 0.5, 1, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rows(other.aux), 41);
    for (size_t i = 0; i < 18; i++) {
        assert_int_equal(find(data.train, other.people, i),
                         find(data.train, split.people, i));
    }
    data_split_clear(&split);
    data_split_clear(&other);
}

static void
test_without(void **state)
{
    char hash[EXPERIMENT_HASH_SIZE];
    struct data_split split = {0};
    struct data_records few;
    (void)state;
    assert_int_equal(blobs_write(folder, 7, 7), 0); /* 0 7 4 1 8 5 2 */
    assert_int_equal(
        data_records_open(&data_set_mnist, folder, &few, hash, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(data_records_read(&few, &err), SOTTO_STATUS_OK);
    assert_int_equal(
        data_split_novel(&split, &few, &experiment_mnist_novel, 0.5, 1, &err),
        SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "9"));
    data_records_close(&few);
}

static void
test_no_memory(void **state)
{
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        struct data_split split = {0};
        fail_alloc_at(++n);
        status = data_split_novel(&split, &data, &experiment_mnist_novel, 0.5,
                                  1, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        data_split_clear(&split);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 10);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_split, setup, teardown),
        cmocka_unit_test_setup_teardown(test_without, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
