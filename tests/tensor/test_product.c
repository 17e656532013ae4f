/*
 * test_product.c: tiled products and dense layers against plain loops.
 */
#include "tensor_fixture.h"

#include <cblas.h>

#include "host/pool.h"

static const struct {
    size_t n, in, out;
} shapes[] = {{1, 1, 1},     {1, 7, 3},     {3, 784, 7},   {65, 7, 1},
              {64, 1, 784},  {3, 33, 65},   {65, 50, 150}, {64, 400, 150},
              {65, 784, 96}, {33, 96, 784}, {1, 784, 400}, {257, 40, 230}};
#define SHAPES (sizeof shapes / sizeof *shapes)

static const enum activation activations[] = {
    ACTIVATION_NONE, ACTIVATION_RELU, ACTIVATION_SIGMOID, ACTIVATION_TANH};

/* ---- Products ----------------------------------------------------------- */

static void
check_multiply(size_t m, size_t n, size_t k, bool transpose_a, bool transpose_b)
{
    float *a = numbers(m * k, 1, 1);
    float *b = numbers(k * n, 2, 1);
    float *before = numbers(m * n, 3, 1);
    float *expected = copied(before, m * n);
    float *first = NULL;
    plain->ops->multiply(plain, transpose_a, transpose_b, m, n, k, 0.5F, a, b,
                         -2, expected);
    for (unsigned t = 0; t < CPUS; t++) {
        float *c = copied(before, m * n);
        cpu[t]->ops->multiply(cpu[t], transpose_a, transpose_b, m, n, k, 0.5F,
                              a, b, -2, c);
        assert_close(c, expected, m * n, 1e-5);
        if (first == NULL) {
            first = c;
            continue;
        }
        assert_same(c, first, m * n);
        free(c);
    }
    free(first);
    free(expected);
    free(before);
    free(b);
    free(a);
}

static void
test_multiply(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        for (unsigned transposes = 0; transposes < 4; transposes++) {
            check_multiply(shapes[i].n, shapes[i].in, shapes[i].out,
                           transposes % 2 == 1, transposes / 2 == 1);
        }
    }
}

/* Nothing to sum over: c is scaled alone, and not read for a beta of 0. */
static void
test_nothing(void **state)
{
    struct tensor_backend *all[] = {plain, cpu[0], cpu[1]};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        float c[4] = {1, 2, 3, 4};
        const float expected[4] = {2, 4, 6, 8};
        const float zero[4] = {0};
        all[i]->ops->multiply(all[i], false, false, 2, 2, 0, 1, c, c, 2, c);
        assert_close(c, expected, 4, 0);
        c[0] = c[1] = c[2] = c[3] = NAN;
        all[i]->ops->multiply(all[i], false, false, 2, 2, 1, 1, zero, zero, 0,
                              c);
        assert_close(c, zero, 4, 0);
        all[i]->ops->multiply(all[i], false, false, 0, 2, 2, 1, zero, zero, 0,
                              c);
        all[i]->ops->multiply(all[i], false, false, 2, 0, 2, 1, zero, zero, 0,
                              c);
        assert_close(c, zero, 4, 0);
    }
}

/* ---- Dense layers ------------------------------------------------------- */

static void
check_dense(size_t n, size_t in, size_t out, enum activation activation,
            bool biased)
{
    float *x = numbers(n * in, 4, 1);
    float *weight = numbers(out * in, 5, 0.3F);
    float *bias = biased ? numbers(out, 6, 1) : NULL;
    float *expected = numbers(n * out, 7, 1);
    float *first = NULL;
    plain->ops->dense(plain, n, in, out, x, weight, bias, activation, expected);
    for (unsigned t = 0; t < CPUS; t++) {
        float *y = numbers(n * out, 8, 1);
        cpu[t]->ops->dense(cpu[t], n, in, out, x, weight, bias, activation, y);
        assert_close(y, expected, n * out, 1e-5);
        if (first == NULL) {
            first = y;
            continue;
        }
        assert_same(y, first, n * out);
        free(y);
    }
    free(first);
    free(expected);
    free(bias);
    free(weight);
    free(x);
}

