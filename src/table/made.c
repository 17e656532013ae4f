/*
 * made.c: tables made in memory, column by column, and columns renamed and
 * dropped.
 *
 * A new column is a table of its own for a moment, and joined to the others:
 * what two tables must have in common is said once, in sotto_table_join.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "host/error.h"
#include "table/number_text.h"
#include "table/table.h"

enum sotto_status
sotto_table_new(size_t rows, struct sotto_table **ret_table,
                struct sotto_error *err)
{
    struct sotto_table *table;
    if (rows == 0 || rows > UINT32_MAX) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a table has 1 to %zu rows, not %zu",
                         (size_t)UINT32_MAX, rows);
    }
    table = calloc(1, sizeof *table);
    if (table == NULL) {
        return host_fail_memory(err);
    }
    table->rows = rows;
    *ret_table = table;
    return SOTTO_STATUS_OK;
}

/* ---- One column ---------------------------------------------------------- */

/* Joins `made`, whose column is `filled`; frees it on failure. */
static enum sotto_status
join_column(struct sotto_table *table, struct sotto_table *made, bool filled,
            struct sotto_error *err)
{
    enum sotto_status status =
        filled ? sotto_table_join(table, made, err) : host_fail_memory(err);
    if (status != SOTTO_STATUS_OK) {
        sotto_table_free(made);
    }
    return status;
}

enum sotto_status
sotto_table_add_numbers(struct sotto_table *table, const char *name,
                        const double *numbers, struct sotto_error *err)
{
    struct sotto_table *made = table_new_column(table->rows, name);
    double *own = NULL;
    if (made != NULL) {
        own = calloc(table->rows, sizeof *own);
        made->columns[0].numbers = own;
    }
    for (size_t i = 0; own != NULL && i < table->rows; i++) {
        own[i] = isfinite(numbers[i]) ? numbers[i] : (double)NAN;
    }
    return join_column(table, made, own != NULL, err);
}

enum sotto_status
sotto_table_add_bytes(struct sotto_table *table, const char *name,
                      const uint8_t *samples, const struct sotto_image *image,
                      struct sotto_error *err)
{
    uint64_t width = checked_multiply(
        checked_multiply(image->height, image->width), image->channels);
    uint64_t size = checked_multiply(width, (uint32_t)table->rows);
    struct sotto_table *made;
    uint8_t *own = NULL;
    if (width == 0 || size > TABLE_MAX_BYTES) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "%zu rows of %u x %u x %u samples are %s", table->rows,
                         image->height, image->width, image->channels,
                         width == 0 ? "empty" : "too many");
    }
    made = table_new_column(table->rows, name);
    if (made != NULL) {
        struct table_column *column = &made->columns[0];
        own = malloc((size_t)size);
        table_column_images(column, image);
        column->block->bytes = own;
        column->block->size = own != NULL ? (size_t)size : 0;
    }
    if (own != NULL) {
        memcpy(own, samples, (size_t)size);
    }
    return join_column(table, made, own != NULL, err);
}

/* ---- Texts --------------------------------------------------------------- */

static enum sotto_status
measure_texts(const char *const *texts, size_t rows, size_t *ret_size,
              struct sotto_error *err)
{
    uint64_t size = 0;
    for (size_t i = 0; i < rows; i++) {
        size_t length = texts[i] != NULL ? strlen(texts[i]) : 0;
        if (length > TABLE_MAX_FIELD) {
            return host_fail(err, SOTTO_STATUS_LIMIT, i,
                             "the text of row %zu has %zu bytes: at most %zu",
                             i + 1, length, TABLE_MAX_FIELD);
        }
        size += length;
    }
    if (size > TABLE_MAX_BYTES) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "the texts have more than %zu bytes together",
                         TABLE_MAX_BYTES);
    }
    *ret_size = (size_t)size;
    return SOTTO_STATUS_OK;
}

static void
put_text(struct table_column *column, size_t row, const char *text)
{
    struct table_block *block = column->block;
    struct table_cell *cell = &block->cells[row];
    size_t size = text != NULL ? strlen(text) : 0;
    cell->missing = size == 0;
    if (size > 0) {
        memcpy(block->bytes + block->size, text, size);
        cell->start = (uint32_t)block->size;
        cell->size = size & 0x1fffffu;
        cell->number = number_text_parse(text, size, &column->numbers[row]);
        block->size += size;
    }
}

enum sotto_status
sotto_table_add_texts(struct sotto_table *table, const char *name,
                      const char *const *texts, struct sotto_error *err)
{
    struct sotto_table *made;
    bool filled = false;
    size_t size = 0;
    enum sotto_status status = measure_texts(texts, table->rows, &size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    made = table_new_column(table->rows, name);
    if (made != NULL) {
        struct table_column *column = &made->columns[0];
        struct table_block *block = column->block;
        table_column_texts(column);
        column->numbers = calloc(table->rows, sizeof *column->numbers);
        block->bytes = malloc(size + 1);
        block->cells = calloc(table->rows, sizeof *block->cells);
        block->stride = 1;
        filled = column->numbers != NULL && block->bytes != NULL &&
                 block->cells != NULL;
        block->count = block->cells != NULL ? table->rows : 0;
        for (size_t i = 0; filled && i < table->rows; i++) {
            put_text(column, i, texts[i]);
        }
    }
    return join_column(table, made, filled, err);
}

/* ---- Changing columns ---------------------------------------------------- */

static enum sotto_status
check_column(const struct sotto_table *table, size_t column,
             struct sotto_error *err)
{
    return column < table->count
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "there is no column %zu: the table has %zu", column,
                           table->count);
}

enum sotto_status
sotto_table_rename(struct sotto_table *table, size_t column, const char *name,
                   struct sotto_error *err)
{
    enum sotto_status status = check_column(table, column, err);
    size_t twin = sotto_table_find(table, name);
    if (status == SOTTO_STATUS_OK && twin != SIZE_MAX && twin != column) {
        status = host_about(
            host_fail(err, SOTTO_STATUS_INPUT, twin,
                      "the table has a column \"%.80s\" already", name),
            err, SOTTO_ABOUT_COLUMN, name);
    }
    if (status == SOTTO_STATUS_OK &&
        !table_column_name(&table->columns[column], name, strlen(name))) {
        status = host_fail_memory(err);
    }
    if (status == SOTTO_STATUS_OK) {
        table->columns[column].named = true;
    }
    return status;
}

enum sotto_status
sotto_table_drop(struct sotto_table *table, size_t column,
                 struct sotto_error *err)
{
    enum sotto_status status = check_column(table, column, err);
    if (status == SOTTO_STATUS_OK) {
        table_column_clear(&table->columns[column], table->rows);
        table->count--;
        memmove(&table->columns[column], &table->columns[column + 1],
                (table->count - column) * sizeof *table->columns);
    }
    return status;
}
