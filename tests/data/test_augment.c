/*
 * test_augment.c: views of images: what no distortion leaves as it is, what a
 * view depends on, and what the parameters may be.
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

#include "data/augment.h"
#include "data/augment_draw.h"

#define ROWS 40u
#define SIDE 12u
#define CHANNELS 3u
#define WIDE ((size_t)64)
#define SIZE ((size_t)SIDE * SIDE * CHANNELS)

static float all[ROWS * SIZE];
static float views[ROWS * SIZE], others[ROWS * SIZE];
static uint32_t rows[ROWS];
static struct sotto_error err;

static int
setup(void **state)
{
    uint32_t bits = 1;
    (void)state;
    memset(&err, 0xa5, sizeof err);
    for (size_t i = 0; i < ROWS * SIZE; i++) {
        bits = bits * UINT32_C(1664525) + UINT32_C(1013904223);
        all[i] = (float)(bits >> 16) / 65535;
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        rows[i] = i;
    }
    return 0;
}

static struct data_augment
no_photo(void)
{
    struct data_augment augment = {.kind = DATA_AUGMENT_PHOTO, .crop = 1};
    return augment;
}

/* Geometry alone. */
static struct data_augment
line_unlit(uint32_t height, uint32_t width)
{
    struct data_augment augment = data_augment_line(height, width);
    augment.jitter = augment.gamma = augment.noise = 0;
    return augment;
}

static void
make(const struct data_augment *augment, uint64_t seed, uint32_t epoch,
     uint32_t view, float *ret)
{
    memset(ret, 0xff, ROWS * SIZE * sizeof *ret);
    data_augment_rows(NULL, augment, SIDE, SIDE, CHANNELS, all, rows, ROWS,
                      seed, epoch, view, ret);
}

/* ---- Nothing, and known distortions ------------------------------------- */

static void
test_identity(void **state)
{
    const struct data_augment none[2] = {{.kind = DATA_AUGMENT_LINE},
                                         no_photo()};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        make(&none[i], 7, 1, 1, views);
        assert_memory_equal(views, all, sizeof all);
    }
    /* not square, and in one channel */
    for (size_t i = 0; i < 2; i++) {
        memset(views, 0xff, sizeof views);
        data_augment_rows(NULL, &none[i], 5, 100, 1, all, rows, 8, 7, 1, 1,
                          views);
        assert_memory_equal(views, all, (size_t)8 * 500 * sizeof *all);
    }
}

/* A sample of channel c at (x, y), bilinear with 0 outside. */
static double
sample(const float *image, double x, double y, size_t c)
{
    double sum = 0;
    for (size_t j = 0; j < SIDE; j++) {
        for (size_t i = 0; i < SIDE; i++) {
            double a = fmax(0, 1 - fabs(x - (double)i));
            double b = fmax(0, 1 - fabs(y - (double)j));
            sum += a * b * (double)image[(j * SIDE + i) * CHANNELS + c];
        }
    }
    return sum;
}

/* m + R(a) (s_x  k ; 0  s_y) (p - m) + t, word for word. */
static void
test_line_map(void **state)
{
    struct data_augment augment = line_unlit(SIDE, SIDE);
    const double m = (SIDE - 1) / 2.0;
    (void)state;
    augment.rotate = 180;
    augment.thickness = 0;
    make(&augment, 4, 5, 6, views);
    for (uint32_t row = 0; row < 8; row++) {
        struct augment_key key = {.seed = 4, .epoch = 5, .row = row, .view = 6};
        struct augment_line l;
        augment_draw_line(&augment, &key, &l);
        for (size_t i = 0; i < SIZE; i++) {
            double px = (double)(i / CHANNELS % SIDE) - m;
            double py = (double)(i / CHANNELS / SIDE) - m;
            double x = l.scale_x * px + l.shear * py, y = l.scale_y * py;
            double want =
                sample(all + row * SIZE,
                       m + cos(l.rotate) * x - sin(l.rotate) * y + l.shift_x,
                       m + sin(l.rotate) * x + cos(l.rotate) * y + l.shift_y,
                       i % CHANNELS);
            assert_true(fabs((double)views[row * SIZE + i] - want) < 1e-4);
        }
    }
}

