/*
 * primitive.c: oneDNN's convolutions, one for a shape, kept by the back-end.
 *
 * oneDNN plans for the number of threads it sees when a primitive is made, and
 * takes as many when it runs; both are per thread in OpenMP, so each call is
 * between enter_single and leave_single. OpenMP is oneDNN's, not ours: its
 * functions are looked up at run time, and a oneDNN without it needs none.
 *
 * Memory objects hold pointers, so each worker has its own; the packed weights,
 * which are only read while workers run, are one for all.
 */
#include "tensor/cpu/primitive.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <oneapi/dnnl/dnnl.h>

#define PRIMITIVES_MAX 512u
#define ALIGNMENT ((size_t)64)

/* x, y, scratchpad, and dweight of PRIMITIVE_WEIGHT. */
enum { MEMORY_X, MEMORY_Y, MEMORY_SCRATCH, MEMORY_DWEIGHT, MEMORIES };

struct worker_memory {
    dnnl_memory_t memory[MEMORIES];
};

struct primitive {
    struct primitive *next;
    enum primitive_kind kind;
    size_t n;
    struct tensor_window window;
    struct primitive_store *store;
    dnnl_primitive_t convolution, reorder;
    dnnl_memory_desc_t layout; /* of the weights */
    dnnl_memory_t outer;       /* OHWI */
    dnnl_memory_t inner;       /* in that layout, at `packed` */
    float *packed;
    size_t scratch; /* bytes */
    struct worker_memory *worker;
};

struct primitive_store {
    dnnl_engine_t engine;
    dnnl_stream_t *stream; /* of each worker */
    unsigned threads;
    struct primitive *first;
    size_t count;
    char *scratch; /* `threads` times scratch_size bytes */
    size_t scratch_size;
    float *room;
    size_t room_size;
    int (*omp_threads)(void);
    void (*set_omp_threads)(int threads);
};

/* ---- One thread --------------------------------------------------------- */

static void
find_openmp(struct primitive_store *store)
{
    void *get = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    void *set = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    if (get != NULL && set != NULL) {
        memcpy(&store->omp_threads, &get, sizeof get);
        memcpy(&store->set_omp_threads, &set, sizeof set);
    }
}

static int
enter_single(const struct primitive_store *store)
{
    int before = 1;
    if (store->set_omp_threads != NULL) {
        before = store->omp_threads();
        store->set_omp_threads(1);
    }
    return before;
}

static void
leave_single(const struct primitive_store *store, int before)
{
    if (store->set_omp_threads != NULL) {
        store->set_omp_threads(before);
    }
}

/* ---- Room --------------------------------------------------------------- */

