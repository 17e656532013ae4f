/*
 * odds.h: a coin with odds of m e^epsilon : n, from below.
 *
 *     h = floor_256(m E / (m E + n)),   E <= e^epsilon
 *
 * t -> t/(1-t) is increasing, so h n / ((1-h) m) <= E: rounding h and E down
 * keeps the realised epsilon at or below the stated one (invariant 2). Every
 * channel that decides one thing with e^epsilon decides it with this coin.
 */
#ifndef SOTTO_CHANNEL_ODDS_H
#define SOTTO_CHANNEL_ODDS_H

#include "base/wide.h"
#include "random/draw.h"

struct odds {
    struct draw_threshold threshold[DRAW_SMALL]; /* the first is h */
};

/* E: e^epsilon from below. */
void odds_exp(uint64_t eps, struct wide *ret);

/* 0 < m, n < 2^23. */
void odds_init(struct odds *odds, uint64_t eps, uint32_t m, uint32_t n);

/* 1 with probability h. */
uint32_t odds_draw(const struct odds *odds, struct random *random);
#define ODDS_DRAW_SIZE (DRAW_TABLES_SIZE + DRAW_SYMBOL_SIZE)

#endif
