/*
 * symbols.h: what flip and subset share: a report that names w of k symbols,
 * the true one among them with probability h. (signs names symbols too, by
 * other odds.)
 *
 *     h = floor_256(w E / (w E + k - w)),   E <= e^epsilon
 *
 * For a report S of w symbols,
 *     p(S | q) = h / C(k-1, w-1)      if q in S,
 *                (1-h) / C(k-1, w)    if not,
 * so the largest ratio is h (k-w) / ((1-h) w) <= E: rounding h and E down
 * keeps the realised epsilon at or below the stated one (invariant 2).
 */
#ifndef SOTTO_CHANNEL_SYMBOLS_H
#define SOTTO_CHANNEL_SYMBOLS_H

#include "channel/channel.h"
#include "channel/odds.h"

struct symbols {
    uint32_t w;
    /* Whether a report names symbol i: the one thing the two differ in. */
    uint32_t (*names)(const struct channel_instance *instance,
                      const uint8_t *wire, uint32_t i);
    struct odds odds; /* h: the true symbol is to be named */
};

/* Fills `symbols` but for `names`, for this w. */
void symbols_init(struct channel_instance *instance, struct symbols *symbols,
                  uint32_t w);

/* The w in {1, ..., k-1} that minimises the variance of a frequency. */
uint32_t symbols_best_w(uint32_t k, uint64_t eps);

/* Whether a report names w symbols. */
bool symbols_valid(const struct channel_instance *instance,
                   const uint8_t *wire);
static inline const struct symbols *
symbols_of(const struct channel_instance *instance)
{
    return (const struct symbols *)instance->own;
}

#endif
