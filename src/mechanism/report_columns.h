/*
 * report_columns.h: reports as a table: which columns there are, what they
 * mean, and a report's values in them.
 *
 *     batch       the collector's number of the batch; none for a file's
 *     simulated   whether a seeded generator made it
 *     book        which codebook was asked, where there are several
 *     ...         what is reported, by the name of the column it is about, or
 *                 "part P" (", block B" where it has several)
 *
 *     flip        the symbol that was named
 *     subset      a list: the symbols that were named
 *     signs       a list: the signs of both factors, 1 and -1
 *     numbers     the integer on the grid; of a block behind an encoder, or of
 *                 several columns that stand for one thing, a list of them
 */
#ifndef SOTTO_MECHANISM_REPORT_COLUMNS_H
#define SOTTO_MECHANISM_REPORT_COLUMNS_H

#include "mechanism/mechanism.h"

struct report_column {
    char *name;
    size_t part, block;
    size_t entry; /* of a block; SIZE_MAX: all of it, as a list */
    bool wide;    /* its integers may need 64 bits */
};

struct report_columns {
    const struct sotto_mechanism *mechanism;
    size_t count;
    struct report_column *column;
    bool book;       /* there is a column for that */
    int64_t *values; /* of one block */
};

/* Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
report_columns_init(struct report_columns *columns,
                    const struct sotto_mechanism *mechanism,
                    struct sotto_error *err);
void report_columns_clear(struct report_columns *columns);

/* The values of a report in column i: how many, at `columns->values`, which
   hold until the next call. To be called column by column in their order: a
   block is unpacked with its first one. */
const int64_t *report_columns_values(const struct report_columns *columns,
                                     const uint8_t *report, size_t i,
                                     size_t *ret_count);

/* What the columns mean, as JSON, for who computes with them; NULL: no memory.
   The caller frees it. */
char *report_columns_describe(const struct report_columns *columns);

#endif
