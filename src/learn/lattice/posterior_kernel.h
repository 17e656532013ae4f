/*
 * posterior_kernel.h: the inner loops over posterior weights.
 *
 * A weight is kept in 16 bits relative to the largest of its report, which is
 * 1: 5 bits of exponent, 11 of mantissa, no sign. A code c stands for the float
 * whose bits are (c << 12) + (96 << 23), from 2^-31 (code 0) to 1 (code
 * 63488). So a weight is rounded by at most 2^-12 of itself, and one below
 * 2^-31 is raised to that:
 *
 *     sum_m |w'_m - w_m| <= 2^-12 sum_m w_m + M 2^-31      (largest w_m = 1)
 *
 * All lengths are multiples of PRIOR_PAD. Sums run in an order that depends on
 * the length alone, so every processor gives the same.
 */
#ifndef SOTTO_LEARN_POSTERIOR_KERNEL_H
#define SOTTO_LEARN_POSTERIOR_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#define POSTERIOR_ROWS 4u /* reports taken together */
#define POSTERIOR_ONE 63488u
#define POSTERIOR_ERROR 0x1p-12
#define POSTERIOR_LEAST 0x1p-31

struct posterior_kernel {
    const char *name;
    /* cost[m] += rate sum_i |y_i - q_i[m]|; entry i of the points is a row of
       n, and the distances are below 2^30. */
    void (*distance)(const int32_t *q, size_t n, const int32_t *y, size_t d,
                     float rate, float *cost);
    float (*least)(const float *cost, size_t n);
    /* Codes of e^(least - cost); the sum of what they stand for. */
    double (*encode)(const float *cost, float least, size_t n, uint16_t *code);
    /* How many codes are at least this. */
    size_t (*count)(const uint16_t *code, size_t n, uint16_t from);
    /* ret[r] = sum_m w_r[m] v[m], of POSTERIOR_ROWS rows. */
    void (*dots)(const uint16_t *const row[POSTERIOR_ROWS], const float *v,
                 size_t n, double ret[POSTERIOR_ROWS]);
    /* a[m] += sum_r c[r] w_r[m] */
    void (*add)(const uint16_t *const row[POSTERIOR_ROWS],
                const float c[POSTERIOR_ROWS], size_t n, float *a);
};

/* The fastest this processor has; and the one every processor has, for tests
   against it. */
const struct posterior_kernel *posterior_kernel_best(void);
const struct posterior_kernel *posterior_kernel_plain(void);

/* What a code stands for. */
float posterior_kernel_decode(uint16_t code);

#endif
