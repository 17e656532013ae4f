/*
 * symbols.h: what flip and subset share: a report that names w of k symbols,
 * the true one among them with probability h. (signs names symbols too, by
 * other odds, and has its likelihoods from here.)
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
    struct odds odds;  /* h: the true symbol is to be named */
    double log_in;     /* ln p(S | q), q in S */
    double log_out;    /* ln p(S | q), q not in S */
    double rate_other; /* P(another given symbol named) = (w-h)/(k-1) */
};

/* Fills `symbols` and the instance's epsilon and moments, for this w. */
void symbols_init(struct channel_instance *instance, struct symbols *symbols,
                  uint32_t w);

/* The w in {1, ..., k-1} that minimises the variance of a frequency. */
uint32_t symbols_best_w(uint32_t k, uint64_t eps);

/* ln C(n, m). */
double symbols_log_binomial(uint32_t n, uint32_t m);

/* The collector's half of both channels, by `names` alone: see channel.h. */
bool symbols_valid(const struct channel_instance *instance,
                   const uint8_t *wire);
double symbols_log_p(const struct channel_instance *instance,
                     const uint8_t *wire, const int32_t *q);
void symbols_log_p_many(const struct channel_instance *instance,
                        const uint8_t *wire, const int32_t *q, size_t n,
                        double *ret_log_p);
void symbols_estimate(const struct channel_instance *instance,
                      const uint8_t *wire, double *ret_estimate);
/* The symbols named, in increasing order. */
void symbols_unpack(const struct channel_instance *instance,
                    const uint8_t *wire, int64_t *ret_values);
/* Whether `values` are w symbols in increasing order. */
bool symbols_listed(const struct channel_instance *instance,
                    const int64_t *values);

static inline const struct symbols *
symbols_of(const struct channel_instance *instance)
{
    return (const struct symbols *)instance->own;
}

#endif
