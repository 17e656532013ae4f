/*
 * matrix.c: the rows of a table as x.
 */
#include "schema/matrix.h"

#include <stdlib.h>

#include "host/error.h"
#include "host/wipe.h"

size_t
matrix_width(const struct schema_column *column, size_t columns)
{
    size_t width = 0;
    for (size_t i = 0; i < columns; i++) {
        width += schema_kind(column[i].kind)->inputs(&column[i]);
    }
    return width;
}

/* Columns as a device has them, and where the table has them. */
struct matrix {
    struct encode_column *column;
    double *scaling; /* shifts, then scales */
    int32_t *symbol;
    size_t *at;
    struct sotto_value *value;
};

static void
matrix_clear(struct matrix *matrix, size_t n)
{
    free(matrix->column);
    free(matrix->scaling);
    host_wipe_free(matrix->symbol, n * sizeof *matrix->symbol);
    free(matrix->at);
    host_wipe_free(matrix->value, n * sizeof *matrix->value);
}

static struct encode_column
device_column(const struct schema_column *column)
{
    return (struct encode_column){.kind = schema_kind(column->kind)->device,
                                  .count = (uint32_t)column->count,
                                  .inputs = (uint32_t)column->inputs,
                                  .missing = column->missing,
                                  .clip = column->clip,
                                  .log = column->log,
                                  .text = (const uint8_t *)column->name};
}

enum sotto_status
matrix_fill(const struct schema *schema, const struct sotto_table *table,
            float *ret_x, struct sotto_error *err)
{
    const struct schema_column *column = schema->column;
    size_t columns = schema->columns, n = columns + 1;
    size_t width = matrix_width(column, columns);
    struct matrix matrix = {.column = calloc(n, sizeof *matrix.column),
                            .scaling = calloc(2 * n, sizeof(double)),
                            .symbol = calloc(n, sizeof *matrix.symbol),
                            .at = calloc(n, sizeof *matrix.at),
                            .value = calloc(n, sizeof *matrix.value)};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (matrix.column == NULL || matrix.scaling == NULL ||
        matrix.symbol == NULL || matrix.at == NULL || matrix.value == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < columns; i++) {
        matrix.column[i] = device_column(&column[i]);
        matrix.at[i] = sotto_table_find(table, column[i].name);
        schema_column_scaling(&column[i], &matrix.scaling[i],
                              &matrix.scaling[columns + i]);
    }
    for (size_t row = 0; row < sotto_table_rows(table); row++) {
        struct encode_plan plan = {.columns = (uint32_t)columns,
                                   .column = matrix.column,
                                   .shift = matrix.scaling,
                                   .scale = matrix.scaling + columns,
                                   .symbol = matrix.symbol};
        plan.x = ret_x + row * width;
        for (size_t i = 0; i < columns; i++) {
            matrix.value[i] =
                schema_kind(column[i].kind)
                    ->read(sotto_table_cell(table, row, matrix.at[i]));
        }
        schema_apply(&plan, matrix.value);
    }
done:
    matrix_clear(&matrix, n);
    return status;
}
