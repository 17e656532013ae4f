/*
 * test_welch.c: the statistic of the timing benchmark.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host/welch.h"
#include "random/seeded.h"

#define MANY 20000u

static double x[MANY], sorted[MANY];
static uint8_t class_of[MANY];

/* The value is from rational arithmetic, but for one square root. */
static void
test_known_answer(void **state)
{
    static const double first[] = {27.5, 21.0, 19.0, 23.6, 17.0,
                                   17.9, 16.9, 20.1, 21.9, 22.6,
                                   23.1, 19.6, 19.0, 21.7, 21.4};
    static const double second[] = {27.1, 22.0, 20.8, 23.4, 23.4,
                                    23.5, 25.8, 22.0, 24.8, 20.2,
                                    21.9, 22.1, 22.9, 30.6, 25.1};
    struct welch welch = {{0}, {0}, {0}}, other = {{0}, {0}, {0}};
    (void)state;
    for (size_t i = 0; i < 15; i++) {
        welch_add(&welch, 0, first[i]);
        welch_add(&welch, 1, second[i]);
        welch_add(&other, 1, 1e9 + first[i]); /* far off, and swapped */
        welch_add(&other, 0, 1e9 + second[i]);
    }
    assert_true(fabs(welch_t(&welch) - 2.88671248786347) < 1e-12);
    assert_true(fabs(welch_t(&other) + 2.88671248786347) < 1e-6);
}

static void
test_degenerate(void **state)
{
    struct welch welch = {{0}, {0}, {0}};
    (void)state;
    assert_true(welch_t(&welch) == 0);
    welch_add(&welch, 0, 5);
    welch_add(&welch, 1, 5);
    welch_add(&welch, 1, 5);
    assert_true(welch_t(&welch) == 0); /* one of a class is too few */
    welch_add(&welch, 0, 5);
    assert_true(welch_t(&welch) == 0); /* no difference, no variance */
    welch = (struct welch){{0}, {0}, {0}};
    for (int i = 0; i < 2; i++) {
        welch_add(&welch, 0, 5);
        welch_add(&welch, 1, 4);
    }
    assert_true(isinf(welch_t(&welch)) && welch_t(&welch) < 0);
    assert_true(welch_cropped(x, class_of, 0, sorted) == 0);
}

/* Noise that is the same for both classes, with a long tail upwards. */
static void
fill(uint64_t seed)
{
    struct seeded seeded;
    seeded_init(&seeded, seed, 0);
    for (size_t i = 0; i < MANY; i++) {
        double u = ((double)random_u32(&seeded.random) + 0.5) * 0x1p-32;
        uint32_t coin = random_u32(&seeded.random);
        class_of[i] = (uint8_t)(coin & 1);
        x[i] = 100 + u + ((coin >> 1) % 100 == 7 ? 1e4 * u : 0);
    }
}

/* The crops are what the header says, and the first is everything. */
static void
test_crops(void **state)
{
    (void)state;
    assert_true(welch_crops[0] == 1);
    for (size_t i = 1; i < WELCH_CROPS; i++) {
        assert_true(welch_crops[i] < welch_crops[i - 1]);
        assert_true(welch_crops[i] > 0);
    }
    assert_true(WELCH_CROPS * erfc(WELCH_CRITERION / sqrt(2)) < 5.5e-5);
}

/* A difference that the tail hides shows below it. */
static void
test_a_tail_hides_nothing(void **state)
{
    struct welch welch = {{0}, {0}, {0}};
    (void)state;
    fill(1);
    for (size_t i = 0; i < MANY; i++) {
        x[i] += 0.05 * class_of[i];
        welch_add(&welch, class_of[i], x[i]);
    }
    assert_true(fabs(welch_t(&welch)) < WELCH_CRITERION);
    assert_true(welch_cropped(x, class_of, MANY, sorted) > 8);
    for (size_t i = 0; i < MANY; i++) {
        class_of[i] ^= 1;
    }
    assert_true(welch_cropped(x, class_of, MANY, sorted) < -8);
    for (size_t i = 1; i < MANY; i++) {
        assert_true(sorted[i - 1] <= sorted[i]);
    }
}

/* A difference only in the tail shows in what is not cropped. */
static void
test_a_tail_counts(void **state)
{
    (void)state;
    fill(2);
    for (size_t i = 0; i < MANY; i++) {
        x[i] += class_of[i] == 1 && i % 50 == 0 ? 2e4 : 0;
    }
    assert_true(welch_cropped(x, class_of, MANY, sorted) > WELCH_CRITERION);
}

/* Without a difference |t| stays below the criterion: 400 fixed seeds, of
   which a sound statistic would fail one with probability 0.02. It is the same
   on every machine: these seeds pass. */
static void
test_no_false_alarm(void **state)
{
    size_t above_three = 0;
    (void)state;
    for (uint64_t seed = 100; seed < 500; seed++) {
        double t;
        fill(seed);
        t = fabs(welch_cropped(x, class_of, MANY, sorted));
        assert_true(t < WELCH_CRITERION);
        above_three += t > 3;
    }
    /* 8 crops at 0.0027 each give at most 8.6 in the mean; 25 or more would
       have a probability below 1e-5 even then. */
    assert_true(above_three < 25);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answer),
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_crops),
        cmocka_unit_test(test_a_tail_hides_nothing),
        cmocka_unit_test(test_a_tail_counts),
        cmocka_unit_test(test_no_false_alarm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
