/*
 * wide.h: unsigned fixed-point numbers of 64 integer and 320 fraction bits.
 *
 * They carry every noise parameter from the exact rational epsilon to the
 * integer thresholds of the samplers. Every operation rounds down, so that a
 * chain of sums and products of lower bounds is a lower bound: which side of
 * the truth a threshold lies on is known by construction, not by luck.
 * Limbs are 32 bits so that products fit 64: no 128-bit type, no run-time
 * library. Nothing here sees a record; speed and timing do not matter.
 */
#ifndef SOTTO_BASE_WIDE_H
#define SOTTO_BASE_WIDE_H

#include <stdint.h>

#define WIDE_LIMBS 12u
#define WIDE_FRACTION 10u /* limbs after the point */

/* Little-endian limbs; value = sum limb[i] 2^(32 (i - WIDE_FRACTION)). */
struct wide {
    uint32_t limb[WIDE_LIMBS];
};

/* floor(numerator / denominator); 0 < denominator < 2^63. */
void wide_ratio(uint64_t numerator, uint64_t denominator, struct wide *ret);

/* a + b; the sum must stay below 2^64. */
void wide_add(const struct wide *a, const struct wide *b, struct wide *ret);
/* a - b; a >= b. */
void wide_subtract(const struct wide *a, const struct wide *b,
                   struct wide *ret);
/* floor(a b); the product must stay below 2^64. */
void wide_multiply(const struct wide *a, const struct wide *b,
                   struct wide *ret);
/* a m; the product must stay below 2^64. */
void wide_scale(const struct wide *a, uint32_t m, struct wide *ret);
/* floor(a / n); n > 0. */
void wide_split(const struct wide *a, uint32_t n, struct wide *ret);
/* floor(a / b); 0 < b < 2^63, quotient below 2^64. The slow one. */
void wide_divide(const struct wide *a, const struct wide *b, struct wide *ret);
/* floor(a / 2^bits), bits < 384. */
void wide_shift(const struct wide *a, uint32_t bits, struct wide *ret);

/* A lower bound of e^x, within 2^-300 of it relatively; 0 <= x <= 40. */
void wide_exp(const struct wide *x, struct wide *ret);

/* The nearest double. */
double wide_double(const struct wide *a);

#endif
