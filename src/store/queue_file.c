/*
 * queue_file.c: the queue's SQLite file: making it, and opening it checked.
 *
 * As the ledger's (ledger_file.c) it has a rollback journal and flushes all it
 * keeps; what is deleted is overwritten.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "host/error.h"
#include "host/text.h"
#include "report/report.h"
#include "store/queue.h"
#include "store/sql_file.h"

_Static_assert(REPORT_HEADER_SIZE == 52, "the schema says how long it is");
_Static_assert(QUEUE_TAG_SIZE == 32, "the schema says how long it is");
_Static_assert(QUEUE_SECRET_SIZE == 32, "the schema says how long it is");

/* docs/collector.md explains every line. */
#define TABLE_ACKNOWLEDGED                                                     \
    "CREATE TABLE acknowledged (\n"                                            \
    "  tag BLOB PRIMARY KEY CHECK (length(tag) = 32)\n"                        \
    ") STRICT, WITHOUT ROWID"
#define TABLE_QUEUE_HEAD                                                       \
    "CREATE TABLE queue (\n"                                                   \
    "  one INTEGER PRIMARY KEY CHECK (one = 1),\n"                             \
    "  secret BLOB NOT NULL CHECK (length(secret) = 32),\n"                    \
    "  ledger BLOB CHECK (length(ledger) = 32)"
#define TABLE_QUEUE                                                            \
    TABLE_QUEUE_HEAD ",\n"                                                     \
                     "  mark INTEGER NOT NULL CHECK (mark >= 0)\n"             \
                     ") STRICT"
/* Version 1, of sotto 0.1.0, kept no mark. */
#define TABLE_QUEUE_1 TABLE_QUEUE_HEAD "\n) STRICT"
#define TABLE_REPORT_WITH(ends)                                                \
    "CREATE TABLE report (\n"                                                  \
    "  key INTEGER PRIMARY KEY,\n"                                             \
    "  tag BLOB NOT NULL UNIQUE CHECK (length(tag) = 32),\n"                   \
    "  destination BLOB NOT NULL CHECK (length(destination) = 32),\n"          \
    "  refused TEXT,\n" ends                                                   \
    "  report BLOB NOT NULL CHECK (length(report) > 52)\n"                     \
    ") STRICT"
#define TABLE_REPORT                                                           \
    TABLE_REPORT_WITH("  ends INTEGER NOT NULL CHECK (ends >= 0),\n")
/* Version 1 kept no ends: sotto 0.1.0 took no mechanism that has one. */
#define TABLE_REPORT_1 TABLE_REPORT_WITH("")
#define REPORT_OF_1 "SELECT key, tag, destination, refused, 0 AS ends, report "

#define APPLICATION 0x534f5451 /* "SOTQ" */

/* Where SQLite's header has the application_id, its high byte first. */
#define HEADER_SIZE 72u
#define HEADER_WORD "SQLite format 3"
#define HEADER_APPLICATION 68u

/* No advice: queue_file_fail has it. */
static const struct sql_kind kind = {
    .application = APPLICATION,
    .version = 2,
    .schema = TABLE_ACKNOWLEDGED ";" TABLE_QUEUE ";" TABLE_REPORT,
    .before = TABLE_ACKNOWLEDGED ";" TABLE_QUEUE_1 ";" TABLE_REPORT_1,
    .upgrade = "CREATE TEMP TABLE kept AS SELECT * FROM queue;"
               "DROP TABLE queue;" TABLE_QUEUE ";"
               "INSERT INTO queue SELECT one, secret, ledger, 0 FROM kept;"
               "DROP TABLE kept;"
               "CREATE TEMP TABLE kept AS " REPORT_OF_1 "FROM report;"
               "DROP TABLE report;" TABLE_REPORT ";"
               "INSERT INTO report SELECT * FROM kept ORDER BY key;"
               "DROP TABLE kept",
    .none = "",
    .other = "",
    .options = "PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY;"
               "PRAGMA synchronous=EXTRA; PRAGMA fullfsync=ON;"
               /* what is not committed is not written: it has an order */
               "PRAGMA cache_spill=OFF",
    .settings = (const struct sql_setting[]){
        {"PRAGMA journal_mode=DELETE", "delete",
         "it cannot be given a rollback journal"},
        {"PRAGMA secure_delete=ON", "1",
         "what it forgets cannot be overwritten"},
        {"PRAGMA synchronous", "3", "what it keeps cannot be flushed"},
        {NULL, NULL, NULL}}};

/* ---- Messages ----------------------------------------------------------- */

/* Whether the file begins as a queue does; also if nobody can tell. It is read
   as it is: SQLite would play a journal back, or take a lock. */
