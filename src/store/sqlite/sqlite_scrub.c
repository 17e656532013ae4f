/*
 * sqlite_scrub.c: what deletions and the log leave behind.
 *
 * The log holds every page as it was after each commit, and so the order in
 * which reports came: it is written back into the file and cut to nothing.
 * Pages that no table uses must be zeros then; SQLite was told to make them
 * so, and here it is looked at:
 *
 *     file header: first trunk, number of free pages
 *     trunk: next trunk, n, n numbers of leaves, then old numbers or zeros
 *     leaf: zeros
 *
 * and zeros where the sum is on the disk (sql_sums.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/clock.h"
#include "host/error.h"
#include "host/text.h"
#include "store/sql_file.h"
#include "store/sqlite/sqlite_store.h"

#define SCRUB_MS 50    /* that readers are waited for */
#define SCRUB_REST 9   /* times what a look in vain took */
#define FIRST_TRUNK 32 /* in the file's header */
#define FREE_PAGES 36
#define SHARED_SIZE 32768 /* of the first region of PATH-shm */
#define SHARED_FRAMES ((size_t)16)
#define SHARED_BACK ((size_t)96)

/* ---- Damage -------------------------------------------------------------- */

/* How many frames SQLite takes for the log's, and how many of those it has
   written back: numbers that it shares with all who have the log open. */
static int
read_shared(const struct sql *sql, uint32_t *ret_frames, uint32_t *ret_back)
{
    sqlite3_file *file = NULL;
    void volatile *shared = NULL;
    int code = sqlite3_file_control(sql->db, "main", SQLITE_FCNTL_FILE_POINTER,
                                    (void *)&file);
    if (code == SQLITE_OK) {
        code = file->pMethods->xShmMap(file, 0, SHARED_SIZE, 0, &shared);
    }
    if (code == SQLITE_OK && shared != NULL) {
        const uint32_t volatile *number = shared;
        *ret_frames = number[SHARED_FRAMES / sizeof *number];
        *ret_back = number[SHARED_BACK / sizeof *number];
    }
    return code;
}

/* Frames behind those that SQLite takes for the log's may be what an earlier
   failure left, and are nobody's. */
enum sotto_status
sqlite_scrub_check(const struct sql *sql, struct sotto_error *err)
{
    struct sql_log_look look = {0};
    uint32_t frames = 0, back = 0;
    char *log = host_text_path("%s-wal", sql->path);
    enum sotto_status status =
        log == NULL ? host_fail_memory(err) : sql_log_look(log, &look, err);
    free(log);
    if (status != SOTTO_STATUS_OK || (look.frames == 0 && look.damaged == 0)) {
        return status;
    }
    int code = read_shared(sql, &frames, &back);
    if (code != SQLITE_OK) {
        return sql_fail(sql, code, err);
    }
    return look.frames >= frames || back >= frames
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "frame %" PRIu64 " of '%s-wal' is damaged: stop the "
                           "collector and run: sotto store repair sqlite:%s",
                           look.frames + 1, host_shown(sql->path),
                           host_shown(sql->path));
}

/* Commits something small. Now that all frames are in the file, SQLite begins
   the log anew with it, with other salts: until then a frame that is damaged
   would end the log early after a crash, and what is before it, older pages,
   would lie over newer ones. Readers of the log keep it as it is. */
static void
begin_log_anew(struct sqlite_store *store)
{
    char mark[64];
    (void)snprintf(mark, sizeof mark, "PRAGMA user_version=%" PRId32,
                   sqlite_kind.version);
    if (sqlite3_exec(store->sql.db, mark, NULL, NULL, NULL) != SQLITE_OK) {
        sqlite_roll_back(store);
    }
}

/* A reader that stays in a transaction keeps the log as it is, and each try
   looks at all of it: so the next one waits until it is a quarter longer. */
void
sqlite_scrub_log(struct sqlite_store *store)
{
    int frames = 0, back = -1;
    if (store->frames <= store->limits.log_frames) {
        store->frames_tried = 0;
        return;
    }
    if (store->frames - store->frames_tried < store->frames_tried / 4) {
        return;
    }
    store->frames_tried = store->frames;
    store->cut_short =
        sqlite_scrub_check(&store->sql, NULL) == SOTTO_STATUS_FORMAT;
    if (store->cut_short || sqlite3_wal_checkpoint_v2(
                                store->sql.db, NULL, SQLITE_CHECKPOINT_PASSIVE,
                                &frames, &back) != SQLITE_OK) {
        return;
    }
    if (frames == back) {
        begin_log_anew(store);
    }
}

/* ---- Free pages ---------------------------------------------------------- */

/* The file that a connection has open: a second descriptor would lose SQLite
   its locks when it is closed. */
struct pages {
    sqlite3_file *file;
    size_t size;
    uint32_t count;
    uint8_t *trunk, *leaf;
};

static uint32_t
big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
           (uint32_t)bytes[2] << 8 | bytes[3];
}

