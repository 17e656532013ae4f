/*
 * csv_head.h: the beginning of CSV text: whether it is text at all, and what
 * its first row says the columns are.
 */
#ifndef SOTTO_TABLE_CSV_HEAD_H
#define SOTTO_TABLE_CSV_HEAD_H

#include "table/csv_parts.h"
#include "table/csv_scan.h"

/* Whether the text begins as UTF-16 does, whether a NUL is in it, and whether
   it is UTF-8. `s` says the file's name, and which line and offset the text
   begins with. Statuses: INPUT. */
SOTTO_CHECKED enum sotto_status csv_head_check(const struct csv_scan *s,
                                               const struct csv_parts *parts);

/* Steps over a byte-order mark. */
void csv_head_skip_mark(struct csv_scan *s);
/* Cuts off blank lines at the end of the file. */
void csv_head_trim(struct csv_scan *s);
SOTTO_CHECKED enum sotto_status csv_head_fail_empty(const struct csv_scan *s);
SOTTO_CHECKED enum sotto_status csv_head_fail_rows(const struct csv_scan *s);

/*
 * Scans the first row, makes a table with as many columns in `block`, which it
 * owns from then on, and names them; a row that names them is none of the data.
 * `bytes` are those of `s`, to be written to. `ret_table` is set on failure,
 * too, once it owns the block. Statuses: INPUT (also if the text ran out),
 * MEMORY.
 */
SOTTO_CHECKED enum sotto_status csv_head_start(struct csv_scan *s,
                                               uint8_t *bytes, int header,
                                               struct table_block *block,
                                               struct sotto_table **ret_table);

#endif