/* A single row of pixels is not warped, but is made thicker. */
static void
test_one_row(void **state)
{
    struct data_augment augment = line_unlit(1, SIDE);
    (void)state;
    augment.thickness = 0;
    data_augment_rows(NULL, &augment, 1, SIDE, 1, all, rows, 4, 1, 0, 0, views);
    assert_memory_equal(views, all, (size_t)4 * SIDE * sizeof *all);
    data_augment_rows(NULL, &augment, SIDE, 1, 1, all, rows, 4, 1, 0, 0, views);
    assert_memory_equal(views, all, (size_t)4 * SIDE * sizeof *all);
    augment.thickness = 1;
    data_augment_rows(NULL, &augment, 1, SIDE, 1, all, rows, 4, 1, 0, 0, views);
    assert_memory_not_equal(views, all, (size_t)4 * SIDE * sizeof *all);
}

/* Each of the four changes of intensity is one of its own. */
static void
test_line_intensity(void **state)
{
    struct data_augment augment[4] = {{.kind = DATA_AUGMENT_LINE},
                                      {.kind = DATA_AUGMENT_LINE},
                                      {.kind = DATA_AUGMENT_LINE},
                                      {.kind = DATA_AUGMENT_LINE}};
    (void)state;
    augment[0].jitter = augment[0].brightness = 1;
    augment[1].jitter = augment[1].contrast = 1;
    augment[2].gamma = 0.5;
    augment[3].noise = 0.3;
    for (size_t i = 0; i < 4; i++) {
        bool out = false;
        make(&augment[i], 7, 1, 1, views);
        for (size_t r = 0; r < ROWS; r++) {
            assert_memory_not_equal(views + r * SIZE, all + r * SIZE,
                                    SIZE * sizeof *all);
        }
        for (size_t k = 0; k < ROWS * SIZE; k++) {
            out |= views[k] < 0 || views[k] > 1;
        }
        assert_int_equal(out, i == 3); /* noise is not cut */
        augment[i].jitter = augment[i].gamma = augment[i].noise = 0;
        make(&augment[i], 7, 1, 1, views);
        assert_memory_equal(views, all, sizeof all);
    }
}

static bool
is_same(const float *a, const float *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (a[i] != b[i]) {
            return false;
        }
    }
    return true;
}

static bool
is_mirrored(const float *view, const float *image)
{
    for (size_t y = 0; y < SIDE; y++) {
        for (size_t x = 0; x < SIDE; x++) {
            const float *there = image + (y * SIDE + SIDE - 1 - x) * CHANNELS;
            if (!is_same(view + (y * SIDE + x) * CHANNELS, there, CHANNELS)) {
                return false;
            }
        }
    }
    return true;
}

static void
test_flip(void **state)
{
    struct data_augment augment = no_photo();
    size_t flipped = 0, same = 0;
    (void)state;
    augment.flip = 1;
    make(&augment, 3, 0, 0, views);
    for (size_t i = 0; i < ROWS; i++) {
        assert_true(is_mirrored(views + i * SIZE, all + i * SIZE));
    }
    augment.flip = 0.5;
    make(&augment, 3, 0, 0, views);
    for (size_t i = 0; i < ROWS; i++) {
        flipped += is_mirrored(views + i * SIZE, all + i * SIZE);
        same += is_same(views + i * SIZE, all + i * SIZE, SIZE);
    }
    assert_int_equal(flipped + same, ROWS);
    assert_in_range(flipped, 8, 32);
}

static void
test_grey(void **state)
{
    struct data_augment augment = no_photo();
    (void)state;
    augment.grey = 1;
    make(&augment, 3, 0, 0, views);
    for (size_t i = 0; i < ROWS * SIZE; i += 3) {
        double grey = 0.299 * (double)all[i] + 0.587 * (double)all[i + 1] +
                      0.114 * (double)all[i + 2];
        assert_true(fabs((double)views[i] - grey) < 1e-6);
        assert_true(views[i] == views[i + 1] && views[i] == views[i + 2]);
    }
}

