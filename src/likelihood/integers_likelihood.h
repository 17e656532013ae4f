/*
 * integers_likelihood.h: what laplace and gaussian share of reports that are d
 * integers (channel/integers.h): the report is the estimate, and its integers
 * are those for people.
 */
#ifndef SOTTO_LIKELIHOOD_INTEGERS_LIKELIHOOD_H
#define SOTTO_LIKELIHOOD_INTEGERS_LIKELIHOOD_H

#include "channel/integers.h"
#include "likelihood/likelihood.h"

static inline const struct integers *
integers_of(const struct likelihood_instance *at)
{
    return (const struct integers *)at->instance->own;
}

/* Tells whether y is at the clamp, where log p is a tail. */
bool integers_clamped(const struct likelihood_instance *at, int64_t y);

/* Sets `low` to `mean_high`: the clamp, and the ends of the domain. */
void integers_set_ends(struct likelihood_instance *at);
void integers_estimate(const struct likelihood_instance *at,
                       const uint8_t *wire, double *ret_estimate);
void integers_unpack(const struct likelihood_instance *at, const uint8_t *wire,
                     int64_t *ret_values);
bool integers_pack(const struct likelihood_instance *at, const int64_t *values,
                   uint8_t *ret_wire);

#endif
