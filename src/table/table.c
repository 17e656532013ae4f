/*
 * table.c: looks at tables, names their columns, joins them.
 *
 * table_read.c reads them, selection.c takes some of their rows, and table.h
 * draws how a table lies in memory. What is asked of a row or column that is
 * not there is answered with nothing (a missing cell, an empty name, 0), never
 * with other memory.
 */
#include "table/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/text.h"
#include "host/wipe.h"

/* ---- Making and freeing ------------------------------------------------ */

struct table_block *
table_block_new(void)
{
    return calloc(1, sizeof(struct table_block));
}

void
table_block_free(struct table_block *block)
{
    if (block == NULL) {
        return;
    }
    if (block->of != NULL) {
        table_block_drop(block->of);
    } else {
        host_wipe_free(block->bytes, block->size);
        host_wipe_free(block->cells, block->count * sizeof *block->cells);
        free(block->lines);
        free(block->words);
    }
    free(block->order);
    free(block);
}

void
table_block_drop(struct table_block *block)
{
    if (--block->references == 0) {
        table_block_free(block);
    }
}

struct sotto_table *
table_new(struct table_block *block, size_t count)
{
    struct table_block *own = block == NULL ? table_block_new() : NULL;
    struct sotto_table *table = calloc(1, sizeof *table);
    struct table_column *columns = calloc(count, sizeof *columns);
    block = block == NULL ? own : block;
    if (block == NULL || table == NULL || columns == NULL) {
        table_block_free(own);
        free(table);
        free(columns);
        return NULL;
    }
    table->columns = columns;
    table->count = count;
    block->references = count;
    for (size_t i = 0; i < count; i++) {
        columns[i].kind = SOTTO_COLUMN_NUMBER;
        columns[i].block = block;
        columns[i].index = i;
    }
    return table;
}

struct sotto_table *
table_new_column(size_t rows, const char *name)
{
    struct sotto_table *table = table_new(NULL, 1);
    if (table == NULL) {
        return NULL;
    }
    table->rows = rows;
    table->columns[0].named = true;
    if (!table_column_name(&table->columns[0], name, strlen(name))) {
        sotto_table_free(table);
        return NULL;
    }
    return table;
}

struct sotto_image
table_image(const uint32_t *shape, size_t rank)
{
    struct sotto_image image = {.height = 1, .width = 1, .channels = 1};
    if (rank == 3 || rank == 4) {
        image.height = shape[1];
        image.width = shape[2];
        image.channels = rank == 4 ? shape[3] : 1;
        return image;
    }
    for (size_t i = 1; i < rank; i++) {
        image.width *= shape[i];
    }
    return image;
}

void
table_column_images(struct table_column *column,
                    const struct sotto_image *image)
{
    column->kind = SOTTO_COLUMN_BYTES;
    column->width = (size_t)image->height * image->width * image->channels;
    column->image = *image;
}

void
table_column_texts(struct table_column *column)
{
    column->kind = SOTTO_COLUMN_CATEGORY;
}

void
table_column_clear(struct table_column *column, size_t rows)
{
    free(column->name);
    host_wipe_free(column->numbers, rows * sizeof *column->numbers);
    table_block_drop(column->block);
}

void
sotto_table_free(struct sotto_table *table)
{
    if (table == NULL) {
        return;
    }
    for (size_t i = 0; i < table->count; i++) {
        table_column_clear(&table->columns[i], table->rows);
    }
    free(table->columns);
    free(table);
}

/* ---- Names ------------------------------------------------------------- */

bool
table_column_name(struct table_column *column, const void *text, size_t size)
{
    char *name = host_text_copy(text, size);
    if (name == NULL) {
        return false;
    }
    free(column->name);
    column->name = name;
    return true;
}

bool
table_column_number(struct table_column *column, size_t place)
{
    char text[32];
    int size = snprintf(text, sizeof text, "c%zu", place + 1);
    return table_column_name(column, text, (size_t)size);
}

