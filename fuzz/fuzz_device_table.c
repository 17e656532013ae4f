/*
 * fuzz_device_table.c: sotto_device_table_parse on any text. The first byte
 * chooses what is asked for: labels, or records without a header, behind a
 * header with the name first or last, or by a list of people; the rest is the
 * file, or what follows its header.
 *
 * Whatever it holds, every line is a row, and no line changes another's: each
 * is read once more, alone behind the header, and gives the same cells. A text
 * that the curator's reader takes, without line ends in quotes, gives the cells
 * that it makes. By a list the rows are the list's, whatever the text is.
 */
#include <string.h>

#include "require.h"
#include "sotto/sotto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ALONE_MAX 4096u /* bytes of a text whose lines are read alone */

static const char *const names[] = {"c1", "c2", "c3"};
static const char *const headers[] = {"", "c1,c2,c3\n", "c2,c3,c1\n",
                                      "c1,c2,c3\n"};
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
   mark is none. The lines begin at `first`, behind the header. */
static void
check_alone(const struct sotto_table *table, const uint8_t *text, size_t size,
            size_t first, const struct sotto_device_file *file)
{
    static const char other[] = "x,x,x\n";
    const size_t edge = sizeof other - 1;
    uint8_t lines[2 * ALONE_MAX];
    size_t at = first;
    memcpy(lines, text, first);
    for (size_t row = 0; row < sotto_table_rows(table); row++) {
        size_t length = 0, end = first;
        while (at + length < size && text[at + length] != '\n') {
            length++;
        }
        memcpy(lines + end, other, edge);
        memcpy(lines + end + edge, text + at, length);
        end += edge + length;
        lines[end++] = '\n';
        memcpy(lines + end, other, edge);
        struct sotto_table *alone = parse(lines, end + edge, file);
        require(sotto_table_rows(alone) == 3);
        for (size_t i = 0; i < sotto_table_columns(table); i++) {
            require(is_same(sotto_table_cell(table, row, i),
                            sotto_table_cell(alone, 1, i)));
        }
        sotto_table_free(alone);
        at += length + 1;
    }
}

/* A name with quotes that stands in none is read otherwise from the back. */
static bool
has_quote(struct sotto_value name)
{
    return name.size > 0 && memchr(name.data, '"', name.size) != NULL;
}

static void
check_strict(const struct sotto_table *table, const uint8_t *text, size_t size,
             bool header)
{
    /* A device's file has commas and points; the curator's is not guessed. */
    const struct sotto_table_options options = {
        .header = header, .reading = {.separator = ',', .decimal = '.'}};
    struct sotto_table *strict = NULL;
    struct sotto_error err;
    if ((size >= 2 && text[0] == 0) ||
        sotto_table_parse(text, size, "fuzz.csv", &options, &strict, &err) !=
            SOTTO_STATUS_OK) {
        return;
    }
    size_t rows = sotto_table_rows(strict);
    bool same =
        sotto_table_columns(strict) >= 3 && rows == sotto_table_rows(table);
    bool last = sotto_table_find(table, "c1") == 2;
    for (size_t i = 0; same && i < 3 * rows; i++) {
        require((last && has_quote(sotto_table_cell(strict, i / 3, 2))) ||
                is_same(sotto_table_cell(table, i / 3, i % 3),
                        sotto_table_cell(strict, i / 3, i % 3)));
    }
    sotto_table_free(strict);
}

static void
check_labels(const uint8_t *text, size_t size, size_t rows)
{
    const struct sotto_device_file file = {
        .names = names, .count = 1, .rows = rows};
    struct sotto_table *table = parse(text, size, &file);
    require(sotto_table_columns(table) == 1 && sotto_table_rows(table) == rows);
    for (size_t i = 0; i < rows; i++) {
        touch(sotto_table_cell(table, i, 0));
    }
    sotto_table_free(table);
}

/* The rows of a list are its people, in its order. */
static void
check_list(const struct sotto_table *table, const struct sotto_table *people)
{
    size_t place = sotto_table_find(table, "c1");
    require(sotto_table_rows(table) == sotto_table_rows(people));
    for (size_t i = 0; i < sotto_table_rows(table); i++) {
        require(is_same(sotto_table_cell(table, i, place),
                        sotto_table_cell(people, i, 0)));
    }
}

static void
check_records(const uint8_t *text, size_t size, size_t first,
              const struct sotto_table *people)
{
    const struct sotto_device_file file = {.names = names,
                                           .count = 3,
                                           .person = "c1",
                                           .header = first > 0,
                                           .people = people};
    struct sotto_table *table = parse(text, size, &file);
    require(sotto_table_columns(table) == 3);
    for (size_t i = 0; i < 3 * sotto_table_rows(table); i++) {
        touch(sotto_table_cell(table, i / 3, i % 3));
    }
    if (people != NULL) {
        check_list(table, people);
    } else {
        require(sotto_table_rows(table) ==
                count_lines(text + first, size - first));
    }
    if (people == NULL && size <= ALONE_MAX) {
        check_alone(table, text, size, first, &file);
        check_strict(table, text, size, first > 0);
    }
    sotto_table_free(table);
}

static struct sotto_table *
list_people(void)
{
    static const char list[] = "c1\nann\nbob\nx\n";
    const struct sotto_table_options options = {.header = 1};
    struct sotto_table *people = NULL;
    struct sotto_error err;
    require(sotto_table_parse(list, sizeof list - 1, "list", &options, &people,
                              &err) == SOTTO_STATUS_OK);
    return people;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    const uint8_t *text = data + 1;
    size_t kind = data[0] / 2 % 4, first = strlen(headers[kind]);
    size--;
    if (data[0] % 2 == 1) {
        check_labels(text, size, data[0] / 2);
        return 0;
    }
    bool mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    if (first == 0 && (mark || count_lines(text, size) == 0)) {
        return 0;
    }
    uint8_t *bytes = malloc(first + size);
    struct sotto_table *people = kind == 3 ? list_people() : NULL;
    require(bytes != NULL);
    memcpy(bytes, headers[kind], first);
    memcpy(bytes + first, text, size);
    check_records(bytes, first + size, first, people);
    sotto_table_free(people);
    free(bytes);
    return 0;
}
