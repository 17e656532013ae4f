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

static inline uint64_t
checked_multiply(uint64_t a, uint64_t b)
{
    if (a == CHECKED_OVERFLOW || b == CHECKED_OVERFLOW) {
        return CHECKED_OVERFLOW;
    }
    return b != 0 && a > CHECKED_OVERFLOW / b ? CHECKED_OVERFLOW : a * b;
}

#endif
