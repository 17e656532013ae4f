/*
 * sql.c: calling SQLite so that every failure becomes a status and a message
 * that names the file.
 */
#include "store/sql.h"

#include <string.h>

#include "host/error.h"
#include "store/sql_sums.h"

static enum sotto_status
fail_format(const struct sql *sql, const char *why, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                     "'%s' is damaged or no %s: %.160s; nothing was "
                     "changed in it",
                     host_shown(sql->path), sql->what, why);
}

static const char *
advice(int code)
{
    switch (code & 0xff) {
    case SQLITE_FULL:
        return "; free some space and try again";
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
        return "; check who may write to it and to its folder";
    default:
        return "";
    }
}

/* A page that does not fit its sum (sql_sums.h). */
static enum sotto_status
fail_sums(const struct sql *sql, struct sql_sums *sums, struct sotto_error *err)
{
    sums->refused = false;
    return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                     "page %u of '%s%s' %s: stop the collector and run: sotto "
                     "store repair sqlite:%s",
                     sums->page, host_shown(sql->path), sums->log ? "-wal" : "",
                     sums->foreign ? "was written by another program, without "
                                     "a checksum"
                                   : "is damaged: it does not fit its checksum",
                     host_shown(sql->path));
}

enum sotto_status
sql_fail(const struct sql *sql, int code, struct sotto_error *err)
{
    const char *why = sqlite3_errstr(code);
    int error = sql->db != NULL ? sqlite3_system_errno(sql->db) : 0;
    struct sql_sums *sums = sql_sums_of_connection(sql->db, "main");
    if (sql->db != NULL && sqlite3_errcode(sql->db) == (code & 0xff)) {
        why = sqlite3_errmsg(sql->db);
    }
    if ((code & 0xff) == SQLITE_IOERR && sums != NULL && sums->refused) {
        return fail_sums(sql, sums, err);
    }
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return host_fail_memory(err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "'%s' is in use by another program for too long; "
                         "try again",
                         host_shown(sql->path));
    case SQLITE_TOOBIG:
        return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                         "what should be kept in '%s' is longer than SQLite "
                         "takes at once",
                         host_shown(sql->path));
    case SQLITE_CANTOPEN:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CONSTRAINT:
    case SQLITE_INTERRUPT:
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "cannot read or write '%s': %.160s%s%s%s",
                         host_shown(sql->path), why, error != 0 ? ": " : "",
                         error != 0 ? strerror(error) : "", advice(code));
    default:
        return fail_format(sql, why, err);
    }
}

enum sotto_status
sql_run(const struct sql *sql, const char *text, struct sotto_error *err)
{
    int code = sqlite3_exec(sql->db, text, NULL, NULL, NULL);
    return code == SQLITE_OK ? SOTTO_STATUS_OK : sql_fail(sql, code, err);
}

void
sql_roll_back(const struct sql *sql)
{
    if (sqlite3_get_autocommit(sql->db) == 0) {
        (void)sqlite3_exec(sql->db, "ROLLBACK", NULL, NULL, NULL);
    }
}

enum sotto_status
sql_prepare(const struct sql *sql, const char *text,
            sqlite3_stmt **ret_statement, struct sotto_error *err)
{
    int code = sqlite3_prepare_v2(sql->db, text, -1, ret_statement, NULL);
    return code == SQLITE_OK ? SOTTO_STATUS_OK : sql_fail(sql, code, err);
}

int
sql_bind(sqlite3_stmt *statement, const struct sql_value *values)
{
    int code = SQLITE_OK;
    for (int i = 0; code == SQLITE_OK && values[i].kind != SQL_END; i++) {
        const struct sql_value *value = &values[i];
        code =
            value->kind == SQL_KIND_NUMBER
                ? sqlite3_bind_int64(statement, i + 1, value->number)
            : value->kind == SQL_KIND_BLOB
                ? sqlite3_bind_blob64(statement, i + 1, value->bytes,
                                      value->size, SQLITE_STATIC)
                : sqlite3_bind_text64(statement, i + 1, value->bytes,
                                      value->size, SQLITE_STATIC, SQLITE_UTF8);
    }
    return code;
}

