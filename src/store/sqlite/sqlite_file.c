/*
 * sqlite_file.c: the store's SQLite file: making it, and opening it checked.
 *
 * Once it is made (sql_file.h), SQLite alone writes to it, with a write-ahead
 * log (PATH-wal) that is flushed at each commit and written back when we say
 * so, and with zeros over all it deletes.
 *
 * Opening takes no longer for a store that has grown: settings are read back,
 * and what is small must agree. The pages of all that was released are looked
 * at when there is time, and payloads by their sums (sqlite_check.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "host/error.h"
#include "host/text.h"
#include "store/sql_file.h"
#include "store/sqlite/sqlite_store.h"

_Static_assert(TAG_SIZE == 16, "the schema says how long a tag is");
_Static_assert(TAG_KEY_SIZE == 32, "and the key of tags");
_Static_assert(SOTTO_HASH_SIZE == 32, "and a mechanism's hash");

/* In the order of their names. docs/collector.md explains every table. */
#define TABLE_BATCH                                                            \
    "CREATE TABLE batch (\n"                                                   \
    "  campaign INTEGER NOT NULL,\n"                                           \
    "  number INTEGER NOT NULL CHECK (number > 0),\n"                          \
    "  count INTEGER NOT NULL CHECK (count > 0),\n"                            \
    "  reports BLOB NOT NULL,\n"                                               \
    "  PRIMARY KEY (campaign, number)\n"                                       \
    ") STRICT, WITHOUT ROWID"
#define TABLE_CAMPAIGN                                                         \
    "CREATE TABLE campaign (\n"                                                \
    "  number INTEGER PRIMARY KEY CHECK (number > 0),\n"                       \
    "  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),\n"                 \
    "  name TEXT NOT NULL,\n"                                                  \
    "  payload_size INTEGER NOT NULL CHECK (payload_size > 0)\n"               \
    ") STRICT, WITHOUT ROWID"
/* Campaigns that were forgotten: no report of them is taken any more. */
#define TABLE_CLOSED                                                           \
    "CREATE TABLE closed (\n"                                                  \
    "  campaign INTEGER PRIMARY KEY CHECK (campaign > 0)\n"                    \
    ") STRICT"
#define TABLE_HELD                                                             \
    "CREATE TABLE held (\n"                                                    \
    "  campaign INTEGER NOT NULL,\n"                                           \
    "  key BLOB NOT NULL CHECK (length(key) = 16),\n"                          \
    "  payload BLOB NOT NULL,\n"                                               \
    "  PRIMARY KEY (campaign, key)\n"                                          \
    ") STRICT, WITHOUT ROWID"
#define TABLE_INCOMING(generation)                                             \
    "CREATE TABLE incoming_" #generation " (\n"                                \
    "  campaign INTEGER NOT NULL,\n"                                           \
    "  key BLOB NOT NULL CHECK (length(key) = 16),\n"                          \
    "  reports BLOB NOT NULL,\n"                                               \
    "  PRIMARY KEY (campaign, key)\n"                                          \
    ") STRICT, WITHOUT ROWID"
#define TABLE_META                                                             \
    "CREATE TABLE meta (\n"                                                    \
    "  one INTEGER PRIMARY KEY CHECK (one = 1),\n"                             \
    "  simulation INTEGER NOT NULL CHECK (simulation IN (0, 1)),\n"            \
    "  tag_key BLOB NOT NULL CHECK (length(tag_key) = 32)\n"                   \
    ") STRICT, WITHOUT ROWID"
#define TABLE_MOVE                                                             \
    "CREATE TABLE move (\n"                                                    \
    "  one INTEGER PRIMARY KEY CHECK (one = 1),\n"                             \
    "  active INTEGER NOT NULL CHECK (active IN (0, 1)),\n"                    \
    "  stage INTEGER NOT NULL CHECK (stage IN (0, 1, 2)),\n"                   \
    "  campaign INTEGER NOT NULL CHECK (campaign >= 0)\n"                      \
    ") STRICT, WITHOUT ROWID"
#define TABLE_MOVE_1                                                           \
    "CREATE TABLE move (\n"                                                    \
    "  one INTEGER PRIMARY KEY CHECK (one = 1),\n"                             \
    "  active INTEGER NOT NULL CHECK (active IN (0, 1)),\n"                    \
    "  stage INTEGER NOT NULL CHECK (stage IN (0, 1, 2)),\n"                   \
    "  campaign INTEGER NOT NULL CHECK (campaign >= 0),\n"                     \
    "  tag BLOB NOT NULL CHECK (length(tag) = 16)\n"                           \
    ") STRICT, WITHOUT ROWID"
/* The files of tags (sqlite_runs.c), and how many damaged pages were left out
   when they were merged. */
#define TABLE_RUN                                                              \
    "CREATE TABLE run (\n"                                                     \
    "  number INTEGER PRIMARY KEY CHECK (number > 0),\n"                       \
    "  level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 3),\n"                \
    "  descending INTEGER NOT NULL CHECK (descending IN (0, 1)),\n"            \
    "  tags INTEGER NOT NULL CHECK (tags >= 0),\n"                             \
    "  lost INTEGER NOT NULL CHECK (lost >= 0)\n"                              \
    ") STRICT"
#define TABLE_SEEN                                                             \
    "CREATE TABLE seen (\n"                                                    \
    "  place INTEGER PRIMARY KEY CHECK (place > 0),\n"                         \
    "  tags BLOB NOT NULL\n"                                                   \
    ") STRICT"
