/*
 * dense.h: products of matrices of doubles, for closed forms.
 *
 * Row-major, without gaps. One thread, so that a result does not depend on how
 * many there are.
 */
#ifndef SOTTO_TENSOR_DENSE_H
#define SOTTO_TENSOR_DENSE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * c = scale a' b' + add c, m rows of n; a' is a (m rows of k) or, where
 * `flip_a`, the transpose of a (k rows of m), and b' is b (k rows of n) or,
 * where `flip_b`, the transpose of b (n rows of k). Where `add` is 0, c need
 * not be set. Sizes are at most 2^31 - 1.
 */
void tensor_dense_multiply(bool flip_a, bool flip_b, size_t m, size_t n,
                           size_t k, double scale, const double *a,
                           const double *b, double add, double *c);

#endif
