/*
 * layer.c: reading one layer of the encoder from the manifest.
 *
 *     {"kind":"dense","in":784,"out":400,"activation":"relu"}
 *     {"kind":"conv","image":[28,28,1],"out":16,"kernel":5,"stride":2,
 *      "pad":2,"skip":0,"activation":"relu"}
 *     {"kind":"pool","image":[14,14,32],"kernel":2,"stride":2,"pad":0,
 *      "of":"max"}
 *
 * Hostile input: every number has a range, and no image, neither one that goes
 * in nor one that comes out, has more than DEVICE_WIDTH_MAX entries.
 */
#include "base/checked.h"
#include "client/device.h"

static uint32_t
number(struct reader *reader, uint32_t least, uint32_t most)
{
    return (uint32_t)reader_number(reader, least, most);
}

static forward_function *
read_activation(struct reader *reader)
{
    forward_function *activation;
    reader_expect(reader, ",\"activation\":");
    activation = forward_activation(reader_string(reader, 16));
    if (activation == NULL) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "the encoder has an activation this device does not know");
    }
    return activation;
}

static void
read_image(struct reader *reader, struct device_image *ret_image)
{
    reader_expect(reader, ",\"image\":[");
    ret_image->height = number(reader, 1, DEVICE_WIDTH_MAX);
    reader_expect(reader, ",");
    ret_image->width = number(reader, 1, DEVICE_WIDTH_MAX);
    reader_expect(reader, ",");
    ret_image->channels = number(reader, 1, DEVICE_WIDTH_MAX);
    reader_expect(reader, "]");
}

static void
read_window(struct reader *reader, struct device_layer *layer)
{
    reader_expect(reader, ",\"kernel\":");
    layer->kernel = number(reader, 1, DEVICE_KERNEL_MAX);
    reader_expect(reader, ",\"stride\":");
    layer->stride = number(reader, 1, DEVICE_STRIDE_MAX);
    reader_expect(reader, ",\"pad\":");
    layer->pad = number(reader, 0, DEVICE_KERNEL_MAX);
    if (layer->pad >= layer->kernel) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "a window of the encoder lies outside its image");
    }
}

/* Entries; 0 if they are too many. */
static uint32_t
entries(struct reader *reader, const struct device_image *image)
{
    uint64_t count = checked_multiply(
        checked_multiply(image->height, image->width), image->channels);
    if (count > DEVICE_WIDTH_MAX) {
        reader_fail(reader, SOTTO_STATUS_LIMIT,
                    "an image of the encoder has too many entries");
        return 0;
    }
    return (uint32_t)count;
}

/* Windows along a side: floor((side + 2 pad - kernel) / stride) + 1. */
static uint32_t
windows(struct reader *reader, const struct device_layer *layer, uint32_t side)
{
    uint32_t padded = side + 2 * layer->pad;
    if (reader->status != SOTTO_STATUS_OK) {
        return 0;
    }
    if (padded < layer->kernel) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "a window of the encoder is larger than its image");
        return 0;
    }
    return (padded - layer->kernel) / layer->stride + 1;
}

/* What goes in and what comes out, once image and window are known. */
static void
measure(struct reader *reader, struct device_layer *layer, uint32_t channels)
{
    layer->in = entries(reader, &layer->image);
    layer->made.height = windows(reader, layer, layer->image.height);
    layer->made.width = windows(reader, layer, layer->image.width);
    layer->made.channels = channels;
    layer->out = entries(reader, &layer->made);
}

static void
read_dense(struct reader *reader, struct device_layer *layer)
{
    reader_expect(reader, "dense\",\"in\":");
    layer->in = number(reader, 1, DEVICE_WIDTH_MAX);
    reader_expect(reader, ",\"out\":");
    layer->out = number(reader, 1, DEVICE_WIDTH_MAX);
    layer->activation = read_activation(reader);
}

static void
read_conv(struct reader *reader, struct device_layer *layer)
{
    uint32_t filters;
    layer->kind = DEVICE_CONV;
    read_image(reader, &layer->image);
    reader_expect(reader, ",\"out\":");
    filters = number(reader, 1, DEVICE_WIDTH_MAX);
    read_window(reader, layer);
    reader_expect(reader, ",\"skip\":");
    layer->skip = number(reader, 0, DEVICE_LAYERS_MAX);
    layer->activation = read_activation(reader);
    measure(reader, layer, filters);
}

static void
read_pool(struct reader *reader, struct device_layer *layer)
{
    read_image(reader, &layer->image);
    read_window(reader, layer);
    reader_expect(reader, ",\"of\":\"");
    layer->kind = DEVICE_POOL_MEAN;
    if (reader_match(reader, "max")) {
        layer->kind = DEVICE_POOL_MAX;
    } else {
        reader_expect(reader, "mean");
    }
    reader_expect(reader, "\"");
    measure(reader, layer, layer->image.channels);
}

/* Whether the layer takes what the one before it gives. */
static bool
fits(const struct device_layer *layer, uint32_t width,
     const struct device_image *shape)
{
    const struct device_image *image = &layer->image;
    bool same = image->height == shape->height &&
                image->width == shape->width &&
                image->channels == shape->channels;
    return layer->in == width &&
           (layer->kind == DEVICE_DENSE || shape->height == 0 || same);
}

struct device_layer
layer_read(struct reader *reader, uint32_t width,
           const struct device_image *shape)
{
    struct device_layer layer = {.kind = DEVICE_DENSE};
    reader_expect(reader, "{\"kind\":\"");
    if (reader_match(reader, "conv\"")) {
        read_conv(reader, &layer);
    } else if (reader_match(reader, "pool\"")) {
        read_pool(reader, &layer);
    } else {
        read_dense(reader, &layer);
    }
    reader_expect(reader, "}");
    if (!fits(&layer, width, shape)) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "the encoder's layers do not fit each other");
    }
    return layer;
}

uint32_t
layer_biases(const struct device_layer *layer)
{
    switch (layer->kind) {
    case DEVICE_DENSE:
        return layer->out;
    case DEVICE_CONV:
        return layer->made.channels;
    default:
        return 0;
    }
}

/* Below 2^30: a window has at most 31 x 31 places, an image 2^20 channels. */
uint32_t
layer_fan(const struct device_layer *layer)
{
    switch (layer->kind) {
    case DEVICE_DENSE:
        return layer->in;
    case DEVICE_CONV:
        return layer->kernel * layer->kernel * layer->image.channels;
    default:
        return layer->kernel * layer->kernel;
    }
}

uint64_t
layer_work(const struct device_layer *layer)
{
    return (uint64_t)layer->out * layer_fan(layer);
}
