/*
 * fuzz_archive.c: source_read on archives. With an odd first byte the sum in
 * every header is put right first, so that what lies behind is reached.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "data/source.h"

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

static bool
wants(void *context, const char *name, size_t name_size)
{
    (void)context;
    if (memchr(name, '/', name_size) != NULL) {
        abort();
    }
    return true;
}

static enum sotto_status
take(void *context, const char *name, size_t name_size, const uint8_t *data,
     size_t size, struct sotto_error *err)
{
    unsigned sum = 0;
    (void)context;
    (void)err;
    for (size_t i = 0; i < size; i++) {
        sum += data[i];
    }
    for (size_t i = 0; i < name_size; i++) {
        sum += (unsigned char)name[i];
    }
    sink = sum;
    return SOTTO_STATUS_OK;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct source_taker taker = {wants, take, NULL};
    static int fd = -1;
    char path[32];
    struct sotto_error err;
    uint8_t *bytes = malloc(size + 1);
    if (fd < 0) {
        fd = memfd_create("archive", 0);
    }
    if (size == 0 || bytes == NULL || fd < 0) {
        free(bytes);
        return 0;
    }
    memcpy(bytes, data + 1, size - 1);
    for (size_t at = 0; data[0] % 2 == 1 && at + BLOCK <= size - 1;
         at += BLOCK) {
        put_sum(bytes + at);
    }
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (ftruncate(fd, 0) == 0 &&
        pwrite(fd, bytes, size - 1, 0) == (ssize_t)(size - 1)) {
        (void)!source_read(path, &taker, &err);
    }
    free(bytes);
    return 0;
}
