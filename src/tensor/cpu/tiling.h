/*
 * tiling.h: how a product is cut into tiles, each a call of cblas_sgemm.
 *
 * By its shape and the kind of processor alone, never by the number of
 * threads.
 */
#ifndef SOTTO_TENSOR_CPU_TILING_H
#define SOTTO_TENSOR_CPU_TILING_H

#include <stdbool.h>
#include <stddef.h>

/* op(a) op(b), m rows of n, summed over k. */
struct tiling_shape {
    bool transpose_a, transpose_b;
    size_t m, n, k;
};

struct tiling {
    size_t rows, columns; /* parts of each */
};

struct tile {
    size_t row, column, rows, columns; /* where, and how many; may be empty */
};

/*
 * `direct`: whether OpenBLAS multiplies small matrices without packing them
 * first, as it does on processors with AVX-512.
 */
struct tiling tiling_choose(const struct tiling_shape *shape, bool direct);
struct tile tiling_tile(const struct tiling_shape *shape, struct tiling tiling,
                        size_t i);

#endif
