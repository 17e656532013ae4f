/*
 * device_table.c: a table from a device's own file, total on content.
 *
 *     first line --> columns, the person's place --> memory --> line after line
 *
 * The curator's reader (csv.c) stops at the first thing that is wrong. On a
 * device that would be a signal: there is a report for a record or there is
 * none, by what it holds. So here nothing but public facts is an error: which
 * columns the first line names, if the caller says that it is a header, and how
 * many lines there are. Whether it is one is never guessed.
 *
 * Invariant 4, for this file: the cells of a row are a function of its line
 * and of the public facts; no line changes another's cells. All memory is had
 * before a record is taken apart: the file's bytes, a copy of the first line,
 * and what lines and columns need; it is wiped before it is freed.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "host/wipe.h"
#include "table/device_line.h"
#include "table/device_people.h"
#include "table/gunzip.h"
#include "table/number_text.h"
#include "table/png_folder.h"

struct reader {
    const struct sotto_device_file *file;
    const char *name;
    uint8_t *bytes;
    size_t at, end; /* the next line; behind the last that is not blank */
    size_t line;    /* its number, from 1 */
    struct device_shape shape;
    struct sotto_table *table;
    struct sotto_device_odd odd;
    struct sotto_error *err;
};

static enum sotto_status
fail_memory(const struct reader *r)
{
    (void)host_fail_memory(r->err);
    return SOTTO_STATUS_MEMORY;
}

/* ---- Lines -------------------------------------------------------------- */

static bool
is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Takes the next line, up to `ret_end`, without its LF, nor the carriage
   returns and blanks before it, which at the end of a file are none either. */
static size_t
next_line(struct reader *r, size_t *ret_end)
{
    size_t start = r->at;
    const uint8_t *feed =
        r->at < r->end ? memchr(r->bytes + start, '\n', r->end - start) : NULL;
    size_t stop = feed != NULL ? (size_t)(feed - r->bytes) : r->end;
    r->at = feed != NULL ? stop + 1 : r->end;
    r->line++;
    while (stop > start && is_blank(r->bytes[stop - 1])) {
        stop--;
    }
    *ret_end = stop;
    return start;
}

/* Counts the lines that are left. */
static size_t
count_lines(const struct reader *r)
{
    size_t lines = r->at < r->end ? 1 : 0;
    for (size_t i = r->at; i < r->end; i++) {
        lines += r->bytes[i] == '\n' ? 1 : 0;
    }
    return lines;
}

/* Steps over a byte-order mark, and cuts off blank lines at the end. */
static void
trim_text(struct reader *r)
{
    static const uint8_t mark[3] = {0xef, 0xbb, 0xbf};
    if (r->end >= sizeof mark && memcmp(r->bytes, mark, sizeof mark) == 0) {
        r->at = sizeof mark;
    }
    while (r->end > r->at && is_blank(r->bytes[r->end - 1])) {
        r->end--;
    }
}

/* ---- The first line ----------------------------------------------------- */

/* The fields of a line, as names: a copy of the line, and cells in it. */
struct names {
    uint8_t *bytes;
    size_t size;
    struct table_cell *cells;
    size_t count;
};

static void
names_clear(struct names *names)
{
    host_wipe_free(names->bytes, names->size);
    free(names->cells);
}

/* Reads the first line and leaves it to be read again. */
static bool
names_read(const struct reader *r, struct names *names)
{
    struct reader look = *r;
    size_t end, start = next_line(&look, &end), most = 1, at = 0;
    for (size_t i = start; i < end; i++) {
        most += r->bytes[i] == ',' ? 1 : 0;
    }
    names->size = end - start;
    names->bytes = host_text_copy(r->bytes + start, names->size);
    names->cells = calloc(most, sizeof *names->cells);
    if (names->bytes == NULL || names->cells == NULL) {
        return false;
    }
    for (;; at++) {
        (void)device_line_field(names->bytes, &at, names->size,
                                &names->cells[names->count++]);
        if (at == names->size) {
            return true;
        }
    }
}

static bool
names_hold(const struct names *names, const char *name)
{
    size_t size = strlen(name);
    for (size_t i = 0; i < names->count; i++) {
        const struct table_cell *cell = &names->cells[i];
        if (cell->size == size &&
            memcmp(names->bytes + cell->start, name, size) == 0) {
            return true;
        }
    }
    return false;
}

/* The place of c1, c2, ... from 0; DEVICE_NOWHERE: the name is another one. */
static size_t
place_of(const char *name)
{
    size_t digits = name[0] == 'c' ? strspn(name + 1, "0123456789") : 0;
    bool made = digits > 0 && digits < 6 && name[1 + digits] == '\0';
    size_t place =
        made ? (size_t)strtoul(name + 1, NULL, 10) - 1 : DEVICE_NOWHERE;
    return place < TABLE_MAX_COLUMNS ? place : DEVICE_NOWHERE;
}

