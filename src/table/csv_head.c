/*
 * csv_head.c: the beginning of CSV text: whether it is text at all, and what
 * its first row says the columns are.
 */
#include "table/csv_head.h"

#include <string.h>

#include "host/error.h"
#include "table/number_text.h"

/* ---- The text as a whole ----------------------------------------------- */

static size_t
line_at(const struct csv_scan *s, size_t position)
{
    size_t line = s->line;
    for (size_t i = s->at; i < position; i++) {
        line += s->bytes[i] == '\n';
    }
    return line;
}

enum sotto_status
csv_head_check(const struct csv_scan *s, const struct csv_parts *parts)
{
    size_t size = parts->size;
    const uint8_t *bytes = parts->bytes;
    if (s->before == 0 && size >= 2 &&
        ((bytes[0] == 0xff && bytes[1] == 0xfe) ||
         (bytes[0] == 0xfe && bytes[1] == 0xff))) {
        return host_fail(s->err, SOTTO_STATUS_INPUT, 0,
                         "%s: is UTF-16 text: save it as UTF-8", s->name);
    }

    size_t nul = csv_parts_nul(parts);
    if (nul < size) {
        return host_fail(s->err, SOTTO_STATUS_INPUT, s->before + nul,
                         "%s: line %zu holds a NUL byte (offset %zu): this is "
                         "not a text file, or a damaged one",
                         s->name, line_at(s, nul), s->before + nul);
    }
    size_t bad = csv_parts_bad(parts);
    if (bad < size) {
        return host_remedy(
            host_fail(s->err, SOTTO_STATUS_INPUT, s->before + bad,
                      "%s: line %zu is not UTF-8 (byte 0x%02x at offset "
                      "%zu): convert the file, for instance with iconv "
                      "-f LATIN1 -t UTF-8, or say that its encoding is latin1",
                      s->name, line_at(s, bad), (unsigned)bytes[bad],
                      s->before + bad),
            s->err, "encoding");
    }
    return SOTTO_STATUS_OK;
}

void
csv_head_skip_mark(struct csv_scan *s)
{
    static const uint8_t mark[3] = {0xef, 0xbb, 0xbf};
    if (s->end >= sizeof mark && memcmp(s->bytes, mark, sizeof mark) == 0) {
        csv_scan_start(s, sizeof mark);
    }
}

void
csv_head_trim(struct csv_scan *s)
{
    while (s->end > s->at &&
           (csv_scan_is_blank(s, s->bytes[s->end - 1]) ||
            s->bytes[s->end - 1] == '\n' || s->bytes[s->end - 1] == '\r')) {
        s->end--;
    }
}

enum sotto_status
csv_head_fail_empty(const struct csv_scan *s)
{
    return host_fail(s->err, SOTTO_STATUS_INPUT, 0,
                     "%s: the file is empty: give a CSV, IDX or .npy "
                     "file",
                     s->name);
}

enum sotto_status
csv_head_fail_rows(const struct csv_scan *s)
{
    return host_fail(s->err, SOTTO_STATUS_INPUT, s->before + s->end,
                     "%s: has a header but no rows: add some, or say that "
                     "the file has no header",
                     s->name);
}

/* ---- Names ------------------------------------------------------------- */

static bool
first_row_names(const struct csv_scan *s, int header)
{
    double number;
    if (header >= 0) {
        return header > 0;
    }
    for (size_t i = 0; i < s->columns; i++) {
        const struct table_cell *cell = &s->cells[i];
        if (number_text_parse(s->bytes + cell->start, cell->size, &number)) {
            return false;
        }
    }
    return true;
}

static enum sotto_status
check_twins(const struct csv_scan *s, const struct sotto_table *table)
{
    size_t twin;
    enum sotto_status status =
        table_find_twin(table->columns, table->count, &twin, s->err);
    if (status == SOTTO_STATUS_OK && twin < table->count) {
        status = host_fail(s->err, SOTTO_STATUS_INPUT, s->cells[twin].start,
                           "%s: the header (line 1) has the name \"%.80s\" "
                           "twice, the second time for column %zu: rename "
                           "one, or say that the file has no header",
                           s->name, table->columns[twin].name, twin + 1);
    }
    return status;
}

/* Names from the cells of the first row, which then is no row of the data. The
   first column may have none: it is an index (table_read.c). */
static enum sotto_status
take_names(struct csv_scan *s, struct sotto_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct table_cell *cell = &s->cells[i];
        if (cell->size == 0 && (i > 0 || table->count == 1)) {
            return host_fail(s->err, SOTTO_STATUS_INPUT, cell->start,
                             "%s: the header (line 1) has no name for column "
                             "%zu: name it, or say that the file has no "
                             "header",
                             s->name, i + 1);
        }
        table->columns[i].named = true;
        if (!table_column_name(&table->columns[i], s->bytes + cell->start,
                               cell->size)) {
            return host_fail_memory(s->err);
        }
    }
    s->count = 0;
    s->rows = 0;
    return check_twins(s, table);
}

static enum sotto_status
make_names(const struct csv_scan *s, struct sotto_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        if (!table_column_number(&table->columns[i], i)) {
            return host_fail_memory(s->err);
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
csv_head_start(struct csv_scan *s, uint8_t *bytes, int header,
               struct table_block *block, struct sotto_table **ret_table)
{
    s->first = true;
    enum sotto_status status = csv_scan_row(s);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    s->first = false;
    for (size_t i = 0; i < s->count; i++) {
        if (s->cells[i].doubled) {
            csv_scan_undouble(bytes, &s->cells[i]);
        }
    }
    struct sotto_table *table = table_new(block, s->columns);
    if (table == NULL) {
        (void)host_fail_memory(s->err);
        return SOTTO_STATUS_MEMORY;
    }
    block->stride = s->columns;
    *ret_table = table;

    if (!first_row_names(s, header)) {
        return make_names(s, table);
    }
    return csv_scan_blank(s) ? csv_scan_fail_blank(s) : take_names(s, table);
}
