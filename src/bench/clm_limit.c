/*
 * clm_limit.c: the convolutions of a training step by oneDNN alone.
 *
 * oneDNN plans for as many threads as OpenMP says there are, and takes as many;
 * OpenMP is oneDNN's, so its functions are looked up at run time.
 */
#include "bench/bench_step.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <oneapi/dnnl/dnnl.h>

#include "encoder/learnt.h"
#include "host/error.h"

#define WAYS ((size_t)3) /* forward, to the images, to the weights */
#define MEMORIES ((size_t)3)

struct way {
    dnnl_primitive_t primitive;
    dnnl_memory_t memory[MEMORIES];
    void *data[MEMORIES];
    dnnl_exec_arg_t arg[MEMORIES];
};

struct convolutions {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct way way[LEARNT_LAYERS_MAX * WAYS];
    size_t ways;
    int threads, before;
    int (*omp_threads)(void);
    void (*set_omp_threads)(int threads);
};

/* ---- Threads ------------------------------------------------------------- */

static void
find_openmp(struct convolutions *limit)
{
    void *get = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    void *set = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    if (get != NULL && set != NULL) {
        memcpy(&limit->omp_threads, &get, sizeof get);
        memcpy(&limit->set_omp_threads, &set, sizeof set);
    }
}

static void
enter(struct convolutions *limit)
{
    if (limit->set_omp_threads != NULL) {
        limit->before = limit->omp_threads();
        limit->set_omp_threads(limit->threads);
    }
}

static void
leave(const struct convolutions *limit)
{
    if (limit->set_omp_threads != NULL) {
        limit->set_omp_threads(limit->before);
    }
}

/* ---- Making -------------------------------------------------------------- */

struct shape {
    dnnl_memory_desc_t x, y, weight;
    dnnl_dims_t stride, before, after;
};

static bool
describe(const struct tensor_window *w, size_t n, struct shape *ret)
{
    int64_t rows = (int64_t)tensor_window_side(w, w->height);
    int64_t columns = (int64_t)tensor_window_side(w, w->width);
    int64_t k = (int64_t)w->kernel, pad = (int64_t)w->pad;
    int64_t stride = (int64_t)w->stride;
    dnnl_dims_t x = {(int64_t)n, (int64_t)w->channels, (int64_t)w->height,
                     (int64_t)w->width};
    dnnl_dims_t y = {(int64_t)n, (int64_t)w->filters, rows, columns};
    dnnl_dims_t weight = {(int64_t)w->filters, (int64_t)w->channels, k, k};
    *ret = (struct shape){
        .stride = {stride, stride},
        .before = {pad, pad},
        .after = {(rows - 1) * stride + k - (int64_t)w->height - pad,
                  (columns - 1) * stride + k - (int64_t)w->width - pad}};
    return dnnl_memory_desc_init_by_tag(&ret->x, 4, x, dnnl_f32,
                                        dnnl_format_tag_any) == dnnl_success &&
           dnnl_memory_desc_init_by_tag(&ret->y, 4, y, dnnl_f32,
                                        dnnl_format_tag_any) == dnnl_success &&
           dnnl_memory_desc_init_by_tag(&ret->weight, 4, weight, dnnl_f32,
                                        dnnl_format_tag_any) == dnnl_success;
}

/* What each way reads and writes, and by what names. */
static const struct {
    dnnl_query_t query[MEMORIES];
    int arg[MEMORIES];
} names[WAYS] = {
    {{dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md},
     {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST}},
    {{dnnl_query_diff_src_md, dnnl_query_weights_md, dnnl_query_diff_dst_md},
     {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST}},
    {{dnnl_query_src_md, dnnl_query_diff_weights_md, dnnl_query_diff_dst_md},
     {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST}},
};

static bool
add_way(struct convolutions *limit, size_t kind,
        const_dnnl_primitive_desc_t from)
{
    struct way *way = &limit->way[limit->ways++];
    if (dnnl_primitive_create(&way->primitive, from) != dnnl_success) {
        return false;
    }
    for (size_t i = 0; i < MEMORIES; i++) {
        const dnnl_memory_desc_t *layout =
            dnnl_primitive_desc_query_md(from, names[kind].query[i], 0);
        size_t size = layout != NULL ? dnnl_memory_desc_get_size(layout) : 0;
        way->data[i] =
            size > 0 ? aligned_alloc(64, (size + 63) / 64 * 64) : NULL;
        if (way->data[i] == NULL) {
            return false;
        }
        for (size_t j = 0; j < size / sizeof(float); j++) {
            ((float *)way->data[i])[j] = ((float)(j % 7) - 3) / 16;
        }
        if (dnnl_memory_create(&way->memory[i], layout, limit->engine,
                               way->data[i]) != dnnl_success) {
            return false;
        }
        way->arg[i] = (dnnl_exec_arg_t){names[kind].arg[i], way->memory[i]};
    }
    return true;
}

