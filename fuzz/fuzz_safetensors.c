/*
 * fuzz_safetensors.c: safetensors_parse. With an odd first byte the rest is a
 * header, and 64 bytes of data are put behind it; with an even one it is the
 * whole file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "host/safetensors.h"

#define DATA ((size_t)64)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sink; /* keeps the reads */

/* The bytes of a tensor are there, aligned, and as many as its shape says. */
static size_t
check_entry(const struct safetensors *file, size_t i)
{
    const struct safetensors_entry *entry = safetensors_at(file, i);
    const uint8_t *bytes = entry->data;
    const struct safetensors_entry *found = NULL;
    unsigned sum = 0;
    for (size_t j = 0; j < entry->size; j++) {
        sum += bytes[j];
    }
    sink = sum;
    if (safetensors_find(file, entry->name) == NULL ||
        (uintptr_t)entry->data % 8 != 0 || entry->rank > SAFETENSORS_RANK_MAX) {
        abort();
    }
    if (safetensors_want(file, entry->name, SAFETENSORS_F32, 2, SIZE_MAX, 3,
                         &found, NULL) == SOTTO_STATUS_OK &&
        found->size != found->shape[0] * 12) {
        abort();
    }
    return entry->size;
}

static void
parse(const uint8_t *bytes, size_t size)
{
    struct safetensors *file = NULL;
    struct sotto_error err;
    if (safetensors_parse(bytes, size, "fuzz", &file, &err) !=
        SOTTO_STATUS_OK) {
        if (file != NULL) {
            abort();
        }
        return;
    }
    size_t total = 8 + (size_t)bytes_load(bytes, 8);
    for (size_t i = 0; i < safetensors_count(file); i++) {
        total += check_entry(file, i);
    }
    if (total != size || !json_is_object(safetensors_metadata(file))) {
        abort();
    }
    safetensors_free(file);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    if (data[0] % 2 == 0) {
        parse(data + 1, size - 1);
        return 0;
    }
    uint8_t *file = malloc(8 + size - 1 + DATA);
    if (file == NULL) {
        return 0;
    }
    bytes_store(file, 8, size - 1);
    memcpy(file + 8, data + 1, size - 1);
    memset(file + 8 + size - 1, 7, DATA);
    parse(file, 8 + size - 1 + DATA);
    free(file);
    return 0;
}