static size_t
round_up(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

float *
primitive_room(struct cpu_backend *cpu, size_t size)
{
    struct primitive_store *store = cpu->primitives;
    if (store->room_size < size) {
        free(store->room);
        store->room =
            aligned_alloc(ALIGNMENT, round_up(size * sizeof *store->room));
        store->room_size = store->room == NULL ? 0 : size;
    }
    return store->room;
}

/* A scratchpad of that size for each worker. */
static bool
reserve_scratch(struct primitive_store *store, size_t size)
{
    size_t whole = round_up(size);
    if (whole > store->scratch_size) {
        char *scratch = aligned_alloc(ALIGNMENT, whole * store->threads);
        if (scratch == NULL) {
            return false;
        }
        free(store->scratch);
        store->scratch = scratch;
        store->scratch_size = whole;
    }
    return true;
}

/* ---- The store ---------------------------------------------------------- */

static void
free_primitive(struct primitive *p)
{
    if (p == NULL) {
        return;
    }
    for (unsigned t = 0; p->worker != NULL && t < p->store->threads; t++) {
        for (size_t i = 0; i < MEMORIES; i++) {
            (void)dnnl_memory_destroy(p->worker[t].memory[i]);
        }
    }
    (void)dnnl_memory_destroy(p->outer);
    (void)dnnl_memory_destroy(p->inner);
    (void)dnnl_primitive_destroy(p->convolution);
    (void)dnnl_primitive_destroy(p->reorder);
    free(p->packed);
    free(p->worker);
    free(p);
}

static void
forget_all(struct primitive_store *store)
{
    while (store->first != NULL) {
        struct primitive *p = store->first;
        store->first = p->next;
        free_primitive(p);
    }
    store->count = 0;
}

void
primitive_tidy(struct cpu_backend *cpu)
{
    if (cpu->primitives != NULL && cpu->primitives->count > PRIMITIVES_MAX) {
        forget_all(cpu->primitives);
    }
}

void
primitive_free_all(struct cpu_backend *cpu)
{
    struct primitive_store *store = cpu->primitives;
    if (store == NULL) {
        return;
    }
    forget_all(store);
    for (unsigned t = 0; store->stream != NULL && t < store->threads; t++) {
        (void)dnnl_stream_destroy(store->stream[t]);
    }
    (void)dnnl_engine_destroy(store->engine);
    free(store->scratch);
    free(store->room);
    free(store->stream);
    free(store);
    cpu->primitives = NULL;
}

static bool
make_store(struct cpu_backend *cpu)
{
    struct primitive_store *store = calloc(1, sizeof *store);
    bool made = false;
    if (store == NULL) {
        return false;
    }
    cpu->primitives = store;
    store->threads = host_pool_threads(cpu->pool);
    find_openmp(store);
    store->stream = calloc(store->threads, sizeof(dnnl_stream_t));
    if (store->stream == NULL ||
        dnnl_engine_create(&store->engine, dnnl_cpu, 0) != dnnl_success) {
        goto done;
    }
    for (unsigned t = 0; t < store->threads; t++) {
        if (dnnl_stream_create(&store->stream[t], store->engine,
                               dnnl_stream_default_flags) != dnnl_success) {
            goto done;
        }
    }
    made = true;
done:
    if (!made) {
        primitive_free_all(cpu);
    }
    return made;
}

/* ---- Making one --------------------------------------------------------- */

/* A shape as oneDNN has it: images in NHWC, weights in OHWI. */
struct geometry {
    dnnl_memory_desc_t x, y, weight, ohwi;
    dnnl_dims_t stride, before, after; /* padding on either side */
};

static bool
describe_shape(const struct primitive *p, const struct primitive *like,
               struct geometry *ret)
{
    const struct tensor_window *w = &p->window;
    int64_t n = (int64_t)p->n;
    int64_t c = (int64_t)w->channels;
    int64_t k = (int64_t)w->kernel;
    int64_t f = (int64_t)w->filters;
    int64_t rows = (int64_t)tensor_window_side(w, w->height);
    int64_t columns = (int64_t)tensor_window_side(w, w->width);
    int64_t pad = (int64_t)w->pad;
    int64_t stride = (int64_t)w->stride;
    dnnl_dims_t x = {n, c, (int64_t)w->height, (int64_t)w->width};
    dnnl_dims_t y = {n, f, rows, columns};
    dnnl_dims_t weight = {f, c, k, k};
    struct geometry g = {
        .stride = {stride, stride},
        .before = {pad, pad},
        .after = {(rows - 1) * stride + k - (int64_t)w->height - pad,
                  (columns - 1) * stride + k - (int64_t)w->width - pad}};
    bool ok = dnnl_memory_desc_init_by_tag(&g.x, 4, x, dnnl_f32, dnnl_nhwc) ==
                  dnnl_success &&
              dnnl_memory_desc_init_by_tag(&g.y, 4, y, dnnl_f32, dnnl_nhwc) ==
                  dnnl_success &&
              dnnl_memory_desc_init_by_tag(&g.ohwi, 4, weight, dnnl_f32,
                                           dnnl_ohwi) == dnnl_success &&
              dnnl_memory_desc_init_by_tag(&g.weight, 4, weight, dnnl_f32,
                                           dnnl_format_tag_any) == dnnl_success;
    if (ok && like != NULL) {
        g.weight = like->layout;
    }
    *ret = g;
    return ok;
}

static dnnl_status_t
describe_forward(const struct geometry *g, dnnl_convolution_desc_t *ret)
{
    return dnnl_convolution_forward_desc_init(
        ret, dnnl_forward_training, dnnl_convolution_direct, &g->x, &g->weight,
        NULL, &g->y, g->stride, g->before, g->after);
}

static dnnl_status_t
describe_back(enum primitive_kind kind, const struct geometry *g,
              dnnl_convolution_desc_t *ret)
{
    if (kind == PRIMITIVE_DATA) {
        return dnnl_convolution_backward_data_desc_init(
            ret, dnnl_convolution_direct, &g->x, &g->weight, &g->y, g->stride,
            g->before, g->after);
    }
    return dnnl_convolution_backward_weights_desc_init(
        ret, dnnl_convolution_direct, &g->x, &g->weight, NULL, &g->y, g->stride,
        g->before, g->after);
}

/* The description, with a scratchpad of ours. A way back wants a hint of the
   way forward. */
static bool
choose_primitive(const struct primitive *p, const struct geometry *g,
                 dnnl_primitive_desc_t *ret)
{
    dnnl_engine_t engine = p->store->engine;
    dnnl_convolution_desc_t forward;
    dnnl_convolution_desc_t back;
    dnnl_primitive_attr_t ours = NULL;
    dnnl_primitive_desc_t hint = NULL;
    dnnl_primitive_desc_t chosen = NULL;
    struct geometry free_layout = *g;
    bool ok = false;
    (void)dnnl_memory_desc_init_by_tag(&free_layout.weight, 4, g->weight.dims,
                                       dnnl_f32, dnnl_format_tag_any);
    if (dnnl_primitive_attr_create(&ours) != dnnl_success ||
        dnnl_primitive_attr_set_scratchpad_mode(
            ours, dnnl_scratchpad_mode_user) != dnnl_success) {
        goto done;
    }
    if (p->kind == PRIMITIVE_FORWARD) {
        ok = describe_forward(g, &forward) == dnnl_success &&
             dnnl_primitive_desc_create(&chosen, &forward, ours, engine,
                                        NULL) == dnnl_success;
    } else {
        ok = describe_forward(&free_layout, &forward) == dnnl_success &&
             dnnl_primitive_desc_create(&hint, &forward, NULL, engine, NULL) ==
                 dnnl_success &&
             describe_back(p->kind, g, &back) == dnnl_success &&
             dnnl_primitive_desc_create(&chosen, &back, ours, engine, hint) ==
                 dnnl_success;
    }
done:
    (void)dnnl_primitive_desc_destroy(hint);
    (void)dnnl_primitive_attr_destroy(ours);
    *ret = chosen;
    return ok;
}

static bool
make_reorder(struct primitive *p, const struct geometry *g)
{
    dnnl_engine_t engine = p->store->engine;
    bool back = p->kind == PRIMITIVE_WEIGHT;
    dnnl_primitive_desc_t reorder = NULL;
    bool ok = dnnl_reorder_primitive_desc_create(
                  &reorder, back ? &p->layout : &g->ohwi, engine,
                  back ? &g->ohwi : &p->layout, engine, NULL) == dnnl_success &&
              dnnl_primitive_create(&p->reorder, reorder) == dnnl_success;
    (void)dnnl_primitive_desc_destroy(reorder);
    p->packed = aligned_alloc(ALIGNMENT,
                              round_up(dnnl_memory_desc_get_size(&p->layout)));
    return ok && p->packed != NULL &&
           dnnl_memory_create(&p->outer, &g->ohwi, engine, DNNL_MEMORY_NONE) ==
               dnnl_success &&
           dnnl_memory_create(&p->inner, &p->layout, engine, p->packed) ==
               dnnl_success;
}

static bool
make_memories(struct primitive *p, const struct geometry *g,
              const dnnl_memory_desc_t *scratch)
{
    const dnnl_memory_desc_t *layout[MEMORIES] = {&g->x, &g->y, scratch,
                                                  &p->layout};
    p->worker = calloc(p->store->threads, sizeof *p->worker);
    if (p->worker == NULL) {
        return false;
    }
    for (unsigned t = 0; t < p->store->threads; t++) {
        for (size_t i = 0; i < MEMORIES; i++) {
            if (dnnl_memory_create(&p->worker[t].memory[i], layout[i],
                                   p->store->engine,
                                   DNNL_MEMORY_NONE) != dnnl_success) {
                return false;
            }
        }
    }
    return true;
}

static bool
fill_primitive(struct primitive *p, const struct primitive *like)
{
    struct geometry g;
    dnnl_primitive_desc_t chosen = NULL;
    bool ok = false;
    if (!describe_shape(p, like, &g) || !choose_primitive(p, &g, &chosen)) {
        goto done;
    }
    const dnnl_memory_desc_t *scratch =
        dnnl_primitive_desc_query_md(chosen, dnnl_query_scratchpad_md, 0);
    const dnnl_memory_desc_t *layout = dnnl_primitive_desc_query_md(
        chosen,
        p->kind == PRIMITIVE_WEIGHT ? dnnl_query_diff_weights_md
                                    : dnnl_query_weights_md,
        0);
    if (scratch == NULL || layout == NULL) {
        goto done;
    }
    p->layout = *layout;
    p->scratch = dnnl_memory_desc_get_size(scratch);
    ok = dnnl_primitive_create(&p->convolution, chosen) == dnnl_success &&
         reserve_scratch(p->store, p->scratch) && make_reorder(p, &g) &&
         make_memories(p, &g, scratch);
done:
    (void)dnnl_primitive_desc_destroy(chosen);
    return ok;
}

static bool
same_shape(const struct tensor_window *a, const struct tensor_window *b)
{
    return a->height == b->height && a->width == b->width &&
           a->channels == b->channels && a->filters == b->filters &&
           a->kernel == b->kernel && a->stride == b->stride && a->pad == b->pad;
}

static bool
same_layout(const struct primitive *p, const struct primitive *like)
{
    return like == NULL ||
           dnnl_memory_desc_equal(&p->layout, &like->layout) != 0;
}

struct primitive *
primitive_find(struct cpu_backend *cpu, enum primitive_kind kind, size_t n,
               const struct tensor_window *window, const struct primitive *like)
{
    if (cpu->primitives == NULL && !make_store(cpu)) {
        return NULL;
    }
    struct primitive_store *store = cpu->primitives;
    for (struct primitive *p = store->first; p != NULL; p = p->next) {
        if (p->kind == kind && p->n == n && same_shape(&p->window, window) &&
            same_layout(p, like)) {
            return p;
        }
    }
    struct primitive *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    p->kind = kind;
    p->n = n;
    p->window = *window;
    p->store = store;
    int before = enter_single(store);
    bool filled = fill_primitive(p, like);
    leave_single(store, before);
    if (!filled) {
        free_primitive(p);
        return NULL;
    }
    p->next = store->first;
    store->first = p;
    store->count++;
    return p;
}

/* ---- Using one ---------------------------------------------------------- */

size_t
primitive_weights(const struct primitive *primitive)
{
    return dnnl_memory_desc_get_size(&primitive->layout) / sizeof(float);
}

float *
primitive_packed(const struct primitive *primitive)
{
    return primitive->packed;
}

/* oneDNN takes all its pointers without const, and writes only to results. */
static void *
handle_of(const float *place)
{
    void *handle = NULL;
    memcpy(&handle, &place, sizeof handle);
    return handle;
}

static bool
run_reorder(const struct primitive *p, dnnl_memory_t from, dnnl_memory_t to,
            const float *outer)
{
    const dnnl_exec_arg_t argument[] = {{DNNL_ARG_FROM, from},
                                        {DNNL_ARG_TO, to}};
    int before = enter_single(p->store);
    bool ok = dnnl_memory_set_data_handle(p->outer, handle_of(outer)) ==
                  dnnl_success &&
              dnnl_primitive_execute(p->reorder, p->store->stream[0],
                                     (int)(sizeof argument / sizeof *argument),
                                     argument) == dnnl_success;
    leave_single(p->store, before);
    return ok;
}

bool
primitive_pack(const struct primitive *primitive, const float *weight)
{
    return run_reorder(primitive, primitive->outer, primitive->inner, weight);
}

bool
primitive_unpack(const struct primitive *primitive, float *dweight)
{
    return run_reorder(primitive, primitive->inner, primitive->outer, dweight);
}

/* What the memories are to each kind. */
static const int roles[][3] = {
    [PRIMITIVE_FORWARD] = {DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_WEIGHTS},
    [PRIMITIVE_DATA] = {DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS},
    [PRIMITIVE_WEIGHT] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST,
                          DNNL_ARG_DIFF_WEIGHTS},
};

