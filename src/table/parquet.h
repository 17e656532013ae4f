/*
 * parquet.h: writing Apache Parquet files, in memory that has a bound.
 *
 *     PAR1 | row group: a chunk a column, of pages | ... | footer | size | PAR1
 *
 * What is written: PLAIN values in version 1 data pages, levels by RLE, pages
 * of about a MiB or less, compressed by GZIP or not at all; booleans, signed
 * integers of 32 and 64 bits, and lists of integers, with their logical types.
 * There are no dictionaries, statistics or indexes.
 *
 * Memory, however many columns and rows there are: PARQUET_MEMORY, one row, a
 * kilobyte for each column, and the footer, about a hundred bytes for each
 * column of each row group, which the format wants at the end.
 */
#ifndef SOTTO_TABLE_PARQUET_H
#define SOTTO_TABLE_PARQUET_H

#include "sotto/work.h"

enum parquet_type { PARQUET_BOOLEAN, PARQUET_INT32, PARQUET_INT64 };

struct parquet_column {
    const char *name;
    enum parquet_type type;
    bool list;     /* each row has several, or none */
    bool optional; /* a row may have no value; not a list's */
};

struct parquet;

/* Begins a file; the columns are copied, and the output is the caller's, to be
   committed behind parquet_finish. Statuses: MEMORY, IO. */
SOTTO_CHECKED enum sotto_status parquet_new(struct sotto_output *output,
                                            const struct parquet_column *column,
                                            size_t columns, bool compressed,
                                            struct parquet **ret_parquet,
                                            struct sotto_error *err);
void parquet_free(struct parquet *parquet);

/*
 * One row, column by column: each column once, in any order. A lack of memory
 * is told by parquet_end_row.
 */
void parquet_put(struct parquet *parquet, size_t column, int64_t value);
void parquet_put_null(struct parquet *parquet, size_t column);
void parquet_put_list(struct parquet *parquet, size_t column,
                      const int64_t *value, size_t count);
/* Ends the row; after PARQUET_GROUP_ROWS of them, or when their pages have
   PARQUET_GROUP_BYTES, their group is written. Statuses: MEMORY, IO. */
SOTTO_CHECKED enum sotto_status parquet_end_row(struct parquet *parquet,
                                                struct sotto_error *err);
#define PARQUET_GROUP_ROWS ((size_t)131072)
#define PARQUET_GROUP_BYTES ((size_t)32 << 20) /* compressed, if it is */
#define PARQUET_OPEN_BYTES ((size_t)16 << 20)  /* of pages being filled */
#define PARQUET_MEMORY (2 * (PARQUET_GROUP_BYTES + PARQUET_OPEN_BYTES))
/* Writes the group of the rows so far, if there are any. */
SOTTO_CHECKED enum sotto_status parquet_end_group(struct parquet *parquet,
                                                  struct sotto_error *err);

/* Notes a fact of the file, as text, for the footer. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status parquet_note(struct parquet *parquet,
                                             const char *key, const char *value,
                                             struct sotto_error *err);
/* Writes the last group and the footer. Statuses: MEMORY, IO. */
SOTTO_CHECKED enum sotto_status parquet_finish(struct parquet *parquet,
                                               struct sotto_error *err);

#endif
