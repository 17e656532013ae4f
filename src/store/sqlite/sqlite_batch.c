/*
 * sqlite_batch.c: a batch in chunks, and which of its reports are damaged.
 *
 * Every chunk but the last has as many records as fit, so that a batch's row
 * says of each chunk what must be in it: one that says anything else is not
 * that chunk, wherever damage has led to. In a chunk the payloads' own sums say
 * which reports are damaged, and the others are as good as ever: a report's key
 * means nothing, so damage in it harms nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "store/sqlite/sqlite_store.h"

#define CHUNK_NUMBER 4 /* where in its header */
#define CHUNK_FIRST 12

size_t
sqlite_rows_most(size_t record, size_t header)
{
    size_t most = (SQLITE_ROW_MOST - header) / record;
    return most > 0 ? most : 1;
}

static void
write_little(uint64_t value, size_t bytes, uint8_t *to)
{
    for (size_t i = 0; i < bytes; i++) {
        to[i] = (uint8_t)(value >> 8 * i);
    }
}

/* ---- Records ------------------------------------------------------------- */

void
sqlite_record_sum(uint8_t *payload, size_t payload_size)
{
    host_checksum_write(host_checksum(0, payload, payload_size),
                        payload + payload_size);
}

bool
sqlite_record_sound(const uint8_t *payload, size_t payload_size)
{
    return host_checksum(0, payload, payload_size) ==
           host_checksum_read(payload + payload_size);
}

/* ---- What must be where -------------------------------------------------- */

static size_t
record_of(const struct sqlite_batch *batch)
{
    return SQLITE_RECORD(batch->payload_size);
}

static uint64_t
chunks_of(const struct sqlite_batch *batch)
{
    size_t most = sqlite_rows_most(record_of(batch), SQLITE_CHUNK_HEADER);
    return batch->count / most + (batch->count % most != 0);
}

bool
sqlite_batch_valid(const struct sqlite_batch *batch)
{
    return batch->campaign > 0 && batch->campaign < SQLITE_CAMPAIGNS &&
           batch->number > 0 && batch->count <= SQLITE_BATCH_COUNT &&
           batch->payload_size > 0 && batch->payload_size <= INT32_MAX &&
           batch->first > 0 && batch->first < SQLITE_PLACES &&
           batch->chunks == chunks_of(batch);
}

size_t
sqlite_batch_chunk_count(const struct sqlite_batch *batch, uint64_t chunk)
{
    size_t most = sqlite_rows_most(record_of(batch), SQLITE_CHUNK_HEADER);
    uint64_t left = batch->count - chunk * most;
    return left < most ? (size_t)left : most;
}

static void
write_header(const struct sqlite_batch *batch, uint64_t chunk,
             uint8_t header[SQLITE_CHUNK_HEADER])
{
    size_t most = sqlite_rows_most(record_of(batch), SQLITE_CHUNK_HEADER);
    write_little(batch->campaign, 4, header);
    write_little(batch->number, 8, header + CHUNK_NUMBER);
    write_little(chunk * most, 4, header + CHUNK_FIRST);
}

uint32_t
sqlite_batch_sum(const struct sqlite_batch *batch)
{
    uint8_t number[8];
    write_little(batch->number, sizeof number, number);
    uint32_t sum = host_checksum(0, batch->hash, SOTTO_HASH_SIZE);
    return host_checksum(sum, number, sizeof number);
}

/* ---- Writing ------------------------------------------------------------- */

/* Where a payload was damaged while it waited, the sum of all must not fit. */
static uint32_t
seal(const struct sqlite_batch *batch, const uint8_t *records)
{
    size_t record = record_of(batch), count = (size_t)batch->count;
    bool sound = true;
    for (size_t i = 0; i < count && sound; i++) {
        sound = sqlite_record_sound(records + i * record + TAG_SIZE,
                                    batch->payload_size);
    }
    uint32_t sum =
        host_checksum(sqlite_batch_sum(batch), records, count * record);
    return sound ? sum : ~sum;
}

