/*
 * scalar.h: ScalarDP (Bhowmick and others 2019, section 4.4): a number r in
 * [0, 1], rounded by lot to one of k + 1 levels, which go through k-ary
 * response.
 *
 *     J in {floor(k r), floor(k r) + 1},  E[J] = k r
 *     P(j | J) = e^eps / (e^eps + k) if j = J, 1 / (e^eps + k) if not
 *     estimate a (j - b),  a = (e^eps + k) / (k (e^eps - 1)),
 *                          b = k (k + 1) / (2 (e^eps + k))
 *
 * It is unbiased for every r.
 */
#ifndef SOTTO_IDEALISED_SCALAR_H
#define SOTTO_IDEALISED_SCALAR_H

#include "random/random.h"

#define SCALAR_LEVELS_MOST 65535u

struct scalar {
    double eps;
    double same, other; /* P(j | J), j = J and not */
    double a, b;
    uint32_t k;
    uint32_t unused;
};

/* Sets it up; eps > 0, 1 <= k <= SCALAR_LEVELS_MOST. */
void scalar_init(struct scalar *scalar, double eps, uint32_t k);
/* The second moment of the estimate, its mean over r uniform in [0, 1]. */
double scalar_spread(const struct scalar *scalar);

uint32_t scalar_draw(const struct scalar *scalar, double r,
                     struct random *random);
double scalar_log_p(const struct scalar *scalar, uint32_t j, double r);
double scalar_estimate(const struct scalar *scalar, uint32_t j);
/* E[estimate^2 | r]. */
double scalar_second(const struct scalar *scalar, double r);

#endif
