/*
 * test_symmetric.c: eigenvalues and eigenvectors: by hand, by their defining
 * equations, and what is refused.
 */
#include "fail_alloc.h"
#include "tensor_fixture.h"

#include "tensor/symmetric.h"

static struct sotto_error err;

/* 2 1 / 1 2 has 3 along (1, 1) and 1 along (1, -1); its upper triangle is not
   read. */
static void
test_known(void **state)
{
    double a[4] = {2, NAN, 1, 2};
    double values[2];
    (void)state;
    assert_int_equal(tensor_symmetric(2, a, values, &err), SOTTO_STATUS_OK);
    assert_near(values[0], 3, 1e-15);
    assert_near(values[1], 1, 1e-15);
    assert_near(a[0], sqrt(0.5), 1e-15);
    assert_near(a[1], sqrt(0.5), 1e-15);
    assert_near(fabs(a[2]), sqrt(0.5), 1e-15);
    assert_near(a[2] + a[3], 0, 1e-15);
    double one[1] = {-4};
    assert_int_equal(tensor_symmetric(1, one, values, &err), SOTTO_STATUS_OK);
    assert_near(values[0], -4, 0);
    assert_near(one[0], 1, 0);
    assert_int_equal(tensor_symmetric(0, NULL, NULL, &err), SOTTO_STATUS_OK);
}

/* A v = value v for each, the v are orthonormal, and the values fall. */
static void
check_random(size_t n)
{
    double *a = malloc(n * n * sizeof *a);
    double *v = malloc(n * n * sizeof *v);
    double *values = malloc(n * sizeof *values);
    float *random = numbers(n * n, (uint32_t)n, 1);
    assert_true(a != NULL && v != NULL && values != NULL);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            a[i * n + j] = a[j * n + i] = random[i * n + j];
        }
    }
    memcpy(v, a, n * n * sizeof *v);
    assert_int_equal(tensor_symmetric(n, v, values, &err), SOTTO_STATUS_OK);
    for (size_t k = 0; k < n; k++) {
        const double *vector = v + k * n;
        double most = 0;
        assert_true(k == 0 || values[k] <= values[k - 1]);
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            double product = 0;
            for (size_t j = 0; j < n; j++) {
                sum += a[i * n + j] * vector[j];
                product += v[i * n + j] * vector[j];
            }
            assert_near(sum, values[k] * vector[i], 1e-12);
            assert_near(product, i == k ? 1 : 0, 1e-12);
            most = fabs(vector[i]) > fabs(most) ? vector[i] : most;
        }
        assert_true(most > 0);
    }
    free(random);
    free(values);
    free(v);
    free(a);
}

static void
test_random(void **state)
{
    (void)state;
    check_random(3);
    check_random(17);
    check_random(100);
}

static void
test_refused(void **state)
{
    double a[4] = {1, 0, INFINITY, 1};
    double values[2] = {7, 7};
    (void)state;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(tensor_symmetric(2, a, values, &err), SOTTO_STATUS_INPUT);
    assert_string_equal(err.message,
                        "the matrix holds a value that is not finite");
    assert_int_equal(tensor_symmetric(32001, a, values, &err),
                     SOTTO_STATUS_LIMIT);
    assert_string_equal(err.message,
                        "a matrix of 32001 rows is too large: at most 32000");
    a[2] = 0;
    for (long n = 1; n <= 3; n++) {
        fail_alloc_at(n);
        assert_int_equal(tensor_symmetric(2, a, values, &err),
                         SOTTO_STATUS_MEMORY);
    }
    fail_alloc_at(0);
    assert_near(values[0], 7, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
