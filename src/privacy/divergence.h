/*
 * divergence.h: how far apart the reports of any two points are, exactly.
 */
#ifndef SOTTO_PRIVACY_DIVERGENCE_H
#define SOTTO_PRIVACY_DIVERGENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "privacy/weights.h"

struct divergence {
    bool within;  /* the claim holds, compared as integers */
    double eps;   /* pure: the largest ln p(r|q)/p(r|q'), infinite where only
                     one of them is 0; else the epsilon at which the stated
                     delta is met. The double nearest to it */
    double delta; /* the largest sum of p(r|q) - e^eps p(r|q') over the reports
                     where that is positive, at the stated epsilon; pure: 0 */
};

/*
 * Of tables where every point's weights have the same sum; eps and delta in
 * units of 10^-12. The claim for the first is p(r|q) <= e^eps p(r|q') for all
 * r, q, q'; for the second, P(E|q) <= e^eps P(E|q') + delta for all E, q, q'.
 * Statuses of the second: MEMORY.
 */
void divergence_pure(const struct weights *weights, uint64_t eps,
                     struct divergence *ret);
SOTTO_CHECKED enum sotto_status
divergence_approximate(const struct weights *weights, uint64_t eps,
                       uint64_t delta, struct divergence *ret);

#endif
