/*
 * sqlite_reports.c: reports in the rows of a damaged store, and which of them
 * are sound.
 *
 * A payload is known by its own sum. Of which campaign it is, its row's place
 * or header says: in a damaged page a chunk must lie where its batch has it.
 */
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "store/sqlite/sqlite_repair.h"

/* ---- Rows ---------------------------------------------------------------- */

static uint64_t
little_endian(const uint8_t *from, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i > 0; i--) {
        value = value << 8 | from[i - 1];
    }
    return value;
}

/* A row of released, and what its header says. */
struct chunk {
    const struct repair_campaign *campaign;
    uint64_t number, batch, begin; /* campaign, batch, first record of it */
    int64_t first;                 /* where the batch begins */
    const uint8_t *records;
    size_t count;
};

/* Whether it is a chunk of a campaign that is kept. */
static bool
read_chunk(const struct repair *repair, const struct sql_row *row,
           struct chunk *chunk)
{
    const struct sql_cell *cell = &row->column[1];
    if (cell->size <= SQLITE_CHUNK_HEADER || row->rowid <= 0) {
        return false;
    }
    size_t size = cell->size - SQLITE_CHUNK_HEADER;
    chunk->number = little_endian(cell->bytes, 4);
    chunk->batch = little_endian(cell->bytes + 4, 8);
    chunk->begin = little_endian(cell->bytes + 12, 4);
    chunk->records = cell->bytes + SQLITE_CHUNK_HEADER;
    chunk->campaign = repair_find(repair, chunk->number);
    if (chunk->campaign == NULL || size % chunk->campaign->record != 0 ||
        chunk->batch == 0 || chunk->batch > INT64_MAX) {
        return false;
    }
    size_t most =
        sqlite_rows_most(chunk->campaign->record, SQLITE_CHUNK_HEADER);
    chunk->count = size / chunk->campaign->record;
    chunk->first = row->rowid - (int64_t)(chunk->begin / most);
    return chunk->begin % most == 0 && chunk->count <= most && chunk->first > 0;
}

/* Room for the sound records of a row. */
static bool
reserve_records(struct repair *repair, size_t size)
{
    if (size > repair->record_room) {
        uint8_t *grown =
            host_wipe_resize(repair->record, repair->record_room, size);
        if (grown == NULL) {
            return false;
        }
        repair->record = grown;
        repair->record_room = size;
    }
    return true;
}

static bool
is_sound(const struct repair_campaign *campaign, const uint8_t *record)
{
    return sqlite_record_sound(record + TAG_SIZE, campaign->payload_size);
}

/* Whether a chunk of a damaged page lies where its batch has it. */
static enum sotto_status
is_in_place(struct repair *repair, const struct chunk *chunk, bool *ret_is,
            struct sotto_error *err)
{
    enum sotto_status status =
        repair->find_batch != NULL
            ? SOTTO_STATUS_OK
            : sql_prepare(&repair->to,
                          "SELECT 1 FROM batch WHERE campaign = ?1 AND number "
                          "= ?2 AND first = ?3",
                          &repair->find_batch, err);
    int code = status == SOTTO_STATUS_OK
                   ? sqlite_step(repair->find_batch,
                                 SQL_VALUES(SQL_NUMBER(chunk->number),
                                            SQL_NUMBER(chunk->batch),
                                            SQL_NUMBER(chunk->first)))
                   : SQLITE_DONE;
    *ret_is = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE
               ? status
               : sql_fail(&repair->to, code, err);
}

static enum sotto_status
take_released(struct repair *repair, const struct sql_row *row, bool trusted,
              struct sotto_error *err)
{
    struct chunk chunk = {0};
    bool in_place = true;
    if (!read_chunk(repair, row, &chunk)) {
        return SOTTO_STATUS_OK;
    }
    if (trusted) {
        return repair_insert_row(repair, INSERT_RELEASED, row, err);
    }
    size_t record = chunk.campaign->record, size = SQLITE_CHUNK_HEADER;
    if (!reserve_records(repair, row->column[1].size)) {
        return host_fail_memory(err);
    }
    memcpy(repair->record, row->column[1].bytes, size);
    for (size_t i = 0; i < chunk.count; i++) {
        if (is_sound(chunk.campaign, chunk.records + i * record)) {
            memcpy(repair->record + size, chunk.records + i * record, record);
            size += record;
        }
    }
    enum sotto_status status = is_in_place(repair, &chunk, &in_place, err);
    return in_place && size > SQLITE_CHUNK_HEADER
               ? HOST_THEN(status,
                           repair_insert_values(
                               repair, INSERT_RELEASED,
                               SQL_VALUES(SQL_NUMBER(row->rowid),
                                          SQL_BLOB(repair->record, size)),
                               err))
               : status;
}

