/*
 * png_file.h: the samples of a PNG file.
 */
#ifndef SOTTO_TABLE_PNG_FILE_H
#define SOTTO_TABLE_PNG_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"

#define PNG_FILE_MAX_BYTES ((size_t)1 << 28)
#define PNG_FILE_SIDE_MAX 4096u /* pixels */

/*
 * What the file says it holds: the size, and 3 channels if it has colours or
 * a palette, else 1. Refuses an image larger than the limit, or than a file of
 * its size can hold, so memory may be had by what is said. `name` stands in
 * messages. Statuses: INPUT, LIMIT.
 */
SOTTO_CHECKED enum sotto_status png_file_header(const uint8_t *bytes,
                                                size_t size, const char *name,
                                                struct sotto_image *ret_image,
                                                struct sotto_error *err);

/*
 * Writes 8-bit samples, y, x, channel, over black where the file is not
 * opaque. `image` is the header's, or 3 channels where that has 1;
 * `ret_samples` may be written to on failure. Statuses: INPUT, LIMIT.
 */
SOTTO_CHECKED enum sotto_status png_file_decode(const uint8_t *bytes,
                                                size_t size, const char *name,
                                                const struct sotto_image *image,
                                                uint8_t *ret_samples,
                                                struct sotto_error *err);

#endif
