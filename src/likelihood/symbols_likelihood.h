/*
 * symbols_likelihood.h: what reports that name symbols (channel/symbols.h)
 * say. For a report S of w of k symbols,
 *
 *     p(S | q) = h / C(k-1, w-1)      if q in S,
 *                (1-h) / C(k-1, w)    if not.
 *
 * The functions are those of a struct likelihood; signs, which names symbols by
 * other odds, shares log p.
 */
#ifndef SOTTO_LIKELIHOOD_SYMBOLS_LIKELIHOOD_H
#define SOTTO_LIKELIHOOD_SYMBOLS_LIKELIHOOD_H

#include "channel/symbols.h"
#include "likelihood/likelihood.h"

enum {
    SYMBOLS_LOG_IN = 0,     /* ln p(S | q), q in S */
    SYMBOLS_LOG_OUT = 1,    /* ln p(S | q), q not in S */
    SYMBOLS_GAP = 2,        /* P(the true one named) - rate_other */
    SYMBOLS_RATE_OTHER = 3, /* P(another given symbol named) = (w-h)/(k-1) */
};

/* Sets all of it, for flip and subset. */
void symbols_likelihood_init(struct likelihood_instance *at);

/* Finds the epsilon of flip and subset: h (k-w) / ((1-h) w). */
uint64_t symbols_realised(const struct channel_instance *instance);

/* ln C(n, m). */
double symbols_log_binomial(uint32_t n, uint32_t m);

double symbols_log_p(const struct likelihood_instance *at, const uint8_t *wire,
                     const int32_t *q);
void symbols_log_p_many(const struct likelihood_instance *at,
                        const uint8_t *wire, const int32_t *q, size_t n,
                        double *ret_log_p);
void symbols_estimate(const struct likelihood_instance *at, const uint8_t *wire,
                      double *ret_estimate);
/* The mean of such estimates: that of how often each symbol is named. */
void symbols_mean(const struct likelihood_instance *at, const uint64_t *count,
                  uint64_t n, double *ret_mean);
/* Lists the symbols named, in increasing order. */
void symbols_unpack(const struct likelihood_instance *at, const uint8_t *wire,
                    int64_t *ret_values);
/* Tells whether `values` are w symbols in increasing order. */
bool symbols_listed(const struct likelihood_instance *at,
                    const int64_t *values);

#endif
