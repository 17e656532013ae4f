/*
 * sqlite_payloads.c: a campaign's payloads, when a window has ended.
 *
 * Those of the window and those held get new random keys and are sorted by
 * them, which is a uniformly random order:
 *
 *     incoming, held --> (key, payload) pairs, sorted
 *         batch_min or more left: a batch, of STORE_WINDOW_MOST at most
 *         the rest: held again
 *
 * and what was read is deleted, with zeros over it. Pages of what is read are
 * taken as they are, unless rows may go on in others: payloads have sums of
 * their own, which travel with them, and as many must be there as were counted.
 * All of it is in memory at
 * once: what a window takes, which is bounded (sqlite_limits), twice if the
 * last one was slow, and what is held, which is less than STORE_BATCH_BYTES.
 */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "host/error.h"
#include "host/wipe.h"
#include "store/sql_sums.h"
#include "store/sqlite/sqlite_store.h"

/* Statements by the generation they are about. */
#define OF_BOTH(before, after)                                                 \
    {                                                                          \
        before "incoming_0" after, before "incoming_1" after                   \
    }

/* How pages of what waits are read, and deleted from: to delete a row that goes
   on in other pages is to fill those with zeros, whichever they are said to be.
   */
static enum sql_sums_trust
trust_of(const struct sqlite_store *store)
{
    return store->spills ? SQL_SUMS_STRICT : SQL_SUMS_LEAVES;
}

/* ---- Gathering ----------------------------------------------------------- */

/* Pairs of a new key and a payload with its sum, `record` bytes each. */
struct pairs {
    uint8_t *data;
    size_t count, record;
};

/* A campaign's rows on their way into pairs. */
struct gathering {
    struct sqlite_store *store;
    uint32_t number;
    struct pairs *pairs;
    size_t skip;  /* bytes before a payload in a row: TAG_SIZE, or 0 */
    size_t first; /* the pair that is filled next */
    size_t room;  /* pairs that there is memory for, where they are held */
};

/* Fails where a row's blob is not whole records of `size` bytes. */
static enum sotto_status
check_blob(const struct gathering *to, sqlite3_stmt *row, size_t size,
           struct sotto_error *err)
{
    const struct sql *sql = &to->store->sql;
    bool missing = sqlite3_column_blob(row, 0) == NULL;
    return missing || (size_t)sqlite3_column_bytes(row, 0) % size != 0
               ? sql_fail(sql, missing ? SQLITE_NOMEM : SQLITE_CORRUPT, err)
               : SOTTO_STATUS_OK;
}

/* Copies a row's payloads to the pairs from `first` on. */
static enum sotto_status
gather_row(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct gathering *to = context;
    size_t size = to->pairs->record - TAG_SIZE, each = to->skip + size;
    const uint8_t *from = sqlite3_column_blob(row, 0);
    size_t count = (size_t)sqlite3_column_bytes(row, 0) / each;
    enum sotto_status status = check_blob(to, row, each, err);
    if (status == SOTTO_STATUS_OK && count > to->pairs->count - to->first) {
        status = sql_fail(&to->store->sql, SQLITE_CORRUPT, err);
    }
    for (size_t i = 0; i < count && status == SOTTO_STATUS_OK; i++) {
        memcpy(to->pairs->data + to->first++ * to->pairs->record + TAG_SIZE,
               from + i * each + to->skip, size);
    }
    return status;
}

/* Hands the rows of the window that has ended to `take`. */
static enum sotto_status
each_row(struct gathering *to, sql_take *take, struct sotto_error *err)
{
    static const char *const text[] =
        OF_BOTH("SELECT reports FROM ", " WHERE place BETWEEN ?1 AND ?2");
    return sql_each(&to->store->sql, text[1 - to->store->move.active],
                    SQL_VALUES(SQL_NUMBER(SQLITE_PLACE_FIRST(to->number)),
                               SQL_NUMBER(SQLITE_PLACE_LAST(to->number))),
                    take, to, err);
}

