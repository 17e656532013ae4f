/*
 * sqlite_repair.c: a new store of what is sound of a damaged one, in its place.
 *
 *     locked
 *        |
 *     PATH-wal's single wrong bytes put right --all sound--> done
 *        |
 *     PATH.repaired written, flushed
 *     PATH-wal's pages written into PATH, flushed; PATH-wal moved away
 *     PATH gets a second name, PATH.damaged
 *     PATH.repaired --> PATH
 *
 * Nothing else of the old store is changed before the new one is on the disk,
 * and then by the last step alone: what the log holds is the old store's as
 * much as what the file does. So a kill leaves the one or the other.
 *
 * The log must be gone before the new file has its name, or SQLite would take
 * it for the new one's; and no other program may have the old file open, for it
 * would go on in the log of the new one.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "host/error.h"
#include "host/text.h"
#include "host/wipe.h"
#include "store/sql_file.h"
#include "store/sql_log.h"
#include "store/sql_sums.h"
#include "store/sqlite/sqlite_repair.h"

/* Where SQLite has the locks of a file: 1 GiB from its begin. */
#define LOCKS_AT ((off_t)0x40000000)
#define LOCKS ((off_t)512)
/* And in its header the bytes of a page that SQLite leaves alone, and what kind
   and version of file it is. */
#define RESERVED 20
#define USER_VERSION 60

void
repair_tell(const struct repair *repair, const char *format, ...)
{
    char text[400];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (repair->tell != NULL) {
        repair->tell(repair->context, text);
    }
}

static enum sotto_status
fail_file(const char *what, const char *path, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_IO, 0, "cannot %s '%s': %s", what,
                     host_shown(path), strerror(errno));
}

/* ---- Whether there is anything to do ------------------------------------- */

/* A store of 0.1.0 has no sums by which to know what is sound. */
static enum sotto_status
check_version(struct repair *repair, struct sotto_error *err)
{
    static const char magic[16] = "SQLite format 3";
    (void)sql_pages_take(repair->pages, 1);
    const uint8_t *page = sql_pages_bytes(repair->pages);
    bool old = memcmp(page, magic, sizeof magic) == 0 && page[RESERVED] == 0 &&
               sql_big_endian(page + USER_VERSION, 4) == 1;
    return old ? host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "'%s' is of version 1, without checksums: open it "
                           "once with sotto serve, which makes it one of this "
                           "version, or go back to a backup",
                           host_shown(repair->path))
               : SOTTO_STATUS_OK;
}

static bool
has_damaged_page(struct sql_pages *pages)
{
    bool sound = true;
    for (uint32_t i = 1; sound && i <= sql_pages_count(pages); i++) {
        sound = sql_pages_take(pages, i) == SQL_PAGE_SOUND;
    }
    return !sound;
}

/* Whether a look at all of it finds nothing that a repair would change: what is
   lost of tags stays so. */
static enum sotto_status
is_sound(const char *path, bool *ret_sound, struct sotto_error *err)
{
    struct store_damage damage = {0};
    void *checker = NULL;
    bool done = false;
    enum sotto_status status =
        sqlite_checker_open(path, NULL, NULL, &checker, err);
    status = HOST_THEN(
        status, sqlite_checker_step(checker, SIZE_MAX, &damage, &done, err));
    sqlite_checker_close(checker);
    *ret_sound = status == SOTTO_STATUS_OK && damage.reports == 0 &&
                 damage.places == damage.gone;
    return status == SOTTO_STATUS_MEMORY ? status : SOTTO_STATUS_OK;
}

/* ---- The new store ------------------------------------------------------- */

/* An empty store, which a crash may leave half filled: it has no name yet. */
static enum sotto_status
open_fresh(struct repair *repair, struct sotto_error *err)
{
    struct sql empty = {NULL, repair->fresh, "store"};
    sqlite_file_remove_repaired(repair->path);
    enum sotto_status status = sqlite_file_build(&empty, err);
    status = HOST_THEN(status, sql_file_write(&empty, err));
    (void)sqlite3_close(empty.db);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    repair->to = (struct sql){NULL, repair->fresh, "store"};
    int code = sql_sums_register();
    code = code == SQLITE_OK
               ? sqlite3_open_v2(repair->fresh, &repair->to.db,
                                 SQLITE_OPEN_READWRITE, SQL_SUMS_VFS)
               : code;
    return code == SQLITE_OK
               ? sql_run(&repair->to,
                         "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                         "PRAGMA secure_delete=ON; PRAGMA temp_store=MEMORY;"
                         "PRAGMA cache_size=-32768; BEGIN",
                         err)
               : sql_fail(&repair->to, code, err);
}

