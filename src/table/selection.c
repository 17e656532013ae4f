/*
 * selection.c: a table of some of a table's rows.
 *
 * The file's bytes and cells stay where they are: a selection is the list of
 * its rows, and the numbers of its columns. table.h draws it.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "table/table.h"

/* A block of these rows of `block`, without a reference yet; NULL: no memory */
static struct table_block *
block_select(struct table_block *block, const size_t *rows, size_t count)
{
    struct table_block *selected = table_block_new();
    uint32_t *order = malloc(count * sizeof *order);
    if (selected == NULL || order == NULL) {
        free(selected);
        free(order);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)table_block_row(block, rows[i]);
    }
    selected->order = order;
    selected->of = block->of != NULL ? block->of : block;
    selected->of->references++;
    selected->stride = block->stride;
    selected->bytes = block->bytes;
    selected->size = block->size;
    selected->cells = block->cells;
    selected->count = block->count;
    selected->lines = block->lines;
    selected->line_base = block->line_base;
    return selected;
}

/* Fills a column whose block is there already. */
static bool
column_select(const struct table_column *column, const size_t *rows,
              size_t count, struct table_column *ret_column)
{
    ret_column->named = column->named;
    ret_column->kind = column->kind;
    ret_column->index = column->index;
    ret_column->offset = column->offset;
    ret_column->width = column->width;
    ret_column->image = column->image;
    if (!table_column_name(ret_column, column->name, strlen(column->name))) {
        return false;
    }
    if (column->numbers == NULL) {
        return true;
    }
    ret_column->numbers = malloc(count * sizeof *ret_column->numbers);
    for (size_t i = 0; i < count && ret_column->numbers != NULL; i++) {
        ret_column->numbers[i] = column->numbers[rows[i]];
    }
    return ret_column->numbers != NULL;
}

/* Columns of one block, which lie side by side, share one here too. */
static bool
fill_selection(struct sotto_table *table, const struct sotto_table *from,
               const size_t *rows)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct table_column *column = &from->columns[i];
        struct table_block *block =
            i > 0 && column->block == column[-1].block
                ? table->columns[i - 1].block
                : block_select(column->block, rows, table->rows);
        if (block == NULL) {
            return false;
        }
        block->references++;
        table->columns[i].block = block;
        table->count = i + 1;
        if (!column_select(column, rows, table->rows, &table->columns[i])) {
            return false;
        }
    }
    return true;
}

enum sotto_status
sotto_table_select(const struct sotto_table *table, const size_t *rows,
                   size_t count, struct sotto_table **ret_table,
                   struct sotto_error *err)
{
    if (count == 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "no rows are selected: a table has at least one");
    }
    for (size_t i = 0; i < count; i++) {
        if (rows[i] >= table->rows) {
            return host_fail(err, SOTTO_STATUS_USAGE, 0,
                             "there is no row %zu: the table has %zu", rows[i],
                             table->rows);
        }
    }

    struct sotto_table *selected = calloc(1, sizeof *selected);
    struct table_column *columns = calloc(table->count + 1, sizeof *columns);
    if (selected == NULL || columns == NULL) {
        free(selected);
        free(columns);
        return host_fail_memory(err);
    }
    selected->rows = count;
    selected->columns = columns;
    if (!fill_selection(selected, table, rows)) {
        sotto_table_free(selected);
        return host_fail_memory(err);
    }
    *ret_table = selected;
    return SOTTO_STATUS_OK;
}
