/*
 * privunit.h: what privunit2 and privunitg share: a vector of a ball, its
 * direction by a cap (cap.h) at a part of epsilon, its length by ScalarDP
 * (scalar.h) at the rest.
 *
 *     x = q / l = r u,  |u| = 1      report (V, j)
 *     log_p = ln p(V | u) + ln P(j | r)
 *     estimate = (V / m) a (j - b), unbiased: V and j are independent given x
 *
 * Direction has e of epsilon, and ScalarDP k levels, where
 *
 *     E|V/m|^2 at e  times  E[(a (j - b))^2] at epsilon - e, its mean over
 *                           lengths r uniform in [0, 1]
 *
 * is least: the estimate's variance and mean square differ by r^2 alone. The
 * papers do not say how they share epsilon. At x = 0 there is no direction: V
 * is of the law P itself, whose density lies between low and high.
 */
#ifndef SOTTO_IDEALISED_PRIVUNIT_H
#define SOTTO_IDEALISED_PRIVUNIT_H

#include "idealised/cap.h"
#include "idealised/idealised.h"
#include "idealised/scalar.h"

struct privunit {
    struct cap cap;
    struct scalar scalar;
    enum cap_law law;
    uint32_t unused;
};

/* Sets both up where epsilon is shared best, for d = size. Statuses: LIMIT (d
   is 1: a direction needs two numbers). */
SOTTO_CHECKED enum sotto_status privunit_init(struct channel_instance *instance,
                                              struct privunit *own,
                                              enum cap_law law);
/* What is minimised, with `share` of epsilon for the direction and k levels;
   and sets the two up so. */
double privunit_spread(struct privunit *own, enum cap_law law, uint32_t d,
                       double eps, double share, uint32_t k);

void privunit_sample(const struct channel_instance *instance, const int32_t *q,
                     struct random *random, uint8_t *ret_wire);
bool privunit_valid(const struct channel_instance *instance,
                    const uint8_t *wire);
double privunit_variance(const struct likelihood_instance *at,
                         const int32_t *q);

extern const struct channel idealised_privunit2, idealised_privunitg;
extern const struct likelihood idealised_privunit2_likelihood,
    idealised_privunitg_likelihood;

#endif
