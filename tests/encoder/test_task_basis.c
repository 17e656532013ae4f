/*
 * test_task_basis.c: directions of a task: as the paper defines them, for
 * covariances that are singular, and for more outputs than inputs.
 */
#include "fail_alloc.h"
#include "task_numbers.h"

#include "encoder/task_basis.h"
#include "tensor/symmetric.h"

/* Of v: mean 0, covariance 1; sum lambda_i (v_i - v'_i)^2 is the task's squared
   error between any two rows. */
static void
check_basis(const double *x, size_t rows, size_t n, const double *K, size_t m,
            size_t rank)
{
    struct task_basis basis;
    must(task_basis_init(&basis, x, rows, n, K, m, &err));
    assert_int_equal(basis.rank, rank);
    double *v = malloc(rows * rank * sizeof *v);
    double *y = malloc(rows * m * sizeof *y);
    double sum = 0;
    assert_true(v != NULL && y != NULL);
    must(task_basis_apply(&basis, x, rows, rank, v, &err));
    must(task_basis_outputs(x, rows, n, basis.mean, K, m, y, &err));
    for (size_t i = 0; i < rank; i++) {
        assert_true(i == 0 || basis.lambda[i] <= basis.lambda[i - 1]);
        sum += basis.lambda[i];
        for (size_t j = 0; j < rank; j++) {
            double mean = 0, product = 0;
            for (size_t row = 0; row < rows; row++) {
                mean += v[row * rank + i] / (double)rows;
                product += v[row * rank + i] * v[row * rank + j] / (double)rows;
            }
            assert_near(mean, 0, 1e-6);
            assert_near(product, i == j ? 1 : 0, 1e-6);
        }
    }
    for (size_t row = 0; row + 1 < rows; row++) {
        double far = 0, task = 0;
        for (size_t i = 0; i < rank; i++) {
            double step = v[row * rank + i] - v[(row + 1) * rank + i];
            far += basis.lambda[i] * step * step;
        }
        for (size_t i = 0; i < m; i++) {
            double step = y[row * m + i] - y[(row + 1) * m + i];
            task += step * step;
        }
        assert_near(far, task, 1e-7 * (sum + task));
    }
    free(v);
    free(y);
    task_basis_clear(&basis);
}

static void
test_directions(void **state)
{
    enum { ROWS = 200, INPUTS = 6 };
    double *x = mixed_rows(ROWS, INPUTS, 1), *K = normals(20 * INPUTS, 7);
    (void)state;
    check_basis(x, ROWS, INPUTS, K, 1, 1);
    check_basis(x, ROWS, INPUTS, K, 3, 3);
    check_basis(x, ROWS, INPUTS, K, INPUTS, INPUTS);
    check_basis(x, ROWS, INPUTS, K, 20, INPUTS); /* through a root of K'K */
    for (size_t i = 0; i < ROWS; i++) { /* two columns of which others decide */
        x[i * INPUTS + 4] = x[i * INPUTS] - 2 * x[i * INPUTS + 1];
        x[i * INPUTS + 5] = 3;
    }
    check_basis(x, ROWS, INPUTS, K, INPUTS, 4);
    check_basis(x, ROWS, INPUTS, K, 20, 4);
    check_basis(x, 4, INPUTS, K, INPUTS, 3); /* fewer rows than inputs */
    free(x);
    free(K);
}

/* lambda are the eigenvalues of P'P, P = K L, C = L L'; and the directions are
   its eigenvectors over L: P'P L' direction_i = lambda_i L' direction_i. */
