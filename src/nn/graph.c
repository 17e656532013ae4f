/*
 * graph.c: activations of a graph of layers, and the ways forward and back.
 *
 *     x -> [ product + bias -> (+ sum) -> activation ] -> ... -> y
 *     x -> [ product -> norm -> (+ sum) -> activation ] -> ...
 *                                                       (a layer with a norm)
 *
 * Back, layer by layer from the last: the gradient of an output is what the
 * layers that take it as input leave in its dy (the first sets it, others go
 * by way of `scratch`), and then the gradients before the activation of those
 * that add it, which each of these leaves in its own dy.
 */
#include "nn/graph.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "nn/layers.h"

#define ALIGNMENT ((size_t)64)
#define STEP (ALIGNMENT / sizeof(float))

const struct nn_layer_ops *
nn_layer_ops_of(enum layer_kind kind)
{
#define LAYER_KIND(name, operations) &nn_##operations,
    static const struct nn_layer_ops *const table[] = {LAYER_KINDS(LAYER_KIND)};
#undef LAYER_KIND
    return table[kind];
}

/* ---- Activations -------------------------------------------------------- */

/* The next `size` floats of the block; NULL if there is none yet. */
static float *
carve_floats(float *base, size_t *at, size_t size)
{
    float *place = base == NULL ? NULL : base + *at;
    *at += (size + STEP - 1) / STEP * STEP;
    return place;
}

/* Places for n rows; how many floats they take. */
static size_t
carve_all(struct nn_graph *graph, float *base, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < graph->layers; i++) {
        struct nn_place *place = &graph->layer[i];
        place->y = carve_floats(base, &at, n * place->out);
        place->dy = carve_floats(base, &at, n * place->out);
        place->before =
            place->layer.norm ? carve_floats(base, &at, n * place->out) : NULL;
        place->dbefore = place->layer.norm && place->added != SIZE_MAX
                             ? carve_floats(base, &at, n * place->out)
                             : NULL;
        place->batch_mean =
            place->layer.norm ? carve_floats(base, &at, place->width) : NULL;
        place->batch_inverse =
            place->layer.norm ? carve_floats(base, &at, place->width) : NULL;
    }
    graph->scratch = carve_floats(base, &at, n * graph->widest);
    return at;
}

enum sotto_status
nn_graph_reserve(struct nn_graph *graph, size_t n, struct sotto_error *err)
{
    size_t width = graph->widest;
    for (size_t i = 0; i < graph->layers; i++) {
        width += graph->layer[i].out;
    }
    if (n != 0 && width > SIZE_MAX / 64 / n) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "a batch of %zu rows is too large", n);
    }
    size_t size = carve_all(graph, NULL, n) * sizeof(float);
    float *memory = aligned_alloc(ALIGNMENT, size + ALIGNMENT);
    if (memory == NULL) {
        nn_graph_release(graph);
        return host_fail_memory(err);
    }
    free(graph->memory);
    graph->memory = memory;
    graph->reserved = n;
    (void)carve_all(graph, memory, n);
    return SOTTO_STATUS_OK;
}

void
nn_graph_release(struct nn_graph *graph)
{
    free(graph->memory);
    graph->memory = NULL;
    graph->reserved = 0;
    (void)carve_all(graph, NULL, 0);
}

void
nn_graph_clear(struct nn_graph *graph)
{
    free(graph->memory);
    free(graph->layer);
    free(graph->filled);
    memset(graph, 0, sizeof *graph);
}

float *
nn_graph_dy(struct nn_graph *graph)
{
    return graph->layer[graph->layers - 1].dy;
}

/* ---- Forward ------------------------------------------------------------ */

/* Output i: 0 is x, i what layer i - 1 makes. */
static const float *
output(const struct nn_graph *graph, const float *x, size_t i)
{
    return i == 0 ? x : graph->layer[i - 1].y;
}

