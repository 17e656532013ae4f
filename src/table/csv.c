/*
 * csv.c: a table from the bytes of a CSV file (RFC 4180).
 *
 *     check the text --> first row --> names --> other rows --> types
 *
 * The rows are scanned once into cells that point into the file's own bytes;
 * what the cells mean (missing, a number, a category) is settled after that.
 *
 * More lenient than RFC 4180: blanks around a field and around its quotes are
 * not part of it, and a quote inside an unquoted field is an ordinary letter.
 * Stricter: the text must be UTF-8 without NUL, as SOTTO_VALUE_TEXT promises.
 */
#include "table/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/error.h"
#include "host/text.h"
#include "host/utf8.h"
#include "table/decimal_text.h"

struct scan {
    const char *name;
    uint8_t *bytes;
    size_t end; /* blank lines at the end are cut off */
    size_t at;
    size_t line; /* of `at`, from 1 */

    struct table_block *block; /* receives cells and lines */
    size_t cells;
    size_t cell_capacity;
    size_t rows;
    size_t row_capacity;

    bool first;      /* in the first row, which decides how many columns */
    size_t columns;  /* in every row after it */
    size_t row_at;   /* where the row being scanned begins */
    size_t row_line; /* and on which line */
    size_t fields;   /* of it, so far */
    struct sotto_error *err;
};

/* ---- Messages ---------------------------------------------------------- */

/* "the first row (line 1)" or "row 3 (line 4)": rows count from the first
   below the header. */
static const char *
row_text(const struct scan *s, char *text, size_t size)
{
    if (s->first) {
        (void)snprintf(text, size, "the first row (line %zu)", s->row_line);
    } else {
        (void)snprintf(text, size, "row %zu (line %zu)", s->rows + 1,
                       s->row_line);
    }
    return text;
}

static enum sotto_status
fail_field(const struct scan *s, size_t position, const char *what)
{
    char row[80];
    return host_fail(s->err, SOTTO_STATUS_INPUT, position,
                     "%s: %s, field %zu: %s", s->name,
                     row_text(s, row, sizeof row), s->fields + 1, what);
}

static enum sotto_status
fail_count(const struct scan *s)
{
    char row[80];
    return host_fail(s->err, SOTTO_STATUS_INPUT, s->row_at,
                     "%s: %s has %zu fields, expected %zu: every row needs as "
                     "many as the first one; a field with a comma in it must "
                     "stand in quotes",
                     s->name, row_text(s, row, sizeof row), s->fields,
                     s->columns);
}

static enum sotto_status
fail_blank(const struct scan *s)
{
    return host_fail(s->err, SOTTO_STATUS_INPUT, s->row_at,
                     "%s: line %zu is blank: remove it", s->name, s->row_line);
}

/* ---- The text as a whole ----------------------------------------------- */

static size_t
line_at(const struct scan *s, size_t position)
{
    size_t line = 1;
    for (size_t i = 0; i < position; i++) {
        line += s->bytes[i] == '\n';
    }
    return line;
}

static enum sotto_status
check_text(const struct scan *s)
{
    if (s->end >= 2 && ((s->bytes[0] == 0xff && s->bytes[1] == 0xfe) ||
                        (s->bytes[0] == 0xfe && s->bytes[1] == 0xff))) {
        return host_fail(s->err, SOTTO_STATUS_INPUT, 0,
                         "%s: is UTF-16 text: save it as UTF-8", s->name);
    }

    const uint8_t *nul = s->end > 0 ? memchr(s->bytes, 0, s->end) : NULL;
    if (nul != NULL) {
        size_t at = (size_t)(nul - s->bytes);
        return host_fail(s->err, SOTTO_STATUS_INPUT, at,
                         "%s: line %zu holds a NUL byte (offset %zu): this is "
                         "not a text file, or a damaged one",
                         s->name, line_at(s, at), at);
    }
    size_t bad = host_utf8_check(s->bytes, s->end);
    if (bad < s->end) {
        return host_fail(s->err, SOTTO_STATUS_INPUT, bad,
                         "%s: line %zu is not UTF-8 (byte 0x%02x at offset "
                         "%zu): convert the file, for instance with iconv "
                         "-f LATIN1 -t UTF-8",
                         s->name, line_at(s, bad), (unsigned)s->bytes[bad],
                         bad);
    }
    return SOTTO_STATUS_OK;
}

