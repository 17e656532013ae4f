/*
 * dense.c: products of doubles by BLAS.
 */
#include "tensor/dense.h"

#include <string.h>

#include <cblas.h>

void
tensor_dense_multiply(bool flip_a, bool flip_b, size_t m, size_t n, size_t k,
                      double scale, const double *a, const double *b,
                      double add, double *c)
{
    size_t lda = flip_a ? m : k, ldb = flip_b ? k : n;
    if (m == 0 || n == 0) {
        return;
    }
    openblas_set_num_threads(1);
    cblas_dgemm(CblasRowMajor, flip_a ? CblasTrans : CblasNoTrans,
                flip_b ? CblasTrans : CblasNoTrans, (blasint)m, (blasint)n,
                (blasint)k, scale, a, (blasint)(lda > 0 ? lda : 1), b,
                (blasint)(ldb > 0 ? ldb : 1), add, c, (blasint)n);
}