static void
close_fresh(struct repair *repair)
{
    for (int i = 0; i < INSERTS; i++) {
        (void)sqlite3_finalize(repair->insert[i]);
        repair->insert[i] = NULL;
    }
    (void)sqlite3_finalize(repair->find_batch);
    repair->find_batch = NULL;
    (void)sqlite3_close(repair->to.db);
    repair->to.db = NULL;
}

static enum sotto_status
flush_file(const char *path, struct sotto_error *err)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    bool good = fd >= 0 && fsync(fd) == 0;
    enum sotto_status status =
        good ? SOTTO_STATUS_OK : fail_file("flush", path, err);
    if (fd >= 0) {
        (void)close(fd);
    }
    return status;
}

static enum sotto_status
write_fresh(struct repair *repair, struct sotto_error *err)
{
    enum sotto_status status = open_fresh(repair, err);
    status = HOST_THEN(status, repair_salvage(repair, err));
    status = HOST_THEN(status, repair_settle(repair, err));
    status = HOST_THEN(status, repair_retag(repair, err));
    status = HOST_THEN(status, sql_run(&repair->to, "COMMIT", err));
    close_fresh(repair);
    return HOST_THEN(status, flush_file(repair->fresh, err));
}

/* ---- In its place -------------------------------------------------------- */

static bool
write_page(int fd, const uint8_t *page, off_t at)
{
    size_t done = 0;
    while (done < SQL_PAGE) {
        ssize_t put =
            pwrite(fd, page + done, SQL_PAGE - done, at + (off_t)done);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        done += (size_t)put;
    }
    return true;
}

/* Writes what the log holds into the file, as SQLite would. */
static bool
write_pages(struct sql_pages *pages, int fd)
{
    uint32_t count = sql_pages_count(pages);
    bool good = sql_pages_logged(pages) == 0 ||
                ftruncate(fd, (off_t)count * (off_t)SQL_PAGE) == 0;
    for (uint32_t i = 1; good && i <= count; i++) {
        if (sql_pages_in_log(pages, i) &&
            sql_pages_take(pages, i) == SQL_PAGE_SOUND) {
            good = write_page(fd, sql_pages_bytes(pages),
                              (off_t)(i - 1) * (off_t)SQL_PAGE);
        }
    }
    return good && fsync(fd) == 0;
}

/* The log goes with the old file: what is behind a damaged place of it may
   still be of use to somebody. */
static enum sotto_status
write_back(struct repair *repair, int fd, const char *kept,
           struct sotto_error *err)
{
    char *log = host_text_path("%s-wal", repair->path);
    char *to = host_text_path("%s-wal", kept);
    char *shared = host_text_path("%s-shm", repair->path);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (log == NULL || to == NULL || shared == NULL) {
        status = host_fail_memory(err);
    } else if (!write_pages(repair->pages, fd)) {
        status = fail_file("write", repair->path, err);
    } else if ((rename(log, to) != 0 && errno != ENOENT) ||
               (unlink(shared) != 0 && errno != ENOENT)) {
        status = fail_file("move the log of", repair->path, err);
    }
    free(log);
    free(to);
    free(shared);
    return HOST_THEN(status, sql_file_settle(repair->path, err));
}

/* Whether two names are one file's. */
static bool
is_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* A name that a killed repair gave the old file is that of this one, too. */
static enum sotto_status
check_kept(const char *path, const char *kept, struct sotto_error *err)
{
    char *log = host_text_path("%s-wal", path);
    char *kept_log = host_text_path("%s-wal", kept);
    bool memory = log != NULL && kept_log != NULL;
    bool free_to_use = memory &&
                       (access(kept, F_OK) != 0 || is_same(path, kept)) &&
                       (access(kept_log, F_OK) != 0 || access(log, F_OK) != 0);
    free(log);
    free(kept_log);
    return !memory       ? host_fail_memory(err)
           : free_to_use ? SOTTO_STATUS_OK
                         : host_fail(err, SOTTO_STATUS_USAGE, 0,
                                     "there is '%s', or '%s-wal', which an "
                                     "earlier repair kept: move both away "
                                     "first, or remove them",
                                     host_shown(kept), host_shown(kept));
}

static enum sotto_status
take_place(struct repair *repair, const char *kept, struct sotto_error *err)
{
    if (!is_same(repair->path, kept) && link(repair->path, kept) != 0) {
        return fail_file("keep the damaged store as", kept, err);
    }
    sqlite_file_give(repair->path, repair->fresh);
    enum sotto_status status = sql_file_settle(repair->path, err);
    if (status == SOTTO_STATUS_OK && rename(repair->fresh, repair->path) != 0) {
        status = fail_file("replace", repair->path, err);
    }
    if (status != SOTTO_STATUS_OK) {
        (void)unlink(kept); /* with two names no collector would open it */
    }
    return HOST_THEN(status, sql_file_settle(repair->path, err));
}

/* ---- All of it ----------------------------------------------------------- */

