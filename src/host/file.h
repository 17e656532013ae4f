/*
 * file.h: reading and writing whole files. Writing bit by bit is sotto_output
 * in sotto/sotto.h.
 */
#ifndef SOTTO_HOST_FILE_H
#define SOTTO_HOST_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"

/*
 * Reads all of `path`, at most `limit` bytes, into memory the caller frees
 * (aligned as malloc aligns; never NULL on success, even for an empty file).
 * Messages name the file and say what the system said. Statuses: IO, LIMIT,
 * MEMORY.
 */
SOTTO_CHECKED enum sotto_status host_file_read(const char *path, size_t limit,
                                               uint8_t **ret_data,
                                               size_t *ret_size,
                                               struct sotto_error *err);

/* Makes a folder and those above it that are not there. Statuses: IO (names the
   one that cannot be made), MEMORY. */
SOTTO_CHECKED enum sotto_status
host_folder_make(const char *path, unsigned mode, struct sotto_error *err);

/* sotto_output's new, write and commit, for bytes at hand. */
SOTTO_CHECKED enum sotto_status host_file_write(const char *path, unsigned mode,
                                                bool exclusive,
                                                const void *data, size_t size,
                                                struct sotto_error *err);

/*
 * The open descriptor a path stands for, or -1. Opening /dev/stdout by name
 * fails on a socket, and on a redirection to a file it would start over at
 * the file's beginning; a duplicate goes on where the shell left it.
 */
int host_file_descriptor(const char *path);

/* Says that `path` cannot be read, and why: what the system said, and what to
   do; IO. */
SOTTO_CHECKED enum sotto_status
host_file_fail_read(struct sotto_error *err, const char *path, int error);

/* open() with these flags, or a duplicate of the descriptor the path stands
   for; -1 and errno on failure. */
int host_file_open(const char *path, int flags);

#endif
