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

/* Whole reports from pairs of key and payload. */
static void
write_reports(const struct sqlite_reader *reader, const uint8_t *hash,
              const uint8_t *pair, size_t count, size_t payload, uint8_t *to)
{
    const char *magic =
        reader->simulation ? REPORT_MAGIC_SIMULATED : REPORT_MAGIC;
    for (size_t i = 0; i < count; i++) {
        memcpy(to, magic, REPORT_MAGIC_SIZE);
        to += REPORT_MAGIC_SIZE;
        memcpy(to, hash, SOTTO_HASH_SIZE);
        to += SOTTO_HASH_SIZE;
        memcpy(to, pair, TAG_SIZE + payload);
        to += TAG_SIZE + payload;
        pair += TAG_SIZE + payload;
    }
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
    const uint8_t *pairs = sqlite3_column_blob(row, 3);
    uint64_t size = (uint64_t)sqlite3_column_bytes(row, 3);
    if (pairs == NULL && sqlite3_errcode(reader->sql.db) == SQLITE_NOMEM) {
        return host_fail_memory(err);
    }
    if (pairs == NULL || number <= 0 || count <= 0 || payload <= 0 ||
        count > INT32_MAX || payload > INT32_MAX ||
        (uint64_t)count * (TAG_SIZE + (uint64_t)payload) != size) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "the store '%s' is damaged: a batch is of the wrong "
                         "size",
                         host_shown(reader->path));
    }
    size += (uint64_t)count * (REPORT_HEADER_SIZE - SOTTO_ID_SIZE);
    uint8_t *reports = malloc((size_t)size);
    if (reports == NULL) {
        return host_fail_memory(err);
    }
    write_reports(reader, hash, pairs, (size_t)count, (size_t)payload, reports);
    *ret_batch = (struct store_batch){(uint64_t)number, (size_t)count,
                                      (size_t)size, reports, 0};
    return SOTTO_STATUS_OK;
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
