/*
 * neighbours.h: the nearest rows of every row, of all rows.
 */
#ifndef SOTTO_ENCODER_NEIGHBOURS_H
#define SOTTO_ENCODER_NEIGHBOURS_H

#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"
#include "tensor/tensor.h"

/*
 * Finds the k nearest rows of each of n rows of d, by squared distance, itself
 * left out; of rows that are equally far the ones that come first. Distances
 * are those of floats: rows far from 0 that hardly differ may be taken for each
 * other. ret_near is n rows of k, each in rising order. Time grows with n^2 d;
 * the same for any number of threads. Statuses: MEMORY, STOPPED, INPUT
 * (distances that are no numbers; ret_near is then spoilt), USAGE (k is 0 or
 * not below n, or d is 0, or n above UINT32_MAX).
 */
SOTTO_CHECKED enum sotto_status
neighbours_find(struct host_pool *pool, struct tensor_backend *backend,
                const float *x, size_t n, size_t d, size_t k,
                const struct sotto_watch *watch, uint32_t *ret_near,
                struct sotto_error *err);

#endif
