/*
 * test_data_set.c: finding the four files, and the papers' splits of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "blobs.h"
#include "experiment/data_set.h"
#include "fail_alloc.h"
#include "scratch.h"

#define TRAIN 200u
#define TEST 40u

static struct sotto_error err;

static int
setup(void **state)
{
    (void)state;
    return scratch_make() != 0 ? -1 : blobs_write(folder, TRAIN, TEST);
}

static struct data_records
open_data(char hash[EXPERIMENT_HASH_SIZE])
{
    struct data_records data;
    assert_int_equal(
        data_records_open(&data_set_mnist, folder, &data, hash, &err),
        SOTTO_STATUS_OK);
    return data;
}

/* How many rows of one table are rows of another: pictures differ by row. */
static size_t
shared(const struct sotto_table *a, const struct sotto_table *b)
{
    size_t same = 0;
    for (size_t i = 0; i < sotto_table_rows(a); i++) {
        struct sotto_value left = sotto_table_cell(a, i, 0);
        for (size_t j = 0; j < sotto_table_rows(b); j++) {
            struct sotto_value right = sotto_table_cell(b, j, 0);
            same += left.size == right.size &&
                            memcmp(left.data, right.data, left.size) == 0
                        ? 1
                        : 0;
        }
    }
    return same;
}

/* Fewer than 90 rows, so that every picture is another. */
static void
test_split(void **state)
{
    char hash[EXPERIMENT_HASH_SIZE];
    struct data_split whole, part, other;
    (void)state;
    assert_int_equal(blobs_write(folder, 80, TEST), 0);
    struct data_records data = open_data(hash);
    assert_int_equal(data_records_read(&data, &err), SOTTO_STATUS_OK);
    assert_int_equal(data_split_init(&whole, &data,
                                     &experiment_mnist_collection, 0.75, 1,
                                     &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(data_split_init(&part, &data, &experiment_mnist_collection,
                                     0.25, 1, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(data_split_init(&other, &data,
                                     &experiment_mnist_collection, 0.75, 2,
                                     &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rows(whole.aux), 60);
    assert_int_equal(sotto_table_rows(whole.people), 20);
    assert_int_equal(sotto_table_rows(whole.test), TEST / 4);
    assert_int_equal(sotto_table_rows(part.aux), 20);
    assert_int_equal(shared(whole.aux, whole.people), 0);
    assert_int_equal(shared(whole.people, part.people), 20);
    assert_int_equal(shared(whole.aux, part.aux), 20);
    assert_true(shared(whole.people, other.people) < 20);
    assert_int_equal(sotto_table_columns(whole.people), 2);
    assert_string_equal(sotto_table_name(whole.people, 0), "image");
    assert_string_equal(sotto_table_name(whole.people, 1), "label");
    assert_int_equal(sotto_table_kind(whole.people, 1), SOTTO_COLUMN_CATEGORY);
    data_split_clear(&whole);
    data_split_clear(&part);
    data_split_clear(&other);
    data_records_close(&data);
}

/* Packed files are the same data. */
static void
test_packed(void **state)
{
    char plain[EXPERIMENT_HASH_SIZE], packed[EXPERIMENT_HASH_SIZE];
    char command[256];
    (void)state;
    struct data_records data = open_data(plain);
    data_records_close(&data);
    (void)snprintf(command, sizeof command, "gzip '%s'/*", folder);
    assert_int_equal(system(command), 0);
    data = open_data(packed);
    assert_string_equal(plain, packed);
    assert_int_equal(data_records_read(&data, &err), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rows(data.train), TRAIN);
    data_records_close(&data);
}

static void
test_missing(void **state)
{
    static const char *const names[] = {
        "train-images-idx3-ubyte", "train-labels-idx1-ubyte",
        "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
    char hash[EXPERIMENT_HASH_SIZE];
    struct data_records data;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(rename(in_folder(names[i]), in_folder("x")), 0);
        assert_int_equal(
            data_records_open(&data_set_mnist, folder, &data, hash, &err),
            SOTTO_STATUS_INPUT);
        assert_non_null(strstr(err.message, names[i]));
        assert_int_equal(rename(in_folder("x"), in_folder(names[i])), 0);
    }
}

/* Labels where images belong, and too few labels. */
static void
test_wrong(void **state)
{
    char hash[EXPERIMENT_HASH_SIZE], command[512];
    (void)state;
    (void)snprintf(command, sizeof command,
                   "cp '%s/t10k-labels-idx1-ubyte' '%s/t10k-images-idx3-ubyte'",
                   folder, folder);
    assert_int_equal(system(command), 0);
    struct data_records data = open_data(hash);
    assert_int_equal(data_records_read(&data, &err), SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "t10k-images"));
    data_records_close(&data);
    assert_int_equal(blobs_pair(folder, "t10k", TEST + 1), 0);
    (void)snprintf(command, sizeof command,
                   "cp '%s/train-labels-idx1-ubyte' "
                   "'%s/t10k-labels-idx1-ubyte'",
                   folder, folder);
    assert_int_equal(system(command), 0);
    data = open_data(hash);
    assert_int_equal(data_records_read(&data, &err), SOTTO_STATUS_INPUT);
    data_records_close(&data);
}

static void
test_no_memory(void **state)
{
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        char hash[EXPERIMENT_HASH_SIZE];
        struct data_records data = {0};
        struct data_split split = {0};
        fail_alloc_at(++n);
        status = data_records_open(&data_set_mnist, folder, &data, hash, &err);
        if (status == SOTTO_STATUS_OK) {
            status = data_records_read(&data, &err);
        }
        if (status == SOTTO_STATUS_OK) {
            status = data_split_init(
                &split, &data, &experiment_mnist_collection, 0.5, 1, &err);
        }
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
        }
        data_split_clear(&split);
        data_records_close(&data);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 20);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_split, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_packed, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_missing, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_wrong, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_no_memory, setup,
                                        scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