/* A crop of a slope is a gentler slope, within it. */
static void
test_crop(void **state)
{
    struct data_augment augment = no_photo();
    float slope[WIDE * WIDE];
    float view[WIDE * WIDE];
    uint32_t row = 0;
    (void)state;
    augment.crop = 0.2;
    for (size_t i = 0; i < WIDE * WIDE; i++) {
        slope[i] = (float)(i % 64) / 64;
    }
    for (uint32_t v = 0; v < 200; v++) {
        data_augment_rows(NULL, &augment, 64, 64, 1, slope, &row, 1, 9, 0, v,
                          view);
        double step = (double)(view[40] - view[20]) / 20 * 64;
        assert_in_range(step * 1000, 380, 1000); /* sqrt(0.2 3/4) = 0.387 */
        for (size_t x = 1; x < 64; x++) {
            assert_true(view[x] >= view[x - 1]);
            assert_true(fabsf(view[(WIDE - 1) * WIDE + x] - view[x]) < 1e-6f);
        }
    }
}

/* ---- What a view depends on --------------------------------------------- */

static void
test_key(void **state)
{
    const struct data_augment kinds[2] = {data_augment_line(SIDE, SIDE),
                                          data_augment_photo()};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        make(&kinds[i], 1, 2, 3, views);
        make(&kinds[i], 1, 2, 3, others);
        assert_memory_equal(views, others, sizeof views);
        for (size_t r = 0; r < ROWS; r++) {
            assert_memory_not_equal(views + r * SIZE, all + r * SIZE,
                                    SIZE * sizeof *all);
        }
        const uint64_t seed[] = {2, UINT64_C(1) << 32 | 1, 1, 1};
        const uint32_t epoch[] = {2, 2, 1, 2}, view[] = {3, 3, 3, 2};
        for (size_t k = 0; k < 4; k++) {
            make(&kinds[i], seed[k], epoch[k], view[k], others);
            for (size_t r = 0; r < ROWS; r++) {
                assert_memory_not_equal(views + r * SIZE, others + r * SIZE,
                                        SIZE * sizeof *all);
            }
        }
    }
}

/* The row counts, not its place in the list; the same image in another row is
   distorted otherwise. */
static void
test_row(void **state)
{
    const struct data_augment augment = data_augment_line(SIDE, SIDE);
    const uint32_t some[] = {39, 5, 5, 0};
    (void)state;
    memcpy(all + SIZE, all, SIZE * sizeof *all);
    make(&augment, 1, 2, 3, views);
    data_augment_rows(NULL, &augment, SIDE, SIDE, CHANNELS, all, some, 4, 1, 2,
                      3, others);
    for (size_t i = 0; i < 4; i++) {
        assert_memory_equal(others + i * SIZE, views + some[i] * SIZE,
                            SIZE * sizeof *all);
    }
    assert_memory_not_equal(views, views + SIZE, SIZE * sizeof *all);
}

static void
test_threads(void **state)
{
    const struct data_augment kinds[2] = {data_augment_line(SIDE, SIDE),
                                          data_augment_photo()};
    (void)state;
    for (unsigned threads = 1; threads <= 5; threads += 2) {
        struct host_pool *pool;
        assert_int_equal(host_pool_new(threads, &pool, &err), SOTTO_STATUS_OK);
        for (size_t i = 0; i < 2; i++) {
            make(&kinds[i], 5, 6, 7, views);
            memset(others, 0xff, sizeof others);
            data_augment_rows(pool, &kinds[i], SIDE, SIDE, CHANNELS, all, rows,
                              ROWS, 5, 6, 7, others);
            assert_memory_equal(views, others, sizeof views);
        }
        host_pool_free(pool);
    }
    data_augment_rows(NULL, &kinds[0], SIDE, SIDE, CHANNELS, all, rows, 0, 5, 6,
                      7, NULL);
}

