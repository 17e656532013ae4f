/*
 * test_idx.c: IDX files to tables, and every way they can be wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "sotto/sotto.h"

static struct sotto_table *table;
static struct sotto_error err;

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
parse(const void *bytes, size_t size)
{
    sotto_table_free(table);
    table = NULL;
    return sotto_table_parse(bytes, size, "file.idx", NULL, &table, &err);
}

static void
refuse(const void *bytes, size_t size, size_t position, const char *message)
{
    char expected[512];
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(parse(bytes, size), SOTTO_STATUS_INPUT);
    assert_null(table);
    assert_int_equal(err.status, SOTTO_STATUS_INPUT);
    assert_int_equal(err.position, position);
    (void)snprintf(expected, sizeof expected, "file.idx: %s", message);
    assert_string_equal(err.message, expected);
}

static void
test_labels(void **state)
{
    static const char *const texts[] = {"0", "9", "10", "99", "100", "255"};
    const uint8_t file[] = {0, 0, 8, 1, 0, 0, 0, 6, 0, 9, 10, 99, 100, 255};
    (void)state;
    assert_int_equal(parse(file, sizeof file), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rows(table), 6);
    assert_int_equal(sotto_table_columns(table), 1);
    assert_string_equal(sotto_table_name(table, 0), "label");
    assert_int_equal(sotto_table_kind(table, 0), SOTTO_COLUMN_NUMBER);
    assert_int_equal(sotto_table_width(table, 0), 0);
    assert_int_equal(sotto_table_image(table, 0).width, 0);
    assert_int_equal(sotto_table_image(table, 9).width, 0);
    assert_int_equal(sotto_table_line(table, 0), 0);
    for (int category = 0; category < 2; category++) {
        for (size_t row = 0; row < 6; row++) {
            struct sotto_value value = sotto_table_cell(table, row, 0);
            assert_int_equal(value.kind,
                             category ? SOTTO_VALUE_TEXT : SOTTO_VALUE_NUMBER);
            assert_true(value.number == (double)file[8 + row]);
            assert_int_equal(value.size, strlen(texts[row]));
            assert_memory_equal(value.data, texts[row], value.size);
        }
        assert_int_equal(sotto_table_set_category(table, 0, &err),
                         SOTTO_STATUS_OK);
    }
}

/* The same twelve samples in two, three and four dimensions. */
static void
test_images(void **state)
{
    const uint8_t dimensions[3][4] = {{3, 4, 0, 0}, {3, 2, 2, 0}, {3, 1, 2, 2}};
    const uint32_t shapes[3][3] = {{1, 4, 1}, {2, 2, 1}, {1, 2, 2}};
    (void)state;
    for (uint8_t nd = 2; nd <= 4; nd++) {
        uint8_t file[32] = {0, 0, 8, nd};
        size_t header = 4 + 4 * (size_t)nd;
        for (size_t i = 0; i < nd; i++) {
            file[4 + 4 * i + 3] = dimensions[nd - 2][i];
        }
        for (size_t i = 0; i < 12; i++) {
            file[header + i] = (uint8_t)(200 + i);
        }
        assert_int_equal(parse(file, header + 12), SOTTO_STATUS_OK);
        assert_int_equal(sotto_table_rows(table), 3);
        assert_int_equal(sotto_table_columns(table), 1);
        assert_string_equal(sotto_table_name(table, 0), "image");
        assert_int_equal(sotto_table_kind(table, 0), SOTTO_COLUMN_BYTES);
        assert_int_equal(sotto_table_width(table, 0), 4);
        struct sotto_image image = sotto_table_image(table, 0);
        assert_int_equal(image.height, shapes[nd - 2][0]);
        assert_int_equal(image.width, shapes[nd - 2][1]);
        assert_int_equal(image.channels, shapes[nd - 2][2]);
        for (size_t row = 0; row < 3; row++) {
            struct sotto_value value = sotto_table_cell(table, row, 0);
            assert_int_equal(value.kind, SOTTO_VALUE_BYTES);
            assert_int_equal(value.size, 4);
            assert_memory_equal(value.data, file + header + row * 4, 4);
        }
    }
}

/* All four bytes of a dimension count, the first most. */
static void
test_byte_order(void **state)
{
    const size_t rows = 0x00010203;
    uint8_t *file = calloc(1, rows + 8);
    (void)state;
    assert_non_null(file);
    memcpy(file, "\0\0\x08\x01\x00\x01\x02\x03", 8);
    file[8 + rows - 1] = 7;
    assert_int_equal(parse(file, rows + 8), SOTTO_STATUS_OK);
    free(file);
    assert_int_equal(sotto_table_rows(table), rows);
    assert_true(sotto_table_cell(table, rows - 1, 0).number == 7.0);
}

