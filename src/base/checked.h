/*
 * checked.h: sizes that are added and multiplied without wrapping round.
 *
 * A size that has overflowed is CHECKED_OVERFLOW and stays so, so that a
 * chain of sums and products needs one test at its end.
 */
#ifndef SOTTO_BASE_CHECKED_H
#define SOTTO_BASE_CHECKED_H

#include <stdint.h>

#define CHECKED_OVERFLOW UINT64_MAX

static inline uint64_t
checked_add(uint64_t a, uint64_t b)
{
    return a > CHECKED_OVERFLOW - b ? CHECKED_OVERFLOW : a + b;
}

/* In halves: a compiler would make one 64-bit test
   for overflow a call of its run-time library where 128-bit products are not at
   hand. */
static inline uint64_t
checked_multiply(uint64_t a, uint32_t b)
{
    uint64_t low = (a & UINT32_MAX) * b;
    uint64_t high = (a >> 32) * b + (low >> 32);
    if (a == CHECKED_OVERFLOW || high >> 32 != 0) {
        return CHECKED_OVERFLOW;
    }
    return (high << 32) | (low & UINT32_MAX);
}

#endif