static enum sotto_status
shuffle_pairs(struct pairs *pairs, struct sotto_error *err)
{
    uint8_t key[64 * TAG_SIZE];
    for (size_t i = 0; i < pairs->count; i++) {
        size_t at = i % 64 * TAG_SIZE;
        if (at == 0 && sotto_entropy(key, sizeof key) != 0) {
            return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                             "the system gave no entropy; nothing was "
                             "released");
        }
        memcpy(pairs->data + i * pairs->record, key + at, TAG_SIZE);
    }
    window_sort(pairs->data, pairs->count, pairs->record);
    return SOTTO_STATUS_OK;
}

/* Releases `count` pairs: behind the last row there is, in whatever state its
   page is, for the rows of that are covered by their batch. */
static enum sotto_status
insert_batch(struct sqlite_store *store, uint32_t number, size_t count,
             const uint8_t *data, struct sotto_error *err)
{
    struct sqlite_campaign *campaign = &store->campaign[number - 1];
    struct sqlite_batch batch = {.campaign = number,
                                 .hash = campaign->hash,
                                 .payload_size = campaign->payload_size,
                                 .number = campaign->batches + 1,
                                 .count = count,
                                 .first = store->place};
    sql_sums_trust(store->sql.db, SQL_SUMS_LEAVES);
    enum sotto_status status =
        sqlite_batch_write_chunks(&store->sql, &batch, data, err);
    sql_sums_trust(store->sql.db, SQL_SUMS_STRICT);
    status = HOST_THEN(status, sqlite_batch_write(&store->sql, &batch, err));
    status = HOST_THEN(
        status,
        sql_execute(&store->sql,
                    "UPDATE total SET batches = ?2, released = released + ?3 "
                    "WHERE campaign = ?1",
                    SQL_VALUES(SQL_NUMBER(number), SQL_NUMBER(batch.number),
                               SQL_NUMBER(count)),
                    err));
    if (status == SOTTO_STATUS_OK) {
        store->place += (int64_t)batch.chunks;
        campaign->batches++;
        campaign->released += count;
    }
    return status;
}

/* Holds the pairs from `first` on, in the order of their keys. */
static enum sotto_status
insert_held(struct sqlite_store *store, uint32_t number,
            const struct pairs *pairs, size_t first, struct sotto_error *err)
{
    sqlite3_stmt *insert = NULL;
    enum sotto_status status = sql_prepare(
        &store->sql, "INSERT INTO held VALUES (?1, ?2, ?3)", &insert, err);
    for (size_t i = first; status == SOTTO_STATUS_OK && i < pairs->count; i++) {
        const uint8_t *pair = pairs->data + i * pairs->record;
        int code = sqlite_step(
            insert,
            SQL_VALUES(SQL_NUMBER(number), SQL_BLOB(pair, TAG_SIZE),
                       SQL_BLOB(pair + TAG_SIZE, pairs->record - TAG_SIZE)));
        if (code != SQLITE_DONE) {
            status = sql_fail(&store->sql, code, err);
        }
    }
    (void)sqlite3_finalize(insert);
    return status;
}

/* Deletes the rows of a campaign: `some` of a table, or `all`, where it has no
   others, which is much the quickest. */
static enum sotto_status
delete_rows(struct sqlite_store *store, bool whole, const char *all,
            const char *some, const struct sql_value *values,
            struct sotto_error *err)
{
    return whole ? sql_run(&store->sql, all, err)
                 : sql_execute(&store->sql, some, values, err);
}

