/*
 * layer_pool.c: the largest or the mean of each channel in each window. A pool
 * has no parameters, norm, sum or activation.
 */
#include "nn/layers.h"

#include "host/error.h"

static enum sotto_status
plan_pool(const struct nn_planning *planning, const struct layer *layer,
          struct nn_place *place, struct sotto_error *err)
{
    enum sotto_status status =
        nn_window_plan(planning, layer, layer->channels, place, err);
    if (status == SOTTO_STATUS_OK && (layer->norm || layer->from[1] != 0 ||
                                      layer->activation != ACTIVATION_NONE)) {
        status = host_fail(err, SOTTO_STATUS_INPUT, planning->at,
                           "layer %zu of '%s', a pool, has no norm, sum or "
                           "activation",
                           planning->at, planning->prefix);
    }
    return status;
}

static enum tensor_pool
pool_of(const struct nn_place *place)
{
    return place->layer.kind == LAYER_POOL_MAX ? TENSOR_POOL_MAX
                                               : TENSOR_POOL_MEAN;
}

static void
forward_pool(const struct nn_arena *arena, const struct nn_place *place,
             struct tensor_backend *backend, size_t n, const float *x,
             enum activation activation, float *y)
{
    (void)arena;
    (void)activation;
    backend->ops->pool(backend, n, &place->window, pool_of(place), x, y);
}

static void
back_pool(const struct nn_arena *arena, const struct nn_place *place,
          struct tensor_backend *backend, size_t n, const float *x,
          const float *y, enum activation activation, float *dy, float *dx)
{
    (void)arena;
    (void)activation;
    if (dx != NULL) {
        backend->ops->pool_back(backend, n, &place->window, pool_of(place), x,
                                y, dy, dx);
    }
}

const struct nn_layer_ops nn_pool_max = {plan_pool, forward_pool, back_pool};
const struct nn_layer_ops nn_pool_mean = {plan_pool, forward_pool, back_pool};
