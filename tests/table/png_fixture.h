/*
 * png_fixture.h: PNG files made chunk by chunk, right or wrong.
 */
#ifndef SOTTO_TESTS_PNG_FIXTURE_H
#define SOTTO_TESTS_PNG_FIXTURE_H

#include <stdint.h>
#include <string.h>
#include <zlib.h>

enum {
    PNG_GREY = 0,
    PNG_RGB = 2,
    PNG_PALETTE = 3,
    PNG_GREY_A = 4,
    PNG_RGBA = 6
};

static uint8_t png[8192];
static size_t png_size;

static inline void
png_word(uint32_t word)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        png[png_size++] = (uint8_t)(word >> shift);
    }
}

static inline void
png_chunk(const char *type, const void *data, size_t size)
{
    png_word((uint32_t)size);
    size_t from = png_size;
    memcpy(png + png_size, type, 4);
    png_size += 4;
    if (size > 0) {
        memcpy(png + png_size, data, size);
    }
    png_size += size;
    png_word((uint32_t)crc32(0, png + from, (uInt)(png_size - from)));
}

/* The signature and IHDR. */
static inline void
png_begin(uint32_t width, uint32_t height, uint8_t depth, uint8_t type)
{
    uint8_t header[13] = {0};
    memcpy(png, "\x89PNG\r\n\x1a\n", 8);
    png_size = 8;
    for (size_t i = 0; i < 4; i++) {
        header[i] = (uint8_t)(width >> (24 - 8 * i));
        header[4 + i] = (uint8_t)(height >> (24 - 8 * i));
    }
    header[8] = depth;
    header[9] = type;
    png_chunk("IHDR", header, sizeof header);
}

/* `rows` of `stride` bytes each, unfiltered, and the end. */
static inline void
png_end(const void *samples, size_t stride, size_t rows)
{
    uint8_t raw[2048], packed[4096];
    uLongf size = sizeof packed;
    for (size_t i = 0; i < rows; i++) {
        raw[i * (stride + 1)] = 0;
        memcpy(raw + i * (stride + 1) + 1,
               (const uint8_t *)samples + i * stride, stride);
    }
    (void)compress(packed, &size, raw, rows * (stride + 1));
    png_chunk("IDAT", packed, size);
    png_chunk("IEND", NULL, 0);
}

/* A whole file of 8-bit samples. */
static inline void
png_make(uint32_t width, uint32_t height, uint8_t type, const void *samples)
{
    size_t channels = type == PNG_RGB ? 3 : type == PNG_RGBA ? 4 : 1;
    channels = type == PNG_GREY_A ? 2 : channels;
    png_begin(width, height, 8, type);
    png_end(samples, width * channels, height);
}

#endif
