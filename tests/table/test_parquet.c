/*
 * test_parquet.c: Parquet files when memory or the disk gives out; and, with
 * arguments, a file whose every value is known from its row and column, for
 * tests/table/test_parquet.py and scripts/parquet_readers:
 *
 *     test_parquet FILE ROWS GROUP packed|plain
 *
 * GROUP rows to a row group; 0: as many as parquet.h says. In row r:
 *
 *     count    r * r - 5                     64 bits
 *     small    7 - r                         32 bits
 *     some     r, but none where r % 3 == 1  64 bits, optional
 *     odd      r % 2 == 1                    a boolean
 *     set      r, 2 r, ... r % 5 of them     a list of 32 bits
 *     "a,b"    the same of 2^40 + r          a list of 64 bits
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fail_alloc.h"
#include "table/parquet.h"

static void
put_row(struct parquet *parquet, int64_t r)
{
    int64_t value[5];
    parquet_put(parquet, 0, r * r - 5);
    parquet_put(parquet, 1, 7 - r);
    if (r % 3 == 1) {
        parquet_put_null(parquet, 2);
    } else {
        parquet_put(parquet, 2, r);
    }
    parquet_put(parquet, 3, r % 2);
    for (int64_t i = 0; i < 5; i++) {
        value[i] = (i + 1) * r;
    }
    parquet_put_list(parquet, 4, value, (size_t)(r % 5));
    for (int64_t i = 0; i < 5; i++) {
        value[i] = (i + 1) * ((INT64_C(1) << 40) + r);
    }
    parquet_put_list(parquet, 5, value, (size_t)(r % 5));
}

static const struct parquet_column columns[] = {
    {.name = "count", .type = PARQUET_INT64},
    {.name = "small", .type = PARQUET_INT32},
    {.name = "some", .type = PARQUET_INT64, .optional = true},
    {.name = "odd", .type = PARQUET_BOOLEAN},
    {.name = "set", .type = PARQUET_INT32, .list = true},
    {.name = "a,b", .type = PARQUET_INT64, .list = true}};

static enum sotto_status
put_rows(struct parquet *parquet, int64_t rows, int64_t group,
         struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (int64_t r = 0; status == SOTTO_STATUS_OK && r < rows; r++) {
        put_row(parquet, r);
        status = parquet_end_row(parquet, err);
        if (status == SOTTO_STATUS_OK && group > 0 && (r + 1) % group == 0) {
            status = parquet_end_group(parquet, err);
        }
    }
    return status;
}

static enum sotto_status
make_file(const char *path, int64_t rows, int64_t group, bool packed,
          struct sotto_error *err)
{
    struct sotto_output *output = NULL;
    struct parquet *parquet = NULL;
    char text[24];
    enum sotto_status status =
        sotto_output_new(path, 0644, false, &output, err);
    (void)snprintf(text, sizeof text, "%lld", (long long)rows);
    if (status == SOTTO_STATUS_OK) {
        status = parquet_new(output, columns, 6, packed, &parquet, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = put_rows(parquet, rows, group, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = parquet_note(parquet, "maker", "\"tests\"", err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = parquet_note(parquet, "rows", text, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = parquet_finish(parquet, err);
    }
    parquet_free(parquet);
    if (status != SOTTO_STATUS_OK) {
        sotto_output_free(output);
        return status;
    }
    return sotto_output_commit(output, err);
}

static void
test_no_memory(void **state)
{
    struct sotto_error err = {0};
    long i = 1;
    (void)state;
    for (; i < 2000; i++) {
        enum sotto_status status;
        fail_alloc_at(i);
        status = make_file("/dev/null", 20, 7, true, &err);
        fail_alloc_at(0);
        if (status == SOTTO_STATUS_OK) {
            break;
        }
        assert_int_equal(status, SOTTO_STATUS_MEMORY);
    }
    assert_in_range(i, 21, 1999);
}

static void
test_no_space(void **state)
{
    struct sotto_error err = {0};
    (void)state;
    assert_int_equal(make_file("/dev/full", 200000, 0, false, &err),
                     SOTTO_STATUS_IO);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_no_space),
    };
    struct sotto_error err = {0};
    if (argc != 5) {
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    if (make_file(argv[1], atoll(argv[2]), atoll(argv[3]),
                  strcmp(argv[4], "packed") == 0, &err) != SOTTO_STATUS_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    return 0;
}
