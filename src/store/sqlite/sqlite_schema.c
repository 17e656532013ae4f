/*
 * sqlite_schema.c: the tables of the store, and what kind of SQLite file it is.
 *
 * Small tables that all else hangs on have a twin: the same rows on pages of
 * their own, kept by triggers in the same transaction. Whatever page is
 * damaged, one of the two is not.
 */
#include <stdio.h>

#include "host/error.h"
#include "store/sqlite/sqlite_store.h"

_Static_assert(TAG_SIZE == 16, "the schema says how long a tag is");
_Static_assert(TAG_KEY_SIZE == 32, "and the key of tags");
_Static_assert(SOTTO_HASH_SIZE == 32, "and a mechanism's hash");

/* docs/collector.md explains every table. */
#define TABLE_BATCH                                                            \
    "CREATE TABLE batch (\n"                                                   \
    "  campaign INTEGER NOT NULL CHECK (campaign > 0),\n"                      \
    "  number INTEGER NOT NULL CHECK (number > 0),\n"                          \
    "  count INTEGER NOT NULL CHECK (count >= 0),\n"                           \
    "  first INTEGER NOT NULL CHECK (first > 0),\n"                            \
    "  chunks INTEGER NOT NULL CHECK (chunks >= 0),\n"                         \
    "  sum INTEGER NOT NULL CHECK (sum BETWEEN 0 AND 4294967295),\n"           \
    "  PRIMARY KEY (campaign, number)\n"                                       \
    ") STRICT, WITHOUT ROWID"
#define TABLE_CAMPAIGN(name)                                                   \
    "CREATE TABLE " name " (\n"                                                \
    "  number INTEGER PRIMARY KEY CHECK (number > 0),\n"                       \
    "  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),\n"                 \
    "  name TEXT NOT NULL,\n"                                                  \
    "  payload_size INTEGER NOT NULL CHECK (payload_size > 0)\n"               \
    ") STRICT, WITHOUT ROWID"
/* Campaigns that were forgotten: no report of them is taken any more. */
#define TABLE_CLOSED(name)                                                     \
    "CREATE TABLE " name " (\n"                                                \
    "  campaign INTEGER PRIMARY KEY CHECK (campaign > 0)\n"                    \
    ") STRICT"
#define TABLE_HELD                                                             \
    "CREATE TABLE held (\n"                                                    \
    "  campaign INTEGER NOT NULL,\n"                                           \
    "  key BLOB NOT NULL CHECK (length(key) = 16),\n"                          \
    "  payload BLOB NOT NULL,\n"                                               \
    "  PRIMARY KEY (campaign, key)\n"                                          \
    ") STRICT, WITHOUT ROWID"
/* Rows of reports: of incoming_0 and incoming_1, and of released. */
#define TABLE_REPORTS(name)                                                    \
    "CREATE TABLE " name " (\n"                                                \
    "  place INTEGER PRIMARY KEY CHECK (place > 0),\n"                         \
    "  reports BLOB NOT NULL\n"                                                \
    ") STRICT"
#define TABLE_META(name)                                                       \
    "CREATE TABLE " name " (\n"                                                \
    "  one INTEGER PRIMARY KEY CHECK (one = 1),\n"                             \
    "  simulation INTEGER NOT NULL CHECK (simulation IN (0, 1)),\n"            \
    "  tag_key BLOB NOT NULL CHECK (length(tag_key) = 32)\n"                   \
    ") STRICT, WITHOUT ROWID"
#define TABLE_MOVE(name)                                                       \
    "CREATE TABLE " name " (\n"                                                \
    "  one INTEGER PRIMARY KEY CHECK (one = 1),\n"                             \
    "  active INTEGER NOT NULL CHECK (active IN (0, 1)),\n"                    \
    "  stage INTEGER NOT NULL CHECK (stage IN (0, 1, 2)),\n"                   \
    "  campaign INTEGER NOT NULL CHECK (campaign >= 0)\n"                      \
    ") STRICT, WITHOUT ROWID"
