/*
 * matrix.h: the rows of a table as x, by the device's own code, without a
 * channel, an encoder or a mechanism file.
 */
#ifndef SOTTO_SCHEMA_MATRIX_H
#define SOTTO_SCHEMA_MATRIX_H

#include "schema/column.h"

/* Entries of x that columns fill together. */
size_t matrix_width(const struct schema_column *column, size_t columns);
/* Fills a row of matrix_width entries for every row of the table, in which
   columns are found by name; one that is not there is missing. Statuses:
   MEMORY. */
SOTTO_CHECKED enum sotto_status matrix_fill(const struct schema *schema,
                                            const struct sotto_table *table,
                                            float *ret_x,
                                            struct sotto_error *err);

#endif
