/*
 * stack.h: layers one after another: dense ones, convolutions and pools, with
 * batch norm where asked for, and skips.
 *
 *     nn_arena_init(&arena);
 *     nn_stack_plan(&net, &arena, "net", 784, layers, 2, err); // arena's rows
 *     nn_arena_allocate(&arena, err);
 *     nn_stack_init(&net, seed, stream);                       // weights
 *     nn_stack_reserve(&net, 64, err);                         // activations
 *     const float *y = nn_stack_forward(&net, backend, x, n, true);
 *     nn_stack_backward(&net, backend, x, n, dy, NULL);        // gradients
 *
 * A layer with a norm has no bias: `bias` is SIZE_MAX there, as `gain` and the
 * rest are without one. That of a convolution is over channels. A pool has no
 * parameters at all.
 *
 * Images are height * width * channels, row-major. A layer with a skip of r > 0
 * gets the input of the layer r - 1 places before it (r = 1: its own) added to
 * its result, after bias or norm and before its activation:
 *
 *     x -> conv, norm, relu -> conv, norm, (+ x), relu -> ...     r = 2
 *
 * The shapes are the same then, and no layer is under two skips.
 */
#ifndef SOTTO_NN_STACK_H
#define SOTTO_NN_STACK_H

#include "nn/arena.h"

#define NN_LAYERS_MAX 16u

enum nn_kind { NN_DENSE = 0, NN_CONV, NN_POOL_MAX, NN_POOL_MEAN };

static inline bool
nn_pools(enum nn_kind kind)
{
    return kind == NN_POOL_MAX || kind == NN_POOL_MEAN;
}

struct nn_layer {
    size_t out; /* dense: entries that come out; the others' are computed */
    enum tensor_activation activation;
    bool norm; /* batch norm between the product and the activation */
    enum nn_kind kind;
    uint32_t height, width, channels; /* not dense: the image that goes in */
    uint32_t filters;                 /* convolution: channels that come out */
    uint32_t kernel, stride, pad;     /* not dense */
    uint32_t skip;                    /* convolution; 0: none */
};

struct nn_place { /* where a layer's parameters and activations are */
    size_t in, out;
    enum tensor_activation activation;
    bool norm;
    enum nn_kind kind;
    struct tensor_window window; /* not dense */
    size_t skip;
    size_t fan;    /* weights of an output: a convolution's kernel^2 channels */
    size_t width;  /* entries that a norm or bias has: filters, or `out` */
    size_t places; /* out / width */
    size_t weight, bias, gain, shift, mean, variance; /* rows of the arena */
    float *before;  /* product, where there is a norm */
    float *y, *dy;  /* output, and its gradient */
    float *dbefore; /* of the product, where there are a norm and a skip */
    float *batch_mean, *batch_inverse;
};

struct nn_stack {
    struct nn_arena *arena;
    size_t in, out, layers;
    struct nn_place layer[NN_LAYERS_MAX];
    size_t reserved; /* rows */
    void *memory;
};

/*
 * Adds the rows "PREFIX.I.weight" (a convolution's: filters rows of kernel *
 * kernel * channels) and so on. Statuses: LIMIT, INPUT (layers that do not fit
 * together; the position is the layer's number).
 */
SOTTO_CHECKED enum sotto_status
nn_stack_plan(struct nn_stack *stack, struct nn_arena *arena,
              const char *prefix, size_t in, const struct nn_layer *layer,
              size_t layers, struct sotto_error *err);
/* Glorot's uniform weights (He's before ReLU), biases 0, from (seed, stream):
   the same whatever the number of threads. */
void nn_stack_init(struct nn_stack *stack, uint64_t seed, uint64_t stream);
/* Activations for batches of up to n rows. Statuses: MEMORY, LIMIT. */
SOTTO_CHECKED enum sotto_status
nn_stack_reserve(struct nn_stack *stack, size_t n, struct sotto_error *err);
void nn_stack_clear(struct nn_stack *stack);

/* n rows of `out`, in the stack until the next call. */
const float *nn_stack_forward(struct nn_stack *stack,
                              struct tensor_backend *backend, const float *x,
                              size_t n, bool training);
/*
 * After a forward in training with the same x and n. `dy` (n rows of out) is
 * overwritten. Sets the gradients of all its rows of the arena; and dx, unless
 * NULL.
 */
void nn_stack_backward(struct nn_stack *stack, struct tensor_backend *backend,
                       const float *x, size_t n, float *dy, float *dx);
/* The last layer's own room for a gradient: n rows of out, to pass as dy. */
float *nn_stack_dy(struct nn_stack *stack);

/* A layer with its norm folded in: weight out rows of in (a convolution's:
   filters rows of kernel * kernel * channels), and bias, into the caller's
   room. Nothing for a pool. */
void nn_stack_folded(const struct nn_stack *stack, size_t layer, float *weight,
                     float *bias);

#endif
