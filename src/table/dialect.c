/*
 * dialect.c: files with other separators than commas, with decimal commas, in
 * Latin-1, as plain CSV.
 *
 *     bytes --Latin-1--> UTF-8 --separator, decimal--> plain CSV --> csv.c
 *
 * csv.c knows one dialect. Whatever else a curator has is rewritten into it,
 * field by field; records keep their lines, so that messages name them right.
 */
#include "table/dialect.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"

#define RECORDS_SEPARATOR 50u /* that decide on the separator */
#define RECORDS_DECIMAL 1000u /* and on the point */
#define GROUP 3u              /* digits that may be thousands */

static const char separators[] = {',', ';', '\t', '|'};
#define SEPARATORS sizeof separators

/* Steps over a byte-order mark. */
static const uint8_t *
skip_mark(const uint8_t *at, const uint8_t *end)
{
    static const uint8_t mark[3] = {0xef, 0xbb, 0xbf};
    return (size_t)(end - at) >= sizeof mark &&
                   memcmp(at, mark, sizeof mark) == 0
               ? at + sizeof mark
               : at;
}

/* ---- Fields ------------------------------------------------------------- */

/* A field: from `start` to `end`, with its quotes and blanks. */
struct field {
    const uint8_t *start, *end;
    bool quoted; /* and closed: `text` lies between the quotes */
    const uint8_t *text, *stop;
    bool last; /* of its record */
};

static bool
is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static const uint8_t *
find_close(const uint8_t *at, const uint8_t *end)
{
    while (at < end && (*at != '"' || (at + 1 < end && at[1] == '"'))) {
        at += *at == '"' ? 2 : 1;
    }
    return at < end ? at : NULL;
}

/* Takes the field at *at, and leaves *at behind what ends it. */
static struct field
take_field(const uint8_t **at, const uint8_t *end, char separator)
{
    struct field field = {.start = *at};
    const uint8_t *from = *at, *close = NULL;
    while (from < end && is_blank(*from) && *from != (uint8_t)separator) {
        from++;
    }
    if (from < end && *from == '"') {
        close = find_close(from + 1, end);
        field.quoted = close != NULL;
    }
    field.text = field.quoted ? from + 1 : from;
    from = field.quoted ? close + 1 : from;
    while (from < end && *from != (uint8_t)separator && *from != '\n') {
        from++;
    }
    field.end = from;
    field.last = from == end || *from == '\n';
    if (field.last && from > field.start && from[-1] == '\r') {
        field.end--;
    }
    field.stop = field.quoted ? close : field.end;
    while (!field.quoted && field.stop > field.text &&
           is_blank(field.stop[-1])) {
        field.stop--;
    }
    *at = from < end ? from + 1 : end;
    return field;
}

/* ---- Numbers with a decimal comma ---------------------------------------- */

static size_t
count_digits(const uint8_t *at, const uint8_t *end)
{
    size_t count = 0;
    while (at + count < end && at[count] >= '0' && at[count] <= '9') {
        count++;
    }
    return count;
}

/* Steps over what may stand before or behind the digits: signs, currencies,
   percent, blanks; letters and other digits are not among them. */
static const uint8_t *
skip_signs(const uint8_t *at, const uint8_t *end)
{
    while (at < end && (*at >= 0x80 || strchr("+-$%() ", *at) != NULL)) {
        at++;
    }
    return at;
}

/*
 * Whether a text is a number whose fraction stands behind `mark`, with groups
 * of three digits parted by `group` before it. `ret_mark` is where the mark is,
 * or NULL; `ret_sure` says that the number can be read in no other way.
 */
static bool
is_number(const uint8_t *at, const uint8_t *end, uint8_t mark, uint8_t group,
          const uint8_t **ret_mark, bool *ret_sure)
{
    at = skip_signs(at, end);
    size_t digits = count_digits(at, end), first = digits;
    bool zero = at < end && *at == '0', grouped = false;
    *ret_mark = NULL;
    at += digits;
    while (digits > 0 && at < end && *at == group && first <= GROUP &&
           count_digits(at + 1, end) == GROUP) {
        at += GROUP + 1;
        grouped = true;
    }
    if (digits > 0 && at < end && *at == mark) {
        *ret_mark = at;
        digits = count_digits(at + 1, end);
        at += digits + 1;
    }
    *ret_sure = *ret_mark != NULL &&
                (digits != GROUP || first > GROUP || zero || grouped);
    return first > 0 && digits > 0 && skip_signs(at, end) == end;
}

