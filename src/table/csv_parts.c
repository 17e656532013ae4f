/*
 * csv_parts.c: CSV text in parts, each looked at and scanned by itself.
 *
 * A cell ends with a separator, a line feed or the text, so a part's counts of
 * those bound its cells. Its cells are written where they would begin if every
 * part before it were full, and moved down if one is not: that happens only
 * behind separators and line feeds in quotes.
 */
#include "table/csv_parts.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"

/* ---- Cutting and looking ------------------------------------------------ */

/* Where the part that holds byte `at` ends: behind a line feed. */
static size_t
find_cut(const uint8_t *bytes, size_t size, size_t at)
{
    const uint8_t *found =
        at < size ? memchr(bytes + at, '\n', size - at) : NULL;
    return found != NULL ? (size_t)(found - bytes) + 1 : size;
}

static void
cut_parts(struct csv_parts *parts, size_t part_bytes)
{
    size_t at = 0;
    while (at < parts->size) {
        struct csv_part *part = &parts->part[parts->count++];
        part->start = at;
        at = find_cut(parts->bytes, parts->size, at + part_bytes - 1);
        part->stop = at;
    }
}

static void
look_part(void *context, size_t index, unsigned worker)
{
    struct csv_parts *parts = context;
    struct csv_part *part = &parts->part[index];
    (void)worker;
    csv_text_look(parts->bytes + part->start, part->stop - part->start,
                  parts->separator, &part->text);
}

enum sotto_status
csv_parts_init(struct csv_parts *parts, const uint8_t *bytes, size_t size,
               uint8_t separator, size_t part_bytes, struct host_pool *pool,
               struct sotto_error *err)
{
    *parts = (struct csv_parts){
        .pool = pool, .bytes = bytes, .size = size, .separator = separator};
    parts->part = calloc(size / part_bytes + 1, sizeof *parts->part);
    if (parts->part == NULL) {
        return host_fail_memory(err);
    }
    cut_parts(parts, part_bytes);
    host_pool_run(pool, parts->count, look_part, parts);
    for (size_t i = 0; i < parts->count; i++) {
        struct csv_part *part = &parts->part[i];
        part->cell_at = parts->cells;
        part->row_at = parts->rows;
        parts->cells += part->text.separators + part->text.breaks;
        parts->rows += part->text.breaks;
    }
    parts->cells++; /* the text may end without a line feed */
    parts->rows++;
    return SOTTO_STATUS_OK;
}

void
csv_parts_clear(struct csv_parts *parts)
{
    free(parts->part);
    parts->part = NULL;
}

size_t
csv_parts_nul(const struct csv_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct csv_part *part = &parts->part[i];
        if (part->start + part->text.nul < part->stop) {
            return part->start + part->text.nul;
        }
    }
    return parts->size;
}

size_t
csv_parts_bad(const struct csv_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct csv_part *part = &parts->part[i];
        if (part->start + part->text.bad < part->stop) {
            return part->start + part->text.bad;
        }
    }
    return parts->size;
}

static size_t
count_breaks(const uint8_t *text, size_t size)
{
    struct csv_text found;
    csv_text_look(text, size, ',', &found);
    return found.breaks;
}

size_t
csv_parts_skip(const struct csv_parts *parts, size_t at, size_t count)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct csv_part *part = &parts->part[i];
        if (at >= part->stop) {
            continue;
        }
        const uint8_t *text = parts->bytes + at;
        size_t size = part->stop - at;
        size_t breaks =
            at == part->start ? part->text.breaks : count_breaks(text, size);
        if (count <= breaks) {
            return at + csv_text_skip(text, size, count);
        }
        count -= breaks;
        at = part->stop;
    }
    return parts->size;
}

/* ---- Scanning ----------------------------------------------------------- */

/* Scans rows until one begins at `stop` or later. */
static enum sotto_status
scan_to(struct csv_scan *s, size_t stop)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    while (status == SOTTO_STATUS_OK && s->at < stop) {
        status = csv_scan_row(s);
    }
    return status;
}

static size_t
smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Where the room of the part behind part `index` begins. */
static size_t
next_cell(const struct csv_parts *parts, size_t index)
{
    return index + 1 < parts->count ? parts->part[index + 1].cell_at
                                    : parts->cells;
}

static size_t
next_row(const struct csv_parts *parts, size_t index)
{
    return index + 1 < parts->count ? parts->part[index + 1].row_at
                                    : parts->rows;
}

/* Scans a part into its own room as if a row began with it; the one that
   whole->at is in, from there. Lines count from the part's first, which is 0.
   Errors are found once more, with their lines, when the part is taken. */
static void
scan_part(void *context, size_t index, unsigned worker)
{
    struct csv_parts *parts = context;
    struct csv_part *part = &parts->part[index];
    const struct csv_scan *whole = parts->whole;
    bool inside = whole->at > part->start;
    size_t cell_at = inside ? whole->count : part->cell_at;
    size_t row_at = inside ? whole->rows : part->row_at;
    (void)worker;
    part->good = false;
    if (whole->at >= part->stop || part->start >= parts->stop) {
        return;
    }
    part->scan = *whole;
    part->scan.err = NULL;
    part->scan.cells = whole->cells + cell_at;
    part->scan.cell_room = next_cell(parts, index) - cell_at;
    part->scan.count = 0;
    part->scan.lines = whole->lines + row_at;
    part->scan.row_room = next_row(parts, index) - row_at;
    part->scan.rows = 0;
    part->scan.line = 0;
    part->scan.line_base = 0;
    part->from = inside ? whole->at : part->start;
    csv_scan_start(&part->scan, part->from);
    part->good = scan_to(&part->scan, smaller(part->stop, parts->stop)) ==
                 SOTTO_STATUS_OK;
}

/* Puts what a part holds behind what `whole` has. */
static void
take_part(struct csv_scan *whole, const struct csv_part *part)
{
    const struct csv_scan *scan = &part->scan;
    struct table_cell *cells = whole->cells + whole->count;
    uint32_t *lines = whole->lines + whole->rows;
    uint32_t base = (uint32_t)(whole->line - whole->line_base);
    if (cells != scan->cells) {
        memmove(cells, scan->cells, scan->count * sizeof *cells);
    }
    for (size_t i = 0; i < scan->rows; i++) {
        lines[i] = base + scan->lines[i];
    }
    whole->count += scan->count;
    whole->rows += scan->rows;
    whole->line += scan->line;
    csv_scan_start(whole, scan->at);
}

enum sotto_status
csv_parts_scan(struct csv_parts *parts, struct csv_scan *whole, size_t stop)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    parts->whole = whole;
    parts->stop = stop;
    host_pool_run(parts->pool, parts->count, scan_part, parts);
    for (size_t i = 0; i < parts->count && status == SOTTO_STATUS_OK; i++) {
        const struct csv_part *part = &parts->part[i];
        if (part->good && part->from == whole->at) {
            take_part(whole, part);
        } else {
            status = scan_to(whole, smaller(part->stop, stop));
        }
    }
    return status;
}
