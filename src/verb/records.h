/*
 * records.h: a curator's table, and its rows as records of a mechanism.
 */
#ifndef SOTTO_VERB_RECORDS_H
#define SOTTO_VERB_RECORDS_H

#include "cli/cli.h"

/* The options that say how a curator's files are written; else it is told from
   their first records. */
#define RECORDS_READING                                                        \
    {0,                                                                        \
     false,                                                                    \
     false,                                                                    \
     "separator",                                                              \
     "C",                                                                      \
     "between fields: comma, semicolon, tab or pipe; else\nit is guessed"},    \
        {0,                                                                    \
         false,                                                                \
         false,                                                                \
         "decimal",                                                            \
         "point|comma",                                                        \
         "before the fraction of numbers; else it is guessed"},                \
    {                                                                          \
        0, false, false, "encoding", "utf8|latin1",                            \
            "of the text (utf8); latin1 is Windows-1252, too"                  \
    }

/* Reads those options. False, the message printed, if one cannot be read. */
bool records_reading(const struct cli_args *args,
                     struct sotto_table_reading *ret_reading);

/* Whether the first line of a file is a header: 1, 0, or -1 where neither
   --header nor --no-header says it. False, the message printed, if they say
   both. */
bool records_header(const struct cli_args *args, int *ret_header);

/*
 * Reads the file at `data` and, if not NULL, joins the one at `labels`, which
 * must have one column, as the last column, always a category; without a name
 * of its own it is "label". --header is taken from `args`. Returns the exit
 * status, messages printed.
 */
int records_read(const struct cli_args *args, const char *data,
                 const char *labels, struct sotto_table **ret_table);

/* Rows of a table of records_open, a multiple of what models take at once. */
#define RECORDS_ROWS ((size_t)16384)

/*
 * Opens a file of any size, to be read RECORDS_ROWS rows at a time, and reads
 * the first of them: every column is a category. --header and how it is written
 * are taken from `args`; "-" is the standard input. Returns the exit status,
 * messages printed; on failure there is nothing to free.
 */
int records_open(const struct cli_args *args, const char *data,
                 struct sotto_table_stream **ret_stream,
                 struct sotto_table **ret_table);

/* Reads a file of labels in the clear, of one column, or of one beside "id",
   which a header must name. The column's name is in the table. Returns the exit
   status, messages printed. */
int records_read_labels(const struct cli_args *args, const char *path,
                        struct sotto_table **ret_labels,
                        const char **ret_column);

/* What may help if a table has no column of that name. */
const char *records_advice(const char *name);

/*
 * Matches the table's columns with the mechanism's; one that is not in the
 * table is an error that names it, one that is not in the mechanism a note,
 * unless it is `other`, which is used otherwise (NULL: none is). `path` is for
 * messages. Returns the exit status, messages printed.
 */
int records_match(struct sotto_mechanism *mechanism,
                  const struct sotto_table *table, const char *path,
                  const char *other, struct sotto_records **ret_records);

#endif
