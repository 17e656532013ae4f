/*
 * rows.c: the rows of a table as records of a mechanism.
 *
 * The stages are the device's own (client/device.h), run in the mechanism's
 * workspace: what is learnt from rows is what reports are about, bit for bit.
 * Nothing of a row stays in the workspace after a call.
 */
#include "data/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "mechanism/mechanism.h"

/* ---- Matching ----------------------------------------------------------- */

static bool
reads_column(const struct device_part *part, size_t column)
{
    bool reads = false;
    for (uint32_t i = 0; i < part->factors; i++) {
        reads = reads ||
                (part->factor[i].is_column && part->factor[i].at == column);
    }
    return reads;
}

/* A pair of a code, which the encoder gives, and the label. */
static bool
is_coded_pair(const struct device_part *part)
{
    return reader_is(part->covers, "both") && part->factors == 2 &&
           !part->factor[0].is_column && part->factor[1].is_column;
}

/* Whether a column says nothing but the label: only parts that cover the label
   read it. */
static bool
is_label(const struct sotto_client *client, size_t column)
{
    bool label = false, more = client->column[column].inputs > 0;
    for (uint32_t i = 0; i < client->sizes.parts; i++) {
        bool reads = reads_column(&client->part[i], column);
        bool covers = reader_is(client->part[i].covers, "label") ||
                      is_coded_pair(&client->part[i]);
        label = label || (reads && covers);
        more = more || (reads && !covers);
    }
    return label && !more;
}

static size_t
find_column(const struct sotto_table *table, const char *name)
{
    size_t count = sotto_table_columns(table), i = 0;
    while (i < count && strcmp(sotto_table_name(table, i), name) != 0) {
        i++;
    }
    return i < count ? i : SIZE_MAX;
}

enum sotto_status
rows_init(struct rows *rows, struct sotto_mechanism *mechanism,
          const struct sotto_table *table, struct sotto_error *err)
{
    const struct sotto_client *client = mechanism->client;
    size_t count = client->sizes.columns;
    *rows =
        (struct rows){.mechanism = mechanism, .table = table, .count = count};
    rows->column = calloc(count + 1, sizeof *rows->column);
    rows->value = calloc(count + 1, sizeof *rows->value);
    if (rows->column == NULL || rows->value == NULL) {
        rows_clear(rows);
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = (const char *)client->column[i].text;
        rows->column[i] = find_column(table, name);
        if (rows->column[i] == SIZE_MAX && !is_label(client, i)) {
            rows_clear(rows);
            return host_fail(err, SOTTO_STATUS_INPUT, 0,
                             "the table has no column \"%.80s\", which the "
                             "mechanism asks for",
                             name);
        }
    }
    return SOTTO_STATUS_OK;
}

void
rows_clear(struct rows *rows)
{
    free(rows->column);
    host_wipe_free(rows->value, (rows->count + 1) * sizeof *rows->value);
    rows->column = NULL;
    rows->value = NULL;
}

/* ---- Records ------------------------------------------------------------ */

/* What the field says, whatever the rest of its column looks like: one stray
   word makes a column text, and the numbers around it are numbers still. */
static struct sotto_value
as_kind(struct sotto_value value, enum device_column_kind kind)
{
    if (kind == DEVICE_COLUMN_NUMBER && value.kind == SOTTO_VALUE_TEXT &&
        isfinite(value.number)) {
        value.kind = SOTTO_VALUE_NUMBER;
    }
    if (kind == DEVICE_COLUMN_CATEGORY && value.kind == SOTTO_VALUE_NUMBER &&
        value.data != NULL) {
        value.kind = SOTTO_VALUE_TEXT;
    }
    return value;
}

const struct sotto_value *
rows_at(struct rows *rows, size_t row)
{
    const struct sotto_client *client = rows->mechanism->client;
    for (size_t i = 0; i < rows->count; i++) {
        rows->value[i] =
            as_kind(sotto_table_cell(rows->table, row, rows->column[i]),
                    client->column[i].kind);
    }
    return rows->value;
}

/* ---- Stages ------------------------------------------------------------- */

size_t
rows_x_width(const struct rows *rows)
{
    return rows->mechanism->client->sizes.inputs;
}

