/*
 * sqlite_file.c: the store's SQLite file: making it, and opening it checked.
 *
 * Once it is made (sql_file.h), SQLite alone writes to it, with a write-ahead
 * log (PATH-wal) that is flushed at each commit and written back when we say
 * so, and with zeros over all it deletes.
 *
 * Opening takes no longer for a store that has grown: settings are read back,
 * and what is small must agree, and be as its twin. The pages of all that was
 * released are looked at when there is time, and payloads by their sums
 * (sqlite_check.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "host/error.h"
#include "host/text.h"
#include "store/sql_file.h"
#include "store/sqlite/sqlite_store.h"

/* ---- Making -------------------------------------------------------------- */

static enum sotto_status
insert_meta(const struct sql *sql, bool simulation, struct sotto_error *err)
{
    uint8_t key[TAG_KEY_SIZE] = {0};
    enum sotto_status status =
        sotto_entropy(key, sizeof key) != 0
            ? host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                        "the system gave no entropy; no store was made")
            : sql_execute(
                  sql, "INSERT INTO meta VALUES (1, ?1, ?2)",
                  SQL_VALUES(SQL_NUMBER(simulation), SQL_BLOB(key, sizeof key)),
                  err);
    sodium_memzero(key, sizeof key);
    return status;
}

/* A log without its file is another store's, and SQLite would put what it
   holds into the new one. */
enum sotto_status
sqlite_file_check_free(const char *path, struct sotto_error *err)
{
    static const char *const suffix[] = {"-wal", "-journal", "-tags"};
    for (size_t i = 0; i < 3; i++) {
        char *name = host_text_path("%s%s", path, suffix[i]);
        bool there = name != NULL && access(name, F_OK) == 0;
        bool memory = name != NULL;
        free(name);
        if (!memory) {
            return host_fail_memory(err);
        }
        if (there) {
            return host_fail(
                err, SOTTO_STATUS_FORMAT, 0,
                "there is '%s%s', which belongs to a store, but no "
                "'%s': put it back, or move both away",
                host_shown(path), suffix[i], host_shown(path));
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
sqlite_file_make(const char *path, bool simulation, struct sotto_error *err)
{
    struct sql sql = {NULL, path, "store"};
    if (access(path, F_OK) == 0 || errno != ENOENT) {
        return SOTTO_STATUS_OK; /* what it is, opening says */
    }
    enum sotto_status status = sqlite_file_check_free(path, err);
    status = HOST_THEN(status, sql_file_build(&sql, &sqlite_kind, err));
    status = HOST_THEN(
        status, sql_run(&sql, "INSERT INTO move VALUES (1, 0, 0, 0)", err));
    status = HOST_THEN(status, insert_meta(&sql, simulation, err));
    status = HOST_THEN(status, sql_file_write(&sql, err));
    (void)sqlite3_close(sql.db);
    return status;
}

/* ---- Opening ------------------------------------------------------------- */

static enum sotto_status
read_meta(const struct sql *sql, bool *ret_simulation, uint8_t *ret_key,
          struct sotto_error *err)
{
    int64_t simulation = 0;
    enum sotto_status status =
        sql_read(sql, "SELECT simulation, tag_key FROM meta", SQL_NONE,
                 SQL_TARGETS(SQL_INTO(&simulation),
                             SQL_INTO_BLOB(ret_key, TAG_KEY_SIZE)),
                 err);
    if (status == SOTTO_STATUS_OK) {
        *ret_simulation = simulation != 0;
    }
    return status;
}

enum sotto_status
sqlite_file_open(struct sql *sql, bool writer, bool *ret_simulation,
                 uint8_t *ret_key, struct sotto_error *err)
{
    int flags = writer ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
    enum sotto_status status =
        sql_file_open(sql, &sqlite_kind, flags | SQLITE_OPEN_NOMUTEX, err);
    status = HOST_THEN(
        status,
        sql_run(sql, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON",
                err));
    status = HOST_THEN(status, sql_file_tables(sql, &sqlite_kind, err));
    return HOST_THEN(status, read_meta(sql, ret_simulation, ret_key, err));
}

void
sqlite_file_give(const char *path, const char *made)
{
    struct stat info;
    if (stat(path, &info) == 0 && info.st_uid != geteuid()) {
        int failed = lchown(made, info.st_uid, info.st_gid);
        (void)failed;
    }
}

void
sqlite_file_remove_repaired(const char *path)
{
    static const char *const suffix[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) {
        char *name = host_text_path("%s.repaired%s", path, suffix[i]);
        if (name != NULL) {
            (void)unlink(name);
        }
        free(name);
    }
}

/* A store of version 1 becomes a new file, which is opened in its place. */
static enum sotto_status
upgrade_file(struct sql *sql, const uint8_t *key, struct sotto_error *err)
{
    int64_t version = 0;
    bool simulation = false;
    uint8_t same[TAG_KEY_SIZE];
    enum sotto_status status =
        sql_integer(sql, "PRAGMA user_version", &version, err);
    if (status != SOTTO_STATUS_OK || version == sqlite_kind.version) {
        return status;
    }
    status = sqlite_upgrade(sql, key, err);
    status =
        HOST_THEN(status, sqlite_file_open(sql, true, &simulation, same, err));
    sodium_memzero(same, sizeof same);
    return status;
}

enum sotto_status
sqlite_file_prepare(struct sql *sql, const uint8_t *key,
                    struct sotto_error *err)
{
    sqlite_file_remove_repaired(sql->path);
    enum sotto_status status = sqlite_runs_folder(sql->path, err);
    status = HOST_THEN(status, upgrade_file(sql, key, err));
    status = HOST_THEN(status, sql_file_prepare(sql, &sqlite_kind, err));
    return HOST_THEN(status, sqlite_twins_check(sql, err));
}

enum sotto_status
sqlite_file_build(struct sql *sql, struct sotto_error *err)
{
    return sql_file_build(sql, &sqlite_kind, err);
}
