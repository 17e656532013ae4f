/*
 * test_dense.c: products of doubles, against a plain loop, in all four ways
 * round, and with what was there before.
 */
#include "tensor_fixture.h"

#include "tensor/dense.h"

static void
check(bool flip_a, bool flip_b, size_t m, size_t n, size_t k, double add)
{
    float *random = numbers(m * k + k * n + m * n, 3, 1);
    double *a = malloc((m * k + k * n + m * n + 1) * sizeof *a);
    double *b = a + m * k, *c = b + k * n;
    assert_true(random != NULL && a != NULL);
    for (size_t i = 0; i < m * k + k * n + m * n; i++) {
        a[i] = (double)random[i];
    }
    tensor_dense_multiply(flip_a, flip_b, m, n, k, 2, a, b, add, c);
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t l = 0; l < k; l++) {
                sum += 2 * a[flip_a ? l * m + i : i * k + l] *
                       b[flip_b ? j * k + l : l * n + j];
            }
            sum += add * (double)random[m * k + k * n + i * n + j];
            assert_near(c[i * n + j], sum, 1e-12);
        }
    }
    free(random);
    free(a);
}

static void
test_products(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        check(way & 1, way & 2, 3, 5, 7, 0);
        check(way & 1, way & 2, 1, 1, 40, 0.5);
        check(way & 1, way & 2, 20, 1, 0, 3);
    }
    tensor_dense_multiply(false, false, 0, 3, 2, 1, NULL, NULL, 0, NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
