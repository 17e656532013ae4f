/*
 * test_augment_warp.c: the loops over pixels against plain ones, and against
 * pictures turned and thickened by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "data/augment.h"
#include "data/augment_warp.h"

#define MOST 10000u

static float image[MOST], result[MOST];

static void
fill_image(void)
{
    uint32_t bits = 1;
    for (size_t i = 0; i < MOST; i++) {
        bits = bits * UINT32_C(1664525) + UINT32_C(1013904223);
        image[i] = (float)(bits >> 16) / 65535;
    }
    memset(result, 0xff, sizeof result);
}

/* A pixel, or 0 where there is none. */
static double
pixel(uint32_t height, uint32_t width, uint32_t channels, long x, long y,
      uint32_t c)
{
    return x < 0 || y < 0 || x >= (long)width || y >= (long)height
               ? 0
               : (double)image[((size_t)y * width + (size_t)x) * channels + c];
}

static double
sample(uint32_t height, uint32_t width, uint32_t channels, double x, double y,
       uint32_t c)
{
    long i = (long)floor(x), j = (long)floor(y);
    double a = x - (double)i, b = y - (double)j;
    return (1 - a) * (1 - b) * pixel(height, width, channels, i, j, c) +
           a * (1 - b) * pixel(height, width, channels, i + 1, j, c) +
           (1 - a) * b * pixel(height, width, channels, i, j + 1, c) +
           a * b * pixel(height, width, channels, i + 1, j + 1, c);
}

static void
compare(const struct augment_map *map, uint32_t height, uint32_t width,
        uint32_t channels)
{
    fill_image();
    augment_warp(map, height, width, channels, image, result);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            double s =
                (double)map->xx * x + (double)map->xy * y + (double)map->x0;
            double t =
                (double)map->yx * x + (double)map->yy * y + (double)map->y0;
            s = fmax((double)map->left, fmin((double)map->right, s));
            t = fmax((double)map->top, fmin((double)map->bottom, t));
            for (uint32_t c = 0; c < channels; c++) {
                double want = sample(height, width, channels, s, t, c);
                size_t at = ((size_t)y * width + x) * channels + c;
                assert_true(fabs((double)result[at] - want) < 1e-4);
            }
        }
    }
    assert_true(isnan(result[(size_t)height * width * channels]));
}

static void
test_reference(void **state)
{
    const uint32_t sizes[][3] = {{28, 28, 1}, {2, 2, 1},   {2, 150, 3},
                                 {70, 2, 3},  {20, 65, 2}, {30, 64, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        float w = (float)sizes[i][1], h = (float)sizes[i][0];
        const struct augment_map maps[] = {
            {0.9f, 0.3f, -2, -0.2f, 1.2f, 1.5f, -1, w, -1, h},
            {-1.3f, 0, w, 0, 0.7f, -0.3f, -1, w, -1, h},
            {100, -70, 3, 55, 31, -20, -1, w, -1, h},
            {0.5f, 0, -0.25f, 0, 0.5f, -0.25f, 0, w - 1, 0, h - 1},
            {0, 0, -0.5f, 0, 0, h - 0.5f, -1, w, -1, h},
            {0, 0, -1e30f, 0, 0, 1e30f, -1, w, -1, h},
        };
        for (size_t k = 0; k < sizeof maps / sizeof *maps; k++) {
            compare(&maps[k], sizes[i][0], sizes[i][1], sizes[i][2]);
        }
    }
}

/* An F, turned a quarter. */
static void
test_quarter(void **state)
{
    const float upright[25] = {0, 1, 1,      1, 0, /**/ 0, 1, 0, 0, 0, 0, 1, 1,
                               0, 0, /**/ 0, 1, 0, 0,      0, 0, 1, 0, 0, 0};
    const float turned[25] = {0, 0, 0,      0, 0, /**/ 1, 0, 0, 0, 0, 1, 0, 1,
                              0, 0, /**/ 1, 1, 1, 1,      1, 0, 0, 0, 0, 0};
    float c = (float)cos(acos(-1.0) / 2), view[25];
    /* (x, y) shows (4 - y, x): what was at the right is on top */
    const struct augment_map map = {c, -1, 4, 1, c, 0, -1, 5, -1, 5};
    (void)state;
    augment_warp(&map, 5, 5, 1, upright, view);
    for (size_t i = 0; i < 25; i++) {
        assert_true(fabsf(view[i] - turned[i]) < 1e-6f);
    }
}

static void
test_thickness(void **state)
{
    float dot[15] = {0, 0, 0, 0, 0, /**/ 0, 0, 0.8f, 0, 0, 0, 0.2f, 0, 0, 1};
    const float thick[15] = {0,    0,    0.4f, 0,    0,    /**/
                             0,    0.4f, 0.8f, 0.4f, 0.5f, /**/
                             0.1f, 0.2f, 0.4f, 0.5f, 1};
    float block[15] = {1, 1, 1, 1, 1, /**/ 1, 1, 1, 0.6f, 1, /**/
                       1, 1, 1, 1, 1};
    const float thin[15] = {0.75f, 0.75f, 0.75f, 0.75f, 0.75f, /**/
                            0.75f, 1,     0.9f,  0.6f,  0.75f, /**/
                            0.75f, 0.75f, 0.75f, 0.75f, 0.75f};
    (void)state;
    augment_thicken(3, 5, 1, false, 0.5f, dot);
    augment_thicken(3, 5, 1, true, 0.25f, block);
    for (size_t i = 0; i < 15; i++) {
        assert_true(fabsf(dot[i] - thick[i]) < 1e-6f);
        assert_true(fabsf(block[i] - thin[i]) < 1e-6f);
    }
}

/* By a plain loop, in several channels, up to the widest row. */
static void
compare_thickness(uint32_t height, uint32_t width, uint32_t channels, bool thin,
                  float weight)
{
    fill_image();
    memcpy(result, image, sizeof image);
    augment_thicken(height, width, channels, thin, weight, result);
    for (size_t i = 0; i < (size_t)height * width * channels; i++) {
        uint32_t c = (uint32_t)(i % channels);
        long x = (long)(i / channels % width), y = (long)(i / channels / width);
        const long beside[4][2] = {
            {x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}};
        double v = (double)image[i], end = v;
        for (size_t k = 0; k < 4; k++) {
            double other =
                pixel(height, width, channels, beside[k][0], beside[k][1], c);
            end = thin ? fmin(end, other) : fmax(end, other);
        }
        double want = v + (double)weight * (end - v);
        want = fmax(0, fmin(1, want));
        assert_true(fabs((double)result[i] - want) < 1e-6);
    }
    assert_memory_equal(result + (size_t)height * width * channels,
                        image + (size_t)height * width * channels, 64);
}

static void
test_thickness_reference(void **state)
{
    (void)state;
    for (int thin = 0; thin < 2; thin++) {
        compare_thickness(28, 28, 1, thin, 0.7f);
        compare_thickness(13, 9, 3, thin, 1);
        compare_thickness(1, 1, 1, thin, 0.5f);
        compare_thickness(2, DATA_AUGMENT_LANES_MAX / 16, 16, thin, 2);
        compare_thickness(2, DATA_AUGMENT_LANES_MAX, 1, thin, 0.1f);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_quarter),
        cmocka_unit_test(test_thickness),
        cmocka_unit_test(test_thickness_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
