/*
 * sqlite_settle.c: making a store of the rows that were saved: whole batches,
 * what was counted, and where the next writer goes on.
 *
 * A batch that has all its chunks, with the right sum, stays as it is. Of any
 * other one the reports that are sound are written anew, in its place and under
 * its number. One that lost all of them stays as a number, with no reports: who
 * has read up to a number must not miss a batch that gets it again.
 *
 * What waits, of two windows or one, becomes one window that has ended, whose
 * tags are still to be merged: those that were, before, come once all the same.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "store/sqlite/sqlite_repair.h"

/* ---- Looking ------------------------------------------------------------- */

/* Chunks of one batch, one behind the other. */
struct group {
    uint32_t campaign;
    uint64_t number;
    int64_t begin;       /* where the batch begins, by its first chunk here */
    int64_t first, last; /* places */
    uint64_t count;      /* records */
    uint32_t sum;
};

struct settling {
    struct repair *repair;
    struct group now;
    bool any;
    struct group *broken; /* those that are to be written anew */
    size_t breaks;
};

static uint64_t
little_endian(const uint8_t *from, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i > 0; i--) {
        value = value << 8 | from[i - 1];
    }
    return value;
}

/* The batch's row says the same of it. */
static enum sotto_status
is_whole(const struct settling *s, const struct group *group, bool *ret_whole,
         struct sotto_error *err)
{
    sqlite3_stmt *row = NULL;
    enum sotto_status status = sql_first(
        &s->repair->to,
        "SELECT 1 FROM batch WHERE campaign = ?1 AND number = ?2 AND count = "
        "?3 AND first = ?4 AND chunks = ?5 AND sum = ?6",
        SQL_VALUES(SQL_NUMBER(group->campaign), SQL_NUMBER(group->number),
                   SQL_NUMBER(group->count), SQL_NUMBER(group->begin),
                   SQL_NUMBER(group->last - group->begin + 1),
                   SQL_NUMBER(group->sum)),
        &row, ret_whole, err);
    (void)sqlite3_finalize(row);
    return status;
}

static enum sotto_status
end_group(struct settling *s, struct sotto_error *err)
{
    bool whole = true;
    enum sotto_status status =
        s->any ? is_whole(s, &s->now, &whole, err) : SOTTO_STATUS_OK;
    if (status == SOTTO_STATUS_OK && !whole) {
        struct group *more = realloc(s->broken, (s->breaks + 1) * sizeof *more);
        if (more == NULL) {
            return host_fail_memory(err);
        }
        s->broken = more;
        more[s->breaks++] = s->now;
    }
    s->any = false;
    return status;
}

static enum sotto_status
look_at_chunk(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct settling *s = context;
    const uint8_t *chunk = sqlite3_column_blob(row, 1);
    size_t size = (size_t)sqlite3_column_bytes(row, 1);
    if (chunk == NULL || size <= SQLITE_CHUNK_HEADER) {
        return host_fail_memory(err);
    }
    uint32_t campaign = (uint32_t)little_endian(chunk, 4);
    uint64_t number = little_endian(chunk + 4, 8);
    const struct repair_campaign *of = repair_find(s->repair, campaign);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (!s->any || s->now.campaign != campaign || s->now.number != number) {
        struct sqlite_batch batch = {.hash = of->hash, .number = number};
        status = end_group(s, err);
        uint64_t chunk_number =
            little_endian(chunk + 12, 4) /
            sqlite_rows_most(of->record, SQLITE_CHUNK_HEADER);
        int64_t place = sqlite3_column_int64(row, 0);
        s->now = (struct group){.campaign = campaign,
                                .number = number,
                                .begin = place - (int64_t)chunk_number,
                                .first = place,
                                .sum = sqlite_batch_sum(&batch)};
        s->any = true;
    }
    s->now.last = sqlite3_column_int64(row, 0);
    s->now.count += (size - SQLITE_CHUNK_HEADER) / of->record;
    s->now.sum = host_checksum(s->now.sum, chunk + SQLITE_CHUNK_HEADER,
                               size - SQLITE_CHUNK_HEADER);
    return status;
}

/* ---- Writing anew -------------------------------------------------------- */

struct gathering {
    const struct repair_campaign *campaign;
    uint8_t *records;
    size_t count, room;
};

