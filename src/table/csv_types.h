/*
 * csv_types.h: what the cells of CSV text mean: missing, a number, a text.
 */
#ifndef SOTTO_TABLE_CSV_TYPES_H
#define SOTTO_TABLE_CSV_TYPES_H

#include "host/pool.h"
#include "table/table.h"

/*
 * Settles what the cells of `table`, whose columns are those of one block of
 * `bytes`, are, and with them the kinds of the columns: NUMBER unless a cell
 * is a text. Undoes doubled quotes. Statuses: MEMORY.
 */
SOTTO_CHECKED enum sotto_status csv_types_set(struct sotto_table *table,
                                              uint8_t *bytes,
                                              struct host_pool *pool,
                                              struct sotto_error *err);

#endif
