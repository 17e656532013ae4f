/*
 * table_stream.c: a file of any size as tables of so many rows each.
 *
 *     file --> window: [ handed out | rows of the next table | the rest ]
 *
 * The window is what of the file is in memory: it grows until it holds the rows
 * of a table, becomes that table's bytes, and the rest begins the next window.
 * Nothing in it is written to before all rows of a table are found, so a window
 * that turns out to be too short is looked at again with more in it.
 *
 * A window that is not the file's last ends behind a line feed (`limit`): the
 * text is then cut in no letter of UTF-8. Blank lines at its end are held back:
 * nobody knows whether they are the file's last.
 */
#include "table/table_stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/error.h"
#include "host/pool.h"
#include "host/text.h"
#include "host/wipe.h"
#include "table/byte_source.h"
#include "table/csv_head.h"
#include "table/csv_parts.h"
#include "table/csv_types.h"
#include "table/dialect.h"
#include "table/idx.h"
#include "table/npy.h"
#include "table/table_read.h"

#define WINDOW_FIRST ((size_t)1 << 20)
#define GUESS_LINES 2000u            /* a dialect is guessed from 1,000 */
#define GUESS_MOST ((size_t)1 << 26) /* or from so many bytes */

struct sotto_table_stream {
    struct byte_source *source;
    char *path;
    const char *name; /* in messages */
    struct sotto_table_options options;
    struct sotto_table_reading reading;
    size_t rows; /* of a table */
    struct host_pool *pool;

    size_t window;  /* bytes to read at first */
    uint8_t *bytes; /* the window */
    size_t size, room;
    size_t at;     /* where the next row begins */
    size_t before; /* bytes of the file before the window */
    size_t line;   /* of `at`, from 1 */
    size_t given;  /* rows handed out */
    bool last;     /* the file ends with the window */
    bool ended;    /* or with what was handed out */
    size_t usual;  /* bytes that a table took */

    struct sotto_table *head; /* names of the columns; NULL: not known yet */
    struct sotto_table
        *whole; /* a file that was read whole, until it is given */
};

/* ---- The window ---------------------------------------------------------- */

static enum sotto_status
fail_limit(const struct sotto_table_stream *stream, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_LIMIT, stream->before + stream->at,
                     "%s: line %zu begins %zu rows of more than %zu bytes, the "
                     "most that is read at a time: is a quote not closed?",
                     stream->name, stream->line, stream->rows, TABLE_MAX_BYTES);
}

/* Fills the window up to `wanted` bytes, or to the file's end. */
static enum sotto_status
fill_window(struct sotto_table_stream *stream, size_t wanted,
            struct sotto_error *err)
{
    size_t got = 0;
    wanted = wanted < TABLE_MAX_BYTES ? wanted : TABLE_MAX_BYTES;
    if (wanted <= stream->size || stream->last) {
        return stream->last ? SOTTO_STATUS_OK : fail_limit(stream, err);
    }
    if (wanted > stream->room) {
        uint8_t *bytes = host_wipe_resize(stream->bytes, stream->size, wanted);
        if (bytes == NULL) {
            return host_fail_memory(err);
        }
        stream->bytes = bytes;
        stream->room = wanted;
    }
    enum sotto_status status =
        byte_source_read(stream->source, stream->bytes + stream->size,
                         wanted - stream->size, &got, err);
    stream->last = stream->size + got < wanted;
    stream->size += got;
    return status;
}

static enum sotto_status
grow_window(struct sotto_table_stream *stream, struct sotto_error *err)
{
    size_t wanted = 2 * stream->size;
    return fill_window(stream,
                       wanted > stream->window ? wanted : stream->window, err);
}

/* The end of the text that may be looked at: all of it, or behind the last line
   feed. */
static size_t
window_limit(const struct sotto_table_stream *stream)
{
    size_t limit = stream->size;
    while (!stream->last && limit > 0 && stream->bytes[limit - 1] != '\n') {
        limit--;
    }
    return limit;
}

/* Leaves out blank lines at the end of a window that is not the last, but for
   the line feed that ends the row before them. */
