/*
 * guess.c: what a guess about a person can become.
 *
 * S is anything that is true or false of a person's records, and p what
 * somebody thinks its chance is before a report r is seen. By Bayes the odds
 * p : 1 - p are multiplied by p(r | S) / p(r | not S). Both are means of
 * p(r | x), over the records of which S is true and over the others, so their
 * ratio is within e^-epsilon and e^epsilon whatever the two priors are. With
 * p = 1 / K:
 *
 *     1 / (1 + (K - 1) e^epsilon) <= P(S | r) <= 1 / (1 + (K - 1) e^-epsilon).
 *
 * m reports multiply the odds m times: epsilon is then the sum.
 * docs/threat-model.md, "What a guess can become", has the argument and what
 * delta adds.
 *
 * Rounding: (K - 1) e^-epsilon is off by less than 10^-14 of itself where it is
 * near 1, and the share by less, which is 0.01 units. The margin is twice that.
 */
#include "likelihood/guess.h"

#include <assert.h>
#include <math.h>

#include "base/checked.h"
#include "sotto/sotto.h"

#define MARGIN 0.02                     /* of a unit */
#define ONE_IN_MOST (UINT64_C(1) << 53) /* whole numbers that doubles have */

const uint64_t guess_shown[GUESS_SHOWN] = {2, 10, 1000};

/* (K - 1) e^(sign epsilon). */
static double
odds_against(uint64_t one_in, uint64_t eps, int sign)
{
    assert(one_in >= 2 && one_in <= ONE_IN_MOST);
    return (double)(one_in - 1) *
           exp(sign * ((double)eps / (double)SOTTO_UNIT));
}

uint64_t
guess_round_up(double share)
{
    double units = ceil((double)SOTTO_UNIT * share + MARGIN);
    return units < (double)SOTTO_UNIT ? (uint64_t)units : SOTTO_UNIT;
}

uint64_t
sotto_guess_most(uint64_t one_in, uint64_t eps)
{
    return guess_round_up(1 / (1 + odds_against(one_in, eps, -1)));
}

uint64_t
sotto_guess_least(uint64_t one_in, uint64_t eps)
{
    double share = 1 / (1 + odds_against(one_in, eps, 1));
    double units = floor((double)SOTTO_UNIT * share - MARGIN);
    return units > 0 ? (uint64_t)units : 0;
}

void
guess_add_up(uint64_t eps, uint64_t delta, uint32_t reports, uint64_t *ret_eps,
             uint64_t *ret_delta)
{
    uint64_t sum = checked_multiply(delta, reports);
    *ret_eps = checked_multiply(eps, reports);
    *ret_delta = sum < SOTTO_UNIT ? sum : SOTTO_UNIT;
}
