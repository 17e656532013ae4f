/*
 * column.c: the kinds of columns, and what all of them have in common.
 */
#include "schema/column.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "encode/flush.h"
#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"

#define RANGE_MOST 1e30 /* no real quantity's range ends beyond */

/* The device's kinds come first, in its order. */
static const struct schema_kind *const kinds[] = {
    [SOTTO_COLUMN_NUMBER] = &schema_number,
    [SOTTO_COLUMN_CATEGORY] = &schema_category,
    [SOTTO_COLUMN_BYTES] = &schema_bytes,
    [SOTTO_COLUMN_BINS] = &schema_bins,
};

const struct schema_kind *
schema_kind(enum sotto_column_kind kind)
{
    return kinds[kind];
}

enum sotto_column_kind
schema_kind_of(const struct sotto_schema_column *as,
               const struct sotto_table *table, size_t column)
{
    if (as == NULL || as->type == SOTTO_SCHEMA_IMAGE) {
        return sotto_table_kind(table, column);
    }
    return sotto_schema_is_number(as->type) ? SOTTO_COLUMN_NUMBER
                                            : SOTTO_COLUMN_CATEGORY;
}

/* ---- Schemas ------------------------------------------------------------- */

enum sotto_status
schema_init(struct schema *schema, size_t most, struct sotto_error *err)
{
    *schema =
        (struct schema){.column = calloc(most + 1, sizeof *schema->column),
                        .texts = calloc(most + 1, sizeof *schema->texts)};
    return schema->column != NULL && schema->texts != NULL
               ? SOTTO_STATUS_OK
               : host_fail_memory(err);
}

void
schema_clear(struct schema *schema)
{
    for (size_t i = 0; i < schema->columns; i++) {
        free(schema->texts[i]);
    }
    free(schema->texts);
    free(schema->column);
    *schema = (struct schema){0};
}

/* Copies a text with its NUL; returns where the next one goes. */
static char *
put_text(char *to, const char *text)
{
    size_t size = strlen(text) + 1;
    memcpy(to, text, size);
    return to + size;
}

/* Gives a column texts and edges of its own, in one block: edges, pointers,
   name, values. NULL for lack of memory. */
static void *
own_texts(struct schema_column *column)
{
    size_t count = column->values != NULL ? column->count - 1 : 0;
    size_t edges = column->edges != NULL ? column->count - 2 : 0;
    size_t size = count * sizeof(char *) + edges * sizeof(double) +
                  strlen(column->name) + 1;
    for (size_t i = 0; i < count; i++) {
        size += strlen(column->values[i]) + 1;
    }
    double *edge = malloc(size);
    if (edge == NULL) {
        return NULL;
    }
    const char **block = (const char **)(void *)(edge + edges);
    char *name = (char *)(block + count), *at = put_text(name, column->name);
    if (edges > 0) {
        memcpy(edge, column->edges, edges * sizeof *edge);
        column->edges = edge;
    }
    for (size_t i = 0; i < count; i++) {
        block[i] = at;
        at = put_text(at, column->values[i]);
    }
    column->name = name;
    column->values = column->values != NULL ? block : NULL;
    return edge;
}

enum sotto_status
schema_add(struct schema *schema, const struct schema_column *column,
           struct sotto_error *err)
{
    size_t n = schema->columns;
    struct schema_column *own = &schema->column[n];
    *own = *column;
    schema->texts[n] = own_texts(own);
    if (schema->texts[n] == NULL) {
        return host_fail_memory(err);
    }
    own->inputs = kinds[own->kind]->inputs(own);
    own->at = n > 0 ? own[-1].at + own[-1].inputs : 0;
    schema->columns++;
    return SOTTO_STATUS_OK;
}

enum sotto_status
schema_add_device(struct schema *schema, const struct encode_column *column,
                  double shift, double scale, struct sotto_error *err)
{
    const char *at = (const char *)column->text;
    struct schema_column view = {.name = at,
                                 .kind = (enum sotto_column_kind)column->kind,
                                 .count = column->count,
                                 .input = column->inputs > 0,
                                 .shift = shift,
                                 .scale = scale,
                                 .edges = column->edge,
                                 .missing = column->missing,
                                 .clip = column->clip,
                                 .log = column->log};
    const char **values = NULL;
    if (kinds[view.kind]->symbols) {
        values = calloc(view.count, sizeof *values);
        if (values == NULL) {
            return host_fail_memory(err);
        }
        for (size_t i = 0; i + 1 < view.count; i++) {
            at += strlen(at) + 1;
            values[i] = at;
        }
        view.values = values;
    }
    enum sotto_status status = schema_add(schema, &view, err);
    free(values);
    return status;
}

enum sotto_status
schema_fit(struct schema *schema, const struct sotto_table *table,
           size_t column, const struct schema_aim *aim, struct sotto_error *err)
{
    struct schema_column fitted = {
        .name = sotto_table_name(table, column),
        .kind = aim->bins > 0 ? SOTTO_COLUMN_BINS
                              : schema_kind_of(aim->as, table, column),
        .count = 1,
        .input = aim->input};
    enum sotto_status status =
        kinds[fitted.kind]->fit(table, column, aim, &fitted, err);
    if (status == SOTTO_STATUS_OK) {
        status = schema_add(schema, &fitted, err);
    }
    /* What bins fitted is one block, which begins with the edges; the const is
       the reader's. */
    free(fitted.edges != NULL ? (void *)(uintptr_t)fitted.edges
                              : (void *)(uintptr_t)fitted.values);
    return status;
}

/* ---- Columns ------------------------------------------------------------- */

/* Undoes maths_log_signed. */
static double
exp_signed(double x)
{
    return copysign(expm1(fabs(x)), x);
}

double
schema_column_value(const struct schema_column *column, double x)
{
    double y = column->shift + (column->scale != 0 ? x / column->scale : 0);
    return column->log ? exp_signed(y) : y;
}

double
schema_column_x(const struct schema_column *column, double value)
{
    double y = column->log ? maths_log_signed(value) : value;
    return (y - column->shift) * column->scale;
}

bool
schema_range_usable(const struct schema_range *range)
{
    return fabs(range->low) <= RANGE_MOST && fabs(range->high) <= RANGE_MOST;
}

void
schema_column_scaling(const struct schema_column *column, double *ret_shift,
                      double *ret_scale)
{
    double shift = column->shift, scale = column->scale;
    if (fabs(shift) < FLUSH_COLUMN_LEAST && shift != 0) {
        shift = 0;
    }
    if (fabs(scale) < FLUSH_COLUMN_LEAST && scale != 0) {
        scale = copysign(FLUSH_COLUMN_LEAST, scale);
    }
    *ret_shift = shift;
    *ret_scale = scale;
}

enum sotto_status
schema_column_fail(enum sotto_status status, const char *before,
                   const char *name, const char *after, struct sotto_error *err)
{
    struct host_text shown;
    host_text_init(&shown, 1024);
    host_printable_add(&shown, name, 60);
    (void)host_fail(err, status, 0, "%s\"%s\"%s", before,
                    shown.data != NULL ? shown.data : "", after);
    host_text_clear(&shown);
    return host_about(status, err, SOTTO_ABOUT_COLUMN, name);
}

enum sotto_status
schema_column_missing(const struct sotto_table *table, size_t column,
                      struct sotto_error *err)
{
    return host_remedy(
        schema_column_fail(SOTTO_STATUS_INPUT, "column ",
                           sotto_table_name(table, column),
                           " has no value in any row: leave it out", err),
        err, "drop");
}