static void
hold_back(struct csv_scan *s)
{
    size_t limit = s->end, at;
    csv_head_trim(s);
    at = s->end;
    while (at < limit && csv_scan_is_blank(s, s->bytes[at])) {
        at++;
    }
    at += at < limit && s->bytes[at] == '\r' ? 1 : 0;
    if (at < limit && s->bytes[at] == '\n' && s->end > s->at) {
        s->end = at + 1;
    }
}

/* Makes ready to scan the window from `at` on. */
static void
start_scan(const struct sotto_table_stream *stream, size_t limit,
           struct csv_scan *s, struct sotto_error *err)
{
    *s = (struct csv_scan){.name = stream->name,
                           .bytes = stream->bytes,
                           .end = limit,
                           .before = stream->before,
                           .line = stream->line,
                           .line_base = stream->line - 1,
                           .rows_before = stream->given,
                           .separator = (uint8_t)stream->reading.separator,
                           .open = !stream->last,
                           .columns =
                               stream->head != NULL ? stream->head->count : 0,
                           .err = err};
    csv_scan_start(s, stream->at);
    if (stream->before == 0 && stream->at == 0) {
        csv_head_skip_mark(s);
    }
    if (stream->last) {
        csv_head_trim(s);
    } else {
        hold_back(s);
    }
}

/* Room for the cells and lines of the window. */
static enum sotto_status
make_room(struct csv_scan *s, const struct csv_parts *parts,
          struct table_block *block)
{
    block->cells = malloc(parts->cells * sizeof *block->cells);
    block->lines = malloc(parts->rows * sizeof *block->lines);
    s->cells = block->cells;
    s->cell_room = parts->cells;
    s->lines = block->lines;
    s->row_room = parts->rows;
    return block->cells != NULL && block->lines != NULL
               ? SOTTO_STATUS_OK
               : host_fail_memory(s->err);
}

/* ---- The first row ------------------------------------------------------- */

/* Reads the names from a copy of the first row, since names are written to. */
static enum sotto_status
copy_head(struct sotto_table_stream *stream, struct csv_scan *s,
          struct table_block *block, struct sotto_table **ret_head)
{
    uint8_t *copy = host_text_copy(stream->bytes, s->end);
    if (copy == NULL) {
        return host_fail_memory(s->err);
    }
    s->bytes = copy;
    enum sotto_status status =
        csv_head_start(s, copy, stream->options.header, block, ret_head);
    host_wipe_free(copy, s->end);
    return status;
}

/* What the window's first row says the columns are. `ret_more`: it is not all
   there. */
static enum sotto_status
find_head(struct sotto_table_stream *stream, const struct csv_parts *parts,
          bool *ret_more, struct sotto_error *err)
{
    struct csv_scan s;
    struct sotto_table *head = NULL;
    struct table_block *block = table_block_new();
    if (block == NULL) {
        return host_fail_memory(err);
    }
    start_scan(stream, parts->size, &s, err);
    enum sotto_status status = s.at == s.end && stream->last
                                   ? csv_head_fail_empty(&s)
                                   : make_room(&s, parts, block);
    status = HOST_THEN(status, copy_head(stream, &s, block, &head));
    *ret_more = s.ran_out;
    if (status == SOTTO_STATUS_OK) {
        stream->head = head;
        stream->at = s.rows == 0 ? s.at : stream->at;
        stream->line = s.rows == 0 ? s.line : stream->line;
    } else if (head != NULL) {
        sotto_table_free(head);
    } else {
        table_block_free(block);
    }
    return s.ran_out ? SOTTO_STATUS_OK : status;
}

/* ---- A table ------------------------------------------------------------- */

