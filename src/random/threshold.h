/*
 * threshold.h: probabilities as 256-bit thresholds for draw_symbol.
 */
#ifndef SOTTO_RANDOM_THRESHOLD_H
#define SOTTO_RANDOM_THRESHOLD_H

#include "base/wide.h"
#include "random/draw.h"

/* p rounded down to 256 bits; p < 1 - 2^-55. */
void threshold_from(const struct wide *p, struct draw_threshold *ret);

/* 2 t, for t < 1/2. */
void threshold_double(const struct draw_threshold *t,
                      struct draw_threshold *ret);

/* t as a fixed-point number. */
void threshold_wide(const struct draw_threshold *t, struct wide *ret);

#endif