/* Deletes what came of a campaign in the window that has ended. */
static enum sotto_status
delete_incoming(struct sqlite_store *store, uint32_t number,
                struct sotto_error *err)
{
    static const char *const all[] = OF_BOTH("DELETE FROM ", "");
    static const char *const some[] =
        OF_BOTH("DELETE FROM ", " WHERE place BETWEEN ?1 AND ?2");
    unsigned old = 1 - store->move.active;
    struct sqlite_campaign *campaign = &store->campaign[number - 1];
    struct sqlite_total *total = &store->incoming[old];
    uint64_t count = campaign->incoming[old];
    enum sotto_status status =
        count == 0
            ? SOTTO_STATUS_OK
            : delete_rows(store, count == total->reports, all[old], some[old],
                          SQL_VALUES(SQL_NUMBER(SQLITE_PLACE_FIRST(number)),
                                     SQL_NUMBER(SQLITE_PLACE_LAST(number))),
                          err);
    if (status == SOTTO_STATUS_OK) {
        total->reports -= count;
        total->bytes -= count * campaign->payload_size;
        campaign->incoming[old] = 0;
    }
    return status;
}

static enum sotto_status
delete_held(struct sqlite_store *store, uint32_t number,
            struct sotto_error *err)
{
    struct sqlite_campaign *campaign = &store->campaign[number - 1];
    uint64_t count = campaign->held;
    enum sotto_status status =
        count == 0
            ? SOTTO_STATUS_OK
            : delete_rows(store, count == store->held, "DELETE FROM held",
                          "DELETE FROM held WHERE campaign = ?1",
                          SQL_VALUES(SQL_NUMBER(number)), err);
    if (status == SOTTO_STATUS_OK) {
        store->held -= count;
        campaign->held = 0;
    }
    return status;
}

/* Reads a campaign's payloads that wait, under new keys, in their order, and
   deletes what was read. */
static enum sotto_status
take_all(struct sqlite_store *store, uint32_t number, struct pairs *pairs,
         struct sotto_error *err)
{
    struct gathering to = {store, number, pairs, TAG_SIZE, 0, 0};
    enum sotto_status status = each_row(&to, gather_row, err);
    to.skip = 0;
    status = HOST_THEN(
        status,
        sql_each(&store->sql, "SELECT payload FROM held WHERE campaign = ?1",
                 SQL_VALUES(SQL_NUMBER(number)), gather_row, &to, err));
    if (status == SOTTO_STATUS_OK && to.first != pairs->count) {
        status = sql_fail(&store->sql, SQLITE_CORRUPT, err);
    }
    status = HOST_THEN(status, delete_incoming(store, number, err));
    status = HOST_THEN(status, delete_held(store, number, err));
    return HOST_THEN(status, shuffle_pairs(pairs, err));
}

/* Releases what can be released of the pairs and holds the rest, beside what is
   held of other campaigns: where there is damage, in their payloads alone. */
static enum sotto_status
release_pairs(struct sqlite_store *store, uint32_t number, struct pairs *pairs,
              size_t batch_min, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t most = (size_t)(store->limits.batch_bytes / pairs->record);
    size_t first = 0;
    most = most < STORE_WINDOW_MOST ? most : STORE_WINDOW_MOST;
    most = most > batch_min ? most : batch_min;
    while (status == SOTTO_STATUS_OK && pairs->count - first >= batch_min) {
        size_t count = pairs->count - first;
        count = count < most ? count : most;
        status = insert_batch(store, number, count,
                              pairs->data + first * pairs->record, err);
        first += count;
    }
    uint64_t bad = sql_sums_bad(store->sql.db);
    sql_sums_trust(store->sql.db, trust_of(store));
    status = HOST_THEN(status, insert_held(store, number, pairs, first, err));
    if (status == SOTTO_STATUS_OK) {
        store->campaign[number - 1].held = pairs->count - first;
        store->held += pairs->count - first;
        status = sqlite_check_held(store, bad, err);
    }
    sql_sums_trust(store->sql.db, SQL_SUMS_STRICT);
    return status;
}

