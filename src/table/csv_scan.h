/*
 * csv_scan.h: the rows of CSV text (RFC 4180) as cells that point into it.
 *
 * More lenient than RFC 4180: blanks around a field and around its quotes are
 * not part of it, and a quote inside an unquoted field is an ordinary letter.
 *
 * The text is only read: of a field with doubled quotes the cell says so, and
 * csv_scan_undouble undoes them once it is sure what the field is.
 */
#ifndef SOTTO_TABLE_CSV_SCAN_H
#define SOTTO_TABLE_CSV_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table/table.h"

struct csv_scan {
    const char *name; /* of the file, in messages */
    const uint8_t *bytes;
    size_t at;
    size_t end;
    size_t before; /* bytes of the file before these: offsets in messages */
    size_t line;   /* of `at`, from 1 */
    uint8_t separator;
    bool plain; /* byte by byte: what tests compare the rest with */
    bool open;  /* the file goes on behind `end` */

    struct table_cell *cells; /* receive cells and lines, up to the rooms */
    size_t count, cell_room;
    uint32_t *lines; /* of rows, less `line_base` */
    size_t rows, row_room;
    size_t line_base;
    size_t rows_before; /* of the file before these: rows in messages */

    bool first;       /* in the first row, which decides how many columns */
    size_t columns;   /* in every row after it */
    bool ran_out;     /* of text in a record, with `open`; or of room */
    size_t row_at;    /* where the row being scanned begins */
    size_t row_line;  /* and on which line */
    size_t row_count; /* cells before it */
    size_t fields;    /* of it, so far */

    size_t block_at; /* of 64 bytes: those that may end a field have */
    uint64_t block;  /* a bit set here */
    struct sotto_error *err;
};

/* Makes ready to scan from `at` on. */
void csv_scan_start(struct csv_scan *s, size_t at);
/*
 * Scans one row, which begins at `at`, and moves on behind it. If the text or
 * the room runs out it sets ran_out, leaves `at`, `line`, `count` and `rows` as
 * they were, and returns INPUT. Statuses: INPUT.
 */
SOTTO_CHECKED enum sotto_status csv_scan_row(struct csv_scan *s);

/* Whether the row that was just scanned is a blank line; and the failure. */
bool csv_scan_blank(const struct csv_scan *s);
SOTTO_CHECKED enum sotto_status csv_scan_fail_blank(const struct csv_scan *s);

/* Moves the text of a field with doubled quotes together, in place. */
void csv_scan_undouble(uint8_t *bytes, struct table_cell *cell);

/* Whether a byte is a space or a tab; a tab that separates fields is none. */
static inline bool
csv_scan_is_blank(const struct csv_scan *s, uint8_t c)
{
    return c == ' ' || (c == '\t' && s->separator != '\t');
}

#endif
