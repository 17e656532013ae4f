/*
 * sql_log.c: SQLite's write-ahead log, frame by frame.
 *
 * Behind the last sound frame lies, if the log was not damaged:
 *
 *     frames of a log before    other salts, both of them
 *     frames of a transaction   the same salts, no commit among them; or all
 *     that was rolled back      zeros, where they were to be summed later
 *     half a frame              a transaction that never ended
 *
 * So a commit with one of the salts says that something was lost. One bit may
 * have changed just the mark of a commit: then the sum fits with it put right.
 */
#include "store/sql_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/error.h"
#include "host/text.h"

#define MAGIC UINT32_C(0x377f0682) /* the last bit: numbers are big-endian */
#define VERSION UINT32_C(3007000)

static uint32_t
read_big(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 |
           (uint32_t)from[2] << 8 | from[3];
}

static uint32_t
read_little(const uint8_t *from)
{
    return (uint32_t)from[3] << 24 | (uint32_t)from[2] << 16 |
           (uint32_t)from[1] << 8 | from[0];
}

/* Adds bytes, a multiple of 8, to a sum of two numbers. */
static void
add_bytes(uint32_t sum[2], bool big, const uint8_t *data, size_t size)
{
    uint32_t a = sum[0], b = sum[1];
    for (size_t i = 0; i < size; i += 8) {
        a += (big ? read_big(data + i) : read_little(data + i)) + b;
        b += (big ? read_big(data + i + 4) : read_little(data + i + 4)) + a;
    }
    sum[0] = a;
    sum[1] = b;
}

static bool
sum_is(const uint32_t sum[2], const uint8_t *at)
{
    return sum[0] == read_big(at) && sum[1] == read_big(at + 4);
}

bool
sql_log_header_sound(const uint8_t header[SQL_LOG_HEADER])
{
    uint32_t sum[2] = {0, 0}, magic = read_big(header);
    add_bytes(sum, (magic & 1) != 0, header, SQL_LOG_SUM);
    return (magic & ~UINT32_C(1)) == MAGIC && read_big(header + 4) == VERSION &&
           read_big(header + 8) == SQL_LOG_PAGE &&
           sum_is(sum, header + SQL_LOG_SUM);
}

bool
sql_log_frame_sound(const uint8_t magic[4], const uint8_t before[8],
                    const uint8_t frame[SQL_FRAME])
{
    uint32_t sum[2] = {read_big(before), read_big(before + 4)};
    bool big = (magic[3] & 1) != 0;
    add_bytes(sum, big, frame, 8);
    add_bytes(sum, big, frame + SQL_FRAME_HEADER, SQL_LOG_PAGE);
    return sum_is(sum, frame + SQL_FRAME_SUM);
}

/* ---- Walking ------------------------------------------------------------- */

#define AT_ONCE 32u /* frames that are read */

struct log {
    int fd;
    uint8_t header[SQL_LOG_HEADER];
    uint8_t before[8]; /* the sum before the next frame */
    uint64_t next;     /* the number of that, from 0 */
    uint8_t *frame;    /* at hand, in `frames` */
    size_t at, count;  /* the next one in there, of so many */
    uint8_t frames[AT_ONCE * SQL_FRAME];
};

/* Reads the next frame; false: it is not there as a whole. */
static bool
read_frame(struct log *log)
{
    if (log->at == log->count) {
        off_t at = (off_t)(SQL_LOG_HEADER + log->next * SQL_FRAME);
        ssize_t got = pread(log->fd, log->frames, sizeof log->frames, at);
        log->at = 0;
        log->count = got > 0 ? (size_t)got / SQL_FRAME : 0;
    }
    if (log->count == 0) {
        return false;
    }
    log->frame = log->frames + log->at++ * SQL_FRAME;
    log->next++;
    return true;
}

