/*
 * sqlite_store.c: the writer's side of the SQLite back-end: opening,
 * campaigns, transactions.
 *
 * What is counted in memory is read again after a rollback.
 *
 * PATH.lock is locked for as long as the writer lives; it is never removed,
 * or two could hold a lock of that name. PATH is the file's one name, whatever
 * the store was opened by. Should somebody write there all the same, what is in
 * memory is wrong, and nothing more is written.
 */
#include "store/sqlite/sqlite_store.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/error.h"
#include "host/text.h"
#include "host/wipe.h"
#include "store/sql_file.h"
#include "store/sql_log.h"

static const struct sqlite_limits usual_limits = {
    .window_bytes = (uint64_t)256 << 20,
    .batch_bytes = (uint64_t)512 << 20,
    .aside_bytes = (size_t)4 << 20,
    .log_frames = 4096,
};

/* Tags of a run before they descend. */
static const uint64_t usual_levels[LEVELS - 1] = {
    (uint64_t)1 << 20, (uint64_t)1 << 22, (uint64_t)1 << 25, (uint64_t)1 << 28};

static const char *const statement_text[STATEMENTS] = {
    [STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
    [STATEMENT_COMMIT] = "COMMIT",
    [STATEMENT_VERSION] = "PRAGMA data_version",
    [STATEMENT_ROW_0] = "INSERT INTO incoming_0 VALUES (?1, ?2)",
    [STATEMENT_ROW_1] = "INSERT INTO incoming_1 VALUES (?1, ?2)",
};

int
sqlite_step(sqlite3_stmt *statement, const struct sql_value *values)
{
    int code = sql_bind(statement, values);
    if (code != SQLITE_OK) {
        return code;
    }
    code = sqlite3_step(statement);
    int again = sqlite3_reset(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE ? code : again;
}

enum sotto_status
sqlite_check_begun(const struct sqlite_store *store, struct sotto_error *err)
{
    return sqlite3_get_autocommit(store->sql.db) == 0 && !store->failed
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "nothing was begun in '%s', or it has failed",
                           host_shown(store->path));
}

/* ---- Names --------------------------------------------------------------- */

static const char *const suffix[SQLITE_NAMES] = {"", "-wal", ".lock"};

/* What a name of the store is the name of; all 0: of nothing, or of a file that
   SQLite keeps elsewhere than in the file system (a test does). */
static struct sqlite_name
look_at(const struct sqlite_store *store, size_t which)
{
    char path[PATH_MAX];
    struct stat info = {0};
    int size = snprintf(path, sizeof path, "%s%s", store->path, suffix[which]);
    bool found = size < (int)sizeof path && stat(path, &info) == 0;
    return found ? (struct sqlite_name){info.st_dev, info.st_ino}
                 : (struct sqlite_name){0};
}

/* A file that has lost its name takes all that is written, and is gone when it
   is closed. */
static enum sotto_status
check_names(const struct sqlite_store *store, struct sotto_error *err)
{
    for (size_t i = 0; i < SQLITE_NAMES; i++) {
        struct sqlite_name name = look_at(store, i);
        if (store->name[i].number != 0 &&
            (name.device != store->name[i].device ||
             name.number != store->name[i].number)) {
            return host_fail(err, SOTTO_STATUS_IO, 0,
                             "'%s%s' is gone, or was replaced, while the store "
                             "is open: nothing is stored until the file that "
                             "was there is back",
                             host_shown(store->path), suffix[i]);
        }
    }
    return SOTTO_STATUS_OK;
}

/* ---- Connecting ---------------------------------------------------------- */

static int
note_frames(void *context, sqlite3 *db, const char *name, int frames)
{
    struct sqlite_store *store = context;
    (void)db;
    (void)name;
    store->frames = frames;
    return SQLITE_OK;
}

static enum sotto_status
prepare_all(struct sqlite_store *store, struct sotto_error *err)
{
    for (int i = 0; i < STATEMENTS; i++) {
        int code = sqlite3_prepare_v3(store->sql.db, statement_text[i], -1,
                                      SQLITE_PREPARE_PERSISTENT,
                                      &store->statement[i], NULL);
        if (code != SQLITE_OK) {
            return sql_fail(&store->sql, code, err);
        }
    }
    (void)sqlite3_wal_hook(store->sql.db, note_frames, store);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
check_simulation(const struct sqlite_store *store, bool wanted,
                 struct sotto_error *err)
{
    return store->simulation == wanted
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_REFUSED, 0,
                           "the store '%s' was made for %s reports; take "
                           "another one for %s",
                           host_shown(store->path),
                           wanted ? "devices'" : "simulated",
                           wanted ? "simulated reports" : "devices'");
}

/* SQLite writes the log back and removes it when it is closed: here only if
   all of it is sound. */
static void
settle_log(const struct sqlite_store *store)
{
    if (sqlite_scrub_check(&store->sql, NULL) == SOTTO_STATUS_OK) {
        (void)sqlite3_db_config(store->sql.db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
                                0, NULL);
    }
}

static void
close_store(void *own)
{
    struct sqlite_store *store = own;
    if (store == NULL) {
        return;
    }
    bool opened = store->statement[STATEMENTS - 1] != NULL;
    for (int i = 0; i < STATEMENTS; i++) {
        (void)sqlite3_finalize(store->statement[i]);
    }
    sqlite_runs_close(store);
    if (opened) {
        sql_roll_back(&store->sql);
        settle_log(store);
    }
    (void)sqlite3_close(store->sql.db); /* rolls back */
    if (store->lock >= 0) {
        (void)close(store->lock);
    }
    sqlite_unload(store);
    sqlite_runs_unload(store);
    free(store->path);
    host_wipe_free(store, sizeof *store);
}

/* Before SQLite does: where it finds damage it believes that the log ends, and
   writes over what is behind. */
static enum sotto_status
look_at_log(struct sqlite_store *store, struct sotto_error *err)
{
    struct sql_log_look look = {0};
    char *name = host_text_path("%s-wal", store->path);
    enum sotto_status status =
        name == NULL ? host_fail_memory(err)
                     : sql_log_mend(name, &store->found.mended, err);
    status = HOST_THEN(status, sql_log_look(name, &look, err));
    store->found.commits = look.commits;
    store->found.damaged = look.damaged;
    store->found.lost = look.lost;
    free(name);
    return status;
}

static enum sotto_status
open_store(const char *place, bool simulation, void **ret,
           struct sotto_error *err)
{
    struct sqlite_store *store = calloc(1, sizeof *store);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (store == NULL) {
        return host_fail_memory(err);
    }
    store->lock = -1;
    store->limits = usual_limits;
    store->stale = true;
    memcpy(store->runs.most, usual_levels, sizeof usual_levels);
    status = sql_file_resolve(place, &store->path, err);
    if (status == SOTTO_STATUS_OK) {
        store->sql = (struct sql){NULL, store->path, "store"};
        status = sql_file_lock(store->path, "the store",
                               " has a writer already; end it first",
                               &store->lock, err);
    }
    status = HOST_THEN(status, look_at_log(store, err));
    status = HOST_THEN(status, sqlite_file_make(store->path, simulation, err));
    status = HOST_THEN(status,
                       sqlite_file_open(&store->sql, true, &store->simulation,
                                        store->key, err));
    status = HOST_THEN(status, check_simulation(store, simulation, err));
    status =
        HOST_THEN(status, sqlite_file_prepare(&store->sql, store->key, err));
    status = HOST_THEN(status, prepare_all(store, err));
    status = HOST_THEN(status, sqlite_load(store, err));
    if (status == SOTTO_STATUS_OK) {
        sqlite_runs_remove_others(store);
        store->found.open =
            store->incoming[0].reports + store->incoming[1].reports;
    }
    for (size_t i = 0; i < SQLITE_NAMES; i++) {
        store->name[i] = look_at(store, i);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret = store;
    } else {
        close_store(store);
    }
    return status;
}

/* ---- Campaigns ----------------------------------------------------------- */

/* A campaign's row, and that of its total, together. */
static enum sotto_status
insert_campaign(const struct sqlite_store *store, const uint8_t *hash,
                const char *name, size_t payload_size, struct sotto_error *err)
{
    int64_t number = store->campaigns + (int64_t)1;
    enum sotto_status status = sql_run(&store->sql, "BEGIN IMMEDIATE", err);
    status = HOST_THEN(
        status,
        sql_execute(
            &store->sql, "INSERT INTO campaign VALUES (?1, ?2, ?3, ?4)",
            SQL_VALUES(SQL_NUMBER(number), SQL_BLOB(hash, SOTTO_HASH_SIZE),
                       SQL_TEXT(name, strlen(name)), SQL_NUMBER(payload_size)),
            err));
    status = HOST_THEN(
        status, sql_execute(&store->sql, "INSERT INTO total VALUES (?1, 0, 0)",
                            SQL_VALUES(SQL_NUMBER(number)), err));
    status = HOST_THEN(status, sql_run(&store->sql, "COMMIT", err));
    sql_roll_back(&store->sql);
    return status;
}

/* Room for one more is made before the row is durable. */
static enum sotto_status
add_campaign(struct sqlite_store *store, const uint8_t *hash, const char *name,
             size_t payload_size, struct sotto_error *err)
{
    if (store->campaigns + 1 >= SQLITE_CAMPAIGNS) {
        return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                         "the store '%s' has %u campaigns, and takes no more; "
                         "take another one",
                         host_shown(store->path), store->campaigns);
    }
    struct sqlite_campaign *more =
        realloc(store->campaign, (store->campaigns + 2u) * sizeof *more);
    if (more == NULL) {
        return host_fail_memory(err);
    }
    store->campaign = more;
    enum sotto_status status =
        insert_campaign(store, hash, name, payload_size, err);
    if (status == SOTTO_STATUS_OK) {
        struct sqlite_campaign *campaign = &more[store->campaigns++];
        memset(campaign, 0, sizeof *campaign);
        memcpy(campaign->hash, hash, SOTTO_HASH_SIZE);
        campaign->payload_size = payload_size;
        campaign->record = SQLITE_RECORD(payload_size);
        store->spills = store->spills || campaign->record > SQLITE_HELD_MOST;
    }
    return status;
}

