/*
 * compose.c: putting a mechanism file together.
 */
#include "mechanism/compose.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/decimal.h"
#include "encode/flush.h"
#include "host/amount.h"
#include "host/error.h"
#include "host/text.h"
#include "mechanism/mechanism.h"
#include "schema/matrix.h"

#define FILE_MOST ((size_t)1 << 31)

/* A title as the manifest can hold it: printable ASCII, short, no quotes. */
static enum sotto_status
check_title(const char *what, const char *text, struct sotto_error *err)
{
    size_t size = strlen(text);
    for (size_t i = 0; i < size; i++) {
        if (text[i] < 0x20 || text[i] > 0x7e || text[i] == '"' ||
            text[i] == '\\') {
            return host_fail(err, SOTTO_STATUS_USAGE, i,
                             "the %s may hold plain ASCII letters, digits and "
                             "signs only, no quotes or backslashes",
                             what);
        }
    }
    if (size > 120) {
        return host_fail(err, SOTTO_STATUS_USAGE, 120,
                         "the %s is too long: at most 120 characters", what);
    }
    return SOTTO_STATUS_OK;
}

/* ---- The manifest, with the quotation marks of a JSON string ------------ */

static void
add_budget(struct host_text *text, uint64_t eps, uint64_t delta)
{
    char decimal[DECIMAL_TEXT_SIZE];
    (void)amount_write(eps, decimal);
    host_text_print(text, "\\\"eps\\\":\\\"%s\\\"", decimal);
    if (delta > 0) {
        (void)amount_write(delta, decimal);
        host_text_print(text, ",\\\"delta\\\":\\\"%s\\\"", decimal);
    }
}

/* An unknown channel's part is written as a lattice's: no device opens it. */
static const char *
key_of(const struct compose_part *part)
{
    const struct channel *channel =
        channel_find(channel_exact, part->channel, strlen(part->channel));
    return domain_key(channel != NULL ? channel->domain
                                      : CHANNEL_DOMAIN_LATTICE);
}

static void
add_column(struct host_text *text, const struct schema_column *column)
{
    const struct schema_kind *kind = schema_kind(column->kind);
    host_text_print(text, "{\\\"kind\\\":\\\"%s\\\"", kind->name);
    kind->write(column, text);
    host_text_print(text, "}");
}

/* Version 2: the outputs that layer `at` takes. */
static void
add_from(struct host_text *text, const struct layer *layer, size_t at)
{
    host_text_print(text, ",\\\"from\\\":[%zu", at + 1 - layer_back(layer));
    if (layer->from[1] > 0) {
        host_text_print(text, ",%zu", at + 1 - layer->from[1]);
    }
    host_text_print(text, "]");
}

/* Version 2: what the weights are kept as. Version 1: a convolution's skip. */
static void
add_weights_type(struct host_text *text, const struct layer *layer,
                 unsigned version)
{
    if (version > 1) {
        host_text_print(text, ",\\\"weights\\\":\\\"%s\\\"",
                        layer->bf16 ? "bf16" : "f32");
    } else if (layer->kind == LAYER_CONV) {
        host_text_print(text, ",\\\"skip\\\":%u", (unsigned)layer->from[1]);
    }
}

static void
add_window(struct host_text *text, const struct layer *layer)
{
    host_text_print(text,
                    ",\\\"image\\\":[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]",
                    layer->height, layer->width, layer->channels);
    if (layer->kind == LAYER_CONV) {
        host_text_print(text, ",\\\"out\\\":%" PRIu32, layer->filters);
    }
    host_text_print(text,
                    ",\\\"kernel\\\":%" PRIu32 ",\\\"stride\\\":%" PRIu32
                    ",\\\"pad\\\":%" PRIu32,
                    layer->kernel, layer->stride, layer->pad);
}

static void
add_layer(struct host_text *text, const struct layer *layer, size_t at,
          unsigned version)
{
    const char *kind = layer->kind == LAYER_CONV    ? "conv"
                       : layer->kind == LAYER_DENSE ? "dense"
                                                    : "pool";
    host_text_print(text, "{\\\"kind\\\":\\\"%s\\\"", kind);
    if (version > 1) {
        add_from(text, layer, at);
    }
    if (layer->kind == LAYER_DENSE) {
        host_text_print(text, ",\\\"in\\\":%" PRIu32 ",\\\"out\\\":%" PRIu32,
                        layer->in, layer->out);
    } else {
        add_window(text, layer);
    }
    if (layer_pools(layer->kind)) {
        host_text_print(text, ",\\\"of\\\":\\\"%s\\\"}",
                        layer->kind == LAYER_POOL_MAX ? "max" : "mean");
        return;
    }
    add_weights_type(text, layer, version);
    host_text_print(text, ",\\\"activation\\\":\\\"%s\\\"}",
                    activation_name(layer->activation));
}

