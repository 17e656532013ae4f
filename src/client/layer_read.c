/*
 * layer_read.c: reading one layer of the encoder from the manifest.
 *
 *     {"kind":"dense","in":784,"out":400,"activation":"relu"}
 *     {"kind":"conv","image":[28,28,1],"out":16,"kernel":5,"stride":2,
 *      "pad":2,"skip":0,"activation":"relu"}
 *     {"kind":"pool","image":[14,14,32],"kernel":2,"stride":2,"pad":0,
 *      "of":"max"}
 *
 * and in version 2 of the format, where a layer says what it takes,
 *
 *     {"kind":"conv","from":[3,1],"image":[28,28,1],"out":16,"kernel":5,
 *      "stride":2,"pad":2,"weights":"bf16","activation":"relu"}
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

static enum activation
read_activation(struct reader *reader)
{
    struct reader_word name;
    enum activation activation = ACTIVATION_NONE;
    reader_expect(reader, ",\"activation\":");
    name = reader_string(reader, 16);
    while (activation < ACTIVATION_COUNT &&
           !reader_is(name, activation_name(activation))) {
        activation++;
    }
    if (activation == ACTIVATION_COUNT) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "the encoder has an activation this device does not know");
    }
    return activation;
}

/* Version 2: the outputs that layer `at` takes, 0 for x; one, or two where the
   layer can add the second. */
static void
read_from(struct reader *reader, struct layer *layer, uint32_t at, bool adds)
{
    reader_expect(reader, ",\"from\":[");
    layer->from[0] = (uint16_t)(at + 1 - number(reader, 0, at));
    if (adds && reader_match(reader, ",")) {
        layer->from[1] = (uint16_t)(at + 1 - number(reader, 0, at));
    }
    reader_expect(reader, "]");
}

static void
read_weights(struct reader *reader, struct layer *layer)
{
    reader_expect(reader, ",\"weights\":\"");
    if (reader_match(reader, "int8\"")) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "the mechanism needs a newer sotto: weights of 8 bits");
    }
    layer->bf16 = reader_match(reader, "bf16\"");
    if (!layer->bf16) {
        reader_expect(reader, "f32\"");
    }
}

static void
read_image(struct reader *reader, struct layer_image *ret_image)
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
read_window(struct reader *reader, struct layer *layer)
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
entries(struct reader *reader, const struct layer_image *image)
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

/* What goes in and what comes out, once image and window are known. */
static void
measure(struct reader *reader, struct layer *layer, uint32_t filters)
{
    layer->in = entries(reader, &layer->image);
    if (!layer_measure(layer)) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "a window of the encoder is larger than its image");
        return;
    }
    layer->filters = filters;
    layer->out = entries(reader, &layer->made);
}

static void
read_dense(struct reader *reader, uint32_t version, uint32_t at,
           struct layer *layer)
{
    if (version > 1) {
        read_from(reader, layer, at, true);
    }
    reader_expect(reader, ",\"in\":");
    layer->in = number(reader, 1, DEVICE_WIDTH_MAX);
    reader_expect(reader, ",\"out\":");
    layer->out = number(reader, 1, DEVICE_WIDTH_MAX);
    if (version > 1) {
        read_weights(reader, layer);
    }
    layer->activation = read_activation(reader);
}

static void
read_conv(struct reader *reader, uint32_t version, uint32_t at,
          struct layer *layer)
{
    uint32_t filters;
    layer->kind = LAYER_CONV;
    if (version > 1) {
        read_from(reader, layer, at, true);
    }
    read_image(reader, &layer->image);
    reader_expect(reader, ",\"out\":");
    filters = number(reader, 1, DEVICE_WIDTH_MAX);
    read_window(reader, layer);
    if (version > 1) {
        read_weights(reader, layer);
    } else {
        reader_expect(reader, ",\"skip\":");
        layer->from[1] = (uint16_t)number(reader, 0, DEVICE_LAYERS_MAX);
    }
    layer->activation = read_activation(reader);
    measure(reader, layer, filters);
}

static void
read_pool(struct reader *reader, uint32_t version, uint32_t at,
          struct layer *layer)
{
    if (version > 1) {
        read_from(reader, layer, at, false);
    }
    read_image(reader, &layer->image);
    read_window(reader, layer);
    reader_expect(reader, ",\"of\":\"");
    layer->kind = LAYER_POOL_MEAN;
    if (reader_match(reader, "max")) {
        layer->kind = LAYER_POOL_MAX;
    } else {
        reader_expect(reader, "mean");
    }
    reader_expect(reader, "\"");
    measure(reader, layer, layer->image.channels);
}

/* Kinds that the format has and this device has not. */
static void
refuse_newer(struct reader *reader)
{
    static const char *const kinds[] = {"norm\"", "embed\"", "lstm\""};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (reader_match(reader, kinds[i])) {
            reader_fail(reader, SOTTO_STATUS_FORMAT,
                        "the mechanism needs a newer sotto: a kind of layer "
                        "that this one does not run");
        }
    }
}

struct layer
layer_read(struct reader *reader, uint32_t version, uint32_t at)
{
    struct layer layer = {.kind = LAYER_DENSE, .from = {1, 0}};
    reader_expect(reader, "{\"kind\":\"");
    if (version > 1) {
        refuse_newer(reader);
    }
    if (reader_match(reader, "conv\"")) {
        read_conv(reader, version, at, &layer);
    } else if (reader_match(reader, "pool\"")) {
        read_pool(reader, version, at, &layer);
    } else {
        reader_expect(reader, "dense\"");
        read_dense(reader, version, at, &layer);
    }
    reader_expect(reader, "}");
#ifdef SOTTO_WITHOUT_IMAGES
    if (layer.kind != LAYER_DENSE) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "this device was built without layers over images");
    }
#endif
    return layer;
}
