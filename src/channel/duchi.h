/*
 * duchi.h: what the channel duchi and its likelihood both compute.
 */
#ifndef SOTTO_CHANNEL_DUCHI_H
#define SOTTO_CHANNEL_DUCHI_H

#include "random/draw.h"

struct duchi {
    /* Two tables, of one threshold each: h, then 2(1-h). */
    struct draw_threshold threshold[2 * DRAW_SMALL];
    uint32_t tries;
};

/* b = C(n, n/2) / 2^n, n even. */
double duchi_central(uint32_t n);

#endif
