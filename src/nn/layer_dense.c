/*
 * layer_dense.c: y = activation(W x + b).
 */
#include "nn/layers.h"

static enum sotto_status
plan_dense(const struct nn_planning *planning, const struct layer *layer,
           struct nn_place *place, struct sotto_error *err)
{
    (void)planning;
    (void)err;
    place->out = place->width = layer->out;
    place->fan = place->in;
    place->places = 1;
    return SOTTO_STATUS_OK;
}

static void
forward_dense(const struct nn_arena *arena, const struct nn_place *place,
              struct tensor_backend *backend, size_t n, const float *x,
              enum activation activation, float *y)
{
    backend->ops->dense(backend, n, place->in, place->out, x,
                        nn_arena_value(arena, place->weight),
                        nn_arena_value(arena, place->bias), activation, y);
}

static void
back_dense(const struct nn_arena *arena, const struct nn_place *place,
           struct tensor_backend *backend, size_t n, const float *x,
           const float *y, enum activation activation, float *dy, float *dx)
{
    backend->ops->dense_back(backend, n, place->in, place->out, x,
                             nn_arena_value(arena, place->weight), y,
                             activation, dy,
                             nn_arena_gradient(arena, place->weight),
                             nn_arena_gradient(arena, place->bias), dx);
}

const struct nn_layer_ops nn_dense = {plan_dense, forward_dense, back_dense};
