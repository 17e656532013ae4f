/*
 * task_water.h: how much of the range each direction gets, and the loss that
 * follows: P2's Propositions 2 to 4 and its benchmarks, in closed form.
 *
 * lambda falls and has `count` entries. c is 8 r^2 / eps^2, the noise's
 * variance where the squares of the scales add up to 1 and h lies on a sphere
 * of radius r (Eq. 46). Nothing here clips: what a mechanism does is in
 * task_code.h.
 */
#ifndef SOTTO_ENCODER_TASK_WATER_H
#define SOTTO_ENCODER_TASK_WATER_H

#include <stddef.h>

#include "sotto/sotto.h"

/* 8 r^2 / eps^2. */
double task_water_noise(double r, double eps);

/* Proposition 4 (Eq. 11, 12), M = 1: sets ret_squares[i] to sigma_i^2, 0
   beyond those kept, and returns how many are: Z. At least 1, if lambda_1 > 0.
 */
size_t task_water_fill(const double *lambda, size_t count, double c,
                       double *ret_squares);

/* Eq. 13: the loss of that. */
double task_water_loss(const double *lambda, size_t count, double c);

/* Eq. 9: sum lambda_i s2 / (square_i + s2), for any scales and noise s2. Of
   Eq. 55 too: there the squares are 0 from the Z-th on. */
double task_scale_loss(const double *lambda, const double *squares,
                       size_t count, double s2);

/* Eq. 58: n equal scales, whatever the task needs, on L = I. */
double task_agnostic_loss(const double *lambda, size_t count, double c);

/* Eq. 59: the first `kept` directions with equal scales. */
double task_equal_loss(const double *lambda, size_t count, size_t kept,
                       double c);

/*
 * Eq. 54: noise of variance s2 on x itself, the best decoder behind it:
 * tr(K C K') - tr(K C (C + s2 I)^-1 C K'). `covariance` is n rows of n, K m
 * rows of n. Statuses: MEMORY, LIMIT, INPUT.
 */
SOTTO_CHECKED enum sotto_status
task_identity_loss(const double *covariance, size_t inputs, const double *K,
                   size_t outputs, double s2, double *ret_loss,
                   struct sotto_error *err);

/*
 * The Gaussian channel (approximate LDP): its noise depends on the largest
 * scale alone, so equal scales are best, and what is to be chosen is how many
 * directions Z are kept:
 *
 *     loss(Z) = c_Z / (1 + c_Z) sum_{i <= Z} lambda_i + sum_{i > Z} lambda_i
 *     c_Z = (2 multiplier r_Z)^2
 *
 * r_Z = radius[Z - 1] bounds the first Z directions of v, and `multiplier` is
 * the noise's deviation where the sensitivity is 1. Returns the best Z, 1 to
 * count; ret_loss may be NULL.
 */
size_t task_gaussian_keep(const double *lambda, size_t count, double multiplier,
                          const double *radius, double *ret_loss);

#endif