/* `added` is NULL, or what is added. */
static void
forward_layer(const struct nn_arena *arena, const struct nn_place *place,
              struct tensor_backend *backend, const float *x,
              const float *added, size_t n, bool training)
{
    const struct nn_layer_ops *ops = nn_layer_ops_of(place->layer.kind);
    enum activation activation =
        added == NULL ? place->layer.activation : ACTIVATION_NONE;
    if (place->layer.norm) {
        ops->forward(arena, place, backend, n, x, ACTIVATION_NONE,
                     place->before);
        nn_norm_forward(arena, place, backend, n, training, activation);
    } else {
        ops->forward(arena, place, backend, n, x, activation, place->y);
    }
    if (added != NULL) {
        backend->ops->add(backend, n * place->out, added,
                          place->layer.activation, place->y);
    }
}

const float *
nn_graph_forward(struct nn_graph *graph, struct tensor_backend *backend,
                 const float *x, size_t n, bool training)
{
    for (size_t i = 0; i < graph->layers; i++) {
        const struct nn_place *place = &graph->layer[i];
        const float *added =
            place->added == SIZE_MAX ? NULL : output(graph, x, place->added);
        forward_layer(graph->arena, place, backend,
                      output(graph, x, place->input), added, n, training);
    }
    return output(graph, x, graph->layers);
}

/* ---- Back --------------------------------------------------------------- */

/* Leaves dy as the gradient before the activation, if there is a sum. */
static void
backward_layer(const struct nn_arena *arena, const struct nn_place *place,
               struct tensor_backend *backend, const float *x, size_t n,
               float *dy, float *dx)
{
    const struct nn_layer_ops *ops = nn_layer_ops_of(place->layer.kind);
    if (!place->layer.norm) {
        ops->back(arena, place, backend, n, x, place->y,
                  place->layer.activation, dy, dx);
        return;
    }
    float *dbefore = place->dbefore == NULL ? dy : place->dbefore;
    nn_norm_back(arena, place, backend, n, dy, dbefore);
    ops->back(arena, place, backend, n, x, place->before, ACTIVATION_NONE,
              dbefore, dx);
}

/* Adds to dinput, the gradient of output i, what the layers leave that add
   it; `dlast` is the last layer's. */
static void
add_sums(const struct nn_graph *graph, struct tensor_backend *backend, size_t n,
         size_t i, const float *dlast, float *dinput)
{
    for (size_t j = graph->layers; dinput != NULL && j-- > i;) {
        const struct nn_place *place = &graph->layer[j];
        const float *dsum = j + 1 == graph->layers ? dlast : place->dy;
        if (place->added != i) {
            continue;
        }
        if (graph->filled[i]) {
            backend->ops->add(backend, n * place->out, dsum, ACTIVATION_NONE,
                              dinput);
        } else {
            memcpy(dinput, dsum, n * place->out * sizeof *dinput);
        }
        graph->filled[i] = true;
    }
}

void
nn_graph_backward(struct nn_graph *graph, struct tensor_backend *backend,
                  const float *x, size_t n, float *dy, float *dx)
{
    const float *dlast = dy;
    memset(graph->filled, 0, (graph->layers + 1) * sizeof *graph->filled);
    for (size_t i = graph->layers; i-- > 0;) {
        const struct nn_place *place = &graph->layer[i];
        size_t from = place->input;
        float *dinput = from == 0 ? dx : graph->layer[from - 1].dy;
        bool again = dinput != NULL && graph->filled[from];
        backward_layer(graph->arena, place, backend, output(graph, x, from), n,
                       dy, again ? graph->scratch : dinput);
        if (again) {
            backend->ops->add(backend, n * place->in, graph->scratch,
                              ACTIVATION_NONE, dinput);
        }
        graph->filled[from] = true;
        dy = i == 0 ? dx : graph->layer[i - 1].dy;
        add_sums(graph, backend, n, i, dlast, dy);
    }
}
