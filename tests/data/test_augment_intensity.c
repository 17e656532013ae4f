/*
 * test_augment_intensity.c: brightness, contrast and gamma as they would be by
 * hand, and noise that is normal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/augment_intensity.h"

#define MANY ((size_t)1 << 20)

static const struct augment_key key = {.seed = 3, .epoch = 2, .row = 1};
static const struct augment_line same = {
    .brightness = 1, .contrast = 1, .gamma = 1};

static void
expect(const struct augment_line *line, uint32_t channels, const float *from,
       const float *want)
{
    float image[6];
    memcpy(image, from, sizeof image);
    augment_intensity(line, &key, 6 / channels, channels, image);
    for (size_t i = 0; i < 6; i++) {
        assert_true(fabsf(image[i] - want[i]) < 2e-6F);
    }
}

static void
test_jitter(void **state)
{
    const float from[6] = {0, 0.25F, 0.5F, 0.5F, 0.75F, 1};
    /* times 1.2, cut: 0 0.3 0.6 0.6 0.9 1; the mean is 3.4 / 6 */
    const float mean = 3.4F / 6;
    const float want[6] = {mean / 2,          (mean + 0.3F) / 2,
                           (mean + 0.6F) / 2, (mean + 0.6F) / 2,
                           (mean + 0.9F) / 2, (mean + 1) / 2};
    struct augment_line line = same;
    (void)state;
    line.brightness = 1.2F;
    line.contrast = 0.5F;
    expect(&line, 1, from, from); /* no jitter */
    line.jitter = true;
    expect(&line, 1, from, want);
    expect(&line, 2, from, want);
}

/* In this order: jitter, then gamma, of what is at least 0.0001. */
static void
test_gamma(void **state)
{
    const float from[6] = {0, 0.00005F, 0.25F, 0.5F, 0.9F, 1};
    struct augment_line line = same;
    float want[6];
    (void)state;
    line.gamma = 0.7F;
    for (size_t i = 0; i < 6; i++) {
        want[i] = powf(fmaxf(from[i], 1e-4F), 0.7F);
    }
    expect(&line, 1, from, want);
    line.jitter = true;
    line.brightness = 0.5F;
    for (size_t i = 0; i < 6; i++) {
        want[i] = powf(fmaxf(from[i] / 2, 1e-4F), 0.7F);
    }
    expect(&line, 3, from, want);
}

/* Mean, variance and kurtosis within 6 deviations of a normal sample's; tails
   beyond 2 deviations to a fifteenth. */
static void
test_noise(void **state)
{
    struct augment_line line = same;
    float *image = calloc(MANY, sizeof *image);
    double sum = 0, square = 0, fourth = 0;
    size_t above = 0, below = 0;
    (void)state;
    assert_non_null(image);
    line.noise = 0.25F;
    augment_intensity(&line, &key, MANY, 1, image);
    for (size_t i = 0; i < MANY; i++) {
        double y = (double)image[i] / 0.25;
        assert_true(fabs(y) < 4.1);
        sum += y;
        square += y * y;
        fourth += y * y * y * y;
        above += y > 2;
        below += y < -2;
    }
    assert_true(fabs(sum / MANY) < 6.0 / 1024);
    assert_true(fabs(square / MANY - 1) < 6 * 1.42 / 1024);
    assert_true(fabs(fourth / MANY - 3) < 6 * 9.8 / 1024);
    assert_true(fabs((double)above / MANY - 0.02275) < 0.0015);
    assert_true(fabs((double)below / MANY - 0.02275) < 0.0015);
    free(image);
}

/* A pixel's noise does not depend on how many there are, and no two pixels,
   rows or epochs share it. */
static void
test_noise_apart(void **state)
{
    struct augment_line line = same;
    struct augment_key other = key;
    float image[1000] = {0}, again[1000] = {0};
    (void)state;
    line.noise = 1;
    augment_intensity(&line, &key, 1000, 1, image);
    augment_intensity(&line, &key, 333, 1, again);
    assert_memory_equal(image, again, 333 * sizeof *image);
    for (int which = 0; which < 3; which++) {
        double product = 0;
        memset(again, 0, sizeof again);
        other = key;
        other.epoch += which == 0;
        other.row += which == 1;
        other.view += which == 2;
        augment_intensity(&line, &other, 1000, 1, again);
        for (size_t i = 0; i < 1000; i++) {
            product += (double)(image[i] * again[i]);
        }
        assert_true(fabs(product) < 6 * sqrt(1000));
    }
    for (size_t lag = 1; lag < 300; lag++) {
        double product = 0;
        for (size_t i = 0; i + lag < 1000; i++) {
            product += (double)(image[i] * image[i + lag]);
        }
        assert_true(fabs(product) < 6 * sqrt(1000));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jitter),
        cmocka_unit_test(test_gamma),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_noise_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
