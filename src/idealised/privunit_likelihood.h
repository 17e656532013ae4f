/*
 * privunit_likelihood.h: the functions of the likelihoods of privunit2 and
 * privunitg.
 */
#ifndef SOTTO_IDEALISED_PRIVUNIT_LIKELIHOOD_H
#define SOTTO_IDEALISED_PRIVUNIT_LIKELIHOOD_H

#include "idealised/privunit.h"

static inline const struct privunit *
privunit_of(const struct channel_instance *instance)
{
    return (const struct privunit *)instance->own;
}

void privunit_likelihood_init(struct likelihood_instance *at);
double privunit_likelihood_log_p(const struct likelihood_instance *at,
                                 const uint8_t *wire, const int32_t *q);
void privunit_likelihood_log_p_many(const struct likelihood_instance *at,
                                    const uint8_t *wire, const int32_t *q,
                                    size_t n, double *ret_log_p);
void privunit_likelihood_estimate(const struct likelihood_instance *at,
                                  const uint8_t *wire, double *ret_estimate);
void privunit_likelihood_unpack(const struct likelihood_instance *at,
                                const uint8_t *wire, int64_t *ret_values);
bool privunit_likelihood_pack(const struct likelihood_instance *at,
                              const int64_t *values, uint8_t *ret_wire);

#define PRIVUNIT_LIKELIHOOD(channel)                                           \
    {                                                                          \
        .name = (channel), .init = privunit_likelihood_init,                   \
        .log_p = privunit_likelihood_log_p,                                    \
        .log_p_many = privunit_likelihood_log_p_many,                          \
        .estimate = privunit_likelihood_estimate,                              \
        .unpack = privunit_likelihood_unpack,                                  \
        .pack = privunit_likelihood_pack,                                      \
    }

#endif
