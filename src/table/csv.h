/*
 * csv.h: a table from the bytes of a CSV file (RFC 4180).
 */
#ifndef SOTTO_TABLE_CSV_H
#define SOTTO_TABLE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table/table.h"

/* How text is read. All zeros, but for the header, is the usual. */
struct csv_way {
    int header;        /* that of struct sotto_table_options */
    uint8_t separator; /* of fields; 0: a comma */
    unsigned threads;  /* 0: one for each core */
    size_t part_bytes; /* that a thread takes at a time; 0: CSV_PART_BYTES */
    bool plain;        /* byte by byte: what tests compare the rest with */
};

/*
 * Reads `size` (at most TABLE_MAX_BYTES) bytes as sotto_table_read describes.
 * `bytes`, from malloc, are written to (doubled quotes are undone in place)
 * and belong to the table on success; on failure they stay the caller's, still
 * as they were but for the quotes. The table and the error do not depend on the
 * number of threads. An error's position is an offset in `bytes`. Statuses:
 * INPUT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status csv_parse(uint8_t *bytes, size_t size,
                                          const char *name,
                                          const struct csv_way *way,
                                          struct sotto_table **ret_table,
                                          struct sotto_error *err);
/* Whether a field with this text, which is not empty, has no value. */
bool csv_missing(const char *text, size_t size);

#endif
