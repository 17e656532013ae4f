/*
 * symmetric.h: eigenvalues and eigenvectors of a real symmetric matrix.
 */
#ifndef SOTTO_TENSOR_SYMMETRIC_H
#define SOTTO_TENSOR_SYMMETRIC_H

#include <stddef.h>

#include "sotto/sotto.h"

/*
 * `a` is n rows of n, symmetric (its lower triangle alone is read), and is
 * overwritten: row i becomes the unit eigenvector of ret_values[i], and these
 * fall. Of the two signs of a vector the one is taken that makes its entry of
 * largest size (the first, of equals) positive. On failure `a` is spoilt.
 * Statuses: MEMORY, LIMIT (n above 32000), INPUT (not finite, or no
 * convergence).
 */
SOTTO_CHECKED enum sotto_status tensor_symmetric(size_t n, double *a,
                                                 double *ret_values,
                                                 struct sotto_error *err);

#endif
