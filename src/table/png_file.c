/*
 * png_file.c: the samples of a PNG file, by libpng's simplified functions,
 * which catch its errors themselves.
 *
 * Samples of 16 bits that do not say what they mean are taken for sRGB, as
 * those of 8 bits are; otherwise a file in 16 bits would come out lighter.
 */
#include "table/png_file.h"

#include <png.h>
#include <string.h>

#include "host/error.h"

/* Bytes that one byte of deflate can become, at most. */
#define DEFLATE_MOST 1032u

static enum sotto_status
fail_png(const char *name, const png_image *png, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_INPUT, 0,
                     "%s: not a PNG file that can be read: %s", name,
                     png->message[0] != '\0' ? png->message : "damaged");
}

/* A pixel has at least one bit, and what is not in the file cannot come out
   of it. */
static enum sotto_status
check_size(const png_image *png, size_t size, const char *name,
           struct sotto_error *err)
{
    if (png->width > PNG_FILE_SIDE_MAX || png->height > PNG_FILE_SIDE_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "%s: %u x %u pixels: at most %u x %u are read: make "
                         "it smaller",
                         name, png->width, png->height, PNG_FILE_SIDE_MAX,
                         PNG_FILE_SIDE_MAX);
    }
    if ((size_t)png->width * png->height / 8 > DEFLATE_MOST * size) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "%s: says it holds %u x %u pixels, which its %zu "
                         "bytes cannot",
                         name, png->width, png->height, size);
    }
    return SOTTO_STATUS_OK;
}

/* On success `png` must be freed. */
static enum sotto_status
begin_png(const uint8_t *bytes, size_t size, const char *name, png_image *png,
          struct sotto_error *err)
{
    memset(png, 0, sizeof *png);
    png->version = PNG_IMAGE_VERSION;
    if (size == 0 || !png_image_begin_read_from_memory(png, bytes, size)) {
        return fail_png(name, png, err);
    }
    enum sotto_status status = check_size(png, size, name, err);
    if (status != SOTTO_STATUS_OK) {
        png_image_free(png);
    }
    return status;
}

enum sotto_status
png_file_header(const uint8_t *bytes, size_t size, const char *name,
                struct sotto_image *ret_image, struct sotto_error *err)
{
    png_image png;
    enum sotto_status status = begin_png(bytes, size, name, &png, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    ret_image->height = png.height;
    ret_image->width = png.width;
    ret_image->channels = (png.format & PNG_FORMAT_FLAG_COLOR) != 0 ? 3 : 1;
    png_image_free(&png);
    return SOTTO_STATUS_OK;
}

enum sotto_status
png_file_decode(const uint8_t *bytes, size_t size, const char *name,
                const struct sotto_image *image, uint8_t *ret_samples,
                struct sotto_error *err)
{
    const png_color black = {0, 0, 0};
    png_image png;
    enum sotto_status status = begin_png(bytes, size, name, &png, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (png.height != image->height || png.width != image->width ||
        (image->channels == 1 && (png.format & PNG_FORMAT_FLAG_COLOR) != 0)) {
        png_image_free(&png);
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "%s: has changed while it was read", name);
    }
    png.format = image->channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    if (!png_image_finish_read(&png, &black, ret_samples, 0, NULL)) {
        status = fail_png(name, &png, err);
    }
    png_image_free(&png);
    return status;
}
