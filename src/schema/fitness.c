/*
 * fitness.c: what in a table does not fit a schema.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "schema/outline.h"

static bool
is_text(const struct sotto_value *value, const char *text)
{
    size_t size = strlen(text);
    return value->data != NULL && value->size == size &&
           memcmp(value->data, text, size) == 0;
}

static bool
is_known(const struct sotto_schema_column *column,
         const struct sotto_value *value)
{
    for (size_t i = 0; i < column->count; i++) {
        if (is_text(value, column->values[i])) {
            return true;
        }
    }
    return false;
}

/* As a device takes the value: schema_kind's `read` and the channel's range. */
static enum sotto_schema_misfit_kind
judge(const struct sotto_schema_column *column, const struct sotto_value *value)
{
    if (value->kind == SOTTO_VALUE_MISSING) {
        return SOTTO_SCHEMA_MISSING;
    }
    if (sotto_schema_is_category(column->type)) {
        return is_known(column, value) ? SOTTO_SCHEMA_FITS
                                       : SOTTO_SCHEMA_UNKNOWN;
    }
    if (!sotto_schema_is_number(column->type)) {
        return value->kind == SOTTO_VALUE_BYTES ? SOTTO_SCHEMA_FITS
                                                : SOTTO_SCHEMA_WORD;
    }
    if (value->kind == SOTTO_VALUE_BYTES || !isfinite(value->number)) {
        return SOTTO_SCHEMA_WORD;
    }
    if (value->number < column->low || value->number > column->high) {
        return SOTTO_SCHEMA_BEYOND;
    }
    return column->type == SOTTO_SCHEMA_INTEGER &&
                   value->number != floor(value->number)
               ? SOTTO_SCHEMA_FRACTION
               : SOTTO_SCHEMA_FITS;
}

enum sotto_status
sotto_schema_check(
    const struct sotto_schema *schema, const struct sotto_table *table,
    bool (*tell)(void *own, const struct sotto_schema_misfit *misfit),
    void *own, struct sotto_schema_total *ret_total, struct sotto_error *err)
{
    size_t *at = calloc(schema->columns + 1, sizeof *at);
    bool telling = tell != NULL;
    if (at == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < schema->columns; i++) {
        bool used = schema->column[i].use != SOTTO_SCHEMA_DROP;
        at[i] =
            used ? sotto_table_find(table, schema->column[i].name) : SIZE_MAX;
        ret_total[i] =
            (struct sotto_schema_total){.absent = used && at[i] == SIZE_MAX};
    }
    for (size_t row = 0; row < sotto_table_rows(table); row++) {
        for (size_t i = 0; i < schema->columns; i++) {
            struct sotto_schema_misfit misfit = {.row = row, .column = i};
            if (at[i] == SIZE_MAX) {
                continue;
            }
            misfit.value = sotto_table_cell(table, row, at[i]);
            misfit.kind = judge(&schema->column[i], &misfit.value);
            ret_total[i].of[misfit.kind]++;
            if (telling && misfit.kind > SOTTO_SCHEMA_MISSING) {
                misfit.line = sotto_table_line(table, row);
                telling = tell(own, &misfit);
            }
        }
    }
    free(at);
    return SOTTO_STATUS_OK;
}
