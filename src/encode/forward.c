/*
 * forward.c: the encoder's forward pass, in plain floats.
 *
 * Nothing about privacy rests on it (invariant 1) but that its time does not
 * depend on the record (invariant 7, flush.h). One row of activations; layers
 * over images are image.c's.
 *
 * What a layer makes goes to the buffer that the reader of the manifest chose
 * for it: one that holds nothing a later layer still takes. Buffers are all as
 * wide as the widest of x and the layers.
 */
#include "encode/encode.h"

#include "base/maths.h"
#include "encode/flush.h"
#include "encode/lanes.h"

static float
identity(float x)
{
    return x;
}

float (*forward_activation(enum activation activation))(float)
{
    static float (*const functions[])(float) = {identity, maths_relu,
                                                maths_sigmoid, maths_tanh};
    return functions[activation];
}

void
forward_dense(const struct layer *layer, const float *x, const float *added,
              float *y)
{
    float (*activation)(float) = forward_activation(layer->activation);
    for (uint32_t i = 0; i < layer->out; i++) {
        float sum[LANES] = {0};
        size_t row = (size_t)i * layer->in;
        float value;
        if (layer->bf16) {
            lanes_add_half(sum, layer->half + row, x, layer->in);
        } else {
            lanes_add(sum, layer->weight + row, x, layer->in);
        }
        value = lanes_total(sum) + layer->bias[i];
        if (layer->from[1] != 0) {
            value += added[i];
        }
        y[i] = flush_small(activation(value));
    }
}

void
forward_start(struct encode_plan *plan)
{
    plan->x = plan->buffer;
    plan->z = plan->buffer;
    plan->input = plan->buffer;
}

/* Where the output is that layer i takes as its from[0] or from[1] = back: x
   is in the first buffer. */
static float *
find_output(const struct encode_plan *plan, uint32_t i, uint32_t back)
{
    size_t slot = back > i ? 0 : plan->layer[i - back].slot;
    return plan->buffer + slot * plan->width;
}

static void
run_layer(struct encode_plan *plan, uint32_t i)
{
    const struct layer *layer = &plan->layer[i];
    const float *added =
        layer->from[1] == 0 ? NULL : find_output(plan, i, layer->from[1]);
    plan->input = find_output(plan, i, layer_back(layer));
    plan->z = find_output(plan, i, 0);
    switch (layer->kind) {
#ifndef SOTTO_WITHOUT_IMAGES
    case LAYER_CONV:
        image_conv(layer, plan->input, added, plan->z);
        break;
    case LAYER_POOL_MAX:
    case LAYER_POOL_MEAN:
        image_pool(layer, plan->input, plan->z);
        break;
#endif
    default:
        forward_dense(layer, plan->input, added, plan->z);
        break;
    }
}

/* Every run starts with the same buffers, whatever the last one left. */
void
forward_run_to(struct encode_plan *plan, uint32_t layers)
{
    forward_start(plan);
    for (uint32_t i = 0; i < layers; i++) {
        run_layer(plan, i);
    }
}

void
forward_run(struct encode_plan *plan)
{
    forward_run_to(plan, plan->layers);
}
