/*
 * vlm_limit.h: the products of a training step by OpenBLAS alone.
 */
#ifndef SOTTO_BENCH_VLM_LIMIT_H
#define SOTTO_BENCH_VLM_LIMIT_H

#include "host/pool.h"

/* Units from x to z and back to x; the layers are between them. */
#define VLM_LAYERS 8u
extern const size_t vlm_sizes[VLM_LAYERS + 1];

/* How the threads share a product: rows of its result, or columns. */
enum vlm_split { VLM_SPLIT_ROWS = 0, VLM_SPLIT_COLUMNS = 1, VLM_SPLITS };

struct vlm_limit;

/* The step of step_vlm.c at batches of n. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
vlm_limit_new(size_t n, struct vlm_limit **ret_limit, struct sotto_error *err);
void vlm_limit_free(struct vlm_limit *limit);

/* All products of a step once, each cut into one part for each thread. No
   thread waits for another before the end, as a real step would. */
void vlm_limit_run(struct vlm_limit *limit, struct host_pool *pool,
                   enum vlm_split split);

#endif
