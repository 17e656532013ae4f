/*
 * output_file.h: a stream into a sotto_output.
 *
 *     struct output_file file;
 *     if (!output_file_open(&file, path)) { return CLI_EXIT_FAILED; }
 *     (void)fprintf(file.stream, ...);
 *     return output_file_commit(&file) ? CLI_EXIT_DONE : CLI_EXIT_FAILED;
 */
#ifndef SOTTO_CLI_OUTPUT_FILE_H
#define SOTTO_CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "sotto/sotto.h"

struct output_file {
    FILE *stream;
    struct sotto_output *output;
};

/*
 * Whether two names, of which each may be NULL, lead to one file: also by a
 * link's other name, and where neither is there yet, by the same name in the
 * same folder. Pipes and devices are no files.
 */
bool output_file_same(const char *a, const char *b);

/* Whether a file, whose path may be NULL, is there and holds something. */
bool output_file_written(const char *path);

/*
 * Whether `path`, which may be NULL, can be written, to be asked before long
 * work, and is none of the inputs, of which some may be NULL: writing it would
 * destroy them, also by a link's other name. A file that is there stays as it
 * is. Returns the exit status, the message printed.
 */
int output_file_check(const char *path, const char *const *inputs,
                      size_t count);
/* The same of the path of another option than -o, which messages name. */
int output_file_check_option(const char *option, const char *path,
                             const char *const *inputs, size_t count);

/* False, with the message printed, if it cannot be written. */
bool output_file_open(struct output_file *file, const char *path);
/* The same, of a file that only its owner may read. */
bool output_file_open_secret(struct output_file *file, const char *path);
/* Completes it. False, with the message printed, if anything was lost: then
   nothing is left behind. */
bool output_file_commit(struct output_file *file);
/* Gives up: nothing is left behind. */
void output_file_drop(struct output_file *file);

#endif
