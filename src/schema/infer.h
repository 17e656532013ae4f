/*
 * infer.h: what the files of inference share.
 *
 *     infer.c            the table: each column, then all of them
 *     infer_column.c     a column's type, range, values, use
 *     infer_problems.c   what is wrong, in sentences
 */
#ifndef SOTTO_SCHEMA_INFER_H
#define SOTTO_SCHEMA_INFER_H

#include "schema/outline.h"
#include "schema/profile.h"

#define INFER_RARE ((size_t)10)
#define INFER_WHY ((size_t)160)

/* A column that is being judged. */
struct infer_column {
    const struct sotto_schema_options *options;
    const struct sotto_table *table;
    size_t at; /* in the table */
    size_t rare;
    bool label;
    bool kept;            /* its owner wants it, whatever it looks like */
    bool as_category;     /* and says that it holds categories, */
    bool as_number;       /* or numbers with a range given elsewhere */
    bool logs;            /* numbers with a heavy tail get their logarithm */
    struct profile *seen; /* NULL: nobody looked */
    struct sotto_schema_column column; /* what it comes to */
    char why[INFER_WHY];
    char **value; /* room for the column's values */
    /* What is to be told of it. */
    bool trouble[SOTTO_SCHEMA_FEW_ROWS + 1];
    double furthest; /* an outlier, in widths of the range beyond it */
};

/* Fills `column` from what was seen. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status infer_column(struct infer_column *judged,
                                             struct sotto_error *err);
/* Frees what infer_column took. */
void infer_column_clear(struct infer_column *judged);

/* Adds what is wrong with a column, which is the schema's last. False for lack
   of memory. */
bool infer_complain(struct sotto_schema *schema,
                    const struct infer_column *judged);
/* Adds what is wrong with columns together: the label, columns that give it
   away, a table of few rows. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
infer_complain_all(struct sotto_schema *schema, const struct sotto_table *table,
                   const struct sotto_schema_options *options,
                   struct sotto_error *err);

#endif