/* ---- Guessing ------------------------------------------------------------ */

/* How often each separator stands in a record, outside quotes. */
struct counted {
    size_t of[SEPARATORS];
    bool between; /* every comma stands between two digits */
};

static bool
digit_at(const uint8_t *at, const uint8_t *start, const uint8_t *end)
{
    return at >= start && at < end && *at >= '0' && *at <= '9';
}

static const uint8_t *
count_record(const uint8_t *at, const uint8_t *end, struct counted *counted)
{
    const uint8_t *start = at;
    bool inside = false;
    for (; at < end && (inside || *at != '\n'); at++) {
        inside ^= *at == '"';
        for (size_t i = 0; i < SEPARATORS && !inside; i++) {
            counted->of[i] += *at == (uint8_t)separators[i];
        }
        if (*at == ',' && !inside) {
            counted->between &=
                digit_at(at - 1, start, end) && digit_at(at + 1, start, end);
        }
    }
    return at < end ? at + 1 : end;
}

static char
guess_separator(const uint8_t *at, const uint8_t *end)
{
    struct counted first = {.between = true};
    bool same[SEPARATORS], between;
    at = count_record(at, end, &first);
    between = first.between;
    for (size_t i = 0; i < SEPARATORS; i++) {
        same[i] = first.of[i] > 0;
    }
    for (size_t n = 1; n < RECORDS_SEPARATOR && at < end; n++) {
        struct counted next = {.between = true};
        at = count_record(at, end, &next);
        between = between && next.between;
        for (size_t i = 0; i < SEPARATORS; i++) {
            same[i] = same[i] && next.of[i] == first.of[i];
        }
    }
    for (size_t i = same[0] && same[1] && between ? 1 : 0; i < SEPARATORS;
         i++) {
        if (same[i]) {
            return separators[i];
        }
    }
    return separators[0];
}

static char
guess_decimal(const uint8_t *at, const uint8_t *end, char separator)
{
    size_t commas = 0, points = 0;
    for (size_t n = 0; n < RECORDS_DECIMAL && at < end;) {
        struct field field = take_field(&at, end, separator);
        const uint8_t *mark;
        bool sure;
        commas +=
            is_number(field.text, field.stop, ',', '.', &mark, &sure) && sure;
        points +=
            is_number(field.text, field.stop, '.', ',', &mark, &sure) && sure;
        n += field.last ? 1 : 0;
    }
    return commas > points ? ',' : '.';
}

void
dialect_guess(const uint8_t *bytes, size_t size,
              struct sotto_table_reading *reading)
{
    const uint8_t *end = bytes + size;
    while (end > bytes && (end[-1] == '\n' || end[-1] == '\r')) {
        end--;
    }
    bytes = skip_mark(bytes, end);
    if (reading->separator == 0) {
        reading->separator = guess_separator(bytes, end);
    }
    if (reading->decimal == 0 && reading->separator != ',') {
        reading->decimal = guess_decimal(bytes, end, reading->separator);
    }
    if (reading->decimal == 0) {
        reading->decimal = '.';
    }
}

/* ---- Translating --------------------------------------------------------- */

static uint8_t *
put(uint8_t *out, const uint8_t *from, const uint8_t *to)
{
    size_t size = (size_t)(to - from);
    if (size > 0) {
        memcpy(out, from, size);
    }
    return out + size;
}

/* Writes a number without its groups, and with a point. */
static uint8_t *
put_number(uint8_t *out, const uint8_t *at, const uint8_t *end)
{
    for (; at < end; at++) {
        if (*at != '.') {
            *out++ = *at == ',' ? '.' : *at;
        }
    }
    return out;
}