/* Whether the frame is the log's, and its sum fits; goes on behind it. */
static bool
take_frame(struct log *log)
{
    bool sound = memcmp(log->frame + SQL_FRAME_SALTS,
                        log->header + SQL_LOG_SALTS, 8) == 0 &&
                 read_big(log->frame) != 0 &&
                 sql_log_frame_sound(log->header, log->before, log->frame);
    memcpy(log->before, log->frame + SQL_FRAME_SUM, sizeof log->before);
    return sound;
}

static bool
is_commit(const uint8_t *frame)
{
    return read_big(frame + SQL_FRAME_COMMIT) != 0;
}

/* Whether a frame has one of two salts that are not zero: no single byte
   changes both. */
static bool
has_salt(const uint8_t *frame, const uint8_t salts[8])
{
    const uint8_t *at = frame + SQL_FRAME_SALTS;
    return (read_big(salts) != 0 && memcmp(at, salts, 4) == 0) ||
           (read_big(salts + 4) != 0 && memcmp(at + 4, salts + 4, 4) == 0);
}

/* Whether a frame that says it ends no transaction is one that does, with one
   byte put right. */
static bool
was_commit(const struct log *log, const uint8_t before[8])
{
    uint8_t copy[SQL_FRAME];
    bool found = false;
    memcpy(copy, log->frame, SQL_FRAME);
    for (unsigned i = 0; i < 4 * 256 && !found; i++) {
        memset(copy + SQL_FRAME_COMMIT, 0, 4);
        copy[SQL_FRAME_COMMIT + i / 256] = (uint8_t)i;
        found = i % 256 != 0 && sql_log_frame_sound(log->header, before, copy);
    }
    return found;
}

/* Counts the commits behind the sound frames, the one at hand first. */
static void
count_lost(struct log *log, const uint8_t before[8], const uint8_t salts[8],
           struct sql_log_look *look)
{
    uint64_t damaged = log->next;
    if (has_salt(log->frame, salts) && !is_commit(log->frame) &&
        was_commit(log, before)) {
        look->lost++;
    }
    do {
        look->lost += has_salt(log->frame, salts) && is_commit(log->frame);
    } while (read_frame(log));
    look->damaged = look->lost > 0 ? damaged : 0;
}

static void
walk(struct log *log, struct sql_log_look *look)
{
    uint8_t before[8];
    memcpy(log->before, log->header + SQL_LOG_SUM, sizeof log->before);
    if (!sql_log_header_sound(log->header)) {
        if (read_frame(log)) { /* all frames of the log are lost */
            uint8_t salts[8];
            memcpy(salts, log->frame + SQL_FRAME_SALTS, sizeof salts);
            count_lost(log, log->before, salts, look);
        }
        return;
    }
    memcpy(before, log->before, sizeof before);
    while (read_frame(log)) {
        if (!take_frame(log)) {
            count_lost(log, before, log->header + SQL_LOG_SALTS, look);
            return;
        }
        look->frames++;
        look->commits += is_commit(log->frame);
        memcpy(before, log->before, sizeof before);
    }
}

/* Opens a log and reads its header; `ret_log` NULL: there is none. A descriptor
   of a log, unlike one of the database, has no locks to lose. */
static enum sotto_status
open_log(const char *path, int flags, struct log **ret_log,
         struct sotto_error *err)
{
    struct log *log = malloc(sizeof *log);
    if (log == NULL) {
        return host_fail_memory(err);
    }
    *ret_log = NULL;
    log->next = 0;
    log->at = log->count = 0;
    log->fd = open(path, flags | O_CLOEXEC);
    int error = log->fd < 0 && errno != ENOENT ? errno : 0;
    if (log->fd >= 0 && pread(log->fd, log->header, SQL_LOG_HEADER, 0) ==
                            (ssize_t)SQL_LOG_HEADER) {
        *ret_log = log;
        return SOTTO_STATUS_OK;
    }
    if (log->fd >= 0) {
        (void)close(log->fd);
    }
    free(log);
    return error == 0
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_IO, 0, "cannot read '%s': %s",
                           host_shown(path), strerror(error));
}