bool
primitive_run(const struct primitive *primitive, unsigned worker,
              const float *x, const float *y, float *dweight)
{
    const struct primitive_store *store = primitive->store;
    const dnnl_memory_t *memory = primitive->worker[worker].memory;
    bool weighs = primitive->kind == PRIMITIVE_WEIGHT;
    const int *role = roles[primitive->kind];
    const dnnl_exec_arg_t argument[] = {
        {role[0], memory[MEMORY_X]},
        {role[1], memory[MEMORY_Y]},
        {role[2], weighs ? memory[MEMORY_DWEIGHT] : primitive->inner},
        {DNNL_ARG_SCRATCHPAD, memory[MEMORY_SCRATCH]}};
    int before = enter_single(store);
    bool ok =
        dnnl_memory_set_data_handle(memory[MEMORY_X], handle_of(x)) ==
            dnnl_success &&
        dnnl_memory_set_data_handle(memory[MEMORY_Y], handle_of(y)) ==
            dnnl_success &&
        (primitive->scratch == 0 ||
         dnnl_memory_set_data_handle(
             memory[MEMORY_SCRATCH],
             store->scratch + worker * store->scratch_size) == dnnl_success) &&
        (!weighs || dnnl_memory_set_data_handle(memory[MEMORY_DWEIGHT],
                                                dweight) == dnnl_success) &&
        dnnl_primitive_execute(primitive->convolution, store->stream[worker],
                               (int)(sizeof argument / sizeof *argument),
                               argument) == dnnl_success;
    leave_single(store, before);
    return ok;
}
