/*
 * sql_file.h: SQLite files of ours, of whatever kind: making one in one step,
 * and opening one only if it is what it should be.
 *
 * A new file is built in memory and written like any file of ours, complete or
 * not there, so there is no half-made one to recognise. Opening believes
 * nothing: whose file it is comes before anything about it is changed, and its
 * tables must be word for word those of its kind. How it is flushed is the
 * kind's own business: its options and settings.
 */
#ifndef SOTTO_STORE_SQL_FILE_H
#define SOTTO_STORE_SQL_FILE_H

#include "store/sql.h"

#define SQL_BUSY_MS 10000 /* that a lock is waited for */

struct sql_kind {
    int32_t application;  /* SQLite's application_id */
    int32_t version;      /* and user_version */
    const char *schema;   /* the tables in the order of their names, with ";" */
    const char *triggers; /* likewise those; NULL: there are none */
    const char *before;   /* the tables of the version before, which is still
                             opened; NULL: it is not */
    const char *upgrade;  /* statements that make `schema` of `before`; NULL: it
                             is made otherwise, not by sql_file_upgrade */
    bool summed;          /* pages have sums (sql_sums.h), but for the version
                             before */
    const char *none;     /* advice, begun with "; ", where there is no file */
    const char *other;    /* and where it is another's */
    const char *options;  /* PRAGMAs of a writer, and */
    const struct sql_setting *settings; /* those that are read back */
};

/* Opens an empty database of a kind in memory; sqlite3_close frees `sql->db`,
   also after a failure. Statuses: sql_fail's. */
SOTTO_CHECKED enum sotto_status sql_file_build(struct sql *sql,
                                               const struct sql_kind *kind,
                                               struct sotto_error *err);
/* Writes what was built to `sql->path`, for the owner alone; never over a
   file. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status sql_file_write(const struct sql *sql,
                                               struct sotto_error *err);

/* The one name of a file, which the caller frees: symbolic links are followed.
   The file need not be there, but its folder. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
sql_file_resolve(const char *path, char **ret_real, struct sotto_error *err);

/*
 * Locks PATH.lock, which is made if it is not there and never removed, for this
 * process; closing `ret_fd` unlocks. Where another has it, the message is what
 * stands before and behind the path. The lock is a file of its own: to close a
 * descriptor of the database would drop the locks that SQLite has on it.
 * Statuses: IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sql_file_lock(const char *path,
                                              const char *before,
                                              const char *behind, int *ret_fd,
                                              struct sotto_error *err);

/*
 * Opens the file at `sql->path` with SQLite's `flags`, for reading alone or
 * writing too, and looks whose it is. sqlite3_close frees `sql->db`, also after
 * a failure. What is written to is made its owner's alone, with what lies
 * beside it, and may have one name in the file system and no more: a journal
 * or log is found by the name. Where pages have sums SQLite does not write the
 * log back when the connection is closed. Statuses: IO (also: there is none, it
 * has more names), FORMAT (another's, another version), sql_fail's.
 */
SOTTO_CHECKED enum sotto_status sql_file_open(struct sql *sql,
                                              const struct sql_kind *kind,
                                              int flags,
                                              struct sotto_error *err);
/* Whether the tables are the kind's, or those of the version before if the file
   says that it is of that. Statuses: FORMAT, sql_fail's. */
SOTTO_CHECKED enum sotto_status sql_file_tables(const struct sql *sql,
                                                const struct sql_kind *kind,
                                                struct sotto_error *err);

/* Looks at every page, index and constraint too, and at the tables. Statuses:
   FORMAT, sql_fail's. */
SOTTO_CHECKED enum sotto_status sql_file_check(const struct sql *sql,
                                               const struct sql_kind *kind,
                                               struct sotto_error *err);
/* Makes what is kept durable: the kind's options and settings, and the folder
   flushed. Statuses: FORMAT, IO, sql_fail's. */
SOTTO_CHECKED enum sotto_status sql_file_prepare(const struct sql *sql,
                                                 const struct sql_kind *kind,
                                                 struct sotto_error *err);

/*
 * Makes a file of the version before one of this version, in place and in one
 * transaction: a kill leaves the one or the other, whole. Does nothing to one
 * of this version, which another program may have made of it meanwhile.
 * Statuses: FORMAT, sql_fail's.
 */
SOTTO_CHECKED enum sotto_status sql_file_upgrade(const struct sql *sql,
                                                 const struct sql_kind *kind,
                                                 struct sotto_error *err);

/* Flushes the folder of `path`: a file removed from it stays removed. SQLite
   skips a folder that it cannot open. Statuses: IO. */
SOTTO_CHECKED enum sotto_status sql_file_settle(const char *path,
                                                struct sotto_error *err);

#endif