static enum sotto_status
note_campaign(void *own, const uint8_t *hash, const char *name,
              size_t payload_size, uint32_t *ret_campaign,
              struct sotto_error *err)
{
    struct sqlite_store *store = own;
    uint32_t i = 0;
    if (sqlite3_get_autocommit(store->sql.db) == 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a campaign is noted before something is begun");
    }
    enum sotto_status status = sqlite_load(store, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    while (i < store->campaigns &&
           memcmp(store->campaign[i].hash, hash, SOTTO_HASH_SIZE) != 0) {
        i++;
    }
    if (i < store->campaigns &&
        store->campaign[i].payload_size != payload_size) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "the store '%s' knows this mechanism with reports of "
                         "%zu bytes, not %zu",
                         host_shown(store->path),
                         store->campaign[i].payload_size, payload_size);
    }
    if (i < store->campaigns && store->campaign[i].closed) {
        return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                         "this mechanism's campaign was closed in the store "
                         "'%s': no report of it is taken any more",
                         host_shown(store->path));
    }
    if (i == store->campaigns) {
        status = add_campaign(store, hash, name, payload_size, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_campaign = i + 1;
    }
    return status;
}

/* ---- Transactions -------------------------------------------------------- */

/* SQLite's number of the file's state as this connection left it. */
static int
read_version(const struct sqlite_store *store, int64_t *ret_version)
{
    sqlite3_stmt *select = store->statement[STATEMENT_VERSION];
    int code = sqlite3_step(select);
    if (code == SQLITE_ROW) {
        *ret_version = sqlite3_column_int64(select, 0);
    }
    int again = sqlite3_reset(select);
    return code == SQLITE_ROW ? SQLITE_DONE : again;
}