static void
test_wrong_size(void **state)
{
    const uint8_t file[] = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0,
                            0, 3, 1, 2, 3, 4, 5, 6, 7};
    const uint8_t huge[] = {0,    0,    8,    4,    0xff, 0xff, 0xff,
                            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
    (void)state;
    refuse(file, 17, 17,
           "an IDX file cut short: expected 18 bytes, found 17: fetch or "
           "make it again");
    refuse(file, 19, 18,
           "an IDX file with more than its dimensions say: expected 18 "
           "bytes, found 19: fetch or make it again");
    refuse(file, 11, 11,
           "an IDX file cut short: expected 12 bytes, found 11: fetch or "
           "make it again");
    refuse(file, 3, 3,
           "an IDX file cut short: expected 4 bytes, found 3: fetch or make "
           "it again");
    refuse(huge, sizeof huge, sizeof huge,
           "an IDX file cut short: expected over 18446744073709551615 bytes, "
           "found 21: fetch or make it again");
}

/* 2^32 - 2 squared wraps round to 4 in 32 bits; here it must not. */
static void
test_no_wrapping(void **state)
{
    const uint8_t file[] = {0,    0,    8,    2,    0xff, 0xff, 0xff, 0xfe,
                            0xff, 0xff, 0xff, 0xfe, 1,    2,    3,    4};
    (void)state;
    refuse(file, sizeof file, sizeof file,
           "an IDX file cut short: expected 18446744056529682448 bytes, found "
           "16: fetch or make it again");
}

static void
test_wrong_shape(void **state)
{
    const uint8_t zero[] = {0, 0, 8, 2, 0, 0, 0, 3, 0, 0, 0, 0};
    const uint8_t none[] = {0, 0, 8, 0};
    const uint8_t five[] = {0, 0, 8, 5, 0, 0, 0, 1};
    (void)state;
    refuse(zero, sizeof zero, 8,
           "dimension 2 of the IDX file is 0: there is nothing to read");
    refuse(none, sizeof none, 3,
           "an IDX file of 0 dimensions: 1 (labels) to 4 (images) are read");
    refuse(five, sizeof five, 3,
           "an IDX file of 5 dimensions: 1 (labels) to 4 (images) are read");
}

static void
test_wrong_type(void **state)
{
    static const struct {
        uint8_t type;
        const char *name;
    } types[] = {{0x09, "signed bytes"},
                 {0x0b, "16-bit integers"},
                 {0x0c, "32-bit integers"},
                 {0x0d, "32-bit floats"},
                 {0x0e, "64-bit floats"}};
    uint8_t file[] = {0, 0, 0, 1, 0, 0, 0, 1, 1};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char message[256];
        (void)snprintf(message, sizeof message,
                       "an IDX file of %s: only unsigned bytes (type 0x08) "
                       "are read; convert it, or write it as CSV",
                       types[i].name);
        file[2] = types[i].type;
        refuse(file, sizeof file, 2, message);
    }
    file[2] = 0x0a;
    refuse(file, sizeof file, 2,
           "begins as an IDX file, but 0x0a is no IDX type: the file is "
           "neither IDX nor CSV");
}

static void
test_memory(void **state)
{
    const uint8_t labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 5, 6};
    const uint8_t images[] = {0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 2, 5, 6};
    (void)state;
    for (int i = 0; i < 2; i++) {
        enum sotto_status status;
        long n = 0;
        do {
            memset(&err, 0xa5, sizeof err);
            fail_alloc_at(++n);
            status = i == 0 ? parse(labels, sizeof labels)
                            : parse(images, sizeof images);
            if (status != SOTTO_STATUS_OK) {
                assert_int_equal(status, SOTTO_STATUS_MEMORY);
                assert_int_equal(err.status, SOTTO_STATUS_MEMORY);
                assert_string_equal(err.message, "out of memory");
                assert_null(table);
            }
        } while (fail_alloc_count() >= n);
        fail_alloc_at(0);
        assert_int_equal(status, SOTTO_STATUS_OK);
        assert_true(n > 5);
    }
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_labels),     TEST(test_images),      TEST(test_byte_order),
        TEST(test_wrong_size), TEST(test_no_wrapping), TEST(test_wrong_shape),
        TEST(test_wrong_type), TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
