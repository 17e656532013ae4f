/*
 * test_descent.c: the optimisers' steps against a scalar written here from the
 * papers' equations, on every back-end and at every number of threads.
 */
#include "tensor_fixture.h"

#define STEPS 5u

struct moving {
    float *value, *first, *second;
};

static struct moving
moving_make(size_t size)
{
    struct moving m = {numbers(size, 1, 1), numbers(size, 2, 0.1F),
                       numbers(size, 3, 0.1F)};
    for (size_t i = 0; i < size; i++) {
        m.second[i] = fabsf(m.second[i]);
    }
    return m;
}

static void
moving_free(struct moving *m)
{
    free(m->value);
    free(m->first);
    free(m->second);
}

static struct tensor_adam
adam_at(uint64_t step)
{
    return (struct tensor_adam){.rate = 0.01F,
                                .beta1 = 0.9F,
                                .beta2 = 0.999F,
                                .epsilon = 1e-8F,
                                .decay = 0.1F,
                                .step = step};
}

/* Kingma and Ba's Algorithm 1, with Loshchilov and Hutter's decay. */
static void
adam_scalar(const struct tensor_adam *how, float gradient, double *value,
            double *first, double *second)
{
    double g = gradient;
    *first = (double)how->beta1 * *first + (1 - (double)how->beta1) * g;
    *second = (double)how->beta2 * *second + (1 - (double)how->beta2) * g * g;
    double m = *first / (1 - pow(how->beta1, (double)how->step));
    double v = *second / (1 - pow(how->beta2, (double)how->step));
    *value -= (double)how->rate * (m / (sqrt(v) + (double)how->epsilon) +
                                   (double)how->decay * *value);
}

static void
run_adam(struct tensor_backend *backend, size_t size, struct moving *m)
{
    for (uint64_t step = 1; step <= STEPS; step++) {
        struct tensor_adam how = adam_at(step);
        float *gradient = numbers(size, 10 + (uint32_t)step, 1);
        backend->ops->adam(backend, size, &how, m->value, gradient, m->first,
                           m->second);
        free(gradient);
    }
}

static void
check_adam(struct tensor_backend *backend, size_t size)
{
    struct moving got = moving_make(size);
    struct moving start = moving_make(size);
    run_adam(backend, size, &got);
    for (size_t i = 0; i < size; i += size / 50 + 1) {
        double value = start.value[i];
        double first = start.first[i];
        double second = start.second[i];
        for (uint64_t step = 1; step <= STEPS; step++) {
            struct tensor_adam how = adam_at(step);
            float *gradient = numbers(size, 10 + (uint32_t)step, 1);
            adam_scalar(&how, gradient[i], &value, &first, &second);
            free(gradient);
        }
        assert_near(got.value[i], value, 1e-6);
        assert_near(got.first[i], first, 1e-6);
        assert_near(got.second[i], second, 1e-6);
    }
    moving_free(&start);
    moving_free(&got);
}

static void
test_adam(void **state)
{
    const size_t sizes[] = {1, 7, 16, 20000};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        check_adam(plain, sizes[i]);
        for (unsigned t = 0; t < CPUS; t++) {
            check_adam(cpu[t], sizes[i]);
        }
    }
}

static void
check_sgd(struct tensor_backend *backend, size_t size)
{
    struct moving got = moving_make(size);
    struct moving start = moving_make(size);
    float *gradient = numbers(size, 11, 1);
    for (unsigned step = 0; step < STEPS; step++) {
        backend->ops->sgd(backend, size, 0.1F, 0.9F, 0.01F, got.value, gradient,
                          got.first);
    }
    for (size_t i = 0; i < size; i++) {
        double value = start.value[i];
        double first = start.first[i];
        for (unsigned step = 0; step < STEPS; step++) {
            first = (double)0.9F * first + (double)gradient[i];
            value -= (double)0.1F * (first + (double)0.01F * value);
        }
        assert_near(got.value[i], value, 1e-6);
        assert_near(got.first[i], first, 1e-6);
    }
    free(gradient);
    moving_free(&start);
    moving_free(&got);
}

static void
test_sgd(void **state)
{
    (void)state;
    check_sgd(plain, 1000);
    check_sgd(cpu[0], 7);
    check_sgd(cpu[1], 40000);
}

static void
test_threads(void **state)
{
    struct moving one = moving_make(50000);
    (void)state;
    run_adam(cpu[0], 50000, &one);
    for (unsigned t = 1; t < CPUS; t++) {
        struct moving more = moving_make(50000);
        run_adam(cpu[t], 50000, &more);
        assert_same(more.value, one.value, 50000);
        assert_same(more.second, one.second, 50000);
        moving_free(&more);
    }
    moving_free(&one);
}

/* A parameter whose gradient is 0 for good comes to rest: its moments do not
   linger among the numbers too small to be normal. */
static void
test_rest(void **state)
{
    float value[16] = {0};
    float gradient[16] = {0};
    float first[16];
    float second[16];
    (void)state;
    for (size_t i = 0; i < 16; i++) {
        first[i] = second[i] = 1e-37F;
    }
    for (uint64_t step = 1; step < 10000; step++) {
        struct tensor_adam how = adam_at(step);
        how.decay = 0;
        cpu[0]->ops->adam(cpu[0], 16, &how, value, gradient, first, second);
    }
    for (size_t i = 0; i < 16; i++) {
        assert_true(first[i] == 0.0F);
        assert_true(second[i] == 0.0F);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adam),
        cmocka_unit_test(test_sgd),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_rest),
    };
    return cmocka_run_group_tests(tests, backends_make, backends_free);
}