/* Scans as many rows as a table has. `ret_more`: they are not all there. */
static enum sotto_status
scan_rows(const struct sotto_table_stream *stream, struct csv_parts *parts,
          struct csv_scan *s, bool *ret_more)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    while (status == SOTTO_STATUS_OK && s->rows < stream->rows &&
           s->at < s->end) {
        size_t stop = csv_parts_skip(parts, s->at, stream->rows - s->rows);
        status = csv_parts_scan(parts, s, stop < s->end ? stop : s->end);
    }
    *ret_more = s->ran_out || (status == SOTTO_STATUS_OK && !stream->last &&
                               s->rows < stream->rows);
    return s->ran_out ? SOTTO_STATUS_OK : status;
}

/* Copies the rest of the window, which begins at `at`, to a new one. */
static uint8_t *
copy_rest(const struct sotto_table_stream *stream, size_t at, size_t room)
{
    uint8_t *rest = malloc(room);
    if (rest != NULL) {
        memcpy(rest, stream->bytes + at, stream->size - at);
    }
    return rest;
}

/* Moves the window on; what it held belongs to the block. */
static bool
move_window(struct sotto_table_stream *stream, const struct csv_scan *s,
            struct table_block *block)
{
    size_t used = s->at, left = stream->size - used;
    size_t usual = used + used / 16 + stream->window / 4;
    size_t room = left > usual ? left : usual;
    uint8_t *rest = copy_rest(stream, used, room);
    if (rest == NULL) {
        return false;
    }
    block->bytes = stream->bytes;
    block->size = stream->size;
    stream->bytes = rest;
    stream->size = left;
    stream->room = room;
    stream->usual = usual;
    stream->at = 0;
    stream->before += used;
    stream->line = s->line;
    stream->given += s->rows;
    return true;
}

/* Every column a CATEGORY, named as the head's; an index is left out. */
static enum sotto_status
name_columns(const struct sotto_table_stream *stream, struct sotto_table *table,
             struct sotto_error *err)
{
    const struct sotto_table *head = stream->head;
    for (size_t i = 0; i < head->count; i++) {
        const char *name = head->columns[i].name;
        table->columns[i].named = head->columns[i].named;
        table_column_texts(&table->columns[i]);
        if (!table_column_name(&table->columns[i], name, strlen(name))) {
            return host_fail_memory(err);
        }
    }
    table->reading = stream->reading;
    table->reading.indexed = table_read_indexed(table);
    return table->reading.indexed ? sotto_table_drop(table, 0, err)
                                  : SOTTO_STATUS_OK;
}

/* Makes the table of the rows that were scanned. */
static enum sotto_status
make_table(struct sotto_table_stream *stream, const struct csv_scan *s,
           struct table_block *block, struct sotto_table **ret_table)
{
    struct sotto_table *table = table_new(block, s->columns);
    if (table == NULL) {
        table_block_free(block);
        (void)host_fail_memory(s->err);
        return SOTTO_STATUS_MEMORY;
    }
    block->stride = s->columns;
    block->count = s->count;
    block->line_base = s->line_base;
    table->rows = s->rows;
    enum sotto_status status = move_window(stream, s, block)
                                   ? SOTTO_STATUS_OK
                                   : host_fail_memory(s->err);
    status = HOST_THEN(
        status, csv_types_set(table, block->bytes, stream->pool, s->err));
    status = HOST_THEN(status, name_columns(stream, table, s->err));
    if (status == SOTTO_STATUS_OK) {
        *ret_table = table;
    } else {
        sotto_table_free(table);
    }
    return status;
}

