/*
 * matrix.c: the rows of a table as x.
 */
#include "schema/matrix.h"

#include <stdlib.h>
#include <string.h>

#include "encode/encode.h"
#include "host/error.h"
#include "host/text.h"
#include "host/wipe.h"

#define TEXT_MOST ((size_t)1 << 31)

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
    size_t columns;
    struct encode_column *column;
    double *scaling; /* shifts, then scales */
    int32_t *symbol;
    size_t *at;
    struct sotto_value *value;
    struct host_text text;
};

static void
matrix_clear(struct matrix *matrix)
{
    size_t n = matrix->columns + 1;
    free(matrix->column);
    free(matrix->scaling);
    host_wipe_free(matrix->symbol, n * sizeof *matrix->symbol);
    free(matrix->at);
    host_wipe_free(matrix->value, n * sizeof *matrix->value);
    host_text_clear(&matrix->text);
}

static void
add_texts(struct host_text *text, const struct schema_column *column)
{
    host_text_add(text, column->name, strlen(column->name) + 1);
    for (size_t j = 0; column->values != NULL && j + 1 < column->count; j++) {
        host_text_add(text, column->values[j], strlen(column->values[j]) + 1);
    }
}

static enum sotto_status
matrix_init(struct matrix *matrix, const struct schema_column *column,
            size_t columns, const struct sotto_table *table,
            struct sotto_error *err)
{
    size_t *start = calloc(columns + 1, sizeof *start), n = columns + 1;
    bool good;
    *matrix = (struct matrix){.columns = columns,
                              .column = calloc(n, sizeof *matrix->column),
                              .scaling = calloc(2 * n, sizeof(double)),
                              .symbol = calloc(n, sizeof *matrix->symbol),
                              .at = calloc(n, sizeof *matrix->at),
                              .value = calloc(n, sizeof *matrix->value)};
    host_text_init(&matrix->text, TEXT_MOST);
    good = start != NULL && matrix->column != NULL && matrix->scaling != NULL &&
           matrix->symbol != NULL && matrix->at != NULL &&
           matrix->value != NULL;
    for (size_t i = 0; good && i < columns; i++) {
        start[i] = matrix->text.size;
        add_texts(&matrix->text, &column[i]);
        matrix->at[i] = sotto_table_find(table, column[i].name);
        schema_column_scaling(&column[i], &matrix->scaling[i],
                              &matrix->scaling[columns + i]);
    }
    good = good && !matrix->text.failed;
    for (size_t i = 0; good && i < columns; i++) {
        matrix->column[i] = (struct encode_column){
            .kind = (enum encode_column_kind)column[i].kind,
            .count = (uint32_t)column[i].count,
            .inputs = (uint32_t)schema_kind(column[i].kind)->inputs(&column[i]),
            .missing = column[i].missing,
            .clip = column[i].clip,
            .text = (const uint8_t *)matrix->text.data + start[i]};
    }
    free(start);
    return good ? SOTTO_STATUS_OK : host_fail_memory(err);
}

enum sotto_status
matrix_fill(const struct schema_column *column, size_t columns,
            const struct sotto_table *table, float *ret_x,
            struct sotto_error *err)
{
    size_t width = matrix_width(column, columns);
    struct matrix matrix;
    enum sotto_status status =
        matrix_init(&matrix, column, columns, table, err);
    for (size_t row = 0;
         status == SOTTO_STATUS_OK && row < sotto_table_rows(table); row++) {
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
    matrix_clear(&matrix);
    return status;
}