/* Opens the old file so that no other program has it: readers have locks of
   SQLite's as long as they have it open. */
static enum sotto_status
seize(const char *path, int *ret_fd, struct sotto_error *err)
{
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = LOCKS_AT,
                         .l_len = LOCKS};
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return fail_file("open", path, err);
    }
    *ret_fd = fd;
    if (fcntl(fd, F_SETLK, &lock) == 0) {
        return SOTTO_STATUS_OK;
    }
    return errno == EACCES || errno == EAGAIN
               ? host_fail(err, SOTTO_STATUS_IO, 0,
                           "something reads the store '%s'; end it first "
                           "(fuser says what)",
                           host_shown(path))
               : fail_file("lock", path, err);
}

static enum sotto_status
repair_seized(struct repair *repair, int fd, struct sotto_error *err)
{
    char *kept = host_text_path("%s.damaged", repair->path);
    if (kept == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status = check_kept(repair->path, kept, err);
    status = HOST_THEN(status, write_fresh(repair, err));
    status = HOST_THEN(status, write_back(repair, fd, kept, err));
    status = HOST_THEN(status, take_place(repair, kept, err));
    if (status != SOTTO_STATUS_OK) {
        sqlite_file_remove_repaired(repair->path);
    }
    free(kept);
    return status;
}

/* Puts right what can be in the log, where it lies: one byte of a frame. */
static enum sotto_status
mend_log(struct repair *repair, struct sotto_error *err)
{
    uint64_t mended = 0;
    char *log = host_text_path("%s-wal", repair->path);
    enum sotto_status status =
        log == NULL ? host_fail_memory(err) : sql_log_mend(log, &mended, err);
    if (mended > 0) {
        repair_tell(repair,
                    "the log: in %" PRIu64 " place%s one byte was wrong and is "
                    "put right",
                    mended, mended == 1 ? "" : "s");
    }
    repair->counts.mended += mended;
    free(log);
    return status;
}

/* The store's pages are opened first and closed last: to close any descriptor
   of the file ends the locks on it. */
static enum sotto_status
repair_locked(struct repair *repair, struct sotto_error *err)
{
    bool sound = false;
    int fd = -1;
    enum sotto_status status = mend_log(repair, err);
    status =
        HOST_THEN(status, sql_pages_open(repair->path, &repair->pages, err));
    status = HOST_THEN(status, check_version(repair, err));
    if (status == SOTTO_STATUS_OK && !has_damaged_page(repair->pages)) {
        status = is_sound(repair->path, &sound, err);
    }
    if (status == SOTTO_STATUS_OK && !sound) {
        status = seize(repair->path, &fd, err);
        status = HOST_THEN(status, repair_seized(repair, fd, err));
    }
    repair->counts.sound = sound;
    if (fd >= 0) {
        (void)close(fd);
    }
    return status;
}

/* What locks a store is opened by its collector, too. */
static enum sotto_status
give_lock(const struct repair *repair, struct sotto_error *err)
{
    char *name = host_text_path("%s.lock", repair->path);
    if (name == NULL) {
        return host_fail_memory(err);
    }
    sqlite_file_give(repair->path, name);
    free(name);
    return SOTTO_STATUS_OK;
}

static void
clear_repair(struct repair *repair)
{
    sql_pages_close(repair->pages);
    window_tags_clear(&repair->tags);
    host_wipe_free(repair->record, repair->record_room);
    sodium_memzero(repair->key, sizeof repair->key);
    free(repair->damaged);
    free(repair->digest);
    free(repair->run);
    free(repair->campaign);
    free(repair->path);
    free(repair->fresh);
}

enum sotto_status
sqlite_repair(const char *place, void (*tell)(void *context, const char *text),
              void *context, struct store_repaired *ret_repaired,
              struct sotto_error *err)
{
    struct repair repair = {.tell = tell, .context = context};
    int lock = -1;
    enum sotto_status status = sql_file_resolve(place, &repair.path, err);
    if (status == SOTTO_STATUS_OK) {
        repair.fresh = host_text_path("%s.repaired", repair.path);
        status = repair.fresh != NULL ? status : host_fail_memory(err);
    }
    if (status == SOTTO_STATUS_OK && access(repair.path, F_OK) != 0) {
        status = host_fail(err, SOTTO_STATUS_IO, 0,
                           "there is no store '%s'; check the name",
                           host_shown(repair.path));
    }
    status = HOST_THEN(status,
                       sql_file_lock(repair.path, "the store",
                                     " has a writer; stop the collector first",
                                     &lock, err));
    status = HOST_THEN(status, give_lock(&repair, err));
    status = HOST_THEN(status, repair_locked(&repair, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_repaired = repair.counts;
    }
    if (lock >= 0) {
        (void)close(lock);
    }
    clear_repair(&repair);
    return status;
}
