/*
 * test_png_folder.c: folders of PNG files to tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "fail_alloc.h"
#include "host/file.h"
#include "png_fixture.h"
#include "scratch.h"
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
    return scratch_make();
}

static int
teardown(void **state)
{
    (void)state;
    sotto_table_free(table);
    return scratch_remove();
}

static void
put_bytes(const char *name, const void *bytes, size_t size)
{
    assert_int_equal(
        host_file_write(in_folder(name), 0644, false, bytes, size, &err),
        SOTTO_STATUS_OK);
}

/* Four grey pixels, the first of them `first`, in a square. */
static void
put(const char *name, uint8_t first)
{
    const uint8_t grey[4] = {first, 1, 2, 3};
    png_make(2, 2, PNG_GREY, grey);
    put_bytes(name, png, png_size);
}

static void
make_folder(const char *name)
{
    assert_int_equal(mkdir(in_folder(name), 0755), 0);
}

static enum sotto_status
read_folder(void)
{
    sotto_table_free(table);
    table = NULL;
    memset(&err, 0xa5, sizeof err);
    return sotto_table_read(folder, NULL, &table, &err);
}

static void
refuse(enum sotto_status status, const char *message)
{
    assert_int_equal(read_folder(), status);
    assert_null(table);
    assert_int_equal(err.status, status);
    if (strstr(err.message, message) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", message, err.message);
    }
}

static uint8_t
first_of(size_t row)
{
    return *(const uint8_t *)sotto_table_cell(table, row, 0).data;
}

static void
assert_label(size_t row, const char *text)
{
    struct sotto_value value = sotto_table_cell(table, row, 1);
    assert_int_equal(value.size, strlen(text));
    assert_memory_equal(value.data, text, value.size);
}

static void
assert_image(uint32_t height, uint32_t width, uint32_t channels)
{
    struct sotto_image image = sotto_table_image(table, 0);
    assert_int_equal(image.height, height);
    assert_int_equal(image.width, width);
    assert_int_equal(image.channels, channels);
    assert_int_equal(sotto_table_width(table, 0), height * width * channels);
}

/* ---- What is read ------------------------------------------------------- */

static void
test_flat(void **state)
{
    (void)state;
    put("b.png", 11);
    put("a.PNG", 10);
    put("10.png", 12);
    put("9.png", 13);
    put(".hidden.png", 99);
    put_bytes("notes.txt", "x", 1);
    make_folder("empty");
    assert_int_equal(read_folder(), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rows(table), 4);
    assert_int_equal(sotto_table_columns(table), 1);
    assert_string_equal(sotto_table_name(table, 0), "image");
    assert_int_equal(sotto_table_kind(table, 0), SOTTO_COLUMN_BYTES);
    assert_image(2, 2, 1);
    assert_int_equal(first_of(0), 12);
    assert_int_equal(first_of(1), 13);
    assert_int_equal(first_of(2), 10);
    assert_int_equal(first_of(3), 11);
    assert_memory_equal(sotto_table_cell(table, 3, 0).data, "\13\1\2\3", 4);
    assert_int_equal(sotto_table_line(table, 0), 0);
}

static void
test_classes(void **state)
{
    const size_t rows[] = {2, 0};
    struct sotto_table *some;
    (void)state;
    make_folder("dog");
    make_folder("cat");
    make_folder("none");
    make_folder("cat/deeper");
    make_folder(".git");
    put("dog/1.png", 20);
    put("cat/2.png", 31);
    put("cat/1.png", 30);
    put("cat/deeper/1.png", 99);
    put(".git/1.png", 99);
    assert_int_equal(read_folder(), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rows(table), 3);
    assert_int_equal(sotto_table_columns(table), 2);
    assert_string_equal(sotto_table_name(table, 1), "label");
    assert_int_equal(sotto_table_kind(table, 1), SOTTO_COLUMN_CATEGORY);
    assert_int_equal(sotto_table_image(table, 1).height, 0);
    assert_int_equal(first_of(0), 30);
    assert_int_equal(first_of(1), 31);
    assert_int_equal(first_of(2), 20);
    assert_label(0, "cat");
    assert_label(1, "cat");
    assert_label(2, "dog");

    assert_int_equal(sotto_table_select(table, rows, 2, &some, &err),
                     SOTTO_STATUS_OK);
    sotto_table_free(table);
    table = some;
    assert_image(2, 2, 1);
    assert_int_equal(first_of(0), 20);
    assert_label(0, "dog");
    assert_label(1, "cat");
}

