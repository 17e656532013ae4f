/*
 * output_file.h: a file of the program's own that is complete or not there.
 *
 *     struct output_file file;
 *     if (!output_file_open(&file, path)) { return CLI_EXIT_FAILED; }
 *     (void)fprintf(file.stream, ...);
 *     return output_file_commit(&file) ? CLI_EXIT_DONE : CLI_EXIT_FAILED;
 *
 * Bytes go to a temporary file beside it, which gets its name at the end. What
 * is not a regular file, as /dev/stdout, is written straight.
 */
#ifndef SOTTO_CLI_OUTPUT_FILE_H
#define SOTTO_CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct output_file {
    FILE *stream;
    const char *path; /* the caller's */
    char *target;     /* the same with links followed */
    char *temporary;  /* NULL: written straight */
};

/* False, with the message printed, if it cannot be written. */
bool output_file_open(struct output_file *file, const char *path);
/* Completes it. False, with the message printed, if anything was lost: then
   nothing is left behind. */
bool output_file_commit(struct output_file *file);
/* Gives up: nothing is left behind. Also right after a commit. */
void output_file_drop(struct output_file *file);

#endif