/* ---- Columns ------------------------------------------------------------ */

static enum sotto_status
fail_column(const struct reader *r, const char *column)
{
    return host_fail(
        r->err, SOTTO_STATUS_INPUT, 0, "'%s' has no column \"%.80s\": %s",
        r->name, column,
        r->file->header
            ? "let the first line name every column that is asked for, with "
              "commas between them, or say that it is a record (--no-header); "
              "or call the file .gz, .npy or .idx if it is one"
            : "without a header columns are c1, c2, ...");
}

/* Whether the file has a column of that name: in its header, or by a place. */
static bool
has_column(const struct reader *r, const struct names *first, const char *name)
{
    return r->file->header ? names_hold(first, name)
                           : place_of(name) != DEVICE_NOWHERE;
}

/* Names the first column that is lacking: the person's always, another if more
   are than may be elsewhere. */
static enum sotto_status
check_columns(const struct reader *r, const struct names *first)
{
    const struct sotto_device_file *file = r->file;
    const char *lacking = NULL;
    size_t count = 0;
    for (size_t i = 0; i < file->count; i++) {
        const char *name = file->names[i];
        bool person = file->person != NULL && strcmp(name, file->person) == 0;
        if (has_column(r, first, name)) {
            continue;
        }
        if (person) {
            return fail_column(r, name);
        }
        lacking = count++ == 0 ? name : lacking;
    }
    return count > file->elsewhere ? fail_column(r, lacking) : SOTTO_STATUS_OK;
}

/* Without a header a row is as wide as what is asked for. */
static size_t
count_columns(const struct sotto_device_file *file)
{
    size_t width = 0;
    for (size_t i = 0; i < file->count; i++) {
        size_t place = place_of(file->names[i]);
        width =
            place != DEVICE_NOWHERE && place + 1 > width ? place + 1 : width;
    }
    return width;
}

/* Names column i: as the header does, if that can be read; else by its place,
   or as labels are asked for. */
static bool
name_column(struct reader *r, const struct names *header, size_t i)
{
    struct table_column *column = &r->table->columns[i];
    table_column_texts(column);
    if (header != NULL && header->cells[i].size > 0) {
        column->named = true;
        return table_column_name(column, header->bytes + header->cells[i].start,
                                 header->cells[i].size);
    }
    if (r->file->person != NULL) {
        return table_column_number(column, i);
    }
    column->named = true;
    return table_column_name(column, r->file->names[0],
                             strlen(r->file->names[0]));
}

static enum sotto_status
fail_twin(const struct reader *r, size_t twin)
{
    const char *name = r->table->columns[twin].name;
    for (size_t i = 0; i < r->file->count; i++) {
        if (strcmp(r->file->names[i], name) == 0) {
            return host_fail(r->err, SOTTO_STATUS_INPUT, 0,
                             "'%s' has two columns \"%.80s\": rename one",
                             r->name, name);
        }
    }
    return host_fail(r->err, SOTTO_STATUS_INPUT, 0,
                     "'%s': column %zu has the name of one before it: rename "
                     "it",
                     r->name, twin + 1);
}

static enum sotto_status
name_columns(struct reader *r, const struct names *header)
{
    struct sotto_table *table = r->table;
    size_t twin = table->count;
    for (size_t i = 0; i < table->count; i++) {
        if (!name_column(r, header, i)) {
            return fail_memory(r);
        }
    }
    enum sotto_status status =
        table_find_twin(table->columns, table->count, &twin, r->err);
    return status == SOTTO_STATUS_OK && twin < table->count ? fail_twin(r, twin)
                                                            : status;
}

/*
 * Finds the person's column, which is the first or, with a header, the last:
 * there nothing that a record holds moves the name (device_line.h). Between two
 * others a comma would, so that place is refused, whatever the lines hold.
 */
static enum sotto_status
place_person(struct reader *r)
{
    size_t width = r->shape.width;
    r->shape.person = r->file->person != NULL
                          ? sotto_table_find(r->table, r->file->person)
                          : DEVICE_NOWHERE;
    return r->file->person == NULL || r->shape.person == 0 ||
                   (r->shape.exact && r->shape.person + 1 == width)
               ? SOTTO_STATUS_OK
               : host_fail(r->err, SOTTO_STATUS_INPUT, 0,
                           "'%s': the person's column \"%.80s\" is column "
                           "%zu, where a comma in another field would move "
                           "the name: put it first%s",
                           r->name, r->file->person, r->shape.person + 1,
                           r->shape.exact ? ", or last" : "");
}

/* ---- Rows --------------------------------------------------------------- */

