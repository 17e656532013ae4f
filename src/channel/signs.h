/*
 * signs.h: the parameters of the channel signs.
 */
#ifndef SOTTO_CHANNEL_SIGNS_H
#define SOTTO_CHANNEL_SIGNS_H

#include "channel/symbols.h"

struct signs {
    struct symbols symbols; /* first: symbols_of. w is not used */
    uint32_t k[2];
    uint32_t bytes; /* of a's bitmap */
};

/* Signs drawn for k that are sent, the one held fixed not among them. */
static inline uint32_t
signs_drawn(uint32_t k)
{
    return k - 1 + k % 2;
}

#endif
