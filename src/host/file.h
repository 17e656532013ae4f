/*
 * file.h: reading whole files, and writing files that are either complete or
 * not there.
 */
#ifndef SOTTO_HOST_FILE_H
#define SOTTO_HOST_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"

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

/*
 * A file being written: bytes go to a temporary file in the same folder;
 * commit flushes it to disk and gives it its name in one step, so a crash, a
 * full disk or a failure leaves either the old file or the new one.
 */
struct host_output;

/*
 * Starts writing what will be `path`, with these permission bits. With
 * `exclusive`, an existing `path` is refused, at commit at the latest.
 * Statuses: IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status host_output_new(const char *path, unsigned mode,
                                                bool exclusive,
                                                struct host_output **ret_output,
                                                struct sotto_error *err);
/* Appends; buffered. Statuses: IO. */
SOTTO_CHECKED enum sotto_status host_output_write(struct host_output *output,
                                                  const void *data, size_t size,
                                                  struct sotto_error *err);
/* Flushes, names and frees; on failure nothing is left behind. */
SOTTO_CHECKED enum sotto_status host_output_commit(struct host_output *output,
                                                   struct sotto_error *err);
/* Gives up: removes the temporary file and frees. NULL is fine. */
void host_output_free(struct host_output *output);

/* All of the above for bytes at hand. */
SOTTO_CHECKED enum sotto_status host_file_write(const char *path, unsigned mode,
                                                bool exclusive,
                                                const void *data, size_t size,
                                                struct sotto_error *err);

#endif
