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
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "store/sql_file.h"
#include "store/sqlite/sqlite_store.h"

#define SCRUB_MS 50    /* that readers are waited for */
#define FIRST_TRUNK 32 /* in the file's header */
#define FREE_PAGES 36

void
sqlite_scrub_log(struct sqlite_store *store)
{
    if (store->frames > store->limits.log_frames) {
        store->frames = 0;
        (void)sqlite3_wal_checkpoint_v2(store->sql.db, NULL,
                                        SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
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
    (void)sqlite3_busy_timeout(store->sql.db, SCRUB_MS);
    int code = sqlite3_wal_checkpoint_v2(
        store->sql.db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    (void)sqlite3_busy_timeout(store->sql.db, SQL_BUSY_MS);
    if (code == SQLITE_BUSY) {
        *ret_clean = false;
        return SOTTO_STATUS_OK;
    }
    if (code != SQLITE_OK) {
        return sql_fail(&store->sql, code, err);
    }
    store->frames = 0;
    enum sotto_status status = check_free(store, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_clean = true;
    }
    return status;
}
