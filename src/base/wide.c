/*
 * wide.c: unsigned fixed-point arithmetic, every result rounded down.
 *
 * Schoolbook throughout: a mechanism needs a few hundred operations, once.
 */
#include "base/wide.h"

static void
clear(struct wide *a)
{
    for (uint32_t i = 0; i < WIDE_LIMBS; i++) {
        a->limb[i] = 0;
    }
}

static int
is_zero(const struct wide *a)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < WIDE_LIMBS; i++) {
        any |= a->limb[i];
    }
    return any == 0;
}

static int
less(const struct wide *a, const struct wide *b)
{
    for (uint32_t i = WIDE_LIMBS; i-- > 0;) {
        if (a->limb[i] != b->limb[i]) {
            return a->limb[i] < b->limb[i];
        }
    }
    return 0;
}

void
wide_add(const struct wide *a, const struct wide *b, struct wide *ret)
{
    uint64_t carry = 0;
    for (uint32_t i = 0; i < WIDE_LIMBS; i++) {
        carry += (uint64_t)a->limb[i] + b->limb[i];
        ret->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

void
wide_subtract(const struct wide *a, const struct wide *b, struct wide *ret)
{
    uint64_t borrow = 0;
    for (uint32_t i = 0; i < WIDE_LIMBS; i++) {
        uint64_t step = (uint64_t)a->limb[i] - b->limb[i] - borrow;
        ret->limb[i] = (uint32_t)step;
        borrow = step >> 63;
    }
}

void
wide_scale(const struct wide *a, uint32_t m, struct wide *ret)
{
    uint64_t carry = 0;
    for (uint32_t i = 0; i < WIDE_LIMBS; i++) {
        carry += (uint64_t)a->limb[i] * m;
        ret->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

void
wide_multiply(const struct wide *a, const struct wide *b, struct wide *ret)
{
    uint32_t product[2 * WIDE_LIMBS];
    for (uint32_t i = 0; i < 2 * WIDE_LIMBS; i++) {
        product[i] = 0;
    }
    for (uint32_t i = 0; i < WIDE_LIMBS; i++) {
        uint64_t carry = 0;
        for (uint32_t j = 0; j < WIDE_LIMBS; j++) {
            carry += (uint64_t)a->limb[i] * b->limb[j] + product[i + j];
            product[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        product[i + WIDE_LIMBS] = (uint32_t)carry;
    }
    for (uint32_t i = 0; i < WIDE_LIMBS; i++) {
        ret->limb[i] = product[i + WIDE_FRACTION];
    }
}

void
wide_shift(const struct wide *a, uint32_t bits, struct wide *ret)
{
    uint32_t limbs = bits / 32, rest = bits % 32;
    for (uint32_t i = 0; i < WIDE_LIMBS; i++) {
        uint64_t low = i + limbs < WIDE_LIMBS ? a->limb[i + limbs] : 0;
        uint64_t high = i + limbs + 1 < WIDE_LIMBS ? a->limb[i + limbs + 1] : 0;
        ret->limb[i] = (uint32_t)((low | (high << 32)) >> rest);
    }
}

void
wide_split(const struct wide *a, uint32_t n, struct wide *ret)
{
    uint64_t rest = 0;
    for (uint32_t i = WIDE_LIMBS; i-- > 0;) {
        rest = rest << 32 | a->limb[i];
        ret->limb[i] = (uint32_t)(rest / n);
        rest %= n;
    }
}

/* Binary long division: a's bits, then WIDE_FRACTION limbs of zeros. */
void
wide_divide(const struct wide *a, const struct wide *b, struct wide *ret)
{
    struct wide rest, quotient;
    clear(&rest);
    clear(&quotient);
    //@ loop unroll 704;
    for (uint32_t i = 32 * (WIDE_LIMBS + WIDE_FRACTION); i-- > 0;) {
        uint32_t at = i / 32;
        uint32_t bit = at < WIDE_FRACTION
                           ? 0
                           : (a->limb[at - WIDE_FRACTION] >> (i % 32)) & 1;
        wide_add(&rest, &rest, &rest);
        rest.limb[0] |= bit;
        if (!less(&rest, b)) {
            wide_subtract(&rest, b, &rest);
            if (at < WIDE_LIMBS) {
                quotient.limb[at] |= UINT32_C(1) << (i % 32);
            }
        }
    }
    *ret = quotient;
}

void
wide_ratio(uint64_t numerator, uint64_t denominator, struct wide *ret)
{
    struct wide a, b;
    clear(&a);
    clear(&b);
    a.limb[WIDE_FRACTION] = (uint32_t)numerator;
    a.limb[WIDE_FRACTION + 1] = (uint32_t)(numerator >> 32);
    b.limb[WIDE_FRACTION] = (uint32_t)denominator;
    b.limb[WIDE_FRACTION + 1] = (uint32_t)(denominator >> 32);
    wide_divide(&a, &b, ret);
}

/*
 * e^x = (e^(x/2^9))^(2^9): the Taylor series of the small power, whose terms
 * are all positive, cut where they vanish, then nine squarings. Each step
 * rounds down and every function is increasing: a lower bound. The series has
 * under 64 steps of error 2^-320; nine squarings double the relative error
 * nine times: 2^-320 * 2^7 * 2^9 < 2^-303.
 */
void
wide_exp(const struct wide *x, struct wide *ret)
{
    struct wide small, term, sum;
    wide_shift(x, 9, &small);
    wide_ratio(1, 1, &term);
    sum = term;
    for (uint32_t i = 1; !is_zero(&term); i++) {
        wide_multiply(&term, &small, &term);
        wide_split(&term, i, &term);
        wide_add(&sum, &term, &sum);
    }
    for (uint32_t i = 0; i < 9; i++) {
        wide_multiply(&sum, &sum, &sum);
    }
    *ret = sum;
}

/* Limb i, counted so that those below the last are zero. */
static uint64_t
limb_or_zero(const struct wide *a, int32_t i)
{
    return i >= 0 ? a->limb[i] : 0;
}

/*
 * The first 64 significant bits, the last of them set if anything follows: so
 * the conversion rounds once, to nearest; the rest is a power of two.
 */
double
wide_double(const struct wide *a)
{
    int32_t top = (int32_t)WIDE_LIMBS - 1;
    uint64_t bits, below = 0;
    double value;
    while (top > 0 && a->limb[top] == 0) {
        top--;
    }
    bits = limb_or_zero(a, top) << 32 | limb_or_zero(a, top - 1);
    for (int32_t i = 0; i < top - 2; i++) {
        below |= a->limb[i];
    }
    below = limb_or_zero(a, top - 2) << 32 | (below != 0);
    value = 1;
    while (bits != 0 && bits >> 63 == 0) {
        bits = bits << 1 | below >> 63;
        below <<= 1;
        value /= 2;
    }
    value *= (double)(bits | (below != 0));
    for (int32_t i = top; i < (int32_t)WIDE_FRACTION + 1; i++) {
        value /= 4294967296.0;
    }
    return value;
}