/* By name, and by place where the names are the same. */
static int
compare_columns(const void *a, const void *b)
{
    const struct table_column *left = *(const struct table_column *const *)a;
    const struct table_column *right = *(const struct table_column *const *)b;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left > right) - (left < right);
}

enum sotto_status
table_find_twin(const struct table_column *columns, size_t count,
                size_t *ret_second, struct sotto_error *err)
{
    const struct table_column **sorted = calloc(count + 1, sizeof *sorted);
    if (sorted == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = &columns[i];
    }
    qsort(sorted, count, sizeof *sorted, compare_columns);

    *ret_second = count;
    for (size_t i = 1; i < count && *ret_second == count; i++) {
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0) {
            *ret_second = (size_t)(sorted[i] - columns);
        }
    }
    free(sorted);
    return SOTTO_STATUS_OK;
}

/* ---- Looking ----------------------------------------------------------- */

size_t
sotto_table_rows(const struct sotto_table *table)
{
    return table->rows;
}

struct sotto_table_reading
sotto_table_reading(const struct sotto_table *table)
{
    return table->reading;
}

size_t
sotto_table_columns(const struct sotto_table *table)
{
    return table->count;
}

const char *
sotto_table_name(const struct sotto_table *table, size_t column)
{
    return column < table->count ? table->columns[column].name : "";
}

size_t
sotto_table_find(const struct sotto_table *table, const char *name)
{
    size_t i = 0;
    while (i < table->count && strcmp(table->columns[i].name, name) != 0) {
        i++;
    }
    return i < table->count ? i : SIZE_MAX;
}

enum sotto_column_kind
sotto_table_kind(const struct sotto_table *table, size_t column)
{
    return column < table->count ? table->columns[column].kind
                                 : SOTTO_COLUMN_NUMBER;
}

size_t
sotto_table_width(const struct sotto_table *table, size_t column)
{
    return column < table->count ? table->columns[column].width : 0;
}

struct sotto_image
sotto_table_image(const struct sotto_table *table, size_t column)
{
    const struct sotto_image none = {0, 0, 0};
    return column < table->count ? table->columns[column].image : none;
}

/* A number that no text was read for. */
static struct sotto_value
number_cell(double number)
{
    struct sotto_value value = {.kind = SOTTO_VALUE_MISSING};
    if (!isnan(number)) {
        value.kind = SOTTO_VALUE_NUMBER;
        value.number = number;
    }
    return value;
}

static struct sotto_value
text_cell(const struct table_column *column, size_t row)
{
    const struct table_block *block = column->block;
    const struct table_cell *cell =
        &block->cells[table_block_row(block, row) * block->stride +
                      column->index];
    struct sotto_value value = {.kind = SOTTO_VALUE_MISSING};
    if (cell->missing) {
        return value;
    }

    value.kind = column->kind == SOTTO_COLUMN_NUMBER ? SOTTO_VALUE_NUMBER
                                                     : SOTTO_VALUE_TEXT;
    value.number = cell->number ? column->numbers[row] : NAN;
    value.data = block->bytes + cell->start;
    value.size = cell->size;
    return value;
}

struct sotto_value
sotto_table_cell(const struct sotto_table *table, size_t row, size_t column)
{
    struct sotto_value value = {.kind = SOTTO_VALUE_MISSING};
    if (row >= table->rows || column >= table->count) {
        return value;
    }

    const struct table_column *of = &table->columns[column];
    if (of->kind != SOTTO_COLUMN_BYTES) {
        return of->block->cells != NULL ? text_cell(of, row)
                                        : number_cell(of->numbers[row]);
    }
    if (of->numbers != NULL && isnan(of->numbers[row])) {
        return value;
    }
    value.kind = SOTTO_VALUE_BYTES;
    value.data = of->block->bytes + of->offset +
                 table_block_row(of->block, row) * of->width;
    value.size = of->width;
    return value;
}

