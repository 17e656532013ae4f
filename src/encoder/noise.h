/*
 * noise.h: the noise that encoders train under.
 */
#ifndef SOTTO_ENCODER_NOISE_H
#define SOTTO_ENCODER_NOISE_H

#include <stddef.h>
#include <stdint.h>

/* Standard Laplace noise of a row in an epoch: d numbers that (seed, epoch,
   row) decide. */
void noise_laplace(uint64_t seed, uint32_t epoch, uint32_t row, size_t d,
                   float *ret_noise);

/* Likewise standard normal noise. */
void noise_normal(uint64_t seed, uint32_t epoch, uint32_t row, size_t d,
                  float *ret_noise);

#endif
