/*
 * test_npy.c: .npy files to tables, and every way they can be wrong.
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

#define PREAMBLE 10u /* bytes before the header of version 1.0 */

static struct sotto_table *table;
static struct sotto_error err;
static uint8_t file[1024];

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

/* A file of version 1.0 in `file`; its size. */
static size_t
make(const char *header, const void *data, size_t size)
{
    size_t length = strlen(header);
    memcpy(file, "\x93NUMPY\1\0", 8);
    file[8] = (uint8_t)(length & 0xff);
    file[9] = (uint8_t)(length >> 8);
    memcpy(file + PREAMBLE, header, length);
    memcpy(file + PREAMBLE + length, data, size);
    return PREAMBLE + length + size;
}

/* The same with numpy's own header. */
static size_t
make_array(const char *type, const char *shape, const void *data, size_t size)
{
    char header[200];
    (void)snprintf(header, sizeof header,
                   "{'descr': '%s', 'fortran_order': False, 'shape': %s, }  \n",
                   type, shape);
    return make(header, data, size);
}

static enum sotto_status
parse(const void *bytes, size_t size)
{
    sotto_table_free(table);
    table = NULL;
    return sotto_table_parse(bytes, size, "a.npy", NULL, &table, &err);
}

static void
accept(size_t size)
{
    if (parse(file, size) != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
}

/* Refused, also with every read beyond its end seen by a sanitizer. */
static void
refuse(size_t size, enum sotto_status expected, const char *message)
{
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(parse(file, size), expected);
    assert_null(table);
    assert_int_equal(err.status, expected);
    assert_true(err.position <= size);
    assert_memory_equal(err.message, "a.npy: ", 7);
    if (strstr(err.message, message) == NULL) {
        fail_msg("'%s' is not in '%s'", message, err.message);
    }
}

static void
assert_text(size_t row, size_t column, const char *text)
{
    struct sotto_value value = sotto_table_cell(table, row, column);
    assert_int_equal(value.size, strlen(text));
    assert_memory_equal(value.data, text, value.size);
}

/* ---- What is read ------------------------------------------------------- */

static void
assert_image(uint32_t height, uint32_t width, uint32_t channels)
{
    struct sotto_image image = sotto_table_image(table, 0);
    assert_int_equal(image.height, height);
    assert_int_equal(image.width, width);
    assert_int_equal(image.channels, channels);
}

static void
test_images(void **state)
{
    (void)state;
    accept(make_array("|u1", "(2, 1, 3)", "\1\2\3\4\5\6", 6));
    assert_int_equal(sotto_table_rows(table), 2);
    assert_int_equal(sotto_table_columns(table), 1);
    assert_string_equal(sotto_table_name(table, 0), "image");
    assert_int_equal(sotto_table_kind(table, 0), SOTTO_COLUMN_BYTES);
    assert_int_equal(sotto_table_width(table, 0), 3);
    assert_image(1, 3, 1);
    assert_memory_equal(sotto_table_cell(table, 1, 0).data, "\4\5\6", 3);
    accept(make_array("|u1", "(1,1,1,1,1,1,1,2)", "\1\2", 2));
    assert_int_equal(sotto_table_width(table, 0), 2);
    assert_image(1, 2, 1);
    accept(make_array("|u1", "(1, 3, 2, 1)", "\1\2\3\4\5\6", 6));
    assert_image(3, 2, 1);
    accept(make_array("|u1", "(2, 3)", "\1\2\3\4\5\6", 6));
    assert_image(1, 3, 1);
}

static void
test_labels(void **state)
{
    static const int64_t labels[] = {0, -7, 42, INT64_MIN, INT64_MAX};
    (void)state;
    accept(make_array("<i8", "(5,)", labels, sizeof labels));
    assert_int_equal(sotto_table_rows(table), 5);
    assert_string_equal(sotto_table_name(table, 0), "label");
    assert_int_equal(sotto_table_kind(table, 0), SOTTO_COLUMN_NUMBER);
    assert_true(sotto_table_cell(table, 1, 0).number == -7);
    assert_text(1, 0, "-7");
    assert_text(2, 0, "42");
    assert_text(3, 0, "-9223372036854775808");
    assert_text(4, 0, "9223372036854775807");
    assert_int_equal(sotto_table_set_category(table, 0, &err), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_cell(table, 0, 0).kind, SOTTO_VALUE_TEXT);
    accept(make_array("|u1", "(2,)", "\3\377", 2));
    assert_string_equal(sotto_table_name(table, 0), "label");
    assert_text(1, 0, "255");
}

static void
test_wholes(void **state)
{
    static const uint64_t large[] = {UINT64_MAX, 10};
    (void)state;
    accept(make_array("<i2", "(2, 2)", "\1\0\377\377\0\200\377\177", 8));
    assert_int_equal(sotto_table_columns(table), 2);
    assert_string_equal(sotto_table_name(table, 1), "c2");
    assert_text(0, 1, "-1");
    assert_text(1, 0, "-32768");
    assert_true(sotto_table_cell(table, 1, 1).number == 32767);
    accept(make_array("|i1", "(1, 2)", "\200\177", 2));
    assert_true(sotto_table_cell(table, 0, 0).number == -128);
    accept(make_array("<u4", "(1, 1)", "\377\377\377\377", 4));
    assert_text(0, 0, "4294967295");
    accept(make_array("<u8", "(1, 2)", large, sizeof large));
    assert_text(0, 0, "18446744073709551615");
    assert_text(0, 1, "10");
    assert_int_equal(sotto_table_line(table, 0), 0);
}

static void
test_floats(void **state)
{
    static const float few[] = {1.5F, -0.25F, NAN, 3e38F};
    static const double many[] = {0.1, NAN};
    (void)state;
    accept(make_array("<f4", "(2, 2)", few, sizeof few));
    assert_int_equal(sotto_table_columns(table), 2);
    assert_int_equal(sotto_table_kind(table, 1), SOTTO_COLUMN_NUMBER);
    struct sotto_value value = sotto_table_cell(table, 0, 1);
    assert_int_equal(value.kind, SOTTO_VALUE_NUMBER);
    assert_true(value.number == -0.25 && value.data == NULL);
    assert_int_equal(sotto_table_cell(table, 1, 0).kind, SOTTO_VALUE_MISSING);
    assert_true(sotto_table_cell(table, 1, 1).number == (double)3e38F);
    assert_int_equal(sotto_table_set_category(table, 1, &err),
                     SOTTO_STATUS_USAGE);
    assert_string_equal(err.message,
                        "column \"c2\" holds floats: it cannot be a category; "
                        "save it as whole numbers or as CSV");
    accept(make_array("<f8", "(2,)", many, sizeof many));
    assert_string_equal(sotto_table_name(table, 0), "c1");
    assert_true(sotto_table_cell(table, 0, 0).number == 0.1);
}

/* Some rows of floats, joined to some rows of labels. */
static void
test_select(void **state)
{
    static const float few[] = {1, 2, 3, 4, 5, 6};
    static const size_t rows[] = {2, 0};
    struct sotto_table *some = NULL, *labels = NULL;
    (void)state;
    accept(make_array("<f4", "(3, 2)", few, sizeof few));
    assert_int_equal(sotto_table_select(table, rows, 2, &some, &err),
                     SOTTO_STATUS_OK);
    accept(make_array("|u1", "(3,)", "\7\10\11", 3));
    assert_int_equal(sotto_table_select(table, rows, 2, &labels, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_join(some, labels, &err), SOTTO_STATUS_OK);
    sotto_table_free(table);
    table = some;
    assert_true(sotto_table_cell(table, 0, 1).number == 6);
    assert_true(sotto_table_cell(table, 1, 0).number == 1);
    assert_text(0, 2, "9");
}

/* Other spellings that Python would read the same. */
static void
test_headers(void **state)
{
    (void)state;
    accept(
        make("{'shape':(1,2),'descr':'|u1','fortran_order':False}", "ab", 2));
    accept(make(" {'shape' : ( 2 , ) , 'fortran_order' : False ,\n"
                "'descr' : '<u1' , } \n",
                "ab", 2));
    /* Version 2.0 has four bytes for the size of the header. */
    static const char header[] =
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }\n";
    size_t length = strlen(header);
    memcpy(file, "\x93NUMPY\2\0", 8);
    memcpy(file + 8, (uint8_t[]){(uint8_t)length, 0, 0, 0}, 4);
    memcpy(file + 12, header, length);
    memcpy(file + 12 + length, "\1\2", 2);
    accept(14 + length);
    refuse(11, SOTTO_STATUS_INPUT, "cut short: expected 12 bytes, found 11");
}

/* ---- What is not -------------------------------------------------------- */

static void
test_types(void **state)
{
    static const struct {
        const char *type, *says;
    } bad[] = {
        {">f4", "big-endian numbers: save a.astype("},
        {"|b1", "truth values: save a.astype('uint8')"},
        {"<c8", "complex numbers"},
        {"|O", "Python objects"},
        {"<U3", "texts: save them as CSV"},
        {"|S3", "texts"},
        {"<M8[ns]", "times"},
        {"<f2", "the type \"<f2\": little-endian whole numbers of 8 to 64 "},
        {"<f1", "the type \"<f1\""},
        {"<i3", "the type \"<i3\""},
        {"|i4", "the type \"|i4\""},
        {"f4", "the type \"f4\""},
        {"<", "the type \"<\""},
        {"", "the type \"\""},
        {"<i16", "the type \"<i16\""},
        {"<f4444444444444444444444444444444", "the type \"<f44"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        refuse(make_array(bad[i].type, "(1,)", "\0\0\0\0", 4),
               SOTTO_STATUS_INPUT, bad[i].says);
    }
    refuse(make("{'descr': [('a', '<i4')], 'fortran_order': False, "
                "'shape': (1,), }",
                "\0\0\0\0", 4),
           SOTTO_STATUS_INPUT, "records of several fields");
    refuse(make("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }",
                "\0\0\0\0", 4),
           SOTTO_STATUS_INPUT, "Fortran's order: only C's is read; save numpy");
}

static void
test_shapes(void **state)
{
    static const float infinite[] = {1, -INFINITY};
    (void)state;
    refuse(make_array("<i4", "()", "abcd", 4), SOTTO_STATUS_INPUT,
           "of 0 dimensions: numbers may have 1 or 2");
    refuse(make_array("<i4", "(1, 1, 1)", "abcd", 4), SOTTO_STATUS_INPUT,
           "of 3 dimensions: numbers may have 1 or 2. Save images, of up to 8, "
           "as unsigned bytes: (x * 255).astype('uint8')");
    refuse(make_array("|u1", "(1,1,1,1,1,1,1,1,1)", "a", 1), SOTTO_STATUS_INPUT,
           "of more than 8 dimensions");
    refuse(make_array("<i4", "(0, 3)", "", 0), SOTTO_STATUS_INPUT,
           "dimension 1 of the .npy file is 0");
    refuse(make_array("<i4", "(2,)", "abcd", 4), SOTTO_STATUS_INPUT,
           "cut short: expected 78 bytes, found 74");
    refuse(make_array("<i4", "(1,)", "abcde", 5), SOTTO_STATUS_INPUT,
           "with more than its shape says: expected 74 bytes, found 75");
    refuse(make_array("<i4", "(4294967295, 4294967295)", "abcd", 4),
           SOTTO_STATUS_INPUT, "expected over 18446744073709551615 bytes");
    refuse(make_array("<i4", "(4294967296,)", "abcd", 4), SOTTO_STATUS_INPUT,
           "a dimension below 2^32");
    refuse(make_array("<f4", "(1, 2)", infinite, sizeof infinite),
           SOTTO_STATUS_INPUT, "row 1, column 2 is infinite");
}

static void
test_columns(void **state)
{
    size_t count = 65537, size;
    uint8_t *wide = calloc(1, count + 256);
    (void)state;
    size = make_array("|i1", "(1, 65537)", "", 0);
    memcpy(wide, file, size);
    assert_int_equal(parse(wide, size + count), SOTTO_STATUS_LIMIT);
    assert_non_null(strstr(err.message, "has 65537 columns, more than 65536"));
    free(wide);
}

static void
test_bad_headers(void **state)
{
    static const char *const bad[] = {
        "",
        "x",
        "{",
        "{}",
        "{'descr': '|u1', 'fortran_order': False, }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1,",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1 1), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': 1, }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), } x",
        "{'descr': '|u1', 'fortran_order': False 'shape': (1,), }",
        "{'descr': '|u1', 'fortran_order': None, 'shape': (1,), }",
        "{'descr': '|u1 x', 'fortran_order': False, 'shape': (1,), }",
        "{'descr' '|u1', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '|u1', 'descr': '|u1', 'shape': (1,), }",
        "{'descr': u1, 'fortran_order': False, 'shape': (1,), }",
        "{'other': 1, 'descr': '|u1', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }\1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        refuse(make(bad[i], "\1", 1), SOTTO_STATUS_INPUT,
               "the header of the .npy file is malformed: expected ");
    }
    refuse(make("{'descr': nonsense", "\1", 1), SOTTO_STATUS_INPUT,
           "expected a type in quotes, found \"nonsense\"");
}

