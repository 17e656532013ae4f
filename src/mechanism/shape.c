/*
 * shape.c: what kind of mechanism it is.
 */
#include "mechanism/shape.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"

/* ---- Parts -------------------------------------------------------------- */

static bool
is_code(const struct report_part *part)
{
    return part->factors > 0 && !part->factor[0].is_column &&
           !part->factor[0].equal;
}

static enum shape_role
find_role(const struct report_part *part)
{
    if (strcmp(part->covers, "features") == 0) {
        return is_code(part) && part->factors == 1 ? SHAPE_CODE
                                                   : SHAPE_FEATURES;
    }
    if (strcmp(part->covers, "label") == 0) {
        return part->factors > 0 ? SHAPE_LABEL : SHAPE_OTHER;
    }
    if (part->factors == 1 && part->factor[0].equal) {
        return SHAPE_RIGHT;
    }
    return is_code(part) && part->factors == 2 && part->factor[1].is_column
               ? SHAPE_PAIR
               : SHAPE_OTHER;
}

static size_t
find_part_column(const struct report_part *part, enum shape_role role)
{
    if (role == SHAPE_PAIR) {
        return part->factor[1].at;
    }
    if (role == SHAPE_RIGHT) {
        return part->factor[0].column;
    }
    return part->factors == 1 && part->factor[0].is_column ? part->factor[0].at
                                                           : SIZE_MAX;
}

static struct shape_part
describe_part(const struct report_part *part, size_t offset)
{
    enum shape_role role = find_role(part);
    bool code = role == SHAPE_CODE || role == SHAPE_PAIR;
    return (struct shape_part){.role = role,
                               .covers = part->covers,
                               .instance = &part->instance,
                               .numbers = part->factors == 0,
                               .blocks = part->blocks,
                               .offset = offset,
                               .width = channel_width(&part->instance),
                               .books = part->books > 0 ? part->books : 1,
                               .from = code ? part->factor[0].at : part->from,
                               .cells = code ? part->factor[0].k : 0,
                               .column = find_part_column(part, role)};
}

/* Remembers the first code and the first label. */
static void
place_part(struct shape *shape, size_t at)
{
    const struct shape_part *part = &shape->part[at];
    bool label = part->role == SHAPE_LABEL && part->column != SIZE_MAX;
    if (part->cells > 0 && shape->code == SIZE_MAX) {
        shape->code = at;
    }
    if (label && shape->label_part == SIZE_MAX) {
        shape->label_part = at;
    }
    if ((label || part->role == SHAPE_PAIR) && shape->label == SIZE_MAX) {
        shape->label = part->column;
    }
    if (strcmp(part->covers, "label") != 0) {
        shape->q += part->blocks * part->books * part->width;
    }
}

static void
describe_parts(struct shape *shape, const struct device_view *device)
{
    size_t offset = report_start(device->report);
    bool scores = false;
    for (size_t i = 0; i < shape->parts; i++) {
        const struct report_part *own = &device->report->part[i];
        shape->part[i] = describe_part(own, offset);
        place_part(shape, i);
        offset += (size_t)own->blocks * own->instance.wire_size;
        for (uint32_t j = 0; j < own->factors; j++) {
            scores = scores || !own->factor[j].is_column;
        }
    }
    shape->z_layers = shape->layers - (scores && shape->layers > 0);
}

/* ---- Columns ------------------------------------------------------------ */

static bool
reads_column(const struct report_part *part, size_t column)
{
    bool reads = false;
    for (uint32_t i = 0; i < part->factors; i++) {
        const struct report_factor *factor = &part->factor[i];
        reads = reads || (factor->is_column && factor->at == column) ||
                (factor->equal && factor->column == column);
    }
    return reads;
}

/* Whether a part of numbers reads an entry of x, where there are no layers. */
static bool
reads_entry(const struct report_part *part, const struct shape *shape,
            size_t entry)
{
    return part->factors == 0 && shape->layers == 0 && entry >= part->from &&
           entry - part->from < (size_t)part->blocks * part->instance.size;
}

/* Whether a number says nothing but the label: of all parts only such as cover
   the label read its entry of x. */
static bool
is_label_number(const struct shape *shape, const struct device_view *device,
                size_t column)
{
    const struct encode_plan *encoder = device->encoder;
    bool label = false, more = false;
    size_t entry = 0;
    for (size_t i = 0; i < column; i++) {
        entry += encoder->column[i].inputs;
    }
    for (size_t i = 0; i < shape->parts; i++) {
        bool reads = reads_entry(&device->report->part[i], shape, entry);
        bool covers = strcmp(shape->part[i].covers, "label") == 0;
        label = label || (reads && covers);
        more = more || (reads && !covers);
    }
    return label && !more &&
           encoder->column[column].kind == ENCODE_COLUMN_NUMBER;
}

/* Whether a column says nothing but the label: only parts that cover the label
   read it. */
