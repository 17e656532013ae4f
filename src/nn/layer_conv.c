/*
 * layer_conv.c: y = activation(W * x + b) at every place of a square window.
 */
#include "nn/layers.h"

#include "host/error.h"

#define SIDE_MAX 65535u               /* of images and kernels */
#define ENTRIES_MAX ((size_t)1 << 28) /* of an image, or of weights */

/* Whether a window makes sense, and nothing overflows. */
static bool
window_fits(const struct layer *layer, size_t filters)
{
    const size_t sides[] = {layer->height, layer->width,  layer->channels,
                            filters,       layer->kernel, layer->stride,
                            layer->pad};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        if (sides[i] > SIDE_MAX) {
            return false;
        }
    }
    size_t padding = 2 * (size_t)layer->pad;
    return layer->channels > 0 && filters > 0 && layer->kernel > 0 &&
           layer->stride > 0 && layer->height > 0 && layer->width > 0 &&
           layer->height + padding >= layer->kernel &&
           layer->width + padding >= layer->kernel &&
           (layer->kind == LAYER_CONV || layer->pad < layer->kernel);
}

/* a b c, or SIZE_MAX if that is more than ENTRIES_MAX; a, b, c below 2^17. */
static size_t
entries(size_t a, size_t b, size_t c)
{
    return a * b > ENTRIES_MAX || a * b * c > ENTRIES_MAX ? SIZE_MAX
                                                          : a * b * c;
}

enum sotto_status
nn_window_plan(const struct nn_planning *planning, const struct layer *layer,
               size_t filters, struct nn_place *place, struct sotto_error *err)
{
    if (!window_fits(layer, filters) ||
        entries(layer->height, layer->width, layer->channels) != place->in) {
        return host_fail(err, SOTTO_STATUS_INPUT, planning->at,
                         "layer %zu of '%s' does not fit: %zu entries as "
                         "%ux%ux%u, kernel %u, stride %u, padding %u",
                         planning->at, planning->prefix, place->in,
                         layer->height, layer->width, layer->channels,
                         layer->kernel, layer->stride, layer->pad);
    }
    place->window = (struct tensor_window){
        layer->height, layer->width,  layer->channels, filters,
        layer->kernel, layer->stride, layer->pad};
    place->width = filters;
    place->places = tensor_window_places(&place->window);
    place->out =
        entries(tensor_window_side(&place->window, layer->height),
                tensor_window_side(&place->window, layer->width), filters);
    place->layer.made = (struct layer_image){
        (uint32_t)tensor_window_side(&place->window, layer->height),
        (uint32_t)tensor_window_side(&place->window, layer->width),
        (uint32_t)filters};
    if (place->out == SIZE_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, planning->at,
                         "layer %zu of '%s' is too large", planning->at,
                         planning->prefix);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
plan_conv(const struct nn_planning *planning, const struct layer *layer,
          struct nn_place *place, struct sotto_error *err)
{
    enum sotto_status status =
        nn_window_plan(planning, layer, layer->filters, place, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    place->fan = entries(layer->kernel, layer->kernel, layer->channels);
    if (place->fan > ENTRIES_MAX / place->width) {
        return host_fail(err, SOTTO_STATUS_LIMIT, planning->at,
                         "layer %zu of '%s' is too large", planning->at,
                         planning->prefix);
    }
    return SOTTO_STATUS_OK;
}

static void
forward_conv(const struct nn_arena *arena, const struct nn_place *place,
             struct tensor_backend *backend, size_t n, const float *x,
             enum activation activation, float *y)
{
    backend->ops->conv(backend, n, &place->window, x,
                       nn_arena_value(arena, place->weight),
                       nn_arena_value(arena, place->bias), activation, y);
}

static void
back_conv(const struct nn_arena *arena, const struct nn_place *place,
          struct tensor_backend *backend, size_t n, const float *x,
          const float *y, enum activation activation, float *dy, float *dx)
{
    backend->ops->conv_back(backend, n, &place->window, x,
                            nn_arena_value(arena, place->weight), y, activation,
                            dy, nn_arena_gradient(arena, place->weight),
                            nn_arena_gradient(arena, place->bias), dx);
}

const struct nn_layer_ops nn_conv = {plan_conv, forward_conv, back_conv};
