/*
 * sqlite_check.c: looking at all that is kept, in pieces, while a writer and
 * readers go on.
 *
 *     LOOK_BATCHES --> LOOK_HELD --> LOOK_INCOMING --> LOOK_RUNS --> LOOK_REST
 *     batch by batch   row by row    block by block    pages         tables
 *
 * Every piece is a transaction of its own, so that the log can be cut between
 * two. Where SQLite itself finds a page that contradicts others, a table cannot
 * be read on: that is told as one place, and the next table's turn comes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "host/error.h"
#include "host/text.h"
#include "store/sql_file.h"
#include "store/sqlite/sqlite_store.h"

enum look {
    LOOK_BATCHES,
    LOOK_HELD,
    LOOK_INCOMING,
    LOOK_RUNS,
    LOOK_REST,
    LOOKS
};

struct sqlite_checker {
    struct sql sql;
    char *path;
    void (*tell)(void *context, const char *text);
    void *context;
    struct store_damage damage; /* of this round */
    enum look look;
    int64_t campaign; /* the last row that was looked at: its campaign ... */
    int64_t number;   /* ... and its number, or ... */
    uint8_t key[TAG_SIZE]; /* ... its key */
    unsigned generation;   /* of incoming */
    uint64_t page;         /* of that run: the next one */
    uint8_t owner[RUN_OWNER_SIZE];
    int64_t version; /* of the store */
};

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
    enum sotto_status status = sql_file_resolve(place, &checker->path, err);
    checker->sql = (struct sql){NULL, checker->path, "store"};
    status = HOST_THEN(
        status, sqlite_file_open(&checker->sql, false, &simulation, key, err));
    status = HOST_THEN(status, sql_integer(&checker->sql, "PRAGMA user_version",
                                           &checker->version, err));
    if (status == SOTTO_STATUS_OK) {
        sqlite_runs_owner(key, checker->owner);
        sodium_memzero(key, sizeof key);
        *ret = checker;
    } else {
        sqlite_checker_close(checker);
    }
    return status;
}

/* ---- What was found ------------------------------------------------------ */

static void
tell(const struct sqlite_checker *checker, const char *text)
{
    if (checker->tell != NULL) {
        checker->tell(checker->context, text);
    }
}

static void
note_place(struct sqlite_checker *checker, const char *text)
{
    checker->damage.places++;
    tell(checker, text);
}

/* So many payloads of `count` do not fit their sums. */
static void
note_reports(struct sqlite_checker *checker, const char *where, size_t damaged,
             size_t count)
{
    char text[200];
    checker->damage.reports += damaged;
    (void)snprintf(text, sizeof text,
                   "%s: %zu of %zu report%s %s damaged and will be left out",
                   where, damaged, count, count == 1 ? "" : "s",
                   damaged == 1 ? "is" : "are");
    if (damaged > 0) {
        tell(checker, text);
    }
}

/* How many records' payloads do not fit their sums: each is `skip` bytes, a
   payload and a sum. */
static size_t
count_damaged(const uint8_t *data, size_t count, size_t skip, size_t payload)
{
    size_t damaged = 0;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = data + i * (skip + payload + SUM_SIZE) + skip;
        damaged +=
            host_checksum(0, at, payload) != host_checksum_read(at + payload);
    }
    return damaged;
}

/* The next table, or kind of thing. */
static void
begin_next(struct sqlite_checker *checker)
{
    if (checker->look == LOOK_INCOMING && checker->generation == 0) {
        checker->generation = 1;
    } else {
        checker->look++;
        checker->generation = 0;
    }
    checker->campaign = checker->number = 0;
    checker->page = 0;
    memset(checker->key, 0, sizeof checker->key);
}

/* ---- Batches ------------------------------------------------------------- */

/* Whether batches are missing before `number`, or behind the last one. */
static void
check_numbers(struct sqlite_checker *checker, int64_t campaign, int64_t number)
{
    char text[160];
    if (campaign == checker->campaign && number != checker->number + 1) {
        (void)snprintf(text, sizeof text,
                       "campaign %" PRId64 ": batches between %" PRId64
                       " and %" PRId64 " are missing",
                       campaign, checker->number, number);
        note_place(checker, text);
    } else if (campaign != checker->campaign && number != 1) {
        (void)snprintf(text, sizeof text,
                       "campaign %" PRId64 ": batches before %" PRId64
                       " are missing",
                       campaign, number);
        note_place(checker, text);
    }
}

