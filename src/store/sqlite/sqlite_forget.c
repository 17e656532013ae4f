/*
 * sqlite_forget.c: ending a campaign for good: what was released and held of
 * it, what came in the open window, and its tags go, in one transaction; its
 * row stays, on the list of those of which nothing is taken.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/error.h"
#include "host/text.h"
#include "store/sqlite/sqlite_store.h"

/* What is deleted of a campaign, and of its places, in order. */
static const char *const statements[] = {
    "DELETE FROM batch WHERE campaign = ?1",
    "DELETE FROM held WHERE campaign = ?1",
    "UPDATE total SET batches = 0, released = 0 WHERE campaign = ?1",
    "INSERT OR IGNORE INTO closed VALUES (?1)",
};
static const char *const incoming[] = {
    "DELETE FROM incoming_0 WHERE place BETWEEN ?1 AND ?2",
    "DELETE FROM incoming_1 WHERE place BETWEEN ?1 AND ?2",
};

/* The chunks of a batch. */
static enum sotto_status
delete_chunks(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    const struct sql *sql = context;
    return sql_execute(sql,
                       "DELETE FROM released WHERE place BETWEEN ?1 AND ?2",
                       SQL_VALUES(SQL_NUMBER(sqlite3_column_int64(row, 0)),
                                  SQL_NUMBER(sqlite3_column_int64(row, 1))),
                       err);
}

static enum sotto_status
delete_all(struct sqlite_store *store, uint32_t number, struct sotto_error *err)
{
    enum sotto_status status = sql_each(
        &store->sql,
        "SELECT first, first + chunks - 1 FROM batch WHERE "
        "campaign = ?1",
        SQL_VALUES(SQL_NUMBER(number)), delete_chunks, &store->sql, err);
    for (size_t i = 0; i < sizeof incoming / sizeof *incoming; i++) {
        status = HOST_THEN(
            status,
            sql_execute(&store->sql, incoming[i],
                        SQL_VALUES(SQL_NUMBER(SQLITE_PLACE_FIRST(number)),
                                   SQL_NUMBER(SQLITE_PLACE_LAST(number))),
                        err));
    }
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        status =
            HOST_THEN(status, sql_execute(&store->sql, statements[i],
                                          SQL_VALUES(SQL_NUMBER(number)), err));
    }
    return HOST_THEN(status, sqlite_runs_forget(store, number, err));
}

/* The file is written anew, without what was deleted: rows in the order of
   their keys. */
static enum sotto_status
give_back(struct sqlite_store *store, struct sotto_error *err)
{
    bool clean = false;
    enum sotto_status status = sql_run(&store->sql, "VACUUM", err);
    /* one that failed looks as if another program had written */
    if (sql_integer(&store->sql, "PRAGMA data_version", &store->version,
                    NULL) != SOTTO_STATUS_OK) {
        store->version = 0;
    }
    return HOST_THEN(status, sqlite_scrub(store, &clean, err));
}

/* A repair kept the store as it was, in which the campaign is whole. */
static enum sotto_status
check_kept(const char *path, struct sotto_error *err)
{
    static const char *const suffix[] = {"", "-wal"};
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < 2 && status == SOTTO_STATUS_OK; i++) {
        char *name = host_text_path("%s.damaged%s", path, suffix[i]);
        if (name == NULL) {
            status = host_fail_memory(err);
        } else if (access(name, F_OK) == 0) {
            status = host_fail(err, SOTTO_STATUS_USAGE, 0,
                               "there is '%s.damaged', or '%s.damaged-wal', "
                               "which a repair kept, and the campaign is whole "
                               "in it: remove both first",
                               host_shown(path), host_shown(path));
        }
        free(name);
    }
    return status;
}

enum sotto_status
sqlite_forget(void *own, const uint8_t *hash, struct store_counts *ret_counts,
              struct sotto_error *err)
{
    struct sqlite_store *store = own;
    struct store_counts counts = {0};
    uint32_t i = 0;
    enum sotto_status status = sqlite_load(store, err);
    while (status == SOTTO_STATUS_OK && i < store->campaigns &&
           memcmp(store->campaign[i].hash, hash, SOTTO_HASH_SIZE) != 0) {
        i++;
    }
    if (status == SOTTO_STATUS_OK && i == store->campaigns) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the store '%s' has no reports of this mechanism",
                         host_shown(store->path));
    }
    status = HOST_THEN(status, check_kept(store->path, err));
    status = HOST_THEN(status, store_sqlite.count(own, i + 1, &counts, err));
    status = HOST_THEN(status, store_sqlite.begin(own, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = delete_all(store, i + 1, err);
    if (status != SOTTO_STATUS_OK) {
        store_sqlite.rollback(own);
        return status;
    }
    status = store_sqlite.commit(own, err);
    store->stale = true;
    status = HOST_THEN(status, give_back(store, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_counts = counts;
    }
    return status;
}
