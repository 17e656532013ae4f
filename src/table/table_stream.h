/*
 * table_stream.h: sotto_table_stream_open with a say in how much is read at a
 * time, for tests.
 */
#ifndef SOTTO_TABLE_TABLE_STREAM_H
#define SOTTO_TABLE_TABLE_STREAM_H

#include "sotto/sotto.h"

/* `window`: bytes that are read at first, at least 4. If `options` say both
   separator and decimal sign, no more is read before the first table. */
SOTTO_CHECKED enum sotto_status
table_stream_open(const char *path, const struct sotto_table_options *options,
                  size_t rows, size_t window,
                  struct sotto_table_stream **ret_stream,
                  struct sotto_error *err);

#endif
