/*
 * flush.h: keeps every number that the encoder computes zero or normal.
 *
 * Many processors take far longer over a subnormal number than over another,
 * so weights that make some for one record and none for another would speak
 * through time (invariant 7). No operation between a record's values and z
 * takes or gives one, whatever the weights are:
 *
 *   Floats. Weights and biases are 0 or at least 2^-50 in magnitude, or no
 *   number or infinite: devices refuse others. So is x, and so is what every
 *   layer gives, since both are flushed. Then
 *     - a product is 0 or at least 2^-100, so normal, and, rounded to 24 bits,
 *       a multiple of 2^-123;
 *     - a sum of two multiples of 2^-123 is one: below 2^-99 all of them are
 *       floats, above it rounding goes to coarser multiples. So every partial
 *       sum, with the bias (a multiple of 2^-73) and what a skip adds, is 0 or
 *       at least 2^-123, which is above the least normal float, 2^-126;
 *     - a pool's mean is 0 or at least 2^-73 / 961 > 2^-83.
 *   The argument needs products that are rounded before they are added: no
 *   fused multiply-add (-ffp-contract=off; tests/encode/test_timing_fused.sh).
 *
 *   Activations. Their argument is 0 or at least 2^-123, and base/maths.c takes
 *   it to be at most 87 in magnitude. Then all that it computes in doubles is 0
 *   or above 2^-300, and what becomes a float is 0 or at least 2^-126.
 *
 *   Columns, in doubles. The value is flushed below 2^-480; shift and scale are
 *   0 or at least that, or refused. The difference is a multiple of 2^-532, so
 *   its product with the scale is 0 or at least 2^-1012, above 2^-1022. It is
 *   flushed below 2^-50 before it becomes a float. A logarithm is taken of the
 *   flushed value: it is 0 or at least 2^-53 (base/maths.c).
 *
 * Infinities, NaNs and overflow take no longer. tests/encode/test_flush.c reads
 * the processor's own flags over hostile weights and records.
 */
#ifndef SOTTO_ENCODE_FLUSH_H
#define SOTTO_ENCODE_FLUSH_H

#include <stdint.h>

#define FLUSH_LEAST 0x1p-50f /* of weights, x and layers' outputs */
#define FLUSH_LEAST_HALF UINT32_C(0x2680) /* likewise, its upper half */
#define FLUSH_COLUMN_LEAST 0x1p-480       /* of values, shifts and scales */

/* Both by a mask, without a branch. A zero comes out as +0. */
static inline double
flush_below(double y, double least)
{
    union {
        double value;
        uint64_t bits;
    } u = {y}, end = {least};
    u.bits &= (((u.bits & (UINT64_MAX >> 1)) - end.bits) >> 63) - 1;
    return u.value;
}

static inline float
flush_small(float y)
{
    union {
        float value;
        uint32_t bits;
    } u = {y}, end = {FLUSH_LEAST};
    u.bits &= (((u.bits & (UINT32_MAX >> 1)) - end.bits) >> 31) - 1;
    return u.value;
}

#endif