/* The files of tags (sqlite_runs.c), and how many damaged pages were left out
   when they were merged. */
#define TABLE_RUN(name)                                                        \
    "CREATE TABLE " name " (\n"                                                \
    "  number INTEGER PRIMARY KEY CHECK (number > 0),\n"                       \
    "  level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 4),\n"                \
    "  descending INTEGER NOT NULL CHECK (descending IN (0, 1)),\n"            \
    "  tags INTEGER NOT NULL CHECK (tags >= 0),\n"                             \
    "  lost INTEGER NOT NULL CHECK (lost >= 0)\n"                              \
    ") STRICT"
/* What of each campaign was released, so that nobody has to count. */
#define TABLE_TOTAL(name)                                                      \
    "CREATE TABLE " name " (\n"                                                \
    "  campaign INTEGER PRIMARY KEY CHECK (campaign > 0),\n"                   \
    "  batches INTEGER NOT NULL CHECK (batches >= 0),\n"                       \
    "  released INTEGER NOT NULL CHECK (released >= 0)\n"                      \
    ") STRICT"

/* What keeps a table's twin: `key` is its primary key. */
#define TRIGGERS(name, key, values)                                            \
    "CREATE TRIGGER " name "_deleted AFTER DELETE ON " name " BEGIN\n"         \
    "  DELETE FROM spare_" name " WHERE " key " = old." key ";\n"              \
    "END;"                                                                     \
    "CREATE TRIGGER " name "_inserted AFTER INSERT ON " name " BEGIN\n"        \
    "  INSERT INTO spare_" name " VALUES (" values ");\n"                      \
    "END;"                                                                     \
    "CREATE TRIGGER " name "_updated AFTER UPDATE ON " name " BEGIN\n"         \
    "  DELETE FROM spare_" name " WHERE " key " = old." key ";\n"              \
    "  INSERT INTO spare_" name " VALUES (" values ");\n"                      \
    "END"

/* In the order of their names, as are triggers. */
#define TABLES                                                                                              \
    TABLE_BATCH ";" TABLE_CAMPAIGN(                                                                         \
        "campaign") ";" TABLE_CLOSED("closed") ";" TABLE_HELD                                               \
                                               ";" TABLE_REPORTS("incoming_0") ";" TABLE_REPORTS("incoming" \
                                                                                                 "_1") ";" TABLE_META("meta") ";" TABLE_MOVE("move") ";" TABLE_REPORTS("released") ";" TABLE_RUN("run") ";" TABLE_CAMPAIGN("spare_campaign") ";" TABLE_CLOSED("spare_closed") ";" TABLE_META("spare_meta") ";" TABLE_MOVE("spare_move") ";" TABLE_RUN("spare_run") ";" TABLE_TOTAL("spare_total") ";" TABLE_TOTAL("total")
#define ALL_TRIGGERS                                                                                                                     \
    TRIGGERS("campaign", "number",                                                                                                       \
             "new.number, new.hash, new.name, new.payload_size")                                                                         \
    ";" TRIGGERS("closed", "campaign", "new.campaign") ";" TRIGGERS("meta", "one", "new.one, new.simulation, new.tag_key") ";" TRIGGERS( \
        "move", "one",                                                                                                                   \
        "new.one, new.active, new.stage, new.campaign") ";" TRIGGERS("run",                                                              \
                                                                     "number",                                                           \
                                                                     "new."                                                              \
                                                                     "number,"                                                           \
                                                                     " new."                                                             \
                                                                     "level, "                                                           \
                                                                     "new."                                                              \
                                                                     "descend"                                                           \
                                                                     "ing, "                                                             \
                                                                     "new."                                                              \
                                                                     "tags, "                                                            \
                                                                     "new."                                                              \
                                                                     "lost") ";" TRIGGERS("total",                                       \
                                                                                          "campaign",                                    \
                                                                                          "new.campaign, new.batches, new.released")