/* Cut at every byte, it is an error and nothing else. */
static void
test_cut(void **state)
{
    size_t size = make_array("<i4", "(1,)", "abcd", 4);
    (void)state;
    for (size_t cut = 6; cut < size; cut++) {
        uint8_t *bytes = malloc(cut);
        memcpy(bytes, file, cut);
        assert_int_equal(parse(bytes, cut), SOTTO_STATUS_INPUT);
        free(bytes);
    }
    accept(size);
    file[6] = 3;
    refuse(size, SOTTO_STATUS_INPUT, "version 3.0: 1.0 and 2.0 are read");
    file[6] = 1;
    file[7] = 1;
    refuse(size, SOTTO_STATUS_INPUT, "version 1.1");
}

static void
test_memory(void **state)
{
    static const char *const types[] = {"<i4", "<f4", "|u1"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        size_t size = make_array(types[i], i < 2 ? "(1, 2)" : "(2, 4)",
                                 "\0\0\0\0\0\0\0\0", 8);
        enum sotto_status status;
        long n = 0;
        do {
            fail_alloc_at(++n);
            status = parse(file, size);
            assert_true(status == SOTTO_STATUS_OK ||
                        (status == SOTTO_STATUS_MEMORY && table == NULL));
        } while (fail_alloc_count() >= n);
        fail_alloc_at(0);
        assert_int_equal(status, SOTTO_STATUS_OK);
        assert_true(n > 4);
    }
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_images),      TEST(test_labels), TEST(test_wholes),
        TEST(test_floats),      TEST(test_select), TEST(test_headers),
        TEST(test_types),       TEST(test_shapes), TEST(test_columns),
        TEST(test_bad_headers), TEST(test_cut),    TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
