/*
 * report_blocks.c: files of reports, a piece at a time.
 *
 *     buffer   | what is read | room |      PIECE bytes, or the longest line
 *                  |
 *     binary:  as many reports as are whole, where they lie
 *     lines:   each that is whole, as a report of `made`
 *
 * What is not whole is moved to the front, and more is read behind it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/error.h"
#include "host/file.h"
#include "mechanism/report_json.h"
#include "mechanism/report_stream.h"

#define PIECE ((size_t)1 << 20)
#define MADE ((size_t)1024) /* reports of lines at a time */

struct blocks {
    const struct sotto_mechanism *mechanism;
    char **path;
    size_t paths, at; /* the file that is open, or comes next */
    int fd;           /* -1: none is open */
    bool lines;       /* it has */
    bool begun;       /* something of it was read, so that its form is known */
    bool ended;       /* all of it is in the buffer */
    size_t size;      /* bytes of it that were read so far */
    size_t report;    /* the next one of it, from 0 */
    size_t taken;     /* bytes of it in front of the buffer's first */
    uint8_t *buffer;
    size_t room, first, fill; /* unread: first to fill */
    uint8_t *made;            /* MADE reports, of lines */
    int64_t *values;
};

static const char *
get_name(const struct blocks *blocks)
{
    const char *path = blocks->path[blocks->at];
    return strcmp(path, "-") == 0 ? "/dev/stdin" : path;
}

static void
close_blocks(void *own)
{
    struct blocks *blocks = own;
    if (blocks == NULL) {
        return;
    }
    if (blocks->fd >= 0) {
        (void)close(blocks->fd);
    }
    for (size_t i = 0; blocks->path != NULL && i < blocks->paths; i++) {
        free(blocks->path[i]);
    }
    free(blocks->path);
    free(blocks->buffer);
    free(blocks->made);
    free(blocks->values);
    free(blocks);
}

static bool
reserve(struct blocks *blocks, const char *const *path, size_t paths)
{
    const struct sotto_mechanism *mechanism = blocks->mechanism;
    size_t each = mechanism->shape.report_size;
    size_t line = report_json_most(mechanism) + 2;
    bool good = true;
    blocks->room = 2 * (line > each ? line : each);
    blocks->room = blocks->room > PIECE ? blocks->room : PIECE;
    blocks->buffer = malloc(blocks->room);
    blocks->made = calloc(MADE, each);
    blocks->values =
        calloc(report_json_values(mechanism), sizeof *blocks->values);
    blocks->path = calloc(paths, sizeof *blocks->path);
    blocks->paths = blocks->path != NULL ? paths : 0;
    for (size_t i = 0; good && i < blocks->paths; i++) {
        blocks->path[i] = strdup(path[i]);
        good = blocks->path[i] != NULL;
    }
    return good && blocks->buffer != NULL && blocks->made != NULL &&
           blocks->values != NULL && blocks->path != NULL;
}

enum sotto_status
report_blocks_open(const struct sotto_mechanism *mechanism,
                   const char *const *path, size_t paths, void **ret_own,
                   struct sotto_error *err)
{
    struct blocks *blocks;
    size_t inputs = 0;
    for (size_t i = 0; i < paths; i++) {
        inputs += strcmp(path[i], "-") == 0 ? 1 : 0;
    }
    if (inputs > 1) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "standard input (-) can be read once only");
    }
    blocks = calloc(1, sizeof *blocks);
    if (blocks == NULL) {
        return host_fail_memory(err);
    }
    blocks->mechanism = mechanism;
    blocks->fd = -1;
    if (!reserve(blocks, path, paths)) {
        close_blocks(blocks);
        return host_fail_memory(err);
    }
    *ret_own = blocks;
    return SOTTO_STATUS_OK;
}

/* ---- Reading --------------------------------------------------------------
 */

static enum sotto_status
open_next(struct blocks *blocks, struct sotto_error *err)
{
    blocks->fd = host_file_open(get_name(blocks), O_RDONLY);
    if (blocks->fd < 0) {
        return host_file_fail_read(err, get_name(blocks), errno);
    }
    blocks->begun = blocks->ended = false;
    blocks->size = blocks->report = blocks->taken = 0;
    blocks->first = blocks->fill = 0;
    return SOTTO_STATUS_OK;
}

static void
close_file(struct blocks *blocks)
{
    if (blocks->fd >= 0) {
        (void)close(blocks->fd);
    }
    blocks->fd = -1;
    blocks->at++;
}

/* Fills the buffer, as far as the file goes. */
static enum sotto_status
read_more(struct blocks *blocks, struct sotto_error *err)
{
    size_t left = blocks->fill - blocks->first;
    memmove(blocks->buffer, blocks->buffer + blocks->first, left);
    blocks->taken += blocks->first;
    blocks->first = 0;
    blocks->fill = left;
    while (!blocks->ended && blocks->fill < blocks->room) {
        ssize_t got = read(blocks->fd, blocks->buffer + blocks->fill,
                           blocks->room - blocks->fill);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return host_file_fail_read(err, get_name(blocks), errno);
        }
        blocks->ended = got == 0;
        blocks->fill += (size_t)got;
        blocks->size += (size_t)got;
    }
    return SOTTO_STATUS_OK;
}

/* ---- Both forms -----------------------------------------------------------
 */

/* Says what is wrong before much is read: the length, where it is known. */
static enum sotto_status
check_whole(const struct blocks *blocks, const struct report_origin *origin,
            struct sotto_error *err)
{
    struct stat about;
    size_t size = blocks->size;
    if (!blocks->ended && fstat(blocks->fd, &about) == 0 &&
        S_ISREG(about.st_mode) && about.st_size > 0) {
        size = (size_t)about.st_size;
    } else if (!blocks->ended) {
        size -= size % blocks->mechanism->shape.report_size; /* not known yet */
    }
    return report_check_length(origin, blocks->buffer, size, err);
}

