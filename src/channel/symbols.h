/*
 * symbols.h: what flip and subset share: a report that names w of k symbols,
 * the true one among them with probability h.
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
#include "random/draw.h"

struct symbols {
    uint32_t w;
    struct draw_threshold threshold[DRAW_SMALL]; /* the first is h */
    double log_in;                               /* ln p(S | q), q in S */
    double log_out;                              /* ln p(S | q), q not in S */
    double rate_in;                              /* P(true symbol named) = h */
    double rate_other; /* P(another given symbol named) = (w-h)/(k-1) */
};

/* Fills `symbols` and the instance's epsilon and moments, for this w. */
void symbols_init(struct channel_instance *instance, struct symbols *symbols,
                  uint32_t w);

/* The w in {1, ..., k-1} that minimises the variance of a frequency. */
uint32_t symbols_best_w(uint32_t k, uint64_t eps);

/* 1 with probability h: the true symbol is to be named. */
uint32_t symbols_draw_hit(const struct symbols *symbols, struct random *random);
#define SYMBOLS_HIT_SIZE (DRAW_TABLES_SIZE + DRAW_SYMBOL_SIZE)

/* The estimate of a symbol's indicator, if it is named and if it is not. */
double symbols_estimate(const struct symbols *symbols, bool named);

#endif
