/*
 * direct_columns.c: a column of the data becomes a column of the mechanism.
 *
 *     numbers      [low, high] becomes [-1, 1]; given, or the data's own range
 *     samples      [0, 255] becomes [-1, 1]
 *     categories   the data's own, sorted; "other" the last symbol
 */
#include <math.h>
#include <string.h>

#include "encoder/direct.h"
#include "encoder/schema_fit.h"

static const struct direct_range *
range_of(const struct direct *direct, size_t column)
{
    for (size_t i = 0; i < direct->ranges; i++) {
        if (strcmp(direct->range[i].column, direct_name(direct, column)) == 0) {
            return &direct->range[i];
        }
    }
    return NULL;
}

/* The smallest and largest value there is; false if all are missing. */
static bool
find_range(const struct sotto_table *table, size_t column, double *ret_low,
           double *ret_high)
{
    bool found = false;
    for (size_t row = 0; row < sotto_table_rows(table); row++) {
        struct sotto_value value = sotto_table_cell(table, row, column);
        if (value.kind != SOTTO_VALUE_NUMBER) {
            continue;
        }
        *ret_low = found ? fmin(*ret_low, value.number) : value.number;
        *ret_high = found ? fmax(*ret_high, value.number) : value.number;
        found = true;
    }
    return found;
}

/* Halves first: low and high may lie further apart than a double can say. */
static enum sotto_status
fit_number(struct direct *direct, size_t column, struct compose_column *ret,
           struct sotto_error *err)
{
    const struct direct_range *range = range_of(direct, column);
    double low = 0, high = 0, half;
    if (range != NULL) {
        low = range->low;
        high = range->high;
    } else if (find_range(direct->table, column, &low, &high)) {
        direct->ranges_fitted = true;
    } else {
        return schema_fit_missing(direct->table, column, err);
    }
    half = high / 2 - low / 2;
    ret->shift = low / 2 + high / 2;
    ret->scale = isfinite(1 / half) ? 1 / half : 0; /* 0: a constant */
    return SOTTO_STATUS_OK;
}

enum sotto_status
direct_fit_column(struct direct *direct, size_t column,
                  struct compose_column *ret, struct sotto_error *err)
{
    ret->name = direct_name(direct, column);
    ret->kind = sotto_table_kind(direct->table, column);
    ret->count = 1;
    switch (ret->kind) {
    case SOTTO_COLUMN_CATEGORY:
        direct->categories_fitted = true;
        return schema_fit_category(direct->table, column, ret, err);
    case SOTTO_COLUMN_BYTES:
        ret->count = direct_entries(direct, column);
        ret->shift = 127.5;
        ret->scale = 1 / 127.5;
        return SOTTO_STATUS_OK;
    default:
        return fit_number(direct, column, ret, err);
    }
}