static void
add_factor(struct host_text *text, const struct compose_factor *factor)
{
    if (factor->is_column) {
        host_text_print(text, "{\\\"column\\\":%" PRIu32 "}", factor->at);
        return;
    }
    if (factor->equal) {
        host_text_print(text, "{\\\"equal\\\":[{\\\"column\\\":%" PRIu32 "},",
                        factor->column);
    }
    host_text_print(text, "{\\\"from\\\":%" PRIu32 ",\\\"k\\\":%" PRIu32 "}%s",
                    factor->at, factor->k, factor->equal ? "]}" : "");
}

static void
add_part(struct host_text *text, const struct compose_part *part)
{
    host_text_print(text,
                    "{\\\"covers\\\":\\\"%s\\\",\\\"channel\\\":\\\"%s\\\",",
                    part->covers, part->channel);
    add_budget(text, part->eps, part->delta);
    host_text_print(text, ",\\\"blocks\\\":%" PRIu32, part->blocks);
    if (part->d > 0) {
        host_text_print(text,
                        ",\\\"%s\\\":{\\\"from\\\":%" PRIu32
                        ",\\\"d\\\":%" PRIu32 ",\\\"l\\\":%" PRIu32 "}}",
                        key_of(part), part->from, part->d, part->l);
        return;
    }
    if (part->books > 1) {
        host_text_print(text, ",\\\"books\\\":%" PRIu32, part->books);
    }
    host_text_print(text, ",\\\"symbols\\\":[");
    for (size_t i = 0; i < part->factors; i++) {
        host_text_print(text, "%s", i > 0 ? "," : "");
        add_factor(text, &part->factor[i]);
    }
    host_text_print(text, "]}");
}

static uint64_t
total_delta(const struct compose_spec *spec)
{
    uint64_t delta = 0;
    for (size_t i = 0; i < spec->parts; i++) {
        delta += spec->part[i].blocks * spec->part[i].delta;
    }
    return delta;
}

/* Whether the layers fit each other as that version has it. */
static bool
layers_fit(const struct compose_spec *spec, uint32_t version)
{
    struct wiring wiring;
    struct reader reader;
    size_t width = matrix_width(spec->column, spec->columns);
    reader_init(&reader, (const uint8_t *)"", 0);
    wiring_start(&wiring, (uint32_t)width);
    for (size_t i = 0; i < spec->layers; i++) {
        struct layer layer = spec->layer[i];
        if (layer.kind != LAYER_DENSE && !layer_measure(&layer)) {
            return false;
        }
        if (layer_pools(layer.kind)) {
            layer.filters = layer.channels;
        }
        wiring_add(&wiring, &reader, version, &layer);
    }
    (void)wiring_finish(&wiring, &reader);
    return reader.status == SOTTO_STATUS_OK;
}

/* Version 1 unless something needs 2: old devices read on, and what was
   written stays the same. */
static unsigned
choose_version(const struct compose_spec *spec)
{
    bool newer =
        spec->central_eps.size > 0 || spec->expires > 0 || spec->label_only;
    for (size_t i = 0; i < spec->columns; i++) {
        newer = newer || spec->column[i].missing || spec->column[i].clip ||
                spec->column[i].log || spec->column[i].edges != NULL;
    }
    for (size_t i = 0; i < spec->layers; i++) {
        newer = newer || spec->layer[i].bf16;
    }
    for (size_t i = 0; i < spec->parts; i++) {
        newer = newer || spec->part[i].books > 1;
        for (size_t j = 0; j < spec->part[i].factors; j++) {
            newer = newer || spec->part[i].factor[j].equal;
        }
    }
    return newer || (!layers_fit(spec, 1) && layers_fit(spec, 2)) ? 2 : 1;
}

/* What version 2 says of the whole. */
static void
add_terms(struct host_text *text, const struct compose_spec *spec)
{
    if (spec->central_eps.size > 0) {
        host_text_print(text, "\\\"central\\\":{\\\"eps\\\":\\\"%.*s\\\"",
                        (int)spec->central_eps.size, spec->central_eps.text);
        if (spec->central_delta.size > 0) {
            host_text_print(text, ",\\\"delta\\\":\\\"%.*s\\\"",
                            (int)spec->central_delta.size,
                            spec->central_delta.text);
        }
        host_text_print(text, "},");
    }
    if (spec->expires > 0) {
        host_text_print(text, "\\\"expires\\\":%" PRIu64 ",", spec->expires);
    }
    if (spec->label_only) {
        host_text_print(text, "\\\"only\\\":\\\"label\\\",");
    }
}

