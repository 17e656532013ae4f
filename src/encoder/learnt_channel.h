/*
 * learnt_channel.h: what a learnt representation goes through: the channel that
 * the mechanism names, and what stands for it while an encoder learns.
 *
 *     channel    domain    training clips h to               and adds
 *     laplace    lattice   |z|_1 <= l:  h min(1, l / |h|_1)  Laplace noise
 *     gaussian   ball      |z|_2 <= l:  h min(1, l / |h|_2)  normal noise
 *     duchi      cube      each |z_i| <= l, by itself        normal noise
 *
 * The clip is the device's own (report/domain.h), in floats. Nothing about
 * privacy rests on it. Which noise, and why: docs/variational.md.
 */
#ifndef SOTTO_ENCODER_LEARNT_CHANNEL_H
#define SOTTO_ENCODER_LEARNT_CHANNEL_H

#include "encoder/learnt.h"

/* ---- Settings ------------------------------------------------------------ */

/* Whether training under the channel's noise can be that of a report at this
   epsilon: any for laplace, else one that a device would take. Statuses: USAGE.
 */
SOTTO_CHECKED enum sotto_status
learnt_channel_check_pre(const struct learnt_settings *set, double eps_pre,
                         struct sotto_error *err);

/* Sets learnt->channel and learnt->delta from the settings, which are checked.
   Statuses: LIMIT (no device could make the noise), MEMORY. */
SOTTO_CHECKED enum sotto_status learnt_channel_begin(struct learnt *learnt,
                                                     struct sotto_error *err);

/* The channel that settings name, which are checked. */
const struct channel *learnt_channel_of(const struct learnt_settings *set);

/* What is said of an idealised channel (invariant 2), behind its name; of any
   other "". */
const char *learnt_channel_note(const char *given);

/* ---- Clip ---------------------------------------------------------------- */

/* The norm whose unit ball the domain is: L1, L2, or the largest. */
double learnt_norm(enum channel_domain domain, const float *h, size_t d);

/* z, n rows of d: h clipped to radius l. */
void learnt_clip(enum channel_domain domain, struct tensor_backend *backend,
                 size_t n, size_t d, double l, const float *h, float *z);

/* dh from dz, with the h that was clipped: the gradient, but that in a cube
   what leads back in counts as if it were inside. */
void learnt_clip_back(enum channel_domain domain,
                      struct tensor_backend *backend, size_t n, size_t d,
                      double l, const float *h, const float *dz, float *dh);

/* ---- Noise --------------------------------------------------------------- */

/* Noise of scale 1: of a Laplace density, or of a deviation. As noise.h has
   it. */
void learnt_noise(enum channel_domain domain, uint64_t seed, uint32_t epoch,
                  uint32_t row, size_t d, float *ret_noise);

/*
 * What noise is multiplied by, so that z in radius l has that of a report of d
 * numbers at eps_pre: 2l / eps_pre, or the deviation of the channel's own
 * estimate. Statuses: LIMIT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
learnt_noise_scale(const struct learnt *learnt, size_t d, double l,
                   double eps_pre, double *ret_scale, struct sotto_error *err);

/* The variance of a number's estimate from a report at eps_x, where the
   domain's radius is 1. Statuses: LIMIT, MEMORY. */
SOTTO_CHECKED enum sotto_status learnt_noise_ratio(const struct learnt *learnt,
                                                   size_t d, double *ret_ratio,
                                                   struct sotto_error *err);

/* ---- From z to the domain ------------------------------------------------ */

/* Number i of z of a row, before any scaling. */
typedef double learnt_entry_fn(const void *context, size_t row, size_t i);

/*
 * What each of d numbers is multiplied by, so that the share `inside` of the n
 * rows is not clipped: one factor for all of them, by the domain's norm; in a
 * cube, which clips each by itself, each its own. Statuses: MEMORY.
 */
SOTTO_CHECKED enum sotto_status
learnt_find_scales(enum channel_domain domain, size_t n, size_t d,
                   double inside, learnt_entry_fn *entry, const void *context,
                   double *ret_scale, struct sotto_error *err);

#endif