static void
test_paper(void **state)
{
    enum { ROWS = 100, INPUTS = 4 };
    double *x = mixed_rows(ROWS, INPUTS, 2), *K = normals(3 * INPUTS, 8);
    double L[INPUTS * INPUTS] = {0}, C[INPUTS * INPUTS], P[3 * INPUTS] = {0};
    double gram[INPUTS * INPUTS] = {0}, value[INPUTS];
    struct task_basis basis;
    (void)state;
    must(task_basis_init(&basis, x, ROWS, INPUTS, K, 3, &err));
    must(task_covariance(x, ROWS, INPUTS, basis.mean, C, &err));
    for (size_t i = 0; i < INPUTS; i++) { /* Cholesky */
        for (size_t j = 0; j <= i; j++) {
            double sum = C[i * INPUTS + j];
            for (size_t k = 0; k < j; k++) {
                sum -= L[i * INPUTS + k] * L[j * INPUTS + k];
            }
            L[i * INPUTS + j] = i == j ? sqrt(sum) : sum / L[j * INPUTS + j];
        }
    }
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < INPUTS; j++) {
            for (size_t k = 0; k < INPUTS; k++) {
                P[i * INPUTS + j] += K[i * INPUTS + k] * L[k * INPUTS + j];
            }
        }
    }
    for (size_t i = 0; i < INPUTS; i++) {
        for (size_t j = 0; j < INPUTS; j++) {
            for (size_t k = 0; k < 3; k++) {
                gram[i * INPUTS + j] += P[k * INPUTS + i] * P[k * INPUTS + j];
            }
        }
    }
    for (size_t i = 0; i < 3; i++) {
        double q[INPUTS] = {0}, size = 0;
        for (size_t j = 0; j < INPUTS; j++) {
            for (size_t k = 0; k < INPUTS; k++) {
                q[j] += L[k * INPUTS + j] * basis.direction[i * INPUTS + k];
            }
            size += q[j] * q[j];
        }
        assert_near(size, 1, 1e-9);
        for (size_t j = 0; j < INPUTS; j++) {
            double product = 0;
            for (size_t k = 0; k < INPUTS; k++) {
                product += gram[j * INPUTS + k] * q[k];
            }
            assert_near(product, basis.lambda[i] * q[j],
                        1e-9 * basis.lambda[0]);
        }
    }
    must(tensor_symmetric(INPUTS, gram, value, &err));
    for (size_t i = 0; i < 3; i++) {
        assert_near(value[i], basis.lambda[i], 1e-9 * value[0]);
    }
    task_basis_clear(&basis);
    free(x);
    free(K);
}

static void
test_refused(void **state)
{
    const double x[] = {1, 2, 1, 3, 1, 5}, K[] = {1, 0}, odd[] = {1, NAN};
    struct task_basis basis;
    (void)state;
    assert_int_equal(task_basis_init(&basis, x, 3, 2, K, 1, &err),
                     SOTTO_STATUS_INPUT); /* asks for the constant */
    assert_non_null(strstr(err.message, "do not vary over the 3 rows"));
    task_basis_clear(&basis);
    assert_int_equal(task_basis_init(&basis, x, 1, 2, K, 1, &err),
                     SOTTO_STATUS_INPUT);
    task_basis_clear(&basis);
    assert_int_equal(task_basis_init(&basis, x, 3, 2, odd, 1, &err),
                     SOTTO_STATUS_INPUT);
    task_basis_clear(&basis);
}

static void
test_memory(void **state)
{
    double *x = mixed_rows(20, 3, 1), *K = normals(15, 7), *v = x;
    struct task_basis basis;
    enum sotto_status status;
    (void)state;
    survive_memory(status, task_basis_init(&basis, x, 20, 3, K, 5, &err),
                   task_basis_clear(&basis));
    must(task_basis_init(&basis, x, 20, 3, K, 5, &err));
    v = malloc(60 * sizeof *v);
    survive_memory(status, task_basis_apply(&basis, x, 20, 3, v, &err),
                   (void)0);
    survive_memory(status, task_covariance(x, 20, 3, basis.mean, v, &err),
                   (void)0);
    task_basis_clear(&basis);
    free(x);
    free(K);
    free(v);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_paper),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