/* All that the rows need: as much as lines and columns say, and no more. */
static enum sotto_status
make_rows(struct reader *r, size_t rows)
{
    struct sotto_table *table = r->table;
    struct table_block *block = table->columns[0].block;
    bool made = rows < SIZE_MAX / sizeof *block->cells / (r->shape.width + 1);
    table->rows = rows;
    block->stride = r->shape.width;
    block->count = made ? rows * r->shape.width : 0;
    block->cells = made ? calloc(block->count + 1, sizeof *block->cells) : NULL;
    block->lines = calloc(rows + 1, sizeof *block->lines);
    made = block->cells != NULL && block->lines != NULL;
    block->count = made ? block->count : 0;
    for (size_t i = 0; i < table->count && made; i++) {
        table->columns[i].numbers = calloc(rows + 1, sizeof(double));
        made = table->columns[i].numbers != NULL;
    }
    return made ? SOTTO_STATUS_OK : fail_memory(r);
}

static void
take_row(struct reader *r, size_t row)
{
    struct table_block *block = r->table->columns[0].block;
    struct table_cell *cells = block->cells + row * r->shape.width;
    block->lines[row] = (uint32_t)r->line;
    size_t end, start = next_line(r, &end);
    if (!device_line_split(r->bytes, start, end, &r->shape, cells)) {
        r->odd.first = r->odd.lines++ == 0 ? block->lines[row] : r->odd.first;
    }
    for (size_t i = 0; i < r->shape.width; i++) {
        double *number = &r->table->columns[i].numbers[row];
        cells[i].number =
            !cells[i].missing &&
            number_text_parse(r->bytes + cells[i].start, cells[i].size, number);
    }
}

static void
take_rows(struct reader *r)
{
    size_t row = 0;
    for (; row < r->table->rows && r->at < r->end; row++) {
        take_row(r, row);
    }
    r->odd.extra = count_lines(r);
    for (; row < r->table->rows; row++) {
        for (size_t i = 0; i < r->shape.width; i++) {
            r->table->columns[0]
                .block->cells[row * r->shape.width + i]
                .missing = 1;
        }
    }
}

/* ---- All of it ---------------------------------------------------------- */

/* A table with its columns, from what the first line says or is asked for. */
static enum sotto_status
make_columns(struct reader *r, const struct names *first)
{
    bool labels = r->file->person == NULL, header = r->file->header;
    r->shape.exact = header || labels;
    r->shape.width = labels   ? 1
                     : header ? first->count
                              : count_columns(r->file);
    if (labels && header && first->count != 1) {
        return host_fail(r->err, SOTTO_STATUS_INPUT, 0,
                         "'%s' has %zu columns: a file of labels has one",
                         r->name, first->count);
    }
    enum sotto_status status =
        labels && !header ? SOTTO_STATUS_OK : check_columns(r, first);
    if (status == SOTTO_STATUS_OK && r->shape.width > TABLE_MAX_COLUMNS) {
        status = host_fail(r->err, SOTTO_STATUS_LIMIT, 0,
                           "'%s' has more than %zu columns", r->name,
                           TABLE_MAX_COLUMNS);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    r->table = table_new(NULL, r->shape.width);
    if (r->table == NULL) {
        return fail_memory(r);
    }
    status = name_columns(r, header ? first : NULL);
    return HOST_THEN(status, place_person(r));
}

/* Labels have as many rows as there are records; a list of people needs one
   more than there are lines, which stays missing, for whom it does not find. */
static size_t
count_rows(const struct reader *r)
{
    return r->file->person == NULL
               ? r->file->rows
               : count_lines(r) + (r->file->people != NULL ? 1 : 0);
}

static enum sotto_status
read_rows(struct reader *r)
{
    const struct sotto_device_file *file = r->file;
    struct names first = {0};
    size_t end;
    trim_text(r);
    if (r->at == r->end && file->person != NULL &&
        (file->header || file->people == NULL)) {
        (void)host_fail(r->err, SOTTO_STATUS_INPUT, 0,
                        "'%s' is empty: let its first line name the columns",
                        r->name);
        return SOTTO_STATUS_INPUT;
    }
    enum sotto_status status = !file->header || names_read(r, &first)
                                   ? SOTTO_STATUS_OK
                                   : fail_memory(r);
    status = HOST_THEN(status, make_columns(r, &first));
    names_clear(&first);
    if (status == SOTTO_STATUS_OK && file->header) {
        (void)next_line(r, &end);
    }
    status = HOST_THEN(status, make_rows(r, count_rows(r)));
    if (status == SOTTO_STATUS_OK) {
        take_rows(r);
    }
    return status;
}

/* Takes the rows of those on the list, if there is one. */
static enum sotto_status
select_people(struct reader *r)
{
    struct sotto_table *selected = NULL;
    if (r->file->person == NULL || r->file->people == NULL) {
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status = device_people_select(
        r->table, r->shape.person, r->file->people, &selected, &r->odd, r->err);
    if (status == SOTTO_STATUS_OK) {
        sotto_table_free(r->table);
        r->table = selected;
    }
    return status;
}

/* Consumes `bytes`, on failure too. */
static enum sotto_status
parse_owned(uint8_t *bytes, size_t size, const char *name,
            const struct sotto_device_file *file,
            struct sotto_table **ret_table, struct sotto_device_odd *ret_odd,
            struct sotto_error *err)
{
    struct reader r = {.file = file,
                       .name = host_shown(name),
                       .bytes = bytes,
                       .end = size,
                       .line = 1,
                       .err = err};
    enum sotto_status status = read_rows(&r);
    if (status == SOTTO_STATUS_OK) {
        r.table->columns[0].block->bytes = bytes;
        r.table->columns[0].block->size = size;
        status = select_people(&r);
    } else {
        host_wipe_free(bytes, size);
    }
    if (status != SOTTO_STATUS_OK) {
        sotto_table_free(r.table);
        return status;
    }
    *ret_table = r.table;
    if (ret_odd != NULL) {
        *ret_odd = r.odd;
    }
    return status;
}

enum sotto_status
sotto_device_table_parse(const void *data, size_t size, const char *name,
                         const struct sotto_device_file *file,
                         struct sotto_table **ret_table,
                         struct sotto_device_odd *ret_odd,
                         struct sotto_error *err)
{
    if (file->count == 0 || size > TABLE_MAX_BYTES) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "no column is asked for, or too many bytes given");
    }
    uint8_t *bytes = host_text_copy(data, size);
    return bytes != NULL
               ? parse_owned(bytes, size, name, file, ret_table, ret_odd, err)
               : host_fail_memory(err);
}

