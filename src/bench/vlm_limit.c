/*
 * vlm_limit.c: the products of a training step by OpenBLAS alone.
 *
 *     layer l    y  = x W^T      n x out, summed over in
 *                dW = dy^T x     out x in, over n
 *                dx = dy W       n x in, over out; not for the first layer
 *
 * on matrices of their own, so that caches hold what they would in a step.
 */
#include "bench/bench_step.h"

#include <stdlib.h>

#include <cblas.h>

#include "host/error.h"

const size_t vlm_sizes[VLM_LAYERS + 1] = {784, 400, 150, 50, 8,
                                          50,  150, 400, 784};

/* How the threads share a product: rows of its result, or columns. */
enum vlm_split { VLM_SPLIT_ROWS = 0, VLM_SPLIT_COLUMNS = 1, VLM_SPLITS };

struct products {
    size_t n, threads;
    enum vlm_split split;
    float *x[VLM_LAYERS + 1], *dx[VLM_LAYERS + 1]; /* before each layer */
    float *w[VLM_LAYERS], *dw[VLM_LAYERS];
    float *memory;
};

static enum sotto_status
make_limit(const struct nn_graph *encoder, size_t n, void **ret_limit,
           struct sotto_error *err)
{
    struct products *limit = calloc(1, sizeof *limit);
    size_t total = 0, at = 0;
    (void)encoder;
    for (size_t l = 0; l <= VLM_LAYERS; l++) {
        size_t weights = l < VLM_LAYERS ? vlm_sizes[l] * vlm_sizes[l + 1] : 0;
        total += 2 * (n * vlm_sizes[l] + weights);
    }
    if (limit != NULL) {
        limit->memory = malloc(total * sizeof *limit->memory);
    }
    if (limit == NULL || limit->memory == NULL) {
        free(limit);
        return host_fail_memory(err);
    }
    limit->n = n;
    for (size_t i = 0; i < total; i++) {
        limit->memory[i] = ((float)(i % 7) - 3) / 16; /* of no great size */
    }
    for (size_t l = 0; l <= VLM_LAYERS; l++) {
        size_t weights = l < VLM_LAYERS ? vlm_sizes[l] * vlm_sizes[l + 1] : 0;
        limit->x[l] = limit->memory + at;
        limit->dx[l] = limit->x[l] + n * vlm_sizes[l];
        at += 2 * n * vlm_sizes[l];
        if (l < VLM_LAYERS) {
            limit->w[l] = limit->memory + at;
            limit->dw[l] = limit->w[l] + weights;
        }
        at += 2 * weights;
    }
    *ret_limit = limit;
    return SOTTO_STATUS_OK;
}

static void
free_limit(void *own)
{
    struct products *limit = own;
    if (limit != NULL) {
        free(limit->memory);
        free(limit);
    }
}

/* c = op(a) op(b), m x n over k: thread i's part of it. */
struct product {
    bool transpose_a, transpose_b;
    size_t m, n, k;
    const float *a, *b;
    float *c;
};

static void
multiply_part(const struct products *limit, const struct product *p, size_t i)
{
    bool rows = limit->split == VLM_SPLIT_ROWS;
    size_t whole = rows ? p->m : p->n;
    size_t from = whole * i / limit->threads;
    size_t count = whole * (i + 1) / limit->threads - from;
    size_t lda = p->transpose_a ? p->m : p->k;
    size_t ldb = p->transpose_b ? p->k : p->n;
    const float *a = p->a, *b = p->b;
    float *c = p->c;
    if (count == 0) {
        return;
    }
    if (rows) {
        a += from * (p->transpose_a ? 1 : lda);
        c += from * p->n;
    } else {
        b += from * (p->transpose_b ? ldb : 1);
        c += from;
    }
    cblas_sgemm(CblasRowMajor, p->transpose_a ? CblasTrans : CblasNoTrans,
                p->transpose_b ? CblasTrans : CblasNoTrans,
                (blasint)(rows ? count : p->m), (blasint)(rows ? p->n : count),
                (blasint)p->k, 1, a, (blasint)lda, b, (blasint)ldb, 0, c,
                (blasint)p->n);
}

/* Forward through all layers, and back. */
static void
multiply_task(void *context, size_t i, unsigned worker)
{
    struct products *limit = context;
    size_t n = limit->n;
    (void)worker;
    for (size_t l = 0; l < VLM_LAYERS; l++) {
        const struct product y = {
            false,        true,        n,           vlm_sizes[l + 1],
            vlm_sizes[l], limit->x[l], limit->w[l], limit->x[l + 1]};
        multiply_part(limit, &y, i);
    }
    for (size_t l = VLM_LAYERS; l-- > 0;) {
        size_t in = vlm_sizes[l], out = vlm_sizes[l + 1];
        const struct product dw = {true,        false,       out,
                                   in,          n,           limit->dx[l + 1],
                                   limit->x[l], limit->dw[l]};
        const struct product dx = {false,       false,       n,
                                   in,          out,         limit->dx[l + 1],
                                   limit->w[l], limit->dx[l]};
        multiply_part(limit, &dw, i);
        if (l > 0) {
            multiply_part(limit, &dx, i);
        }
    }
}

/* Runs all products of a step once, each cut into one part for each thread. No
   thread waits for another before the end, as a real step would. */
static enum sotto_status
run_limit(void *own, struct host_pool *pool, size_t split,
          struct sotto_error *err)
{
    struct products *limit = own;
    (void)err;
    limit->threads = host_pool_threads(pool);
    limit->split = (enum vlm_split)split;
    host_pool_run(pool, limit->threads, multiply_task, limit);
    return SOTTO_STATUS_OK;
}

const struct bench_step_limit vlm_limit = {VLM_SPLITS, make_limit, run_limit,
                                           free_limit};