/* Those of 0.1.0, which sqlite_upgrade.c reads. */
#define TABLES_1                                                               \
    "CREATE TABLE batch (\n"                                                   \
    "  campaign INTEGER NOT NULL,\n"                                           \
    "  number INTEGER NOT NULL CHECK (number > 0),\n"                          \
    "  count INTEGER NOT NULL CHECK (count > 0),\n"                            \
    "  reports BLOB NOT NULL,\n"                                               \
    "  PRIMARY KEY (campaign, number)\n"                                       \
    ") STRICT, WITHOUT ROWID;" TABLE_CAMPAIGN(                                 \
        "campaign") ";" TABLE_HELD ";"                                         \
                    "CREATE TABLE incoming_0 (\n"                              \
                    "  campaign INTEGER NOT NULL,\n"                           \
                    "  key BLOB NOT NULL CHECK (length(key) = 16),\n"          \
                    "  reports BLOB NOT NULL,\n"                               \
                    "  PRIMARY KEY (campaign, key)\n"                          \
                    ") STRICT, WITHOUT ROWID;"                                 \
                    "CREATE TABLE incoming_1 (\n"                              \
                    "  campaign INTEGER NOT NULL,\n"                           \
                    "  key BLOB NOT NULL CHECK (length(key) = 16),\n"          \
                    "  reports BLOB NOT NULL,\n"                               \
                    "  PRIMARY KEY (campaign, key)\n"                          \
                    ") STRICT, WITHOUT ROWID;" TABLE_META(                     \
                        "meta") ";"                                            \
                                "CREATE TABLE move (\n"                        \
                                "  one INTEGER PRIMARY KEY CHECK (one = 1),\n" \
                                "  active INTEGER NOT NULL CHECK (active IN "  \
                                "(0, 1)),\n"                                   \
                                "  stage INTEGER NOT NULL CHECK (stage IN "    \
                                "(0, 1, 2)),\n"                                \
                                "  campaign INTEGER NOT NULL CHECK (campaign " \
                                ">= 0),\n"                                     \
                                "  tag BLOB NOT NULL CHECK (length(tag) = "    \
                                "16)\n"                                        \
                                ") STRICT, WITHOUT ROWID;"                     \
                                "CREATE TABLE seen (\n"                        \
                                "  place INTEGER PRIMARY KEY CHECK (place > "  \
                                "0),\n"                                        \
                                "  tags BLOB NOT NULL\n"                       \
                                ") STRICT"

const struct sql_kind sqlite_kind = {
    .application = 0x534f5453, /* "SOTS" */
    .version = 2,
    .schema = TABLES,
    .triggers = ALL_TRIGGERS,
    .before = TABLES_1,
    .summed = true,
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

/* ---- Twins --------------------------------------------------------------- */

const char *const sqlite_twins[] = {"campaign", "closed", "meta", "move",
                                    "run",      "total",  NULL};

enum sotto_status
sqlite_twins_differ(const struct sql *sql, const char *table, bool *ret_differ,
                    struct sotto_error *err)
{
    char text[256];
    sqlite3_stmt *row = NULL;
    (void)snprintf(text, sizeof text,
                   "SELECT 1 FROM (SELECT * FROM %s EXCEPT SELECT * FROM "
                   "spare_%s) UNION ALL SELECT 1 FROM (SELECT * FROM spare_%s "
                   "EXCEPT SELECT * FROM %s)",
                   table, table, table, table);
    enum sotto_status status =
        sql_first(sql, text, SQL_NONE, &row, ret_differ, err);
    (void)sqlite3_finalize(row);
    return status;
}

enum sotto_status
sqlite_twins_check(const struct sql *sql, struct sotto_error *err)
{
    for (size_t i = 0; sqlite_twins[i] != NULL; i++) {
        bool differ = false;
        enum sotto_status status =
            sqlite_twins_differ(sql, sqlite_twins[i], &differ, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        if (differ) {
            return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                             "the store '%s' is damaged: its table %s and the "
                             "copy of that are not the same; run: sotto store "
                             "repair sqlite:%s",
                             host_shown(sql->path), sqlite_twins[i],
                             host_shown(sql->path));
        }
    }
    return SOTTO_STATUS_OK;
}