/* One way back, with the way forward for a hint. */
static bool
add_back(struct convolutions *limit, size_t kind, const struct shape *s,
         const_dnnl_primitive_desc_t hint)
{
    dnnl_convolution_desc_t back;
    dnnl_primitive_desc_t chosen = NULL;
    dnnl_status_t status =
        kind == 1 ? dnnl_convolution_backward_data_desc_init(
                        &back, dnnl_convolution_direct, &s->x, &s->weight,
                        &s->y, s->stride, s->before, s->after)
                  : dnnl_convolution_backward_weights_desc_init(
                        &back, dnnl_convolution_direct, &s->x, &s->weight, NULL,
                        &s->y, s->stride, s->before, s->after);
    bool ok = status == dnnl_success &&
              dnnl_primitive_desc_create(&chosen, &back, NULL, limit->engine,
                                         hint) == dnnl_success &&
              add_way(limit, kind, chosen);
    (void)dnnl_primitive_desc_destroy(chosen);
    return ok;
}

static bool
add_layer(struct convolutions *limit, const struct tensor_window *window,
          size_t n, bool first)
{
    struct shape s;
    dnnl_convolution_desc_t forward;
    dnnl_primitive_desc_t chosen = NULL;
    bool ok = describe(window, n, &s) &&
              dnnl_convolution_forward_desc_init(
                  &forward, dnnl_forward_training, dnnl_convolution_direct,
                  &s.x, &s.weight, NULL, &s.y, s.stride, s.before,
                  s.after) == dnnl_success &&
              dnnl_primitive_desc_create(&chosen, &forward, NULL, limit->engine,
                                         NULL) == dnnl_success &&
              add_way(limit, 0, chosen) &&
              (first || add_back(limit, 1, &s, chosen)) &&
              add_back(limit, 2, &s, chosen);
    (void)dnnl_primitive_desc_destroy(chosen);
    return ok;
}

static void
free_limit(void *own)
{
    struct convolutions *limit = own;
    for (size_t i = 0; limit != NULL && i < limit->ways; i++) {
        struct way *way = &limit->way[i];
        for (size_t j = 0; j < MEMORIES; j++) {
            (void)dnnl_memory_destroy(way->memory[j]);
            free(way->data[j]);
        }
        (void)dnnl_primitive_destroy(way->primitive);
    }
    if (limit != NULL) {
        (void)dnnl_stream_destroy(limit->stream);
        (void)dnnl_engine_destroy(limit->engine);
    }
    free(limit);
}

/* Plans the convolutions of an encoder, of two views a record: forward, back to
   the images (but for the first layer) and to the weights. */
static enum sotto_status
make_limit(const struct nn_graph *encoder, size_t n, void **ret_limit,
           struct sotto_error *err)
{
    struct convolutions *limit = calloc(1, sizeof *limit);
    bool ok;
    if (limit == NULL) {
        return host_fail_memory(err);
    }
    limit->threads = (int)BENCH_STEP_THREADS;
    find_openmp(limit);
    enter(limit);
    ok = dnnl_engine_create(&limit->engine, dnnl_cpu, 0) == dnnl_success &&
         dnnl_stream_create(&limit->stream, limit->engine,
                            dnnl_stream_default_flags) == dnnl_success;
    for (size_t i = 0; ok && i < encoder->layers; i++) {
        if (encoder->layer[i].layer.kind == LAYER_CONV) {
            ok = add_layer(limit, &encoder->layer[i].window, 2 * n, i == 0);
        }
    }
    leave(limit);
    if (!ok) {
        free_limit(limit);
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "oneDNN has no means for these convolutions");
    }
    *ret_limit = limit;
    return SOTTO_STATUS_OK;
}

/* Runs all of them once, on oneDNN's own threads, in layouts of its own choice
   that nothing is converted to. */
static enum sotto_status
run_limit(void *own, struct host_pool *pool, size_t split,
          struct sotto_error *err)
{
    struct convolutions *limit = own;
    bool ok = true;
    (void)pool;
    (void)split;
    enter(limit);
    for (size_t i = 0; ok && i < limit->ways; i++) {
        const struct way *way = &limit->way[i];
        ok = dnnl_primitive_execute(way->primitive, limit->stream,
                                    (int)MEMORIES, way->arg) == dnnl_success;
    }
    ok = ok && dnnl_stream_wait(limit->stream) == dnnl_success;
    leave(limit);
    return ok ? SOTTO_STATUS_OK
              : host_fail(err, SOTTO_STATUS_CHECK, 0,
                          "oneDNN failed at a convolution");
}

const struct bench_step_limit clm_limit = {1, make_limit, run_limit,
                                           free_limit};
