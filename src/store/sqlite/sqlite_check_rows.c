/*
 * sqlite_check_rows.c: looking at batches, chunk by chunk, and at what waits,
 * row by row: payloads by their own sums, and whether what must be there is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/error.h"
#include "store/sql_sums.h"
#include "store/sqlite/sqlite_check.h"

/* ---- Payloads ------------------------------------------------------------ */

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
        sqlite_check_tell(checker, text);
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
        damaged += !sqlite_record_sound(at, payload);
    }
    return damaged;
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
        sqlite_check_place(checker, text);
    } else if (campaign != checker->campaign && number != 1) {
        (void)snprintf(text, sizeof text,
                       "campaign %" PRId64 ": batches before %" PRId64
                       " are missing",
                       campaign, number);
        sqlite_check_place(checker, text);
    }
}

/* What a batch was found to be, when all its chunks were looked at. */
static void
note_batch(struct sqlite_checker *checker, const struct sqlite_batch *batch)
{
    const struct looking *found = &checker->batch;
    char where[80], text[200];
    (void)snprintf(where, sizeof where, "campaign %u, batch %" PRIu64,
                   batch->campaign, batch->number);
    note_reports(checker, where, (size_t)found->damaged, (size_t)batch->count);
    if (found->gone > 0) {
        checker->damage.reports += found->gone;
        (void)snprintf(text, sizeof text,
                       "%s: %" PRIu64 " of %" PRIu64
                       " reports cannot be read and will be left out",
                       where, found->gone, batch->count);
        sqlite_check_place(checker, text);
    } else if (found->damaged == 0 && found->sum != batch->sum) {
        (void)snprintf(text, sizeof text,
                       "%s: a random key or a sum changed, and no report is "
                       "harmed",
                       where);
        sqlite_check_place(checker, text);
    }
}

/* Looks at a chunk. */
static enum sotto_status
check_chunk(struct sqlite_checker *checker, sqlite3_stmt *select,
            const struct sqlite_batch *batch, struct sotto_error *err)
{
    struct looking *found = &checker->batch;
    const uint8_t *records = NULL;
    size_t count = sqlite_batch_chunk_count(batch, found->chunk);
    enum sotto_status status = sqlite_batch_read(&checker->sql, select, batch,
                                                 found->chunk, &records, err);
    size_t damaged = records == NULL ? 0
                                     : count_damaged(records, count, TAG_SIZE,
                                                     batch->payload_size);
    if (records != NULL) {
        found->sum = host_checksum(found->sum, records,
                                   count * SQLITE_RECORD(batch->payload_size));
    }
    found->damaged += damaged;
    found->gone += records == NULL ? count : 0;
    (void)sqlite3_reset(select);
    if (damaged > 0) {
        sqlite_check_explain(checker, sqlite_batch_chunk_text,
                             batch->first + (int64_t)found->chunk, NULL);
    }
    found->chunk++;
    return status;
}

/* Looks at chunks of a batch from where it is, until `left` bytes are over. */
static enum sotto_status
check_chunks(struct sqlite_checker *checker, const struct sqlite_batch *batch,
             size_t *left, struct sotto_error *err)
{
    sqlite3_stmt *select = NULL;
    enum sotto_status status =
        sql_prepare(&checker->sql, sqlite_batch_chunk_text, &select, err);
    if (checker->batch.chunk == 0) {
        checker->batch.sum = sqlite_batch_sum(batch);
    }
    while (status == SOTTO_STATUS_OK && *left > 0 &&
           checker->batch.chunk < batch->chunks) {
        status = check_chunk(checker, select, batch, err);
        *left -= SQL_SUMS_PAGE < *left ? SQL_SUMS_PAGE : *left;
    }
    (void)sqlite3_finalize(select);
    return status;
}

