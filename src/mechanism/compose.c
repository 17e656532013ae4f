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
#include "client/device.h"
#include "client/flush.h"
#include "host/error.h"
#include "host/text.h"
#include "mechanism/mechanism.h"

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
    (void)decimal_write(eps, decimal);
    host_text_print(text, "\\\"eps\\\":\\\"%s\\\"", decimal);
    if (delta > 0) {
        (void)decimal_write(delta, decimal);
        host_text_print(text, ",\\\"delta\\\":\\\"%s\\\"", decimal);
    }
}

/* An unknown channel's part is written as a lattice's: no device opens it. */
static const char *
key_of(const struct compose_part *part)
{
    const struct channel *channel =
        channel_find(part->channel, strlen(part->channel));
    return domain_key(channel != NULL ? channel->domain
                                      : CHANNEL_DOMAIN_LATTICE);
}

static void
add_column(struct host_text *text, const struct compose_column *column)
{
    if (column->kind == SOTTO_COLUMN_NUMBER) {
        host_text_print(text, "{\\\"kind\\\":\\\"number\\\"}");
    } else if (column->kind == SOTTO_COLUMN_BYTES) {
        host_text_print(text, "{\\\"kind\\\":\\\"bytes\\\",\\\"count\\\":%zu}",
                        column->count);
    } else {
        host_text_print(text,
                        "{\\\"kind\\\":\\\"category\\\",\\\"count\\\":%zu,"
                        "\\\"input\\\":%d}",
                        column->count, column->input ? 1 : 0);
    }
}

static void
add_image(struct host_text *text, const struct compose_layer *layer)
{
    host_text_print(text, "\\\"image\\\":[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]",
                    layer->height, layer->width, layer->channels);
    if (layer->kind == COMPOSE_CONV) {
        host_text_print(text, ",\\\"out\\\":%" PRIu32, layer->filters);
    }
    host_text_print(text,
                    ",\\\"kernel\\\":%" PRIu32 ",\\\"stride\\\":%" PRIu32
                    ",\\\"pad\\\":%" PRIu32,
                    layer->kernel, layer->stride, layer->pad);
}

static void
add_layer(struct host_text *text, const struct compose_layer *layer)
{
    if (layer->kind == COMPOSE_CONV) {
        host_text_print(text, "{\\\"kind\\\":\\\"conv\\\",");
        add_image(text, layer);
        host_text_print(
            text, ",\\\"skip\\\":%" PRIu32 ",\\\"activation\\\":\\\"%s\\\"}",
            layer->skip, layer->activation);
        return;
    }
    if (layer->kind != COMPOSE_DENSE) {
        host_text_print(text, "{\\\"kind\\\":\\\"pool\\\",");
        add_image(text, layer);
        host_text_print(text, ",\\\"of\\\":\\\"%s\\\"}",
                        layer->kind == COMPOSE_POOL_MAX ? "max" : "mean");
        return;
    }
    host_text_print(text,
                    "{\\\"kind\\\":\\\"dense\\\",\\\"in\\\":%" PRIu32
                    ",\\\"out\\\":%" PRIu32 ",\\\"activation\\\":\\\"%s\\\"}",
                    layer->in, layer->out, layer->activation);
}