static enum sotto_status
take_binary(struct blocks *blocks, const struct report_origin *origin,
            struct report_chunk *ret_chunk, struct sotto_error *err)
{
    size_t each = blocks->mechanism->shape.report_size;
    size_t count = (blocks->fill - blocks->first) / each;
    ret_chunk->reports = blocks->buffer + blocks->first;
    ret_chunk->count = count;
    ret_chunk->from = blocks->report;
    blocks->first += count * each;
    blocks->report += count;
    if (blocks->ended && blocks->first < blocks->fill) {
        return report_check_length(origin, ret_chunk->reports, blocks->size,
                                   err);
    }
    return SOTTO_STATUS_OK;
}

static bool
is_blank(const uint8_t *data, size_t size)
{
    size_t i = 0;
    while (i < size && (data[i] == ' ' || data[i] == '\t' || data[i] == '\r' ||
                        data[i] == '\n')) {
        i++;
    }
    return i == size;
}

/* Whether what is left of the file is blank, all of it: blank lines end it, and
   between others they are no reports. */
static enum sotto_status
find_end(struct blocks *blocks, bool *ret_end, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    *ret_end = true;
    while (status == SOTTO_STATUS_OK && *ret_end) {
        *ret_end = is_blank(blocks->buffer + blocks->first,
                            blocks->fill - blocks->first);
        if (!*ret_end || blocks->ended) {
            break;
        }
        blocks->first = blocks->fill;
        status = read_more(blocks, err);
    }
    return status;
}

/* Reads the line that begins at `first`, of `length` bytes. */
static enum sotto_status
take_line(struct blocks *blocks, const struct report_origin *origin,
          size_t length, struct report_chunk *chunk, struct sotto_error *err)
{
    size_t each = blocks->mechanism->shape.report_size;
    struct sotto_error cause = {0};
    enum sotto_status status = report_json_read(
        blocks->mechanism, (const char *)blocks->buffer + blocks->first, length,
        blocks->values, blocks->made + chunk->count * each, &cause);
    if (status != SOTTO_STATUS_OK) {
        return report_check_fail(origin, blocks->report, blocks->report + 1,
                                 blocks->taken + blocks->first, &cause, err);
    }
    chunk->count++;
    blocks->report++;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
take_lines(struct blocks *blocks, const struct report_origin *origin,
           struct report_chunk *ret_chunk, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    ret_chunk->reports = blocks->made;
    ret_chunk->from = blocks->report;
    ret_chunk->lines = true;
    while (status == SOTTO_STATUS_OK && ret_chunk->count < MADE) {
        const uint8_t *at = blocks->buffer + blocks->first;
        size_t left = blocks->fill - blocks->first;
        const uint8_t *end = left > 0 ? memchr(at, '\n', left) : NULL;
        size_t length = end != NULL ? (size_t)(end - at) : left;
        bool whole = end != NULL || blocks->ended || left >= blocks->room;
        bool blank = false;
        if (!whole) {
            break; /* more is read first */
        }
        if (is_blank(at, length)) {
            status = find_end(blocks, &blank, err);
            if (blank) {
                blocks->first = blocks->fill;
                break;
            }
            length = 0; /* no report is on that line */
        }
        if (status != SOTTO_STATUS_OK) {
            break;
        }
        status = take_line(blocks, origin, length, ret_chunk, err);
        blocks->first += length + (end != NULL ? 1 : 0);
    }
    return status;
}

/* Looks at what a file begins with. */
static enum sotto_status
begin_file(struct blocks *blocks, const struct report_origin *origin,
           struct sotto_error *err)
{
    if (blocks->begun) {
        return SOTTO_STATUS_OK;
    }
    blocks->begun = true;
    if (blocks->fill == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "'%s' is empty: it holds no reports",
                         host_shown(origin->name));
    }
    blocks->lines = blocks->buffer[0] == '{';
    return blocks->lines ? SOTTO_STATUS_OK : check_whole(blocks, origin, err);
}

static enum sotto_status
read_chunk(struct blocks *blocks, struct report_chunk *ret_chunk,
           struct sotto_error *err)
{
    const struct report_origin origin = {blocks->mechanism, get_name(blocks)};
    enum sotto_status status = read_more(blocks, err);
    status = HOST_THEN(status, begin_file(blocks, &origin, err));
    if (status == SOTTO_STATUS_OK) {
        status = blocks->lines ? take_lines(blocks, &origin, ret_chunk, err)
                               : take_binary(blocks, &origin, ret_chunk, err);
    }
    ret_chunk->name = origin.name;
    return host_about(status, err, SOTTO_ABOUT_FILE, origin.name);
}

static enum sotto_status
next_chunk(void *own, struct report_chunk *ret_chunk, struct sotto_error *err)
{
    struct blocks *blocks = own;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (blocks->at == blocks->paths) {
        ret_chunk->last = true;
        return SOTTO_STATUS_OK;
    }
    if (blocks->fd < 0) {
        status = open_next(blocks, err);
    }
    status = HOST_THEN(status, read_chunk(blocks, ret_chunk, err));
    if (status == SOTTO_STATUS_OK && blocks->ended &&
        blocks->first == blocks->fill) {
        close_file(blocks);
        ret_chunk->last = blocks->at == blocks->paths;
    }
    return status;
}

const struct report_source report_blocks = {
    .next = next_chunk, .close = close_blocks, .files = true};
