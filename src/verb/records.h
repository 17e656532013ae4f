/*
 * records.h: a curator's table, and its rows as records of a mechanism.
 */
#ifndef SOTTO_VERB_RECORDS_H
#define SOTTO_VERB_RECORDS_H

#include "cli/cli.h"

/*
 * Reads the file at `data` and, if not NULL, joins the one at `labels`, which
 * must have one column, as the last column, always a category; without a name
 * of its own it is "label". --header is taken from `args`. Returns the exit
 * status, messages printed.
 */
int records_read(const struct cli_args *args, const char *data,
                 const char *labels, struct sotto_table **ret_table);

/* The column of that name, or the table's number of columns. */
size_t records_column(const struct sotto_table *table, const char *name);

/* What may help if a table has no column of that name. */
const char *records_advice(const char *name);

/* Which column of a table each column of a mechanism is: by name. */
struct records {
    const struct sotto_mechanism *mechanism;
    const struct sotto_table *table;
    size_t *column;
    struct sotto_value *value; /* one record, filled by records_at */
    size_t count;
};

/*
 * Matches; a column that is not in the table is an error that names it, one
 * that is not in the mechanism a note, unless it is `other`, which is used
 * otherwise (NULL: none is). `path` is for messages; NULL: no note. Both
 * objects must outlive `ret_records`, which records_clear frees.
 */
int records_match(const struct sotto_mechanism *mechanism,
                  const struct sotto_table *table, const char *path,
                  const char *other, struct records *ret_records);
void records_clear(struct records *records);

/* The record in a row: `count` values, until the next call. */
const struct sotto_value *records_at(struct records *records, size_t row);

#endif
