/*
 * inside.h: whether a point lies in a domain of numbers.
 *
 * A device forces its point into the domain (report/domain.h); this asks it of
 * points that come from a file.
 */
#ifndef SOTTO_MECHANISM_INSIDE_H
#define SOTTO_MECHANISM_INSIDE_H

#include <stddef.h>

#include "channel/channel.h"

/* Whether q of d numbers, at most CHANNEL_D_MAX, is in the lattice, ball or
   cube of radius l, at most CHANNEL_L_MAX. Any integers are answered for. */
bool inside_domain(enum channel_domain domain, size_t d, size_t l,
                   const int32_t *q);

#endif
