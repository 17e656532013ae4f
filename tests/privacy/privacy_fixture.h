/*
 * privacy_fixture.h: the cost of composed mechanisms by brute force.
 *
 * Every sequence of outcomes is enumerated and its two probabilities are
 * multiplied up, at a precision beyond the library's: no theorem, no binomial
 * and no recurrence is used, so this says what the library should.
 */
#ifndef SOTTO_TESTS_PRIVACY_FIXTURE_H
#define SOTTO_TESTS_PRIVACY_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MPFR_USE_INTMAX_T
#include <mpfr.h>

#include "base/decimal.h"
#include "sotto/sotto.h"

#define PRECISION 400
#define ROUNDS_MAX 12u
#define OUTCOMES_MAX 8u

/* Rounds of a composition: outcome o of round i under either world. */
struct brute {
    size_t rounds;
    size_t outcomes[ROUNDS_MAX];
    mpfr_t p[ROUNDS_MAX][OUTCOMES_MAX], q[ROUNDS_MAX][OUTCOMES_MAX];
    mpfr_t path_p[ROUNDS_MAX + 1], path_q[ROUNDS_MAX + 1];
    mpfr_t exp, gap, sum;
};

static inline void
brute_init(struct brute *brute)
{
    brute->rounds = 0;
    for (size_t i = 0; i < ROUNDS_MAX; i++) {
        for (size_t o = 0; o < OUTCOMES_MAX; o++) {
            mpfr_inits2(PRECISION, brute->p[i][o], brute->q[i][o], NULL);
        }
    }
    for (size_t i = 0; i <= ROUNDS_MAX; i++) {
        mpfr_inits2(PRECISION, brute->path_p[i], brute->path_q[i], NULL);
    }
    mpfr_inits2(PRECISION, brute->exp, brute->gap, brute->sum, NULL);
}

static inline void
brute_clear(struct brute *brute)
{
    for (size_t i = 0; i < ROUNDS_MAX; i++) {
        for (size_t o = 0; o < OUTCOMES_MAX; o++) {
            mpfr_clears(brute->p[i][o], brute->q[i][o], NULL);
        }
    }
    for (size_t i = 0; i <= ROUNDS_MAX; i++) {
        mpfr_clears(brute->path_p[i], brute->path_q[i], NULL);
    }
    mpfr_clears(brute->exp, brute->gap, brute->sum, NULL);
    mpfr_free_cache();
}

static inline void
exact_units(mpfr_t ret, uint64_t units)
{
    mpfr_set_uj(ret, units, MPFR_RNDN);
    mpfr_div_ui(ret, ret, 1000000000000UL, MPFR_RNDN);
}

/* A k-ary response at eps: the truth is a in one world, b in the other. */
static inline void
brute_add_response(struct brute *brute, uint64_t eps, uint32_t k, size_t a,
                   size_t b)
{
    size_t i = brute->rounds++;
    mpfr_t e, all;
    assert_true(i < ROUNDS_MAX && k <= OUTCOMES_MAX);
    mpfr_inits2(PRECISION, e, all, NULL);
    exact_units(e, eps);
    mpfr_exp(e, e, MPFR_RNDN);
    mpfr_add_ui(all, e, k - 1, MPFR_RNDN);
    brute->outcomes[i] = k;
    for (size_t o = 0; o < k; o++) {
        mpfr_set_ui(brute->p[i][o], 1, MPFR_RNDN);
        mpfr_set_ui(brute->q[i][o], 1, MPFR_RNDN);
        mpfr_set(o == a ? brute->p[i][o] : brute->gap, e, MPFR_RNDN);
        mpfr_set(o == b ? brute->q[i][o] : brute->gap, e, MPFR_RNDN);
        mpfr_div(brute->p[i][o], brute->p[i][o], all, MPFR_RNDN);
        mpfr_div(brute->q[i][o], brute->q[i][o], all, MPFR_RNDN);
    }
    mpfr_clears(e, all, NULL);
}

/* The worst (eps, delta) mechanism: a binary response that with probability
   delta says the truth in clear instead, as outcome 2 or 3. */
static inline void
brute_add_leaky(struct brute *brute, uint64_t eps, uint64_t delta)
{
    size_t i = brute->rounds;
    mpfr_t kept;
    brute_add_response(brute, eps, 2, 0, 1);
    mpfr_init2(kept, PRECISION);
    exact_units(kept, DECIMAL_UNIT - delta);
    for (size_t o = 0; o < 2; o++) {
        mpfr_mul(brute->p[i][o], brute->p[i][o], kept, MPFR_RNDN);
        mpfr_mul(brute->q[i][o], brute->q[i][o], kept, MPFR_RNDN);
    }
    brute->outcomes[i] = 4;
    exact_units(brute->p[i][2], delta);
    exact_units(brute->q[i][3], delta);
    mpfr_set_ui(brute->p[i][3], 0, MPFR_RNDN);
    mpfr_set_ui(brute->q[i][2], 0, MPFR_RNDN);
    mpfr_clear(kept);
}

static inline void
brute_walk(struct brute *brute, size_t i)
{
    if (i == brute->rounds) {
        mpfr_mul(brute->gap, brute->exp, brute->path_q[i], MPFR_RNDN);
        mpfr_sub(brute->gap, brute->path_p[i], brute->gap, MPFR_RNDN);
        if (mpfr_sgn(brute->gap) > 0) {
            mpfr_add(brute->sum, brute->sum, brute->gap, MPFR_RNDN);
        }
        return;
    }
    for (size_t o = 0; o < brute->outcomes[i]; o++) {
        mpfr_mul(brute->path_p[i + 1], brute->path_p[i], brute->p[i][o],
                 MPFR_RNDN);
        mpfr_mul(brute->path_q[i + 1], brute->path_q[i], brute->q[i][o],
                 MPFR_RNDN);
        brute_walk(brute, i + 1);
    }
}

/* brute->sum := sum over outcomes of max(0, P - e^total Q). */
static inline void
brute_delta(struct brute *brute, uint64_t total)
{
    exact_units(brute->exp, total);
    mpfr_exp(brute->exp, brute->exp, MPFR_RNDN);
    mpfr_set_ui(brute->sum, 0, MPFR_RNDN);
    mpfr_set_ui(brute->path_p[0], 1, MPFR_RNDN);
    mpfr_set_ui(brute->path_q[0], 1, MPFR_RNDN);
    brute_walk(brute, 0);
}

/* x in units, and with 2^-300 to spare for the brute force's own rounding, is
   at most `units`; and if `tight`, above units - 1. */
static inline void
assert_bounds(mpfr_t x, uint64_t units, int tight)
{
    mpfr_t scaled, spare;
    mpfr_inits2(PRECISION, scaled, spare, NULL);
    mpfr_mul_ui(scaled, x, 1000000000000UL, MPFR_RNDN);
    mpfr_set_ui_2exp(spare, 1, -300, MPFR_RNDN);
    mpfr_sub(scaled, scaled, spare, MPFR_RNDN);
    mpfr_set_uj(spare, units, MPFR_RNDN);
    assert_true(mpfr_cmp(scaled, spare) <= 0);
    if (tight && units > 0) {
        mpfr_sub_ui(spare, spare, 1, MPFR_RNDN);
        assert_true(mpfr_cmp(scaled, spare) > 0);
    }
    mpfr_clears(scaled, spare, NULL);
}

#endif
