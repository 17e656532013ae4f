/*
 * csv_scan.c: the rows of CSV text (RFC 4180) as cells that point into it.
 *
 * The quick way looks at 64 bytes at a time: a bit for each that may end a
 * field, so that most fields cost one search for a bit. It differs from the
 * plain way in how it finds the next such byte and the next quote, and in
 * nothing else.
 */
#include "table/csv_scan.h"

#include <stdio.h>
#include <string.h>

#include "host/error.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define BLOCK ((size_t)64)

/* ---- Messages ---------------------------------------------------------- */

/* "the first row (line 1)" or "row 3 (line 4)": rows count from the first
   below the header. */
static const char *
row_text(const struct csv_scan *s, char *text, size_t size)
{
    if (s->first) {
        (void)snprintf(text, size, "the first row (line %zu)", s->row_line);
    } else {
        (void)snprintf(text, size, "row %zu (line %zu)",
                       s->rows_before + s->rows + 1, s->row_line);
    }
    return text;
}

static enum sotto_status
fail_field(const struct csv_scan *s, size_t position, const char *what)
{
    char row[80];
    return host_fail(s->err, SOTTO_STATUS_INPUT, s->before + position,
                     "%s: %s, field %zu: %s", s->name,
                     row_text(s, row, sizeof row), s->fields + 1, what);
}

static enum sotto_status
fail_count(const struct csv_scan *s)
{
    char row[80];
    return host_fail(s->err, SOTTO_STATUS_INPUT, s->before + s->row_at,
                     "%s: %s has %zu fields, expected %zu: every row needs as "
                     "many as the first one; a field with a comma in it must "
                     "stand in quotes",
                     s->name, row_text(s, row, sizeof row), s->fields,
                     s->columns);
}

enum sotto_status
csv_scan_fail_blank(const struct csv_scan *s)
{
    return host_fail(s->err, SOTTO_STATUS_INPUT, s->before + s->row_at,
                     "%s: line %zu is blank: remove it", s->name, s->row_line);
}

/* ---- The next byte that may end a field --------------------------------- */

#if defined(__SSE2__)
/* A bit for each of the 64 bytes that is one of the three. */
static inline uint64_t
mark_block(const uint8_t *bytes, uint8_t separator)
{
    const __m128i s = _mm_set1_epi8((char)separator);
    const __m128i lf = _mm_set1_epi8('\n'), cr = _mm_set1_epi8('\r');
    uint64_t marks = 0;
    for (unsigned i = 0; i < BLOCK; i += 16) {
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i));
        __m128i hit = _mm_or_si128(
            _mm_cmpeq_epi8(b, s),
            _mm_or_si128(_mm_cmpeq_epi8(b, lf), _mm_cmpeq_epi8(b, cr)));
        marks |= (uint64_t)(uint16_t)_mm_movemask_epi8(hit) << i;
    }
    return marks;
}
#else
static inline uint64_t
mark_block(const uint8_t *bytes, uint8_t separator)
{
    uint64_t marks = 0;
    for (unsigned i = 0; i < BLOCK; i++) {
        uint64_t hit =
            bytes[i] == separator || bytes[i] == '\n' || bytes[i] == '\r';
        marks |= hit << i;
    }
    return marks;
}
#endif

/* Looks at the 64 bytes from `at` on; behind the end there are none. */
static void
load_block(struct csv_scan *s, size_t at)
{
    uint8_t last[BLOCK] = {0};
    s->block_at = at;
    if (s->end - at >= BLOCK) {
        s->block = mark_block(s->bytes + at, s->separator);
        return;
    }
    memcpy(last, s->bytes + at, s->end - at);
    s->block = mark_block(last, s->separator);
}

/* The first separator, line feed or carriage return from `at` on, or the
   end. */
static inline size_t
find_mark(struct csv_scan *s, size_t at)
{
    size_t offset = at - s->block_at;
    uint64_t marks = offset < BLOCK ? s->block >> offset : 0;
    while (marks == 0) {
        at = offset < BLOCK ? s->block_at + BLOCK : at;
        if (at >= s->end) {
            return s->end;
        }
        load_block(s, at);
        marks = s->block;
        offset = 0;
    }
    return at + (size_t)__builtin_ctzll(marks);
}

