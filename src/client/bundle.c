/*
 * bundle.c: the tensors of a mechanism file.
 *
 * Given the manifest, there is exactly one list of tensors, in one order, one
 * behind the other without gaps, that the file may hold:
 *
 *     schema.shift    F64 [columns]      x = (value - shift) scale
 *     schema.scale    F64 [columns]
 *     schema.edges    F64 [edges]        of all columns of bins, if there are
 *     encoder.I.weight F32 [out, in]     for every layer I; a convolution's is
 *     encoder.I.bias   F32 [out]         [N, K, K, C]; a pool has none
 *     encoder.I.weight BF16 ...          of layers that keep halves of floats
 *     schema.text     U8  [bytes]        names and categories
 *
 * Numbers so small that they could give subnormal ones are told (flush.h).
 * So the header's entry for each is spelt out here and compared: overlapping,
 * missing, surplus or misshapen tensors cannot be said in this grammar.
 */
#include "base/bytes.h"
#include "base/checked.h"
#include "client/device.h"
#include "encode/flush.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "weights are read in place: little-endian machines only"
#endif

/* The tensors still to come. */
struct binding {
    struct reader *reader;
    const uint8_t *data; /* the first byte behind the header */
    uint64_t size;       /* bytes of tensors in the file */
    uint64_t used;
    bool small; /* some number is, and not 0 (flush.h) */
};

static void
expect_number(struct reader *reader, uint64_t value)
{
    if (reader_number(reader, 0, UINT64_MAX / 16) != value) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "a tensor is not where it should be");
    }
}

/* The key and type of a tensor, up to its shape. */
static void
expect_name(struct reader *reader, const char *before, uint32_t layer,
            const char *after)
{
    reader_expect(reader, ",\"");
    reader_expect(reader, before);
    if (layer != UINT32_MAX) {
        expect_number(reader, layer);
    }
    reader_expect(reader, after);
    reader_expect(reader, ",\"shape\":[");
}

/* The end of the entry; returns the tensor's bytes, NULL on failure. */
static const uint8_t *
take(struct binding *binding, uint64_t size)
{
    struct reader *reader = binding->reader;
    uint64_t end = checked_add(binding->used, size);
    const uint8_t *at;
    reader_expect(reader, "],\"data_offsets\":[");
    expect_number(reader, binding->used);
    reader_expect(reader, ",");
    expect_number(reader, end);
    reader_expect(reader, "]}");
    if (end > binding->size) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "the file is shorter than its tensors");
    }
    if (reader->status != SOTTO_STATUS_OK) {
        return NULL;
    }
    at = binding->data + binding->used;
    binding->used = end;
    return at;
}

/* The data starts at a multiple of 8 and holds multiples of 8, then of 4, then
   of 2. */
static const double *
take_doubles(struct binding *binding, const char *name, uint32_t count)
{
    expect_name(binding->reader, name, UINT32_MAX, "\":{\"dtype\":\"F64\"");
    expect_number(binding->reader, count);
    const double *at = (const double *)(const void *)take(
        binding, checked_multiply(count, sizeof(double)));
    for (uint32_t i = 0; at != NULL && i < count; i++) {
        binding->small |= at[i] > -FLUSH_COLUMN_LEAST &&
                          at[i] < FLUSH_COLUMN_LEAST && at[i] != 0;
    }
    return at;
}

/* Likewise, of the shape that was read. */
static const float *
take_floats(struct binding *binding, uint64_t count)
{
    const float *at = (const float *)(const void *)take(
        binding, checked_multiply(count, sizeof(float)));
    uint32_t small = 0;
    for (uint64_t i = 0; at != NULL && i < count; i++) {
        small |= (at[i] > -FLUSH_LEAST) & (at[i] < FLUSH_LEAST) & (at[i] != 0);
    }
    binding->small |= small != 0;
    return at;
}

/* The numbers of a weight's shape behind the first. */
static void
expect_shape(struct reader *reader, const struct layer *layer)
{
    reader_expect(reader, ",");
    if (layer->kind == LAYER_CONV) {
        expect_number(reader, layer->kernel);
        reader_expect(reader, ",");
        expect_number(reader, layer->kernel);
        reader_expect(reader, ",");
        expect_number(reader, layer->image.channels);
    } else {
        expect_number(reader, layer->in);
    }
}

/* The weights of a layer, of type "F32" or "BF16"; none for a pool. */
static void
expect_weights(struct reader *reader, uint32_t at, const struct layer *layer,
               const char *after)
{
    expect_name(reader, "encoder.", at, after);
    expect_number(reader, layer_biases(layer));
    expect_shape(reader, layer);
}

