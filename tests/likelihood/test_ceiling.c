/*
 * test_ceiling.c: how often a class can be told from one report: the papers'
 * printed values, their own sum, drawn noise, and channels enumerated.
 */
#include "likelihood_fixture.h"

#include <stdint.h>

#include "random/seeded.h"
#include "sotto/sotto.h"

/* P0 Table 4, "maximum": ten classes at 0.7 of 10, 8, 6, 4, 2 and 1. */
static void
test_printed(void **state)
{
    static const double eps[] = {7.0, 5.6, 4.2, 2.8, 1.4, 0.7};
    static const double vertices[] = {80.7, 69.3, 53.8, 36.0, 20.0, 14.2};
    static const double most[] = {99.2, 96.8, 88.1, 64.6, 31.1, 18.3};
    (void)state;
    for (size_t i = 0; i < sizeof eps / sizeof *eps; i++) {
        double found = 100 * sotto_accuracy_vertices(10, eps[i]);
        assert_true(fabs(found - vertices[i]) <= 0.05);
        found = 100 * sotto_accuracy_most(10, eps[i], 0);
        assert_true(fabs(found - most[i]) <= 0.05);
    }
}

/* Eq. 13 as it is printed, which has even K alone. */
static double
sum_printed(size_t classes, double eps)
{
    double sum = 0, choose = 1, half = (double)classes / 2 - 1;
    for (double j = 0; j <= half; j++) {
        double sign = fmod(j, 2) > 0 ? -1 : 1;
        if (j != 1) {
            sum += choose * sign / (1 - j) *
                   (exp(-j * eps / 2) / (1 + j) - exp(-eps / 2) / 2);
        }
        choose = choose * (half - j) / (j + 1);
    }
    return sum - (eps + 1) / 8 * ((double)classes - 2) * exp(-eps / 2);
}

static void
test_sum(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 20; k += 2) {
        for (double eps = 0.001; eps <= 40; eps *= 1.7) {
            assert_true(fabs(sotto_accuracy_vertices(k, eps) -
                             sum_printed(k, eps)) < 1e-10);
        }
    }
}

/* Two classes are told by the sign of one coordinate; of three, by hand: with
   u = e^(-eps t / 2), 3 A = e^(eps/2) - 2 q int_q^1 (1 - u)(1 - u/2) / u^3 du
   for q = e^(-eps/2). */
static void
test_few(void **state)
{
    (void)state;
    for (double eps = 0.01; eps < 30; eps *= 1.9) {
        double q = exp(-eps / 2);
        double part = 0.5 / (q * q) - 0.5 - 1.5 / q + 1.5 + 0.5 * eps / 2;
        assert_true(fabs(sotto_accuracy_vertices(2, eps) - (1 - q / 2)) <
                    1e-12);
        assert_true(fabs(sotto_accuracy_vertices(3, eps) -
                         (1 / q - 2 * q * part) / 3) < 1e-11);
    }
}

/* Noise of scale b = 2 / eps on coordinates; the nearest vertex is named. */
static double
simulate(size_t classes, size_t d, double eps, size_t draws)
{
    struct seeded seeded;
    size_t right = 0;
    seeded_init(&seeded, 7, classes * 100 + d);
    for (size_t n = 0; n < draws; n++) {
        double z[8], total = 0, least = INFINITY;
        size_t truth = n % classes, named = 0;
        for (size_t i = 0; i < d; i++) {
            double u = ((double)random_u56(&seeded.random) + 0.5) / 0x1p56;
            z[i] = u < 0.5 ? 2 / eps * log(2 * u) : -2 / eps * log(2 * (1 - u));
            z[i] += i == truth / 2 ? (truth % 2 == 0 ? 1 : -1) : 0;
            total += fabs(z[i]);
        }
        for (size_t k = 0; k < classes; k++) {
            double end = k % 2 == 0 ? 1 : -1;
            double far = total - fabs(z[k / 2]) + fabs(z[k / 2] - end);
            named = far < least ? k : named;
            least = far < least ? far : least;
        }
        right += named == truth;
    }
    return (double)right / (double)draws;
}

/* Within 5 deviations of 400,000 draws, for even and odd K; more coordinates
   than K / 2 change nothing. */
static void
test_drawn(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 7; k++) {
        for (double eps = 0.7; eps < 8; eps *= 3) {
            for (size_t d = (k + 1) / 2; d <= (k + 1) / 2 + 2; d += 2) {
                double said = sotto_accuracy_vertices(k, eps);
                double found = simulate(k, d, eps, 400000);
                assert_true(fabs(found - said) <
                            5 * sqrt(said * (1 - said) / 400000));
            }
        }
    }
}

/* Never above what any channel allows; one class in K at 0, all at the end;
   more epsilon helps, more classes do not. */
static void
test_order(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 400; k = k < 12 ? k + 1 : k * 2) {
        double before = 1 / (double)k;
        assert_true(fabs(sotto_accuracy_vertices(k, 0) - before) < 1e-13);
        assert_true(fabs(sotto_accuracy_most(k, 0, 0) - before) < 1e-13);
        for (double eps = 0.001; eps <= 32; eps *= 1.5) {
            double a = sotto_accuracy_vertices(k, eps);
            assert_true(a > before && a <= sotto_accuracy_most(k, eps, 0));
            assert_true(a > sotto_accuracy_vertices(k + 1, eps));
            before = a;
        }
        assert_true(fabs(sotto_accuracy_vertices(k, 32000) - 1) < 1e-12);
        assert_true(sotto_accuracy_most(k, 32000, 0) == 1);
    }
    assert_true(sotto_accuracy_most(3, 1, 1) == 1);
}

/* k-ary response meets the bound; with a delta, the one that says the class
   outright with probability delta does for two classes, and stays below it for
   more. */
static void
test_met(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 20; k++) {
        for (double eps = 0.1; eps < 12; eps *= 2) {
            double response = exp(eps) / (exp(eps) + (double)k - 1);
            double delta = 0.01, said = sotto_accuracy_most(k, eps, delta);
            double outright = delta + (1 - delta) * response;
            assert_true(fabs(sotto_accuracy_most(k, eps, 0) - response) <
                        1e-14);
            assert_true(outright <= said + 1e-14);
            assert_true(k > 2 || fabs(outright - said) < 1e-14);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_printed), cmocka_unit_test(test_sum),
        cmocka_unit_test(test_few),     cmocka_unit_test(test_drawn),
        cmocka_unit_test(test_order),   cmocka_unit_test(test_met),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