static void
check_batch(struct sqlite_checker *checker, sqlite3_stmt *row)
{
    struct sqlite_batch batch = {
        .hash = sqlite3_column_blob(row, 4),
        .number = (uint64_t)sqlite3_column_int64(row, 1),
        .payload_size = (size_t)sqlite3_column_int64(row, 3)};
    bool known = batch.hash != NULL &&
                 sqlite3_column_bytes(row, 4) == SOTTO_HASH_SIZE &&
                 batch.payload_size > 0 && batch.payload_size <= INT32_MAX;
    size_t damaged = 0;
    char where[80];
    (void)snprintf(where, sizeof where, "campaign %lld, batch %lld",
                   (long long)sqlite3_column_int64(row, 0),
                   (long long)sqlite3_column_int64(row, 1));
    check_numbers(checker, sqlite3_column_int64(row, 0),
                  sqlite3_column_int64(row, 1));
    if (!known || !sqlite_batch_parse(&batch, sqlite3_column_blob(row, 5),
                                      (size_t)sqlite3_column_bytes(row, 5),
                                      (uint64_t)sqlite3_column_int64(row, 2))) {
        char text[160];
        (void)snprintf(text, sizeof text, "%s cannot be read", where);
        note_place(checker, text);
        return;
    }
    for (size_t i = 0; !batch.fits && i < batch.count; i++) {
        damaged += !sqlite_batch_sound(&batch, i);
    }
    note_reports(checker, where, damaged, batch.count);
    if (!batch.whole || (!batch.fits && damaged == 0)) {
        char text[160];
        (void)snprintf(text, sizeof text,
                       "%s: %s changed, and no report is harmed", where,
                       batch.whole ? "a random key or a sum" : "its count");
        note_place(checker, text);
    }
}

/* ---- Held and incoming --------------------------------------------------- */

static void
check_row(struct sqlite_checker *checker, sqlite3_stmt *row, size_t skip)
{
    size_t payload = (size_t)sqlite3_column_int64(row, 2);
    const uint8_t *data = sqlite3_column_blob(row, 3);
    size_t size = (size_t)sqlite3_column_bytes(row, 3);
    size_t record = skip + payload + SUM_SIZE;
    if (checker->version < 2) {
        return; /* there are no sums */
    }
    if (payload == 0 || payload > INT32_MAX || data == NULL || size == 0 ||
        size % record != 0) {
        note_place(checker, "a report that waits cannot be read");
        return;
    }
    note_reports(checker, "reports that wait",
                 count_damaged(data, size / record, skip, payload),
                 size / record);
}

/* ---- Runs of tags -------------------------------------------------------- */

/* Whether the table still names a run: if not, it was merged meanwhile. */
static bool
is_named(const struct sqlite_checker *checker, int64_t number)
{
    sqlite3_stmt *row = NULL;
    bool found = false;
    enum sotto_status status =
        sql_first(&checker->sql, "SELECT 1 FROM run WHERE number = ?1",
                  SQL_VALUES(SQL_NUMBER(number)), &row, &found, NULL);
    (void)sqlite3_finalize(row);
    return status == SOTTO_STATUS_OK && found;
}

/* Looks at pages of a run from where it is; `ret_over`: at the last one. */
static enum sotto_status
check_pages(struct sqlite_checker *checker, int64_t number, uint64_t pages,
            bool *ret_over, struct sotto_error *err)
{
    struct tag_run *run = NULL;
    char text[200];
    char *name = sqlite_runs_name(checker->path, number);
    enum sotto_status status =
        name == NULL ? host_fail_memory(err)
                     : tag_run_open(name, checker->owner, &run, err);
    *ret_over = true;
    if (status == SOTTO_STATUS_OK) {
        size_t damaged = tag_run_check(run, checker->page, pages);
        if (damaged > 0) {
            checker->damage.places += damaged - 1;
            (void)snprintf(text, sizeof text,
                           "tags, file %" PRId64 ": %zu page%s damaged: some "
                           "reports would be taken twice",
                           number, damaged, damaged == 1 ? " is" : "s are");
            note_place(checker, text);
        }
        *ret_over = pages >= tag_run_pages(run) - checker->page;
    } else if (status != SOTTO_STATUS_MEMORY) {
        if (is_named(checker, number)) {
            note_place(checker, err->message);
        }
        status = SOTTO_STATUS_OK;
    }
    tag_run_close(run);
    free(name);
    return status;
}

