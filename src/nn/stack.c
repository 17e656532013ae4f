/*
 * stack.c: dense layers one after another, with batch norm where asked for.
 *
 *     x -> [ product + bias -> activation ] -> ... -> y
 *     x -> [ product -> norm -> activation ] -> ...       (a layer with a norm)
 *
 * A layer with a norm has no bias: the norm would take it away again, and its
 * gradient would be nothing but rounding.
 */
#include "nn/stack.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "random/seeded.h"

#define ALIGNMENT ((size_t)64)
#define STEP (ALIGNMENT / sizeof(float))
#define MOMENTUM 0.1F
#define NORM_EPSILON 1e-5

/* ---- Parameters --------------------------------------------------------- */

/* Adds PREFIX.LAYER.WHAT; false if there is no room. */
static bool
add_row(struct nn_arena *arena, const char *prefix, size_t layer,
        const char *what, size_t rows, size_t columns, bool fixed,
        size_t *ret_row)
{
    char name[NN_NAME_MAX];
    int length = snprintf(name, sizeof name, "%s.%zu.%s", prefix, layer, what);
    if (length < 0 || (size_t)length >= sizeof name) {
        return false;
    }
    *ret_row = nn_arena_add(arena, name, rows, columns, fixed);
    return *ret_row != SIZE_MAX;
}

static bool
plan_layer(struct nn_arena *arena, const char *prefix, size_t i,
           struct nn_place *place)
{
    size_t out = place->out;
    place->bias = place->gain = place->shift = SIZE_MAX;
    place->mean = place->variance = SIZE_MAX;
    if (!add_row(arena, prefix, i, "weight", out, place->in, false,
                 &place->weight)) {
        return false;
    }
    if (!place->norm) {
        return add_row(arena, prefix, i, "bias", out, 0, false, &place->bias);
    }
    return add_row(arena, prefix, i, "gain", out, 0, false, &place->gain) &&
           add_row(arena, prefix, i, "shift", out, 0, false, &place->shift) &&
           add_row(arena, prefix, i, "mean", out, 0, true, &place->mean) &&
           add_row(arena, prefix, i, "variance", out, 0, true,
                   &place->variance);
}

enum sotto_status
nn_stack_plan(struct nn_stack *stack, struct nn_arena *arena,
              const char *prefix, size_t in, const struct nn_layer *layer,
              size_t layers, struct sotto_error *err)
{
    memset(stack, 0, sizeof *stack);
    if (layers == 0 || layers > NN_LAYERS_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "'%s' has %zu layers: from 1 to %u are possible",
                         prefix, layers, NN_LAYERS_MAX);
    }
    stack->arena = arena;
    stack->in = in;
    stack->layers = layers;
    for (size_t i = 0; i < layers; i++) {
        struct nn_place *place = &stack->layer[i];
        place->in = in;
        place->out = in = layer[i].out;
        place->activation = layer[i].activation;
        place->norm = layer[i].norm;
        if (!plan_layer(arena, prefix, i, place)) {
            return host_fail(err, SOTTO_STATUS_LIMIT, i,
                             "no room for layer %zu of '%s': a model has at "
                             "most %u tensors, with names below %u bytes",
                             i, prefix, NN_ROWS_MAX, NN_NAME_MAX);
        }
    }
    stack->out = in;
    return SOTTO_STATUS_OK;
}

/* Uniform in (-limit, limit), by the middle of 2^24 equal parts. */
static void
fill_uniform(struct seeded *seeded, size_t size, double limit, float *weight)
{
    for (size_t i = 0; i < size; i++) {
        double u = ((random_u32(&seeded->random) >> 8) + 0.5) / 16777216;
        weight[i] = (float)(limit * (2 * u - 1));
    }
}

static void
fill_constant(float *row, size_t size, float value)
{
    for (size_t i = 0; row != NULL && i < size; i++) {
        row[i] = value;
    }
}

/* Variance 2 / in before ReLU (He), 2 / (in + out) otherwise (Glorot). */
void
nn_stack_init(struct nn_stack *stack, uint64_t seed, uint64_t stream)
{
    const struct nn_arena *arena = stack->arena;
    struct seeded seeded;
    seeded_init(&seeded, seed, stream);
    for (size_t i = 0; i < stack->layers; i++) {
        const struct nn_place *place = &stack->layer[i];
        bool relu = place->activation == TENSOR_ACTIVATION_RELU;
        double fan = (double)(relu ? place->in : place->in + place->out);
        fill_uniform(&seeded, place->in * place->out, sqrt(6 / fan),
                     nn_arena_value(arena, place->weight));
        fill_constant(nn_arena_value(arena, place->bias), place->out, 0);
        fill_constant(nn_arena_value(arena, place->gain), place->out, 1);
        fill_constant(nn_arena_value(arena, place->shift), place->out, 0);
        fill_constant(nn_arena_value(arena, place->mean), place->out, 0);
        fill_constant(nn_arena_value(arena, place->variance), place->out, 1);
    }
}

/* ---- Activations -------------------------------------------------------- */

/* The next `size` floats of the block; NULL if there is none yet. */
static float *
carve(float *base, size_t *at, size_t size)
{
    float *place = base == NULL ? NULL : base + *at;
    *at += (size + STEP - 1) / STEP * STEP;
    return place;
}

/* Places for n rows; how many floats they take. */
static size_t
carve_all(struct nn_stack *stack, float *base, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < stack->layers; i++) {
        struct nn_place *place = &stack->layer[i];
        place->y = carve(base, &at, n * place->out);
        place->dy = carve(base, &at, n * place->out);
        place->before = place->norm ? carve(base, &at, n * place->out) : NULL;
        place->batch_mean = place->norm ? carve(base, &at, place->out) : NULL;
        place->batch_inverse =
            place->norm ? carve(base, &at, place->out) : NULL;
    }
    return at;
}