static uint8_t *
put_quoted(uint8_t *out, const uint8_t *at, const uint8_t *end)
{
    *out++ = '"';
    for (; at < end; at++) {
        if (*at == '"') {
            *out++ = '"';
        }
        *out++ = *at;
    }
    *out++ = '"';
    return out;
}

static uint8_t *
put_field(uint8_t *out, const struct field *field, char decimal)
{
    const uint8_t *at = field->text, *end = field->stop, *mark;
    size_t size = (size_t)(end - at);
    bool sure;
    if (decimal == ',' && is_number(at, end, ',', '.', &mark, &sure)) {
        return put_number(out, at, end);
    }
    /* One that is open to the end of the file is csv.c's to complain about. */
    bool needs = !field->quoted && size > 0 && *at != '"' &&
                 (memchr(at, ',', size) != NULL);
    return needs ? put_quoted(out, at, end)
                 : put(out, field->start, field->end);
}

static size_t
rewrite(const uint8_t *at, size_t size, const struct sotto_table_reading *as,
        uint8_t *out)
{
    const uint8_t *end = at + size, *from = at;
    uint8_t *start = out;
    at = skip_mark(at, end);
    out = put(out, from, at);
    while (at < end) {
        struct field field = take_field(&at, end, as->separator);
        out = put_field(out, &field, as->decimal);
        if (field.last) {
            out = put(out, field.end, at);
        } else {
            *out++ = ',';
        }
    }
    return (size_t)(out - start);
}

/* UTF-8 of bytes 0x80 to 0x9f in Windows-1252; those without a meaning there
   are what they are in Latin-1. */
static unsigned
letter_of(uint8_t byte)
{
    static const uint16_t high[32] = {
        0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021,
        0x2c6,  0x2030, 0x160,  0x2039, 0x152,  0x8d,   0x17d,  0x8f,
        0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
        0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};
    return byte >= 0x80 && byte < 0xa0 ? high[byte - 0x80] : byte;
}

static size_t
decode_latin1(const uint8_t *at, size_t size, uint8_t *out)
{
    uint8_t *start = out;
    for (const uint8_t *end = at + size; at < end; at++) {
        unsigned letter = letter_of(*at);
        if (letter < 0x80) {
            *out++ = (uint8_t)letter;
        } else if (letter < 0x800) {
            *out++ = (uint8_t)(0xc0 | letter >> 6);
            *out++ = (uint8_t)(0x80 | (letter & 0x3f));
        } else {
            *out++ = (uint8_t)(0xe0 | letter >> 12);
            *out++ = (uint8_t)(0x80 | (letter >> 6 & 0x3f));
            *out++ = (uint8_t)(0x80 | (letter & 0x3f));
        }
    }
    return (size_t)(out - start);
}

/* Puts what `made` holds in place of *bytes. */
static enum sotto_status
replace(uint8_t **bytes, size_t *size, uint8_t *made, size_t made_size,
        const char *name, struct sotto_error *err)
{
    if (made_size > TABLE_MAX_BYTES) {
        host_wipe_free(made, made_size);
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "%s: has more than %zu bytes as plain CSV, the most "
                         "that is read: split it",
                         name, TABLE_MAX_BYTES);
    }
    uint8_t *fitted = realloc(made, made_size + 1);
    host_wipe_free(*bytes, *size);
    *bytes = fitted != NULL ? fitted : made;
    *size = made_size;
    return SOTTO_STATUS_OK;
}

enum sotto_status
dialect_translate(uint8_t **bytes, size_t *size,
                  const struct sotto_table_reading *reading, const char *name,
                  struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    if (reading->latin1) {
        uint8_t *made = malloc(3 * *size + 1);
        status = made != NULL
                     ? replace(bytes, size, made,
                               decode_latin1(*bytes, *size, made), name, err)
                     : host_fail_memory(err);
    }
    if (status == SOTTO_STATUS_OK &&
        (reading->separator != ',' || reading->decimal != '.')) {
        /* A field of n bytes and what ends it become 2 n + 3 at most. */
        uint8_t *made = malloc(3 * *size + 3);
        status = made != NULL
                     ? replace(bytes, size, made,
                               rewrite(*bytes, *size, reading, made), name, err)
                     : host_fail_memory(err);
    }
    return status;
}
