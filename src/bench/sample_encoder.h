/*
 * sample_encoder.h: mechanisms of the papers' size to time, their weights
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

/*
 * The same pixels as a 28 x 28 image through a 5 x 5 convolution of stride 2
 * to 16 channels, a 3 x 3 one to 32, a pool of the largest of 2 x 2, a 3 x 3
 * convolution to 64, such a pool again and a dense layer to 64 numbers.
 * Statuses: MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sample_encoder_images_new(struct sotto_mechanism **ret_mechanism,
                          struct sotto_error *err);

#endif
