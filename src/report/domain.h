/*
 * domain.h: from the encoder's floats into a public finite domain, by integer
 * arithmetic (invariant 1).
 */
#ifndef SOTTO_REPORT_DOMAIN_H
#define SOTTO_REPORT_DOMAIN_H

#include "channel/channel.h"

/* Puts d floats into a domain of numbers with radius l, whatever they are. */
typedef void domain_function(const float *z, uint32_t d, uint32_t l,
                             int32_t *ret_q);

domain_function domain_lattice;
domain_function domain_ball;
domain_function domain_cube;
int32_t domain_largest(const float *z, uint32_t k);

/* The name of a channel's domain in a manifest. */
const char *domain_key(enum channel_domain domain);
/* What places points in it; NULL for symbols. */
domain_function *domain_place(enum channel_domain domain);

#endif