enum sotto_status
sqlite_payloads_move(struct sqlite_store *store, uint32_t number,
                     size_t batch_min, struct sotto_error *err)
{
    const struct sqlite_campaign *campaign = &store->campaign[number - 1];
    uint64_t count =
        campaign->incoming[1 - store->move.active] + campaign->held;
    struct pairs pairs = {NULL, (size_t)count, campaign->record};
    uint64_t size = count > UINT32_MAX
                        ? CHECKED_OVERFLOW
                        : checked_multiply(campaign->record, (uint32_t)count);
    enum sotto_status status =
        batch_min == SQLITE_HOLD_ALL
            ? SOTTO_STATUS_OK
            : store_check_batch(batch_min, campaign->payload_size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    pairs.data = size >= SIZE_MAX ? NULL : malloc((size_t)size + 1);
    if (pairs.data == NULL) {
        return host_fail_memory(err);
    }
    sql_sums_trust(store->sql.db, trust_of(store));
    status = take_all(store, number, &pairs, err);
    sql_sums_trust(store->sql.db, SQL_SUMS_STRICT);
    status =
        HOST_THEN(status, release_pairs(store, number, &pairs, batch_min, err));
    host_wipe_free(pairs.data, (size_t)size);
    return status;
}

/* ---- Without memory ------------------------------------------------------ */

/* Holds what was gathered, shuffled by itself. */
static enum sotto_status
hold_some(struct sqlite_store *store, uint32_t number, struct pairs *pairs,
          struct sotto_error *err)
{
    enum sotto_status status = shuffle_pairs(pairs, err);
    status = HOST_THEN(status, insert_held(store, number, pairs, 0, err));
    pairs->count = 0;
    return status;
}

/* Takes over the payloads of one row; what was gathered before is held
   first, if both are too much. */
static enum sotto_status
hold_row(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct gathering *to = context;
    struct pairs *pairs = to->pairs;
    const uint8_t *from = sqlite3_column_blob(row, 0);
    size_t bytes = (size_t)sqlite3_column_bytes(row, 0);
    size_t count = bytes / pairs->record;
    enum sotto_status status = check_blob(to, row, pairs->record, err);
    if (pairs->count + count > to->room && pairs->count > 0) {
        status =
            HOST_THEN(status, hold_some(to->store, to->number, pairs, err));
    }
    if (status == SOTTO_STATUS_OK && count > to->room) {
        uint8_t *grown = host_wipe_resize(pairs->data, to->room * pairs->record,
                                          count * pairs->record);
        if (grown == NULL) {
            return host_fail_memory(err);
        }
        pairs->data = grown;
        to->room = count;
    }
    if (status == SOTTO_STATUS_OK) {
        memcpy(pairs->data + pairs->count * pairs->record, from, bytes);
        pairs->count += count;
    }
    return status;
}

/*
 * What came of a campaign that could not be moved is held as it is, some of it
 * at a time: the window must end, or no campaign's would. `held` then shows
 * which reports were shuffled together: those of some commits, drawn by the
 * random places of their rows.
 */
enum sotto_status
sqlite_payloads_set_aside(struct sqlite_store *store, uint32_t number,
                          struct sotto_error *err)
{
    struct sqlite_campaign *campaign = &store->campaign[number - 1];
    uint64_t count = campaign->incoming[1 - store->move.active];
    struct pairs pairs = {NULL, 0, campaign->record};
    size_t room = store->limits.aside_bytes / pairs.record;
    struct gathering to = {store, number, &pairs, TAG_SIZE, 0, room};
    pairs.data = malloc(room * pairs.record + 1);
    if (pairs.data == NULL) {
        return host_fail_memory(err);
    }
    sql_sums_trust(store->sql.db, trust_of(store));
    enum sotto_status status = each_row(&to, hold_row, err);
    status = HOST_THEN(status, hold_some(store, number, &pairs, err));
    status = HOST_THEN(status, delete_incoming(store, number, err));
    sql_sums_trust(store->sql.db, SQL_SUMS_STRICT);
    if (status == SOTTO_STATUS_OK) {
        campaign->held += count;
        store->held += count;
    }
    host_wipe_free(pairs.data, to.room * pairs.record);
    return status;
}