/* ---- Files -------------------------------------------------------------- */

static bool
ends_in(const char *path, size_t size, const char *ending)
{
    size_t length = strlen(ending);
    return size >= length && memcmp(path + size - length, ending, length) == 0;
}

/* Whether a file's name says that it is no text. */
static bool
is_array(const char *path)
{
    size_t size = strlen(path);
    size -= ends_in(path, size, ".gz") ? 3 : 0;
    return ends_in(path, size, ".npy") || ends_in(path, size, ".idx") ||
           ends_in(path, size, "-ubyte");
}

static enum sotto_status
unpack(uint8_t **bytes, size_t *size, const char *path, struct sotto_error *err)
{
    uint8_t *plain = NULL;
    size_t plain_size = 0;
    enum sotto_status status = gunzip_bytes(*bytes, *size, TABLE_MAX_BYTES,
                                            path, &plain, &plain_size, err);
    host_wipe_free(*bytes, *size);
    *bytes = plain;
    *size = plain_size;
    return status;
}

/* Reads what its name says is an array. Text is none, and has lines. */
static enum sotto_status
read_array(const char *path, struct sotto_table **ret_table,
           struct sotto_error *err)
{
    struct sotto_table *table = NULL;
    enum sotto_status status = sotto_table_read(path, NULL, &table, err);
    if (status == SOTTO_STATUS_OK && sotto_table_line(table, 0) > 0) {
        sotto_table_free(table);
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "'%s' is text: give it another name",
                         host_shown(path));
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_table = table;
    }
    return status;
}

enum sotto_status
sotto_device_table_read(const char *path, const struct sotto_device_file *file,
                        struct sotto_table **ret_table,
                        struct sotto_device_odd *ret_odd,
                        struct sotto_error *err)
{
    struct stat about;
    uint8_t *bytes = NULL;
    size_t size = 0;
    bool folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    if (file->count == 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0, "no column is asked for");
    }
    if (ret_odd != NULL) {
        *ret_odd = (struct sotto_device_odd){0};
    }
    if (file->people != NULL && (folder || is_array(path))) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "'%s' is no text: a list of people is for a file "
                         "whose lines name them",
                         host_shown(path));
    }
    if (folder) {
        return host_about(png_folder_read(path,
                                          file->samples > 0 ? file->samples : 1,
                                          ret_table, err),
                          err, SOTTO_ABOUT_FILE, path);
    }
    if (is_array(path)) {
        return host_about(read_array(path, ret_table, err), err,
                          SOTTO_ABOUT_FILE, path);
    }
    enum sotto_status status =
        host_file_read(path, TABLE_MAX_BYTES, &bytes, &size, err);
    if (status == SOTTO_STATUS_OK && ends_in(path, strlen(path), ".gz")) {
        status = unpack(&bytes, &size, host_shown(path), err);
    }
    return host_about(HOST_THEN(status, parse_owned(bytes, size, path, file,
                                                    ret_table, ret_odd, err)),
                      err, SOTTO_ABOUT_FILE, path);
}
