/*
 * gunzip.h: undoing gzip in memory, up to a ceiling.
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

#endif
