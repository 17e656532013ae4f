/*
 * tar.h: the files in a tar archive in memory, one after another.
 */
#ifndef SOTTO_DATA_TAR_H
#define SOTTO_DATA_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"

/* An archive being read. The caller sets the first three and zeroes the rest;
   the bytes must outlive it. */
struct tar {
    const uint8_t *bytes;
    size_t size;
    const char *name; /* for messages */
    size_t at;
    const char *long_name; /* of the next file, said in an entry before it */
    size_t long_size;
};

/* One regular file; both point into the archive. Its path is cut to what
   follows the last slash, and not terminated. */
struct tar_file {
    const char *base;
    size_t base_size;
    const uint8_t *data;
    size_t size;
};

/* Whether the bytes begin with an entry of an archive. */
bool tar_detect(const uint8_t *bytes, size_t size);

/*
 * The next regular file; folders, links and devices are passed over, names
 * longer than a header holds are understood in pax's form and GNU's. At the
 * end, `ret_found` is false. An error's position is an offset in the bytes.
 * Statuses: INPUT.
 */
SOTTO_CHECKED enum sotto_status tar_next(struct tar *tar,
                                         struct tar_file *ret_file,
                                         bool *ret_found,
                                         struct sotto_error *err);

#endif
