/*
 * sqlite_window.c: moving on a window that has ended.
 *
 * First its tags are merged into `seen`, slice by slice in their order. Then,
 * campaign by campaign, each in one transaction, its payloads and those held
 * get new random keys and are sorted by them, which is a uniformly random
 * order:
 *
 *     incoming, held --> (key, payload) pairs, sorted
 *         batch_min or more left: a batch, of STORE_WINDOW_MOST at most
 *         the rest: held again
 *
 * and what was read is deleted, with zeros over it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "host/error.h"
#include "store/sqlite_store.h"

#define WINDOW_BYTES ((uint64_t)256 << 20) /* of payloads: then it is full */
#define BATCH_BYTES ((uint64_t)512 << 20)  /* of one blob */
#define WAITING_MOST 2 /* full windows in one, if the last is not moved on */

/* Statements by the generation they are about. */
#define OF_BOTH(before, after)                                                 \
    {                                                                          \
        before "incoming_0" after, before "incoming_1" after                   \
    }

/* ---- Ending a window ----------------------------------------------------- */

static bool
window_has(const struct sqlite_store *store, uint64_t times)
{
    uint64_t reports = 0, bytes = 0;
    for (uint32_t i = 0; i < store->campaigns; i++) {
        const struct sqlite_campaign *campaign = &store->campaign[i];
        uint64_t incoming = campaign->incoming[store->move.active];
        reports += incoming;
        bytes += incoming * campaign->payload_size;
    }
    return reports >= times * STORE_WINDOW_MOST ||
           bytes >= times * WINDOW_BYTES;
}

/* Writes `move` into its table, and then takes it over. */
static enum sotto_status
set_move(struct sqlite_store *store, const struct sqlite_move *move,
         struct sotto_error *err)
{
    sqlite3_stmt *update = NULL;
    enum sotto_status status = sql_prepare(
        &store->sql,
        "UPDATE move SET active = ?1, stage = ?2, campaign = ?3, tag = ?4",
        &update, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    const int64_t number[] = {move->active, move->stage, move->campaign};
    int code = sqlite3_bind_blob(update, 4, move->tag, TAG_SIZE, SQLITE_STATIC);
    for (int i = 0; i < 3 && code == SQLITE_OK; i++) {
        code = sqlite3_bind_int64(update, i + 1, number[i]);
    }
    code = code == SQLITE_OK ? sqlite_step(update) : code;
    if (code == SQLITE_DONE) {
        store->move = *move;
    } else {
        status = sql_fail(&store->sql, code, err);
    }
    (void)sqlite3_finalize(update);
    return status;
}

enum sotto_status
sqlite_window_end(void *own, struct sotto_error *err)
{
    struct sqlite_store *store = own;
    struct sqlite_move move = {1 - store->move.active, STAGE_TAGS, 0, {0}};
    enum sotto_status status = sqlite_check_begun(store, err);
    if (status == SOTTO_STATUS_OK && store->move.stage == STAGE_NONE) {
        status = sqlite_put_blocks(store, err); /* they are of this window */
        if (status == SOTTO_STATUS_OK) {
            status = set_move(store, &move, err);
        }
    }
    store->failed = store->failed || status != SOTTO_STATUS_OK;
    return status;
}

enum sotto_status
sqlite_window_make_room(struct sqlite_store *store, struct sotto_error *err)
{
    if (!window_has(store, 1)) {
        return SOTTO_STATUS_OK;
    }
    if (store->move.stage != STAGE_NONE && window_has(store, WAITING_MOST)) {
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "reports come faster than '%s' moves the last window "
                         "on; try again",
                         host_shown(store->path));
    }
    return sqlite_window_end(store, err);
}

/* ---- Tags ---------------------------------------------------------------- */

