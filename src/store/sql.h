/*
 * sql.h: calling SQLite so that every failure becomes a status and a message
 * that names the file.
 */
#ifndef SOTTO_STORE_SQL_H
#define SOTTO_STORE_SQL_H

#include <sqlite3.h>
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
 * for what is no database or a damaged one; IO for what the system would not
 * do, and for a lock that another program kept too long; REFUSED for what is
 * longer than SQLite takes.
 */
enum sotto_status sql_fail(const struct sql *sql, int code,
                           struct sotto_error *err);

/* Runs statements that have no result. Statuses: sql_fail's. */
SOTTO_CHECKED enum sotto_status sql_run(const struct sql *sql, const char *text,
                                        struct sotto_error *err);

/* One statement, which sqlite3_finalize frees. Statuses: sql_fail's. */
SOTTO_CHECKED enum sotto_status sql_prepare(const struct sql *sql,
                                            const char *text,
                                            sqlite3_stmt **ret_statement,
                                            struct sotto_error *err);

/* The one integer that a statement gives. Statuses: sql_fail's. */
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

#endif
