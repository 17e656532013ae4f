/*
 * fuzz_device_table.c: sotto_device_table_parse on any text. The first byte
 * chooses what is asked for; the rest is the file.
 *
 * Whatever it holds, every line is a row, and no line changes another's: each
 * is read once more, alone behind the header, and gives the same cells. A text
 * that the curator's reader takes, without line ends in quotes, gives the cells
 * that it makes.
 */
#include <string.h>

#include "require.h"
#include "sotto/sotto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ALONE_MAX 4096u /* bytes of a text whose lines are read alone */

static const char *const names[] = {"c1", "c2", "c3"};
static volatile unsigned sink; /* keeps the reads */

static bool
is_same(struct sotto_value a, struct sotto_value b)
{
    return (a.kind == SOTTO_VALUE_MISSING) == (b.kind == SOTTO_VALUE_MISSING) &&
           a.size == b.size &&
           (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Every byte a cell points to is read, so that a wrong pointer is found. */
static void
touch(struct sotto_value value)
{
    const uint8_t *bytes = value.data;
    for (size_t i = 0; i < value.size; i++) {
        sink += bytes[i];
    }
}

static struct sotto_table *
parse(const uint8_t *text, size_t size, const struct sotto_device_file *file)
{
    struct sotto_table *table = NULL;
    struct sotto_error err;
    require(sotto_device_table_parse(text, size, "fuzz.csv", file, &table, NULL,
                                     &err) == SOTTO_STATUS_OK);
    return table;
}

static bool
is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The lines of a text, but for blank ones at the end. */
static size_t
count_lines(const uint8_t *text, size_t size)
{
    size_t lines = 1;
    while (size > 0 && is_blank(text[size - 1])) {
        size--;
    }
    for (size_t i = 0; i < size; i++) {
        lines += text[i] == '\n' ? 1 : 0;
    }
    return size > 0 ? lines : 0;
}

/* Each line between two others, so that a blank one is a row, and a byte-order
   mark is none. */
static void
check_alone(const struct sotto_table *table, const uint8_t *text, size_t size,
            const struct sotto_device_file *file)
{
    static const char other[] = "\nx,x,x\n";
    const size_t edge = sizeof other - 1;
    uint8_t lines[ALONE_MAX + 2 * sizeof other];
    size_t at = 0;
    for (size_t row = 0; row < sotto_table_rows(table); row++) {
        size_t length = 0;
        while (at + length < size && text[at + length] != '\n') {
            length++;
        }
        memcpy(lines, other, edge);
        memcpy(lines + edge, text + at, length);
        memcpy(lines + edge + length, other, edge);
        struct sotto_table *alone = parse(lines, 2 * edge + length, file);
        require(sotto_table_rows(alone) == 4);
        for (size_t i = 0; i < sotto_table_columns(table); i++) {
            require(is_same(sotto_table_cell(table, row, i),
                            sotto_table_cell(alone, 2, i)));
        }
        sotto_table_free(alone);
        at += length + 1;
    }
}

static void
check_strict(const struct sotto_table *table, const uint8_t *text, size_t size)
{
    const struct sotto_table_options options = {.header = 0};
    struct sotto_table *strict = NULL;
    struct sotto_error err;
    if ((size >= 2 && text[0] == 0) ||
        sotto_table_parse(text, size, "fuzz.csv", &options, &strict, &err) !=
            SOTTO_STATUS_OK) {
        return;
    }
    size_t rows = sotto_table_rows(strict);
    if (sotto_table_columns(strict) >= 3 && rows == sotto_table_rows(table)) {
        for (size_t i = 0; i < 3 * rows; i++) {
            require(is_same(sotto_table_cell(table, i / 3, i % 3),
                            sotto_table_cell(strict, i / 3, i % 3)));
        }
    }
    sotto_table_free(strict);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    const uint8_t *text = data + 1;
    bool labels = data[0] % 2 == 1, blank = count_lines(text, --size) == 0;
    bool mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    if (mark || (blank && !labels)) {
        return 0;
    }
    const struct sotto_device_file file = {.names = names,
                                           .count = labels ? 1 : 3,
                                           .person = labels ? NULL : "c1",
                                           .rows = data[0] / 2};
    struct sotto_table *table = parse(text, size, &file);
    require(sotto_table_columns(table) == file.count);
    require(sotto_table_rows(table) ==
            (labels ? file.rows : count_lines(text, size)));
    for (size_t i = 0; i < sotto_table_rows(table); i++) {
        for (size_t j = 0; j < file.count; j++) {
            touch(sotto_table_cell(table, i, j));
        }
    }
    if (!labels && size <= ALONE_MAX) {
        check_alone(table, text, size, &file);
        check_strict(table, text, size);
    }
    sotto_table_free(table);
    return 0;
}
