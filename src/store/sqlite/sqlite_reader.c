/*
 * sqlite_reader.c: reading batches, while a writer may be at work.
 *
 * Every batch is read in a transaction of its own, chunk by chunk, that ends
 * before the batch is handed over: a reader that waited in one would keep the
 * log from being cut.
 *
 * Chunks are taken from leaves as they are, and looked up one by one, so that
 * one that is gone hides no other: what is in them has sums of its own. A page
 * that leads to leaves must fit its sum.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/text.h"
#include "report/report.h"
#include "store/sql_sums.h"
#include "store/sqlite/sqlite_store.h"

struct sqlite_reader {
    struct sql sql;
    char *path;
    bool simulation;
    int64_t version;            /* of the store: 1 or 2 */
    sqlite3_stmt *next, *chunk; /* no chunk in one of version 1 */
};

void
sqlite_reader_close(void *own)
{
    struct sqlite_reader *reader = own;
    if (reader == NULL) {
        return;
    }
    (void)sqlite3_finalize(reader->next);
    (void)sqlite3_finalize(reader->chunk);
    (void)sqlite3_close(reader->sql.db);
    free(reader->path);
    free(reader);
}

/* The batches of a mechanism, by their number, but for those that a repair has
   nothing of. */
#define FROM_BATCHES                                                           \
    " FROM campaign AS c JOIN batch AS b ON b.campaign = c.number "            \
    "WHERE c.hash = ?1 AND b.number > ?2 AND b.count > 0 "                     \
    "ORDER BY b.number LIMIT 1"

static enum sotto_status
prepare(struct sqlite_reader *reader, struct sotto_error *err)
{
    enum sotto_status status =
        sql_integer(&reader->sql, "PRAGMA user_version", &reader->version, err);
    if (status == SOTTO_STATUS_OK && reader->version == 1) {
        return sql_prepare(&reader->sql,
                           "SELECT b.number, b.count, c.payload_size, "
                           "b.reports" FROM_BATCHES,
                           &reader->next, err);
    }
    status = HOST_THEN(status, sql_prepare(&reader->sql,
                                           "SELECT " SQLITE_BATCH_COLUMNS
                                           ", c.payload_size" FROM_BATCHES,
                                           &reader->next, err));
    return HOST_THEN(status, sql_prepare(&reader->sql, sqlite_batch_chunk_text,
                                         &reader->chunk, err));
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
    status = HOST_THEN(status, prepare(reader, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_simulation = reader->simulation;
        *ret = reader;
    } else {
        sqlite_reader_close(reader);
    }
    return status;
}

/* ---- Batches ------------------------------------------------------------- */

/* Whole reports from those of `count` records that are sound, where they have
   sums; says how many. */
static size_t
write_reports(const struct sqlite_reader *reader,
              const struct sqlite_batch *batch, const uint8_t *records,
              size_t count, uint8_t *to)
{
    const char *magic =
        reader->simulation ? REPORT_MAGIC_SIMULATED : REPORT_MAGIC;
    size_t size = TAG_SIZE + batch->payload_size, sound = 0;
    size_t sum = reader->version == 1 ? 0 : SUM_SIZE;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *record = records + i * (size + sum);
        if (sum > 0 &&
            !sqlite_record_sound(record + TAG_SIZE, batch->payload_size)) {
            continue;
        }
        memcpy(to, magic, REPORT_MAGIC_SIZE);
        to += REPORT_MAGIC_SIZE;
        memcpy(to, batch->hash, SOTTO_HASH_SIZE);
        to += SOTTO_HASH_SIZE;
        memcpy(to, record, size);
        to += size;
        sound++;
    }
    return sound;
}

static enum sotto_status
fail_batch(const struct sqlite_reader *reader, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                     "the store '%s' is damaged: a batch is not what it says; "
                     "run: sotto store repair sqlite:%s",
                     host_shown(reader->path), host_shown(reader->path));
}

/* Reads the chunks of a batch; what is not there is damaged. */
static enum sotto_status
read_chunks(const struct sqlite_reader *reader,
            const struct sqlite_batch *batch, struct store_batch *ret_batch,
            struct sotto_error *err)
{
    size_t each = REPORT_HEADER_SIZE + batch->payload_size, count = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    uint8_t *reports = malloc((size_t)batch->count * each);
    if (reports == NULL) {
        return host_fail_memory(err);
    }
    for (uint64_t i = 0; i < batch->chunks && status == SOTTO_STATUS_OK; i++) {
        const uint8_t *records = NULL;
        status = sqlite_batch_read(&reader->sql, reader->chunk, batch, i,
                                   &records, err);
        if (records != NULL) {
            count += write_reports(reader, batch, records,
                                   sqlite_batch_chunk_count(batch, i),
                                   reports + count * each);
        }
    }
    (void)sqlite3_reset(reader->chunk);
    if (status != SOTTO_STATUS_OK) {
        free(reports);
        return status;
    }
    *ret_batch = (struct store_batch){batch->number, count, count * each,
                                      reports, (size_t)batch->count - count};
    return SOTTO_STATUS_OK;
}

