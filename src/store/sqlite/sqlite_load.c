/*
 * sqlite_load.c: what a writer keeps in memory of the tables: the campaigns,
 * how many reports of each are where, and how far the move of a window is.
 *
 * Read at the beginning and after every rollback; in between it is kept up to
 * date. Reading also checks that every payload has its campaign's size and
 * every batch the number behind the one before it.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "store/sqlite/sqlite_store.h"

#define TAGS_LOOKED_FOR ((size_t)256)

enum sotto_status
sqlite_fail_damaged(const struct sqlite_store *store, const char *what,
                    struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                     "the store '%s' is damaged: %s", host_shown(store->path),
                     what);
}

/* The 0 to 2^32 - 1 that a column must have. */
static bool
read_u32(sqlite3_stmt *row, int column, uint32_t *ret_value)
{
    sqlite3_int64 value = sqlite3_column_int64(row, column);
    if (value < 0 || value > (sqlite3_int64)UINT32_MAX) {
        return false;
    }
    *ret_value = (uint32_t)value;
    return true;
}

/* ---- Campaigns ----------------------------------------------------------- */

static enum sotto_status
take_campaign(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct sqlite_store *store = context;
    uint32_t number = 0, size = 0;
    if (!read_u32(row, 0, &number) || number != store->campaigns + 1 ||
        !read_u32(row, 2, &size) || size == 0 ||
        !sql_column(row, 1, store->campaign[number - 1].hash,
                    SOTTO_HASH_SIZE)) {
        return sqlite_fail_damaged(store, "a campaign is wrong", err);
    }
    store->campaign[number - 1].payload_size = size;
    store->campaign[number - 1].record = TAG_SIZE + (size_t)size + SUM_SIZE;
    store->campaigns = number;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
load_campaigns(struct sqlite_store *store, struct sotto_error *err)
{
    int64_t count = 0;
    enum sotto_status status =
        sql_integer(&store->sql, "SELECT count(*) FROM campaign", &count, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    /* one more: room for the next */
    store->campaign = calloc((size_t)count + 1, sizeof *store->campaign);
    return store->campaign == NULL
               ? host_fail_memory(err)
               : sql_each(&store->sql,
                          "SELECT number, hash, payload_size FROM campaign "
                          "ORDER BY number",
                          SQL_NONE, take_campaign, store, err);
}

/* ---- Counts -------------------------------------------------------------- */

/* The campaign of a row whose smallest and largest payload are its columns 2
   and 3; NULL: something is wrong. */
static struct sqlite_campaign *
find_counted(struct sqlite_store *store, sqlite3_stmt *row)
{
    uint32_t number = 0;
    if (!read_u32(row, 0, &number) || number == 0 ||
        number > store->campaigns) {
        return NULL;
    }
    struct sqlite_campaign *campaign = &store->campaign[number - 1];
    sqlite3_int64 size = (sqlite3_int64)campaign->record - (int)TAG_SIZE;
    return sqlite3_column_int64(row, 2) == size &&
                   sqlite3_column_int64(row, 3) == size
               ? campaign
               : NULL;
}

/* One block: its generation, its campaign and its pairs, whose tags are kept.
 */
static enum sotto_status
take_block(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct sqlite_store *store = context;
    uint32_t number = 0;
    int generation = sqlite3_column_int(row, 0);
    struct window_tags *tags = &store->tags[generation];
    if (!read_u32(row, 1, &number) || number == 0 ||
        number > store->campaigns) {
        return sqlite_fail_damaged(store, "a block is of no campaign", err);
    }
    struct sqlite_campaign *campaign = &store->campaign[number - 1];
    size_t record = campaign->record;
    const uint8_t *pair = sqlite3_column_blob(row, 2);
    size_t size = (size_t)sqlite3_column_bytes(row, 2), count = size / record;
    if (pair == NULL || count == 0 || size % record != 0) {
        return sqlite_fail_damaged(store, "a block is of the wrong size", err);
    }
    if (!window_tags_reserve(tags, count)) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < count; i++, pair += record) {
        if (window_tags_has(&store->tags[1 - generation], number, pair) ||
            !window_tags_add(tags, number, pair)) {
            return sqlite_fail_damaged(store, "a report is in it twice", err);
        }
    }
    campaign->incoming[generation] += count;
    store->incoming[generation].reports += count;
    store->incoming[generation].bytes += count * campaign->payload_size;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
take_closed(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct sqlite_store *store = context;
    uint32_t number = 0;
    if (!read_u32(row, 0, &number) || number == 0 ||
        number > store->campaigns) {
        return sqlite_fail_damaged(store, "no campaign is what was closed",
                                   err);
    }
    store->campaign[number - 1].closed = true;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
take_held(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct sqlite_store *store = context;
    struct sqlite_campaign *campaign = find_counted(store, row);
    if (campaign == NULL) {
        return sqlite_fail_damaged(store, "a report is of the wrong size", err);
    }
    campaign->held = (uint64_t)sqlite3_column_int64(row, 1);
    store->held += campaign->held;
    return SOTTO_STATUS_OK;
}

/* How much was released of a campaign, and the number of its last batch. What
   the batches hold is looked at when there is time (sqlite_check.c). */
static enum sotto_status
take_total(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct sqlite_store *store = context;
    uint32_t number = 0;
    if (!read_u32(row, 0, &number) || number == 0 ||
        number > store->campaigns) {
        return sqlite_fail_damaged(store, "a total is of no campaign", err);
    }
    struct sqlite_campaign *campaign = &store->campaign[number - 1];
    campaign->batches = (uint64_t)sqlite3_column_int64(row, 1);
    campaign->released = (uint64_t)sqlite3_column_int64(row, 2);
    if ((uint64_t)sqlite3_column_int64(row, 3) != campaign->batches) {
        return sqlite_fail_damaged(store, "a batch is missing", err);
    }
    return SOTTO_STATUS_OK;
}

/* ---- The move ------------------------------------------------------------ */

static enum sotto_status
take_move(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct sqlite_store *store = context;
    int active = sqlite3_column_int(row, 0), stage = sqlite3_column_int(row, 1);
    struct sqlite_move *move = &store->move;
    if ((active != 0 && active != 1) || stage < STAGE_NONE ||
        stage > STAGE_PAYLOADS || !read_u32(row, 2, &move->campaign)) {
        return sqlite_fail_damaged(
            store, "how far its window was moved is wrong", err);
    }
    move->active = (unsigned)active;
    move->stage = (enum sqlite_stage)stage;
    return SOTTO_STATUS_OK;
}

/* Whether the move can be where it says: no further than the campaigns go, and
   with what it says is done, done. */
static bool
move_is_right(const struct sqlite_store *store)
{
    const struct sqlite_move *move = &store->move;
    unsigned old = 1 - move->active;
    bool empty = true;
    if (move->campaign > store->campaigns) {
        return false;
    }
    switch (move->stage) {
    case STAGE_NONE:
        return move->campaign == 0 && store->incoming[old].reports == 0;
    case STAGE_TAGS:
        return move->campaign == 0;
    case STAGE_PAYLOADS:
        for (uint32_t i = 0; i < move->campaign; i++) {
            empty = empty && store->campaign[i].incoming[old] == 0;
        }
        return empty;
    }
    return false;
}

static enum sotto_status
check_move(const struct sqlite_store *store, struct sotto_error *err)
{
    if (store->move.active >= GENERATIONS) {
        return sqlite_fail_damaged(store,
                                   "how far its window was moved is gone", err);
    }
    return move_is_right(store)
               ? SOTTO_STATUS_OK
               : sqlite_fail_damaged(
                     store, "how far its window was moved is wrong", err);
}

/* Whether the runs have the tags of a window whose payloads are being moved:
   some of them, for to look for all takes long. */
static enum sotto_status
check_tags(struct sqlite_store *store, struct sotto_error *err)
{
    const struct window_tags *tags = &store->tags[1 - store->move.active];
    int code = SQLITE_ROW;
    size_t looked = 0;
    for (size_t i = 0; store->move.stage == STAGE_PAYLOADS && i < tags->room &&
                       looked < TAGS_LOOKED_FOR && code == SQLITE_ROW;
         i++) {
        const struct window_tag *tag = &tags->slot[i];
        if (tag->campaign != 0) {
            uint64_t damaged = store->damaged_lookups;
            code = sqlite_runs_find(store, tag->campaign, tag->tag);
            if (code == SQLITE_DONE && store->damaged_lookups > damaged) {
                code = SQLITE_ROW; /* it may be there, in a damaged page */
            }
            looked++;
        }
    }
    return code == SQLITE_ROW ? SOTTO_STATUS_OK
           : code == SQLITE_DONE
               ? sqlite_fail_damaged(store, "tags of its last window are gone",
                                     err)
               : sql_fail(&store->sql, code, err);
}

void
sqlite_unload(struct sqlite_store *store)
{
    for (uint32_t i = 0; i < store->campaigns; i++) {
        const struct sqlite_campaign *campaign = &store->campaign[i];
        host_wipe_free(campaign->block,
                       campaign->block_room * campaign->record);
    }
    for (int i = 0; i < GENERATIONS; i++) {
        window_tags_clear(&store->tags[i]);
    }
    free(store->campaign);
    memset(store->incoming, 0, sizeof store->incoming);
    store->held = 0;
    store->campaign = NULL;
    sqlite_runs_unload(store);
    store->campaigns = 0;
    store->stale = true;
}

enum sotto_status
sqlite_load(struct sqlite_store *store, struct sotto_error *err)
{
    static const struct {
        const char *text;
        sql_take *take;
    } query[] = {
        {"SELECT active, stage, campaign FROM move", take_move},
        {"SELECT 0, campaign, reports FROM incoming_0 UNION ALL "
         "SELECT 1, campaign, reports FROM incoming_1",
         take_block},
        {"SELECT campaign, count(*), min(length(payload)), "
         "max(length(payload)) FROM held GROUP BY campaign",
         take_held},
        {"SELECT campaign FROM closed", take_closed},
        {"SELECT number, coalesce(batches, 0), coalesce(released, 0), "
         "coalesce((SELECT max(batch.number) FROM batch WHERE "
         "batch.campaign = campaign.number), 0) "
         "FROM campaign LEFT JOIN total ON total.campaign = campaign.number",
         take_total},
    };
    enum sotto_status status = SOTTO_STATUS_OK;
    if (!store->stale) {
        return SOTTO_STATUS_OK;
    }
    sqlite_unload(store);
    store->move.active = GENERATIONS; /* none, until it is read */
    if (store->version == 0) { /* first: what somebody writes is noticed */
        status = sql_integer(&store->sql, "PRAGMA data_version",
                             &store->version, err);
    }
    status = HOST_THEN(status, load_campaigns(store, err));
    for (size_t i = 0;
         i < sizeof query / sizeof query[0] && status == SOTTO_STATUS_OK; i++) {
        status = sql_each(&store->sql, query[i].text, SQL_NONE, query[i].take,
                          store, err);
    }
    status = HOST_THEN(status, check_move(store, err));
    status = HOST_THEN(status, sqlite_runs_load(store, err));
    status = HOST_THEN(status, check_tags(store, err));
    store->stale = status != SOTTO_STATUS_OK;
    return status;
}
