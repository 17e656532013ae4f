/*
 * npy.h: a table from the bytes of a .npy file, numpy's format for one array.
 */
#ifndef SOTTO_TABLE_NPY_H
#define SOTTO_TABLE_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table/table.h"

/* Whether the bytes begin as a .npy file does, as no text in UTF-8 can. */
bool npy_detect(const uint8_t *bytes, size_t size);

/*
 * Reads versions 1.0 and 2.0, little-endian, in C order, a row for each step
 * of the first dimension:
 *
 *     unsigned bytes, 2 to 8 dimensions   one BYTES column "image"
 *     whole numbers, 1 dimension          one NUMBER column "label"
 *     whole numbers, 2 dimensions         NUMBER columns c1, c2, ...
 *     floats (32 or 64 bits), 1 or 2      the same, without texts; a NaN is
 *                                         missing, an infinity is refused
 *
 * `bytes`, from malloc, belong to the table on success and stay the caller's
 * on failure. An error's position is an offset in them. Statuses: INPUT, LIMIT
 * (more columns, or more text, than a table holds), MEMORY.
 */
SOTTO_CHECKED enum sotto_status npy_parse(uint8_t *bytes, size_t size,
                                          const char *name,
                                          struct sotto_table **ret_table,
                                          struct sotto_error *err);

#endif
