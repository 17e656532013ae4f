/*
 * fuzz_csv.c: sotto_table_parse on any text. The first byte chooses whether
 * the first row is a header; the rest is the file.
 */
#include <stdlib.h>

#include "sotto/sotto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sink; /* keeps the reads */

/* Every byte a cell points to is read, so that a wrong pointer is found. */
static unsigned
touch(struct sotto_value value)
{
    const uint8_t *bytes = value.data;
    unsigned sum = value.kind == SOTTO_VALUE_NUMBER && value.number > 0.0;
    for (size_t i = 0; i < value.size; i++) {
        sum += bytes[i];
    }
    return sum;
}

/* A number that is not finite must never come out of a NUMBER column. */
static void
check(const struct sotto_table *table)
{
    unsigned sum = 0;
    for (size_t i = 0; i < sotto_table_columns(table); i++) {
        const char *name = sotto_table_name(table, i);
        sum += (unsigned)name[0];
        for (size_t row = 0; row < sotto_table_rows(table); row++) {
            struct sotto_value value = sotto_table_cell(table, row, i);
            if (value.kind == SOTTO_VALUE_NUMBER &&
                value.number - value.number != 0.0) {
                abort();
            }
            sum += touch(value);
        }
    }
    sink = sum;
    for (size_t row = 1; row < sotto_table_rows(table); row++) {
        if (sotto_table_line(table, row) <= sotto_table_line(table, row - 1)) {
            abort();
        }
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sotto_table *table = NULL;
    struct sotto_error err;
    if (size == 0) {
        return 0;
    }
    /* A file that is not text is the other target's. */
    if (size >= 3 && data[1] == 0 && data[2] == 0) {
        return 0;
    }
    struct sotto_table_options options = {.header = data[0] % 3 - 1};
    if (sotto_table_parse(data + 1, size - 1, "fuzz.csv", &options, &table,
                          &err) == SOTTO_STATUS_OK) {
        check(table);
    } else if (table != NULL) {
        abort();
    }
    sotto_table_free(table);
    return 0;
}