static int
read_page(const struct pages *pages, uint32_t number, uint8_t *page)
{
    return number == 0 || number > pages->count
               ? SQLITE_CORRUPT
               : pages->file->pMethods->xRead(
                     pages->file, page, (int)pages->size,
                     (sqlite3_int64)(number - 1) * (sqlite3_int64)pages->size);
}

static bool
is_zero(const uint8_t *page, size_t size)
{
    return page[0] == 0 && memcmp(page, page + 1, size - 1) == 0;
}

/* Looks at the leaves that a trunk lists. */
static int
look_at_leaves(const struct pages *pages, uint32_t count, bool *clean)
{
    int code = SQLITE_OK;
    for (uint32_t i = 0; i < count && code == SQLITE_OK; i++) {
        uint32_t leaf = big_endian(pages->trunk + 8 + 4 * (size_t)i);
        code = read_page(pages, leaf, pages->leaf);
        *clean =
            *clean && code == SQLITE_OK && is_zero(pages->leaf, pages->size);
    }
    return code;
}

/* Behind its list a trunk may have numbers of pages that were in it, and
   nothing else. */
static bool
trunk_is_clean(const struct pages *pages, uint32_t count)
{
    bool clean = true;
    for (size_t at = 8 + 4 * (size_t)count; at + 4 <= pages->size; at += 4) {
        clean = clean && big_endian(pages->trunk + at) <= pages->count;
    }
    return clean;
}

static int
look_at_free(const struct pages *pages, bool *ret_clean)
{
    bool clean = true;
    int code = read_page(pages, 1, pages->trunk);
    uint32_t trunk = big_endian(pages->trunk + FIRST_TRUNK);
    uint32_t left = big_endian(pages->trunk + FREE_PAGES);
    while (code == SQLITE_OK && trunk != 0) {
        code = read_page(pages, trunk, pages->trunk);
        uint32_t count = big_endian(pages->trunk + 4);
        if (code == SQLITE_OK &&
            (left == 0 || count > left - 1 || count > pages->size / 4 - 2)) {
            code = SQLITE_CORRUPT;
        }
        if (code == SQLITE_OK) {
            clean = clean && trunk_is_clean(pages, count);
            code = look_at_leaves(pages, count, &clean);
        }
        left -= count + 1;
        trunk = big_endian(pages->trunk);
    }
    *ret_clean = clean;
    return code;
}

static enum sotto_status
check_free(struct sqlite_store *store, struct sotto_error *err)
{
    struct pages pages = {NULL, 0, 0, NULL, NULL};
    int64_t size = 0, count = 0;
    bool clean = true;
    enum sotto_status status =
        sql_integer(&store->sql, "PRAGMA page_size", &size, err);
    status = HOST_THEN(
        status, sql_integer(&store->sql, "PRAGMA page_count", &count, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    pages.size = (size_t)size;
    pages.count = (uint32_t)count;
    pages.trunk = malloc(pages.size);
    pages.leaf = malloc(pages.size);
    int code = pages.trunk == NULL || pages.leaf == NULL
                   ? SQLITE_NOMEM
                   : sqlite3_file_control(store->sql.db, "main",
                                          SQLITE_FCNTL_FILE_POINTER,
                                          (void *)&pages.file);
    code = code == SQLITE_OK ? look_at_free(&pages, &clean) : code;
    if (code != SQLITE_OK) {
        status = sql_fail(&store->sql, code, err);
    } else if (!clean) {
        status = host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "free pages of '%s' hold what was deleted: "
                           "something else has written to it",
                           host_shown(store->path));
    }
    free(pages.trunk);
    free(pages.leaf);
    return status;
}

/* ---- The log ------------------------------------------------------------- */

enum sotto_status
sqlite_scrub(void *own, bool *ret_clean, struct sotto_error *err)
{
    struct sqlite_store *store = own;
    if (sqlite3_get_autocommit(store->sql.db) == 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "something is begun in '%s'", host_shown(store->path));
    }
    double begin = host_seconds();
    if (begin < store->scrub_at) {
        *ret_clean = false;
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status = sqlite_scrub_check(&store->sql, err);
    double looked = host_seconds() - begin;
    if (status != SOTTO_STATUS_OK) {
        store->cut_short = status == SOTTO_STATUS_FORMAT;
        return status;
    }
    (void)sqlite3_busy_timeout(store->sql.db, SCRUB_MS);
    int code = sqlite3_wal_checkpoint_v2(
        store->sql.db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    (void)sqlite3_busy_timeout(store->sql.db, SQL_BUSY_MS);
    if (code == SQLITE_BUSY) {
        store->scrub_at = host_seconds() + SCRUB_REST * looked;
        *ret_clean = false;
        return SOTTO_STATUS_OK;
    }
    if (code != SQLITE_OK) {
        return sql_fail(&store->sql, code, err);
    }
    store->frames = 0;
    status = check_free(store, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_clean = true;
    }
    return status;
}
