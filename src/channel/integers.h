/*
 * integers.h: reports that are d integers, noise added to the point.
 *
 * What the channels laplace and gaussian share: the sum of point and noise is
 * clamped to [-clamp, clamp] and written as d integers of 2, 4 or 8 bytes,
 * two's complement, little-endian. A channel's own parameters begin with a
 * struct integers.
 */
#ifndef SOTTO_CHANNEL_INTEGERS_H
#define SOTTO_CHANNEL_INTEGERS_H

#include "channel/channel.h"

struct integers {
    int64_t clamp;  /* c; clamping the sum is post-processing */
    uint32_t width; /* bytes of an integer */
};

/* Sets `integers`, and the sizes of the instance's report. */
void integers_init(struct integers *integers, int64_t clamp,
                   struct channel_instance *instance);

/* Integer i of a report. */
int64_t integers_at(const struct integers *integers, const uint8_t *wire,
                    uint32_t i);
/* Clamps y and writes it as integer i, in steps that do not depend on it. */
void integers_put(const struct integers *integers, uint8_t *wire, uint32_t i,
                  int64_t y);

bool integers_valid(const struct channel_instance *instance,
                    const uint8_t *wire);

#endif
