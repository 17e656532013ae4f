/*
 * window.h: what the channel window and its likelihood both use.
 */
#ifndef SOTTO_CHANNEL_WINDOW_H
#define SOTTO_CHANNEL_WINDOW_H

#include "channel/channel.h"
#include "channel/odds.h"

struct window {
    struct odds odds;
    uint32_t w;
};

/* a = e^epsilon - 1. */
double window_excess(uint64_t eps);
/* The largest variance of the estimate. */
double window_variance(uint32_t l, uint32_t w, double a);
/* A report as the number that it is. */
int64_t window_value(const struct channel_instance *instance,
                     const uint8_t *wire);

#endif