static enum sotto_status
gather_chunk(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct gathering *to = context;
    const uint8_t *chunk = sqlite3_column_blob(row, 0);
    size_t record = to->campaign->record;
    if (chunk == NULL) {
        return host_fail_memory(err);
    }
    size_t count =
        ((size_t)sqlite3_column_bytes(row, 0) - SQLITE_CHUNK_HEADER) / record;
    const uint8_t *from = chunk + SQLITE_CHUNK_HEADER;
    for (size_t i = 0; i < count && to->count < to->room; i++, from += record) {
        if (sqlite_record_sound(from + TAG_SIZE, to->campaign->payload_size)) {
            memcpy(to->records + to->count++ * record, from, record);
        }
    }
    return SOTTO_STATUS_OK;
}

/* In the order of their keys, each once. */
static void
sort_records(struct gathering *to)
{
    size_t kept = 0, record = to->campaign->record;
    window_sort(to->records, to->count, record);
    for (size_t i = 0; i < to->count; i++) {
        const uint8_t *from = to->records + i * record;
        if (kept == 0 ||
            memcmp(from, to->records + (kept - 1) * record, TAG_SIZE) != 0) {
            memmove(to->records + kept++ * record, from, record);
        }
    }
    to->count = kept;
}

/* How many reports the batch had, by its row. */
static enum sotto_status
read_count(const struct repair *repair, const struct group *group,
           int64_t *ret_count, struct sotto_error *err)
{
    return sql_read(
        &repair->to,
        "SELECT count FROM batch WHERE campaign = ?1 AND "
        "number = ?2",
        SQL_VALUES(SQL_NUMBER(group->campaign), SQL_NUMBER(group->number)),
        SQL_TARGETS(SQL_INTO(ret_count)), err);
}

static void
tell_lost(const struct repair *repair, const struct group *group, int64_t had,
          size_t has)
{
    if (had > (int64_t)has) {
        repair_tell(repair,
                    "campaign %" PRIu32 ", batch %" PRIu64 ": %" PRId64
                    " of %" PRId64 " reports are lost",
                    group->campaign, group->number, had - (int64_t)has, had);
    }
}

static enum sotto_status
delete_batch(const struct repair *repair, const struct group *group,
             struct sotto_error *err)
{
    enum sotto_status status = sql_execute(
        &repair->to, "DELETE FROM released WHERE place BETWEEN ?1 AND ?2",
        SQL_VALUES(SQL_NUMBER(group->first), SQL_NUMBER(group->last)), err);
    return HOST_THEN(
        status,
        sql_execute(
            &repair->to,
            "DELETE FROM batch WHERE campaign = ?1 AND number = ?2",
            SQL_VALUES(SQL_NUMBER(group->campaign), SQL_NUMBER(group->number)),
            err));
}

