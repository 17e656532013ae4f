/*
 * fuzz_npy.c: sotto_table_parse on .npy files. With an odd first byte the next
 * one is the size of a header of version 1.0, and header and elements follow;
 * with an even one the rest is the whole file.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sotto/sotto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sink; /* keeps the reads */

static void
check_cell(const struct sotto_table *table, size_t row, size_t column)
{
    struct sotto_value value = sotto_table_cell(table, row, column);
    const uint8_t *bytes = value.data;
    unsigned sum = 0;
    for (size_t i = 0; i < value.size; i++) {
        sum += bytes[i];
    }
    sink = sum;
    if ((value.kind == SOTTO_VALUE_BYTES &&
         value.size != sotto_table_width(table, column)) ||
        !isfinite(value.number)) {
        abort();
    }
}

static void
parse(const uint8_t *file, size_t size)
{
    struct sotto_table *table = NULL;
    struct sotto_error err;
    if (sotto_table_parse(file, size, "fuzz.npy", NULL, &table, &err) ==
        SOTTO_STATUS_OK) {
        size_t cells = sotto_table_rows(table) * sotto_table_columns(table);
        for (size_t i = 0; i < cells; i++) {
            check_cell(table, i / sotto_table_columns(table),
                       i % sotto_table_columns(table));
        }
    } else if (table != NULL || err.position > size) {
        abort();
    }
    sotto_table_free(table);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t magic[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    if (size == 0) {
        return 0;
    }
    if (data[0] % 2 == 0) {
        /* What is not this format is another target's business. */
        if (size > 6 && memcmp(data + 1, magic, 6) == 0) {
            parse(data + 1, size - 1);
        }
        return 0;
    }
    uint8_t *file = malloc(sizeof magic + 1 + size);
    if (file == NULL) {
        return 0;
    }
    memcpy(file, magic, sizeof magic);
    file[8] = size > 1 ? data[1] : 0;
    file[9] = 0;
    if (size > 2) {
        memcpy(file + 10, data + 2, size - 2);
    }
    parse(file, size > 2 ? size + 8 : 10);
    free(file);
    return 0;
}
