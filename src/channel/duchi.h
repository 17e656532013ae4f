/*
 * duchi.h: what the channel duchi and its likelihood both compute.
 */
#ifndef SOTTO_CHANNEL_DUCHI_H
#define SOTTO_CHANNEL_DUCHI_H

#include <stdint.h>

/* b = C(n, n/2) / 2^n, n even. */
double duchi_central(uint32_t n);

#endif