/* Looks at about `left` bytes of the next run. */
static enum sotto_status
check_run(struct sqlite_checker *checker, size_t *left, bool *ret_found,
          struct sotto_error *err)
{
    sqlite3_stmt *row = NULL;
    bool over = true;
    int64_t first = checker->number + (checker->page == 0 ? 1 : 0);
    enum sotto_status status =
        sql_first(&checker->sql,
                  "SELECT number, lost FROM run WHERE number >= ?1 ORDER BY "
                  "number",
                  SQL_VALUES(SQL_NUMBER(first)), &row, ret_found, err);
    int64_t number = *ret_found ? sqlite3_column_int64(row, 0) : 0;
    bool lost = *ret_found && sqlite3_column_int64(row, 1) > 0;
    (void)sqlite3_finalize(row);
    if (status != SOTTO_STATUS_OK || !*ret_found) {
        return status;
    }
    checker->page = number == checker->number ? checker->page : 0;
    if (checker->page == 0 && lost) {
        note_place(checker, "pages of tags were damaged and are gone: some "
                            "reports would be taken twice");
    }
    uint64_t pages = *left / RUN_PAGE + 1;
    status = check_pages(checker, number, pages, &over, err);
    checker->number = number;
    checker->page = over ? 0 : checker->page + pages;
    *left -= pages * RUN_PAGE < *left ? (size_t)pages * RUN_PAGE : *left;
    return status;
}

#define RUN_PIECE ((size_t)16 << 20) /* bytes of a run at once */

/* A store of version 1 has no runs. */
static enum sotto_status
check_runs(struct sqlite_checker *checker, size_t *left,
           struct sotto_error *err)
{
    int64_t version = 0;
    enum sotto_status status =
        sql_integer(&checker->sql, "PRAGMA user_version", &version, err);
    bool found = version > 1;
    while (status == SOTTO_STATUS_OK && found && *left > 0) {
        size_t piece = *left < RUN_PIECE ? *left : RUN_PIECE;
        size_t rest = piece;
        status = check_run(checker, &rest, &found, err);
        *left -= piece - rest;
    }
    if (status == SOTTO_STATUS_OK && !found) {
        begin_next(checker);
    }
    return status;
}

/* ---- The rest ------------------------------------------------------------ */

/* Statements that give a row for everything that is wrong. */
static const struct {
    const char *text, *wrong;
} rest[] = {
    {"SELECT 1 FROM campaign LEFT JOIN total ON total.campaign = "
     "campaign.number WHERE total.batches IS NULL OR total.batches != "
     "(SELECT count(*) FROM batch WHERE batch.campaign = campaign.number) OR "
     "total.released != (SELECT coalesce(sum(count), 0) FROM batch WHERE "
     "batch.campaign = campaign.number)",
     "what was released of a campaign is not what was counted"},
    {"SELECT 1 WHERE (SELECT coalesce(sum(tags), 0) FROM run) < "
     "(SELECT coalesce(sum(released), 0) FROM total) + (SELECT count(*) FROM "
     "held) AND NOT EXISTS (SELECT 1 FROM run WHERE lost > 0)",
     "tags are missing: some reports would be taken twice"},
    {"SELECT 1 FROM total WHERE campaign NOT IN (SELECT number FROM campaign)",
     "a total is of no campaign"},
    {"SELECT 1 WHERE (SELECT count(*) FROM move) != 1 OR "
     "(SELECT count(*) FROM meta) != 1",
     "how far the last window was moved is gone, or the key of tags"},
};

/* Version 1 has no totals. */
static enum sotto_status
check_rest(struct sqlite_checker *checker, struct sotto_error *err)
{
    int64_t version = 0;
    enum sotto_status status =
        sql_integer(&checker->sql, "PRAGMA user_version", &version, err);
    for (size_t i = version < 2 ? 3 : 0;
         status == SOTTO_STATUS_OK && i < sizeof rest / sizeof *rest; i++) {
        sqlite3_stmt *row = NULL;
        bool found = false;
        status =
            sql_first(&checker->sql, rest[i].text, SQL_NONE, &row, &found, err);
        (void)sqlite3_finalize(row);
        if (status == SOTTO_STATUS_OK && found) {
            note_place(checker, rest[i].wrong);
        }
    }
    return status;
}

/* What SQLite itself says of its pages. */
static enum sotto_status
take_fault(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct sqlite_checker *checker = context;
    const char *text = (const char *)sqlite3_column_text(row, 0);
    (void)err;
    if (text != NULL && strcmp(text, "ok") != 0) {
        note_place(checker, text);
    }
    return SOTTO_STATUS_OK;
}