static bool
is_queue(const char *path)
{
    uint8_t head[HEADER_SIZE] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return true;
    }
    ssize_t size = read(fd, head, sizeof head);
    (void)close(fd);
    if (size < 0) {
        return errno != EISDIR;
    }
    uint32_t application = 0;
    for (size_t i = 0; i < sizeof application; i++) {
        application = application << 8 | head[HEADER_APPLICATION + i];
    }
    return memcmp(head, HEADER_WORD, sizeof HEADER_WORD) == 0 &&
           application == APPLICATION;
}

enum sotto_status
queue_file_known(const char *path, struct sotto_error *err)
{
    if (access(path, F_OK) != 0 || is_queue(path)) {
        return SOTTO_STATUS_OK;
    }
    return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                     "'%s' is no queue, and was left as it is: choose another "
                     "name for the queue",
                     host_shown(path));
}

enum sotto_status
queue_file_fail(const char *path, enum sotto_status status,
                struct sotto_error *err)
{
    if (status != SOTTO_STATUS_FORMAT ||
        queue_file_known(path, err) != SOTTO_STATUS_OK) {
        return status;
    }
    return host_fail(err, status, 0,
                     "'%s' is damaged or no queue of this version; nothing was "
                     "changed in it; move it away: the ledger has every "
                     "report, and asking it again queues them anew",
                     host_shown(path));
}

/* ---- Making ------------------------------------------------------------- */

static enum sotto_status
insert_secret(const struct sql *sql, struct sotto_error *err)
{
    uint8_t secret[QUEUE_SECRET_SIZE] = {0};
    if (sotto_entropy(secret, sizeof secret) != 0) {
        return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                         "the system gave no entropy; no queue was made");
    }
    enum sotto_status status = sql_execute(
        sql, "INSERT INTO queue (one, secret, mark) VALUES (1, ?1, 0)",
        SQL_VALUES(SQL_BLOB(secret, sizeof secret)), err);
    sodium_memzero(secret, sizeof secret);
    return status;
}

enum sotto_status
queue_file_make(const char *path, struct sotto_error *err)
{
    struct sql sql = {.path = path, .what = "queue"};
    if (access(path, F_OK) == 0) {
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status = sql_file_build(&sql, &kind, err);
    status = HOST_THEN(status, insert_secret(&sql, err));
    status = HOST_THEN(status, sql_file_write(&sql, err));
    (void)sqlite3_close(sql.db);
    return status;
}

/* ---- Opening ------------------------------------------------------------ */

/* A look cannot play back the journal of a run that was killed. */
static enum sotto_status
fail_open(const struct sql *sql, bool look, enum sotto_status status,
          struct sotto_error *err)
{
    if (look && sql->db != NULL &&
        (sqlite3_errcode(sql->db) & 0xff) == SQLITE_READONLY) {
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "a run was interrupted while it wrote to '%s', which "
                         "cannot be looked at before the next run has put it "
                         "in order: send once",
                         host_shown(sql->path));
    }
    return queue_file_fail(sql->path, status, err);
}

/* Lets a look, which upgrades nothing, see a queue of version 1 as one of this
   version: SQLite finds a temporary view before a table of the same name. */
static enum sotto_status
show_upgraded(const struct sql *sql, struct sotto_error *err)
{
    int64_t version = 0;
    enum sotto_status status =
        sql_integer(sql, "PRAGMA user_version", &version, err);
    return status == SOTTO_STATUS_OK && version != kind.version
               ? sql_run(sql,
                         "PRAGMA temp_store=MEMORY;"
                         "CREATE TEMP VIEW report AS " REPORT_OF_1
                         "FROM main.report",
                         err)
               : status;
}

enum sotto_status
queue_file_open(const char *path, bool look, struct sql *ret_sql,
                uint8_t ret_secret[QUEUE_SECRET_SIZE], struct sotto_error *err)
{
    struct sql sql = {.path = path, .what = "queue"};
    enum sotto_status status = sql_file_open(
        &sql, &kind, look ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE, err);
    if (status == SOTTO_STATUS_OK && !look) {
        status = sql_file_prepare(&sql, &kind, err);
    }
    if (status == SOTTO_STATUS_OK) { /* constraints: only if it may write */
        status = sql_file_check(&sql, &kind, err);
    }
    status = HOST_THEN(status, look ? show_upgraded(&sql, err)
                                    : sql_file_upgrade(&sql, &kind, err));
    status = HOST_THEN(
        status,
        sql_read(&sql, "SELECT secret FROM queue", SQL_NONE,
                 SQL_TARGETS(SQL_INTO_BLOB(ret_secret, QUEUE_SECRET_SIZE)),
                 err));
    if (status == SOTTO_STATUS_OK) {
        *ret_sql = sql;
    } else {
        status = fail_open(&sql, look, status, err);
        (void)sqlite3_close(sql.db);
    }
    return status;
}
