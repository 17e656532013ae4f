/*
 * sample_encoder.c: mechanisms of the papers' size to time.
 */
#include "bench/sample_encoder.h"

#include <math.h>
#include <stdlib.h>

#include "base/decimal.h"
#include "host/error.h"
#include "mechanism/compose.h"
#include "random/seeded.h"

#define LAYERS 4

static const uint32_t widths[LAYERS + 1] = {784, 400, 150, 50, 8};

/* Uniform weights of variance 1/in, so that activations keep their size. */
static float *
draw_weights(struct seeded *seeded, uint32_t in, uint32_t out)
{
    size_t count = (size_t)in * out;
    double bound = sqrt(3.0 / in);
    float *weight = malloc(count * sizeof *weight);
    for (size_t i = 0; weight != NULL && i < count; i++) {
        double u = (double)random_u32(&seeded->random) * 0x1p-32;
        weight[i] = (float)((2 * u - 1) * bound);
    }
    return weight;
}

static enum sotto_status
compose(const struct layer *layer, size_t layers,
        struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    struct schema_column column = {.name = "image",
                                   .kind = SOTTO_COLUMN_BYTES,
                                   .count = widths[0],
                                   .input = true,
                                   .scale = 1.0 / 255};
    struct compose_part part = {.covers = "features",
                                .channel = "laplace",
                                .eps = 4 * DECIMAL_UNIT,
                                .blocks = 1,
                                .d = layer[layers - 1].out,
                                .l = 4096};
    struct compose_spec spec = {.name = "bench",
                                .campaign = "bench",
                                .auxiliary = "not used",
                                .eps = 4 * DECIMAL_UNIT,
                                .column = &column,
                                .columns = 1,
                                .layer = layer,
                                .layers = layers,
                                .part = &part,
                                .parts = 1};
    return compose_open(&spec, ret_mechanism, err);
}

enum sotto_status
sample_encoder_new(struct sotto_mechanism **ret_mechanism,
                   struct sotto_error *err)
{
    struct layer layer[LAYERS];
    float *weight[LAYERS];
    float *bias = calloc(widths[1], sizeof *bias);
    struct seeded seeded;
    bool whole = bias != NULL;
    enum sotto_status status;
    seeded_init(&seeded, 1, 0);
    for (int i = 0; i < LAYERS; i++) {
        weight[i] = draw_weights(&seeded, widths[i], widths[i + 1]);
        whole = whole && weight[i] != NULL;
        layer[i] = (struct layer){
            .in = widths[i],
            .out = widths[i + 1],
            .activation = i + 1 < LAYERS ? ACTIVATION_RELU : ACTIVATION_NONE,
            .weight = weight[i],
            .bias = bias};
    }
    status = whole ? compose(layer, LAYERS, ret_mechanism, err)
                   : host_fail_memory(err);
    for (int i = 0; i < LAYERS; i++) {
        free(weight[i]);
    }
    free(bias);
    return status;
}

/* A convolution over images of side x side, which keeps what is at their edges,
   and the largest of every four pixels; sides are halved, and rounded up. */
#define CONV(side, channels_in, channels_out, size, step)                      \
    {                                                                          \
        .in = (side) * (side) * (channels_in),                                 \
        .out = ((side) / (step)) * ((side) / (step)) * (channels_out),         \
        .activation = ACTIVATION_RELU, .kind = LAYER_CONV, .height = (side),   \
        .width = (side), .channels = (channels_in), .filters = (channels_out), \
        .kernel = (size), .stride = (step), .pad = (size) / 2                  \
    }
#define POOL(side, channels_in)                                                \
    {                                                                          \
        .in = (side) * (side) * (channels_in),                                 \
        .out = (((side) + 1) / 2) * (((side) + 1) / 2) * (channels_in),        \
        .kind = LAYER_POOL_MAX, .height = (side), .width = (side),             \
        .channels = (channels_in), .kernel = 2, .stride = 2, .pad = (side) % 2 \
    }

#define IMAGE_LAYERS 6
static const struct layer image_layers[IMAGE_LAYERS] = {
    CONV(28, 1, 16, 5, 2),
    CONV(14, 16, 32, 3, 1),
    POOL(14, 32),
    CONV(7, 32, 64, 3, 1),
    POOL(7, 64),
    {.in = 1024, .out = 64, .activation = ACTIVATION_NONE},
};

enum sotto_status
sample_encoder_images_new(struct sotto_mechanism **ret_mechanism,
                          struct sotto_error *err)
{
    static const float bias[64];
    struct layer layer[IMAGE_LAYERS];
    float *weight[IMAGE_LAYERS] = {NULL};
    struct seeded seeded;
    bool whole = true;
    enum sotto_status status;
    seeded_init(&seeded, 1, 0);
    for (int i = 0; i < IMAGE_LAYERS; i++) {
        uint32_t in = image_layers[i].in, out = image_layers[i].out;
        layer[i] = image_layers[i];
        if (layer[i].kind == LAYER_CONV) {
            in = layer[i].kernel * layer[i].kernel * layer[i].channels;
            out = layer[i].filters;
        } else if (layer[i].kind != LAYER_DENSE) {
            continue;
        }
        weight[i] = draw_weights(&seeded, in, out);
        whole = whole && weight[i] != NULL;
        layer[i].weight = weight[i];
        layer[i].bias = bias;
    }
    status = whole ? compose(layer, IMAGE_LAYERS, ret_mechanism, err)
                   : host_fail_memory(err);
    for (int i = 0; i < IMAGE_LAYERS; i++) {
        free(weight[i]);
    }
    return status;
}
