/*
 * csv.h: a table from the bytes of a CSV file (RFC 4180).
 */
#ifndef SOTTO_TABLE_CSV_H
#define SOTTO_TABLE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table/table.h"

/*
 * Reads `size` (at most TABLE_MAX_BYTES) bytes as sotto_table_read describes.
 * `bytes`, from malloc, are written to (doubled quotes are undone in place)
 * and belong to the table on success; on failure they stay the caller's.
 * `header` is that of struct sotto_table_options. An error's position is an
 * offset in `bytes`. Statuses: INPUT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status csv_parse(uint8_t *bytes, size_t size,
                                          const char *name, int header,
                                          struct sotto_table **ret_table,
                                          struct sotto_error *err);
/* Whether a field with this text, which is not empty, has no value. */
bool csv_missing(const char *text, size_t size);

#endif
