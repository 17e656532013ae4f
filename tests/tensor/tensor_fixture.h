/*
 * tensor_fixture.h: the back-ends side by side, numbers to try them on, and
 * comparisons.
 *
 * cpu[t] has t + 1 threads. `each_thread_count` in a test means: the results of
 * all of them have the same bits, and are close to the plain ones.
 */
#ifndef SOTTO_TESTS_TENSOR_FIXTURE_H
#define SOTTO_TESTS_TENSOR_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/pool.h"
#include "tensor/tensor.h"

#define CPUS 3u

static struct tensor_backend *plain;
static struct tensor_backend *cpu[CPUS];
static struct host_pool *pools[CPUS];

static inline int
backends_make(void **state)
{
    struct sotto_error err;
    (void)state;
    if (tensor_new("plain", NULL, &plain, &err) != SOTTO_STATUS_OK) {
        return -1;
    }
    for (unsigned t = 0; t < CPUS; t++) {
        if (host_pool_new(t + 1, &pools[t], &err) != SOTTO_STATUS_OK ||
            tensor_new("cpu", pools[t], &cpu[t], &err) != SOTTO_STATUS_OK) {
            return -1;
        }
    }
    return 0;
}

static inline int
backends_free(void **state)
{
    (void)state;
    tensor_backend_free(plain);
    for (unsigned t = 0; t < CPUS; t++) {
        tensor_backend_free(cpu[t]);
        host_pool_free(pools[t]);
    }
    return 0;
}

/* Numbers in (-scale, scale), the same for the same seed. Free them. */
static inline float *
numbers(size_t size, uint32_t seed, float scale)
{
    float *x = malloc((size + 1) * sizeof *x);
    uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    assert_non_null(x);
    for (size_t i = 0; i < size; i++) {
        state = state * UINT64_C(6364136223846793005) +
                UINT64_C(1442695040888963407);
        x[i] = scale * ((float)(int32_t)(state >> 32) / 2147483648.0F);
    }
    return x;
}

static inline float *
copied(const float *x, size_t size)
{
    float *copy = malloc((size + 1) * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, x, size * sizeof *copy);
    return copy;
}

/* |a - b| <= tolerance (1 + |b|), for each. */
static inline void
assert_close(const float *a, const float *b, size_t size, double tolerance)
{
    for (size_t i = 0; i < size; i++) {
        double away = fabs((double)a[i] - (double)b[i]);
        if (!(away <= tolerance * (1 + fabs((double)b[i])))) {
            fail_msg("at %zu of %zu: %.9g, not %.9g", i, size, (double)a[i],
                     (double)b[i]);
        }
    }
}

static inline void
assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * (1 + fabs(b)))) {
        fail_msg("%.17g, not %.17g", a, b);
    }
}

static inline void
assert_same(const float *a, const float *b, size_t size)
{
    assert_memory_equal(a, b, size * sizeof *a);
}

#endif
