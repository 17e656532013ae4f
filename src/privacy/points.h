/*
 * points.h: which points are in a domain, and how far apart two are.
 */
#ifndef SOTTO_PRIVACY_POINTS_H
#define SOTTO_PRIVACY_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "channel/channel.h"

/* The distance of q from p (NULL: from the middle) in the domain's norm; for
   symbols 1 if they differ, else 0. */
double points_distance(const struct channel_instance *instance,
                       const int32_t *q, const int32_t *p);

/* Whether q lies in the domain. */
bool points_inside(const struct channel_instance *instance, const int32_t *q);

#endif
