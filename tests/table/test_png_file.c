/*
 * test_png_file.c: PNG files of every kind to samples, and hostile ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "png_fixture.h"
#include "table/png_file.h"

static struct sotto_error err;
static struct sotto_image image;

static enum sotto_status
header(void)
{
    memset(&err, 0xa5, sizeof err);
    return png_file_header(png, png_size, "x.png", &image, &err);
}

/* The file in `png` has these samples, grey or in colours. */
static void
expect(uint32_t width, uint32_t height, uint32_t channels, uint32_t as_channels,
       const void *samples)
{
    uint8_t out[256];
    size_t size = (size_t)width * height * as_channels;
    assert_int_equal(header(), SOTTO_STATUS_OK);
    assert_int_equal(image.width, width);
    assert_int_equal(image.height, height);
    assert_int_equal(image.channels, channels);
    memset(out, 0xa5, sizeof out);
    image.channels = as_channels;
    assert_int_equal(png_file_decode(png, png_size, "x.png", &image, out, &err),
                     SOTTO_STATUS_OK);
    assert_memory_equal(out, samples, size);
    assert_int_equal(out[size], 0xa5);
}

static void
refuse(enum sotto_status status, const char *message)
{
    image.channels = 99;
    assert_int_equal(header(), status);
    assert_int_equal(image.channels, 99);
    assert_int_equal(err.status, status);
    assert_non_null(strstr(err.message, "x.png: "));
    assert_non_null(strstr(err.message, message));
}

/* ---- Kinds -------------------------------------------------------------- */

static void
test_grey(void **state)
{
    const uint8_t grey[6] = {0, 1, 127, 128, 254, 255};
    const uint8_t rgb[18] = {0,   0,   0,   1,   1,   1,   127, 127, 127,
                             128, 128, 128, 254, 254, 254, 255, 255, 255};
    (void)state;
    png_make(3, 2, PNG_GREY, grey);
    expect(3, 2, 1, 1, grey);
    expect(3, 2, 1, 3, rgb);
}

static void
test_rgb(void **state)
{
    uint8_t rgb[18];
    (void)state;
    for (size_t i = 0; i < sizeof rgb; i++) {
        rgb[i] = (uint8_t)(i * 14);
    }
    png_make(2, 3, PNG_RGB, rgb);
    expect(2, 3, 3, 3, rgb);
}

/* Opaque, absent, and between: over black. */
static void
test_alpha(void **state)
{
    const uint8_t grey[6] = {200, 255, 200, 0, 0, 128};
    const uint8_t rgba[8] = {10, 20, 30, 255, 10, 20, 30, 0};
    const uint8_t white[2] = {255, 128};
    uint8_t out[1];
    (void)state;
    png_make(3, 1, PNG_GREY_A, grey);
    expect(3, 1, 1, 1, "\310\0\0");
    png_make(2, 1, PNG_RGBA, rgba);
    expect(2, 1, 3, 3, "\12\24\36\0\0\0");
    png_make(1, 1, PNG_GREY_A, white);
    assert_int_equal(header(), SOTTO_STATUS_OK);
    assert_int_equal(png_file_decode(png, png_size, "x.png", &image, out, &err),
                     SOTTO_STATUS_OK);
    assert_in_range(out[0], 100, 200);
}

static void
test_depths(void **state)
{
    const uint8_t wide[8] = {0, 0, 0x80, 0x80, 0x40, 0x40, 0xff, 0xff};
    const uint8_t palette[9] = {255, 0, 0, 0, 255, 0, 9, 8, 7};
    (void)state;
    png_begin(4, 1, 16, PNG_GREY);
    png_end(wide, 8, 1);
    expect(4, 1, 1, 1, "\0\200\100\377");

    png_begin(4, 2, 1, PNG_GREY);
    png_end("\xa0\x50", 1, 2);
    expect(4, 2, 1, 1, "\377\0\377\0\0\377\0\377");

    png_begin(2, 1, 8, PNG_PALETTE);
    png_chunk("PLTE", palette, sizeof palette);
    png_end("\2\1", 2, 1);
    expect(2, 1, 3, 3, "\11\10\7\0\377\0");
}

