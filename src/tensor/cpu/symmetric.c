/*
 * symmetric.c: eigenvalues and eigenvectors by LAPACK's dsyevd, which lies in
 * OpenBLAS. One thread.
 */
#include "tensor/symmetric.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>

#include "host/error.h"

#define N_MAX 32000u /* LAPACK counts its 2 n^2 numbers of room in 32 bits */

/* Fortran's calling convention: every argument by its address. */
void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a,
             const int *lda, double *w, double *work, const int *lwork,
             int *iwork, const int *liwork, int *info);

static bool
finite_lower(size_t n, const double *a)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            if (!isfinite(a[i * n + j])) {
                return false;
            }
        }
    }
    return true;
}

/* LAPACK's columns are our rows, and its values rise: both are reversed. */
static void
reverse(size_t n, double *a, double *values)
{
    for (size_t i = 0, j = n - 1; i < j; i++, j--) {
        double kept = values[i];
        values[i] = values[j];
        values[j] = kept;
        for (size_t k = 0; k < n; k++) {
            kept = a[i * n + k];
            a[i * n + k] = a[j * n + k];
            a[j * n + k] = kept;
        }
    }
}

static void
fix_sign(size_t n, double *row)
{
    size_t at = 0;
    for (size_t k = 1; k < n; k++) {
        at = fabs(row[k]) > fabs(row[at]) ? k : at;
    }
    double sign = row[at] < 0 ? -1 : 1;
    for (size_t k = 0; k < n; k++) {
        row[k] *= sign;
    }
}

/* Our lower triangle is the upper one of LAPACK's columns. */
static int
decompose(int n, double *a, double *values, double *work, int work_size,
          int *integers, int integers_size)
{
    int info = 0;
    dsyevd_("V", "U", &n, a, &n, values, work, &work_size, integers,
            &integers_size, &info);
    return info;
}

enum sotto_status
tensor_symmetric(size_t n, double *a, double *ret_values,
                 struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    double *work = NULL;
    int *integers = NULL;
    double *values = NULL;
    double work_size = 0;
    int integers_size = 0;
    if (n == 0) {
        return SOTTO_STATUS_OK;
    }
    if (n > N_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "a matrix of %zu rows is too large: at most %u", n,
                         N_MAX);
    }
    if (!finite_lower(n, a)) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the matrix holds a value that is not finite");
    }
    openblas_set_num_threads(1); /* the same vectors on every machine's count */
    (void)decompose((int)n, a, &work_size, &work_size, -1, &integers_size, -1);
    work = malloc((size_t)work_size * sizeof *work);
    integers = malloc((size_t)integers_size * sizeof *integers);
    values = malloc(n * sizeof *values);
    if (work == NULL || integers == NULL || values == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    if (decompose((int)n, a, values, work, (int)work_size, integers,
                  integers_size) != 0) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "the eigenvalues of the matrix were not found: the "
                           "iteration did not converge");
        goto done;
    }
    reverse(n, a, values);
    for (size_t i = 0; i < n; i++) {
        fix_sign(n, a + i * n);
    }
    memcpy(ret_values, values, n * sizeof *values);
done:
    free(values);
    free(integers);
    free(work);
    return status;
}
