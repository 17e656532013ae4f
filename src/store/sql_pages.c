/*
 * sql_pages.c: a file's pages and those of its log, and which of them are
 * sound.
 *
 * Behind the first frame of the log that does not fit nothing is believed, as
 * SQLite does it: it may be what a crash left of a transaction that never ended
 * (sql_log.h).
 */
#include "store/sql_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/checksum.h"
#include "host/error.h"
#include "host/text.h"
#include "host/wipe.h"
#include "store/sql_log.h"
#include "store/sql_sums.h"

#define FILE_PAGES 28 /* where page 1 says how many there are */

/* ---- Bytes --------------------------------------------------------------- */

/* Reads what there is of `size` bytes; what is not becomes zeros. False: some
   of it is not there. */
static bool
read_bytes(const struct sql_bytes *from, uint8_t *to, size_t size, uint64_t at)
{
    size_t done = 0;
    while (from->fd >= 0 && done < size) {
        ssize_t got =
            pread(from->fd, to + done, size - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        done += (size_t)got;
    }
    if (from->fd < 0 && at < from->size) {
        done = from->size - at < size ? (size_t)(from->size - at) : size;
        memcpy(to, from->data + at, done);
    }
    memset(to + done, 0, size - done);
    return done == size;
}

/* Where a frame of the log is, from 0. */
static uint64_t
frame_at(uint32_t frame)
{
    return SQL_LOG_HEADER + (uint64_t)frame * SQL_FRAME;
}

/* ---- The log ------------------------------------------------------------- */

/* The last frame, from 1, of the last transaction that ended, and how many
   pages the file has then; 0: there is none. */
static uint32_t
find_end(const struct sql_bytes *log, uint8_t *frame, uint32_t *ret_pages)
{
    uint8_t head[SQL_LOG_HEADER], before[8];
    uint32_t end = 0;
    bool fits =
        read_bytes(log, head, sizeof head, 0) && sql_log_header_sound(head);
    memcpy(before, head + SQL_LOG_SUM, sizeof before);
    for (uint32_t i = 1; fits && i < UINT32_MAX; i++) {
        fits = read_bytes(log, frame, SQL_FRAME, frame_at(i - 1)) &&
               memcmp(frame + SQL_FRAME_SALTS, head + SQL_LOG_SALTS, 8) == 0 &&
               sql_big_endian(frame, 4) != 0 &&
               sql_log_frame_sound(head, before, frame);
        memcpy(before, frame + SQL_FRAME_SUM, sizeof before);
        if (fits && sql_big_endian(frame + SQL_FRAME_COMMIT, 4) != 0) {
            end = i;
            *ret_pages = sql_big_endian(frame + SQL_FRAME_COMMIT, 4);
        }
    }
    return end;
}

static int
compare_frames(const void *a, const void *b)
{
    const struct sql_frame *x = a, *y = b;
    return x->page != y->page     ? (x->page < y->page ? -1 : 1)
           : x->frame != y->frame ? (x->frame < y->frame ? -1 : 1)
                                  : 0;
}

/* Of each page the last frame alone. */
static uint32_t
drop_older(struct sql_frame *frame, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i + 1 == count || frame[i + 1].page != frame[i].page) {
            frame[kept++] = frame[i];
        }
    }
    return kept;
}

/* Reads where the log has which page. The file ends where the last transaction
   left it: what is behind is none of it, and was deleted. */
static bool
read_log(struct sql_pages *pages)
{
    uint8_t *frame = malloc(SQL_FRAME);
    uint32_t count = 0;
    if (frame == NULL) {
        return false;
    }
    uint32_t end = find_end(&pages->log, frame, &count);
    free(frame);
    if (end == 0) {
        return true;
    }
    pages->frame = calloc(end, sizeof *pages->frame);
    if (pages->frame == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < end; i++) {
        uint8_t head[4];
        (void)read_bytes(&pages->log, head, sizeof head, frame_at(i));
        pages->frame[i] =
            (struct sql_frame){sql_big_endian(head, sizeof head), i};
    }
    qsort(pages->frame, end, sizeof *pages->frame, compare_frames);
    pages->logged = drop_older(pages->frame, end);
    uint64_t most = (uint64_t)pages->count + pages->logged;
    pages->count = count < most ? count : (uint32_t)most;
    return true;
}

