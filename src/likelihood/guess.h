/*
 * guess.h: what a guess about a person can become, for the folders that say it
 * in words. The functions themselves are sotto/accounting.h's.
 *
 * The guesses that pages speak of: 1 in 2, 1 in 10, 1 in 1,000.
 */
#ifndef SOTTO_LIKELIHOOD_GUESS_H
#define SOTTO_LIKELIHOOD_GUESS_H

#include <stddef.h>
#include <stdint.h>

#define GUESS_SHOWN ((size_t)3)
extern const uint64_t guess_shown[GUESS_SHOWN];

/* What `reports` reports of (eps, delta), both in units of 10^-12, come to
   together, by adding up: at most UINT64_MAX, and a delta of 1. */
void guess_add_up(uint64_t eps, uint64_t delta, uint32_t reports,
                  uint64_t *ret_eps, uint64_t *ret_delta);

/* A share in units, rounded up: not below what was to be computed even where
   the double is 10^-14 below that. At most SOTTO_UNIT. */
uint64_t guess_round_up(double share);

#endif