/* A page that leads to batches, or to their chunks, is damaged: they are there
   again when it is repaired, so nobody may go on behind them. */
static enum sotto_status
fail_until_repair(enum sotto_status status, struct sotto_error *err)
{
    if (status == SOTTO_STATUS_FORMAT) {
        status = SOTTO_STATUS_IO;
        if (err != NULL) {
            err->status = status;
        }
    }
    return status;
}

/* The batch in the row that the statement stands at. */
static enum sotto_status
take_batch(const struct sqlite_reader *reader, const uint8_t *hash,
           struct store_batch *ret_batch, struct sotto_error *err)
{
    sqlite3_int64 payload = sqlite3_column_int64(reader->next, 6);
    struct sqlite_batch batch = {.hash = hash};
    batch.payload_size =
        payload > 0 && payload <= INT32_MAX ? (size_t)payload : 0;
    if (!sqlite_batch_take(reader->next, &batch)) {
        return fail_batch(reader, err);
    }
    sql_sums_trust(reader->sql.db, SQL_SUMS_LEAVES);
    enum sotto_status status = read_chunks(reader, &batch, ret_batch, err);
    sql_sums_trust(reader->sql.db, SQL_SUMS_STRICT);
    return fail_until_repair(status, err);
}

/* Likewise of version 1: pairs of key and payload, all in one. */
static enum sotto_status
take_batch_1(const struct sqlite_reader *reader, const uint8_t *hash,
             struct store_batch *ret_batch, struct sotto_error *err)
{
    sqlite3_int64 number = sqlite3_column_int64(reader->next, 0);
    sqlite3_int64 count = sqlite3_column_int64(reader->next, 1);
    sqlite3_int64 payload = sqlite3_column_int64(reader->next, 2);
    const uint8_t *data = sqlite3_column_blob(reader->next, 3);
    sqlite3_int64 size = sqlite3_column_bytes(reader->next, 3);
    if (data == NULL && sqlite3_errcode(reader->sql.db) == SQLITE_NOMEM) {
        return host_fail_memory(err);
    }
    if (number <= 0 || payload <= 0 || payload > INT32_MAX || count <= 0 ||
        data == NULL || size % ((int)TAG_SIZE + payload) != 0 ||
        size / ((int)TAG_SIZE + payload) != count) {
        return fail_batch(reader, err);
    }
    const struct sqlite_batch batch = {.hash = hash,
                                       .payload_size = (size_t)payload};
    size_t each = REPORT_HEADER_SIZE + batch.payload_size;
    uint8_t *reports = malloc((size_t)count * each);
    if (reports == NULL) {
        return host_fail_memory(err);
    }
    (void)write_reports(reader, &batch, data, (size_t)count, reports);
    *ret_batch = (struct store_batch){(uint64_t)number, (size_t)count,
                                      (size_t)count * each, reports, 0};
    return SOTTO_STATUS_OK;
}

_Static_assert(TAG_SIZE == SOTTO_ID_SIZE, "a release's key stands for an id");

enum sotto_status
sqlite_reader_next(void *own, const uint8_t *hash, uint64_t after,
                   struct store_batch *ret_batch, struct sotto_error *err)
{
    struct sqlite_reader *reader = own;
    enum sotto_status status = sql_run(&reader->sql, "BEGIN", err);
    int64_t behind = after < INT64_MAX ? (int64_t)after : INT64_MAX;
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    int code =
        sql_bind(reader->next, SQL_VALUES(SQL_BLOB(hash, SOTTO_HASH_SIZE),
                                          SQL_NUMBER(behind)));
    code = code == SQLITE_OK ? sqlite3_step(reader->next) : code;
    if (code == SQLITE_ROW) {
        status = reader->version == 1
                     ? take_batch_1(reader, hash, ret_batch, err)
                     : take_batch(reader, hash, ret_batch, err);
    } else if (code == SQLITE_DONE) {
        *ret_batch = (struct store_batch){0};
    } else {
        status = fail_until_repair(sql_fail(&reader->sql, code, err), err);
    }
    (void)sqlite3_reset(reader->next);
    sql_roll_back(&reader->sql);
    return status;
}