enum sotto_status
nn_stack_reserve(struct nn_stack *stack, size_t n, struct sotto_error *err)
{
    size_t width = 0;
    for (size_t i = 0; i < stack->layers; i++) {
        width += stack->layer[i].out;
    }
    if (n != 0 && width > SIZE_MAX / 64 / n) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "a batch of %zu rows is too large", n);
    }
    size_t size = carve_all(stack, NULL, n) * sizeof(float);
    char *memory = malloc(size + ALIGNMENT);
    if (memory == NULL) {
        nn_stack_clear(stack);
        return host_fail_memory(err);
    }
    free(stack->memory);
    stack->memory = memory;
    stack->reserved = n;
    (void)carve_all(
        stack,
        (float *)(void *)(memory + ALIGNMENT - (uintptr_t)memory % ALIGNMENT),
        n);
    return SOTTO_STATUS_OK;
}

void
nn_stack_clear(struct nn_stack *stack)
{
    free(stack->memory);
    stack->memory = NULL;
    stack->reserved = 0;
    (void)carve_all(stack, NULL, 0);
}

float *
nn_stack_dy(struct nn_stack *stack)
{
    return stack->layer[stack->layers - 1].dy;
}

/* ---- Forward and backward ----------------------------------------------- */

static void
forward_layer(const struct nn_arena *arena, struct nn_place *place,
              struct tensor_backend *backend, const float *x, size_t n,
              bool training)
{
    const struct tensor_ops *ops = backend->ops;
    const float *weight = nn_arena_value(arena, place->weight);
    if (!place->norm) {
        ops->dense(backend, n, place->in, place->out, x, weight,
                   nn_arena_value(arena, place->bias), place->activation,
                   place->y);
        return;
    }
    ops->dense(backend, n, place->in, place->out, x, weight, NULL,
               TENSOR_ACTIVATION_NONE, place->before);
    ops->norm(backend, n, place->out, training, MOMENTUM, place->before,
              nn_arena_value(arena, place->gain),
              nn_arena_value(arena, place->shift),
              nn_arena_value(arena, place->mean),
              nn_arena_value(arena, place->variance), place->activation,
              place->batch_mean, place->batch_inverse, place->y);
}

const float *
nn_stack_forward(struct nn_stack *stack, struct tensor_backend *backend,
                 const float *x, size_t n, bool training)
{
    for (size_t i = 0; i < stack->layers; i++) {
        struct nn_place *place = &stack->layer[i];
        forward_layer(stack->arena, place, backend, x, n, training);
        x = place->y;
    }
    return x;
}

static void
backward_layer(const struct nn_arena *arena, struct nn_place *place,
               struct tensor_backend *backend, const float *x, size_t n,
               float *dy, float *dx)
{
    const struct tensor_ops *ops = backend->ops;
    const float *weight = nn_arena_value(arena, place->weight);
    float *dweight = nn_arena_gradient(arena, place->weight);
    if (!place->norm) {
        ops->dense_back(backend, n, place->in, place->out, x, weight, place->y,
                        place->activation, dy, dweight,
                        nn_arena_gradient(arena, place->bias), dx);
        return;
    }
    ops->norm_back(backend, n, place->out, place->before,
                   nn_arena_value(arena, place->gain), place->batch_mean,
                   place->batch_inverse, place->y, place->activation, dy,
                   nn_arena_gradient(arena, place->gain),
                   nn_arena_gradient(arena, place->shift), dy);
    ops->dense_back(backend, n, place->in, place->out, x, weight, place->before,
                    TENSOR_ACTIVATION_NONE, dy, dweight, NULL, dx);
}

void
nn_stack_backward(struct nn_stack *stack, struct tensor_backend *backend,
                  const float *x, size_t n, float *dy, float *dx)
{
    for (size_t i = stack->layers; i-- > 0;) {
        struct nn_place *place = &stack->layer[i];
        const float *input = i == 0 ? x : stack->layer[i - 1].y;
        float *dinput = i == 0 ? dx : stack->layer[i - 1].dy;
        backward_layer(stack->arena, place, backend, input, n, dy, dinput);
        dy = dinput;
    }
}

/* gain (W x - mean) / sqrt(variance + epsilon) + shift, as one product. */
void
nn_stack_folded(const struct nn_stack *stack, size_t layer, float *weight,
                float *bias)
{
    const struct nn_arena *arena = stack->arena;
    const struct nn_place *place = &stack->layer[layer];
    const float *from = nn_arena_value(arena, place->weight);
    const float *gain = nn_arena_value(arena, place->gain);
    const float *shift = nn_arena_value(arena, place->shift);
    const float *mean = nn_arena_value(arena, place->mean);
    const float *variance = nn_arena_value(arena, place->variance);
    if (!place->norm) {
        memcpy(weight, from, place->in * place->out * sizeof *weight);
        memcpy(bias, nn_arena_value(arena, place->bias),
               place->out * sizeof *bias);
        return;
    }
    for (size_t j = 0; j < place->out; j++) {
        double factor = gain[j] / sqrt((double)variance[j] + NORM_EPSILON);
        for (size_t i = 0; i < place->in; i++) {
            weight[j * place->in + i] =
                (float)(factor * from[j * place->in + i]);
        }
        bias[j] = (float)(shift[j] - factor * mean[j]);
    }
}