/* ---- Hostile ------------------------------------------------------------ */

/* No file cut short or with a byte changed does harm; cut ones are refused. */
static void
test_damaged(void **state)
{
    uint8_t rgb[48] = {1, 2, 3}, out[48];
    (void)state;
    png_make(4, 4, PNG_RGB, rgb);
    const size_t whole = png_size;
    const struct sotto_image right = {.height = 4, .width = 4, .channels = 3};
    for (size_t size = 0; size < whole - 12; size++) { /* IEND is not missed */
        uint8_t *cut = malloc(size > 0 ? size : 1);
        assert_non_null(cut);
        memcpy(cut, png, size);
        assert_int_equal(png_file_decode(cut, size, "x.png", &right, out, &err),
                         SOTTO_STATUS_INPUT);
        free(cut);
    }
    for (size_t i = 0; i < 8 * whole; i++) {
        png[i / 8] ^= (uint8_t)(1u << i % 8);
        enum sotto_status status =
            png_file_decode(png, whole, "x.png", &right, out, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_INPUT ||
                    status == SOTTO_STATUS_LIMIT);
        png[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    png_size = whole;
    expect(4, 4, 3, 3, rgb);
}

static void
test_bombs(void **state)
{
    (void)state;
    png_begin(4097, 1, 1, PNG_GREY);
    png_end("", 0, 1);
    refuse(SOTTO_STATUS_LIMIT, "4097 x 1 pixels: at most 4096 x 4096 are read");
    png_begin(3, 4097, 1, PNG_GREY);
    png_end("", 0, 1);
    refuse(SOTTO_STATUS_LIMIT, "3 x 4097 pixels: at most");
    png_begin(0x7fffffff, 0x7fffffff, 16, PNG_RGBA);
    png_end("", 0, 1);
    refuse(SOTTO_STATUS_INPUT, "not a PNG file that can be read: ");
    png_begin(4096, 4096, 8, PNG_RGB);
    png_end("", 0, 1);
    refuse(SOTTO_STATUS_INPUT, "says it holds 4096 x 4096 pixels, which its ");
    png_begin(0, 4, 8, PNG_GREY);
    png_end("", 0, 1);
    refuse(SOTTO_STATUS_INPUT, "not a PNG file that can be read: ");
}

/* More pixels promised than compressed, yet few enough to be possible. */
static void
test_short_data(void **state)
{
    uint8_t out[64 * 64];
    (void)state;
    png_begin(64, 64, 8, PNG_GREY);
    png_end("abcd", 4, 1);
    assert_int_equal(header(), SOTTO_STATUS_OK);
    assert_int_equal(png_file_decode(png, png_size, "x.png", &image, out, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "x.png: not a PNG file that can be "));
}

static void
test_not_png(void **state)
{
    (void)state;
    png_size = 0;
    refuse(SOTTO_STATUS_INPUT, "not a PNG file that can be read: ");
    memcpy(png, "GIF89a.............................", 32);
    png_size = 32;
    refuse(SOTTO_STATUS_INPUT, "not a PNG file that can be read: ");
}

/* Another size or colours than the header had: the file was replaced. */
static void
test_changed(void **state)
{
    uint8_t out[64];
    const struct sotto_image shapes[] = {{2, 3, 3}, {3, 2, 3}, {2, 2, 1}};
    (void)state;
    png_make(2, 2, PNG_RGB, "\1\2\3\4\5\6\7\10\11\12\13\14");
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(
            png_file_decode(png, png_size, "x.png", &shapes[i], out, &err),
            SOTTO_STATUS_INPUT);
        assert_string_equal(err.message,
                            "x.png: has changed while it was read");
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grey),       cmocka_unit_test(test_rgb),
        cmocka_unit_test(test_alpha),      cmocka_unit_test(test_depths),
        cmocka_unit_test(test_damaged),    cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_short_data), cmocka_unit_test(test_not_png),
        cmocka_unit_test(test_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
