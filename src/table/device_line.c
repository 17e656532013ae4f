/*
 * device_line.c: the fields of one line of a device's file, total on content.
 *
 * Whatever the bytes are, the line has cells, and what they are depends on the
 * line and on the file's shape alone (invariant 4). Nothing is allocated and
 * nothing fails: what cannot be read is missing. On a line that the curator's
 * reader (csv.c) takes, the cells are those that csv.c makes.
 */
#include "table/device_line.h"

#include <string.h>

#include "host/utf8.h"
#include "table/csv.h"

static size_t
skip_blanks(const uint8_t *bytes, size_t at, size_t end)
{
    while (at < end && (bytes[at] == ' ' || bytes[at] == '\t')) {
        at++;
    }
    return at;
}

static size_t
drop_blanks(const uint8_t *bytes, size_t start, size_t end)
{
    while (end > start && (bytes[end - 1] == ' ' || bytes[end - 1] == '\t')) {
        end--;
    }
    return end;
}

/*
 * Finds the quote that closes the one at `open`, if what follows it is the end
 * of the field; else DEVICE_NOWHERE.
 *
 * A line takes linear time: the search ends at a run of an odd number of
 * quotes, at the latest, and goes beyond the first run only from one.
 */
static size_t
find_close(const uint8_t *bytes, size_t open, size_t end)
{
    size_t at = open + 1;
    while (at < end &&
           (bytes[at] != '"' || (at + 1 < end && bytes[at + 1] == '"'))) {
        at += bytes[at] == '"' ? 2 : 1;
    }
    size_t after = at < end ? skip_blanks(bytes, at + 1, end) : end;
    bool closed = at < end && (after == end || bytes[after] == ',');
    return closed ? at : DEVICE_NOWHERE;
}

/* Moves the text between two quotes together where quotes are doubled, and
   returns its end. */
static size_t
join_quotes(uint8_t *bytes, size_t start, size_t close)
{
    size_t out = start;
    for (size_t at = start; at < close; at++) {
        bytes[out++] = bytes[at];
        at += bytes[at] == '"' ? 1 : 0;
    }
    return out;
}

static bool
is_text(const uint8_t *text, size_t size)
{
    return size <= TABLE_MAX_FIELD &&
           (size == 0 || memchr(text, 0, size) == NULL) &&
           host_utf8_check(text, size) == size;
}

/* Makes a cell of the text from `start` to `stop`. Returns whether it can be
   read; a cell that cannot is missing. */
static bool
set_cell(const uint8_t *bytes, size_t start, size_t stop, bool quoted,
         struct table_cell *cell)
{
    const uint8_t *text = bytes + start;
    size_t size = stop - start;
    bool read = is_text(text, size) &&
                (quoted || size == 0 || memchr(text, '\r', size) == NULL);
    *cell = (struct table_cell){.missing = 1};
    if (read) {
        cell->start = (uint32_t)start;
        cell->size = size & 0x1fffff;
        cell->quoted = quoted ? 1 : 0;
        cell->missing = size == 0 || csv_missing((const char *)text, size);
    }
    return read;
}

bool
device_line_field(uint8_t *bytes, size_t *at, size_t end,
                  struct table_cell *cell)
{
    size_t start = skip_blanks(bytes, *at, end), stop = start;
    bool open = start < end && bytes[start] == '"';
    size_t close = open ? find_close(bytes, start, end) : DEVICE_NOWHERE;
    if (close != DEVICE_NOWHERE) {
        *at = skip_blanks(bytes, close + 1, end);
        stop = join_quotes(bytes, start + 1, close);
        return set_cell(bytes, start + 1, stop, true, cell);
    }
    while (stop < end && bytes[stop] != ',') {
        stop++;
    }
    *at = stop;
    stop = drop_blanks(bytes, start, stop);
    bool read = set_cell(bytes, start, stop, false, cell) && !open;
    cell->missing = cell->missing || open;
    return read;
}

/* Finds the quote that opens what the quote before `end` closes, if a field
   begins with it; else DEVICE_NOWHERE. Doubled quotes are text, as they are for
   find_close. */
static size_t
find_open(const uint8_t *bytes, size_t start, size_t end)
{
    size_t at = end > start && bytes[end - 1] == '"' ? end - 1 : start;
    while (at > start &&
           (bytes[at - 1] != '"' || (at - 1 > start && bytes[at - 2] == '"'))) {
        at -= bytes[at - 1] == '"' ? 2 : 1;
    }
    if (at == start) {
        return DEVICE_NOWHERE;
    }
    size_t before = drop_blanks(bytes, start, at - 1);
    return before == start || bytes[before - 1] == ',' ? at - 1
                                                       : DEVICE_NOWHERE;
}

/* Finds where the last field of a line begins, from the line's end on: what
   comes before that field does not move it. */
static size_t
find_last(const uint8_t *bytes, size_t start, size_t end)
{
    size_t stop = drop_blanks(bytes, start, end);
    size_t at = find_open(bytes, start, stop);
    if (at == DEVICE_NOWHERE) {
        at = stop;
        while (at > start && bytes[at - 1] != ',') {
            at--;
        }
    }
    return at;
}

bool
device_line_split(uint8_t *bytes, size_t start, size_t end,
                  const struct device_shape *shape, struct table_cell *row)
{
    size_t at = start, fields = 0, wanted = shape->width;
    bool read = true, more = true;
    if (shape->person != DEVICE_NOWHERE && shape->person > 0) {
        size_t last = find_last(bytes, start, end);
        size_t comma = drop_blanks(bytes, start, last);
        wanted--;
        read = device_line_field(bytes, &last, end, &row[wanted]);
        more = comma > start;
        end = more ? comma - 1 : start;
    }
    for (; more; at++) {
        struct table_cell cell;
        read = device_line_field(bytes, &at, end, &cell) && read;
        if (fields < wanted) {
            row[fields] = cell;
        }
        fields++;
        more = at < end;
    }
    bool fits = fields == wanted || (fields > wanted && !shape->exact);
    for (size_t i = shape->person == 0 ? 1 : 0; i < wanted && !fits; i++) {
        row[i] = (struct table_cell){.missing = 1};
    }
    return read && fits;
}
