/*
 * postgres_window.c: moving on a window that has ended, and destroying its key.
 *
 * First its tags are merged into `seen`, slice by slice in their order: which
 * transaction a tag came with then tells the window and, of the tags of one
 * window, their order and no more. Then, campaign by campaign, its payloads are
 * released or held (postgres_payloads.c), in a later transaction: where tags
 * were merged in this one the payloads are deferred until it is committed. A
 * campaign that fails by itself is set aside when it is tried again.
 */
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "store/postgres/postgres_store.h"

#define WAITING_MOST 2 /* full windows in one, if the last is not moved on */

/* ---- Ending a window ----------------------------------------------------- */

static bool
window_has(const struct postgres_store *store, uint64_t times)
{
    unsigned active = store->move.active;
    return store->tags[active].count >= times * STORE_WINDOW_MOST ||
           store->bytes[active] >= times * store->limits.window_bytes;
}

/* Writes `move` into this collector's row, and then takes it over. */
static enum sotto_status
set_move(struct postgres_store *store, const struct postgres_move *move,
         struct sotto_error *err)
{
    static const char text[] =
        "UPDATE collector SET active = $2::int8, key_0 = $3::int8, "
        "key_1 = $4::int8, stage = $5::int8, campaign = $6::int8, "
        "tag = $7::uuid WHERE id = $1::uuid";
    enum sotto_status status = postgres_begin(&store->link, err);
    status = HOST_THEN(
        status,
        postgres_call(
            &store->link, text,
            POSTGRES_VALUES(
                POSTGRES_BYTES(window_keys_collector(store->keys),
                               COLLECTOR_ID_SIZE),
                POSTGRES_NUMBER(move->active), POSTGRES_NUMBER(move->key[0]),
                POSTGRES_NUMBER(move->key[1]), POSTGRES_NUMBER(move->stage),
                POSTGRES_NUMBER(move->campaign),
                POSTGRES_BYTES(move->tag, TAG_SIZE)),
            NULL, err));
    if (status == SOTTO_STATUS_OK) {
        store->move = *move;
    }
    return status;
}

enum sotto_status
postgres_window_end(void *own, struct sotto_error *err)
{
    struct postgres_store *store = own;
    enum sotto_status status = postgres_check_begun(store, err);
    if (status == SOTTO_STATUS_OK && store->move.stage == STAGE_NONE) {
        struct postgres_move move = store->move;
        move.active = 1 - move.active;
        move.stage = STAGE_TAGS;
        status = postgres_put_blocks(store, err); /* they are of this window */
        status = HOST_THEN(
            status, window_keys_make(store->keys, &move.key[move.active], err));
        status = HOST_THEN(status, set_move(store, &move, err));
    }
    store->failed = store->failed || status != SOTTO_STATUS_OK;
    return status;
}

enum sotto_status
postgres_window_make_room(struct postgres_store *store, struct sotto_error *err)
{
    if (!window_has(store, 1)) {
        return SOTTO_STATUS_OK;
    }
    if (store->move.stage != STAGE_NONE && window_has(store, WAITING_MOST)) {
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "reports come faster than '%s' moves the last window "
                         "on; try again",
                         host_shown(store->link.url));
    }
    return postgres_window_end(store, err);
}

/* ---- Tags ---------------------------------------------------------------- */

