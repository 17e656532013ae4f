/*
 * response.h: what n k-ary randomised responses cost together, exactly.
 *
 * One response to a question with k answers, at e = e^eps: the true answer
 * with probability p = e/(e+k-1), every other with q = 1/(e+k-1). Let a
 * person's true answers be a or, in the other world, b != a. The privacy loss
 * ln P(report | a) / P(report | b) is
 *
 *     +eps   report = a      probability p
 *     -eps   report = b                  q
 *      0     another                     r = (k-2) q
 *
 * whichever a and b are, so every pair is a worst pair; and exchanging a and b
 * exchanges the two worlds, so both directions cost the same. n responses have
 * the loss S eps, S a sum of n such steps, and (eps', delta) holds if and only
 * if delta is at least
 *
 *     delta(eps') = max over s of  P_a(S >= s) - e^eps' P_b(S >= s)
 *
 * because the worst event is { S eps > eps' } (Neyman and Pearson), one of
 * these. So the least eps' for a given delta is
 *
 *     eps'(delta) = max over s of  ln (P_a(S >= s) - delta) / P_b(S >= s)
 *
 * and neither needs a search. k = 2 is the worst that any mechanism with the
 * same eps can do (Kairouz, Oh and Viswanath 2015): docs/accounting.md.
 */
#ifndef SOTTO_PRIVACY_RESPONSE_H
#define SOTTO_PRIVACY_RESPONSE_H

#include <stdint.h>

/*
 * Upper bounds of eps'(delta) and delta(eps'), within one unit of 10^-12 and
 * one part in 2^190, for n >= 1 responses with k >= 2 answers at `eps` units,
 * DECIMAL_EPS_MIN to DECIMAL_EPS_MAX, n eps < 2^64. All in units. Time grows
 * with n, memory does not.
 */
uint64_t response_eps(uint64_t eps, uint32_t n, uint32_t k, uint64_t delta);
uint64_t response_delta(uint64_t eps, uint32_t n, uint32_t k, uint64_t total);

#endif
