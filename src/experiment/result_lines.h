/*
 * result_lines.h: lines and links of a Markdown page.
 */
#ifndef SOTTO_EXPERIMENT_RESULT_LINES_H
#define SOTTO_EXPERIMENT_RESULT_LINES_H

struct host_text;

/* Adds a page's lines, prose and lists broken at 100 columns; tables, headings,
   pictures and code stay as they are. */
void result_lines(struct host_text *text, const char *page);

/* The folder as a link from the page at `path` names it, in memory the caller
   frees: from one to the other where both are told from the same place, else
   the folder as it is given. NULL: no memory. */
char *result_link(const char *results, const char *path);

#endif
