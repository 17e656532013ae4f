/*
 * group.h: the share of a set of symbols, as one report estimates it.
 */
#ifndef SOTTO_LIKELIHOOD_GROUP_H
#define SOTTO_LIKELIHOOD_GROUP_H

#include "likelihood/likelihood.h"

/*
 * Sets the variance of the sum of `size` symbols' estimates (1 to k), if the
 * truth is one of them and if it is not (docs/plan.md): `variance_true` and
 * `variance_other` for one symbol. False for a channel that tells of no share
 * by itself (signs), and for one of numbers.
 */
bool group_variances(const struct likelihood_instance *at, uint32_t size,
                     double *ret_true, double *ret_other);
/* The least and the largest estimate of such a sum that a valid report can
   give, and the size of the larger: `low`, `high` and `most` for one symbol.
   For channels that group_variances takes. */
void group_ends(const struct likelihood_instance *at, uint32_t size,
                double *ret_low, double *ret_high);
double group_most(const struct likelihood_instance *at, uint32_t size);

#endif