size_t
rows_z_width(const struct rows *rows)
{
    const struct sotto_client *client = rows->mechanism->client;
    uint32_t layers = client->sizes.layers;
    return layers > 0 ? client->layer[layers - 1].out : client->sizes.inputs;
}

void
rows_encode(struct rows *rows, size_t row, float *ret_x, float *ret_z)
{
    struct sotto_client *client = rows->mechanism->client;
    schema_apply(client, rows_at(rows, row));
    if (ret_x != NULL) {
        memcpy(ret_x, client->x, rows_x_width(rows) * sizeof *ret_x);
    }
    if (ret_z != NULL) {
        forward_run(client);
        memcpy(ret_z, client->z, rows_z_width(rows) * sizeof *ret_z);
    }
    device_wipe(client);
}

size_t
rows_representation_width(const struct rows *rows, uint32_t layers)
{
    const struct sotto_client *client = rows->mechanism->client;
    return layers > 0 ? client->layer[layers - 1].out : client->sizes.inputs;
}

void
rows_representation(struct rows *rows, size_t row, uint32_t layers,
                    float *ret_z)
{
    struct sotto_client *client = rows->mechanism->client;
    schema_apply(client, rows_at(rows, row));
    forward_run_to(client, layers);
    memcpy(ret_z, client->z,
           rows_representation_width(rows, layers) * sizeof *ret_z);
    device_wipe(client);
}

void
rows_scores(struct rows *rows, size_t row, float *ret_input, float *ret_z)
{
    struct sotto_client *client = rows->mechanism->client;
    uint32_t layers = client->sizes.layers;
    schema_apply(client, rows_at(rows, row));
    forward_run(client);
    /* A layer's input is the next one's spare, and the last has no skip. */
    memcpy(ret_input, layers > 0 ? client->spare : client->x,
           rows_representation_width(rows, layers > 0 ? layers - 1 : 0) *
               sizeof *ret_input);
    memcpy(ret_z, client->z, rows_z_width(rows) * sizeof *ret_z);
    device_wipe(client);
}

size_t
rows_q_width(const struct rows *rows)
{
    const struct sotto_client *client = rows->mechanism->client;
    size_t width = 0;
    for (uint32_t i = 0; i < client->sizes.parts; i++) {
        const struct device_part *part = &client->part[i];
        if (!reader_is(part->covers, "label")) {
            width += (size_t)part->blocks * channel_width(&part->instance);
        }
    }
    return width;
}

static int32_t *
put_points(const struct sotto_client *client, const struct device_part *part,
           int32_t *ret_q)
{
    uint32_t width = channel_width(&part->instance);
    for (uint32_t block = 0; block < part->blocks; block++) {
        report_point(client, part, block);
        memcpy(ret_q, client->q, width * sizeof *ret_q);
        ret_q += width;
    }
    return ret_q;
}

void
rows_q(struct rows *rows, size_t row, int32_t *ret_q)
{
    struct sotto_client *client = rows->mechanism->client;
    schema_apply(client, rows_at(rows, row));
    forward_run(client);
    for (uint32_t i = 0; i < client->sizes.parts; i++) {
        if (!reader_is(client->part[i].covers, "label")) {
            ret_q = put_points(client, &client->part[i], ret_q);
        }
    }
    device_wipe(client);
}

/* The category column that is the label; SIZE_MAX if there is none. */
static size_t
label_column(const struct sotto_client *client)
{
    for (uint32_t i = 0; i < client->sizes.parts; i++) {
        const struct device_part *part = &client->part[i];
        if (reader_is(part->covers, "label") && part->place == NULL &&
            part->factors == 1 && part->factor[0].is_column) {
            return part->factor[0].at;
        }
        if (is_coded_pair(part)) {
            return part->factor[1].at;
        }
    }
    return SIZE_MAX;
}

size_t
rows_class(struct rows *rows, size_t row)
{
    struct sotto_client *client = rows->mechanism->client;
    size_t column = label_column(client);
    if (column == SIZE_MAX || rows->column[column] == SIZE_MAX) {
        return SIZE_MAX;
    }
    schema_apply(client, rows_at(rows, row));
    size_t symbol = (size_t)client->symbol[column];
    device_wipe(client);
    return symbol;
}
