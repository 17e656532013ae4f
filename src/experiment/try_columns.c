/*
 * try_columns.c: a label's classes.
 */
#include <stdlib.h>
#include <string.h>

#include "experiment/try.h"
#include "host/error.h"

static int
compare_values(const void *a, const void *b)
{
    const struct sotto_value *x = a, *y = b;
    size_t size = x->size < y->size ? x->size : y->size;
    int order = size > 0 ? memcmp(x->data, y->data, size) : 0;
    return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

/* The present values of a column, in order, to free; NULL: no memory. */
static struct sotto_value *
sort_column(const struct sotto_table *table, size_t column, size_t *ret_count)
{
    size_t rows = sotto_table_rows(table), count = 0;
    struct sotto_value *value = calloc(rows + 1, sizeof *value);
    for (size_t i = 0; value != NULL && i < rows; i++) {
        struct sotto_value cell = sotto_table_cell(table, i, column);
        if (cell.kind != SOTTO_VALUE_MISSING) {
            value[count++] = cell;
        }
    }
    if (value != NULL) {
        qsort(value, count, sizeof *value, compare_values);
    }
    *ret_count = count;
    return value;
}

enum sotto_status
try_column_largest(const struct sotto_table *table, size_t column,
                   struct sotto_value *ret_largest, size_t *ret_rows,
                   size_t *ret_classes, struct sotto_error *err)
{
    size_t count = 0, most = 0, classes = 0;
    struct sotto_value *value = sort_column(table, column, &count);
    if (value == NULL) {
        return host_fail_memory(err);
    }
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from;
             to < count && compare_values(&value[to], &value[from]) == 0;
             to++) {
        }
        if (to - from > most) {
            most = to - from;
            *ret_largest = value[from];
        }
        classes++;
    }
    *ret_rows = most;
    *ret_classes = classes;
    free(value);
    return SOTTO_STATUS_OK;
}