static bool
is_label(const struct shape *shape, const struct device_view *device,
         size_t column)
{
    bool label = false, more = device->encoder->column[column].inputs > 0;
    for (size_t i = 0; i < shape->parts; i++) {
        bool reads = reads_column(&device->report->part[i], column);
        bool covers = shape->part[i].role == SHAPE_PAIR ||
                      strcmp(shape->part[i].covers, "label") == 0;
        label = label || (reads && covers);
        more = more || (reads && !covers);
    }
    return label && !more;
}

static enum sotto_status
describe_columns(struct shape *shape, const struct device_view *device,
                 struct sotto_error *err)
{
    const struct encode_plan *encoder = device->encoder;
    struct schema *schema = &shape->schema;
    enum sotto_status status = schema_init(schema, encoder->columns, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < encoder->columns; i++) {
        status = schema_add_device(schema, &encoder->column[i],
                                   encoder->shift[i], encoder->scale[i], err);
        schema->column[i].label =
            is_label(shape, device, i) || is_label_number(shape, device, i);
    }
    return status;
}

/* ---- The encoder -------------------------------------------------------- */

/* Whether a layer multiplies each entry by a number of its own, and no more. */
static bool
is_diagonal(const struct layer *layer)
{
    bool diagonal = layer->kind == LAYER_DENSE && layer->in == layer->out &&
                    layer->activation == ACTIVATION_NONE && !layer->bf16;
    for (size_t i = 0; diagonal && i < layer->out; i++) {
        const float *row = layer->weight + i * layer->in;
        diagonal = layer->bias[i] == 0;
        for (size_t j = 0; diagonal && j < layer->in; j++) {
            diagonal = (row[j] != 0) == (i == j);
        }
    }
    return diagonal;
}

/* The column that an entry of x is of. */
static size_t
find_column(const struct device_view *device, size_t entry)
{
    size_t i = 0;
    while (entry >= device->encoder->column[i].inputs) {
        entry -= device->encoder->column[i++].inputs;
    }
    return i;
}

/* Whether the scores of a book look at one column alone. */
static bool
is_of_column(const struct device_view *device, const struct layer *layer,
             size_t first, size_t cells)
{
    size_t column = SIZE_MAX;
    bool one = true;
    for (size_t i = 0; one && i < cells * layer->in; i++) {
        if (layer->weight[first * layer->in + i] != 0) {
            size_t at = find_column(device, i % layer->in);
            one = column == SIZE_MAX || column == at;
            column = at;
        }
    }
    return one;
}

static bool
has_column_books(const struct shape *shape, const struct device_view *device)
{
    const struct shape_part *part =
        shape->code != SIZE_MAX ? &shape->part[shape->code] : NULL;
    const struct layer *layer = &device->encoder->layer[shape->layers - 1];
    bool columns = shape->plain && part != NULL && shape->layers == 2 &&
                   layer->kind == LAYER_DENSE && !layer->bf16;
    for (size_t b = 0; columns && b < part->books; b++) {
        columns = is_of_column(device, layer, part->from + b * part->cells,
                               part->cells);
    }
    return columns;
}

/* ---- All of it ---------------------------------------------------------- */

enum sotto_status
shape_init(struct shape *shape, const struct device_view *device,
           struct sotto_error *err)
{
    enum sotto_status status;
    *shape = (struct shape){
        .layers = device->encoder->layers,
        .parts = device->report->parts,
        .books = device->report->books > 0 ? device->report->books : 1,
        .code = SIZE_MAX,
        .label = SIZE_MAX,
        .label_part = SIZE_MAX,
        .report_size = device->report->size,
        .hash = device->report->hash,
        .eps = device->terms->eps,
        .delta = device->terms->delta};
    shape->part = calloc(shape->parts + 1, sizeof *shape->part);
    shape->width = calloc(shape->layers + 1, sizeof *shape->width);
    if (shape->part == NULL || shape->width == NULL) {
        shape_clear(shape);
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < device->encoder->columns; i++) {
        shape->width[0] += device->encoder->column[i].inputs;
    }
    for (size_t i = 0; i < shape->layers; i++) {
        shape->work += layer_work(&device->encoder->layer[i]);
        shape->width[i + 1] = device->encoder->layer[i].out;
    }
    (void)report_measure(device->report, &shape->entropy);
    shape->x = shape->width[0];
    shape->z = shape->width[shape->layers];
    describe_parts(shape, device);
    shape->plain =
        shape->z_layers == 1 && is_diagonal(&device->encoder->layer[0]);
    shape->columns = shape->plain && has_column_books(shape, device);
    status = describe_columns(shape, device, err);
    if (status != SOTTO_STATUS_OK) {
        shape_clear(shape);
    }
    return status;
}

size_t
shape_offset(const struct shape *shape, size_t part, size_t block)
{
    const struct shape_part *own = &shape->part[part];
    return own->offset + block * own->instance->wire_size;
}

void
shape_clear(struct shape *shape)
{
    schema_clear(&shape->schema);
    free(shape->part);
    free(shape->width);
    memset(shape, 0, sizeof *shape);
}
