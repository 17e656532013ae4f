/*
 * test_augment_draw.c: what is drawn covers its range, evenly, and comes from
 * the stream that the header says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "data/augment_draw.h"
#include "random/seeded.h"

#define DRAWS 4000u
#define PI 3.14159265358979323846

/* How many of the draws fell into each tenth of a range. */
struct tenths {
    unsigned count[10];
};

static void
tally(struct tenths *tenths, double low, double high, double value)
{
    assert_true(value >= low && value <= high);
    size_t at = (size_t)((value - low) / (high - low) * 10);
    tenths->count[at < 10 ? at : 9]++;
}

/* 400 expected, standard deviation 19: 6 of them are not by chance. */
static void
assert_even(const struct tenths *tenths)
{
    for (size_t i = 0; i < 10; i++) {
        assert_in_range(tenths->count[i], 400 - 114, 400 + 114);
    }
}

static void
test_line(void **state)
{
    const struct data_augment augment = data_augment_line(28, 28);
    struct tenths tenths[11] = {0};
    unsigned thin = 0, jitter = 0;
    double together = 0;
    (void)state;
    for (uint32_t row = 0; row < DRAWS; row++) {
        struct augment_key key = {.seed = 1, .row = row};
        struct augment_line line;
        augment_draw_line(&augment, &key, &line);
        tally(&tenths[0], -15, 15, line.rotate * 180 / PI);
        tally(&tenths[1], 0.7, 1.3, line.scale_x);
        tally(&tenths[2], 0.7, 1.3, line.scale_y);
        tally(&tenths[3], -0.3, 0.3, line.shear);
        tally(&tenths[4], -3, 3, line.shift_x);
        tally(&tenths[5], -3, 3, line.shift_y);
        tally(&tenths[6], 0, 0.5, (double)line.weight);
        tally(&tenths[7], 0.6, 1.4, (double)line.brightness);
        tally(&tenths[8], 0.6, 1.4, (double)line.contrast);
        tally(&tenths[9], -0.5000001, 0.5, log((double)line.gamma));
        tally(&tenths[10], 0, 0.3, (double)line.noise);
        thin += line.thin;
        jitter += line.jitter;
        together += (line.scale_x - 1) * (line.scale_y - 1);
    }
    for (size_t i = 0; i < 11; i++) {
        assert_even(&tenths[i]);
    }
    assert_in_range(thin, 2000 - 190, 2000 + 190);
    assert_in_range(jitter, 3200 - 152, 3200 + 152);
    /* x and y apart: variance of a product (0.3^2 / 3)^2 each */
    assert_true(fabs(together / DRAWS) < 6 * 0.03 / sqrt(DRAWS));
}

/* The numbers are those of the seeded generator at stream and position. */
static void
test_stream(void **state)
{
    const struct data_augment augment = {.kind = DATA_AUGMENT_LINE, .shift = 1};
    const struct augment_key key = {.seed = UINT64_C(0x123456789abcdef0),
                                    .epoch = 5,
                                    .row = 70000,
                                    .view = 3};
    struct augment_line line;
    struct seeded seeded;
    uint32_t word[8], noise[8];
    (void)state;
    seeded_init(&seeded, key.seed,
                (UINT64_C(1) << 62) + (UINT64_C(3) << 32) + 70000);
    seeded.block = UINT64_C(5) << 32;
    for (size_t i = 0; i < 8; i++) {
        word[i] = random_u32(&seeded.random);
    }
    augment_draw_line(&augment, &key, &line);
    /* fifth and sixth; a block is used from its end */
    assert_true(line.shift_x == 2 * (word[7] * 0x1p-32) - 1);
    assert_true(line.shift_y == 2 * (word[6] * 0x1p-32) - 1);

    seeded_init(&seeded, key.seed,
                (UINT64_C(1) << 62) + (UINT64_C(3) << 32) + 70000);
    seeded.block = (UINT64_C(5) << 32) + 9;
    augment_draw_words(&key, 9, 2, noise);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(noise[i], random_u32(&seeded.random));
    }
}

static void
test_photo(void **state)
{
    const struct data_augment augment = data_augment_photo();
    struct tenths tenths[6] = {0};
    unsigned flip = 0, grey = 0, jitter = 0, order[24] = {0}, whole = 0;
    (void)state;
    for (uint32_t row = 0; row < DRAWS; row++) {
        struct augment_key key = {.seed = 2, .row = row};
        struct augment_photo photo;
        augment_draw_photo(&augment, &key, 500, 1000, &photo);
        assert_true(photo.left + photo.width <= 1000);
        assert_true(photo.top + photo.height <= 500);
        double share = photo.width * (double)photo.height / 500000;
        double aspect = log(photo.width / 2.0 / photo.height) / log(4.0 / 3);
        assert_true(share > 0.198 && share <= 1 && fabs(aspect) < 1.02);
        tally(&tenths[0], 0.6, 1.4, (double)photo.factor[0]);
        tally(&tenths[1], 0.6, 1.4, (double)photo.factor[1]);
        tally(&tenths[2], 0.6, 1.4, (double)photo.factor[2]);
        tally(&tenths[3], -0.1000001, 0.1, (double)photo.factor[3]);
        tally(&tenths[4], 0, 1, (photo.left + 0.5) / (1001 - photo.width));
        whole += photo.width == 1000 && photo.height == 500;
        flip += photo.flip;
        grey += photo.grey;
        jitter += photo.jitter;
        unsigned seen = 0;
        for (size_t i = 0; i < 4; i++) {
            seen |= 1u << photo.order[i];
        }
        assert_int_equal(seen, 15);
        order[photo.order[0] * 4 + photo.order[3]]++;
    }
    for (size_t i = 0; i < 5; i++) {
        assert_even(&tenths[i]);
    }
    assert_true(whole < 40);
    assert_in_range(flip, 2000 - 190, 2000 + 190);
    assert_in_range(grey, 800 - 152, 800 + 152);
    assert_in_range(jitter, 3200 - 152, 3200 + 152);
    for (size_t i = 0; i < 16; i++) { /* first and last of the order */
        assert_in_range(order[i], i % 5 == 0 ? 0 : 333 - 106,
                        i % 5 == 0 ? 0 : 333 + 106);
    }
}

/* Small shares are drawn too, and those of the smallest images fit. */
static void
test_crops(void **state)
{
    struct data_augment augment = data_augment_photo();
    unsigned small = 0, large = 0;
    (void)state;
    for (uint32_t row = 0; row < DRAWS; row++) {
        struct augment_key key = {.seed = 3, .row = row};
        struct augment_photo photo;
        augment_draw_photo(&augment, &key, 100, 100, &photo);
        small += photo.width * photo.height < 3000;
        large += photo.width * photo.height > 8000;
        augment_draw_photo(&augment, &key, 1, 3, &photo);
        assert_true(photo.width >= 1 && photo.left + photo.width <= 3);
        assert_true(photo.height == 1 && photo.top == 0);
    }
    /* Shares above 3/4 fit at some proportions only: ln(1/s) / ln(4/3) of the
       draws. Of those that fit, 15% are below 0.3 and 11% above 0.8. */
    assert_in_range(small, 600 - 135, 600 + 135);
    assert_in_range(large, 350, 600);
    augment.crop = 1;
    struct augment_key key = {.seed = 3};
    struct augment_photo photo;
    augment_draw_photo(&augment, &key, 100, 100, &photo);
    assert_true(photo.width == 100 && photo.height == 100);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_photo),
        cmocka_unit_test(test_crops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
