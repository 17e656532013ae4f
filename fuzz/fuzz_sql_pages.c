/*
 * fuzz_sql_pages.c: sql_pages.c and sql_cells.c on a file and its log. The
 * first byte says how many pages the file has; the rest is the log's.
 */
#include <stdlib.h>

#include "store/sql_pages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sink; /* keeps the reads */

/* Reads all that a row says is there. */
static enum sotto_status
take_row(void *context, const struct sql_row *row, struct sotto_error *err)
{
    unsigned sum = 0;
    (void)context;
    (void)err;
    if (row->columns == 0 || row->columns > SQL_ROW_COLUMNS) {
        abort();
    }
    for (size_t i = 0; i < row->columns; i++) {
        const struct sql_cell *cell = &row->column[i];
        for (size_t j = 0; j < cell->size; j++) {
            sum += cell->bytes[j];
        }
        if (cell->size > 8 && cell->kind < SQL_CELL_TEXT) {
            abort();
        }
    }
    sink = sum;
    return SOTTO_STATUS_OK;
}

/* It fails for lack of memory alone. */
static void
read_rows(struct sql_pages *pages)
{
    struct sotto_error err;
    if (sql_pages_rows(pages, take_row, NULL, &err) != SOTTO_STATUS_OK &&
        err.status != SOTTO_STATUS_MEMORY) {
        abort();
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sql_pages *pages = NULL;
    struct sotto_error err;
    if (size == 0) {
        return 0;
    }
    size_t file = data[0] * SQL_PAGE;
    file = file < size - 1 ? file : size - 1;
    if (sql_pages_open_bytes(data + 1, file, data + 1 + file, size - 1 - file,
                             &pages, &err) != SOTTO_STATUS_OK) {
        return 0;
    }
    if (sql_pages_count(pages) > size / 24 + 1) {
        abort();
    }
    for (uint32_t i = 1; i <= sql_pages_count(pages); i++) {
        (void)sql_pages_take(pages, i);
        read_rows(pages);
        sql_pages_doubt(pages);
        read_rows(pages);
    }
    sql_pages_close(pages);
    return 0;
}
