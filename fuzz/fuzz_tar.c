/*
 * fuzz_tar.c: tar_next on archives. With an odd first byte the sum in every
 * header it comes to is put right first, so that what lies behind is reached.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BLOCK 512u
#define SUM_AT 148u

static volatile unsigned sink; /* keeps the reads */

static void
put_sum(uint8_t *header)
{
    unsigned sum = 0;
    char text[9];
    memset(header + SUM_AT, ' ', 8);
    for (size_t i = 0; i < BLOCK; i++) {
        sum += header[i];
    }
    (void)snprintf(text, sizeof text, "%06o", sum & 0777777u);
    memcpy(header + SUM_AT, text, 7);
}

static void
check_file(const struct tar *tar, const struct tar_file *file)
{
    unsigned sum = 0;
    for (size_t i = 0; i < file->size; i++) {
        sum += file->data[i];
    }
    for (size_t i = 0; i < file->base_size; i++) {
        sum += (unsigned char)file->base[i];
        if (file->base[i] == '/') {
            abort();
        }
    }
    sink = sum;
    if (file->data < tar->bytes ||
        file->data + file->size > tar->bytes + tar->size) {
        abort();
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sotto_error err;
    struct tar_file file;
    bool found = true;
    if (size == 0) {
        return 0;
    }
    uint8_t *bytes = malloc(size);
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, data + 1, size - 1);
    for (size_t at = 0; data[0] % 2 == 1 && at + BLOCK <= size - 1;
         at += BLOCK) {
        put_sum(bytes + at);
    }
    struct tar tar = {.bytes = bytes, .size = size - 1, .name = "fuzz.tar"};
    (void)tar_detect(bytes, size - 1);
    while (found) {
        size_t before = tar.at;
        if (tar_next(&tar, &file, &found, &err) != SOTTO_STATUS_OK) {
            if (err.position > size) {
                abort();
            }
            found = false;
        } else if (found) {
            if (tar.at <= before || tar.at > tar.size) {
                abort();
            }
            check_file(&tar, &file);
        }
    }
    free(bytes);
    return 0;
}
