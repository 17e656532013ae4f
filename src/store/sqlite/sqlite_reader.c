/*
 * sqlite_reader.c: reading batches, while a writer may be at work.
 *
 * Every read is a transaction of its own and ends before the batch is handed
 * over: a reader that waited in one would keep the log from being cut.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/text.h"
#include "report/report.h"
#include "store/sqlite/sqlite_store.h"

struct sqlite_reader {
    struct sql sql;
    char *path;
    bool simulation;
    sqlite3_stmt *next;
};

void
sqlite_reader_close(void *own)
{
    struct sqlite_reader *reader = own;
    if (reader == NULL) {
        return;
    }
    (void)sqlite3_finalize(reader->next);
    (void)sqlite3_close(reader->sql.db);
    free(reader->path);
    free(reader);
}

enum sotto_status
sqlite_reader_open(const char *place, void **ret, bool *ret_simulation,
                   struct sotto_error *err)
{
    struct sqlite_reader *reader = calloc(1, sizeof *reader);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (reader == NULL) {
        return host_fail_memory(err);
    }
    reader->path = host_text_copy(place, strlen(place));
    reader->sql = (struct sql){NULL, reader->path, "store"};
    status = reader->path == NULL
                 ? host_fail_memory(err)
                 : sqlite_file_open(&reader->sql, false, &reader->simulation,
                                    NULL, err);
    status = HOST_THEN(
        status,
        sql_prepare(
            &reader->sql,
            "SELECT b.number, b.count, c.payload_size, b.reports "
            "FROM campaign AS c JOIN batch AS b ON b.campaign = c.number "
            "WHERE c.hash = ?1 AND b.number > ?2 ORDER BY b.number LIMIT 1",
            &reader->next, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_simulation = reader->simulation;
        *ret = reader;
    } else {
        sqlite_reader_close(reader);
    }
    return status;
}

/* Whole reports from those records that are sound; says how many. */
static size_t
write_reports(const struct sqlite_reader *reader,
              const struct sqlite_batch *batch, uint8_t *to)
{
    const char *magic =
        reader->simulation ? REPORT_MAGIC_SIMULATED : REPORT_MAGIC;
    size_t size = TAG_SIZE + batch->payload_size, count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (!batch->fits && !sqlite_batch_sound(batch, i)) {
            continue;
        }
        memcpy(to, magic, REPORT_MAGIC_SIZE);
        to += REPORT_MAGIC_SIZE;
        memcpy(to, batch->hash, SOTTO_HASH_SIZE);
        to += SOTTO_HASH_SIZE;
        memcpy(to, batch->data + i * batch->record, size);
        to += size;
        count++;
    }
    return count;
}

static enum sotto_status
give_batch(const struct sqlite_reader *reader, const struct sqlite_batch *batch,
           struct store_batch *ret_batch, struct sotto_error *err)
{
    size_t each = REPORT_HEADER_SIZE + batch->payload_size;
    uint8_t *reports = malloc(batch->count * each);
    if (reports == NULL) {
        return host_fail_memory(err);
    }
    size_t count = write_reports(reader, batch, reports);
    *ret_batch = (struct store_batch){batch->number, count, count * each,
                                      reports, batch->count - count};
    return SOTTO_STATUS_OK;
}

/* The batch in the row that the statement stands at. */
static enum sotto_status
take_batch(const struct sqlite_reader *reader, const uint8_t *hash,
           struct store_batch *ret_batch, struct sotto_error *err)
{
    sqlite3_stmt *row = reader->next;
    sqlite3_int64 number = sqlite3_column_int64(row, 0);
    sqlite3_int64 count = sqlite3_column_int64(row, 1);
    sqlite3_int64 payload = sqlite3_column_int64(row, 2);
    const uint8_t *data = sqlite3_column_blob(row, 3);
    size_t size = (size_t)sqlite3_column_bytes(row, 3);
    struct sqlite_batch batch = {.hash = hash, .number = (uint64_t)number};
    if (data == NULL && sqlite3_errcode(reader->sql.db) == SQLITE_NOMEM) {
        return host_fail_memory(err);
    }
    batch.payload_size = (size_t)payload;
    if (number <= 0 || payload <= 0 || payload > INT32_MAX || count < 0 ||
        !sqlite_batch_parse(&batch, data, size, (uint64_t)count)) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "the store '%s' is damaged: a batch is of the wrong "
                         "size",
                         host_shown(reader->path));
    }
    return give_batch(reader, &batch, ret_batch, err);
}

_Static_assert(TAG_SIZE == SOTTO_ID_SIZE, "a release's key stands for an id");

enum sotto_status
sqlite_reader_next(void *own, const uint8_t *hash, uint64_t after,
                   struct store_batch *ret_batch, struct sotto_error *err)
{
    struct sqlite_reader *reader = own;
    enum sotto_status status = SOTTO_STATUS_OK;
    int64_t behind = after < INT64_MAX ? (int64_t)after : INT64_MAX;
    int code =
        sql_bind(reader->next, SQL_VALUES(SQL_BLOB(hash, SOTTO_HASH_SIZE),
                                          SQL_NUMBER(behind)));
    code = code == SQLITE_OK ? sqlite3_step(reader->next) : code;
    if (code == SQLITE_ROW) {
        status = take_batch(reader, hash, ret_batch, err);
    } else if (code == SQLITE_DONE) {
        *ret_batch = (struct store_batch){0};
    } else {
        status = sql_fail(&reader->sql, code, err);
    }
    (void)sqlite3_reset(reader->next);
    return status;
}
