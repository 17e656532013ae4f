/*
 * fuzz_csv.c: sotto_table_parse on any text. The first byte chooses whether
 * the first row is a header, and how short the parts are in which the text is
 * read once more: that must come to what one plain scan comes to. The rest is
 * the file.
 */
#include <stdlib.h>
#include <string.h>

#include "sotto/sotto.h"
#include "table/csv.h"

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

static bool
same_cell(struct sotto_value a, struct sotto_value b)
{
    return a.kind == b.kind && a.size == b.size &&
           memcmp(&a.number, &b.number, sizeof a.number) == 0 &&
           (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static bool
same_row(const struct sotto_table *a, const struct sotto_table *b, size_t row)
{
    bool same = sotto_table_line(a, row) == sotto_table_line(b, row);
    for (size_t i = 0; same && i < sotto_table_columns(a); i++) {
        same =
            sotto_table_kind(a, i) == sotto_table_kind(b, i) &&
            same_cell(sotto_table_cell(a, row, i), sotto_table_cell(b, row, i));
    }
    return same;
}

static bool
same_table(const struct sotto_table *a, const struct sotto_table *b)
{
    bool same = sotto_table_rows(a) == sotto_table_rows(b) &&
                sotto_table_columns(a) == sotto_table_columns(b);
    for (size_t row = 0; same && row < sotto_table_rows(a); row++) {
        same = same_row(a, b, row);
    }
    return same;
}

static enum sotto_status
read_way(const uint8_t *data, size_t size, const struct csv_way *way,
         struct sotto_table **ret_table, struct sotto_error *err)
{
    uint8_t *bytes = malloc(size + 1);
    if (bytes == NULL) {
        abort();
    }
    memcpy(bytes, data, size);
    enum sotto_status status =
        csv_parse(bytes, size, "fuzz.csv", way, ret_table, err);
    if (status != SOTTO_STATUS_OK) {
        free(bytes);
    }
    return status;
}

/* Quick and in parts, beside plain and at once. */
static void
compare(const uint8_t *data, size_t size, uint8_t choice)
{
    const struct csv_way quick = {
        .header = choice % 3 - 1, .threads = 1, .part_bytes = choice / 3u + 1u};
    const struct csv_way plain = {
        .header = quick.header, .threads = 1, .plain = true};
    struct sotto_table *a = NULL, *b = NULL;
    struct sotto_error a_err = {0}, b_err = {0};
    enum sotto_status status = read_way(data, size, &quick, &a, &a_err);
    if (read_way(data, size, &plain, &b, &b_err) != status) {
        abort();
    }
    if (status == SOTTO_STATUS_OK ? !same_table(a, b)
                                  : strcmp(a_err.message, b_err.message) != 0) {
        abort();
    }
    sotto_table_free(a);
    sotto_table_free(b);
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
    compare(data + 1, size - 1, data[0]);
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