static void
add_factor(struct host_text *text, const struct compose_factor *factor)
{
    if (factor->is_column) {
        host_text_print(text, "{\\\"column\\\":%" PRIu32 "}", factor->at);
    } else {
        host_text_print(text,
                        "{\\\"from\\\":%" PRIu32 ",\\\"k\\\":%" PRIu32 "}",
                        factor->at, factor->k);
    }
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

static void
add_manifest(struct host_text *text, const struct compose_spec *spec)
{
    host_text_print(text,
                    "{\\\"sotto\\\":1,\\\"name\\\":\\\"%s\\\","
                    "\\\"campaign\\\":\\\"%s\\\","
                    "\\\"auxiliary\\\":\\\"%s\\\",",
                    spec->name, spec->campaign, spec->auxiliary);
    add_budget(text, spec->eps, total_delta(spec));
    host_text_print(text, ",\\\"columns\\\":[");
    for (size_t i = 0; i < spec->columns; i++) {
        host_text_print(text, "%s", i > 0 ? "," : "");
        add_column(text, &spec->column[i]);
    }
    host_text_print(text, "],\\\"encoder\\\":[");
    for (size_t i = 0; i < spec->layers; i++) {
        host_text_print(text, "%s", i > 0 ? "," : "");
        add_layer(text, &spec->layer[i]);
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

/* Shifts and scales. One so small that devices refuse it (flush.h) becomes 0 if
   it is a shift; a scale the least that they take, for columns that reach
   beyond 2^480: those are cut off there, and are no constants. */
static void
add_scaling(struct tensors *tensors, const struct compose_spec *spec,
            const char *name, bool scale)
{
    struct host_text values;
    char shape[32];
    host_text_init(&values, FILE_MOST);
    for (size_t i = 0; i < spec->columns; i++) {
        double value = scale ? spec->column[i].scale : spec->column[i].shift;
        if (value != 0 && fabs(value) < FLUSH_COLUMN_LEAST) {
            value = scale ? copysign(FLUSH_COLUMN_LEAST, value) : 0;
        }
        host_text_add(&values, &value, sizeof value);
    }
    (void)snprintf(shape, sizeof shape, "%zu", spec->columns);
    tensors->data.failed |= values.failed;
    add_tensor(tensors, name, "F64", shape, values.data, values.size);
    host_text_clear(&values);
}

size_t
compose_biases(const struct compose_layer *layer)
{
    switch (layer->kind) {
    case COMPOSE_DENSE:
        return layer->out;
    case COMPOSE_CONV:
        return layer->filters;
    default:
        return 0;
    }
}

size_t
compose_fan(const struct compose_layer *layer)
{
    size_t window = (size_t)layer->kernel * layer->kernel;
    switch (layer->kind) {
    case COMPOSE_DENSE:
        return layer->in;
    case COMPOSE_CONV:
        return window * layer->channels;
    default:
        return window;
    }
}

static void
add_weights(struct tensors *tensors, const struct compose_layer *layer,
            size_t at)
{
    char name[40], shape[64];
    size_t rows = compose_biases(layer), fan = compose_fan(layer);
    if (layer->kind == COMPOSE_CONV) {
        (void)snprintf(shape, sizeof shape,
                       "%zu,%" PRIu32 ",%" PRIu32 ",%" PRIu32, rows,
                       layer->kernel, layer->kernel, layer->channels);
    } else {
        (void)snprintf(shape, sizeof shape, "%zu,%zu", rows, fan);
    }
    (void)snprintf(name, sizeof name, "encoder.%zu.weight", at);
    add_floats(tensors, name, shape, layer->weight, rows * fan);
    (void)snprintf(name, sizeof name, "encoder.%zu.bias", at);
    (void)snprintf(shape, sizeof shape, "%zu", rows);
    add_floats(tensors, name, shape, layer->bias, rows);
}

/* Names and categories, each with its NUL. */
static void
add_text(struct tensors *tensors, const struct compose_spec *spec)
{
    struct host_text text;
    char shape[32];
    host_text_init(&text, FILE_MOST);
    for (size_t i = 0; i < spec->columns; i++) {
        const struct compose_column *column = &spec->column[i];
        host_text_add(&text, column->name, strlen(column->name) + 1);
        for (size_t j = 0;
             column->kind == SOTTO_COLUMN_CATEGORY && j + 1 < column->count;
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
    for (size_t i = 0; i < spec->layers; i++) {
        if (compose_biases(&spec->layer[i]) > 0) {
            add_weights(tensors, &spec->layer[i], i);
        }
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

enum sotto_status
compose_mechanism(const struct compose_spec *spec, uint8_t **ret_data,
                  size_t *ret_size, struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = NULL;
    enum sotto_status status = compose_open(spec, &mechanism, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_data = mechanism->data;
        *ret_size = mechanism->size;
        mechanism->data = NULL;
    }
    sotto_mechanism_free(mechanism);
    return status;
}
