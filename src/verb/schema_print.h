/*
 * schema_print.h: a schema for people: a line a column, then the problems.
 */
#ifndef SOTTO_VERB_SCHEMA_PRINT_H
#define SOTTO_VERB_SCHEMA_PRINT_H

#include "cli/cli.h"

/* Prints one line a column: its name, its type, its range or values, the share
   of rows without a value; those that are left out last, with the reason. */
void schema_print_columns(FILE *to, const struct sotto_schema *schema);
/* Prints the problems, the worst first, with what to do: those of a rank up to
   `most`, and how many there are of the others. */
void schema_print_problems(FILE *to, const struct sotto_schema *schema,
                           enum sotto_schema_rank most);
/* Prints all of it as JSON, an object a line: {"column":...}, then
   {"problem":...}. */
void schema_print_json(FILE *to, const struct sotto_schema *schema);
/* Whether there is a problem that must be mended before anything is trained. */
bool schema_print_refused(const struct sotto_schema *schema);

/* Reads a schema, and prints all its faults. The exit status; the caller frees
   it. */
int schema_print_read(const char *path, struct sotto_schema **ret_schema);

#endif
