/*
 * layer.c: sizes and names of a layer, whoever asks.
 */
#include "encode/layer.h"

const char *
activation_name(enum activation activation)
{
    static const char *const names[] = {"none", "relu", "sigmoid", "tanh"};
    return activation < ACTIVATION_COUNT ? names[activation] : "?";
}

/* Windows along a side: floor((side + 2 pad - kernel) / stride) + 1. */
bool
layer_measure(struct layer *layer)
{
    uint64_t around = 2 * (uint64_t)layer->pad, kernel = layer->kernel;
    if (layer->stride == 0 || layer->height + around < kernel ||
        layer->width + around < kernel) {
        return false;
    }
    layer->made_height =
        (uint32_t)((layer->height + around - kernel) / layer->stride + 1);
    layer->made_width =
        (uint32_t)((layer->width + around - kernel) / layer->stride + 1);
    return true;
}

uint32_t
layer_biases(const struct layer *layer)
{
    switch (layer->kind) {
    case LAYER_DENSE:
        return layer->out;
    case LAYER_CONV:
        return layer->made.channels;
    default:
        return 0;
    }
}

/* Below 2^30: a window has at most 31 x 31 places, an image 2^20 channels. */
uint32_t
layer_fan(const struct layer *layer)
{
    switch (layer->kind) {
    case LAYER_DENSE:
        return layer->in;
    case LAYER_CONV:
        return layer->kernel * layer->kernel * layer->image.channels;
    default:
        return layer->kernel * layer->kernel;
    }
}

uint64_t
layer_work(const struct layer *layer)
{
    return (uint64_t)layer->out * layer_fan(layer);
}
