/*
 * forward.c: the encoder's forward pass, in plain floats.
 *
 * Nothing about privacy rests on it (invariant 1). One row of activations, one
 * kind of layer; a convolution would be another kind beside dense().
 */
#include "base/maths.h"
#include "client/device.h"

#define LANES 16u

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

/*
 * w . x in sixteen running sums, added up in a fixed order: fast without
 * letting the compiler reorder, and the same bits everywhere.
 */
static float
dot(const float *w, const float *x, uint32_t n)
{
    float sum[LANES] = {0};
    float total = 0;
    uint32_t whole = n - n % LANES;
    for (uint32_t i = 0; i < whole; i += LANES) {
        for (uint32_t j = 0; j < LANES; j++) {
            sum[j] += w[i + j] * x[i + j];
        }
    }
    for (uint32_t i = whole; i < n; i++) {
        sum[i - whole] += w[i] * x[i];
    }
    for (uint32_t j = 0; j < LANES; j++) {
        total += sum[j];
    }
    return total;
}

static void
dense(const struct device_layer *layer, const float *x, float *y)
{
    for (uint32_t i = 0; i < layer->out; i++) {
        const float *row = layer->weight + (size_t)i * layer->in;
        y[i] = layer->activation(dot(row, x, layer->in) + layer->bias[i]);
    }
}

/* The input becomes the output, layer by layer, between two buffers. */
void
forward_run(struct sotto_client *client)
{
    client->z = client->x;
    for (uint32_t i = 0; i < client->sizes.layers; i++) {
        float *from = client->z;
        dense(&client->layer[i], from, client->spare);
        client->z = client->spare;
        client->spare = from;
    }
}
