/*
 * fuzz_idx.c: sotto_table_parse on IDX files. With an odd first byte the magic
 * of unsigned bytes is put before the rest, which then is the number of
 * dimensions and what follows; with an even one the rest is the whole file.
 */
#include <stdlib.h>
#include <string.h>

#include "sotto/sotto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sink; /* keeps the reads */

static void
check_cell(const struct sotto_table *table, size_t row)
{
    struct sotto_value value = sotto_table_cell(table, row, 0);
    const uint8_t *bytes = value.data;
    unsigned sum = 0;
    for (size_t i = 0; i < value.size; i++) {
        sum += bytes[i];
    }
    sink = sum;
    if (value.kind == SOTTO_VALUE_BYTES &&
        value.size != sotto_table_width(table, 0)) {
        abort();
    }
}

static void
parse(const uint8_t *file, size_t size)
{
    struct sotto_table *table = NULL;
    struct sotto_error err;
    if (sotto_table_parse(file, size, "fuzz.idx", NULL, &table, &err) ==
        SOTTO_STATUS_OK) {
        for (size_t row = 0; row < sotto_table_rows(table); row++) {
            check_cell(table, row);
        }
    } else if (table != NULL) {
        abort();
    }
    sotto_table_free(table);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t magic[3] = {0, 0, 8};
    if (size == 0) {
        return 0;
    }
    if (data[0] % 2 == 0) {
        parse(data + 1, size - 1);
        return 0;
    }
    uint8_t *file = malloc(sizeof magic + size - 1);
    if (file == NULL) {
        return 0;
    }
    memcpy(file, magic, sizeof magic);
    memcpy(file + sizeof magic, data + 1, size - 1);
    parse(file, sizeof magic + size - 1);
    free(file);
    return 0;
}