/* Of what waits come the records that are sound, each tag once. */
static enum sotto_status
take_incoming(struct repair *repair, const struct sql_row *row,
              struct sotto_error *err)
{
    uint64_t number = (uint64_t)row->rowid >> SQLITE_PLACE_BITS;
    const struct repair_campaign *campaign = repair_find(repair, number);
    const struct sql_cell *cell = &row->column[1];
    size_t size = 0;
    if (row->rowid < 0 || campaign == NULL || cell->size == 0) {
        return SOTTO_STATUS_OK;
    }
    if (cell->size % campaign->record != 0) { /* nobody can say where one is */
        size_t count = cell->size / campaign->record;
        repair->counts.lost += count > 0 ? count : 1;
        return SOTTO_STATUS_OK;
    }
    size_t count = cell->size / campaign->record;
    if (!reserve_records(repair, cell->size) ||
        !window_tags_reserve(&repair->tags, count)) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        const uint8_t *record = cell->bytes + i * campaign->record;
        bool sound = is_sound(campaign, record);
        if (sound && window_tags_add(&repair->tags, (uint32_t)number, record)) {
            memcpy(repair->record + size, record, campaign->record);
            size += campaign->record;
        }
        repair->counts.lost += !sound;
    }
    return size == 0 ? SOTTO_STATUS_OK
                     : repair_insert_values(
                           repair, INSERT_INCOMING,
                           SQL_VALUES(SQL_NUMBER(row->rowid),
                                      SQL_BLOB(repair->record, size)),
                           err);
}

static enum sotto_status
take_held(struct repair *repair, const struct sql_row *row,
          struct sotto_error *err)
{
    const struct repair_campaign *campaign =
        row->column[0].number > 0
            ? repair_find(repair, (uint64_t)row->column[0].number)
            : NULL;
    const struct sql_cell *payload = &row->column[2];
    if (campaign == NULL) {
        return SOTTO_STATUS_OK;
    }
    bool sound = row->column[1].size == TAG_SIZE &&
                 payload->size == campaign->payload_size + SUM_SIZE &&
                 sqlite_record_sound(payload->bytes, campaign->payload_size);
    repair->counts.lost += !sound;
    return sound ? repair_insert_row(repair, INSERT_HELD, row, err)
                 : SOTTO_STATUS_OK;
}

enum sotto_status
repair_take_reports(struct repair *repair, const struct sql_row *row,
                    bool trusted, struct sotto_error *err)
{
    switch (repair_table_of(row)) {
    case INSERT_RELEASED:
        return take_released(repair, row, trusted, err);
    case INSERT_INCOMING:
        return take_incoming(repair, row, err);
    case INSERT_HELD:
        return take_held(repair, row, err);
    default:
        return SOTTO_STATUS_OK;
    }
}

/* ---- Doubting ------------------------------------------------------------ */

static size_t
count_bad(const struct repair_campaign *campaign, const uint8_t *records,
          size_t count)
{
    size_t bad = 0;
    for (size_t i = 0; i < count; i++) {
        bad += !is_sound(campaign, records + i * campaign->record);
    }
    return bad;
}

size_t
repair_count_bad(const struct repair *repair, const struct sql_row *row)
{
    const struct repair_campaign *campaign = NULL;
    const struct sql_cell *cell = &row->column[1];
    struct chunk chunk = {0};
    switch (repair_table_of(row)) {
    case INSERT_HELD:
        campaign = repair_find(repair, (uint64_t)row->column[0].number);
        cell = &row->column[2];
        return campaign != NULL &&
               (cell->size != campaign->payload_size + SUM_SIZE ||
                !sqlite_record_sound(cell->bytes, campaign->payload_size));
    case INSERT_INCOMING:
        campaign =
            repair_find(repair, (uint64_t)row->rowid >> SQLITE_PLACE_BITS);
        return campaign == NULL ? 0
                                : count_bad(campaign, cell->bytes,
                                            cell->size / campaign->record);
    case INSERT_RELEASED:
        return read_chunk(repair, row, &chunk)
                   ? count_bad(chunk.campaign, chunk.records, chunk.count)
                   : 0;
    default:
        return 0;
    }
}

/* ---- Naming -------------------------------------------------------------- */

struct naming {
    struct repair *repair;
    uint64_t campaign, batch; /* the last one */
};

static enum sotto_status
name_batch(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct naming *naming = context;
    struct sql_row as_read = {.rowid = sqlite3_column_int64(row, 0)};
    struct chunk chunk = {0};
    as_read.column[1].bytes = sqlite3_column_blob(row, 1);
    as_read.column[1].size = (size_t)sqlite3_column_bytes(row, 1);
    if (as_read.column[1].bytes == NULL ||
        !read_chunk(naming->repair, &as_read, &chunk) ||
        (chunk.number == naming->campaign && chunk.batch == naming->batch)) {
        return SOTTO_STATUS_OK;
    }
    naming->campaign = chunk.number;
    naming->batch = chunk.batch;
    return repair_insert_values(
        naming->repair, INSERT_BATCH,
        SQL_VALUES(SQL_NUMBER(chunk.number), SQL_NUMBER(chunk.batch),
                   SQL_NUMBER(1), SQL_NUMBER(chunk.first), SQL_NUMBER(1),
                   SQL_NUMBER(0)),
        err);
}

enum sotto_status
repair_name_batches(struct repair *repair, struct sotto_error *err)
{
    struct naming naming = {repair, 0, 0};
    return sql_each(&repair->to,
                    "SELECT place, reports FROM released ORDER BY place",
                    SQL_NONE, name_batch, &naming, err);
}
