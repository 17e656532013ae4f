/*
 * attributes.h: what piecewise and hybrid share: a few attributes of a vector
 * in a cube, each through a channel for one number (Wang and others 2019,
 * Algorithms 2 to 4).
 *
 *     x = q / l in [-1, 1]^d,   k of d attributes by lot, each at eps / k
 *
 * One number x goes, with probability alpha, through the piecewise mechanism,
 * of density, for C = (e^(eps/2) + 1) / (e^(eps/2) - 1),
 *
 *     p(t | x) = e^eps p    l(x) <= t <= l(x) + C - 1
 *                p          else in [-C, C]
 *     l(x) = ((C + 1) x - (C - 1)) / 2,   p = (1 - e^(-eps/2)) / (2 e^(eps/2)
 *                                             + 2)
 *
 * and else through Duchi's of one number: t = D or -D, P(D | x) = (1 + x/D)/2,
 * D = (e^eps + 1) / (e^eps - 1). Both are unbiased, and a mixture whose weights
 * no x changes keeps epsilon. A report is the k attributes in rising order,
 * each with its t; the estimate of attribute j is (d/k) t_j, 0 if it is not
 * there. log_p is with respect to the length of t, and the count of D and -D.
 */
#ifndef SOTTO_IDEALISED_ATTRIBUTES_H
#define SOTTO_IDEALISED_ATTRIBUTES_H

#include "idealised/idealised.h"

#define ATTRIBUTES_ENTRY 12u /* bytes: which (4), and t (8) */

struct attributes {
    double eps;   /* of one attribute */
    double alpha; /* how often its channel is the piecewise one */
    double C, D;
    double centre;          /* P(t in [l(x), l(x) + C - 1]) of that one */
    double log_in, log_out; /* ln (alpha e^eps p), ln (alpha p) */
    double log_subset;      /* -ln of how many subsets of k there are */
    uint32_t k;
    uint32_t unused;
};

/* Fills `own` and the instance, k = max(1, min(d, floor(eps / 2.5))). */
void attributes_init(struct channel_instance *instance, struct attributes *own,
                     uint32_t k, double alpha);
uint32_t attributes_k(const struct channel_instance *instance);

/* One number: draws t, its log density, and E[t^2 | x]. */
double attributes_draw(const struct attributes *own, double x,
                       struct random *random);
double attributes_log_p(const struct attributes *own, double t, double x);
double attributes_second(const struct attributes *own, double x);

/* The functions of both channels and likelihoods. */
void attributes_sample(const struct channel_instance *instance,
                       const int32_t *q, struct random *random,
                       uint8_t *ret_wire);
bool attributes_valid(const struct channel_instance *instance,
                      const uint8_t *wire);
double attributes_variance(const struct likelihood_instance *at,
                           const int32_t *q);

extern const struct channel idealised_piecewise, idealised_hybrid;
extern const struct likelihood idealised_piecewise_likelihood,
    idealised_hybrid_likelihood;

#endif
