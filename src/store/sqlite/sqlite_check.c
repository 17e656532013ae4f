/*
 * sqlite_check.c: looking at all that is kept, in pieces, while a writer and
 * readers go on.
 *
 *     LOOK_BATCHES  chunk by chunk
 *     LOOK_HELD, LOOK_INCOMING   row by row
 *     LOOK_RUNS     pages of tags
 *     LOOK_PAGES    all pages of the file, by their sums
 *     LOOK_REST     tables that must agree, twins, the log
 *
 * Every piece is a transaction of its own, so that the log can be cut between
 * two. Where SQLite itself finds a page that contradicts others, a table cannot
 * be read on: that is told as one place, and the next table's turn comes.
 *
 * A payload that is damaged is a report that is lost, and the page it is in
 * does not fit its sum: that is no place of its own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "host/error.h"
#include "host/text.h"
#include "store/sql_sums.h"
#include "store/sqlite/sqlite_check.h"

void
sqlite_checker_close(void *own)
{
    struct sqlite_checker *checker = own;
    if (checker != NULL) {
        (void)sqlite3_close(checker->sql.db);
        free(checker->path);
    }
    free(checker);
}

/* ---- What was found ------------------------------------------------------ */

void
sqlite_check_tell(const struct sqlite_checker *checker, const char *text)
{
    if (checker->tell != NULL) {
        checker->tell(checker->context, text);
    }
}

void
sqlite_check_place(struct sqlite_checker *checker, const char *text)
{
    checker->damage.places++;
    sqlite_check_tell(checker, text);
}

/* ---- Pages that do not fit ----------------------------------------------- */

bool
sqlite_check_known(const struct known_pages *known, uint32_t page)
{
    bool found = false;
    for (size_t i = 0; i < known->count; i++) {
        found = found || known->page[i] == page;
    }
    return found;
}

static void
add_known(struct known_pages *known, uint32_t page)
{
    if (known->count < KNOWN_MOST && !sqlite_check_known(known, page)) {
        known->page[known->count++] = page;
    }
}

/* A page that was read and did not fit. Those of the file have their turn. */
static void
note_page(void *context, const struct sql_sums *sums)
{
    struct sqlite_checker *checker = context;
    if (sums->log && !sqlite_check_known(&checker->in_log, sums->page)) {
        char text[80];
        (void)snprintf(text, sizeof text,
                       "page %u in the log does not fit its checksum",
                       sums->page);
        add_known(&checker->in_log, sums->page);
        sqlite_check_place(checker, text);
    }
    if (checker->explaining && !sums->log && sums->kind != SQL_SUMS_INTERIOR) {
        add_known(&checker->explained, sums->page);
    }
}

/* Reads a row again, which has a damaged payload, from the disk: the pages with
   rows that do not fit are those it is in. */
void
sqlite_check_explain(struct sqlite_checker *checker, const char *text,
                     int64_t place, const uint8_t *key)
{
    const struct sql_value *values =
        key != NULL ? SQL_VALUES(SQL_NUMBER(place), SQL_BLOB(key, TAG_SIZE))
                    : SQL_VALUES(SQL_NUMBER(place));
    sqlite3_stmt *row = NULL;
    bool found = false;
    (void)sqlite3_db_release_memory(checker->sql.db);
    checker->explaining = true;
    enum sotto_status status =
        sql_first(&checker->sql, text, values, &row, &found, NULL);
    (void)status; /* whatever could be read */
    checker->explaining = false;
    (void)sqlite3_finalize(row);
}

/* ---- Going on ------------------------------------------------------------ */

/* The next table, or kind of thing. */
void
sqlite_check_next(struct sqlite_checker *checker)
{
    if (checker->look == LOOK_INCOMING && checker->generation == 0) {
        checker->generation = 1;
    } else {
        checker->look++;
        checker->generation = 0;
    }
    checker->campaign = checker->number = checker->place = 0;
    checker->page = checker->look == LOOK_PAGES ? 1 : 0;
    memset(checker->key, 0, sizeof checker->key);
}

/* ---- Opening ------------------------------------------------------------- */

enum sotto_status
sqlite_checker_open(const char *place,
                    void (*tell)(void *context, const char *text),
                    void *context, void **ret, struct sotto_error *err)
{
    struct sqlite_checker *checker = calloc(1, sizeof *checker);
    bool simulation = false;
    uint8_t key[TAG_KEY_SIZE];
    if (checker == NULL) {
        return host_fail_memory(err);
    }
    checker->tell = tell;
    checker->context = context;
    checker->look = LOOKS;
    enum sotto_status status = sql_file_resolve(place, &checker->path, err);
    checker->sql = (struct sql){NULL, checker->path, "store"};
    status = HOST_THEN(
        status, sqlite_file_open(&checker->sql, false, &simulation, key, err));
    status = HOST_THEN(status, sql_integer(&checker->sql, "PRAGMA user_version",
                                           &checker->version, err));
    if (status == SOTTO_STATUS_OK) {
        struct sql_sums *sums = sql_sums_of_connection(checker->sql.db, "main");
        sums->trust = SQL_SUMS_LENIENT;
        sums->tell = note_page;
        sums->context = checker;
        sqlite_runs_owner(key, checker->owner);
        sodium_memzero(key, sizeof key);
        *ret = checker;
    } else {
        sqlite_checker_close(checker);
    }
    return status;
}

/* ---- Steps --------------------------------------------------------------- */

/* Looks at the next piece of what there is. */
static enum sotto_status
check_piece(struct sqlite_checker *checker, size_t *left,
            struct sotto_error *err)
{
    switch (checker->look) {
    case LOOK_BATCHES:
        return sqlite_check_batches(checker, left, err);
    case LOOK_RUNS:
        return sqlite_check_runs(checker, left, err);
    case LOOK_PAGES:
        return sqlite_check_pages(checker, left, err);
    default:
        return sqlite_check_rows(checker, left, err);
    }
}

/* One of version 1 has no sums. */
static void
begin_round(struct sqlite_checker *checker)
{
    checker->look = checker->version < 2 ? LOOK_REST : LOOK_BATCHES;
    checker->damage = (struct store_damage){0};
    checker->explained.count = checker->in_log.count = 0;
}

enum sotto_status
sqlite_checker_step(void *own, size_t bytes, struct store_damage *ret_damage,
                    bool *ret_done, struct sotto_error *err)
{
    struct sqlite_checker *checker = own;
    struct sotto_error ours = {0};
    struct sotto_error *why = err != NULL ? err : &ours;
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t left = bytes > 0 ? bytes : 1;
    if (checker->look == LOOKS) {
        begin_round(checker);
    }
    while (status == SOTTO_STATUS_OK && left > 0 && checker->look < LOOK_REST) {
        status = check_piece(checker, &left, why);
    }
    if (status == SOTTO_STATUS_OK && left > 0) {
        status = sqlite_check_rest(checker, bytes == SIZE_MAX, why);
        checker->look = LOOKS;
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_damage = checker->damage;
        *ret_done = checker->look == LOOKS;
    }
    return status;
}