void
sqlite_roll_back(void *own)
{
    struct sqlite_store *store = own;
    sql_roll_back(&store->sql);
    /* A failure of the disk changes the number, too: nobody else can have
       written in between. */
    if (read_version(store, &store->version) != SQLITE_DONE) {
        store->version = 0;
    }
    store->stale = true;
    store->failed = false;
    sqlite_runs_rolled_back(store);
}

static enum sotto_status
fail_others(const struct sqlite_store *store, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                     "another program has written to the store '%s', or cut "
                     "its log (wal_checkpoint); end it, and open the store "
                     "again",
                     host_shown(store->path));
}

static enum sotto_status
begin_commit(void *own, struct sotto_error *err)
{
    struct sqlite_store *store = own;
    if (sqlite3_get_autocommit(store->sql.db) == 0 || store->failed) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "something was begun in '%s' already",
                         host_shown(store->path));
    }
    enum sotto_status status =
        store->others ? fail_others(store, err) : sqlite_load(store, err);
    status = HOST_THEN(status, check_names(store, err));
    if (status == SOTTO_STATUS_OK && store->cut_short) {
        status = sqlite_scrub_check(&store->sql, err);
        store->cut_short = status == SOTTO_STATUS_FORMAT;
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    sqlite_runs_begin(store);
    int64_t version = 0;
    int code = sqlite_step(store->statement[STATEMENT_BEGIN], SQL_NONE);
    code = code == SQLITE_DONE ? read_version(store, &version) : code;
    if (code == SQLITE_DONE && version == store->version) {
        return SOTTO_STATUS_OK;
    }
    store->others = code == SQLITE_DONE;
    status = store->others ? fail_others(store, err)
                           : sql_fail(&store->sql, code, err);
    sqlite_roll_back(store);
    return status;
}

