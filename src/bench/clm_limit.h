/*
 * clm_limit.h: the convolutions of a training step by oneDNN alone.
 */
#ifndef SOTTO_BENCH_CLM_LIMIT_H
#define SOTTO_BENCH_CLM_LIMIT_H

#include "nn/graph.h"

struct clm_limit;

/* Those of a stack, n images at a time: forward, back to the images (but for
   the first layer) and to the weights. Statuses: MEMORY, LIMIT (oneDNN has
   nothing for a shape). */
SOTTO_CHECKED enum sotto_status clm_limit_new(const struct nn_graph *stack,
                                              size_t n, unsigned threads,
                                              struct clm_limit **ret_limit,
                                              struct sotto_error *err);
void clm_limit_free(struct clm_limit *limit);

/* All of them once, on oneDNN's own threads, in layouts of its own choice that
   nothing is converted to. Statuses: CHECK (oneDNN failed). */
SOTTO_CHECKED enum sotto_status clm_limit_run(struct clm_limit *limit,
                                              struct sotto_error *err);

#endif
