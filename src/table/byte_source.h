/*
 * byte_source.h: the bytes of a file from its beginning to its end, undone if
 * they are gzipped, however many there are.
 *
 * What is gzipped is undone by a thread of its own, a few buffers ahead of who
 * reads: on two cores the two go on at once.
 */
#ifndef SOTTO_TABLE_BYTE_SOURCE_H
#define SOTTO_TABLE_BYTE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"

struct byte_source;

/* Opens a file; "-" is the standard input. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
byte_source_open(const char *path, struct byte_source **ret_source,
                 struct sotto_error *err);
/*
 * Reads `size` bytes, or as many as there are: fewer than asked for means that
 * the file has ended. Statuses: IO, INPUT (gzip that is truncated, corrupt or
 * followed by something else; the position is an offset in the compressed
 * bytes), MEMORY.
 */
SOTTO_CHECKED enum sotto_status byte_source_read(struct byte_source *source,
                                                 uint8_t *data, size_t size,
                                                 size_t *ret_got,
                                                 struct sotto_error *err);
/* Whether the file is gzipped, so that a thread is busy with it. */
bool byte_source_packed(const struct byte_source *source);
/* Wipes and frees. NULL is fine. */
void byte_source_close(struct byte_source *source);

#endif
