/*
 * source.h: the files in a folder, or in a .tgz or .tar archive, by name.
 */
#ifndef SOTTO_DATA_SOURCE_H
#define SOTTO_DATA_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"

/* The most that is read: of a file, or of what is taken from an archive. */
#define SOURCE_BYTES_MAX ((size_t)1 << 30)

/* Who is asked about each file, and given those it wants. Names are without
   their folders, and not terminated. */
struct source_taker {
    bool (*wants)(void *context, const char *name, size_t name_size);
    enum sotto_status (*take)(void *context, const char *name, size_t name_size,
                              const uint8_t *data, size_t size,
                              struct sotto_error *err);
    void *context;
};

/*
 * Goes through all regular files below the folder, or in the archive, at
 * `path`, in any order, until a take fails. Folders behind links are not
 * entered. Statuses: IO, LIMIT, INPUT (neither a folder nor an archive, or a
 * damaged one), MEMORY, and the taker's.
 */
SOTTO_CHECKED enum sotto_status source_read(const char *path,
                                            const struct source_taker *taker,
                                            struct sotto_error *err);

#endif