/* What of each campaign was released, so that nobody has to count. */
#define TABLE_TOTAL                                                            \
    "CREATE TABLE total (\n"                                                   \
    "  campaign INTEGER PRIMARY KEY CHECK (campaign > 0),\n"                   \
    "  batches INTEGER NOT NULL CHECK (batches >= 0),\n"                       \
    "  released INTEGER NOT NULL CHECK (released >= 0)\n"                      \
    ") STRICT"

#define TABLES_1                                                               \
    TABLE_BATCH ";" TABLE_CAMPAIGN ";" TABLE_HELD                              \
                ";" TABLE_INCOMING(0) ";" TABLE_INCOMING(1) ";" TABLE_META     \
                                                            ";" TABLE_MOVE_1   \
                                                            ";" TABLE_SEEN
#define TABLES                                                                 \
    TABLE_BATCH ";" TABLE_CAMPAIGN ";" TABLE_CLOSED ";" TABLE_HELD             \
                ";" TABLE_INCOMING(0) ";" TABLE_INCOMING(1) ";" TABLE_META     \
                                                            ";" TABLE_MOVE     \
                                                            ";" TABLE_RUN      \
                                                            ";" TABLE_TOTAL

/* Payloads get their sums; batches of version 1 stay as they are. Tags are in
   run 1 (sqlite_upgrade.c), of level 0 however many they are: the first window
   is merged with all of them, and none is in a run by itself. A window whose
   tags were half merged begins anew.
 */
#define UPGRADE                                                                \
    TABLE_CLOSED                                                               \
    ";"                                                                        \
    "CREATE TEMP TABLE kept AS SELECT * FROM move; DROP TABLE "                \
    "move;" TABLE_MOVE ";"                                                     \
    "INSERT INTO move SELECT one, active, stage, iif(stage = 1, 0, "           \
    "campaign) "                                                               \
    "FROM kept; DROP TABLE kept;" TABLE_RUN ";"                                \
    "INSERT INTO run SELECT 1, 0, 0, n, 0 FROM (SELECT run_tags() AS n) "      \
    "WHERE n > 0; DROP TABLE seen;" TABLE_TOTAL ";"                            \
    "INSERT INTO total SELECT c.number, count(b.number), "                     \
    "coalesce(sum(b.count), 0) FROM campaign AS c LEFT JOIN batch AS b "       \
    "ON b.campaign = c.number GROUP BY c.number;"                              \
    "UPDATE held SET payload = with_sums(payload, 0, length(payload));"        \
    "UPDATE incoming_0 SET reports = with_sums(reports, 16, (SELECT "          \
    "payload_size FROM campaign WHERE number = incoming_0.campaign));"         \
    "UPDATE incoming_1 SET reports = with_sums(reports, 16, (SELECT "          \
    "payload_size FROM campaign WHERE number = incoming_1.campaign))"

static const struct sql_kind kind = {
    .application = 0x534f5453, /* "SOTS" */
    .version = 2,
    .schema = TABLES,
    .before = TABLES_1,
    .upgrade = UPGRADE,
    .none = "; check the name",
    .other = "; give the name of one, or of a file that is not there yet",
    .options = "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8192;"
               "PRAGMA synchronous=FULL; PRAGMA fullfsync=ON;"
               "PRAGMA checkpoint_fullfsync=ON; PRAGMA wal_autocheckpoint=0",
    .settings = (const struct sql_setting[]){
        {"PRAGMA journal_mode=WAL", "wal", "it cannot be given a log"},
        {"PRAGMA synchronous", "2", "what it keeps cannot be flushed"},
        {"PRAGMA secure_delete=ON", "1",
         "what it deletes cannot be overwritten"},
        {NULL, NULL, NULL}}};

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
    status = HOST_THEN(status, sql_file_build(&sql, &kind, err));
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
        sql_file_open(sql, &kind, flags | SQLITE_OPEN_NOMUTEX, err);
    status = HOST_THEN(
        status,
        sql_run(sql, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON",
                err));
    status = HOST_THEN(status, sql_file_tables(sql, &kind, err));
    return HOST_THEN(status, read_meta(sql, ret_simulation, ret_key, err));
}

/* A store of version 1 is looked at as a whole, once, before it is changed. */
static enum sotto_status
upgrade_file(const struct sql *sql, const uint8_t *key, struct sotto_error *err)
{
    int64_t version = 0;
    enum sotto_status status =
        sql_integer(sql, "PRAGMA user_version", &version, err);
    if (status != SOTTO_STATUS_OK || version == kind.version) {
        return status;
    }
    status = sql_expect(sql, "PRAGMA quick_check(1)", "ok",
                        "its parts contradict each other", err);
    status = HOST_THEN(status, sqlite_upgrade_prepare(sql, key, err));
    return HOST_THEN(status, sql_file_upgrade(sql, &kind, err));
}

enum sotto_status
sqlite_file_prepare(const struct sql *sql, const uint8_t *key,
                    struct sotto_error *err)
{
    enum sotto_status status = sql_file_prepare(sql, &kind, err);
    status = HOST_THEN(status, sqlite_runs_folder(sql->path, err));
    return HOST_THEN(status, upgrade_file(sql, key, err));
}

enum sotto_status
sqlite_file_build(struct sql *sql, struct sotto_error *err)
{
    return sql_file_build(sql, &kind, err);
}
