/*
 * gaussian.h: the parameters of the channel gaussian.
 */
#ifndef SOTTO_CHANNEL_GAUSSIAN_H
#define SOTTO_CHANNEL_GAUSSIAN_H

#include "channel/integers.h"
#include "random/dgauss.h"

struct gaussian {
    struct integers integers;
    uint32_t tries_run;  /* of a full run of coordinates */
    uint32_t tries_last; /* of those left over, if any */
    struct dgauss noise; /* its t is 256 sigma */
};

#endif