enum sotto_status
sql_first(const struct sql *sql, const char *text,
          const struct sql_value *values, sqlite3_stmt **ret_statement,
          bool *ret_found, struct sotto_error *err)
{
    enum sotto_status status = sql_prepare(sql, text, ret_statement, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    int code = sql_bind(*ret_statement, values);
    code = code == SQLITE_OK ? sqlite3_step(*ret_statement) : code;
    *ret_found = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? SOTTO_STATUS_OK
                                                     : sql_fail(sql, code, err);
}

enum sotto_status
sql_execute(const struct sql *sql, const char *text,
            const struct sql_value *values, struct sotto_error *err)
{
    sqlite3_stmt *statement = NULL;
    bool found = false;
    enum sotto_status status =
        sql_first(sql, text, values, &statement, &found, err);
    if (status == SOTTO_STATUS_OK && found) {
        status = sql_fail(sql, SQLITE_ROW, err);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

bool
sql_column(sqlite3_stmt *row, int column, void *ret_bytes, size_t size)
{
    const void *data = sqlite3_column_blob(row, column);
    bool good =
        data != NULL && (size_t)sqlite3_column_bytes(row, column) == size;
    if (good && ret_bytes != NULL) {
        memcpy(ret_bytes, data, size);
    }
    return good;
}

enum sotto_status
sql_read(const struct sql *sql, const char *text,
         const struct sql_value *values, const struct sql_target *targets,
         struct sotto_error *err)
{
    sqlite3_stmt *select = NULL;
    bool good = false;
    enum sotto_status status =
        sql_first(sql, text, values, &select, &good, err);
    for (int i = 0; good && (targets[i].number != NULL || targets[i].size > 0);
         i++) {
        if (targets[i].number != NULL) {
            *targets[i].number = sqlite3_column_int64(select, i);
        } else {
            good = sql_column(select, i, targets[i].bytes, targets[i].size);
        }
    }
    if (status == SOTTO_STATUS_OK && !good) {
        bool memory = sqlite3_errcode(sql->db) == SQLITE_NOMEM;
        status = sql_fail(sql, memory ? SQLITE_NOMEM : SQLITE_CORRUPT, err);
    }
    (void)sqlite3_finalize(select);
    return status;
}

enum sotto_status
sql_each(const struct sql *sql, const char *text,
         const struct sql_value *values, sql_take *take, void *context,
         struct sotto_error *err)
{
    sqlite3_stmt *select = NULL;
    bool found = false;
    int code = SQLITE_ROW;
    enum sotto_status status =
        sql_first(sql, text, values, &select, &found, err);
    while (status == SOTTO_STATUS_OK && found) {
        status = take(context, select, err);
        code = status == SOTTO_STATUS_OK ? sqlite3_step(select) : code;
        found = code == SQLITE_ROW;
        if (!found && code != SQLITE_DONE) {
            status = sql_fail(sql, code, err);
        }
    }
    if (status == SOTTO_STATUS_FORMAT && found &&
        sqlite3_errcode(sql->db) == SQLITE_NOMEM) {
        status = host_fail_memory(err); /* so a column could not be read */
    }
    (void)sqlite3_finalize(select);
    return status;
}

enum sotto_status
sql_integer(const struct sql *sql, const char *text, int64_t *ret_value,
            struct sotto_error *err)
{
    return sql_read(sql, text, SQL_NONE, SQL_TARGETS(SQL_INTO(ret_value)), err);
}

enum sotto_status
sql_expect(const struct sql *sql, const char *text, const char *wanted,
           const char *otherwise, struct sotto_error *err)
{
    sqlite3_stmt *statement = NULL;
    enum sotto_status status = sql_prepare(sql, text, &statement, err);
    int code = SQLITE_DONE, rows = 0;
    bool same = false;
    while (status == SOTTO_STATUS_OK &&
           (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *got = (const char *)sqlite3_column_text(statement, 0);
        if (got == NULL && sqlite3_errcode(sql->db) == SQLITE_NOMEM) {
            code = SQLITE_NOMEM;
            break;
        }
        same = got != NULL && rows++ == 0 && strcmp(got, wanted) == 0;
    }
    if (status == SOTTO_STATUS_OK && code != SQLITE_DONE) {
        status = sql_fail(sql, code, err);
    } else if (status == SOTTO_STATUS_OK && !same) {
        status = fail_format(sql, otherwise, err);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

enum sotto_status
sql_set(const struct sql *sql, const struct sql_setting *setting,
        struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (; setting->text != NULL && status == SOTTO_STATUS_OK; setting++) {
        status = sql_expect(sql, setting->text, setting->wanted,
                            setting->otherwise, err);
    }
    return status;
}
