/*
 * confidence.h: from a confidence to standard errors.
 */
#ifndef SOTTO_HOST_CONFIDENCE_H
#define SOTTO_HOST_CONFIDENCE_H

/* z with P(|Z| <= z) = confidence for a standard normal Z; 0 < c < 1. */
double confidence_z(double confidence);

#endif