static void
add_manifest(struct host_text *text, const struct compose_spec *spec)
{
    unsigned version = choose_version(spec);
    host_text_print(text,
                    "{\\\"sotto\\\":%u,\\\"name\\\":\\\"%s\\\","
                    "\\\"campaign\\\":\\\"%s\\\","
                    "\\\"auxiliary\\\":\\\"%s\\\",",
                    version, spec->name, spec->campaign, spec->auxiliary);
    add_terms(text, spec);
    add_budget(text, spec->eps, total_delta(spec));
    host_text_print(text, ",\\\"columns\\\":[");
    for (size_t i = 0; i < spec->columns; i++) {
        host_text_print(text, "%s", i > 0 ? "," : "");
        add_column(text, &spec->column[i]);
    }
    host_text_print(text, "],\\\"encoder\\\":[");
    for (size_t i = 0; i < spec->layers; i++) {
        host_text_print(text, "%s", i > 0 ? "," : "");
        add_layer(text, &spec->layer[i], i, version);
    }
    host_text_print(text, "],\\\"parts\\\":[");
    for (size_t i = 0; i < spec->parts; i++) {
        host_text_print(text, "%s", i > 0 ? "," : "");
        add_part(text, &spec->part[i]);
    }
    host_text_print(text, "]}");
}

/* ---- The tensors -------------------------------------------------------- */

/* The header's entries and the data they speak of, grown side by side. */
struct tensors {
    struct host_text header;
    struct host_text data;
};

static void
add_tensor(struct tensors *tensors, const char *name, const char *type,
           const char *shape, const void *data, size_t size)
{
    host_text_print(&tensors->header,
                    ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],"
                    "\"data_offsets\":[%zu,%zu]}",
                    name, type, shape, tensors->data.size,
                    tensors->data.size + size);
    host_text_add(&tensors->data, data, size);
}

/* Adds a tensor of floats. Those so small that devices refuse them (flush.h)
   become 0: whatever training gave can be written. */
static void
add_floats(struct tensors *tensors, const char *name, const char *shape,
           const float *values, size_t count)
{
    size_t start = tensors->data.size, size = sizeof *values;
    add_tensor(tensors, name, "F32", shape, values, count * size);
    for (size_t i = 0; !tensors->data.failed && i < count; i++) {
        if (values[i] != 0 && fabsf(values[i]) < FLUSH_LEAST) {
            memset(tensors->data.data + start + i * size, 0, size);
        }
    }
}

/* Shifts and scales. */
static void
add_scaling(struct tensors *tensors, const struct compose_spec *spec,
            const char *name, bool scale)
{
    struct host_text values;
    char shape[32];
    host_text_init(&values, FILE_MOST);
    for (size_t i = 0; i < spec->columns; i++) {
        double value[2];
        schema_column_scaling(&spec->column[i], &value[0], &value[1]);
        host_text_add(&values, &value[scale], sizeof value[scale]);
    }
    (void)snprintf(shape, sizeof shape, "%zu", spec->columns);
    tensors->data.failed |= values.failed;
    add_tensor(tensors, name, "F64", shape, values.data, values.size);
    host_text_clear(&values);
}

/* Edges of all columns of bins, if there are any. */
static void
add_edges(struct tensors *tensors, const struct compose_spec *spec)
{
    struct host_text values;
    char shape[32];
    host_text_init(&values, FILE_MOST);
    for (size_t i = 0; i < spec->columns; i++) {
        const struct schema_column *column = &spec->column[i];
        for (size_t j = 0; column->edges != NULL && j + 2 < column->count;
             j++) {
            double edge = fabs(column->edges[j]) < FLUSH_COLUMN_LEAST
                              ? 0
                              : column->edges[j];
            host_text_add(&values, &edge, sizeof edge);
        }
    }
    tensors->data.failed |= values.failed;
    if (values.size > 0) {
        (void)snprintf(shape, sizeof shape, "%zu",
                       values.size / sizeof(double));
        add_tensor(tensors, "schema.edges", "F64", shape, values.data,
                   values.size);
    }
    host_text_clear(&values);
}

static void
write_shape(const struct layer *layer, char shape[64])
{
    if (layer->kind == LAYER_CONV) {
        (void)snprintf(
            shape, 64, "%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32,
            layer->filters, layer->kernel, layer->kernel, layer->channels);
    } else {
        (void)snprintf(shape, 64, "%" PRIu32 ",%" PRIu32, layer->out,
                       layer->in);
    }
}

