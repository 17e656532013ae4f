/*
 * plain.h: the plain loops: what every fast kernel is tested against.
 *
 * They allocate nothing, and `self` is not used: a back-end that lacks the
 * memory for a fast kernel falls back on them.
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

/* plain.c, and plain_image.c for those on images. */
#define PLAIN_OP(op) tensor_##op##_op plain_##op;
TENSOR_OPS(PLAIN_OP)
#undef PLAIN_OP

#endif