size_t
sotto_table_line(const struct sotto_table *table, size_t row)
{
    const struct table_block *block = table->columns[0].block;
    return block->lines != NULL && row < table->rows
               ? block->line_base + block->lines[table_block_row(block, row)]
               : 0;
}

/* ---- Changing ---------------------------------------------------------- */

enum sotto_status
sotto_table_set_category(struct sotto_table *table, size_t column,
                         struct sotto_error *err)
{
    if (column >= table->count) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "there is no column %zu: the table has %zu",
                         column + 1, table->count);
    }
    if (table->columns[column].kind == SOTTO_COLUMN_BYTES) {
        return host_about(
            host_fail(err, SOTTO_STATUS_USAGE, 0,
                      "column \"%.80s\" holds images: it cannot be a category",
                      table->columns[column].name),
            err, SOTTO_ABOUT_COLUMN, table->columns[column].name);
    }
    if (table->columns[column].block->cells == NULL) {
        return host_about(
            host_fail(err, SOTTO_STATUS_USAGE, 0,
                      "column \"%.80s\" holds floats: it cannot be a "
                      "category; save it as whole numbers or as CSV",
                      table->columns[column].name),
            err, SOTTO_ABOUT_COLUMN, table->columns[column].name);
    }
    table_column_texts(&table->columns[column]);
    return SOTTO_STATUS_OK;
}

/* Forgets the names made for the new columns, those from `first` on. */
static void
drop_numbers(struct table_column *joined, size_t first, size_t count)
{
    for (size_t i = first; i < count; i++) {
        if (!joined[i].named) {
            free(joined[i].name);
        }
    }
}

/* Names given by place are made anew for the new place. */
static bool
make_numbers(struct table_column *joined, size_t first, size_t count)
{
    bool made = true;
    for (size_t i = first; i < count; i++) {
        if (!joined[i].named) {
            joined[i].name = NULL;
        }
    }
    for (size_t i = first; i < count && made; i++) {
        made = joined[i].named || table_column_number(&joined[i], i);
    }
    return made;
}

static enum sotto_status
check_twins(const struct table_column *joined, size_t count,
            struct sotto_error *err)
{
    size_t twin;
    enum sotto_status status = table_find_twin(joined, count, &twin, err);
    if (status == SOTTO_STATUS_OK && twin < count) {
        status = host_about(
            host_fail(err, SOTTO_STATUS_INPUT, 0,
                      "both tables have a column \"%.80s\": rename one",
                      joined[twin].name),
            err, SOTTO_ABOUT_COLUMN, joined[twin].name);
    }
    return status;
}

/* The columns have moved: what is left of the old ones is freed. */
static void
take_columns(struct sotto_table *table, struct sotto_table *other,
             struct table_column *joined)
{
    drop_numbers(other->columns, 0, other->count);
    free(table->columns);
    table->columns = joined;
    table->count += other->count;
    free(other->columns);
    free(other);
}

enum sotto_status
sotto_table_join(struct sotto_table *table, struct sotto_table *other,
                 struct sotto_error *err)
{
    if (table == other) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "a table cannot be joined to itself");
    }
    if (table->rows != other->rows) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the tables have %zu and %zu rows: give files that "
                         "describe the same records in the same order",
                         table->rows, other->rows);
    }

    size_t first = table->count;
    size_t count = first + other->count;
    struct table_column *joined = calloc(count, sizeof *joined);
    if (joined == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < count; i++) { /* a new table has no columns yet */
        joined[i] = i < first ? table->columns[i] : other->columns[i - first];
    }

    enum sotto_status status = make_numbers(joined, first, count)
                                   ? check_twins(joined, count, err)
                                   : host_fail_memory(err);
    if (status == SOTTO_STATUS_OK) {
        take_columns(table, other, joined);
        return status;
    }
    drop_numbers(joined, first, count);
    free(joined);
    return status;
}
