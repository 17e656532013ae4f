/*
 * csv.c: a table from the bytes of a CSV file (RFC 4180).
 *
 *     look at the text --> first row --> names --> other rows --> types
 *
 * The rows are scanned once into cells that point into the file's own bytes;
 * what the cells mean (missing, a number, a category) is settled after that.
 * All but the first row is done by parts, on as many threads as there are.
 *
 * Stricter than RFC 4180: the text must be UTF-8 without NUL, as
 * SOTTO_VALUE_TEXT promises. How it is more lenient is said in csv_scan.h.
 */
#include "table/csv.h"

#include <stdlib.h>

#include "host/error.h"
#include "table/csv_head.h"
#include "table/csv_parts.h"
#include "table/csv_scan.h"
#include "table/csv_types.h"

/* Room for the cells and lines of all parts. */
static enum sotto_status
make_room(struct csv_scan *s, const struct csv_parts *parts,
          struct table_block *block)
{
    block->cells = calloc(parts->cells, sizeof *block->cells);
    block->lines = calloc(parts->rows, sizeof *block->lines);
    if (block->cells == NULL || block->lines == NULL) {
        return host_fail_memory(s->err);
    }
    s->cells = block->cells;
    s->cell_room = parts->cells;
    s->lines = block->lines;
    s->row_room = parts->rows;
    return SOTTO_STATUS_OK;
}

/* Gives back what separators and line feeds in quotes took too much. */
static void
fit_block(const struct csv_scan *s, struct table_block *block)
{
    void *fitted = realloc(block->cells, s->count * sizeof *block->cells);
    if (fitted != NULL) {
        block->cells = fitted;
    }
    block->count = s->count;
    fitted = realloc(block->lines, s->rows * sizeof *block->lines);
    if (fitted != NULL) {
        block->lines = fitted;
    }
}

static enum sotto_status
read_rows(struct csv_scan *s, struct csv_parts *parts, uint8_t *bytes,
          struct sotto_table *table)
{
    enum sotto_status status = csv_parts_scan(parts, s, s->end);
    if (status == SOTTO_STATUS_OK && s->rows == 0) {
        status = csv_head_fail_rows(s);
    }
    if (status == SOTTO_STATUS_OK) {
        fit_block(s, table->columns[0].block);
        table->rows = s->rows;
        status = csv_types_set(table, bytes, parts->pool, s->err);
    }
    return status;
}

static enum sotto_status
read_text(struct csv_scan *s, struct csv_parts *parts, uint8_t *bytes,
          int header, struct sotto_table **ret_table)
{
    struct sotto_table *table = NULL;
    enum sotto_status status = csv_head_check(s, parts);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    csv_head_skip_mark(s);
    csv_head_trim(s);
    if (s->at == s->end) {
        return csv_head_fail_empty(s);
    }
    struct table_block *block = table_block_new();
    if (block == NULL) {
        return host_fail_memory(s->err);
    }
    status = make_room(s, parts, block);
    status = HOST_THEN(status, csv_head_start(s, bytes, header, block, &table));
    status = HOST_THEN(status, read_rows(s, parts, bytes, table));
    if (status == SOTTO_STATUS_OK) {
        block->bytes = bytes;
        block->size = parts->size;
        *ret_table = table;
    } else if (table != NULL) {
        sotto_table_free(table);
    } else {
        table_block_free(block);
    }
    return status;
}

enum sotto_status
csv_parse(uint8_t *bytes, size_t size, const char *name,
          const struct csv_way *way, struct sotto_table **ret_table,
          struct sotto_error *err)
{
    size_t part_bytes = way->part_bytes > 0 ? way->part_bytes : CSV_PART_BYTES;
    uint8_t separator = way->separator != 0 ? way->separator : ',';
    struct csv_scan s = {.name = name,
                         .bytes = bytes,
                         .end = size,
                         .line = 1,
                         .separator = separator,
                         .plain = way->plain,
                         .err = err};
    struct host_pool *pool = NULL;
    struct csv_parts parts;
    if (size > part_bytes && way->threads != 1 &&
        host_pool_new(way->threads, &pool, NULL) != SOTTO_STATUS_OK) {
        pool = NULL; /* one thread does it, too */
    }
    enum sotto_status status =
        csv_parts_init(&parts, bytes, size, separator, part_bytes, pool, err);
    if (status == SOTTO_STATUS_OK) {
        csv_scan_start(&s, 0);
        status = read_text(&s, &parts, bytes, way->header, ret_table);
        csv_parts_clear(&parts);
    }
    host_pool_free(pool);
    return status;
}
