/*
 * chance.h: what a channel's coin (channel/odds.h) does, as doubles.
 */
#ifndef SOTTO_LIKELIHOOD_CHANCE_H
#define SOTTO_LIKELIHOOD_CHANCE_H

#include "channel/odds.h"

struct chance {
    double in;   /* h */
    double out;  /* 1 - h */
    double lead; /* 2h - 1, for h >= 1/2: no digit is lost */
};

/* Takes h from the threshold as it will be drawn. */
void chance_init(struct chance *chance, const struct odds *odds);

#endif