/* The window's rows as a table; `ret_more`: they are not all there. */
static enum sotto_status
take_rows(struct sotto_table_stream *stream, struct csv_parts *parts,
          bool *ret_more, struct sotto_table **ret_table,
          struct sotto_error *err)
{
    struct csv_scan s;
    struct table_block *block;
    start_scan(stream, parts->size, &s, err);
    *ret_more = !stream->last && parts->rows <= stream->rows;
    if (*ret_more) {
        return SOTTO_STATUS_OK;
    }
    if (s.at == s.end && stream->last) {
        stream->ended = true;
        s.at = 0; /* the position is where the header ends */
        csv_head_trim(&s);
        return stream->given == 0 ? csv_head_fail_rows(&s) : SOTTO_STATUS_OK;
    }
    block = table_block_new();
    if (block == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status = make_room(&s, parts, block);
    status = HOST_THEN(status, scan_rows(stream, parts, &s, ret_more));
    if (status != SOTTO_STATUS_OK || *ret_more) {
        table_block_free(block);
        return status;
    }
    return make_table(stream, &s, block, ret_table);
}

/* Looks at the window: the first row, if it is not known yet, and the rows of a
   table. */
static enum sotto_status
look_at_window(struct sotto_table_stream *stream, bool *ret_more,
               struct sotto_table **ret_table, struct sotto_error *err)
{
    struct csv_parts parts;
    struct csv_scan s;
    size_t limit = window_limit(stream);
    *ret_more = limit == 0 && !stream->last;
    if (*ret_more) {
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status = csv_parts_init(
        &parts, stream->bytes, limit, (uint8_t)stream->reading.separator,
        stream->window / 4, stream->pool, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    start_scan(stream, limit, &s, err);
    status = csv_head_check(&s, &parts);
    if (stream->head == NULL) {
        status = HOST_THEN(status, find_head(stream, &parts, ret_more, err));
    }
    if (!*ret_more) {
        status = HOST_THEN(status,
                           take_rows(stream, &parts, ret_more, ret_table, err));
    }
    csv_parts_clear(&parts);
    return status;
}

static enum sotto_status
next_table(struct sotto_table_stream *stream, struct sotto_table **ret_table,
           struct sotto_error *err)
{
    bool more = false;
    enum sotto_status status = stream->usual > stream->size
                                   ? fill_window(stream, stream->usual, err)
                                   : SOTTO_STATUS_OK;
    status = HOST_THEN(status, look_at_window(stream, &more, ret_table, err));
    while (status == SOTTO_STATUS_OK && more) {
        status = grow_window(stream, err);
        status =
            HOST_THEN(status, look_at_window(stream, &more, ret_table, err));
    }
    return status;
}

/* ---- Files that are read whole ------------------------------------------- */

/* Reads all that follows, as sotto_table_read does; columns of a CSV file are
   categories, as they are where it is read bit by bit. */
static enum sotto_status
read_whole(struct sotto_table_stream *stream, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    while (status == SOTTO_STATUS_OK && !stream->last) {
        status = grow_window(stream, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    uint8_t *bytes = stream->bytes;
    stream->bytes = NULL;
    status = table_read_owned(bytes, stream->size, stream->name,
                              &stream->options, &stream->whole, err);
    if (status == SOTTO_STATUS_OK && sotto_table_line(stream->whole, 0) > 0) {
        for (size_t i = 0; i < stream->whole->count; i++) {
            table_column_texts(&stream->whole->columns[i]);
        }
    }
    return status;
}

/* Hands out some rows of it. */
static enum sotto_status
give_whole(struct sotto_table_stream *stream, struct sotto_table **ret_table,
           struct sotto_error *err)
{
    size_t all = sotto_table_rows(stream->whole), left = all - stream->given;
    size_t count = left < stream->rows ? left : stream->rows;
    size_t *rows = calloc(count + 1, sizeof *rows);
    if (rows == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        rows[i] = stream->given + i;
    }
    enum sotto_status status =
        sotto_table_select(stream->whole, rows, count, ret_table, err);
    free(rows);
    if (status == SOTTO_STATUS_OK) {
        (*ret_table)->reading = stream->whole->reading;
    }
    stream->given += count;
    stream->ended = stream->given == all;
    return status;
}

/* ---- Opening and closing ------------------------------------------------- */

/* Whether the window holds enough records to guess a dialect from. */
static bool
can_guess(const struct sotto_table_stream *stream)
{
    struct csv_text text;
    csv_text_look(stream->bytes, stream->size, ',', &text);
    return (stream->reading.separator != 0 && stream->reading.decimal != 0) ||
           stream->last || text.breaks > GUESS_LINES ||
           stream->size > GUESS_MOST;
}

/* A pool of as many threads as are asked for, less the one that undoes gzip.
   Where there is none, one thread does it, too. */
static void
start_pool(struct sotto_table_stream *stream)
{
    unsigned threads = stream->options.threads;
    struct host_pool *pool = NULL;
    if (threads == 1 ||
        host_pool_new(threads, &pool, NULL) != SOTTO_STATUS_OK) {
        return;
    }
    threads = host_pool_threads(pool);
    if (threads > 1 && byte_source_packed(stream->source)) {
        host_pool_free(pool);
        pool = NULL;
        if (threads == 2 ||
            host_pool_new(threads - 1, &pool, NULL) != SOTTO_STATUS_OK) {
            return;
        }
    }
    stream->pool = pool;
}

/* Finds out what the file is, and reads it whole unless it can be read bit by
   bit: what is in Latin-1 or has decimal commas is rewritten first. */
static enum sotto_status
look_at_file(struct sotto_table_stream *stream, struct sotto_error *err)
{
    enum sotto_status status = fill_window(stream, stream->window, err);
    while (status == SOTTO_STATUS_OK && !can_guess(stream)) {
        status = grow_window(stream, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    dialect_guess(stream->bytes, window_limit(stream), &stream->reading);
    if (idx_detect(stream->bytes, stream->size) ||
        npy_detect(stream->bytes, stream->size) || stream->reading.latin1 ||
        stream->reading.decimal != '.') {
        return read_whole(stream, err);
    }
    start_pool(stream);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
open_stream(struct sotto_table_stream *stream, struct sotto_error *err)
{
    struct stat about;
    if (stat(stream->path, &about) == 0 && S_ISDIR(about.st_mode)) {
        return sotto_table_read(stream->path, &stream->options, &stream->whole,
                                err);
    }
    enum sotto_status status =
        byte_source_open(stream->path, &stream->source, err);
    return HOST_THEN(status, look_at_file(stream, err));
}

enum sotto_status
table_stream_open(const char *path, const struct sotto_table_options *options,
                  size_t rows, size_t window,
                  struct sotto_table_stream **ret_stream,
                  struct sotto_error *err)
{
    if (rows == 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0, "no rows are asked for");
    }
    struct sotto_table_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) {
        return host_fail_memory(err);
    }
    stream->options =
        options != NULL ? *options : (struct sotto_table_options){.header = -1};
    stream->reading = stream->options.reading;
    stream->reading.indexed = false;
    stream->rows = rows;
    stream->window = window;
    stream->line = 1;
    stream->path = host_text_copy(path, strlen(path));
    enum sotto_status status = host_fail_memory(NULL);
    if (stream->path != NULL) {
        stream->name = strcmp(path, "-") == 0 ? "standard input"
                                              : host_shown(stream->path);
        status =
            host_about(open_stream(stream, err), err, SOTTO_ABOUT_FILE, path);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_stream = stream;
    } else {
        sotto_table_stream_close(stream);
    }
    return status;
}

enum sotto_status
sotto_table_stream_open(const char *path,
                        const struct sotto_table_options *options, size_t rows,
                        struct sotto_table_stream **ret_stream,
                        struct sotto_error *err)
{
    return table_stream_open(path, options, rows, WINDOW_FIRST, ret_stream,
                             err);
}

enum sotto_status
sotto_table_stream_next(struct sotto_table_stream *stream,
                        struct sotto_table **ret_table, struct sotto_error *err)
{
    struct sotto_table *table = NULL;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (!stream->ended) {
        status = stream->whole != NULL ? give_whole(stream, &table, err)
                                       : next_table(stream, &table, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_table = table;
        return status;
    }
    stream->ended = true;
    return host_about(status, err, SOTTO_ABOUT_FILE, stream->path);
}

void
sotto_table_stream_close(struct sotto_table_stream *stream)
{
    if (stream == NULL) {
        return;
    }
    sotto_table_free(stream->head);
    sotto_table_free(stream->whole);
    host_wipe_free(stream->bytes, stream->size);
    byte_source_close(stream->source);
    host_pool_free(stream->pool);
    free(stream->path);
    free(stream);
}