static enum sotto_status
rewrite_batch(struct repair *repair, const struct group *group,
              struct sotto_error *err)
{
    struct gathering to = {repair_find(repair, group->campaign), NULL, 0,
                           (size_t)group->count};
    struct sqlite_batch batch = {.campaign = group->campaign,
                                 .hash = to.campaign->hash,
                                 .payload_size = to.campaign->payload_size,
                                 .number = group->number,
                                 .first = group->begin};
    size_t size = to.room * to.campaign->record;
    int64_t had = 0;
    to.records = malloc(size);
    if (to.records == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status =
        sql_each(&repair->to,
                 "SELECT reports FROM released WHERE place BETWEEN ?1 AND "
                 "?2 ORDER BY place",
                 SQL_VALUES(SQL_NUMBER(group->first), SQL_NUMBER(group->last)),
                 gather_chunk, &to, err);
    status = HOST_THEN(status, read_count(repair, group, &had, err));
    status = HOST_THEN(status, delete_batch(repair, group, err));
    if (status == SOTTO_STATUS_OK) {
        sort_records(&to);
        batch.count = to.count;
        tell_lost(repair, group, had, to.count);
        status = to.count > 0 ? sqlite_batch_write_chunks(&repair->to, &batch,
                                                          to.records, err)
                              : status;
    }
    if (status == SOTTO_STATUS_OK && to.count > 0) {
        status = sqlite_batch_write(&repair->to, &batch, err);
    }
    host_wipe_free(to.records, size);
    return status;
}

/* ---- Counting ------------------------------------------------------------ */

/* Rows of batches whose chunks are all gone, and numbers that nobody has. */
static const char empty_batches[] =
    "DELETE FROM batch WHERE campaign NOT IN (SELECT number FROM campaign) OR "
    "campaign IN (SELECT campaign FROM closed);"
    "DELETE FROM batch WHERE count > 0 AND NOT EXISTS (SELECT 1 FROM released "
    "WHERE released.place = batch.first);"
    "DELETE FROM total WHERE campaign NOT IN (SELECT number FROM campaign) OR "
    "campaign IN (SELECT campaign FROM closed);"
    "INSERT OR IGNORE INTO total SELECT number, 0, 0 FROM campaign;"
    "UPDATE total SET batches = max(batches, coalesce((SELECT max(number) FROM "
    "batch WHERE batch.campaign = total.campaign), 0)), released = "
    "coalesce((SELECT sum(count) FROM batch WHERE batch.campaign = "
    "total.campaign), 0);";

/* Numbers up to the last that no batch has. */
static const char missing_numbers[] =
    "WITH RECURSIVE n(campaign, number, last) AS (SELECT campaign, 1, batches "
    "FROM total WHERE batches > 0 UNION ALL SELECT campaign, number + 1, last "
    "FROM n WHERE number < last) SELECT campaign, number FROM n EXCEPT SELECT "
    "campaign, number FROM batch";

/* All that waits is in incoming_1: a window that has ended. */
static const char settle_window[] =
    "INSERT INTO move SELECT 1, 0, count(*) > 0, 0 FROM (SELECT 1 FROM "
    "incoming_1 LIMIT 1)";

/* What a store said it had released, before anything is counted anew. */
static enum sotto_status
count_stated(const struct repair *repair, int64_t *ret_stated,
             struct sotto_error *err)
{
    return sql_integer(
        &repair->to,
        "SELECT coalesce(sum(max(released, coalesce((SELECT sum(count) FROM "
        "batch WHERE batch.campaign = campaign.number), 0))), 0) FROM campaign "
        "JOIN (SELECT campaign, released FROM total UNION ALL SELECT number, 0 "
        "FROM campaign WHERE number NOT IN (SELECT campaign FROM total)) AS t "
        "ON t.campaign = campaign.number WHERE campaign.number NOT IN (SELECT "
        "campaign FROM closed)",
        ret_stated, err);
}

/* EXCEPT has all its rows before it gives the first. */
static enum sotto_status
write_missing(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    const struct repair *repair = context;
    uint32_t number = (uint32_t)sqlite3_column_int64(row, 0);
    const struct repair_campaign *campaign = repair_find(repair, number);
    struct sqlite_batch batch = {.campaign = number,
                                 .hash = campaign->hash,
                                 .payload_size = campaign->payload_size,
                                 .number =
                                     (uint64_t)sqlite3_column_int64(row, 1),
                                 .first = 1};
    repair_tell(repair,
                "campaign %" PRIu32 ", batch %" PRIu64
                ": all its reports are lost",
                number, batch.number);
    batch.sum = sqlite_batch_sum(&batch);
    return sqlite_batch_write(&repair->to, &batch, err);
}

static enum sotto_status
count_all(struct repair *repair, int64_t stated, struct sotto_error *err)
{
    int64_t released = 0, held = 0;
    enum sotto_status status = sql_run(&repair->to, empty_batches, err);
    status = HOST_THEN(status, sql_run(&repair->to, settle_window, err));
    status = HOST_THEN(
        status,
        sql_integer(&repair->to, "SELECT coalesce(sum(released), 0) FROM total",
                    &released, err));
    status =
        HOST_THEN(status, sql_integer(&repair->to, "SELECT count(*) FROM held",
                                      &held, err));
    status = HOST_THEN(status, sql_each(&repair->to, missing_numbers, SQL_NONE,
                                        write_missing, repair, err));
    if (status == SOTTO_STATUS_OK) {
        repair->counts.released = (uint64_t)released;
        repair->counts.waiting = (uint64_t)held + repair->tags.count;
        repair->counts.lost +=
            stated > released ? (uint64_t)(stated - released) : 0;
    }
    return status;
}

enum sotto_status
repair_settle(struct repair *repair, struct sotto_error *err)
{
    struct settling s = {.repair = repair};
    int64_t stated = 0;
    enum sotto_status status = count_stated(repair, &stated, err);
    status = HOST_THEN(
        status, sql_each(&repair->to,
                         "SELECT place, reports FROM released ORDER BY place",
                         SQL_NONE, look_at_chunk, &s, err));
    status = HOST_THEN(status, end_group(&s, err));
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < s.breaks; i++) {
        status = rewrite_batch(repair, &s.broken[i], err);
    }
    status = HOST_THEN(status, count_all(repair, stated, err));
    free(s.broken);
    return status;
}