static bool
is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

/* Steps over a byte-order mark and cuts off blank lines at the end. */
static enum sotto_status
trim_text(struct scan *s)
{
    static const uint8_t mark[3] = {0xef, 0xbb, 0xbf};
    if (s->end >= sizeof mark && memcmp(s->bytes, mark, sizeof mark) == 0) {
        s->at = sizeof mark;
    }
    while (s->end > s->at &&
           (is_blank(s->bytes[s->end - 1]) || s->bytes[s->end - 1] == '\n' ||
            s->bytes[s->end - 1] == '\r')) {
        s->end--;
    }
    if (s->at == s->end) {
        return host_fail(s->err, SOTTO_STATUS_INPUT, 0,
                         "%s: the file is empty: give a CSV, IDX or .npy "
                         "file",
                         s->name);
    }
    return SOTTO_STATUS_OK;
}

/* ---- Fields ------------------------------------------------------------ */

static size_t
skip_blanks(const struct scan *s, size_t at)
{
    while (at < s->end && is_blank(s->bytes[at])) {
        at++;
    }
    return at;
}

static bool
is_line_end(const struct scan *s, size_t at)
{
    if (at == s->end || s->bytes[at] == '\n') {
        return true;
    }
    return s->bytes[at] == '\r' && at + 1 < s->end && s->bytes[at + 1] == '\n';
}

static enum sotto_status
set_cell(const struct scan *s, struct table_cell *cell, size_t start,
         size_t end, bool quoted)
{
    if (end - start > TABLE_MAX_FIELD) {
        return fail_field(s, start,
                          quoted ? "is longer than 1 MiB: is its closing "
                                   "quote missing?"
                                 : "is longer than 1 MiB");
    }
    *cell = (struct table_cell){.start = (uint32_t)start,
                                .size = (end - start) & 0x1fffff,
                                .quoted = quoted};
    return SOTTO_STATUS_OK;
}

static enum sotto_status
scan_plain(struct scan *s, size_t start, struct table_cell *cell)
{
    size_t at = start;
    while (at < s->end && s->bytes[at] != ',' && s->bytes[at] != '\n' &&
           s->bytes[at] != '\r') {
        at++;
    }
    if (at < s->end && s->bytes[at] == '\r' && !is_line_end(s, at)) {
        return fail_field(s, at,
                          "a carriage return without a line feed: end every "
                          "line with LF or CRLF");
    }
    s->at = at;
    while (at > start && is_blank(s->bytes[at - 1])) {
        at--;
    }
    return set_cell(s, cell, start, at, false);
}

/*
 * Moves the text of a quoted field together where it has doubled quotes.
 * `ret_end` is the end of the text; s->at is left after the closing quote.
 */
