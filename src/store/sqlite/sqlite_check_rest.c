/*
 * sqlite_check_rest.c: looking at tags, at all pages of the file, at tables
 * that must agree, and at the log.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "store/sql_sums.h"
#include "store/sqlite/sqlite_check.h"

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
            sqlite_check_place(checker, text);
        }
        *ret_over = pages >= tag_run_pages(run) - checker->page;
    } else if (status != SOTTO_STATUS_MEMORY) {
        if (is_named(checker, number)) {
            sqlite_check_place(checker, err->message);
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
        checker->damage.gone++;
        sqlite_check_place(checker,
                           "pages of tags were damaged and are gone: some "
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

enum sotto_status
sqlite_check_runs(struct sqlite_checker *checker, size_t *left,
                  struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    bool found = true;
    while (status == SOTTO_STATUS_OK && found && *left > 0) {
        size_t piece = *left < RUN_PIECE ? *left : RUN_PIECE;
        size_t rest = piece;
        status = check_run(checker, &rest, &found, err);
        *left -= piece - rest;
    }
    if (status == SOTTO_STATUS_OK && !found) {
        sqlite_check_next(checker);
    }
    return status;
}

/* ---- Pages --------------------------------------------------------------- */

static void
note_found(struct sqlite_checker *checker, uint32_t number,
           enum sqlite_page found)
{
    char text[120];
    if (sqlite_check_known(&checker->explained, number)) {
        return; /* it was told which report that costs */
    }
    (void)snprintf(text, sizeof text, "page %u %s", number,
                   found == SQLITE_PAGE_GONE ? "cannot be read"
                   : found == SQLITE_PAGE_FOREIGN
                       ? "was written by another program, without a checksum"
                       : "does not fit its checksum");
    sqlite_check_place(checker, text);
}

/* Looks at pages from where it is, until `left` bytes are over. */
enum sotto_status
sqlite_check_pages(struct sqlite_checker *checker, size_t *left,
                   struct sotto_error *err)
{
    int64_t count = 0;
    enum sotto_status status =
        sql_integer(&checker->sql, "PRAGMA page_count", &count, err);
    while (status == SOTTO_STATUS_OK && *left > 0 &&
           checker->page <= (uint64_t)count) {
        enum sqlite_page found = SQLITE_PAGE_SOUND;
        uint32_t number = (uint32_t)checker->page;
        status = sqlite_look_at_page(&checker->sql, number, &found, err);
        if (status == SOTTO_STATUS_OK && found != SQLITE_PAGE_SOUND) {
            note_found(checker, number, found);
        }
        checker->page += status == SOTTO_STATUS_OK;
        *left -= SQL_SUMS_PAGE < *left ? SQL_SUMS_PAGE : *left;
    }
    if (status == SOTTO_STATUS_OK && checker->page > (uint64_t)count) {
        sqlite_check_next(checker);
    }
    return status;
}

/* ---- The rest ------------------------------------------------------------ */

/* Statements that give a row for everything that is wrong. */
struct wrong {
    const char *text, *wrong;
};

static const struct wrong rest[] = {
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
    {"SELECT 1 FROM (SELECT first + chunks AS last, lead(first) OVER (ORDER BY "
     "first) AS next FROM batch WHERE chunks > 0) WHERE last > next",
     "two batches are in one place"},
    {NULL, NULL}};

/* Which takes its time. */
static const struct wrong rows[] = {
    {"SELECT 1 WHERE (SELECT count(*) FROM released) != (SELECT "
     "coalesce(sum(chunks), 0) FROM batch)",
     "rows of released reports are gone, or are of no batch"},
    {NULL, NULL}};

/* Of version 1. */
static const struct wrong rest_1[] = {
    {"SELECT 1 FROM batch AS b LEFT JOIN campaign AS c ON c.number = "
     "b.campaign WHERE c.number IS NULL OR length(b.reports) != b.count * "
     "(16 + c.payload_size)",
     "a batch cannot be read"},
    {"SELECT 1 WHERE (SELECT count(*) FROM move) != 1 OR "
     "(SELECT count(*) FROM meta) != 1",
     "how far the last window was moved is gone, or the key of tags"},
    {NULL, NULL}};

static enum sotto_status
check_all(struct sqlite_checker *checker, const struct wrong *wrong,
          struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (; wrong->text != NULL && status == SOTTO_STATUS_OK; wrong++) {
        sqlite3_stmt *row = NULL;
        bool found = false;
        status =
            sql_first(&checker->sql, wrong->text, SQL_NONE, &row, &found, err);
        (void)sqlite3_finalize(row);
        if (status == SOTTO_STATUS_OK && found) {
            sqlite_check_place(checker, wrong->wrong);
        }
    }
    return status;
}

static enum sotto_status
check_twins(struct sqlite_checker *checker, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; sqlite_twins[i] != NULL && status == SOTTO_STATUS_OK;
         i++) {
        char text[120];
        bool differ = false;
        status =
            sqlite_twins_differ(&checker->sql, sqlite_twins[i], &differ, err);
        if (status == SOTTO_STATUS_OK && differ) {
            (void)snprintf(text, sizeof text,
                           "table %s and its copy are not the same",
                           sqlite_twins[i]);
            sqlite_check_place(checker, text);
        }
    }
    return status;
}

static enum sotto_status
check_log(struct sqlite_checker *checker, struct sotto_error *err)
{
    struct sql_log_look look = {0};
    char text[200];
    enum sotto_status status = sqlite_look_at_log(&checker->sql, &look, err);
    if (status == SOTTO_STATUS_OK && look.damaged > 0) {
        (void)snprintf(text, sizeof text,
                       "the log is damaged at its frame %" PRIu64
                       ": the reports of %" PRIu64 " commit%s from there on "
                       "are lost",
                       look.damaged, look.lost, look.lost == 1 ? "" : "s");
        sqlite_check_place(checker, text);
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
        sqlite_check_place(checker, text);
    }
    return SOTTO_STATUS_OK;
}

/* `all`: also what takes its time. */
enum sotto_status
sqlite_check_rest(struct sqlite_checker *checker, bool all,
                  struct sotto_error *err)
{
    bool old = checker->version < 2;
    enum sotto_status status = check_all(checker, old ? rest_1 : rest, err);
    if (!old) {
        status = HOST_THEN(status, check_twins(checker, err));
        status = HOST_THEN(status, check_log(checker, err));
        status =
            all ? HOST_THEN(status, check_all(checker, rows, err)) : status;
    }
    if (all) {
        status = HOST_THEN(status,
                           sql_each(&checker->sql, "PRAGMA integrity_check(20)",
                                    SQL_NONE, take_fault, checker, err));
    }
    if (status == SOTTO_STATUS_FORMAT) {
        sqlite_check_place(checker, err->message);
        status = SOTTO_STATUS_OK;
    }
    return status;
}
