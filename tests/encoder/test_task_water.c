/*
 * test_task_water.c: Propositions 2 to 4 of P2 and its benchmarks: the values
 * of its Figure 3, by simulation, and as what they claim to be the best of.
 */
#include "fail_alloc.h"
#include "task_numbers.h"

#include "encoder/noise.h"
#include "encoder/task_water.h"

#define N 4u

static const double settings[3][N] = {{4, 0, 0, 0}, {4, 1, 1, 1}, {4, 2, 2, 2}};
static const double ratios[3] = {0.1, 0.2, 0.5}; /* r / eps */

/* Task-aware, task-agnostic, and privacy-agnostic with two directions, computed
   from the formulas by another program. */
static const double figure[3][3][3] = {
    {{.2963, .9697, .5517}, {1.5152, 1.6970, 2.6897}, {2.3619, 2.4242, 4.8276}},
    {{.9697, 2.2456, 1.5610},
     {3.5088, 3.9298, 3.9512},
     {5.4696, 5.6140, 6.3415}},
    {{2.6667, 3.5556, 3.2000},
     {5.6667, 6.2222, 6.0000},
     {8.6601, 8.8889, 8.8000}},
};

static void
test_figure(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        double c = task_water_noise(ratios[i], 1);
        assert_near(c, 8 * ratios[i] * ratios[i], 1e-15);
        for (size_t j = 0; j < 3; j++) {
            const double *lambda = settings[j], *value = figure[i][j];
            assert_near(task_water_loss(lambda, N, c), value[0], 5e-5);
            assert_near(task_agnostic_loss(lambda, N, c), value[1], 5e-5);
            assert_near(task_equal_loss(lambda, N, 2, c), value[2], 5e-5);
        }
    }
}

/* The scales add up to 1, are as many as are kept, and their loss by Eq. 9 is
   Eq. 13; setting 2 at r / eps of 0.5 keeps a single direction. */
static void
test_fill(void **state)
{
    double squares[N];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        double c = task_water_noise(ratios[i], 1);
        for (size_t j = 0; j < 3; j++) {
            double sum = 0;
            size_t kept = task_water_fill(settings[j], N, c, squares);
            for (size_t k = 0; k < N; k++) {
                assert_true(k < kept ? squares[k] > 0 : squares[k] == 0);
                sum += squares[k];
            }
            assert_near(sum, 1, 1e-12);
            assert_near(task_scale_loss(settings[j], squares, N, c),
                        task_water_loss(settings[j], N, c), 1e-12);
        }
    }
    assert_int_equal(task_water_fill(settings[1], N, 2, squares), 1);
    assert_int_equal(task_water_fill(settings[0], N, 0.01, squares), 1);
    assert_int_equal(task_water_fill(settings[2], N, 0.01, squares), 4);
}

/* No other division of the same sum has a lower loss. */
static void
test_least(void **state)
{
    const double lambda[] = {5, 3, 1, 0.2, 0.01};
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 3, 0);
    for (double c = 0.001; c < 100; c *= 3) {
        double least = task_water_loss(lambda, 5, c);
        for (size_t i = 0; i < 500; i++) {
            double squares[5], sum = 0;
            for (size_t j = 0; j < 5; j++) {
                squares[j] = -log(between(&seeded)) * lambda[j];
                sum += squares[j];
            }
            for (size_t j = 0; j < 5; j++) {
                squares[j] /= sum;
            }
            assert_true(task_scale_loss(lambda, squares, 5, c) >=
                        least - 1e-12);
        }
    }
}

/* h is uniform on the sphere of radius sqrt(N), so its covariance is 1. The
   decoder is Proposition 1's: D = E' (E E' + s2 I)^-1, all of them diagonal. */
static double
simulate(const double *lambda, double c, double eps)
{
    enum { ROWS = 400000 };
    double squares[N], b = sqrt(c / 2), loss = 0;
    struct seeded seeded;
    (void)task_water_fill(lambda, N, c, squares);
    assert_near(b, 2 * sqrt(N) / eps, 1e-12); /* Laplace's scale, M = 1 */
    seeded_init(&seeded, 11, 0);
    for (uint32_t i = 0; i < ROWS; i++) {
        double h[N], size = 0;
        float w[N];
        noise_laplace(5, 0, i, N, w);
        for (size_t j = 0; j < N; j++) {
            h[j] = normal(&seeded);
            size += h[j] * h[j];
        }
        for (size_t j = 0; j < N; j++) {
            double at = h[j] * sqrt(N / size), sigma = sqrt(squares[j]);
            double back = sigma / (squares[j] + c) * (sigma * at + b * w[j]);
            loss += lambda[j] * (back - at) * (back - at) / ROWS;
        }
    }
    return loss;
}

static void
test_simulated(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        double eps = sqrt(N) / ratios[i];
        double c = task_water_noise(sqrt(N), eps);
        for (size_t j = 0; j < 3; j++) {
            double loss = task_water_loss(settings[j], N, c);
            assert_near(simulate(settings[j], c, eps), loss, 0.01 * loss);
        }
    }
}

/* Eq. 54 with C = I is Eq. 58; with a diagonal C it is a sum by hand. */
static void
test_identity(void **state)
{
    double one[N * N] = {0}, K[N * N] = {0}, loss = 0, c = 0.32;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        one[i * (N + 1)] = 1;
        K[i * (N + 1)] = sqrt(settings[1][i]);
    }
    must(task_identity_loss(one, N, K, N, N * c, &loss, &err));
    assert_near(loss, task_agnostic_loss(settings[1], N, c), 1e-12);
    one[0] = 9;
    one[N + 1] = 0; /* singular */
    must(task_identity_loss(one, N, K, N, 2, &loss, &err));
    assert_near(loss, 4 * (9 * 2.0 / 11) + 2 * (2.0 / 3), 1e-12);
    enum sotto_status status;
    survive_memory(status, task_identity_loss(one, N, K, N, 2, &loss, &err),
                   (void)0);
}

/* By hand: with c of 1 for every Z, half of what is kept is lost; a radius that
   grows makes fewer directions the better choice. */
static void
test_gaussian(void **state)
{
    const double lambda[] = {4, 2, 1}, even[] = {1, 1, 1};
    const double growing[] = {0.5, 1.5, 4};
    double loss = 0;
    (void)state;
    assert_int_equal(task_gaussian_keep(lambda, 3, 0.5, even, &loss), 3);
    assert_near(loss, 3.5, 1e-12);
    assert_int_equal(task_gaussian_keep(lambda, 3, 0.5, growing, &loss), 1);
    assert_near(loss, 0.25 / 1.25 * 4 + 3, 1e-12);
    assert_int_equal(task_gaussian_keep(lambda, 3, 0.01, growing, NULL), 3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figure),   cmocka_unit_test(test_fill),
        cmocka_unit_test(test_least),    cmocka_unit_test(test_simulated),
        cmocka_unit_test(test_identity), cmocka_unit_test(test_gaussian),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