static enum sotto_status
scan_quotes(struct scan *s, size_t open, size_t *ret_end)
{
    size_t opened = s->line;
    size_t out = open + 1;
    size_t at = open + 1;
    for (; at < s->end && out - open <= TABLE_MAX_FIELD + 1; at++) {
        uint8_t c = s->bytes[at];
        if (c == '"') {
            if (at + 1 == s->end || s->bytes[at + 1] != '"') {
                break;
            }
            at++;
        }
        s->line += c == '\n';
        s->bytes[out++] = c;
    }
    if (at == s->end) {
        return host_fail(s->err, SOTTO_STATUS_INPUT, open,
                         "%s: the quote that opens on line %zu (field %zu) is "
                         "never closed: close it, and double a quote that "
                         "belongs to the text",
                         s->name, opened, s->fields + 1);
    }
    s->at = at + 1;
    *ret_end = out;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
scan_quoted(struct scan *s, size_t open, struct table_cell *cell)
{
    size_t end = open + 1;
    enum sotto_status status = scan_quotes(s, open, &end);
    if (status == SOTTO_STATUS_OK) {
        status = set_cell(s, cell, open + 1, end, true);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }

    s->at = skip_blanks(s, s->at);
    if (!is_line_end(s, s->at) && s->bytes[s->at] != ',') {
        return fail_field(s, s->at,
                          "text after the closing quote: double a quote that "
                          "belongs to the text");
    }
    return SOTTO_STATUS_OK;
}

/* ---- Rows -------------------------------------------------------------- */

static bool
add_cell(struct scan *s, struct table_cell cell)
{
    struct table_cell *cells =
        host_grow(s->block->cells, sizeof cell, s->cells, &s->cell_capacity);
    if (cells != NULL) {
        s->block->cells = cells;
        cells[s->cells++] = cell;
    }
    return cells != NULL;
}

static bool
add_row(struct scan *s)
{
    uint32_t *lines =
        host_grow(s->block->lines, sizeof *lines, s->rows, &s->row_capacity);
    if (lines != NULL) {
        s->block->lines = lines;
        lines[s->rows++] = (uint32_t)s->row_line;
    }
    return lines != NULL;
}

static enum sotto_status
scan_field(struct scan *s)
{
    struct table_cell cell;
    size_t start = skip_blanks(s, s->at);
    enum sotto_status status = start < s->end && s->bytes[start] == '"'
                                   ? scan_quoted(s, start, &cell)
                                   : scan_plain(s, start, &cell);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (s->first && s->fields == TABLE_MAX_COLUMNS) {
        return fail_field(s, start, "more than 65536 columns");
    }

    /* Fields too many are only counted, for the message. */
    if ((s->first || s->fields < s->columns) && !add_cell(s, cell)) {
        return host_fail_memory(s->err);
    }
    s->fields++;
    return SOTTO_STATUS_OK;
}

/* Whether the row that was just scanned is a blank line. */
static bool
row_blank(const struct scan *s)
{
    const struct table_cell *last = &s->block->cells[s->cells - 1];
    return s->fields == 1 && last->size == 0 && !last->quoted;
}

static enum sotto_status
scan_row(struct scan *s)
{
    s->row_at = s->at;
    s->row_line = s->line;
    s->fields = 0;
    for (;;) {
        enum sotto_status status = scan_field(s);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        if (s->at == s->end || s->bytes[s->at] != ',') {
            break;
        }
        s->at++;
    }
    if (s->first) {
        s->columns = s->fields;
    }
    if (s->columns > 1 && row_blank(s)) {
        return fail_blank(s);
    }
    if (s->fields != s->columns) {
        return fail_count(s);
    }
    if (s->at < s->end) {
        s->at += s->bytes[s->at] == '\r' ? 2 : 1;
        s->line++;
    }
    return add_row(s) ? SOTTO_STATUS_OK : host_fail_memory(s->err);
}

/* ---- Names ------------------------------------------------------------- */

static bool
cell_number(const struct scan *s, const struct table_cell *cell,
            double *ret_number)
{
    return decimal_text_parse(s->bytes + cell->start, cell->size, ret_number);
}

static bool
first_row_names(const struct scan *s, int header)
{
    double number;
    if (header >= 0) {
        return header > 0;
    }
    for (size_t i = 0; i < s->columns; i++) {
        if (cell_number(s, &s->block->cells[i], &number)) {
            return false;
        }
    }
    return true;
}

static enum sotto_status
check_twins(const struct scan *s, const struct sotto_table *table)
{
    size_t twin;
    enum sotto_status status =
        table_find_twin(table->columns, table->count, &twin, s->err);
    if (status == SOTTO_STATUS_OK && twin < table->count) {
        status =
            host_fail(s->err, SOTTO_STATUS_INPUT, s->block->cells[twin].start,
                      "%s: the header (line 1) has the name \"%.80s\" "
                      "twice, the second time for column %zu: rename "
                      "one, or say that the file has no header",
                      s->name, table->columns[twin].name, twin + 1);
    }
    return status;
}

/* Names from the cells of the first row, which then is no row of the data. */
static enum sotto_status
take_names(struct scan *s, struct sotto_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct table_cell *cell = &s->block->cells[i];
        if (cell->size == 0) {
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
    s->cells = 0;
    s->rows = 0;
    return check_twins(s, table);
}

static enum sotto_status
make_names(const struct scan *s, struct sotto_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        if (!table_column_number(&table->columns[i], i)) {
            return host_fail_memory(s->err);
        }
    }
    return SOTTO_STATUS_OK;
}

/* ---- Types ------------------------------------------------------------- */

bool
csv_missing(const char *text, size_t size)
{
    static const char *const words[] = {"?", "NA", "N/A", "NaN", "null"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i]) == size &&
            strncasecmp(text, words[i], size) == 0) {
            return true;
        }
    }
    return false;
}

