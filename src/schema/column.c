/*
 * column.c: the kinds of columns, and what all of them have in common.
 */
#include "schema/column.h"

#include <math.h>
#include <stdlib.h>

#include "encode/flush.h"
#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"

static const struct schema_kind *const kinds[] = {
    [SOTTO_COLUMN_NUMBER] = &schema_number,
    [SOTTO_COLUMN_CATEGORY] = &schema_category,
    [SOTTO_COLUMN_BYTES] = &schema_bytes,
};

const struct schema_kind *
schema_kind(enum sotto_column_kind kind)
{
    return kinds[kind];
}

enum sotto_status
schema_column_fit(const struct sotto_table *table, size_t column,
                  const struct schema_aim *aim, struct schema_column *ret,
                  struct sotto_error *err)
{
    *ret = (struct schema_column){.name = sotto_table_name(table, column),
                                  .kind = sotto_table_kind(table, column),
                                  .count = 1};
    return kinds[ret->kind]->fit(table, column, aim, ret, err);
}

void
schema_column_clear(struct schema_column *column)
{
    free((void *)(uintptr_t)column->values); /* its const is the reader's */
    column->values = NULL;
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
    return status;
}

enum sotto_status
schema_column_missing(const struct sotto_table *table, size_t column,
                      struct sotto_error *err)
{
    return schema_column_fail(
        SOTTO_STATUS_INPUT, "column ", sotto_table_name(table, column),
        " has no value in any row: leave it out with --drop", err);
}
