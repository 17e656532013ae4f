/*
 * real.h: real numbers of 256 bits whose every rounding has a known side.
 *
 * MPFR does the arithmetic, on the stack: its own exp and log take memory from
 * the heap and end the program when there is none, so here e^x comes from
 * base/wide.h, and logarithms are found by trying exponents. Of MPFR only what
 * stays off the heap at this precision is used: + - * / sqrt, comparisons,
 * rounding to an integer, conversions from integers and to double
 * (tests/privacy/test_real.c watches the allocator).
 *
 * "Units" are base/decimal.h's: whole multiples of 10^-12.
 */
#ifndef SOTTO_PRIVACY_REAL_H
#define SOTTO_PRIVACY_REAL_H

#include <stdint.h>

#define MPFR_USE_INTMAX_T
#include <mpfr.h>

#define REAL_PRECISION 256

/* A number and the memory of its digits. It must not be copied or moved. */
struct real {
    mpfr_t value;
    mp_limb_t limb[REAL_PRECISION / GMP_NUMB_BITS];
};

/* Makes them 0: REAL_INIT(&x, &y). There is nothing to clear. */
#define REAL_INIT(...) real_init((struct real *const[]){__VA_ARGS__, NULL})
void real_init(struct real *const *x);

/* units / 10^12. */
void real_set_units(mpfr_ptr ret, uint64_t units, mpfr_rnd_t side);
/* The least number of units not below x; 0 for x <= 0, UINT64_MAX for what is
   beyond. */
uint64_t real_units_up(mpfr_srcptr x);

/* A bound of x^n for x >= 0, on the side asked for. */
void real_power(mpfr_ptr ret, mpfr_srcptr x, uint32_t n, mpfr_rnd_t side);

/* Bounds of e^(units / 10^12), within 2^-190 of it relatively. */
void real_exp_down(mpfr_ptr ret, uint64_t units);
void real_exp_up(mpfr_ptr ret, uint64_t units);

/*
 * An upper bound of ln x in units, at most one unit above ln x rounded up; 0
 * for x <= 1. Of an x >= e^most, `most`.
 */
uint64_t real_log_up(mpfr_srcptr x, uint64_t most);

#endif