/* The batch that a row says; its hash is of the row. False: it says none. */
static bool
take_batch(struct sqlite_checker *checker, sqlite3_stmt *row,
           struct sqlite_batch *batch)
{
    sqlite3_int64 payload = sqlite3_column_int64(row, 6);
    batch->hash = sqlite3_column_blob(row, 7);
    batch->payload_size =
        payload > 0 && payload <= INT32_MAX ? (size_t)payload : 0;
    bool known =
        batch->hash != NULL && sqlite3_column_bytes(row, 7) == SOTTO_HASH_SIZE;
    if (checker->batch.chunk == 0) {
        check_numbers(checker, sqlite3_column_int64(row, 0),
                      sqlite3_column_int64(row, 1));
    }
    if (known && sqlite_batch_take(row, batch)) {
        return true;
    }
    sqlite_check_place(checker,
                       "a batch is not what it says, and cannot be read");
    return false;
}

/* Looks at the next batch, or goes on with one; `ret_found`: there was one. */
static enum sotto_status
check_batch(struct sqlite_checker *checker, size_t *left, bool *ret_found,
            struct sotto_error *err)
{
    struct sqlite_batch batch = {0};
    sqlite3_stmt *row = NULL;
    enum sotto_status status = sql_run(&checker->sql, "BEGIN", err);
    status = HOST_THEN(
        status,
        sql_first(&checker->sql,
                  "SELECT " SQLITE_BATCH_COLUMNS
                  ", c.payload_size, c.hash FROM batch AS b LEFT JOIN campaign "
                  "AS c ON c.number = b.campaign WHERE (b.campaign, b.number) "
                  "> (?1, ?2) ORDER BY b.campaign, b.number LIMIT 1",
                  SQL_VALUES(SQL_NUMBER(checker->campaign),
                             SQL_NUMBER(checker->number)),
                  &row, ret_found, err));
    if (status == SOTTO_STATUS_OK && *ret_found) {
        bool whole = take_batch(checker, row, &batch);
        status = whole ? check_chunks(checker, &batch, left, err) : status;
        if (status == SOTTO_STATUS_OK &&
            (!whole || checker->batch.chunk >= batch.chunks)) {
            if (whole) {
                note_batch(checker, &batch);
            }
            checker->batch = (struct looking){0};
            checker->campaign = sqlite3_column_int64(row, 0);
            checker->number = sqlite3_column_int64(row, 1);
        }
        *left -= 64 < *left ? 64 : *left;
    }
    (void)sqlite3_finalize(row);
    sql_roll_back(&checker->sql);
    return status;
}

enum sotto_status
sqlite_check_batches(struct sqlite_checker *checker, size_t *left,
                     struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    bool found = true;
    while (status == SOTTO_STATUS_OK && found && *left > 0) {
        status = check_batch(checker, left, &found, err);
    }
    if (status == SOTTO_STATUS_FORMAT) {
        sqlite_check_place(checker, err->message);
        status = SOTTO_STATUS_OK;
        found = false;
        checker->batch = (struct looking){0};
    }
    if (status == SOTTO_STATUS_OK && !found) {
        sqlite_check_next(checker);
    }
    return status;
}

/* ---- Held and incoming --------------------------------------------------- */

/* One row of those that wait; whether a payload of it is damaged. */
static bool
check_row(struct sqlite_checker *checker, sqlite3_stmt *row)
{
    size_t skip = checker->look == LOOK_HELD ? 0 : TAG_SIZE;
    size_t payload = (size_t)sqlite3_column_int64(row, 2);
    const uint8_t *data = sqlite3_column_blob(row, 3);
    size_t size = (size_t)sqlite3_column_bytes(row, 3);
    size_t record = skip + payload + SUM_SIZE;
    if (payload == 0 || payload > INT32_MAX || data == NULL || size == 0 ||
        size % record != 0) {
        sqlite_check_place(checker, "a report that waits cannot be read");
        return false;
    }
    size_t damaged = count_damaged(data, size / record, skip, payload);
    note_reports(checker, "reports that wait", damaged, size / record);
    return damaged > 0;
}

