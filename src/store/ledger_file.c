/*
 * ledger_file.c: the ledger's SQLite file: making it, and opening it checked.
 *
 * Once it is made (sql_file.h), SQLite alone writes to it, with a rollback
 * journal that is deleted at each commit and synchronous=EXTRA, which flushes
 * the folder after that deletion: a journal that came back with the power would
 * undo a charge whose report is out.
 *
 * Opening believes nothing: the settings are read back, and every page, index
 * and constraint is checked, for a damaged index could hide that a person was
 * asked.
 */
#include <string.h>

#include "host/error.h"
#include "report/report.h"
#include "store/ledger.h"
#include "store/sql_file.h"

/* The bytes of a report that name its mechanism and itself, for the schema. */
_Static_assert(REPORT_MAGIC_SIZE == 4 && SOTTO_HASH_SIZE == 32 &&
                   SOTTO_ID_SIZE == 16,
               "the schema says where the hash and the id are");

/* Amounts are in units of 10^-12. docs/ledger.md explains every line. */
#define TABLE_CHARGE                                                           \
    "CREATE TABLE charge (\n"                                                  \
    "  sequence INTEGER PRIMARY KEY,\n"                                        \
    "  person BLOB NOT NULL CHECK (length(person) = 32),\n"                    \
    "  campaign TEXT NOT NULL,\n"                                              \
    "  mechanism BLOB NOT NULL CHECK (mechanism = substr(report, 5, 32)),\n"   \
    "  id BLOB NOT NULL UNIQUE CHECK (id = substr(report, 37, 16)),\n"         \
    "  charged_at INTEGER NOT NULL CHECK (charged_at >= 0),\n"                 \
    "  eps INTEGER NOT NULL CHECK (eps > 0),\n"                                \
    "  delta INTEGER NOT NULL CHECK (delta >= 0),\n"                           \
    "  report BLOB NOT NULL CHECK (length(report) > 52),\n"                    \
    "  UNIQUE (person, campaign, mechanism)\n"                                 \
    ") STRICT"
/* The first charge of a campaign is its cap, unless there is one. */
#define INDEX_CAMPAIGN "CREATE INDEX charge_campaign ON charge (campaign)"
#define TABLE_LEDGER                                                           \
    "CREATE TABLE ledger (\n"                                                  \
    "  one INTEGER PRIMARY KEY CHECK (one = 1),\n"                             \
    "  secret_check BLOB NOT NULL CHECK (length(secret_check) = 32),\n"        \
    "  lifetime_eps INTEGER NOT NULL CHECK (lifetime_eps > 0),\n"              \
    "  lifetime_delta INTEGER NOT NULL CHECK (lifetime_delta >= 0),\n"         \
    "  campaign_eps INTEGER\n"                                                 \
    "    CHECK (campaign_eps > 0 AND campaign_eps <= lifetime_eps),\n"         \
    "  campaign_delta INTEGER\n"                                               \
    "    CHECK (campaign_delta >= 0 AND campaign_delta <= lifetime_delta)\n"   \
    ") STRICT"

/* Who has which name: `name` is the key of all its spellings. Charges of sotto
   0.1.0 have no row. */
#define TABLE_SPELLING                                                         \
    "CREATE TABLE spelling (\n"                                                \
    "  name BLOB PRIMARY KEY CHECK (length(name) = 32),\n"                     \
    "  person BLOB NOT NULL CHECK (length(person) = 32)\n"                     \
    ") STRICT, WITHOUT ROWID"

/* Version 1, of sotto 0.1.0: every campaign had a cap of its own. */
#define TABLE_LEDGER_1                                                         \
    "CREATE TABLE ledger (\n"                                                  \
    "  one INTEGER PRIMARY KEY CHECK (one = 1),\n"                             \
    "  secret_check BLOB NOT NULL CHECK (length(secret_check) = 32),\n"        \
    "  lifetime_eps INTEGER NOT NULL CHECK (lifetime_eps > 0),\n"              \
    "  lifetime_delta INTEGER NOT NULL CHECK (lifetime_delta >= 0),\n"         \
    "  campaign_eps INTEGER NOT NULL\n"                                        \
    "    CHECK (campaign_eps > 0 AND campaign_eps <= lifetime_eps),\n"         \
    "  campaign_delta INTEGER NOT NULL\n"                                      \
    "    CHECK (campaign_delta >= 0 AND campaign_delta <= lifetime_delta)\n"   \
    ") STRICT"

