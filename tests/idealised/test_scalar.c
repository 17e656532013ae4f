/*
 * test_scalar.c: ScalarDP in exact probabilities: epsilon, mean and second
 * moment, then what is drawn.
 */
#include "idealised_fixture.h"

#include "idealised/scalar.h"

static const double eps_list[] = {0.01, 0.5, 1, 2, 4, 8, 16};
#define EPS_LIST (sizeof eps_list / sizeof *eps_list)

/* Sums to 1; the mean is r and the second moment as said, for many r and k. */
static void
test_scalar_moments(void **state)
{
    static const uint32_t k_list[] = {1, 2, 3, 7, 50};
    (void)state;
    for (size_t e = 0; e < EPS_LIST; e++) {
        for (size_t i = 0; i < 5; i++) {
            struct scalar scalar;
            scalar_init(&scalar, eps_list[e], k_list[i]);
            for (double r = 0; r <= 1; r += 1.0 / 64) {
                double sum = 0, mean = 0, second = 0;
                for (uint32_t j = 0; j <= k_list[i]; j++) {
                    double p = exp(scalar_log_p(&scalar, j, r));
                    double z = scalar_estimate(&scalar, j);
                    sum += p;
                    mean += p * z;
                    second += p * z * z;
                }
                assert_true(fabs(sum - 1) < 1e-12);
                assert_true(fabs(mean - r) < 1e-9 * fmax(1, sqrt(second)));
                assert_true(fabs(second - scalar_second(&scalar, r)) <
                            1e-9 * second);
            }
        }
    }
}

/* The largest ratio over all pairs of r, and levels; it is reached. */
static void
test_scalar_epsilon(void **state)
{
    (void)state;
    for (size_t e = 0; e < EPS_LIST; e++) {
        struct scalar scalar;
        double most = 0;
        scalar_init(&scalar, eps_list[e], 4);
        for (uint32_t j = 0; j <= 4; j++) {
            double low = INFINITY, high = -INFINITY;
            for (double r = 0; r <= 1; r += 1.0 / 256) {
                double log_p = scalar_log_p(&scalar, j, r);
                low = fmin(low, log_p);
                high = fmax(high, log_p);
            }
            most = fmax(most, high - low);
        }
        assert_true(fabs(most - eps_list[e]) < 1e-12);
    }
}

/* The mean of the second moment over r, by Simpson between levels. */
static double
second_at(double r, const void *scalar)
{
    return scalar_second(scalar, r);
}

static void
test_scalar_spread(void **state)
{
    (void)state;
    for (size_t e = 0; e < EPS_LIST; e++) {
        for (uint32_t k = 1; k < 20; k += 3) {
            struct scalar scalar;
            scalar_init(&scalar, eps_list[e], k);
            double mean = simpson(second_at, &scalar, 0, 1, (int)k * 64);
            assert_true(fabs(mean - scalar_spread(&scalar)) < 1e-9 * mean);
        }
    }
}

/* 400,000 draws at three r: chi-square at alpha 1e-6 each. */
static void
test_scalar_draws(void **state)
{
    static const double r_list[] = {0, 0.3, 1};
    struct seeded seeded;
    struct scalar scalar;
    (void)state;
    seeded_init(&seeded, 3, 0);
    scalar_init(&scalar, 1.5, 6);
    for (int i = 0; i < 3; i++) {
        double count[7] = {0}, sum = 0;
        for (int n = 0; n < 400000; n++) {
            count[scalar_draw(&scalar, r_list[i], &seeded.random)]++;
        }
        for (uint32_t j = 0; j <= 6; j++) {
            double mean = 400000 * exp(scalar_log_p(&scalar, j, r_list[i]));
            sum += (count[j] - mean) * (count[j] - mean) / mean;
        }
        assert_true(sum < chi_square_most(6));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalar_moments),
        cmocka_unit_test(test_scalar_epsilon),
        cmocka_unit_test(test_scalar_spread),
        cmocka_unit_test(test_scalar_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
