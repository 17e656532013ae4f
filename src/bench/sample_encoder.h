/*
 * sample_encoder.h: a mechanism of the papers' size to time, its weights
 * drawn from a seeded generator.
 */
#ifndef SOTTO_BENCH_SAMPLE_ENCODER_H
#define SOTTO_BENCH_SAMPLE_ENCODER_H

#include "sotto/sotto.h"

/*
 * 784 pixels through layers of 400, 150 and 50 (ReLU) to 8 numbers on a
 * lattice with laplace at epsilon 4 (P0's MNIST encoder). Statuses: MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sample_encoder_new(struct sotto_mechanism **ret_mechanism,
                   struct sotto_error *err);

#endif
