/*
 * diffusion.h: where a walk among neighbours leads, as coordinates of a record
 * (docs/codebook.md, "Groups that neighbours hold together").
 */
#ifndef SOTTO_ENCODER_DIFFUSION_H
#define SOTTO_ENCODER_DIFFUSION_H

#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"
#include "tensor/tensor.h"

/* Rows that a walk is made for: of fewer, neighbours say little; of more, they
   are too dear. */
#define DIFFUSION_ROWS_LEAST ((size_t)200)
#define DIFFUSION_ROWS_MOST ((size_t)100000)

/* How many coordinates n rows get: as many parts as they can tell apart. */
size_t diffusion_width(size_t n);

/*
 * Sets ret_y, n rows of diffusion_width(n), to the coordinates of the walk of
 * docs/codebook.md among the rows of x, n of d. Decided by x and the seed, not
 * by the threads. Statuses: MEMORY, STOPPED, USAGE (fewer rows than
 * DIFFUSION_ROWS_LEAST, or more than DIFFUSION_ROWS_MOST), INPUT (distances
 * that are no numbers).
 */
SOTTO_CHECKED enum sotto_status
diffusion_embed(struct host_pool *pool, struct tensor_backend *backend,
                const float *x, size_t n, size_t d, uint64_t seed,
                const struct sotto_watch *watch, float *ret_y,
                struct sotto_error *err);

#endif
