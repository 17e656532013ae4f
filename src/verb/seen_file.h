/*
 * seen_file.h: M.seen, beside a mechanism: the rows that it was fitted to.
 */
#ifndef SOTTO_VERB_SEEN_FILE_H
#define SOTTO_VERB_SEEN_FILE_H

#include "cli/cli.h"
#include "sotto/sotto.h"

/* Checks, before anything is made, that it may be written beside the mechanism
   at `path`: that it is none of the inputs, and is there already only with
   --force. Returns the exit status, messages printed. */
int seen_file_check(const struct cli_args *args, const char *path,
                    const char *const *inputs, size_t count);

/* Writes it beside the mechanism at `path`. Returns the exit status, messages
   printed. */
int seen_file_write(const char *path, struct sotto_mechanism *mechanism,
                    const struct sotto_table *table);

/*
 * Refuses a table of rows that the mechanism at `path` was fitted to, if such a
 * file is beside it; tells of a few that are the same. `ret_looked` is whether
 * there was one. `name` is the table's, for messages. Returns the exit status,
 * messages printed.
 */
int seen_file_look(const char *path, struct sotto_mechanism *mechanism,
                   const struct sotto_table *table, const char *name,
                   bool *ret_looked);

#endif
