/*
 * gunzip.h: undoing gzip in memory, up to a ceiling; or bit by bit.
 */
#ifndef SOTTO_TABLE_GUNZIP_H
#define SOTTO_TABLE_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"

/* Whether the bytes begin as gzip does. */
bool gunzip_detect(const uint8_t *data, size_t size);

/*
 * Decompresses one gzip member or several in a row into memory the caller
 * frees, never NULL on success. `name` stands for the file in messages; an
 * error's position is an offset in the compressed bytes. Statuses: INPUT
 * (truncated, corrupt, or followed by something else), LIMIT (more than
 * `limit` bytes come out), MEMORY.
 */
SOTTO_CHECKED enum sotto_status
gunzip_bytes(const uint8_t *data, size_t size, size_t limit, const char *name,
             uint8_t **ret_data, size_t *ret_size, struct sotto_error *err);

/* Undoes gzip bit by bit. `name` lives as long as it does. Statuses: MEMORY. */
struct gunzip_stream;
SOTTO_CHECKED enum sotto_status
gunzip_stream_new(const char *name, struct gunzip_stream **ret_stream,
                  struct sotto_error *err);
/* Wipes and frees. NULL is fine. */
void gunzip_stream_free(struct gunzip_stream *stream);
/*
 * Undoes what `in` holds into `out`, until one is used up: `ret_used` and
 * `ret_made` bytes of them. `last`: nothing follows `in`. `ret_ended`: the
 * compressed bytes have ended well, and nothing follows. Messages are those of
 * gunzip_bytes, and so are the statuses, but for LIMIT.
 */
SOTTO_CHECKED enum sotto_status
gunzip_stream_run(struct gunzip_stream *stream, const uint8_t *in,
                  size_t in_size, bool last, uint8_t *out, size_t out_size,
                  size_t *ret_used, size_t *ret_made, bool *ret_ended,
                  struct sotto_error *err);

#endif