static void
test_dense(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        for (size_t a = 0; a < 4; a++) {
            check_dense(shapes[i].n, shapes[i].in, shapes[i].out,
                        activations[a], true);
        }
        check_dense(shapes[i].n, shapes[i].in, shapes[i].out, ACTIVATION_NONE,
                    false);
    }
}

/* dweight, dbias and dx one behind the other; dx last. */
static float *
back(struct tensor_backend *backend, size_t n, size_t in, size_t out,
     enum activation activation, bool biased, bool wants_dx)
{
    float *x = numbers(n * in, 4, 1);
    float *weight = numbers(out * in, 5, 0.3F);
    float *y = numbers(n * out, 9, 1);
    float *dy = numbers(n * out, 10, 1);
    float *result = numbers(out * in + out + n * in, 11, 1);
    float *dx = result + out * in + out;
    backend->ops->dense_back(backend, n, in, out, x, weight, y, activation, dy,
                             result, biased ? result + out * in : NULL,
                             wants_dx ? dx : NULL);
    free(dy);
    free(y);
    free(weight);
    free(x);
    return result;
}

static void
check_back(size_t n, size_t in, size_t out, enum activation activation,
           bool biased, bool wants_dx)
{
    size_t size = out * in + out + n * in;
    float *expected = back(plain, n, in, out, activation, biased, wants_dx);
    float *first = NULL;
    for (unsigned t = 0; t < CPUS; t++) {
        float *result = back(cpu[t], n, in, out, activation, biased, wants_dx);
        assert_close(result, expected, size, 2e-5);
        if (first == NULL) {
            first = result;
            continue;
        }
        assert_same(result, first, size);
        free(result);
    }
    free(first);
    free(expected);
}

static void
test_dense_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        for (size_t a = 0; a < 4; a++) {
            check_back(shapes[i].n, shapes[i].in, shapes[i].out, activations[a],
                       true, true);
        }
        check_back(shapes[i].n, shapes[i].in, shapes[i].out, ACTIVATION_NONE,
                   false, false);
    }
}

/* ---- OpenBLAS called by several threads at a time ----------------------- */

#define SIDE 128u /* large enough to need OpenBLAS's buffers */
#define MATRIX ((size_t)SIDE * SIDE)

struct crowd {
    const float *a, *b, *expected; /* one after another, for each worker */
    int wrong[8];
};

static void
multiply_alone(void *context, size_t i, unsigned worker)
{
    struct crowd *crowd = context;
    float *c = malloc(MATRIX * sizeof *c);
    size_t at = i % 8 * MATRIX;
    (void)worker;
    if (c != NULL) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE,
                    1, crowd->a + at, SIDE, crowd->b + at, SIDE, 0, c, SIDE);
    }
    if (c == NULL || memcmp(c, crowd->expected + at, MATRIX * sizeof *c) != 0) {
        crowd->wrong[i % 8]++;
    }
    free(c);
}

/* A build whose calls disturb one another gives thousands of wrong ones. */
static void
test_crowd(void **state)
{
    (void)state;
    if (openblas_get_parallel() != OPENBLAS_THREAD) {
        print_message("OpenBLAS was built without threads: calls are locked\n");
        skip();
    }
    struct crowd crowd = {.a = numbers(8 * MATRIX, 12, 1),
                          .b = numbers(8 * MATRIX, 13, 1)};
    float *expected = numbers(8 * MATRIX, 14, 1);
    for (size_t i = 0; i < 8; i++) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE,
                    1, crowd.a + i * MATRIX, SIDE, crowd.b + i * MATRIX, SIDE,
                    0, expected + i * MATRIX, SIDE);
    }
    crowd.expected = expected;
    host_pool_run(pools[2], 8000, multiply_alone, &crowd);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(crowd.wrong[i], 0);
    }
    free(expected);
    free((void *)(uintptr_t)crowd.b);
    free((void *)(uintptr_t)crowd.a);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multiply), cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_dense),    cmocka_unit_test(test_dense_back),
        cmocka_unit_test(test_crowd),
    };
    return cmocka_run_group_tests(tests, backends_make, backends_free);
}
