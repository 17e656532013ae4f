/*
 * report_lines.h: reports for people and their tools: one a line, as CSV or
 * JSON Lines.
 */
#ifndef SOTTO_VERB_REPORT_LINES_H
#define SOTTO_VERB_REPORT_LINES_H

#include <stdbool.h>

#include "sotto/sotto.h"

/* Whether a file's name ends so. */
bool report_lines_named(const char *path, const char *ending);

struct report_lines;

/*
 * Begins to write every report's integers to the file at `path`: JSON Lines if
 * it ends in .jsonl, else CSV with the columns id, simulated, book where there
 * are several, and partP.bB.i. Returns the exit status, the message printed.
 */
int report_lines_open(const struct sotto_mechanism *mechanism, const char *path,
                      struct report_lines **ret_lines);
/* Likewise. */
int report_lines_add(struct report_lines *lines,
                     const struct sotto_report_block *block);
/* Completes the file and frees; without it nothing is left behind. Likewise. */
int report_lines_commit(struct report_lines *lines);
void report_lines_free(struct report_lines *lines);

/* Refuses the endings of files that sotto does not write (.parquet, ...), and
   says which forms there are. The exit status. */
int report_lines_check(const char *path, const char *forms);

#endif