/* The floats of a layer; weights of halves come behind those of all. */
static void
add_weights(struct tensors *tensors, const struct layer *layer, size_t at)
{
    char name[40], shape[64];
    size_t rows = layer_biases(layer);
    if (rows == 0) {
        return;
    }
    if (!layer->bf16) {
        write_shape(layer, shape);
        (void)snprintf(name, sizeof name, "encoder.%zu.weight", at);
        add_floats(tensors, name, shape, layer->weight,
                   rows * layer_fan(layer));
    }
    (void)snprintf(name, sizeof name, "encoder.%zu.bias", at);
    (void)snprintf(shape, sizeof shape, "%zu", rows);
    add_floats(tensors, name, shape, layer->bias, rows);
}

static void
add_halves(struct tensors *tensors, const struct layer *layer, size_t at)
{
    char name[40], shape[64];
    const uint16_t *half = layer->half;
    size_t start = tensors->data.size, size = sizeof *half;
    size_t count = (size_t)layer_biases(layer) * layer_fan(layer);
    if (!layer->bf16) {
        return;
    }
    write_shape(layer, shape);
    (void)snprintf(name, sizeof name, "encoder.%zu.weight", at);
    add_tensor(tensors, name, "BF16", shape, half, count * size);
    for (size_t i = 0; !tensors->data.failed && i < count; i++) {
        if ((half[i] & 0x7fffu) < FLUSH_LEAST_HALF) {
            memset(tensors->data.data + start + i * size, 0, size);
        }
    }
}

/* Names and categories, each with its NUL. */
static void
add_text(struct tensors *tensors, const struct compose_spec *spec)
{
    struct host_text text;
    char shape[32];
    host_text_init(&text, FILE_MOST);
    for (size_t i = 0; i < spec->columns; i++) {
        const struct schema_column *column = &spec->column[i];
        host_text_add(&text, column->name, strlen(column->name) + 1);
        for (size_t j = 0; column->values != NULL && j + 1 < column->count;
             j++) {
            host_text_add(&text, column->values[j],
                          strlen(column->values[j]) + 1);
        }
    }
    (void)snprintf(shape, sizeof shape, "%zu", text.size);
    tensors->data.failed |= text.failed;
    add_tensor(tensors, "schema.text", "U8", shape, text.data, text.size);
    host_text_clear(&text);
}

static void
add_all(struct tensors *tensors, const struct compose_spec *spec)
{
    host_text_print(&tensors->header, "{\"__metadata__\":{\"sotto\":\"");
    add_manifest(&tensors->header, spec);
    host_text_print(&tensors->header, "\"}");
    add_scaling(tensors, spec, "schema.shift", false);
    add_scaling(tensors, spec, "schema.scale", true);
    add_edges(tensors, spec);
    for (size_t i = 0; i < spec->layers; i++) {
        add_weights(tensors, &spec->layer[i], i);
    }
    for (size_t i = 0; i < spec->layers; i++) {
        add_halves(tensors, &spec->layer[i], i);
    }
    add_text(tensors, spec);
    host_text_print(&tensors->header, "}");
    while (tensors->header.size % 8 != 0 && !tensors->header.failed) {
        host_text_print(&tensors->header, " ");
    }
}

/* Length, header, data in one piece. */
static enum sotto_status
join(const struct tensors *tensors, uint8_t **ret_data, size_t *ret_size,
     struct sotto_error *err)
{
    size_t header = tensors->header.size, data = tensors->data.size;
    uint8_t *file = NULL;
    if (!tensors->header.failed && !tensors->data.failed) {
        file = malloc(8 + header + data);
    }
    if (file == NULL) {
        return host_fail_memory(err);
    }
    bytes_store(file, 8, header);
    memcpy(file + 8, tensors->header.data, header);
    memcpy(file + 8 + header, tensors->data.data, data);
    *ret_data = file;
    *ret_size = 8 + header + data;
    return SOTTO_STATUS_OK;
}

enum sotto_status
compose_open(const struct compose_spec *spec,
             struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    struct tensors tensors;
    uint8_t *file = NULL;
    size_t size = 0;
    enum sotto_status status = check_title("name", spec->name, err);
    if (status == SOTTO_STATUS_OK) {
        status = check_title("campaign", spec->campaign, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = check_title("note on auxiliary data", spec->auxiliary, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    host_text_init(&tensors.header, FILE_MOST);
    host_text_init(&tensors.data, FILE_MOST);
    add_all(&tensors, spec);
    status = join(&tensors, &file, &size, err);
    if (status == SOTTO_STATUS_OK) {
        status = mechanism_adopt(file, size, "the new mechanism", ret_mechanism,
                                 err);
    }
    host_text_clear(&tensors.header);
    host_text_clear(&tensors.data);
    return status;
}
