/*
 * dgauss.h: the discrete Gaussian distribution, in fixed work.
 *
 *     P(X = x) proportional to e^(-x^2 / 2 sigma^2),   x any integer,
 *
 * for sigma = t/256, t an integer: so every exponent is a ratio of integers.
 * Drawn by rejection from a discrete Laplace (Canonne, Kamath and Steinke
 * 2020, Algorithm 3, with another proposal) and conditioned on |X| <= horizon.
 * What comes out is within 2^-182 of P in total variation if the horizon is
 * 16 sigma or more (docs/channels.md has the bound).
 */
#ifndef SOTTO_RANDOM_DGAUSS_H
#define SOTTO_RANDOM_DGAUSS_H

#include <stdint.h>

#include "random/dlaplace.h"
#include "random/draw.h"

#define DGAUSS_UNIT 256u        /* t of sigma = 1 */
#define DGAUSS_T_MIN 64u        /* sigma = 1/4 */
#define DGAUSS_T_MAX (1u << 26) /* sigma = 2^18 */
#define DGAUSS_NEED_MAX (1u << 23)
#define DGAUSS_RUN_MAX 256u   /* samples drawn together */
#define DGAUSS_DIGITS_MAX 13u /* base 32, of a number below 2^65 */

struct dgauss {
    uint32_t t;            /* 256 sigma */
    uint32_t digits;       /* of the squares that acceptance looks at */
    double accepted;       /* a lower bound of an attempt's probability */
    struct dlaplace noise; /* the proposal; its horizon is this one's */
    struct draw_threshold threshold[DGAUSS_DIGITS_MAX * DRAW_FULL];
};

/* DGAUSS_T_MIN <= t <= DGAUSS_T_MAX; a horizon of `need` or somewhat more,
   need <= DGAUSS_NEED_MAX and 64 sigma. */
void dgauss_init(struct dgauss *noise, uint32_t t, uint64_t need);

/*
 * Attempts that draw `count` samples, 1 to DGAUSS_RUN_MAX: fewer are accepted
 * with probability below 2^-82, so below 2^-66 in the 2^16 runs that the
 * largest report has.
 */
uint32_t dgauss_tries(const struct dgauss *noise, uint32_t count);

/* Bytes that drawing with so many attempts takes. */
uint32_t dgauss_draw_size(const struct dgauss *noise, uint32_t tries);

/*
 * `count` samples in `tries` attempts (dgauss_tries). ret_x has room for
 * count + 1; the last is scratch, to be wiped with the others.
 */
void dgauss_draw(const struct dgauss *noise, struct random *random,
                 uint32_t count, uint32_t tries, int64_t *ret_x);

#endif