static const struct sql_frame *
find_frame(const struct sql_pages *pages, uint32_t number)
{
    uint32_t low = 0, high = pages->logged;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (pages->frame[middle].page < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < pages->logged && pages->frame[low].page == number
               ? &pages->frame[low]
               : NULL;
}

bool
sql_pages_in_log(const struct sql_pages *pages, uint32_t number)
{
    return find_frame(pages, number) != NULL;
}

/* ---- Pages --------------------------------------------------------------- */

static bool
is_empty(const uint8_t *page)
{
    return page[0] == 0 && memcmp(page, page + 1, SQL_PAGE - 1) == 0;
}

enum sql_page_state
sql_pages_read(struct sql_pages *pages, uint32_t number, uint8_t *to)
{
    const struct sql_frame *frame = find_frame(pages, number);
    pages->mend = 0;
    if (frame != NULL) {
        bool there = read_bytes(&pages->log, to, SQL_PAGE,
                                frame_at(frame->frame) + SQL_FRAME_HEADER);
        host_checksum_write(sql_sums_of(number, to), to + SQL_PAGE_USED);
        return there ? SQL_PAGE_SOUND : SQL_PAGE_GONE;
    }
    if (number == SQL_SUMS_LOCKS) {
        memset(to, 0, SQL_PAGE);
        return SQL_PAGE_SOUND;
    }
    if (number == 0 || number > pages->count ||
        !read_bytes(&pages->file, to, SQL_PAGE,
                    (uint64_t)(number - 1) * SQL_PAGE)) {
        return SQL_PAGE_GONE;
    }
    uint32_t change =
        sql_sums_of(number, to) ^ host_checksum_read(to + SQL_PAGE_USED);
    if (change == 0) {
        return SQL_PAGE_SOUND;
    }
    if (!host_checksum_find(change, SQL_PAGE_USED, &pages->mended,
                            &pages->mend)) {
        return host_checksum_read(to + SQL_PAGE_USED) == 0 && !is_empty(to)
                   ? SQL_PAGE_FOREIGN
                   : SQL_PAGE_DAMAGED;
    }
    to[pages->mended] ^= pages->mend;
    return SQL_PAGE_MENDED;
}

enum sql_page_state
sql_pages_take(struct sql_pages *pages, uint32_t number)
{
    pages->number = number;
    pages->state = sql_pages_read(pages, number, pages->page);
    pages->page_mend = pages->mend;
    pages->page_mended = pages->mended;
    return pages->state;
}

const uint8_t *
sql_pages_bytes(const struct sql_pages *pages)
{
    return pages->page;
}

void
sql_pages_doubt(struct sql_pages *pages)
{
    if (pages->state == SQL_PAGE_MENDED) {
        pages->page[pages->page_mended] ^= pages->page_mend;
    }
    if (pages->state != SQL_PAGE_SOUND && pages->state != SQL_PAGE_GONE) {
        pages->state = SQL_PAGE_DAMAGED;
    }
}

uint32_t
sql_pages_count(const struct sql_pages *pages)
{
    return pages->count;
}

uint32_t
sql_pages_logged(const struct sql_pages *pages)
{
    return pages->logged;
}

/* ---- Opening ------------------------------------------------------------- */

static struct sql_pages *
new_pages(void)
{
    struct sql_pages *pages = calloc(1, sizeof *pages);
    if (pages != NULL) {
        pages->file.fd = pages->log.fd = -1;
    }
    return pages;
}

static enum sotto_status
open_bytes(const char *path, bool wanted, struct sql_bytes *bytes,
           struct sotto_error *err)
{
    struct stat info;
    bytes->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (bytes->fd < 0 && errno == ENOENT && !wanted) {
        return SOTTO_STATUS_OK;
    }
    if (bytes->fd < 0 || fstat(bytes->fd, &info) != 0) {
        return host_fail(err, SOTTO_STATUS_IO, 0, "cannot read '%s': %s",
                         host_shown(path), strerror(errno));
    }
    bytes->size = (uint64_t)info.st_size;
    return SOTTO_STATUS_OK;
}

/* As many pages as there are, the last of which may be cut, but none behind
   those that a sound first page counts. */
static enum sotto_status
begin_pages(struct sql_pages *pages, struct sotto_error *err)
{
    uint64_t count =
        pages->file.size / SQL_PAGE + (pages->file.size % SQL_PAGE != 0);
    pages->count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    if (sql_pages_take(pages, 1) == SQL_PAGE_SOUND) {
        uint32_t said = sql_big_endian(pages->page + FILE_PAGES, 4);
        pages->count = said > 0 && said < pages->count ? said : pages->count;
    }
    return read_log(pages) ? SOTTO_STATUS_OK : host_fail_memory(err);
}

enum sotto_status
sql_pages_open(const char *path, struct sql_pages **ret_pages,
               struct sotto_error *err)
{
    char *log = host_text_path("%s-wal", path);
    struct sql_pages *pages = new_pages();
    enum sotto_status status = SOTTO_STATUS_OK;
    if (pages == NULL || log == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = open_bytes(path, true, &pages->file, err);
    status = HOST_THEN(status, open_bytes(log, false, &pages->log, err));
    status = HOST_THEN(status, begin_pages(pages, err));
done:
    free(log);
    if (status == SOTTO_STATUS_OK) {
        *ret_pages = pages;
    } else {
        sql_pages_close(pages);
    }
    return status;
}

enum sotto_status
sql_pages_open_bytes(const uint8_t *file, size_t size, const uint8_t *log,
                     size_t log_size, struct sql_pages **ret_pages,
                     struct sotto_error *err)
{
    struct sql_pages *pages = new_pages();
    if (pages == NULL) {
        return host_fail_memory(err);
    }
    pages->file = (struct sql_bytes){-1, file, size};
    pages->log = (struct sql_bytes){-1, log, log == NULL ? 0 : log_size};
    enum sotto_status status = begin_pages(pages, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_pages = pages;
    } else {
        sql_pages_close(pages);
    }
    return status;
}

void
sql_pages_close(struct sql_pages *pages)
{
    if (pages == NULL) {
        return;
    }
    if (pages->file.fd >= 0) {
        (void)close(pages->file.fd);
    }
    if (pages->log.fd >= 0) {
        (void)close(pages->log.fd);
    }
    host_wipe_free(pages->row, pages->row_room);
    free(pages->frame);
    host_wipe_free(pages, sizeof *pages);
}