/* The first of the sorted tags behind the cursor. */
static size_t
find_cursor(const struct sqlite_store *store, size_t count)
{
    struct sqlite_tag cursor = {store->move.campaign, {0}};
    size_t low = 0, high = count;
    memcpy(cursor.tag, store->move.tag, TAG_SIZE);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sqlite_tags_compare(&store->sorted[middle], &cursor) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Merges `rows` tags at most, and says how many. */
static enum sotto_status
move_tags(struct sqlite_store *store, size_t rows, size_t *ret_rows,
          struct sotto_error *err)
{
    const struct sqlite_tags *tags = &store->tags[1 - store->move.active];
    struct sqlite_move move = store->move;
    if (store->sorted == NULL) {
        store->sorted = sqlite_tags_sorted(tags);
        if (store->sorted == NULL) {
            return host_fail_memory(err);
        }
    }
    size_t first = find_cursor(store, tags->count);
    size_t count = tags->count - first;
    count = count < rows ? count : rows;
    enum sotto_status status =
        sqlite_seen_merge(store, store->sorted + first, count, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (count > 0) {
        const struct sqlite_tag *last = &store->sorted[first + count - 1];
        move.campaign = last->campaign;
        memcpy(move.tag, last->tag, TAG_SIZE);
    }
    if (first + count == tags->count) {
        free(store->sorted);
        store->sorted = NULL;
        move = (struct sqlite_move){move.active, STAGE_PAYLOADS, 0, {0}};
    }
    *ret_rows = count;
    return set_move(store, &move, err);
}

/* ---- Payloads ------------------------------------------------------------ */

/* Pairs of a new key and a payload, `record` bytes each. */
struct pairs {
    uint8_t *data;
    size_t count, record;
};

/* Copies payloads to pairs from `first` on, from rows whose blobs are pairs or,
   `skip` 0, payloads alone. */
static enum sotto_status
gather(struct sqlite_store *store, const char *text, uint32_t number,
       size_t skip, struct pairs *pairs, size_t *first, struct sotto_error *err)
{
    size_t size = pairs->record - TAG_SIZE;
    sqlite3_stmt *select = NULL;
    enum sotto_status status = sql_prepare(&store->sql, text, &select, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    int code = sqlite3_bind_int64(select, 1, number);
    while (code == SQLITE_OK && (code = sqlite3_step(select)) == SQLITE_ROW) {
        const uint8_t *from = sqlite3_column_blob(select, 0);
        size_t bytes = (size_t)sqlite3_column_bytes(select, 0);
        size_t count = bytes / (skip + size);
        code = from == NULL ? SQLITE_NOMEM : SQLITE_OK;
        if (bytes % (skip + size) != 0 || count > pairs->count - *first) {
            code = SQLITE_CORRUPT;
        }
        for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
            memcpy(pairs->data + *first * pairs->record + TAG_SIZE,
                   from + i * (skip + size) + skip, size);
            *first += 1;
        }
    }
    if (code != SQLITE_DONE) {
        status = sql_fail(&store->sql, code, err);
    }
    (void)sqlite3_finalize(select);
    return status;
}

static enum sotto_status
shuffle(struct pairs *pairs, struct sotto_error *err)
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
    sqlite_sort(pairs->data, pairs->count, pairs->record);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
insert_batch(struct sqlite_store *store, uint32_t number, size_t count,
             const uint8_t *data, size_t record, struct sotto_error *err)
{
    struct sqlite_campaign *campaign = &store->campaign[number - 1];
    sqlite3_stmt *insert = NULL;
    enum sotto_status status = sql_prepare(
        &store->sql, "INSERT INTO batch VALUES (?1, ?2, ?3, ?4)", &insert, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    const int64_t value[] = {number, (int64_t)campaign->batches + 1,
                             (int64_t)count};
    int code =
        sqlite3_bind_blob64(insert, 4, data, count * record, SQLITE_STATIC);
    for (int i = 0; i < 3 && code == SQLITE_OK; i++) {
        code = sqlite3_bind_int64(insert, i + 1, value[i]);
    }
    code = code == SQLITE_OK ? sqlite_step(insert) : code;
    if (code == SQLITE_DONE) {
        campaign->batches++;
        campaign->released += count;
    } else {
        status = sql_fail(&store->sql, code, err);
    }
    (void)sqlite3_finalize(insert);
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
    int code = status == SOTTO_STATUS_OK ? sqlite3_bind_int64(insert, 1, number)
                                         : SQLITE_OK;
    for (size_t i = first; status == SOTTO_STATUS_OK && i < pairs->count; i++) {
        const uint8_t *pair = pairs->data + i * pairs->record;
        if (code == SQLITE_OK) {
            code = sqlite3_bind_blob(insert, 2, pair, TAG_SIZE, SQLITE_STATIC);
        }
        if (code == SQLITE_OK) {
            code = sqlite3_bind_blob64(insert, 3, pair + TAG_SIZE,
                                       pairs->record - TAG_SIZE, SQLITE_STATIC);
        }
        code = code == SQLITE_OK ? sqlite_step(insert) : code;
        if (code != SQLITE_DONE) {
            status = sql_fail(&store->sql, code, err);
        }
        code = SQLITE_OK;
    }
    (void)sqlite3_finalize(insert);
    return status;
}

/* Deletes what was gathered; a whole table at once if there is no more in
   it, which is much the quickest. */
static enum sotto_status
delete_gathered(struct sqlite_store *store, uint32_t number,
                struct sotto_error *err)
{
    static const char *const all[] = OF_BOTH("DELETE FROM ", "");
    static const char *const some[] =
        OF_BOTH("DELETE FROM ", " WHERE campaign = ?1");
    unsigned old = 1 - store->move.active;
    struct sqlite_campaign *campaign = &store->campaign[number - 1];
    uint64_t incoming = 0, held = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (uint32_t i = 0; i < store->campaigns; i++) {
        incoming += store->campaign[i].incoming[old];
        held += store->campaign[i].held;
    }
    if (campaign->incoming[old] > 0) {
        bool whole = incoming == campaign->incoming[old];
        status = sqlite_run(store, whole ? all[old] : some[old],
                            whole ? 0 : number, err);
    }
    if (status == SOTTO_STATUS_OK && campaign->held > 0) {
        bool whole = held == campaign->held;
        status = sqlite_run(store,
                            whole ? "DELETE FROM held"
                                  : "DELETE FROM held WHERE campaign = ?1",
                            whole ? 0 : number, err);
    }
    if (status == SOTTO_STATUS_OK) {
        campaign->incoming[old] = campaign->held = 0;
    }
    return status;
}

/* Reads a campaign's payloads that wait, under new keys, in their order. */
static enum sotto_status
gather_all(struct sqlite_store *store, uint32_t number, struct pairs *pairs,
           struct sotto_error *err)
{
    static const char *const text[] =
        OF_BOTH("SELECT reports FROM ", " WHERE campaign = ?1");
    size_t first = 0;
    enum sotto_status status = gather(store, text[1 - store->move.active],
                                      number, TAG_SIZE, pairs, &first, err);
    if (status == SOTTO_STATUS_OK) {
        status = gather(store, "SELECT payload FROM held WHERE campaign = ?1",
                        number, 0, pairs, &first, err);
    }
    if (status == SOTTO_STATUS_OK && first != pairs->count) {
        status = sql_fail(&store->sql, SQLITE_CORRUPT, err);
    }
    return status == SOTTO_STATUS_OK ? shuffle(pairs, err) : status;
}

/* Releases what can be released of the pairs and holds the rest. */
static enum sotto_status
release(struct sqlite_store *store, uint32_t number, const struct pairs *pairs,
        size_t batch_min, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t most = BATCH_BYTES / pairs->record, first = 0;
    most = most < STORE_WINDOW_MOST ? most : STORE_WINDOW_MOST;
    most = most > batch_min ? most : batch_min;
    while (status == SOTTO_STATUS_OK && pairs->count - first >= batch_min) {
        size_t count = pairs->count - first;
        count = count < most ? count : most;
        status = insert_batch(store, number, count,
                              pairs->data + first * pairs->record,
                              pairs->record, err);
        first += count;
    }
    if (status == SOTTO_STATUS_OK) {
        status = insert_held(store, number, pairs, first, err);
    }
    if (status == SOTTO_STATUS_OK) {
        store->campaign[number - 1].held = pairs->count - first;
    }
    return status;
}

static enum sotto_status
move_campaign(struct sqlite_store *store, uint32_t number, size_t batch_min,
              struct sotto_error *err)
{
    const struct sqlite_campaign *campaign = &store->campaign[number - 1];
    uint64_t count =
        campaign->incoming[1 - store->move.active] + campaign->held;
    struct pairs pairs = {NULL, (size_t)count,
                          TAG_SIZE + campaign->payload_size};
    struct sqlite_move move = store->move;
    uint64_t size = checked_multiply(pairs.record, (uint32_t)count);
    enum sotto_status status = SOTTO_STATUS_OK;
    pairs.data = count > UINT32_MAX || size == CHECKED_OVERFLOW
                     ? NULL
                     : malloc((size_t)size);
    if (pairs.data == NULL) {
        return host_fail_memory(err);
    }
    status = gather_all(store, number, &pairs, err);
    if (status == SOTTO_STATUS_OK) {
        status = delete_gathered(store, number, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = release(store, number, &pairs, batch_min, err);
    }
    if (status == SOTTO_STATUS_OK) {
        move.campaign = number;
        status = set_move(store, &move, err);
    }
    free(pairs.data);
    return status;
}

/* ---- Both ---------------------------------------------------------------- */

/* The next campaign to be moved; 0: none. */
static uint32_t
next_campaign(const struct sqlite_store *store, size_t batch_min)
{
    for (uint32_t i = store->move.campaign; i < store->campaigns; i++) {
        const struct sqlite_campaign *campaign = &store->campaign[i];
        if (campaign->incoming[1 - store->move.active] > 0 ||
            campaign->held >= batch_min) {
            return i + 1;
        }
    }
    return 0;
}

/* Moves the payloads of one campaign, or says that all are moved. */
static enum sotto_status
move_payloads(struct sqlite_store *store, size_t batch_min, size_t *ret_rows,
              struct sotto_error *err)
{
    uint32_t number = next_campaign(store, batch_min);
    if (number == 0) {
        struct sqlite_move move = {store->move.active, STAGE_NONE, 0, {0}};
        *ret_rows = 0;
        sqlite_tags_clear(&store->tags[1 - store->move.active]);
        return set_move(store, &move, err);
    }
    const struct sqlite_campaign *campaign = &store->campaign[number - 1];
    *ret_rows =
        (size_t)(campaign->incoming[1 - store->move.active] + campaign->held);
    return move_campaign(store, number, batch_min, err);
}

enum sotto_status
sqlite_window_advance(void *own, size_t rows, size_t batch_min, bool *ret_done,
                      struct sotto_error *err)
{
    struct sqlite_store *store = own;
    enum sotto_status status = sqlite_check_begun(store, err);
    size_t left = rows > 0 ? rows : 1, moved = 0;
    while (status == SOTTO_STATUS_OK && left > 0 &&
           store->move.stage != STAGE_NONE) {
        if (store->move.stage == STAGE_TAGS) {
            status = move_tags(store, left, &moved, err);
        } else {
            status = move_payloads(store, batch_min, &moved, err);
        }
        left -= moved < left ? moved : left;
    }
    store->failed = store->failed || status != SOTTO_STATUS_OK;
    if (status == SOTTO_STATUS_OK) {
        *ret_done = store->move.stage == STAGE_NONE;
    }
    return status;
}
