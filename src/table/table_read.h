/*
 * table_read.h: a table from all bytes of a file, whichever of the formats it
 * is in.
 */
#ifndef SOTTO_TABLE_TABLE_READ_H
#define SOTTO_TABLE_TABLE_READ_H

#include "table/table.h"

/* Reads bytes from malloc as sotto_table_parse does, and consumes them, on
   failure too. Statuses: those of sotto_table_parse. */
SOTTO_CHECKED enum sotto_status
table_read_owned(uint8_t *bytes, size_t size, const char *name,
                 const struct sotto_table_options *options,
                 struct sotto_table **ret_table, struct sotto_error *err);

/* Whether the first column is an index: without a name, as pandas and R write
   one. */
bool table_read_indexed(const struct sotto_table *table);

#endif
