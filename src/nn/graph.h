/*
 * graph.h: layers that take what earlier ones made: dense ones, convolutions
 * and pools, with batch norm where asked for, and sums.
 *
 *     nn_arena_init(&arena);
 *     nn_graph_plan(&net, &arena, "net", 784, layers, 2, err); // arena's rows
 *     nn_arena_allocate(&arena, err);
 *     nn_graph_init(&net, seed, stream);                       // weights
 *     nn_graph_reserve(&net, 64, err);                         // activations
 *     const float *y = nn_graph_forward(&net, backend, x, n, true);
 *     nn_graph_backward(&net, backend, x, n, dy, NULL);        // gradients
 *
 * A layer with a norm has no bias: `bias` is SIZE_MAX there, as `gain` and the
 * rest are without one. That of a convolution is over channels. A pool has no
 * parameters at all. Images are height * width * channels, row-major.
 *
 * What a layer takes and adds is said by `from` (encode/layer.h), and is added
 * behind a norm. A skip, and one with a projection:
 *
 *     x -> conv, norm, relu -> conv, norm, (+ x), relu         from {0, 2}
 *
 *     0  conv, norm, relu    of x
 *     1  conv 1x1, norm      of x, two places before it        from {2, 0}
 *     2  conv, norm, relu    of 0, and layer 1 is added        from {2, 1}
 *
 * Every layer but the last is used by a later one.
 */
#ifndef SOTTO_NN_GRAPH_H
#define SOTTO_NN_GRAPH_H

#include "nn/arena.h"

struct nn_place {       /* where a layer's parameters and activations are */
    struct layer layer; /* as it was given, and measured */
    size_t in, out;     /* entries */
    struct tensor_window window; /* not dense */
    size_t input;  /* what goes in: 0 is x, i what layer i - 1 makes */
    size_t added;  /* likewise; SIZE_MAX: nothing */
    size_t fan;    /* weights of an output: a convolution's kernel^2 channels */
    size_t width;  /* entries that a norm or bias has: filters, or `out` */
    size_t places; /* out / width */
    size_t weight, bias, gain, shift, mean, variance; /* rows of the arena */
    float *before;  /* product, where there is a norm */
    float *y, *dy;  /* output, and its gradient */
    float *dbefore; /* of the product, where there are a norm and a sum */
    float *batch_mean, *batch_inverse;
};

struct nn_graph {
    struct nn_arena *arena;
    size_t in, out, layers;
    struct nn_place *layer;
    bool *filled;    /* backward: which gradients were set */
    float *scratch;  /* of a second layer that takes the same input */
    size_t widest;   /* of the inputs that several layers take; 0: none */
    size_t reserved; /* rows */
    float *memory;
};

/*
 * Adds the rows "PREFIX.I.weight" (a convolution's: filters rows of kernel *
 * kernel * channels) and so on. Clear the graph in any case. Statuses: MEMORY,
 * LIMIT, INPUT (layers that do not fit together; the position is the layer's
 * number).
 */
SOTTO_CHECKED enum sotto_status
nn_graph_plan(struct nn_graph *graph, struct nn_arena *arena,
              const char *prefix, size_t in, const struct layer *layer,
              size_t layers, struct sotto_error *err);
/* Glorot's uniform weights (He's before ReLU), biases 0, from (seed, stream):
   the same whatever the number of threads. */
void nn_graph_init(struct nn_graph *graph, uint64_t seed, uint64_t stream);
/* Activations for batches of up to n rows. Statuses: MEMORY, LIMIT. */
SOTTO_CHECKED enum sotto_status
nn_graph_reserve(struct nn_graph *graph, size_t n, struct sotto_error *err);
/* Gives the activations back, and keeps the plan. */
void nn_graph_release(struct nn_graph *graph);
void nn_graph_clear(struct nn_graph *graph);

/* n rows of `out`, in the graph until the next call. */
const float *nn_graph_forward(struct nn_graph *graph,
                              struct tensor_backend *backend, const float *x,
                              size_t n, bool training);
/*
 * After a forward in training with the same x and n. `dy` (n rows of out) is
 * overwritten. Sets the gradients of all its rows of the arena; and dx, unless
 * NULL.
 */
void nn_graph_backward(struct nn_graph *graph, struct tensor_backend *backend,
                       const float *x, size_t n, float *dy, float *dx);
/* The last layer's own room for a gradient: n rows of out, to pass as dy. */
float *nn_graph_dy(struct nn_graph *graph);

/* Floats of all weights and biases without norms. */
size_t nn_graph_floats(const struct nn_graph *graph);
/* The layers as devices run them, norms folded in, with their weights in
   `room`, which takes nn_graph_floats. */
void nn_graph_export(const struct nn_graph *graph, float *room,
                     struct layer *ret_layer);

#endif
