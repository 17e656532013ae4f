/*
 * forward.c: the encoder's forward pass, in plain floats.
 *
 * Nothing about privacy rests on it (invariant 1) but that its time does not
 * depend on the record (invariant 7, flush.h). One row of activations; layers
 * over images are image.c's.
 */
#include "base/maths.h"
#include "client/device.h"
#include "client/flush.h"
#include "client/lanes.h"

static float
identity(float x)
{
    return x;
}

static const struct {
    const char *name;
    forward_function *function;
} activations[] = {
    {"none", identity},
    {"relu", maths_relu},
    {"sigmoid", maths_sigmoid},
    {"tanh", maths_tanh},
};

forward_function *
forward_activation(struct reader_word name)
{
    for (size_t i = 0; i < sizeof activations / sizeof activations[0]; i++) {
        if (reader_is(name, activations[i].name)) {
            return activations[i].function;
        }
    }
    return NULL;
}

static void
dense(const struct device_layer *layer, const float *x, float *y)
{
    for (uint32_t i = 0; i < layer->out; i++) {
        float sum[LANES] = {0};
        lanes_add(sum, layer->weight + (size_t)i * layer->in, x, layer->in);
        y[i] =
            flush_small(layer->activation(lanes_total(sum) + layer->bias[i]));
    }
}

void
forward_start(struct sotto_client *client)
{
    client->x = client->buffer;
    client->z = client->buffer;
    client->spare = client->buffer + client->sizes.width;
    client->keep = client->spare + client->sizes.width;
}

/* `kept` is the input that an earlier layer left for a skip. */
static void
run_layer(const struct device_layer *layer, const float *x, const float *kept,
          float *y)
{
    switch (layer->kind) {
    case DEVICE_DENSE:
        dense(layer, x, y);
        break;
    case DEVICE_CONV:
        image_conv(layer, x,
                   layer->skip == 0   ? NULL
                   : layer->skip == 1 ? x
                                      : kept,
                   y);
        break;
    default:
        image_pool(layer, x, y);
        break;
    }
}

/*
 * The input becomes the output, layer by layer, between two buffers. Where a
 * later layer adds a layer's input, that buffer is put aside and a third takes
 * its place; at most one skip is open at a time, so it is free again then.
 * Every run starts with the same buffers, whatever the last one left.
 */
void
forward_run_to(struct sotto_client *client, uint32_t layers)
{
    forward_start(client);
    for (uint32_t i = 0; i < layers; i++) {
        const struct device_layer *layer = &client->layer[i];
        float *from = client->z;
        run_layer(layer, from, client->keep, client->spare);
        client->z = client->spare;
        client->spare = from;
        if (layer->kept) {
            client->spare = client->keep;
            client->keep = from;
        }
    }
}

void
forward_run(struct sotto_client *client)
{
    forward_run_to(client, client->sizes.layers);
}
