/*
 * sqlite_load.c: what a writer keeps in memory of the tables: the campaigns,
 * how many reports of each are where, and how far the move of a window is.
 *
 * Read at the beginning and after every rollback; in between it is kept up to
 * date. Reading also checks that every payload has its campaign's size and that
 * the last batch is there.
 *
 * Rows of reports are read as they are: a damaged payload is left out when it
 * is read at last, and costs nobody more. A page that does not fit its sum must
 * have such a payload; else the damage is in a tag, or in what rows there are.
 * Where rows may go on in other pages no damage is explained: what leads there
 * is no payload, and could lead to any page.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "store/sql_sums.h"
#include "store/sqlite/sqlite_store.h"

#define TAGS_LOOKED_FOR ((size_t)256)

enum sotto_status
sqlite_fail_damaged(const struct sqlite_store *store, const char *what,
                    struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                     "the store '%s' is damaged: %s; run: sotto store repair "
                     "sqlite:%s",
                     host_shown(store->path), what, host_shown(store->path));
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
    store->campaign[number - 1].record = SQLITE_RECORD(size);
    store->spills = store->spills || SQLITE_RECORD(size) > SQLITE_HELD_MOST;
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

/* Whether a payload of some records, each `skip` bytes before one, is damaged.
 */
static bool
has_damaged(const uint8_t *records, size_t count, size_t skip, size_t payload)
{
    bool sound = true;
    for (size_t i = 0; i < count && sound; i++) {
        sound = sqlite_record_sound(
            records + i * (skip + payload + SUM_SIZE) + skip, payload);
    }
    return !sound;
}

/* What is read of a table of reports whose pages are taken as they are. */
struct loading {
    struct sqlite_store *store;
    uint64_t bad;     /* pages that had not fitted before */
    uint64_t rows;    /* that were read */
    uint64_t damaged; /* of them have a damaged payload */
};

static bool
has_bad(const struct loading *loading)
{
    return sql_sums_bad(loading->store->sql.db) > loading->bad;
}

/* Whether so many rows as have a damaged payload explain the pages that did not
   fit: each of those has one. */
static enum sotto_status
check_explained(const struct loading *loading, struct sotto_error *err)
{
    const struct sql *sql = &loading->store->sql;
    uint64_t bad = sql_sums_bad(sql->db) - loading->bad;
    const struct sql_sums *sums = sql_sums_of_connection(sql->db, "main");
    return bad <= loading->damaged
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "page %u of '%s%s' is damaged, and not in a payload "
                           "alone: run: sotto store repair sqlite:%s",
                           sums->page, host_shown(sql->path),
                           sums->log ? "-wal" : "", host_shown(sql->path));
}

/* One row: its generation, its place and its pairs, whose tags are kept. */
static enum sotto_status
take_incoming(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct loading *loading = context;
    struct sqlite_store *store = loading->store;
    int generation = sqlite3_column_int(row, 0);
    uint64_t number =
        (uint64_t)sqlite3_column_int64(row, 1) >> SQLITE_PLACE_BITS;
    struct window_tags *tags = &store->tags[generation];
    if (number == 0 || number > store->campaigns) {
        return sqlite_fail_damaged(store, "a report is of no campaign", err);
    }
    struct sqlite_campaign *campaign = &store->campaign[number - 1];
    size_t record = campaign->record;
    const uint8_t *pair = sqlite3_column_blob(row, 2);
    size_t size = (size_t)sqlite3_column_bytes(row, 2), count = size / record;
    if (pair == NULL || count == 0 || size % record != 0) {
        return sqlite_fail_damaged(store, "reports are of the wrong size", err);
    }
    loading->damaged += has_bad(loading) && has_damaged(pair, count, TAG_SIZE,
                                                        campaign->payload_size);
    if (!window_tags_reserve(tags, count)) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < count; i++, pair += record) {
        if (window_tags_has(&store->tags[1 - generation], (uint32_t)number,
                            pair) ||
            !window_tags_add(tags, (uint32_t)number, pair)) {
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
    struct loading *loading = context;
    struct sqlite_store *store = loading->store;
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

/* ---- Rows of reports ----------------------------------------------------- */

/* One held payload. */
static enum sotto_status
count_held(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct loading *loading = context;
    const uint8_t *payload = sqlite3_column_blob(row, 0);
    size_t size = (size_t)sqlite3_column_bytes(row, 0);
    (void)err;
    loading->rows++;
    loading->damaged += payload != NULL && size > SUM_SIZE &&
                        !sqlite_record_sound(payload, size - SUM_SIZE);
    return SOTTO_STATUS_OK;
}

enum sotto_status
sqlite_check_held(struct sqlite_store *store, uint64_t bad,
                  struct sotto_error *err)
{
    struct loading loading = {store, bad, 0, 0};
    if (!has_bad(&loading)) {
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status = sql_each(&store->sql, "SELECT payload FROM held",
                                        SQL_NONE, count_held, &loading, err);
    if (status == SOTTO_STATUS_OK && loading.rows != store->held) {
        status = sqlite_fail_damaged(store, "reports that wait are gone", err);
    }
    return HOST_THEN(status, check_explained(&loading, err));
}

static enum sotto_status
load_reports(struct sqlite_store *store, struct sotto_error *err)
{
    struct loading incoming = {store, sql_sums_bad(store->sql.db), 0, 0};
    sql_sums_trust(store->sql.db,
                   store->spills ? SQL_SUMS_STRICT : SQL_SUMS_LENIENT);
    enum sotto_status status =
        sql_each(&store->sql,
                 "SELECT 0, place, reports FROM incoming_0 UNION ALL "
                 "SELECT 1, place, reports FROM incoming_1",
                 SQL_NONE, take_incoming, &incoming, err);
    status = HOST_THEN(status, check_explained(&incoming, err));
    struct loading held = {store, sql_sums_bad(store->sql.db), 0, 0};
    status = HOST_THEN(
        status, sql_each(&store->sql,
                         "SELECT campaign, count(*), min(length(payload)), "
                         "max(length(payload)) FROM held GROUP BY campaign",
                         SQL_NONE, take_held, &held, err));
    status = HOST_THEN(status, sqlite_check_held(store, held.bad, err));
    sql_sums_trust(store->sql.db, SQL_SUMS_STRICT);
    return status;
}

/* The place behind all released rows: the last of them may be in a page that is
   damaged. */
static enum sotto_status
load_place(struct sqlite_store *store, struct sotto_error *err)
{
    int64_t last = 0;
    enum sotto_status status = sql_integer(
        &store->sql, "SELECT coalesce(max(first + chunks), 1) FROM batch",
        &store->place, err);
    sql_sums_trust(store->sql.db, SQL_SUMS_LEAVES);
    status = HOST_THEN(
        status,
        sql_integer(&store->sql, "SELECT coalesce(max(place), 0) FROM released",
                    &last, err));
    sql_sums_trust(store->sql.db, SQL_SUMS_STRICT);
    store->place = last >= store->place ? last + 1 : store->place;
    return status;
}

/* ---- All of it ----------------------------------------------------------- */

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
    store->campaigns = 0;
    store->spills = false;
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
    status = HOST_THEN(status, load_place(store, err));
    status = HOST_THEN(status, load_reports(store, err));
    status = HOST_THEN(status, check_move(store, err));
    status = HOST_THEN(status, sqlite_runs_load(store, err));
    status = HOST_THEN(status, check_tags(store, err));
    store->stale = status != SOTTO_STATUS_OK;
    return status;
}
