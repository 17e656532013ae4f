/*
 * fuzz_png.c: PNG files. With an odd first byte the check sums of the chunks
 * in the rest are made right first, so that changed chunks are looked into;
 * with an even one the rest is the file.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "table/png_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SAMPLES_MAX ((size_t)1 << 22) /* larger ones are only slow */

static volatile unsigned sink; /* keeps the reads */

static void
decode(const uint8_t *file, size_t size, const struct sotto_image *image)
{
    size_t count = (size_t)image->height * image->width * image->channels;
    struct sotto_error err;
    unsigned sum = 0;
    if (count == 0) {
        abort();
    }
    if (count > SAMPLES_MAX) {
        return;
    }
    uint8_t *samples = malloc(count);
    if (samples == NULL) {
        return;
    }
    if (png_file_decode(file, size, "fuzz.png", image, samples, &err) ==
        SOTTO_STATUS_OK) {
        for (size_t i = 0; i < count; i++) {
            sum += samples[i];
        }
        sink = sum;
    } else if (strstr(err.message, "has changed") != NULL) {
        abort();
    }
    free(samples);
}

static void
parse(const uint8_t *file, size_t size)
{
    struct sotto_image image;
    struct sotto_error err;
    if (png_file_header(file, size, "fuzz.png", &image, &err) !=
        SOTTO_STATUS_OK) {
        return;
    }
    if (image.height > PNG_FILE_SIDE_MAX || image.width > PNG_FILE_SIDE_MAX ||
        (image.channels != 1 && image.channels != 3)) {
        abort();
    }
    decode(file, size, &image);
    image.channels = 3;
    decode(file, size, &image);
}

static void
mend(uint8_t *file, size_t size)
{
    for (size_t at = 8; size - at >= 12 && at < size;) {
        size_t length = (size_t)file[at] << 24 | (size_t)file[at + 1] << 16 |
                        (size_t)file[at + 2] << 8 | (size_t)file[at + 3];
        if (length > size - at - 12) {
            return;
        }
        uint8_t *end = file + at + 8 + length;
        uLong sum = crc32(0, file + at + 4, (uInt)(length + 4));
        for (size_t i = 0; i < 4; i++) {
            end[i] = (uint8_t)(sum >> (24 - 8 * i));
        }
        at += length + 12;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    uint8_t *file = malloc(size - 1);
    if (file == NULL) {
        return 0;
    }
    memcpy(file, data + 1, size - 1);
    if (data[0] % 2 == 1 && size - 1 >= 8) {
        mend(file, size - 1);
    }
    parse(file, size - 1);
    free(file);
    return 0;
}
