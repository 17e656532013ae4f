/*
 * ratio.h: a ratio of two means, with Fieller's interval (1954).
 *
 * Of n independent pairs (u, v) the ratio E[u] / E[v] is theta if and only if
 * u - theta v has mean 0. So the theta that cannot be ruled out are those with
 *
 *     (u' - theta v')^2 <= t^2 (s_uu - 2 theta s_uv + theta^2 s_vv) / n
 *
 * for the means u', v' and the sample covariance s. It is an interval where v'
 * can be told from 0 (v'^2 > t^2 s_vv / n) and else unbounded: nothing is ruled
 * out, whatever the sample's own ratio is. docs/missing.md has the derivation.
 *
 * The noise in each of the two is known, independent and of one variance: what
 * it alone leaves open, s_uu = s_vv = noise^2 and s_uv = 0 with the normal
 * quantile z, is never ruled out either.
 */
#ifndef SOTTO_MECHANISM_RATIO_H
#define SOTTO_MECHANISM_RATIO_H

#include <stdbool.h>

struct ratio_moments {
    double n;                                     /* pairs, at least 2 */
    double above, below;                          /* the means of u and v */
    double above_above, above_below, below_below; /* sample covariance */
    double noise; /* deviation of the noise in each */
    double bias;  /* the most that the mean of each can be off; |theta| <= 1 */
};

struct ratio {
    double value; /* NaN where the mean of v is not above 0 */
    double low, high;
    bool bounded;           /* else low and high are infinite */
    double noise_deviation; /* of `value`, to first order; infinite likewise */
};

/* The farthest that a ratio with `above` and `below` within these distances of
   its own can lie from it; INFINITY where `below` may be 0. */
double ratio_reach(double above, double below, double above_off,
                   double below_off);

/* t is Student's quantile for n - 1 degrees of freedom, z the normal one. */
void ratio_estimate(const struct ratio_moments *moments, double t, double z,
                    struct ratio *ret);

#endif