static void
close_log(struct log *log)
{
    if (log != NULL) {
        (void)close(log->fd);
    }
    free(log);
}

enum sotto_status
sql_log_look(const char *path, struct sql_log_look *ret_look,
             struct sotto_error *err)
{
    struct log *log = NULL;
    struct sql_log_look look = {0};
    enum sotto_status status = open_log(path, O_RDONLY, &log, err);
    if (status == SOTTO_STATUS_OK) {
        if (log != NULL) {
            walk(log, &look);
        }
        *ret_look = look;
    }
    close_log(log);
    return status;
}

bool
sql_log_has(const char *path, uint32_t number)
{
    struct log *log = NULL;
    bool seen = false, found = false;
    if (open_log(path, O_RDONLY, &log, NULL) != SOTTO_STATUS_OK ||
        log == NULL) {
        return false;
    }
    memcpy(log->before, log->header + SQL_LOG_SUM, sizeof log->before);
    bool going = sql_log_header_sound(log->header);
    while (going && !found && read_frame(log) && take_frame(log)) {
        seen = seen || read_big(log->frame) == number;
        found = seen && is_commit(log->frame);
    }
    close_log(log);
    return found;
}

/* ---- Mending ------------------------------------------------------------- */

#define SUMMED                                                                 \
    ((8 + SQL_LOG_PAGE) / 8) /* pairs of numbers in a frame's sum              \
                              */

/* Where in a frame the numbers of its sum are. */
static size_t
place_of(size_t pair, size_t half)
{
    size_t at = 8 * pair + 4 * half;
    return at < 8 ? at : SQL_FRAME_HEADER + at - 8;
}

/* Puts one byte of a number right so that it is more by `off`, times `of`; but
   not its highest. */
static bool
mend_number(uint8_t *number, bool big, const uint32_t of[2],
            const uint32_t off[2])
{
    for (unsigned i = 0; i < 3 * 256; i++) {
        unsigned at = i / 256 + big, shift = 8 * (big ? 3 - at : at);
        uint32_t more = (i % 256 - (uint32_t)number[at]) << shift;
        if (of[0] * more == off[0] && of[1] * more == off[1]) {
            number[at] = (uint8_t)i;
            return true;
        }
    }
    return false;
}

/* The sum is a sum of all numbers, each times what its place says: so it tells
   of one byte that is wrong where, and what it was. Not so of the highest of a
   number: what its change adds is the same at every 384th place, or at more. */
static bool
mend_summed(bool big, const uint32_t off[2], uint8_t *frame, size_t *ret_at)
{
    uint32_t of[2][2] = {{1, 1}, {0, 1}}; /* of the two of the last pair */
    for (size_t pair = SUMMED; pair-- > 0;) {
        for (size_t half = 0; half < 2; half++) {
            size_t at = place_of(pair, half);
            uint8_t before[4];
            memcpy(before, frame + at, sizeof before);
            if (mend_number(frame + at, big, of[half], off)) {
                for (*ret_at = at; frame[*ret_at] == before[*ret_at - at];) {
                    ++*ret_at;
                }
                return true;
            }
            of[half][0] += of[half][1];
            of[half][1] += of[half][0];
        }
    }
    return false;
}

/* Makes bytes like others if one alone differs. */
static bool
mend_like(uint8_t *bytes, const uint8_t *other, size_t size, size_t *ret_which)
{
    size_t differ = 0;
    for (size_t i = 0; i < size; i++) {
        *ret_which = bytes[i] != other[i] ? i : *ret_which;
        differ += bytes[i] != other[i];
    }
    if (differ == 1) {
        bytes[*ret_which] = other[*ret_which];
    }
    return differ == 1;
}