static bool
cell_missing(const struct scan *s, const struct table_cell *cell)
{
    return cell->size == 0
               ? !cell->quoted
               : csv_missing((const char *)s->bytes + cell->start, cell->size);
}

/* Settles what one cell is, and with it the kind of its column. */
static bool
type_cell(const struct scan *s, struct table_cell *cell,
          struct table_column *column, size_t row)
{
    double number;
    cell->missing = cell_missing(s, cell);
    if (cell->missing) {
        return true;
    }
    if (!cell_number(s, cell, &number)) {
        table_column_texts(column);
        return true;
    }
    if (column->numbers == NULL) {
        column->numbers = calloc(s->rows, sizeof *column->numbers);
    }
    if (column->numbers == NULL) {
        return false;
    }
    column->numbers[row] = number;
    cell->number = 1;
    return true;
}

static enum sotto_status
type_cells(const struct scan *s, struct sotto_table *table)
{
    struct table_cell *cell = s->block->cells;
    for (size_t row = 0; row < s->rows; row++) {
        for (size_t i = 0; i < table->count; i++) {
            if (!type_cell(s, cell++, &table->columns[i], row)) {
                return host_fail_memory(s->err);
            }
        }
    }
    return SOTTO_STATUS_OK;
}

/* ---- All of it --------------------------------------------------------- */

/* Gives back what doubling took too much. */
static void
fit_block(const struct scan *s)
{
    struct table_block *block = s->block;
    void *fitted = realloc(block->cells, s->cells * sizeof *block->cells);
    if (fitted != NULL) {
        block->cells = fitted;
    }
    block->count = s->cells;
    fitted = realloc(block->lines, s->rows * sizeof *block->lines);
    if (fitted != NULL) {
        block->lines = fitted;
    }
}

/* The first row, then a table with as many columns, and their names. */
static enum sotto_status
start_table(struct scan *s, int header, struct sotto_table **ret_table)
{
    enum sotto_status status = scan_row(s);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    s->first = false;
    s->block->stride = s->columns;
    struct sotto_table *table = table_new(s->block, s->columns);
    if (table == NULL) {
        (void)host_fail_memory(s->err);
        return SOTTO_STATUS_MEMORY;
    }
    *ret_table = table;

    if (!first_row_names(s, header)) {
        return make_names(s, table);
    }
    return row_blank(s) ? fail_blank(s) : take_names(s, table);
}

static enum sotto_status
finish_table(struct scan *s, struct sotto_table *table)
{
    while (s->at < s->end) {
        enum sotto_status status = scan_row(s);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
    }
    if (s->rows == 0) {
        return host_fail(s->err, SOTTO_STATUS_INPUT, s->end,
                         "%s: has a header but no rows: add some, or say that "
                         "the file has no header",
                         s->name);
    }
    fit_block(s);
    table->rows = s->rows;
    return type_cells(s, table);
}

enum sotto_status
csv_parse(uint8_t *bytes, size_t size, const char *name, int header,
          struct sotto_table **ret_table, struct sotto_error *err)
{
    struct sotto_table *table = NULL;
    struct scan s = {.name = name,
                     .bytes = bytes,
                     .end = size,
                     .line = 1,
                     .first = true,
                     .err = err};
    enum sotto_status status = check_text(&s);
    if (status == SOTTO_STATUS_OK) {
        status = trim_text(&s);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }

    s.block = table_block_new();
    if (s.block == NULL) {
        return host_fail_memory(err);
    }
    status = start_table(&s, header, &table);
    if (status == SOTTO_STATUS_OK) {
        status = finish_table(&s, table);
    }
    if (status == SOTTO_STATUS_OK) {
        s.block->bytes = bytes;
        s.block->size = size;
        *ret_table = table;
    } else if (table != NULL) {
        sotto_table_free(table);
    } else {
        table_block_free(s.block);
    }
    return status;
}
