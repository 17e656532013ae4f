/*
 * sql.h: calling SQLite so that every failure becomes a status and a message
 * that names the file.
 */
#ifndef SOTTO_STORE_SQL_H
#define SOTTO_STORE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"

/* A connection, and the file it is to. */
struct sql {
    sqlite3 *db;
    const char *path;
    const char *what; /* it should be, for messages: a "ledger", a "store" */
};

/*
 * What SQLite's result `code` means, its last message in ours: MEMORY; FORMAT
 * for what is no database or a damaged one, with the page whose sum does not
 * fit if that is why; IO for what the system would not
 * do, and for a lock that another program kept too long; REFUSED for what is
 * longer than SQLite takes.
 */
enum sotto_status sql_fail(const struct sql *sql, int code,
                           struct sotto_error *err);

/* Runs statements that have no result. Statuses: sql_fail's. */
SOTTO_CHECKED enum sotto_status sql_run(const struct sql *sql, const char *text,
                                        struct sotto_error *err);

/* Ends a transaction, if there is one, as if it had not been. */
void sql_roll_back(const struct sql *sql);

/* One statement, which sqlite3_finalize frees. Statuses: sql_fail's. */
SOTTO_CHECKED enum sotto_status sql_prepare(const struct sql *sql,
                                            const char *text,
                                            sqlite3_stmt **ret_statement,
                                            struct sotto_error *err);

/* What a parameter is bound to. */
struct sql_value {
    enum { SQL_END, SQL_KIND_NUMBER, SQL_KIND_BLOB, SQL_KIND_TEXT } kind;
    int64_t number;
    const void *bytes; /* NULL: SQL's */
    size_t size;
};
#define SQL_NUMBER(n)                                                          \
    ((struct sql_value){.kind = SQL_KIND_NUMBER, .number = (int64_t)(n)})
#define SQL_BLOB(from, length)                                                 \
    ((struct sql_value){                                                       \
        .kind = SQL_KIND_BLOB, .bytes = (from), .size = (length)})
#define SQL_TEXT(from, length)                                                 \
    ((struct sql_value){                                                       \
        .kind = SQL_KIND_TEXT, .bytes = (from), .size = (length)})
#define SQL_NONE ((const struct sql_value[]){{.kind = SQL_END}})
#define SQL_VALUES(...)                                                        \
    ((const struct sql_value[]){__VA_ARGS__, {.kind = SQL_END}})

/* Binds ?1, ?2, ... to SQL_VALUES(...), whose bytes must stay; returns SQLite's
   result code. */
int sql_bind(sqlite3_stmt *statement, const struct sql_value *values);

/* Runs one statement that gives nothing. Statuses: sql_fail's. */
SOTTO_CHECKED enum sotto_status sql_execute(const struct sql *sql,
                                            const char *text,
                                            const struct sql_value *values,
                                            struct sotto_error *err);

/* Steps to the first row, if there is one; sqlite3_finalize frees the
   statement, also after a failure. Statuses: sql_fail's. */
SOTTO_CHECKED enum sotto_status
sql_first(const struct sql *sql, const char *text,
          const struct sql_value *values, sqlite3_stmt **ret_statement,
          bool *ret_found, struct sotto_error *err);

/* Copies a column of just `size` bytes, if ret_bytes is not NULL; false: it is
   none. */
bool sql_column(sqlite3_stmt *row, int column, void *ret_bytes, size_t size);

/* Where a column goes: a number, or a blob of just that size. */
struct sql_target {
    int64_t *number;
    void *bytes; /* NULL: its size is looked at */
    size_t size; /* 0, and no number: the end */
};
#define SQL_INTO(to) ((struct sql_target){.number = (int64_t *)(to)})
#define SQL_INTO_BLOB(to, length)                                              \
    ((struct sql_target){.bytes = (to), .size = (length)})
#define SQL_TARGETS(...)                                                       \
    ((const struct sql_target[]){__VA_ARGS__, {.number = NULL}})

/* Reads the columns of the first row, which must be there. Statuses:
   sql_fail's; FORMAT (no row, or a blob of another size). */
SOTTO_CHECKED enum sotto_status sql_read(const struct sql *sql,
                                         const char *text,
                                         const struct sql_value *values,
                                         const struct sql_target *targets,
                                         struct sotto_error *err);

/*
 * Hands every row to `take`, until that fails. Statuses: sql_fail's; take's,
 * whose FORMAT becomes MEMORY where a column could not be read for lack of it.
 */
typedef enum sotto_status sql_take(void *context, sqlite3_stmt *row,
                                   struct sotto_error *err);
SOTTO_CHECKED enum sotto_status sql_each(const struct sql *sql,
                                         const char *text,
                                         const struct sql_value *values,
                                         sql_take *take, void *context,
                                         struct sotto_error *err);

/* The one integer that a statement gives. Statuses: sql_read's. */
SOTTO_CHECKED enum sotto_status sql_integer(const struct sql *sql,
                                            const char *text,
                                            int64_t *ret_value,
                                            struct sotto_error *err);

/*
 * Whether a statement gives exactly this one text. Statuses: sql_fail's;
 * FORMAT, with the message `otherwise`, if it gives anything else.
 */
SOTTO_CHECKED enum sotto_status sql_expect(const struct sql *sql,
                                           const char *text, const char *wanted,
                                           const char *otherwise,
                                           struct sotto_error *err);

/* Settings that are made and read back, for SQLite ignores what it cannot do;
   the last one's text is NULL. Statuses: sql_expect's. */
struct sql_setting {
    const char *text, *wanted, *otherwise;
};
SOTTO_CHECKED enum sotto_status sql_set(const struct sql *sql,
                                        const struct sql_setting *setting,
                                        struct sotto_error *err);

#endif
