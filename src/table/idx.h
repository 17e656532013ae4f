/*
 * idx.h: a table from the bytes of an IDX file, the format of MNIST.
 */
#ifndef SOTTO_TABLE_IDX_H
#define SOTTO_TABLE_IDX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table/table.h"

/* Whether the bytes begin as IDX does, with two zeros, which no text does. */
bool idx_detect(const uint8_t *bytes, size_t size);

/*
 * Reads unsigned bytes in 1 dimension (a NUMBER column "label") or 2 to 4 (a
 * BYTES column "image", a row for each step of the first dimension). `bytes`,
 * from malloc, belong to the table on success and stay the caller's on
 * failure. Statuses: INPUT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status idx_parse(uint8_t *bytes, size_t size,
                                          const char *name,
                                          struct sotto_table **ret_table,
                                          struct sotto_error *err);

#endif