static size_t
find_mark_plain(const struct csv_scan *s, size_t at)
{
    while (at < s->end && s->bytes[at] != s->separator &&
           s->bytes[at] != '\n' && s->bytes[at] != '\r') {
        at++;
    }
    return at;
}

void
csv_scan_start(struct csv_scan *s, size_t at)
{
    s->at = at;
    s->block_at = at - BLOCK; /* so that the first search looks */
    s->block = 0;
}

/* ---- Fields ------------------------------------------------------------ */

static inline size_t
skip_blanks(const struct csv_scan *s, size_t at)
{
    while (at < s->end && csv_scan_is_blank(s, s->bytes[at])) {
        at++;
    }
    return at;
}

static inline bool
is_line_end(const struct csv_scan *s, size_t at)
{
    if (at == s->end || s->bytes[at] == '\n') {
        return true;
    }
    return s->bytes[at] == '\r' && at + 1 < s->end && s->bytes[at + 1] == '\n';
}

/* The record is not all there: either the text behind it is still to come, or
   there is no room for its cells. */
static enum sotto_status
run_out(struct csv_scan *s)
{
    s->ran_out = true;
    return SOTTO_STATUS_INPUT;
}

/* Whether what stands at `at` may look different with the text to come. */
static inline bool
is_cut(const struct csv_scan *s, size_t at)
{
    return s->open &&
           (at == s->end || (at + 1 == s->end && s->bytes[at] == '\r'));
}

static inline enum sotto_status
set_cell(const struct csv_scan *s, struct table_cell *cell, size_t start,
         size_t size, bool quoted)
{
    if (size > TABLE_MAX_FIELD) {
        return fail_field(s, start,
                          quoted ? "is longer than 1 MiB: is its closing "
                                   "quote missing?"
                                 : "is longer than 1 MiB");
    }
    *cell = (struct table_cell){
        .start = (uint32_t)start, .size = size & 0x1fffff, .quoted = quoted};
    return SOTTO_STATUS_OK;
}

static inline enum sotto_status
scan_plain(struct csv_scan *s, size_t start, struct table_cell *cell)
{
    size_t at = s->plain ? find_mark_plain(s, start) : find_mark(s, start);
    if (is_cut(s, at)) {
        return run_out(s);
    }
    if (at < s->end && s->bytes[at] == '\r' && !is_line_end(s, at)) {
        return fail_field(s, at,
                          "a carriage return without a line feed: end every "
                          "line with LF or CRLF");
    }
    s->at = at;
    while (at > start && csv_scan_is_blank(s, s->bytes[at - 1])) {
        at--;
    }
    return set_cell(s, cell, start, at - start, false);
}

/* Text in quotes: `size` once doubled quotes are undone. */
struct quoted {
    size_t size;
    size_t close; /* where the closing quote is */
    size_t lines;
    bool doubled;
};

/* Byte by byte, and no further than one byte more than a field may have. */
static void
find_close_plain(const struct csv_scan *s, size_t at, struct quoted *q)
{
    *q = (struct quoted){0};
    for (; at < s->end && q->size <= TABLE_MAX_FIELD; at++) {
        uint8_t c = s->bytes[at];
        if (c == '"') {
            if (at + 1 == s->end || s->bytes[at + 1] != '"') {
                break;
            }
            q->doubled = true;
            at++;
        }
        q->lines += c == '\n';
        q->size++;
    }
    q->close = at;
}

static size_t
count_lines(const uint8_t *text, size_t size)
{
    const uint8_t *end = text + size, *found = memchr(text, '\n', size);
    size_t lines = 0;
    for (; found != NULL; lines++) {
        found++;
        found = memchr(found, '\n', (size_t)(end - found));
    }
    return lines;
}

/* The same by memchr, where the closing quote is near enough. */
static void
find_close(const struct csv_scan *s, size_t open, struct quoted *q)
{
    size_t left = s->end - open;
    size_t most = left < TABLE_MAX_FIELD ? left : TABLE_MAX_FIELD;
    const uint8_t *text = s->bytes + open, *at = text;
    *q = (struct quoted){0};
    for (;;) {
        at = memchr(at, '"', most - (size_t)(at - text));
        if (at == NULL || (size_t)(at - text) + 1 >= most) {
            find_close_plain(s, open, q);
            return;
        }
        if (at[1] != '"') {
            break;
        }
        q->doubled = true;
        q->size--; /* two are one */
        at += 2;
    }
    q->size += (size_t)(at - text);
    q->close = open + (size_t)(at - text);
    q->lines = count_lines(text, (size_t)(at - text));
}

