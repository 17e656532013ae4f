/*
 * margins.h: the noise of a sum of estimates, which margins.c derives.
 */
#ifndef SOTTO_MECHANISM_MARGINS_H
#define SOTTO_MECHANISM_MARGINS_H

#include "likelihood/likelihood.h"

/* The variance, of one report of flip or subset, of the sum of the estimates of
   m symbols; `in`: the truth is one of them. */
double margins_variance(const struct likelihood_instance *at, double m,
                        bool in);

#endif