/* ---- Steps --------------------------------------------------------------- */

static const char *
statement_of(const struct sqlite_checker *checker)
{
    switch (checker->look) {
    case LOOK_BATCHES:
        return "SELECT b.campaign, b.number, b.count, c.payload_size, c.hash, "
               "b.reports FROM batch AS b LEFT JOIN campaign AS c ON "
               "c.number = b.campaign WHERE (b.campaign, b.number) > (?1, ?2) "
               "ORDER BY b.campaign, b.number";
    case LOOK_HELD:
        return "SELECT h.campaign, h.key, c.payload_size, h.payload FROM held "
               "AS h LEFT JOIN campaign AS c ON c.number = h.campaign "
               "WHERE (h.campaign, h.key) > (?1, ?2) "
               "ORDER BY h.campaign, h.key";
    default:
        return checker->generation == 0
                   ? "SELECT i.campaign, i.key, c.payload_size, i.reports FROM "
                     "incoming_0 AS i LEFT JOIN campaign AS c ON "
                     "c.number = i.campaign WHERE (i.campaign, i.key) > "
                     "(?1, ?2) ORDER BY i.campaign, i.key"
                   : "SELECT i.campaign, i.key, c.payload_size, i.reports FROM "
                     "incoming_1 AS i LEFT JOIN campaign AS c ON "
                     "c.number = i.campaign WHERE (i.campaign, i.key) > "
                     "(?1, ?2) ORDER BY i.campaign, i.key";
    }
}

/* Looks at a row, and makes it the last one; returns its bytes. */
static size_t
check_any(struct sqlite_checker *checker, sqlite3_stmt *row)
{
    bool batches = checker->look == LOOK_BATCHES;
    int blob = batches ? 5 : 3;
    if (batches) {
        check_batch(checker, row);
        checker->number = sqlite3_column_int64(row, 1);
    } else {
        check_row(checker, row, checker->look == LOOK_HELD ? 0 : TAG_SIZE);
        (void)sql_column(row, 1, checker->key, TAG_SIZE);
    }
    checker->campaign = sqlite3_column_int64(row, 0);
    return 64 + (size_t)sqlite3_column_bytes(row, blob);
}

/* Looks at rows of a table until there are no more or `left` bytes are over.
   What SQLite cannot read is damage, too. */
static enum sotto_status
check_rows(struct sqlite_checker *checker, size_t *left,
           struct sotto_error *err)
{
    sqlite3_stmt *row = NULL;
    bool found = false;
    const struct sql_value behind = checker->look == LOOK_BATCHES
                                        ? SQL_NUMBER(checker->number)
                                        : SQL_BLOB(checker->key, TAG_SIZE);
    enum sotto_status status = sql_first(
        &checker->sql, statement_of(checker),
        SQL_VALUES(SQL_NUMBER(checker->campaign), behind), &row, &found, err);
    while (status == SOTTO_STATUS_OK && found && *left > 0) {
        size_t bytes = check_any(checker, row);
        *left -= bytes < *left ? bytes : *left;
        int code = sqlite3_step(row);
        found = code == SQLITE_ROW;
        if (!found && code != SQLITE_DONE) {
            status = sql_fail(&checker->sql, code, err);
        }
    }
    (void)sqlite3_finalize(row);
    if (status == SOTTO_STATUS_FORMAT) {
        note_place(checker, err->message);
        status = SOTTO_STATUS_OK;
        found = false;
    }
    if (status == SOTTO_STATUS_OK && !found) {
        begin_next(checker);
    }
    return status;
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
        checker->look = LOOK_BATCHES;
        checker->damage = (struct store_damage){0};
    }
    while (status == SOTTO_STATUS_OK && left > 0 && checker->look < LOOK_REST) {
        status = checker->look == LOOK_RUNS ? check_runs(checker, &left, why)
                                            : check_rows(checker, &left, why);
    }
    if (status == SOTTO_STATUS_OK && left > 0) {
        status = check_rest(checker, why);
        if (status == SOTTO_STATUS_OK && bytes == SIZE_MAX) {
            status = sql_each(&checker->sql, "PRAGMA integrity_check(20)",
                              SQL_NONE, take_fault, checker, why);
        }
        if (status == SOTTO_STATUS_FORMAT) {
            note_place(checker, why->message);
            status = SOTTO_STATUS_OK;
        }
        checker->look = LOOKS;
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_damage = checker->damage;
        *ret_done = checker->look == LOOKS;
    }
    return status;
}