static enum sotto_status
fail_close(const struct csv_scan *s, size_t open)
{
    return host_fail(s->err, SOTTO_STATUS_INPUT, s->before + open,
                     "%s: the quote that opens on line %zu (field %zu) is "
                     "never closed: close it, and double a quote that "
                     "belongs to the text",
                     s->name, s->line, s->fields + 1);
}

static enum sotto_status
scan_quoted(struct csv_scan *s, size_t open, struct table_cell *cell)
{
    struct quoted q;
    if (s->plain) {
        find_close_plain(s, open + 1, &q);
    } else {
        find_close(s, open + 1, &q);
    }
    /* A last quote may be the first of two. */
    if (s->open && q.close + 1 >= s->end) {
        return run_out(s);
    }
    if (q.close == s->end) {
        return fail_close(s, open);
    }
    s->line += q.lines;
    enum sotto_status status = set_cell(s, cell, open + 1, q.size, true);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    cell->doubled = q.doubled;
    s->at = skip_blanks(s, q.close + 1);
    if (is_cut(s, s->at)) {
        return run_out(s);
    }
    if (!is_line_end(s, s->at) && s->bytes[s->at] != s->separator) {
        return fail_field(s, s->at,
                          "text after the closing quote: double a quote that "
                          "belongs to the text");
    }
    return SOTTO_STATUS_OK;
}

void
csv_scan_undouble(uint8_t *bytes, struct table_cell *cell)
{
    uint8_t *text = bytes + cell->start;
    for (size_t in = 0, out = 0; out < cell->size; in++, out++) {
        text[out] = text[in];
        in += text[in] == '"' ? 1 : 0;
    }
    cell->doubled = 0;
}

/* ---- Rows -------------------------------------------------------------- */

static inline enum sotto_status
scan_field(struct csv_scan *s)
{
    struct table_cell cell;
    size_t start = skip_blanks(s, s->at);
    enum sotto_status status = start < s->end && s->bytes[start] == '"'
                                   ? scan_quoted(s, start, &cell)
                                   : scan_plain(s, start, &cell);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (s->first && s->fields == TABLE_MAX_COLUMNS) {
        return fail_field(s, start, "more than 65536 columns");
    }

    /* Fields too many are only counted, for the message. */
    if (s->first || s->fields < s->columns) {
        if (s->count == s->cell_room) {
            return run_out(s);
        }
        s->cells[s->count++] = cell;
    }
    s->fields++;
    return SOTTO_STATUS_OK;
}

bool
csv_scan_blank(const struct csv_scan *s)
{
    const struct table_cell *last = &s->cells[s->count - 1];
    return s->fields == 1 && last->size == 0 && !last->quoted;
}

static enum sotto_status
scan_fields(struct csv_scan *s)
{
    for (;;) {
        enum sotto_status status = scan_field(s);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        if (s->at == s->end || s->bytes[s->at] != s->separator) {
            return SOTTO_STATUS_OK;
        }
        s->at++;
    }
}

static enum sotto_status
end_row(struct csv_scan *s)
{
    if (s->first) {
        s->columns = s->fields;
    }
    if (s->columns > 1 && csv_scan_blank(s)) {
        return csv_scan_fail_blank(s);
    }
    if (s->fields != s->columns) {
        return fail_count(s);
    }
    if (s->rows == s->row_room) {
        return run_out(s);
    }
    if (s->at < s->end) {
        s->at += s->bytes[s->at] == '\r' ? 2 : 1;
        s->line++;
    }
    s->lines[s->rows++] = (uint32_t)(s->row_line - s->line_base);
    return SOTTO_STATUS_OK;
}

enum sotto_status
csv_scan_row(struct csv_scan *s)
{
    s->row_at = s->at;
    s->row_line = s->line;
    s->row_count = s->count;
    s->fields = 0;
    enum sotto_status status = scan_fields(s);
    status = HOST_THEN(status, end_row(s));
    if (status != SOTTO_STATUS_OK && s->ran_out) {
        s->at = s->row_at;
        s->line = s->row_line;
        s->count = s->row_count;
    }
    return status;
}
