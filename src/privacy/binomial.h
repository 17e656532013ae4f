/*
 * binomial.h: Clopper-Pearson bounds on a proportion.
 */
#ifndef SOTTO_PRIVACY_BINOMIAL_H
#define SOTTO_PRIVACY_BINOMIAL_H

#include <stdint.h>

/*
 * The p below (above) which a proportion lies with probability at most alpha
 * when k of n were seen: the bounds of Clopper and Pearson (1934), exact for
 * every n and p, rounded outwards. 0 <= k <= n, n > 0, 0 < alpha < 1.
 */
double binomial_lower(uint64_t k, uint64_t n, double alpha);
double binomial_upper(uint64_t k, uint64_t n, double alpha);

#endif
