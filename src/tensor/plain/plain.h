/*
 * plain.h: the plain loops: what every fast kernel is tested against.
 *
 * Those on images have names, because a back-end that lacks the memory for its
 * fast kernels falls back on them. They allocate nothing, and `self` is not
 * used.
 */
#ifndef SOTTO_TENSOR_PLAIN_H
#define SOTTO_TENSOR_PLAIN_H

#include "tensor/tensor.h"

/* plain.c. Needs no pool. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status plain_new(struct host_pool *pool,
                                          struct tensor_backend **ret,
                                          struct sotto_error *err);
double plain_activate(enum activation activation, double a);
/* dy becomes the gradient before the activation. */
void plain_activation_back(size_t size, enum activation activation,
                           const float *y, float *dy);

/* plain_image.c */
tensor_conv_op plain_conv;
tensor_conv_back_op plain_conv_back;
tensor_pool_op plain_pool;
tensor_pool_back_op plain_pool_back;
tensor_add_op plain_add;

#endif
