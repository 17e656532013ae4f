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
void plain_conv(struct tensor_backend *self, size_t n,
                const struct tensor_window *window, const float *x,
                const float *weight, const float *bias,
                enum activation activation, float *y);
void plain_conv_back(struct tensor_backend *self, size_t n,
                     const struct tensor_window *window, const float *x,
                     const float *weight, const float *y,
                     enum activation activation, float *dy, float *dweight,
                     float *dbias, float *dx);
void plain_pool(struct tensor_backend *self, size_t n,
                const struct tensor_window *window, enum tensor_pool of,
                const float *x, float *y);
void plain_pool_back(struct tensor_backend *self, size_t n,
                     const struct tensor_window *window, enum tensor_pool of,
                     const float *x, const float *y, const float *dy,
                     float *dx);
void plain_add(struct tensor_backend *self, size_t size, const float *a,
               enum activation activation, float *y);

#endif
