/*
 * attributes_likelihood.h: the functions of the likelihoods of piecewise and
 * hybrid.
 */
#ifndef SOTTO_IDEALISED_ATTRIBUTES_LIKELIHOOD_H
#define SOTTO_IDEALISED_ATTRIBUTES_LIKELIHOOD_H

#include "idealised/attributes.h"

static inline const struct attributes *
attributes_of(const struct channel_instance *instance)
{
    return (const struct attributes *)instance->own;
}

void attributes_likelihood_init(struct likelihood_instance *at);
double attributes_likelihood_log_p(const struct likelihood_instance *at,
                                   const uint8_t *wire, const int32_t *q);
void attributes_likelihood_log_p_many(const struct likelihood_instance *at,
                                      const uint8_t *wire, const int32_t *q,
                                      size_t n, double *ret_log_p);
void attributes_likelihood_estimate(const struct likelihood_instance *at,
                                    const uint8_t *wire, double *ret_estimate);
void attributes_likelihood_unpack(const struct likelihood_instance *at,
                                  const uint8_t *wire, int64_t *ret_values);
bool attributes_likelihood_pack(const struct likelihood_instance *at,
                                const int64_t *values, uint8_t *ret_wire);

#define ATTRIBUTES_LIKELIHOOD(channel)                                         \
    {                                                                          \
        .name = (channel), .init = attributes_likelihood_init,                 \
        .log_p = attributes_likelihood_log_p,                                  \
        .log_p_many = attributes_likelihood_log_p_many,                        \
        .estimate = attributes_likelihood_estimate,                            \
        .unpack = attributes_likelihood_unpack,                                \
        .pack = attributes_likelihood_pack,                                    \
    }

#endif