/* The first of the sorted tags behind the cursor. */
static size_t
find_cursor(const struct postgres_store *store, size_t count)
{
    struct window_tag cursor = {store->move.campaign, {0}};
    size_t low = 0, high = count;
    memcpy(cursor.tag, store->move.tag, TAG_SIZE);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (window_tags_compare(&store->sorted[middle], &cursor) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Notes down tags of a campaign that were in `seen`: another collector's window
   had the same reports. */
static enum sotto_status
drop_tags(struct postgres_store *store, uint32_t number, const uint8_t *tag,
          size_t count, struct sotto_error *err)
{
    const struct window_seal seal = {store->move.key[1 - store->move.active],
                                     number, PURPOSE_DROPPED};
    uint8_t place[TAG_SIZE], *sealed = NULL;
    if (count == 0) {
        return SOTTO_STATUS_OK;
    }
    if (sotto_entropy(place, sizeof place) != 0) {
        return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                         "the system gave no entropy; nothing was moved");
    }
    enum sotto_status status =
        postgres_seal(store, &seal, tag, count * TAG_SIZE, &sealed, err);
    status = HOST_THEN(
        status,
        postgres_query(
            &store->link,
            "INSERT INTO dropped VALUES ($1::uuid, $2::int8, $3::int8::int4, "
            "$4::uuid, $5::bytea)",
            POSTGRES_VALUES(
                POSTGRES_BYTES(window_keys_collector(store->keys),
                               COLLECTOR_ID_SIZE),
                POSTGRES_NUMBER(seal.number), POSTGRES_NUMBER(number),
                POSTGRES_BYTES(place, TAG_SIZE),
                POSTGRES_BYTES(sealed, count * TAG_SIZE + WINDOW_SEAL_EXTRA)),
            NULL, err));
    free(sealed);
    if (status == SOTTO_STATUS_OK &&
        !window_tags_reserve(&store->dropped, count)) {
        status = host_fail_memory(err);
    }
    for (size_t i = 0; i < count && status == SOTTO_STATUS_OK; i++) {
        (void)window_tags_add(&store->dropped, number, tag + i * TAG_SIZE);
    }
    return status;
}

/* Finds which of the tags, of one campaign, were not inserted. */
static enum sotto_status
find_dropped(struct postgres_store *store, const struct window_tag *tag,
             size_t count, const PGresult *inserted, struct sotto_error *err)
{
    size_t rows = (size_t)PQntuples(inserted), dropped = 0;
    struct window_tags new = {NULL, 0, 0};
    if (rows == count) {
        return SOTTO_STATUS_OK;
    }
    uint8_t *list = malloc(count * TAG_SIZE);
    if (list == NULL || !window_tags_reserve(&new, rows)) {
        free(list);
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < rows; i++) {
        uint8_t one[TAG_SIZE] = {0};
        (void)postgres_bytes(inserted, (int)i, 0, one, TAG_SIZE);
        (void)window_tags_add(&new, tag->campaign, one);
    }
    for (size_t i = 0; i < count; i++) {
        if (!window_tags_has(&new, tag->campaign, tag[i].tag)) {
            memcpy(list + dropped++ * TAG_SIZE, tag[i].tag, TAG_SIZE);
        }
    }
    enum sotto_status status =
        drop_tags(store, tag->campaign, list, dropped, err);
    window_tags_clear(&new);
    free(list);
    return status;
}

/* Sorted tags of one campaign, in a transaction. */
static enum sotto_status
insert_tags(struct postgres_store *store, const struct window_tag *tag,
            size_t count, struct sotto_error *err)
{
    static const char text[] =
        "INSERT INTO seen SELECT $1::int8::int4, unnest($2::uuid[]) "
        "ON CONFLICT DO NOTHING RETURNING tag";
    PGresult *result = NULL;
    size_t size = 0;
    uint8_t *array = postgres_tags(tag->tag, count, sizeof *tag, &size);
    if (array == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status =
        postgres_call(&store->link, text,
                      POSTGRES_VALUES(POSTGRES_NUMBER(tag->campaign),
                                      POSTGRES_BYTES(array, size)),
                      &result, err);
    status = HOST_THEN(status, find_dropped(store, tag, count, result, err));
    PQclear(result);
    free(array);
    return status;
}

static enum sotto_status
sort_tags(struct postgres_store *store, struct sotto_error *err)
{
    if (store->sorted == NULL) {
        const struct window_tags *tags = &store->tags[1 - store->move.active];
        store->sorted = window_tags_listed(tags);
        if (store->sorted != NULL) {
            qsort(store->sorted, tags->count, sizeof *store->sorted,
                  window_tags_compare);
        }
    }
    return store->sorted != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
}

/* How many of `most` sorted tags are of the first one's campaign. */
static size_t
count_campaign(const struct window_tag *tag, size_t most)
{
    size_t count = 0;
    while (count < most && tag[count].campaign == tag->campaign) {
        count++;
    }
    return count;
}

/* Merges `rows` of `most` tags at most, of one campaign, and moves the cursor
   behind them; all of one that was forgotten meanwhile go nowhere, and into no
   cursor either. */
static enum sotto_status
merge_tags(struct postgres_store *store, const struct window_tag *tag,
           size_t rows, size_t most, struct postgres_move *move,
           size_t *ret_count, struct sotto_error *err)
{
    bool open = false;
    size_t count = count_campaign(tag, most);
    enum sotto_status status =
        postgres_load_open(store, tag->campaign, &open, err);
    if (status == SOTTO_STATUS_OK && open) {
        count = count < rows ? count : rows;
        status = insert_tags(store, tag, count, err);
        memcpy(move->tag, tag[count - 1].tag, TAG_SIZE);
        store->tags_moved = true;
    } else {
        memset(move->tag, 0xff, TAG_SIZE);
    }
    move->campaign = tag->campaign;
    *ret_count = count;
    return status;
}

/* Merges `rows` tags at most, of one campaign, and says how many. */
static enum sotto_status
move_tags(struct postgres_store *store, size_t rows, size_t *ret_rows,
          struct sotto_error *err)
{
    size_t all = store->tags[1 - store->move.active].count, count = 0;
    struct postgres_move move = store->move;
    enum sotto_status status = sort_tags(store, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    size_t first = find_cursor(store, all);
    if (first < all) {
        status = merge_tags(store, store->sorted + first, rows, all - first,
                            &move, &count, err);
    }
    if (first + count == all) {
        free(store->sorted);
        store->sorted = NULL;
        move.stage = STAGE_PAYLOADS;
        move.campaign = 0;
        memset(move.tag, 0, TAG_SIZE);
    }
    *ret_rows = count;
    return HOST_THEN(status, set_move(store, &move, err));
}

/* ---- Payloads ------------------------------------------------------------ */

/* The next campaign to be moved; 0: none. */
static uint32_t
next_campaign(const struct postgres_store *store, size_t batch_min)
{
    for (uint32_t i = store->move.campaign; i < store->campaigns; i++) {
        const struct postgres_campaign *campaign = &store->campaign[i];
        if (campaign->incoming[1 - store->move.active] > 0 ||
            campaign->held >= batch_min) {
            return i + 1;
        }
    }
    return 0;
}

/* Whether it concerns one campaign alone. */
static bool
is_own_failure(enum sotto_status status)
{
    return status == SOTTO_STATUS_MEMORY || status == SOTTO_STATUS_REFUSED ||
           status == SOTTO_STATUS_USAGE;
}

static enum sotto_status
end_move(struct postgres_store *store, struct sotto_error *err)
{
    struct postgres_move move = store->move;
    enum sotto_status status = SOTTO_STATUS_OK;
    move.stage = STAGE_NONE;
    move.campaign = 0;
    if (store->dropped.count > 0) {
        status = postgres_begin(&store->link, err);
        status = HOST_THEN(
            status,
            postgres_query(
                &store->link, "DELETE FROM dropped WHERE collector = $1::uuid",
                POSTGRES_VALUES(POSTGRES_BYTES(
                    window_keys_collector(store->keys), COLLECTOR_ID_SIZE)),
                NULL, err));
    }
    status = HOST_THEN(status, set_move(store, &move, err));
    if (status == SOTTO_STATUS_OK) {
        store->aside = 0;
        store->held_key = 0;
        window_tags_clear(&store->dropped);
        window_tags_clear(&store->tags[1 - move.active]);
    }
    return status;
}

/* Moves the payloads of one campaign, or says that all are moved. Those of one
   that was forgotten meanwhile are gone already. */
static enum sotto_status
move_payloads(struct postgres_store *store, size_t batch_min, size_t *ret_rows,
              struct sotto_error *err)
{
    uint32_t number = next_campaign(store, batch_min);
    bool open = false;
    if (number == 0) {
        *ret_rows = 0;
        return end_move(store, err);
    }
    const struct postgres_campaign *campaign = &store->campaign[number - 1];
    *ret_rows =
        (size_t)(campaign->incoming[1 - store->move.active] + campaign->held);
    enum sotto_status status = postgres_load_open(store, number, &open, err);
    if (status == SOTTO_STATUS_OK && !open) {
        status = postgres_payloads_drop(store, number, err);
    } else if (status == SOTTO_STATUS_OK && store->aside == number) {
        *ret_rows = SIZE_MAX; /* enough: another one that fails undoes none */
        status = postgres_payloads_set_aside(store, number, err);
    } else if (status == SOTTO_STATUS_OK) {
        status = postgres_payloads_move(store, number, batch_min, err);
        store->aside = is_own_failure(status) ? number : store->aside;
    }
    struct postgres_move move = store->move;
    move.campaign = number;
    return HOST_THEN(status, set_move(store, &move, err));
}

/* ---- Both ---------------------------------------------------------------- */

enum sotto_status
postgres_window_advance(void *own, size_t rows, size_t batch_min,
                        bool *ret_done, struct sotto_error *err)
{
    struct postgres_store *store = own;
    enum sotto_status status = postgres_check_begun(store, err);
    size_t left = rows > 0 ? rows : 1, moved = 0;
    while (status == SOTTO_STATUS_OK && left > 0 && !store->deferred &&
           store->move.stage != STAGE_NONE) {
        if (store->move.stage == STAGE_TAGS) {
            status = move_tags(store, left, &moved, err);
        } else if (store->tags_moved) {
            store->deferred = true;
            store->batch_min = batch_min;
        } else {
            status = move_payloads(store, batch_min, &moved, err);
        }
        left -= moved < left ? moved : left;
    }
    store->failed = store->failed || status != SOTTO_STATUS_OK;
    if (status == SOTTO_STATUS_OK) {
        *ret_done = store->deferred || store->move.stage == STAGE_NONE;
    }
    return status;
}

enum sotto_status
postgres_window_finish(struct postgres_store *store, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t moved = 0;
    store->tags_moved = false;
    if (!store->deferred) {
        return SOTTO_STATUS_OK;
    }
    store->deferred = false;
    while (status == SOTTO_STATUS_OK && store->move.stage != STAGE_NONE) {
        status = move_payloads(store, store->batch_min, &moved, err);
        status = HOST_THEN(status, postgres_commit(&store->link, err));
    }
    return status;
}

/* ---- Scrubbing ----------------------------------------------------------- */

/* The keys of rows, and those of windows that may have none. */
static enum sotto_status
gather_keys(struct postgres_store *store, int64_t **ret_key, size_t *ret_count,
            struct sotto_error *err)
{
    static const char text[] =
        "SELECT key FROM incoming WHERE collector = $1::uuid UNION "
        "SELECT key FROM held WHERE collector = $1::uuid UNION "
        "SELECT key FROM dropped WHERE collector = $1::uuid";
    PGresult *result = NULL;
    enum sotto_status status = postgres_query(
        &store->link, text,
        POSTGRES_VALUES(POSTGRES_BYTES(window_keys_collector(store->keys),
                                       COLLECTOR_ID_SIZE)),
        &result, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    size_t rows = (size_t)PQntuples(result), count = 0;
    int64_t *key = malloc((rows + GENERATIONS) * sizeof *key);
    if (key == NULL) {
        PQclear(result);
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < rows; i++) {
        uint64_t number = 0;
        (void)postgres_number(result, (int)i, 0, &number);
        key[count++] = (int64_t)number;
    }
    key[count++] = store->move.key[store->move.active];
    if (store->move.stage != STAGE_NONE) {
        key[count++] = store->move.key[1 - store->move.active];
    }
    PQclear(result);
    *ret_key = key;
    *ret_count = count;
    return SOTTO_STATUS_OK;
}

enum sotto_status
postgres_scrub(void *own, bool *ret_clean, struct sotto_error *err)
{
    struct postgres_store *store = own;
    int64_t *key = NULL;
    size_t count = 0;
    if (store->begun) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "something is begun in '%s'",
                         host_shown(store->link.url));
    }
    enum sotto_status status = postgres_make_ready(store, err);
    status = HOST_THEN(status, gather_keys(store, &key, &count, err));
    status = HOST_THEN(
        status, window_keys_destroy_others(store->keys, key, count, err));
    free(key);
    if (status == SOTTO_STATUS_OK) {
        *ret_clean = true;
    }
    return status;
}