/* Of the rows that wait, by where they are: those behind one, and one. */
static const struct {
    const char *behind, *one;
} waiting[] = {
    {"SELECT h.campaign, h.key, c.payload_size, h.payload FROM held AS h LEFT "
     "JOIN campaign AS c ON c.number = h.campaign "
     "WHERE (h.campaign, h.key) > (?1, ?2) ORDER BY h.campaign, h.key",
     "SELECT payload FROM held WHERE campaign = ?1 AND key = ?2"},
    {"SELECT i.place, NULL, c.payload_size, i.reports FROM incoming_0 AS i "
     "LEFT JOIN campaign AS c ON c.number = i.place >> 43 "
     "WHERE i.place > ?1 ORDER BY i.place",
     "SELECT reports FROM incoming_0 WHERE place = ?1"},
    {"SELECT i.place, NULL, c.payload_size, i.reports FROM incoming_1 AS i "
     "LEFT JOIN campaign AS c ON c.number = i.place >> 43 "
     "WHERE i.place > ?1 ORDER BY i.place",
     "SELECT reports FROM incoming_1 WHERE place = ?1"},
};
_Static_assert(SQLITE_PLACE_BITS == 43, "as the statements say");

/* Looks at rows from the last one on, until there are no more, `left` bytes are
   over or one is damaged. */
static enum sotto_status
check_some(struct sqlite_checker *checker, size_t which, size_t *left,
           bool *ret_found, struct sotto_error *err)
{
    sqlite3_stmt *row = NULL;
    uint8_t key[TAG_SIZE];
    memcpy(key, checker->key, sizeof key);
    enum sotto_status status =
        sql_first(&checker->sql, waiting[which].behind,
                  which == 0 ? SQL_VALUES(SQL_NUMBER(checker->place),
                                          SQL_BLOB(key, TAG_SIZE))
                             : SQL_VALUES(SQL_NUMBER(checker->place)),
                  &row, ret_found, err);
    bool going = *ret_found;
    while (status == SOTTO_STATUS_OK && going) {
        size_t bytes = 64 + (size_t)sqlite3_column_bytes(row, 3);
        checker->place = sqlite3_column_int64(row, 0);
        (void)sql_column(row, 1, checker->key, TAG_SIZE);
        bool damaged = check_row(checker, row);
        *left -= bytes < *left ? bytes : *left;
        going = !damaged && *left > 0;
        int code = going ? sqlite3_step(row) : SQLITE_ROW;
        *ret_found = code == SQLITE_ROW;
        going = going && *ret_found;
        if (code != SQLITE_ROW && code != SQLITE_DONE) {
            status = sql_fail(&checker->sql, code, err);
        }
        if (damaged) {
            (void)sqlite3_reset(row);
            sqlite_check_explain(checker, waiting[which].one, checker->place,
                                 which == 0 ? checker->key : NULL);
        }
    }
    (void)sqlite3_finalize(row);
    return status;
}

/* Looks at the rows of a table. What SQLite cannot read is damage, too. */
enum sotto_status
sqlite_check_rows(struct sqlite_checker *checker, size_t *left,
                  struct sotto_error *err)
{
    size_t which =
        checker->look == LOOK_HELD ? 0 : 1 + (size_t)checker->generation;
    enum sotto_status status = SOTTO_STATUS_OK;
    bool found = true;
    while (status == SOTTO_STATUS_OK && found && *left > 0) {
        status = check_some(checker, which, left, &found, err);
    }
    if (status == SOTTO_STATUS_FORMAT) {
        sqlite_check_place(checker, err->message);
        status = SOTTO_STATUS_OK;
        found = false;
    }
    if (status == SOTTO_STATUS_OK && !found) {
        sqlite_check_next(checker);
    }
    return status;
}
