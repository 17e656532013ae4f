/*
 * rows.c: the rows of a table as records of a mechanism.
 *
 * The stages are the device's own (client/opened.h), run in the mechanism's
 * workspace: what is learnt from rows is what reports are about, bit for bit.
 * Nothing of a row stays in the workspace after a call.
 */
#include "mechanism/rows.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "mechanism/stages.h"
#include "schema/column.h"

/* ---- Matching ----------------------------------------------------------- */

enum sotto_status
rows_init(struct rows *rows, struct sotto_mechanism *mechanism,
          const struct sotto_table *table, struct sotto_error *err)
{
    const struct shape *shape = &mechanism->shape;
    size_t count = shape->schema.columns;
    *rows =
        (struct rows){.mechanism = mechanism, .table = table, .count = count};
    rows->column = calloc(count + 1, sizeof *rows->column);
    rows->value = calloc(count + 1, sizeof *rows->value);
    if (rows->column == NULL || rows->value == NULL) {
        rows_clear(rows);
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = shape->schema.column[i].name;
        rows->column[i] = sotto_table_find(table, name);
        if (rows->column[i] == SIZE_MAX && !shape->schema.column[i].label) {
            rows_clear(rows);
            (void)host_fail(err, SOTTO_STATUS_INPUT, 0,
                            "the table has no column \"%.80s\", which the "
                            "mechanism asks for",
                            name);
            return host_about(SOTTO_STATUS_INPUT, err, SOTTO_ABOUT_PARAMETER,
                              "table");
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

const struct sotto_value *
rows_at(struct rows *rows, size_t row)
{
    const struct shape *shape = &rows->mechanism->shape;
    for (size_t i = 0; i < rows->count; i++) {
        const struct schema_kind *kind =
            schema_kind(shape->schema.column[i].kind);
        rows->value[i] =
            kind->read(sotto_table_cell(rows->table, row, rows->column[i]));
    }
    return rows->value;
}

struct sotto_records {
    struct rows rows;
};

enum sotto_status
sotto_records_new(struct sotto_mechanism *mechanism,
                  const struct sotto_table *table,
                  struct sotto_records **ret_records, struct sotto_error *err)
{
    struct sotto_records *records = calloc(1, sizeof *records);
    enum sotto_status status =
        records != NULL ? rows_init(&records->rows, mechanism, table, err)
                        : host_fail_memory(err);
    if (status == SOTTO_STATUS_OK) {
        *ret_records = records;
    } else {
        free(records);
    }
    return status;
}

void
sotto_records_free(struct sotto_records *records)
{
    if (records != NULL) {
        rows_clear(&records->rows);
        free(records);
    }
}

const struct sotto_value *
sotto_records_at(struct sotto_records *records, size_t row)
{
    return rows_at(&records->rows, row);
}

size_t
sotto_records_columns(const struct sotto_records *records)
{
    return records->rows.count;
}

/* ---- Stages ------------------------------------------------------------- */

size_t
rows_x_width(const struct rows *rows)
{
    return rows->mechanism->shape.x;
}

size_t
rows_z_width(const struct rows *rows)
{
    return rows->mechanism->shape.z;
}

void
rows_encode(struct rows *rows, size_t row, float *ret_x, float *ret_z)
{
    struct encode_plan *encoder = rows->mechanism->device.encoder;
    schema_apply(encoder, rows_at(rows, row));
    if (ret_x != NULL) {
        memcpy(ret_x, encoder->x, rows_x_width(rows) * sizeof *ret_x);
    }
    if (ret_z != NULL) {
        forward_run(encoder);
        memcpy(ret_z, encoder->z, rows_z_width(rows) * sizeof *ret_z);
    }
    stages_wipe(rows->mechanism);
}

size_t
rows_representation_width(const struct rows *rows, uint32_t layers)
{
    return rows->mechanism->shape.width[layers];
}

void
rows_representation(struct rows *rows, size_t row, uint32_t layers,
                    float *ret_z)
{
    struct encode_plan *encoder = rows->mechanism->device.encoder;
    schema_apply(encoder, rows_at(rows, row));
    forward_run_to(encoder, layers);
    memcpy(ret_z, encoder->z,
           rows_representation_width(rows, layers) * sizeof *ret_z);
    stages_wipe(rows->mechanism);
}

void
rows_scores(struct rows *rows, size_t row, float *ret_input, float *ret_z)
{
    struct encode_plan *encoder = rows->mechanism->device.encoder;
    uint32_t layers = (uint32_t)rows->mechanism->shape.layers;
    schema_apply(encoder, rows_at(rows, row));
    forward_run(encoder);
    memcpy(ret_input, encoder->input,
           rows_representation_width(rows, layers > 0 ? layers - 1 : 0) *
               sizeof *ret_input);
    memcpy(ret_z, encoder->z, rows_z_width(rows) * sizeof *ret_z);
    stages_wipe(rows->mechanism);
}

size_t
rows_q_width(const struct rows *rows)
{
    return rows->mechanism->shape.q;
}

void
rows_q(struct rows *rows, size_t row, int32_t *ret_q)
{
    struct sotto_mechanism *mechanism = rows->mechanism;
    schema_apply(mechanism->device.encoder, rows_at(rows, row));
    forward_run(mechanism->device.encoder);
    for (size_t i = 0; i < mechanism->shape.parts; i++) {
        if (strcmp(mechanism->shape.part[i].covers, "label") != 0) {
            ret_q = stages_part(mechanism, i, ret_q);
        }
    }
    stages_wipe(mechanism);
}

size_t
rows_class(struct rows *rows, size_t row)
{
    struct encode_plan *encoder = rows->mechanism->device.encoder;
    size_t column = rows->mechanism->shape.label;
    if (column == SIZE_MAX || rows->column[column] == SIZE_MAX) {
        return SIZE_MAX;
    }
    schema_apply(encoder, rows_at(rows, row));
    size_t symbol = (size_t)encoder->symbol[column];
    stages_wipe(rows->mechanism);
    return symbol;
}