static enum sotto_status
end_commit(void *own, struct sotto_error *err)
{
    struct sqlite_store *store = own;
    enum sotto_status status = sqlite_check_begun(store, err);
    status = HOST_THEN(status, sqlite_put_blocks(store, err));
    if (status == SOTTO_STATUS_OK) {
        store->committing = true;
        int code = sqlite_step(store->statement[STATEMENT_COMMIT], SQL_NONE);
        if (code != SQLITE_DONE) {
            status = sql_fail(&store->sql, code, err);
        }
    }
    if (status == SOTTO_STATUS_OK) {
        sqlite_runs_committed(store);
        sqlite_scrub_log(store);
    } else {
        sqlite_roll_back(store);
    }
    store->committing = false;
    return status;
}

/* ---- The back-end -------------------------------------------------------- */

static enum sotto_status
count_reports(void *own, uint32_t number, struct store_counts *ret_counts,
              struct sotto_error *err)
{
    struct sqlite_store *store = own;
    enum sotto_status status = sqlite_load(store, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (number == 0 || number > store->campaigns) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "no campaign has number %u", number);
    }
    const struct sqlite_campaign *campaign = &store->campaign[number - 1];
    *ret_counts = (struct store_counts){
        campaign->incoming[0] + campaign->incoming[1] + campaign->held,
        campaign->released, campaign->batches,
        campaign->incoming[1 - store->move.active] + campaign->held,
        campaign->closed};
    return SOTTO_STATUS_OK;
}

static void
tell_found(const void *own, struct store_found *ret_found)
{
    const struct sqlite_store *store = own;
    *ret_found = store->found;
}

const struct store_backend store_sqlite = {
    .kind = "sqlite",
    .open = open_store,
    .close = close_store,
    .campaign = note_campaign,
    .begin = begin_commit,
    .put = sqlite_put,
    .put_many = sqlite_put_many,
    .commit = end_commit,
    .rollback = sqlite_roll_back,
    .end_window = sqlite_window_end,
    .advance = sqlite_window_advance,
    .scrub = sqlite_scrub,
    .count = count_reports,
    .found = tell_found,
    .reader_open = sqlite_reader_open,
    .reader_close = sqlite_reader_close,
    .reader_next = sqlite_reader_next,
    .forget = sqlite_forget,
    .backup = sqlite_backup,
    .checker_open = sqlite_checker_open,
    .checker_close = sqlite_checker_close,
    .checker_step = sqlite_checker_step,
    .repair = sqlite_repair,
};
