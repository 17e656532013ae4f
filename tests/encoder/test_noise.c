/*
 * test_noise.c: the noise that encoders train under: its moments, and that it
 * is a function of its key alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "encoder/noise.h"

/* Mean 0, E|z| = 1, variance 2 and P[|z| > 3] = e^-3, at six standard errors of
   200,000; a function of its key alone. */
static void
test_noise(void **state)
{
    const uint32_t rows = 40000;
    const double n = 5.0 * rows;
    double sum = 0, size = 0, squares = 0, far = 0;
    float noise[5], again[5];
    (void)state;
    for (uint32_t row = 0; row < rows; row++) {
        noise_laplace(3, 1, row, 5, noise);
        for (size_t j = 0; j < 5; j++) {
            double z = (double)noise[j];
            assert_true(isfinite(z));
            sum += z;
            size += fabs(z);
            squares += z * z;
            far += fabs(z) > 3;
        }
    }
    assert_true(fabs(sum / n) < 6 * sqrt(2 / n));
    assert_true(fabs(size / n - 1) < 6 * sqrt(1 / n));
    assert_true(fabs(squares / n - 2) < 6 * sqrt(20 / n));
    assert_true(fabs(far / n - exp(-3)) < 6 * sqrt(exp(-3) / n));
    noise_laplace(3, 1, rows - 1, 5, again);
    assert_memory_equal(noise, again, sizeof noise);
    noise_laplace(3, 1, rows - 1, 3, again); /* a shorter one begins so */
    assert_memory_equal(noise, again, 3 * sizeof *noise);
    noise_laplace(4, 1, rows - 1, 5, again);
    assert_true(noise[0] != again[0]);
    noise_laplace(3, 2, rows - 1, 5, again);
    assert_true(noise[0] != again[0]);
    noise_laplace(3, 1, rows, 5, again);
    assert_true(noise[0] != again[0]);
}

/* Mean 0, variance 1, fourth moment 3, P[|z| > 2] = .0455, no correlation
   between neighbours, at six standard errors; a function of its key alone. */
static void
test_normal(void **state)
{
    const uint32_t rows = 40000;
    const double n = 5.0 * rows, tail = 0.04550026;
    double sum = 0, squares = 0, fourths = 0, far = 0, beside = 0;
    float noise[5], again[5];
    (void)state;
    for (uint32_t row = 0; row < rows; row++) {
        noise_normal(3, 1, row, 5, noise);
        for (size_t j = 0; j < 5; j++) {
            double z = (double)noise[j];
            assert_true(isfinite(z));
            sum += z;
            squares += z * z;
            fourths += z * z * z * z;
            far += fabs(z) > 2;
            beside += j > 0 ? z * (double)noise[j - 1] : 0;
        }
    }
    assert_true(fabs(sum / n) < 6 * sqrt(1 / n));
    assert_true(fabs(squares / n - 1) < 6 * sqrt(2 / n));
    assert_true(fabs(fourths / n - 3) < 6 * sqrt(96 / n));
    assert_true(fabs(far / n - tail) < 6 * sqrt(tail / n));
    assert_true(fabs(beside / n) < 6 * sqrt(1 / n));
    noise_normal(3, 1, rows - 1, 3, again); /* a shorter one begins so */
    assert_memory_equal(noise, again, 3 * sizeof *noise);
    noise_normal(4, 1, rows - 1, 5, again);
    assert_true(noise[0] != again[0]);
    noise_normal(3, 2, rows - 1, 5, again);
    assert_true(noise[0] != again[0]);
    noise_normal(3, 1, rows, 5, again);
    assert_true(noise[0] != again[0]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
