/*
 * posterior_weights.h: a row of a posterior as plain numbers.
 */
#ifndef SOTTO_TESTS_POSTERIOR_WEIGHTS_H
#define SOTTO_TESTS_POSTERIOR_WEIGHTS_H

#include "learn/lattice/posterior.h"
#include "learn/lattice/posterior_kernel.h"

/* Writes one row's weights, `points` of them. */
static inline void
posterior_weights(const struct posterior *posterior, size_t row, double *ret_w)
{
    const struct posterior_row *own = &posterior->row[row];
    for (size_t m = 0; own->index != NULL && m < posterior->points; m++) {
        ret_w[m] = 0;
    }
    for (uint32_t i = 0; i < own->kept; i++) {
        ret_w[own->index != NULL ? own->index[i] : i] =
            (double)(own->scale * posterior_kernel_decode(own->code[i]));
    }
}

#endif