/* Labels that are numbers are numbers, as those of IDX are. */
static void
test_numbers(void **state)
{
    (void)state;
    make_folder("7");
    make_folder("12");
    put("7/x.png", 1);
    put("12/x.png", 2);
    assert_int_equal(read_folder(), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_kind(table, 1), SOTTO_COLUMN_NUMBER);
    assert_true(sotto_table_cell(table, 0, 1).number == 12);
    assert_true(sotto_table_cell(table, 1, 1).number == 7);
    assert_label(0, "12");
    assert_int_equal(sotto_table_set_category(table, 1, &err), SOTTO_STATUS_OK);
    assert_label(1, "7");

    make_folder("x");
    put("x/x.png", 3);
    assert_int_equal(read_folder(), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_kind(table, 1), SOTTO_COLUMN_CATEGORY);
}

static void
test_mixed_colours(void **state)
{
    const uint8_t rgb[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    (void)state;
    put("a.png", 50);
    png_make(2, 2, PNG_RGB, rgb);
    put_bytes("b.png", png, png_size);
    assert_int_equal(read_folder(), SOTTO_STATUS_OK);
    assert_image(2, 2, 3);
    assert_memory_equal(sotto_table_cell(table, 0, 0).data,
                        "\62\62\62\1\1\1\2\2\2\3\3\3", 12);
    assert_memory_equal(sotto_table_cell(table, 1, 0).data, rgb, 12);
}

static void
test_links(void **state)
{
    (void)state;
    make_folder("a");
    put("a/1.png", 1);
    assert_int_equal(symlink("a", in_folder("b")), 0);
    assert_int_equal(read_folder(), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rows(table), 2);
    assert_label(1, "b");
    assert_int_equal(symlink("nowhere", in_folder("a/2.png")), 0);
    refuse(SOTTO_STATUS_IO, "/a/2.png");
}

/* ---- What is refused ---------------------------------------------------- */

static void
test_nothing(void **state)
{
    (void)state;
    refuse(SOTTO_STATUS_INPUT, ": a folder with no PNG file in it: images are "
                               "read as FOLDER/*.png or FOLDER/CLASS/*.png");
    put_bytes("x.jpg", "x", 1);
    make_folder("a");
    refuse(SOTTO_STATUS_INPUT, ": a folder with no PNG file in it");
}

static void
test_both(void **state)
{
    (void)state;
    put("1.png", 1);
    make_folder("a");
    put("a/2.png", 2);
    refuse(SOTTO_STATUS_INPUT, ": has PNG files both in itself and in folders");
}

static void
test_sizes(void **state)
{
    (void)state;
    put("a.png", 1);
    png_make(3, 1, PNG_GREY, "\1\2\3");
    put_bytes("b.png", png, png_size);
    refuse(SOTTO_STATUS_INPUT, "/b.png: has 3 x 1 pixels, but a.png has 2 x 2: "
                               "all must be of one size");
}

static void
test_damaged(void **state)
{
    (void)state;
    put("a.png", 1);
    put("b.png", 1);
    put_bytes("b.png", png, png_size - 30);
    refuse(SOTTO_STATUS_INPUT, "/b.png: not a PNG file that can be read: ");
    put_bytes("b.png", "", 0);
    refuse(SOTTO_STATUS_INPUT, "/b.png: not a PNG file that can be read: ");
}

static void
test_names(void **state)
{
    (void)state;
    make_folder("\xff");
    put("\xff/1.png", 1);
    refuse(SOTTO_STATUS_INPUT, ": the name of a folder in it is not UTF-8");
}

static void
test_memory(void **state)
{
    (void)state;
    make_folder("a");
    make_folder("b");
    put("a/1.png", 1);
    put("a/2.png", 1);
    put("b/1.png", 1);
    fail_alloc_at(0);
    assert_int_equal(read_folder(), SOTTO_STATUS_OK);
    long count = fail_alloc_count();
    assert_true(count > 10);
    for (long n = 1; n <= count; n++) {
        fail_alloc_at(n);
        assert_int_equal(read_folder(), SOTTO_STATUS_MEMORY);
        assert_null(table);
    }
    fail_alloc_at(0);
}

/* ---- On a device -------------------------------------------------------- */

static enum sotto_status
read_device(size_t samples)
{
    static const char *const names[] = {"image", "label"};
    const struct sotto_device_file file = {
        .names = names, .count = 2, .person = "label", .samples = samples};
    sotto_table_free(table);
    table = NULL;
    return sotto_device_table_read(folder, &file, &table, NULL, &err);
}

/* An image that is none, or another, is missing; it is a row all the same, and
   the others are what they are. */
static void
test_device(void **state)
{
    (void)state;
    static const char *const people[] = {"ann", "bob", "cy", "dee", "eve"};
    const uint8_t colours[12] = {7, 8, 9};
    for (size_t i = 0; i < 5; i++) {
        make_folder(people[i]);
    }
    put_bytes("ann/x.png", "no image", 8);
    put("bob/x.png", 9);
    png_make(1, 2, PNG_GREY, colours);
    put_bytes("cy/x.png", png, png_size);
    png_make(2, 2, PNG_RGB, colours);
    put_bytes("dee/x.png", png, png_size);
    assert_int_equal(symlink("nowhere", in_folder("eve/x.png")), 0);
    for (size_t samples = 4; samples <= 12; samples += 8) {
        size_t there = samples == 4 ? 1 : 3;
        assert_int_equal(read_device(samples), SOTTO_STATUS_OK);
        assert_int_equal(sotto_table_rows(table), 5);
        for (size_t i = 0; i < 5; i++) {
            struct sotto_value image = sotto_table_cell(table, i, 0);
            bool fits = i == there || (i == 1 && samples == 12);
            assert_int_equal(image.kind,
                             fits ? SOTTO_VALUE_BYTES : SOTTO_VALUE_MISSING);
            assert_int_equal(image.size, fits ? samples : 0);
            assert_memory_equal(sotto_table_cell(table, i, 1).data, people[i],
                                2);
        }
        struct sotto_value image = sotto_table_cell(table, there, 0);
        assert_int_equal(((const uint8_t *)image.data)[0], there == 1 ? 9 : 7);
    }
    assert_int_equal(read_device(0), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_cell(table, 1, 0).kind, SOTTO_VALUE_MISSING);
}

static void
test_device_memory(void **state)
{
    (void)state;
    make_folder("ann");
    put("ann/x.png", 9);
    fail_alloc_at(0);
    assert_int_equal(read_device(4), SOTTO_STATUS_OK);
    long count = fail_alloc_count();
    for (long i = 1; i <= count; i++) {
        fail_alloc_at(i);
        enum sotto_status status = read_device(4);
        fail_alloc_at(0);
        assert_true(status == SOTTO_STATUS_MEMORY || status == SOTTO_STATUS_OK);
        assert_true((table != NULL) == (status == SOTTO_STATUS_OK));
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_flat),          TEST(test_classes), TEST(test_numbers),
        TEST(test_mixed_colours), TEST(test_links),   TEST(test_nothing),
        TEST(test_both),          TEST(test_sizes),   TEST(test_damaged),
        TEST(test_names),         TEST(test_memory),  TEST(test_device),
        TEST(test_device_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