static void
test_range(void **state)
{
    struct data_augment kinds[3] = {line_unlit(SIDE, SIDE),
                                    data_augment_line(SIDE, SIDE),
                                    data_augment_photo()};
    (void)state;
    kinds[1].thickness = 5;
    kinds[1].brightness = kinds[1].contrast = kinds[1].jitter = 1;
    kinds[1].noise = 0;
    kinds[2].brightness = kinds[2].contrast = kinds[2].saturation = 1;
    kinds[2].hue = 0.5;
    for (size_t i = 0; i < ROWS * SIZE / 2; i++) {
        all[i] = 1; /* where rounding could lead above */
    }
    for (size_t k = 0; k < 3; k++) {
        for (uint32_t epoch = 0; epoch < 10; epoch++) {
            make(&kinds[k], 1, epoch, 0, views);
            for (size_t i = 0; i < ROWS * SIZE; i++) {
                assert_true(views[i] >= 0 && views[i] <= 1);
            }
        }
    }
}

/* ---- Parameters --------------------------------------------------------- */

static void
refuse(const struct data_augment *augment, uint32_t height, uint32_t width,
       uint32_t channels, enum sotto_status status, const char *message)
{
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(data_augment_check(augment, height, width, channels, &err),
                     status);
    assert_int_equal(err.status, status);
    assert_string_equal(err.message, message);
}

static void
test_check(void **state)
{
    struct data_augment line = data_augment_line(28, 14);
    struct data_augment photo = data_augment_photo();
    (void)state;
    assert_true(fabs(line.shift - 1.5) < 1e-12);
    assert_true(fabs(line.noise - 0.15) < 1e-12);
    assert_true(data_augment_line(56, 80).noise == 0.3);
    assert_int_equal(data_augment_check(&line, 28, 28, 1, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(data_augment_check(&photo, 4096, 256, 16, &err),
                     SOTTO_STATUS_OK);
    refuse(&line, 28, 0, 1, SOTTO_STATUS_USAGE,
           "an image of 28 x 0 pixels in 1 channels has nothing in it");
    refuse(&line, 4097, 8, 1, SOTTO_STATUS_LIMIT,
           "images of 4097 x 8 pixels in 1 channels are too large: at most "
           "4096 pixels high, 16 channels, and width times channels 4096");
    assert_int_equal(data_augment_check(&line, 8, 1366, 3, &err),
                     SOTTO_STATUS_LIMIT);
    assert_int_equal(data_augment_check(&line, 8, 8, 17, &err),
                     SOTTO_STATUS_LIMIT);
    assert_int_equal(data_augment_check(&line, 8, UINT32_MAX, 3, &err),
                     SOTTO_STATUS_LIMIT);
    line.scale = 1;
    refuse(&line, 28, 28, 1, SOTTO_STATUS_USAGE,
           "scale is 1: it must be in 0 to 0.99");
    line.scale = 0.3;
    line.gamma = 3;
    refuse(&line, 28, 28, 1, SOTTO_STATUS_USAGE,
           "gamma is 3: it must be in 0 to 2");
    line.gamma = 0;
    line.jitter = 1.5;
    refuse(&line, 28, 28, 1, SOTTO_STATUS_USAGE,
           "jitter is 1.5: it must be in 0 to 1");
    line.jitter = 0;
    line.scale = NAN;
    assert_int_equal(data_augment_check(&line, 28, 28, 1, &err),
                     SOTTO_STATUS_USAGE);
    photo.crop = 0;
    refuse(&photo, 28, 28, 1, SOTTO_STATUS_USAGE,
           "crop is 0: it must be in 1e-06 to 1");
    photo.crop = 1;
    photo.hue = -0.1;
    refuse(&photo, 28, 28, 1, SOTTO_STATUS_USAGE,
           "hue is -0.1: it must be in 0 to 0.5");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_identity, setup),
        cmocka_unit_test_setup(test_line_map, setup),
        cmocka_unit_test_setup(test_one_row, setup),
        cmocka_unit_test_setup(test_line_intensity, setup),
        cmocka_unit_test_setup(test_flip, setup),
        cmocka_unit_test_setup(test_grey, setup),
        cmocka_unit_test_setup(test_crop, setup),
        cmocka_unit_test_setup(test_key, setup),
        cmocka_unit_test_setup(test_row, setup),
        cmocka_unit_test_setup(test_threads, setup),
        cmocka_unit_test_setup(test_range, setup),
        cmocka_unit_test_setup(test_check, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
