/*
 * stack.c: layers one after another: activations, and the ways forward and
 * back.
 *
 *     x -> [ product + bias -> (+ skip) -> activation ] -> ... -> y
 *     x -> [ product -> norm -> (+ skip) -> activation ] -> ...
 *                                                       (a layer with a norm)
 *
 * A layer with a norm has no bias: the norm would take it away again, and its
 * gradient would be nothing but rounding. The gradient before the activation is
 * that of the skip, too: it is added where the skip began, once the layers
 * under it are done.
 */
#include "nn/stack.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"

#define ALIGNMENT ((size_t)64)
#define STEP (ALIGNMENT / sizeof(float))
#define MOMENTUM 0.1F

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
        place->dbefore = place->norm && place->skip != 0
                             ? carve(base, &at, n * place->out)
                             : NULL;
        place->batch_mean = place->norm ? carve(base, &at, place->width) : NULL;
        place->batch_inverse =
            place->norm ? carve(base, &at, place->width) : NULL;
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

/* ---- Forward ------------------------------------------------------------ */

static enum tensor_pool
pool_of(const struct nn_place *place)
{
    return place->kind == NN_POOL_MAX ? TENSOR_POOL_MAX : TENSOR_POOL_MEAN;
}

/* The product of a dense layer or a convolution. */
static void
multiply(const struct nn_arena *arena, const struct nn_place *place,
         struct tensor_backend *backend, const float *x, size_t n,
         enum tensor_activation activation, float *y)
{
    const struct tensor_ops *ops = backend->ops;
    const float *weight = nn_arena_value(arena, place->weight);
    const float *bias = nn_arena_value(arena, place->bias);
    if (place->kind == NN_CONV) {
        ops->conv(backend, n, &place->window, x, weight, bias, activation, y);
    } else {
        ops->dense(backend, n, place->in, place->out, x, weight, bias,
                   activation, y);
    }
}

/* `skip` is NULL, or what is added. */
static void
forward_layer(const struct nn_arena *arena, struct nn_place *place,
              struct tensor_backend *backend, const float *x, const float *skip,
              size_t n, bool training)
{
    const struct tensor_ops *ops = backend->ops;
    enum tensor_activation activation =
        skip == NULL ? place->activation : TENSOR_ACTIVATION_NONE;
    if (nn_pools(place->kind)) {
        ops->pool(backend, n, &place->window, pool_of(place), x, place->y);
    } else if (!place->norm) {
        multiply(arena, place, backend, x, n, activation, place->y);
    } else {
        multiply(arena, place, backend, x, n, TENSOR_ACTIVATION_NONE,
                 place->before);
        ops->norm(backend, n * place->places, place->width, training, MOMENTUM,
                  place->before, nn_arena_value(arena, place->gain),
                  nn_arena_value(arena, place->shift),
                  nn_arena_value(arena, place->mean),
                  nn_arena_value(arena, place->variance), activation,
                  place->batch_mean, place->batch_inverse, place->y);
    }
    if (skip != NULL) {
        ops->add(backend, n * place->out, skip, place->activation, place->y);
    }
}

/* What goes into layer i. */
static const float *
input_of(const struct nn_stack *stack, const float *x, size_t i)
{
    return i == 0 ? x : stack->layer[i - 1].y;
}

const float *
nn_stack_forward(struct nn_stack *stack, struct tensor_backend *backend,
                 const float *x, size_t n, bool training)
{
    for (size_t i = 0; i < stack->layers; i++) {
        struct nn_place *place = &stack->layer[i];
        const float *skip =
            place->skip == 0 ? NULL : input_of(stack, x, i + 1 - place->skip);
        forward_layer(stack->arena, place, backend, input_of(stack, x, i), skip,
                      n, training);
    }
    return input_of(stack, x, stack->layers);
}

/* ---- Back --------------------------------------------------------------- */

static void
multiply_back(const struct nn_arena *arena, const struct nn_place *place,
              struct tensor_backend *backend, const float *x, size_t n,
              const float *y, enum tensor_activation activation, float *dy,
              float *dx)
{
    const struct tensor_ops *ops = backend->ops;
    const float *weight = nn_arena_value(arena, place->weight);
    float *dweight = nn_arena_gradient(arena, place->weight);
    float *dbias = nn_arena_gradient(arena, place->bias);
    if (place->kind == NN_CONV) {
        ops->conv_back(backend, n, &place->window, x, weight, y, activation, dy,
                       dweight, dbias, dx);
    } else {
        ops->dense_back(backend, n, place->in, place->out, x, weight, y,
                        activation, dy, dweight, dbias, dx);
    }
}

/* Leaves dy as the gradient before the activation, if there is a skip. */
static void
backward_layer(const struct nn_arena *arena, struct nn_place *place,
               struct tensor_backend *backend, const float *x, size_t n,
               float *dy, float *dx)
{
    const struct tensor_ops *ops = backend->ops;
    if (nn_pools(place->kind)) {
        if (dx != NULL) {
            ops->pool_back(backend, n, &place->window, pool_of(place), x,
                           place->y, dy, dx);
        }
        return;
    }
    if (!place->norm) {
        multiply_back(arena, place, backend, x, n, place->y, place->activation,
                      dy, dx);
        return;
    }
    float *dbefore = place->dbefore == NULL ? dy : place->dbefore;
    ops->norm_back(backend, n * place->places, place->width, place->before,
                   nn_arena_value(arena, place->gain), place->batch_mean,
                   place->batch_inverse, place->y, place->activation, dy,
                   nn_arena_gradient(arena, place->gain),
                   nn_arena_gradient(arena, place->shift), dbefore);
    multiply_back(arena, place, backend, x, n, place->before,
                  TENSOR_ACTIVATION_NONE, dbefore, dx);
}

void
nn_stack_backward(struct nn_stack *stack, struct tensor_backend *backend,
                  const float *x, size_t n, float *dy, float *dx)
{
    const float *dskip = NULL; /* of the skip that is open */
    size_t begin = 0;          /* where that began */
    for (size_t i = stack->layers; i-- > 0;) {
        struct nn_place *place = &stack->layer[i];
        float *dinput = i == 0 ? dx : stack->layer[i - 1].dy;
        if (place->skip != 0) {
            dskip = dy;
            begin = i + 1 - place->skip;
        }
        backward_layer(stack->arena, place, backend, input_of(stack, x, i), n,
                       dy, dinput);
        if (dskip != NULL && i == begin) {
            if (dinput != NULL) {
                backend->ops->add(backend, n * place->in, dskip,
                                  TENSOR_ACTIVATION_NONE, dinput);
            }
            dskip = NULL;
        }
        dy = dinput;
    }
}