static enum sotto_status
write_chunks(const struct sql *sql, const struct sqlite_batch *batch,
             const uint8_t *records, uint8_t *row, struct sotto_error *err)
{
    size_t record = record_of(batch);
    sqlite3_stmt *insert = NULL;
    enum sotto_status status =
        sql_prepare(sql, "INSERT INTO released VALUES (?1, ?2)", &insert, err);
    for (uint64_t i = 0; i < batch->chunks && status == SOTTO_STATUS_OK; i++) {
        size_t size = sqlite_batch_chunk_count(batch, i) * record;
        write_header(batch, i, row);
        memcpy(row + SQLITE_CHUNK_HEADER, records, size);
        records += size;
        int code = sqlite_step(
            insert, SQL_VALUES(SQL_NUMBER((uint64_t)batch->first + i),
                               SQL_BLOB(row, SQLITE_CHUNK_HEADER + size)));
        if (code != SQLITE_DONE) {
            status = sql_fail(sql, code, err);
        }
    }
    (void)sqlite3_finalize(insert);
    return status;
}

enum sotto_status
sqlite_batch_write_chunks(const struct sql *sql, struct sqlite_batch *batch,
                          const uint8_t *records, struct sotto_error *err)
{
    size_t record = record_of(batch);
    size_t size = SQLITE_CHUNK_HEADER +
                  record * sqlite_rows_most(record, SQLITE_CHUNK_HEADER);
    uint8_t *row = malloc(size);
    if (row == NULL) {
        return host_fail_memory(err);
    }
    batch->chunks = chunks_of(batch);
    batch->sum = seal(batch, records);
    enum sotto_status status = write_chunks(sql, batch, records, row, err);
    host_wipe_free(row, size);
    return status;
}

enum sotto_status
sqlite_batch_write(const struct sql *sql, const struct sqlite_batch *batch,
                   struct sotto_error *err)
{
    return sql_execute(
        sql, "INSERT INTO batch VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        SQL_VALUES(SQL_NUMBER(batch->campaign), SQL_NUMBER(batch->number),
                   SQL_NUMBER(batch->count), SQL_NUMBER(batch->first),
                   SQL_NUMBER(batch->chunks), SQL_NUMBER(batch->sum)),
        err);
}

/* ---- Reading ------------------------------------------------------------- */

/* Whether a row is what the batch says of that chunk. */
static bool
is_chunk(const struct sqlite_batch *batch, uint64_t chunk, const uint8_t *data,
         size_t size)
{
    uint8_t header[SQLITE_CHUNK_HEADER];
    write_header(batch, chunk, header);
    return data != NULL &&
           size == sizeof header + sqlite_batch_chunk_count(batch, chunk) *
                                       record_of(batch) &&
           memcmp(data, header, sizeof header) == 0;
}

enum sotto_status
sqlite_batch_read(const struct sql *sql, sqlite3_stmt *select,
                  const struct sqlite_batch *batch, uint64_t chunk,
                  const uint8_t **ret_records, struct sotto_error *err)
{
    *ret_records = NULL;
    (void)sqlite3_reset(select);
    int code = sql_bind(select,
                        SQL_VALUES(SQL_NUMBER((uint64_t)batch->first + chunk)));
    code = code == SQLITE_OK ? sqlite3_step(select) : code;
    const uint8_t *data =
        code == SQLITE_ROW ? sqlite3_column_blob(select, 0) : NULL;
    if (code == SQLITE_ROW && data == NULL) {
        code = sqlite3_errcode(sql->db); /* NOMEM; or the blob is empty */
    }
    if (data != NULL &&
        is_chunk(batch, chunk, data, (size_t)sqlite3_column_bytes(select, 0))) {
        *ret_records = data + SQLITE_CHUNK_HEADER;
    }
    return code == SQLITE_ROW || code == SQLITE_DONE || code == SQLITE_OK ||
                   (code & 0xff) == SQLITE_CORRUPT
               ? SOTTO_STATUS_OK
               : sql_fail(sql, code, err);
}

bool
sqlite_batch_take(sqlite3_stmt *row, struct sqlite_batch *batch)
{
    sqlite3_int64 number[5];
    for (int i = 0; i < 5; i++) {
        number[i] = sqlite3_column_int64(row, 1 + i);
    }
    sqlite3_int64 campaign = sqlite3_column_int64(row, 0);
    batch->campaign = campaign > 0 && campaign < (int64_t)SQLITE_CAMPAIGNS
                          ? (uint32_t)campaign
                          : 0;
    batch->number = number[0] > 0 ? (uint64_t)number[0] : 0;
    batch->count = number[1] > 0 ? (uint64_t)number[1] : 0;
    batch->first = number[2];
    batch->chunks = number[3] > 0 ? (uint64_t)number[3] : 0;
    batch->sum = (uint32_t)number[4];
    return sqlite_batch_valid(batch);
}

const char sqlite_batch_chunk_text[] =
    "SELECT reports FROM released WHERE place = ?1";