static const struct sql_kind kind = {
    .application = 0x534f544c, /* "SOTL" */
    .version = 2,
    .schema =
        TABLE_CHARGE ";" INDEX_CAMPAIGN ";" TABLE_LEDGER ";" TABLE_SPELLING,
    .before = TABLE_CHARGE ";" TABLE_LEDGER_1,
    .upgrade = INDEX_CAMPAIGN ";" TABLE_SPELLING ";"
                              "CREATE TEMP TABLE kept AS SELECT * FROM ledger;"
                              "DROP TABLE ledger;" TABLE_LEDGER ";"
                              "INSERT INTO ledger SELECT * FROM kept;"
                              "DROP TABLE kept",
    .none = "; check the name, or make one with 'sotto ledger new'",
    .other = "; make one with 'sotto ledger new'",
    .options = "PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY;"
               "PRAGMA synchronous=EXTRA; PRAGMA fullfsync=ON",
    .settings = (const struct sql_setting[]){
        {"PRAGMA journal_mode=DELETE", "delete",
         "it cannot be given a rollback journal"},
        {"PRAGMA synchronous", "3", "what it keeps cannot be flushed"},
        {NULL, NULL, NULL}}};

/* ---- Making ------------------------------------------------------------- */

enum sotto_status
ledger_file_create(const char *path, const struct ledger_budgets *caps,
                   const uint8_t check[LEDGER_CHECK_SIZE],
                   struct sotto_error *err)
{
    struct sql sql = {NULL, path, "ledger"};
    enum sotto_status status = sql_file_build(&sql, &kind, err);
    status = HOST_THEN(
        status, sql_execute(&sql,
                            "INSERT INTO ledger VALUES "
                            "(1, ?1, ?2, ?3, nullif(?4, -1), nullif(?5, -1))",
                            SQL_VALUES(SQL_BLOB(check, LEDGER_CHECK_SIZE),
                                       SQL_NUMBER(caps->lifetime.eps),
                                       SQL_NUMBER(caps->lifetime.delta),
                                       SQL_NUMBER(caps->campaign.eps),
                                       SQL_NUMBER(caps->campaign.delta)),
                            err));
    status = HOST_THEN(status, sql_file_write(&sql, err));
    (void)sqlite3_close(sql.db);
    return status;
}

/* ---- Opening ------------------------------------------------------------ */

_Static_assert((int64_t)LEDGER_BY_FIRST == -1,
               "what SQL says in place of NULL");

static enum sotto_status
read_settings(const struct sql *sql, struct ledger_budgets *ret_caps,
              uint8_t ret_check[LEDGER_CHECK_SIZE], struct sotto_error *err)
{
    return sql_read(
        sql,
        "SELECT secret_check, lifetime_eps, lifetime_delta, "
        "coalesce(campaign_eps, -1), coalesce(campaign_delta, -1) FROM ledger",
        SQL_NONE,
        SQL_TARGETS(SQL_INTO_BLOB(ret_check, LEDGER_CHECK_SIZE),
                    SQL_INTO(&ret_caps->lifetime.eps),
                    SQL_INTO(&ret_caps->lifetime.delta),
                    SQL_INTO(&ret_caps->campaign.eps),
                    SQL_INTO(&ret_caps->campaign.delta)),
        err);
}

/* What is missing at the end of a file SQLite takes for noughts, and a stored
   hash may be those. */
static enum sotto_status
check_size(const struct sql *sql, struct sotto_error *err)
{
    int64_t pages = 0, page = 0;
    sqlite3_int64 size = 0;
    sqlite3_file *file = NULL;
    enum sotto_status status =
        sql_integer(sql, "PRAGMA page_count", &pages, err);
    status =
        HOST_THEN(status, sql_integer(sql, "PRAGMA page_size", &page, err));
    if (status == SOTTO_STATUS_OK &&
        (sqlite3_file_control(sql->db, "main", SQLITE_FCNTL_FILE_POINTER,
                              &file) != SQLITE_OK ||
         file->pMethods->xFileSize(file, &size) != SQLITE_OK ||
         size < pages * page)) {
        status = host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "'%s' is damaged: its end is missing",
                           host_shown(sql->path));
    }
    return status;
}

enum sotto_status
ledger_file_open(const char *path, struct sql *ret_sql,
                 struct ledger_budgets *ret_caps,
                 uint8_t ret_check[LEDGER_CHECK_SIZE], struct sotto_error *err)
{
    struct sql sql = {NULL, path, "ledger"};
    enum sotto_status status =
        sql_file_open(&sql, &kind, SQLITE_OPEN_READWRITE, err);
    status = HOST_THEN(status, sql_file_prepare(&sql, &kind, err));
    status = HOST_THEN(status, sql_file_check(&sql, &kind, err));
    status = HOST_THEN(status, check_size(&sql, err));
    status = HOST_THEN(status, read_settings(&sql, ret_caps, ret_check, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_sql = sql;
    } else {
        (void)sqlite3_close(sql.db);
    }
    return status;
}

enum sotto_status
ledger_file_upgrade(const struct sql *sql, struct sotto_error *err)
{
    return sql_file_upgrade(sql, &kind, err);
}
