/*
 * test_doubles.c: doubles out of a generator, and in a report.
 */
#include "idealised_fixture.h"

#include "idealised/doubles.h"

static void
test_doubles_go_there_and_back(void **state)
{
    static const double value[] = {0, -0.0, 1, -1.5, 1e308, -5e-324, INFINITY};
    uint8_t wire[8];
    (void)state;
    for (int i = 0; i < 7; i++) {
        doubles_store(wire, value[i]);
        double back = doubles_load(wire);
        assert_memory_equal(&back, &value[i], sizeof back);
        back = doubles_of_bits(doubles_bits(value[i]));
        assert_memory_equal(&back, &value[i], sizeof back);
    }
    doubles_store(wire, 1);
    assert_true(wire[7] == 0x3f && wire[6] == 0xf0 && wire[0] == 0);
}

/* 64 bins, each with the same share: chi-square at alpha 1e-6. */
static void
test_doubles_are_uniform(void **state)
{
    struct seeded seeded;
    double bin[64] = {0}, sum = 0;
    (void)state;
    seeded_init(&seeded, 1, 0);
    for (int i = 0; i < 640000; i++) {
        double u = doubles_uniform(&seeded.random);
        assert_true(u > 0 && u < 1);
        bin[(int)(u * 64)]++;
    }
    for (int i = 0; i < 64; i++) {
        sum += (bin[i] - 10000) * (bin[i] - 10000) / 10000;
    }
    assert_true(sum < chi_square_most(63));
}

/* 64 bins of equal share under the normal law, odd and even counts drawn. */
static void
test_doubles_are_normal(void **state)
{
    struct seeded seeded;
    double bin[64] = {0}, sum = 0, normal[5], odd = 0;
    (void)state;
    seeded_init(&seeded, 2, 0);
    for (int i = 0; i < 128000; i++) {
        doubles_normal(&seeded.random, 5, normal);
        for (int j = 0; j < 5; j++) {
            bin[(int)(erfc(-normal[j] / sqrt(2)) / 2 * 64)]++;
        }
        odd += normal[0] * normal[1];
    }
    for (int i = 0; i < 64; i++) {
        sum += (bin[i] - 10000) * (bin[i] - 10000) / 10000;
    }
    assert_true(sum < chi_square_most(63));
    assert_true(fabs(odd) < 5 * sqrt(128000)); /* alpha 6e-7 */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubles_go_there_and_back),
        cmocka_unit_test(test_doubles_are_uniform),
        cmocka_unit_test(test_doubles_are_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
