/*
 * test_augment_colour.c: colours changed as they would be by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "data/augment_colour.h"

/* One change alone; the others leave all as it is. */
static void
expect(enum augment_change which, float factor, uint32_t channels,
       const float *from, const float *want, size_t pixels)
{
    struct augment_photo photo = {.jitter = true,
                                  .order = {AUGMENT_HUE, AUGMENT_SATURATION,
                                            AUGMENT_CONTRAST,
                                            AUGMENT_BRIGHTNESS},
                                  .factor = {1, 1, 1, 0}};
    float image[12];
    memcpy(image, from, pixels * channels * sizeof *image);
    photo.factor[which] = factor;
    augment_colour(&photo, pixels, channels, image);
    for (size_t i = 0; i < pixels * channels; i++) {
        assert_true(fabsf(image[i] - want[i]) < 1e-6f);
    }
}

static void
test_brightness(void **state)
{
    const float from[6] = {0, 0.5f, 1, 0.25f, 0.8f, 0.6f};
    const float darker[6] = {0, 0.25f, 0.5f, 0.125f, 0.4f, 0.3f};
    const float lighter[6] = {0, 0.75f, 1, 0.375f, 1, 0.9f};
    (void)state;
    expect(AUGMENT_BRIGHTNESS, 0.5f, 3, from, darker, 2);
    expect(AUGMENT_BRIGHTNESS, 1.5f, 3, from, lighter, 2);
    expect(AUGMENT_BRIGHTNESS, 1.5f, 1, from, lighter, 6);
}

static void
test_contrast(void **state)
{
    const float from[4] = {0.2f, 0.4f, 0.6f, 0.8f};
    const float less[4] = {0.35f, 0.45f, 0.55f, 0.65f};
    const float more[4] = {0, 0.25f, 0.75f, 1};
    const float red[6] = {1, 0, 0, 0, 0, 0}; /* mean grey 0.1495 */
    const float half[6] = {0.57475f, 0.07475f, 0.07475f,
                           0.07475f, 0.07475f, 0.07475f};
    (void)state;
    expect(AUGMENT_CONTRAST, 0.5f, 1, from, less, 4);
    expect(AUGMENT_CONTRAST, 2.5f, 2, from, more, 2);
    expect(AUGMENT_CONTRAST, 0.5f, 3, red, half, 2);
}

static void
test_saturation(void **state)
{
    const float from[6] = {1, 0, 0, 0.5f, 0.5f, 0.5f};
    const float none[6] = {0.299f, 0.299f, 0.299f, 0.5f, 0.5f, 0.5f};
    const float half[6] = {0.6495f, 0.1495f, 0.1495f, 0.5f, 0.5f, 0.5f};
    (void)state;
    expect(AUGMENT_SATURATION, 0, 3, from, none, 2);
    expect(AUGMENT_SATURATION, 0.5f, 3, from, half, 2);
    expect(AUGMENT_SATURATION, 0, 1, from, from, 6);
}

static void
test_hue(void **state)
{
    const float red[3] = {1, 0, 0}, green[3] = {0, 1, 0}, blue[3] = {0, 0, 1};
    const float yellow[3] = {1, 1, 0}, cyan[3] = {0, 1, 1};
    const float pink[3] = {0.9f, 0.3f, 0.5f}, lime[3] = {0.5f, 0.9f, 0.3f};
    const float grey[3] = {0.4f, 0.4f, 0.4f};
    const float third = 1.0f / 3, sixth = 1.0f / 6;
    (void)state;
    expect(AUGMENT_HUE, third, 3, red, green, 1);
    expect(AUGMENT_HUE, -third, 3, red, blue, 1);
    expect(AUGMENT_HUE, third, 3, blue, red, 1);
    expect(AUGMENT_HUE, sixth, 3, red, yellow, 1);
    expect(AUGMENT_HUE, 0.5f, 3, red, cyan, 1);
    expect(AUGMENT_HUE, -0.5f, 3, cyan, red, 1);
    expect(AUGMENT_HUE, third, 3, pink, lime, 1);
    expect(AUGMENT_HUE, 0, 3, pink, pink, 1);
    expect(AUGMENT_HUE, third, 3, grey, grey, 1);
    expect(AUGMENT_HUE, third, 1, red, red, 3);
}

/* Brightness before or after contrast is not the same. */
static void
test_order(void **state)
{
    struct augment_photo photo = {.jitter = true,
                                  .order = {AUGMENT_BRIGHTNESS,
                                            AUGMENT_CONTRAST,
                                            AUGMENT_SATURATION, AUGMENT_HUE},
                                  .factor = {2, 0.5f, 1, 0}};
    float first[2] = {0.2f, 0.8f}, last[2] = {0.2f, 0.8f};
    (void)state;
    augment_colour(&photo, 2, 1, first); /* 0.4 1, mean 0.7 */
    assert_true(fabsf(first[0] - 0.55f) < 1e-6f);
    assert_true(fabsf(first[1] - 0.85f) < 1e-6f);
    photo.order[0] = AUGMENT_CONTRAST;
    photo.order[1] = AUGMENT_BRIGHTNESS;
    augment_colour(&photo, 2, 1, last); /* 0.35 0.65 */
    assert_true(fabsf(last[0] - 0.7f) < 1e-6f);
    assert_true(fabsf(last[1] - 1) < 1e-6f);
    photo.jitter = false;
    augment_colour(&photo, 2, 1, first);
    assert_true(fabsf(first[0] - 0.55f) < 1e-6f);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brightness), cmocka_unit_test(test_contrast),
        cmocka_unit_test(test_saturation), cmocka_unit_test(test_hue),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