/* Puts one byte of a frame right; false: not one alone is wrong. */
static bool
mend_frame(const struct log *log, const uint8_t before[8], size_t *ret_at)
{
    uint8_t *frame = log->frame, said[8];
    const uint8_t *salts = log->header + SQL_LOG_SALTS;
    bool big = (log->header[3] & 1) != 0;
    uint32_t sum[2] = {read_big(before), read_big(before + 4)};
    add_bytes(sum, big, frame, 8);
    add_bytes(sum, big, frame + SQL_FRAME_HEADER, SQL_LOG_PAGE);
    const uint32_t off[2] = {read_big(frame + SQL_FRAME_SUM) - sum[0],
                             read_big(frame + SQL_FRAME_SUM + 4) - sum[1]};
    for (unsigned i = 0; i < 8; i++) {
        said[i] = (uint8_t)(sum[i / 4] >> (24 - 8 * (i % 4)));
    }
    size_t which = 0;
    bool mended = false;
    if (memcmp(frame + SQL_FRAME_SALTS, salts, 8) != 0) {
        mended = off[0] == 0 && off[1] == 0 &&
                 mend_like(frame + SQL_FRAME_SALTS, salts, 8, &which);
        *ret_at = SQL_FRAME_SALTS + which;
    } else if (mend_like(frame + SQL_FRAME_SUM, said, 8, &which)) {
        mended = which % 4 != 0;
        *ret_at = SQL_FRAME_SUM + which;
    } else if (off[0] != 0 || off[1] != 0) {
        mended = mend_summed(big, off, frame, ret_at);
    }
    return mended && read_big(frame) != 0;
}

/* Likewise of the header: one that is sound, and of the first frame's log. */
static bool
mend_header(uint8_t header[SQL_LOG_HEADER], const uint8_t *frame,
            size_t *ret_at)
{
    for (size_t at = 0; at < SQL_LOG_HEADER; at++) {
        uint8_t was = header[at];
        for (unsigned value = 0; value < 256; value++) {
            header[at] = (uint8_t)value;
            if (sql_log_header_sound(header) &&
                memcmp(header + SQL_LOG_SALTS, frame + SQL_FRAME_SALTS, 8) ==
                    0) {
                *ret_at = at;
                return true;
            }
        }
        header[at] = was;
    }
    return false;
}

static bool
write_byte(struct log *log, uint64_t at, uint8_t byte, uint64_t *ret_mended)
{
    ++*ret_mended;
    return pwrite(log->fd, &byte, 1, (off_t)at) == 1 && fdatasync(log->fd) == 0;
}

/* False: it cannot be written. */
static bool
mend(struct log *log, uint64_t *ret_mended)
{
    uint8_t before[8];
    size_t at = 0;
    bool good = true, sound = sql_log_header_sound(log->header);
    if (!sound && read_frame(log) &&
        mend_header(log->header, log->frame, &at)) {
        sound = true;
        good = write_byte(log, at, log->header[at], ret_mended);
        log->next = log->at = 0;
    }
    memcpy(log->before, log->header + SQL_LOG_SUM, sizeof log->before);
    while (good && sound && read_frame(log)) {
        memcpy(before, log->before, sizeof before);
        sound = take_frame(log);
        if (!sound && mend_frame(log, before, &at)) {
            uint64_t frame = SQL_LOG_HEADER + (log->next - 1) * SQL_FRAME;
            good = write_byte(log, frame + at, log->frame[at], ret_mended);
            memcpy(log->before, log->frame + SQL_FRAME_SUM, 8);
            sound = true;
        }
    }
    return good;
}

enum sotto_status
sql_log_mend(const char *path, uint64_t *ret_mended, struct sotto_error *err)
{
    struct log *log = NULL;
    struct sql_log_look look = {0};
    *ret_mended = 0;
    enum sotto_status status = sql_log_look(path, &look, err);
    if (status != SOTTO_STATUS_OK || look.damaged == 0) {
        return status;
    }
    status = open_log(path, O_RDWR, &log, err);
    if (status == SOTTO_STATUS_OK && log != NULL && !mend(log, ret_mended)) {
        status = host_fail(err, SOTTO_STATUS_IO, 0, "cannot write '%s': %s",
                           host_shown(path), strerror(errno));
    }
    close_log(log);
    return status;
}
