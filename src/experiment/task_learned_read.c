/*
 * task_learned_read.c: columns of numbers as a learnt task's records.
 */
#include <math.h>
#include <stdlib.h>

#include "experiment/task_learned.h"
#include "host/error.h"

#define SHARE 0.7 /* of rows: auxiliary */

/* The column from 0 to 1 over the first `rows` rows. */
static void
scale_column(const struct task_learned_data *data, size_t column, size_t rows,
             const double *value, float *ret_x)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < rows; i++) {
        low = fmin(low, value[i]);
        high = fmax(high, value[i]);
    }
    for (size_t i = 0; i < data->rows; i++) {
        ret_x[i * data->width + column] =
            (float)((value[i] - low) / (high > low ? high - low : 1));
    }
}

static enum sotto_status
read_column(const struct sotto_table *table, size_t column, double *ret_value,
            struct sotto_error *err)
{
    for (size_t i = 0; i < sotto_table_rows(table); i++) {
        const struct sotto_value cell = sotto_table_cell(table, i, column);
        if (cell.kind != SOTTO_VALUE_NUMBER) {
            return host_fail(err, SOTTO_STATUS_INPUT, i,
                             "line %zu, column %s: a number is missing",
                             sotto_table_line(table, i),
                             sotto_table_name(table, column));
        }
        ret_value[i] = cell.number;
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
task_learned_read(const struct sotto_table *table, size_t from, size_t width,
                  struct task_learned_data *data, struct sotto_error *err)
{
    size_t rows = sotto_table_rows(table);
    double *value = calloc(rows + 1, sizeof *value);
    enum sotto_status status = SOTTO_STATUS_OK;
    *data = (struct task_learned_data){
        .rows = rows, .aux = (size_t)(SHARE * (double)rows), .width = width};
    data->x = calloc(rows + 1, width * sizeof *data->x);
    data->all = calloc(rows + 1, width * sizeof *data->all);
    if (value == NULL || data->x == NULL || data->all == NULL) {
        status = host_fail_memory(err);
    } else if (data->aux < 16) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "%zu rows are too few to learn from", rows);
    }
    for (size_t j = 0; j < width && status == SOTTO_STATUS_OK; j++) {
        status = read_column(table, from + j, value, err);
        if (status == SOTTO_STATUS_OK) {
            scale_column(data, j, data->aux, value, data->x);
            scale_column(data, j, rows, value, data->all);
        }
    }
    free(value);
    if (status != SOTTO_STATUS_OK) {
        task_learned_data_clear(data);
    }
    return status;
}