static void
take_layer(struct binding *binding, uint32_t at, struct layer *layer)
{
    struct reader *reader = binding->reader;
    uint32_t rows = layer_biases(layer);
    if (rows == 0) {
        return;
    }
    if (!layer->bf16) {
        expect_weights(reader, at, layer, ".weight\":{\"dtype\":\"F32\"");
        layer->weight =
            take_floats(binding, checked_multiply(layer_fan(layer), rows));
    }
    expect_name(reader, "encoder.", at, ".bias\":{\"dtype\":\"F32\"");
    expect_number(reader, rows);
    layer->bias = take_floats(binding, rows);
}

static void
take_halves(struct binding *binding, uint32_t at, struct layer *layer)
{
    uint64_t count = checked_multiply(layer_fan(layer), layer_biases(layer));
    uint32_t small = 0;
    if (!layer->bf16) {
        return;
    }
    expect_weights(binding->reader, at, layer, ".weight\":{\"dtype\":\"BF16\"");
    layer->half = (const uint16_t *)(const void *)take(
        binding, checked_multiply(count, sizeof(uint16_t)));
    for (uint64_t i = 0; layer->half != NULL && i < count; i++) {
        uint32_t magnitude = layer->half[i] & UINT32_C(0x7fff);
        small |= (magnitude > 0) & (magnitude < FLUSH_LEAST_HALF);
    }
    binding->small |= small != 0;
}

/* Skips one string of the text; false if it does not end. */
static bool
skip_string(const uint8_t **at, const uint8_t *end)
{
    while (*at < end && **at != 0) {
        (*at)++;
    }
    if (*at == end) {
        return false;
    }
    (*at)++;
    return true;
}

/* Gives every column its name and categories; all the text must be used. */
static void
share_text(struct reader *reader, struct sotto_client *client)
{
    const uint8_t *at = client->terms.text, *end = at + client->terms.text_size;
    bool whole = true;
    for (uint32_t i = 0; i < client->sizes.columns && whole; i++) {
        struct encode_column *column = &client->encoder.column[i];
        uint32_t strings = encode_column_symbols(column) ? column->count : 1;
        column->text = at;
        for (uint32_t j = 0; j < strings && whole; j++) {
            whole = skip_string(&at, end);
        }
    }
    if (!whole || at != end) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "the names and categories do not fit the columns");
    }
}

/* Gives every column of bins its edges: at most 2^28 in all. */
static void
take_edges(struct binding *binding, struct sotto_client *client)
{
    uint32_t edges = 0;
    const double *at;
    for (uint32_t i = 0; i < client->sizes.columns; i++) {
        const struct encode_column *column = &client->encoder.column[i];
        edges += column->kind == ENCODE_COLUMN_BINS ? column->count - 2 : 0;
    }
    at = edges > 0 ? take_doubles(binding, "schema.edges", edges) : NULL;
    for (uint32_t i = 0; at != NULL && i < client->sizes.columns; i++) {
        struct encode_column *column = &client->encoder.column[i];
        if (column->kind == ENCODE_COLUMN_BINS) {
            column->edge = at;
            at += column->count - 2;
        }
    }
}

/* The end of the header: spaces up to a multiple of 8 bytes. */
static void
expect_padding(struct reader *reader)
{
    reader_expect(reader, "}");
    for (int i = 0; i < 7 && reader_match(reader, " "); i++) {
    }
    if (reader->at != reader->end) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "something follows the mechanism's header");
    }
}

void
bundle_bind(struct reader *reader, struct sotto_client *client)
{
    uint64_t header = (uint64_t)(reader->end - client->mechanism);
    struct binding binding = {reader, reader->end,
                              client->mechanism_size - header, 0, false};
    const struct device_sizes *sizes = &client->sizes;
    uint64_t left;
    client->encoder.shift =
        take_doubles(&binding, "schema.shift", sizes->columns);
    client->encoder.scale =
        take_doubles(&binding, "schema.scale", sizes->columns);
    take_edges(&binding, client);
    for (uint32_t i = 0; i < sizes->layers; i++) {
        take_layer(&binding, i, &client->encoder.layer[i]);
    }
    for (uint32_t i = 0; i < sizes->layers; i++) {
        take_halves(&binding, i, &client->encoder.layer[i]);
    }
    expect_name(reader, "schema.text", UINT32_MAX, "\":{\"dtype\":\"U8\"");
    left = binding.size - binding.used; /* the text is all that is left */
    expect_number(reader, left);
    client->terms.text = take(&binding, left);
    client->terms.text_size = (size_t)left;
    expect_padding(reader);
    if (reader->status == SOTTO_STATUS_OK) {
        share_text(reader, client);
        client->terms.uneven = binding.small;
    }
}
