/*
 * tar_fixture.h: small tar archives, made entry by entry.
 */
#ifndef SOTTO_TESTS_TAR_FIXTURE_H
#define SOTTO_TESTS_TAR_FIXTURE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK ((size_t)512)

static uint8_t archive[64 * 512];
static size_t archive_size;

static inline void
put_sum(uint8_t *header)
{
    unsigned sum = 0;
    char text[16];
    memset(header + 148, ' ', 8);
    for (size_t i = 0; i < BLOCK; i++) {
        sum += header[i];
    }
    (void)snprintf(text, sizeof text, "%06o", sum);
    memcpy(header + 148, text, 7);
}

/* Appends an entry; returns its header. */
static inline uint8_t *
put_entry(const char *name, char type, const void *data, size_t size)
{
    uint8_t *header = archive + archive_size;
    char text[32];
    memset(header, 0, BLOCK);
    memcpy(header, name, strlen(name));
    (void)snprintf(text, sizeof text, "%011zo", size);
    memcpy(header + 124, text, 12);
    header[156] = (uint8_t)type;
    memcpy(header + 257,
           "ustar\0"
           "00",
           8);
    put_sum(header);
    memset(header + BLOCK, 0, (size + BLOCK - 1) / BLOCK * BLOCK);
    memcpy(header + BLOCK, data, size);
    archive_size += BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK;
    return header;
}

static inline void
put_end(void)
{
    memset(archive + archive_size, 0, 2 * BLOCK);
    archive_size += 2 * BLOCK;
}

#endif
