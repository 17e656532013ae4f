/*
 * test_batch_norm.c: batch norm against plain loops, and by hand.
 */
#include "tensor_fixture.h"

static const size_t ns[] = {1, 3, 65, 300};
static const size_t widths[] = {1, 7, 16, 150};
static const enum activation activations[] = {
    ACTIVATION_NONE, ACTIVATION_RELU, ACTIVATION_SIGMOID, ACTIVATION_TANH};

/* y, then mean, inverse, running mean and running variance. */
static float *
forward(struct tensor_backend *b, size_t n, size_t width, bool training,
        enum activation activation)
{
    float *x = numbers(n * width, 1, 2);
    float *gain = numbers(width, 2, 1);
    float *shift = numbers(width, 3, 1);
    float *result = numbers(n * width + 4 * width, 4, 1);
    float *moments = result + n * width;
    for (size_t j = 0; j < width; j++) {
        moments[3 * width + j] = fabsf(moments[3 * width + j]) + 0.1F;
    }
    b->ops->norm(b, n, width, training, 0.1F, x, gain, shift,
                 moments + 2 * width, moments + 3 * width, activation, moments,
                 moments + width, result);
    free(shift);
    free(gain);
    free(x);
    return result;
}

/* dx, dgain, dshift; dx in dy's place. */
static float *
back(struct tensor_backend *b, size_t n, size_t width,
     enum activation activation)
{
    float *y = forward(cpu[0], n, width, true, activation);
    float *x = numbers(n * width, 1, 2);
    float *gain = numbers(width, 2, 1);
    float *result = numbers(n * width + 2 * width, 5, 1);
    b->ops->norm_back(b, n, width, x, gain, y + n * width,
                      y + n * width + width, y, activation, result,
                      result + n * width, result + n * width + width, result);
    free(gain);
    free(x);
    free(y);
    return result;
}

static void
check_norm(size_t n, size_t width, enum activation activation)
{
    for (int training = 0; training < 2; training++) {
        size_t size = n * width + 4 * width;
        float *expected = forward(plain, n, width, training == 1, activation);
        float *first = forward(cpu[0], n, width, training == 1, activation);
        assert_close(first, expected, size, 2e-5);
        for (unsigned t = 1; t < CPUS; t++) {
            float *y = forward(cpu[t], n, width, training == 1, activation);
            assert_same(y, first, size);
            free(y);
        }
        free(first);
        free(expected);
    }
    float *expected = back(plain, n, width, activation);
    float *first = back(cpu[0], n, width, activation);
    assert_close(first, expected, n * width + 2 * width, 2e-5);
    for (unsigned t = 1; t < CPUS; t++) {
        float *dx = back(cpu[t], n, width, activation);
        assert_same(dx, first, n * width + 2 * width);
        free(dx);
    }
    free(first);
    free(expected);
}

static void
test_norm(void **state)
{
    (void)state;
    for (size_t i = 1; i < 4; i++) { /* one row has no spread: see below */
        for (size_t j = 0; j < 4; j++) {
            for (size_t a = 0; a < 4; a++) {
                check_norm(ns[i], widths[j], activations[a]);
            }
        }
    }
}

/* Rows 1 and 3: mean 2, variance 1; the unbiased one is 2. */
static void
test_known(void **state)
{
    struct tensor_backend *all[] = {plain, cpu[0], cpu[1]};
    const float x[] = {1, 3};
    const float gain = 2;
    const float shift = 10;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        float running[2] = {0, 1};
        float mean;
        float inverse;
        float y[2];
        const float expected[2] = {8, 12};
        all[i]->ops->norm(all[i], 2, 1, true, 0.5F, x, &gain, &shift,
                          &running[0], &running[1], ACTIVATION_NONE, &mean,
                          &inverse, y);
        assert_close(y, expected, 2, 1e-5);
        assert_near(mean, 2, 0);
        assert_near(inverse, 1 / sqrt(1 + 1e-5), 1e-7);
        assert_near(running[0], 1, 0);
        assert_near(running[1], 1.5, 0);
        all[i]->ops->norm(all[i], 1, 1, true, 0.5F, x, &gain, &shift,
                          &running[0], &running[1], ACTIVATION_NONE, &mean,
                          &inverse, y);
        assert_near(y[0], 10, 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_norm),
        cmocka_unit_test(test_known),
    };
    return cmocka_run_group_tests(tests, backends_make, backends_free);
}
