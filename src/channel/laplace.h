/*
 * laplace.h: the parameters of the channel laplace.
 */
#ifndef SOTTO_CHANNEL_LAPLACE_H
#define SOTTO_CHANNEL_LAPLACE_H

#include "channel/integers.h"
#include "random/dlaplace.h"

struct laplace {
    struct integers integers;
    struct dlaplace noise;
};

#endif
