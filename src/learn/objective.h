/*
 * objective.h: the likelihood of label reports of known inputs, what may be
 * added to it, and the gradients.
 *
 *     P0 Eq. 12      log s_n = log sum_y t_n(y) p(y | z~_n)
 *     known shares   kappa sum_y share(y) ln (share(y) / mean_n p(y | z~_n))
 *     entropy        eta mean_n sum_y -p(y | z~_n) ln p(y | z~_n)
 *
 * p are a network's probabilities, for every report of a batch; dp is the
 * gradient of scale times the sum of -log s_n.
 */
#ifndef SOTTO_LEARN_OBJECTIVE_H
#define SOTTO_LEARN_OBJECTIVE_H

#include "learn/labels.h"

#define OBJECTIVE_LEAST 1e-30 /* no likelihood counts as less */

/* Eq. 12 over n rows whose groups these are; dp, unless NULL, is set. */
double conditional_pass(const struct labels *labels, const uint32_t *group,
                        size_t n, const float *p, double scale, float *dp);

/* kappa KL(share || mean of p over its n rows); dp, unless NULL, is added
   to. */
double share_pass(const struct labels *labels, double kappa, const float *p,
                  size_t n, float *dp);

/* eta times the mean entropy of p's n rows; likewise. */
double entropy_pass(size_t classes, double eta, const float *p, size_t n,
                    float *dp);

#endif
