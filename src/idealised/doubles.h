/*
 * doubles.h: doubles out of a generator, and in a report.
 */
#ifndef SOTTO_IDEALISED_DOUBLES_H
#define SOTTO_IDEALISED_DOUBLES_H

#include "random/random.h"

/* Uniform in (0, 1): 53 bits and a half. */
double doubles_uniform(struct random *random);
/* n normal ones, mean 0 and variance 1. */
void doubles_normal(struct random *random, uint32_t n, double *ret_normal);

/* A double as 8 little-endian bytes. */
void doubles_store(uint8_t *to, double value);
double doubles_load(const uint8_t *from);

/* The integer of its bits, and back. */
int64_t doubles_bits(double value);
double doubles_of_bits(int64_t bits);

#endif
