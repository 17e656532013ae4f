/*
 * postgres_load.c: what a writer keeps in memory of the tables: the campaigns,
 * how many reports of each this collector has where, the tags of its windows,
 * and how far the move of one is.
 *
 * Read at the beginning, after every rollback and on every new connection; in
 * between it is kept up to date: nobody else writes rows of this collector.
 */
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "store/postgres/postgres_store.h"

enum sotto_status
postgres_fail_damaged(const struct postgres_store *store, const char *what,
                      struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                     "the store '%s' is damaged: %s",
                     host_shown(store->link.url), what);
}

/* ---- Sealed columns ------------------------------------------------------ */

enum sotto_status
postgres_unseal(struct postgres_store *store, const struct window_seal *seal,
                const PGresult *row, int column, uint8_t **ret_plain,
                size_t *ret_size, struct sotto_error *err)
{
    size_t sealed = (size_t)PQgetlength(row, 0, column);
    size_t size = sealed > WINDOW_SEAL_EXTRA ? sealed - WINDOW_SEAL_EXTRA : 0;
    uint8_t *plain = malloc(size + 1);
    if (plain == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status = window_keys_unseal(
        store->keys, seal, (const uint8_t *)PQgetvalue(row, 0, column), sealed,
        plain, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_plain = plain;
        *ret_size = size;
    } else {
        free(plain);
    }
    return status;
}

enum sotto_status
postgres_seal(struct postgres_store *store, const struct window_seal *seal,
              const uint8_t *plain, size_t size, uint8_t **ret_sealed,
              struct sotto_error *err)
{
    uint8_t *sealed = malloc(size + WINDOW_SEAL_EXTRA);
    if (sealed == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status =
        window_keys_seal(store->keys, seal, plain, size, sealed, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_sealed = sealed;
    } else {
        free(sealed);
    }
    return status;
}

/* ---- Campaigns ----------------------------------------------------------- */

enum sotto_status
postgres_fail_closed(const struct postgres_store *store, uint32_t number,
                     struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                     "the store '%s' has forgotten campaign %u, and takes "
                     "nothing of it any more: serve it no more",
                     host_shown(store->link.url), number);
}

/* postgres_forget.c closes it with a lock that waits for this one, and for that
   of a put (postgres_put.c). */
enum sotto_status
postgres_load_open(struct postgres_store *store, uint32_t number,
                   bool *ret_open, struct sotto_error *err)
{
    static const char text[] =
        "SELECT 1 FROM campaign WHERE number = $1::int8::int4 AND NOT closed "
        "FOR KEY SHARE";
    PGresult *result = NULL;
    enum sotto_status status = postgres_begin(&store->link, err);
    status = HOST_THEN(status,
                       postgres_call(&store->link, text,
                                     POSTGRES_VALUES(POSTGRES_NUMBER(number)),
                                     &result, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_open = PQntuples(result) == 1;
    }
    PQclear(result);
    return status;
}

static bool
read_u32(const PGresult *result, int row, int column, uint32_t *ret_value)
{
    uint64_t value = 0;
    if (!postgres_number(result, row, column, &value) || value > UINT32_MAX) {
        return false;
    }
    *ret_value = (uint32_t)value;
    return true;
}

static enum sotto_status
take_campaigns(struct postgres_store *store, const PGresult *result,
               struct sotto_error *err)
{
    for (int i = 0; i < PQntuples(result); i++) {
        struct postgres_campaign *campaign = &store->campaign[store->campaigns];
        uint32_t number = 0, size = 0;
        memset(campaign, 0, sizeof *campaign);
        if (!read_u32(result, i, 0, &number) ||
            number != store->campaigns + 1 || !read_u32(result, i, 2, &size) ||
            size == 0 ||
            !postgres_bytes(result, i, 1, campaign->hash, SOTTO_HASH_SIZE)) {
            return postgres_fail_damaged(store, "a campaign is wrong", err);
        }
        campaign->payload_size = size;
        store->campaigns = number;
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
postgres_load_campaigns(struct postgres_store *store, struct sotto_error *err)
{
    PGresult *result = NULL;
    enum sotto_status status = postgres_query(
        &store->link,
        "SELECT number, hash, payload_size FROM campaign "
        "WHERE number > $1::int8 ORDER BY number",
        POSTGRES_VALUES(POSTGRES_NUMBER(store->campaigns)), &result, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    size_t room = store->campaigns + (size_t)PQntuples(result) + 1;
    struct postgres_campaign *more =
        realloc(store->campaign, room * sizeof *more);
    if (more == NULL) {
        status = host_fail_memory(err);
    } else {
        store->campaign = more;
        status = take_campaigns(store, result, err);
    }
    PQclear(result);
    return status;
}

/* ---- This collector's row ------------------------------------------------ */

/* The first window of a new collector. */
static enum sotto_status
make_collector(struct postgres_store *store, struct sotto_error *err)
{
    struct postgres_move move = {0};
    enum sotto_status status = window_keys_make(store->keys, &move.key[0], err);
    return HOST_THEN(
        status,
        postgres_query(
            &store->link,
            "INSERT INTO collector VALUES ($1::uuid, 0, $2::int8, "
            "0, 0, 0, '00000000-0000-0000-0000-000000000000')",
            POSTGRES_VALUES(POSTGRES_BYTES(window_keys_collector(store->keys),
                                           COLLECTOR_ID_SIZE),
                            POSTGRES_NUMBER(move.key[0])),
            NULL, err));
}

static enum sotto_status
take_move(struct postgres_store *store, const PGresult *result,
          struct sotto_error *err)
{
    struct postgres_move *move = &store->move;
    uint64_t key[GENERATIONS] = {0};
    uint32_t active = 0, stage = 0;
    if (!read_u32(result, 0, 0, &active) || active >= GENERATIONS ||
        !postgres_number(result, 0, 1, &key[0]) ||
        !postgres_number(result, 0, 2, &key[1]) ||
        !read_u32(result, 0, 3, &stage) || stage > STAGE_PAYLOADS ||
        !read_u32(result, 0, 4, &move->campaign) ||
        !postgres_bytes(result, 0, 5, move->tag, TAG_SIZE)) {
        return postgres_fail_damaged(
            store, "how far a window was moved is wrong", err);
    }
    move->active = active;
    move->stage = (enum postgres_stage)stage;
    move->key[0] = (int64_t)key[0];
    move->key[1] = (int64_t)key[1];
    return SOTTO_STATUS_OK;
}

static enum sotto_status
load_move(struct postgres_store *store, struct sotto_error *err)
{
    static const char text[] =
        "SELECT active, key_0, key_1, stage, campaign, tag FROM collector "
        "WHERE id = $1::uuid";
    const struct postgres_value *id = POSTGRES_VALUES(
        POSTGRES_BYTES(window_keys_collector(store->keys), COLLECTOR_ID_SIZE));
    PGresult *result = NULL;
    enum sotto_status status =
        postgres_query(&store->link, text, id, &result, err);
    if (status == SOTTO_STATUS_OK && PQntuples(result) == 0) {
        PQclear(result);
        result = NULL;
        status = make_collector(store, err);
        status = HOST_THEN(
            status, postgres_query(&store->link, text, id, &result, err));
    }
    if (status == SOTTO_STATUS_OK) {
        status = PQntuples(result) == 1
                     ? take_move(store, result, err)
                     : postgres_fail_damaged(store, "a collector is gone", err);
    }
    PQclear(result);
    return status;
}

/* ---- Windows ------------------------------------------------------------- */

/* The tags of one row of `incoming`, in the order of its columns. */
static enum sotto_status
take_block(void *context, const PGresult *row, struct sotto_error *err)
{
    struct postgres_store *store = context;
    uint64_t key = 0;
    uint32_t number = 0;
    if (!postgres_number(row, 0, 0, &key) || !read_u32(row, 0, 1, &number) ||
        number == 0 || number > store->campaigns) {
        return postgres_fail_damaged(store, "a block is of no campaign", err);
    }
    unsigned generation = (int64_t)key == store->move.key[0] ? 0 : 1;
    struct postgres_campaign *campaign = &store->campaign[number - 1];
    const struct window_seal seal = {(int64_t)key, number, PURPOSE_INCOMING};
    size_t record = postgres_triple(campaign), size = 0;
    uint8_t *plain = NULL;
    if ((int64_t)key != store->move.key[generation]) {
        return postgres_fail_damaged(store, "a block is of no window", err);
    }
    enum sotto_status status =
        postgres_unseal(store, &seal, row, 2, &plain, &size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    size_t count = size / record;
    struct window_tags *tags = &store->tags[generation];
    if (!window_tags_reserve(tags, count)) {
        status = host_fail_memory(err);
    } else if (count == 0 || size % record != 0) {
        status =
            postgres_fail_damaged(store, "a block is of the wrong size", err);
    }
    for (size_t i = 0; i < count && status == SOTTO_STATUS_OK; i++) {
        const uint8_t *tag = plain + i * record;
        if (window_tags_has(&store->tags[1 - generation], number, tag) ||
            !window_tags_add(tags, number, tag)) {
            status =
                postgres_fail_damaged(store, "a report is in it twice", err);
        }
    }
    campaign->incoming[generation] += count;
    store->bytes[generation] += count * campaign->payload_size;
    host_wipe_free(plain, size);
    return status;
}

/* A list of tags of one campaign that were in `seen` already. */
static enum sotto_status
take_dropped(void *context, const PGresult *row, struct sotto_error *err)
{
    struct postgres_store *store = context;
    struct window_seal seal = {store->move.key[1 - store->move.active], 0,
                               PURPOSE_DROPPED};
    uint8_t *plain = NULL;
    size_t size = 0;
    if (!read_u32(row, 0, 0, &seal.campaign)) {
        return postgres_fail_damaged(store, "a tag is of no campaign", err);
    }
    enum sotto_status status =
        postgres_unseal(store, &seal, row, 1, &plain, &size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (!window_tags_reserve(&store->dropped, size / TAG_SIZE)) {
        status = host_fail_memory(err);
    }
    for (size_t i = 0; i < size / TAG_SIZE && status == SOTTO_STATUS_OK; i++) {
        (void)window_tags_add(&store->dropped, seal.campaign,
                              plain + i * TAG_SIZE);
    }
    host_wipe_free(plain, size);
    return status;
}

static enum sotto_status
take_held(void *context, const PGresult *row, struct sotto_error *err)
{
    struct postgres_store *store = context;
    uint32_t number = 0;
    uint64_t count = 0;
    if (!read_u32(row, 0, 0, &number) || number == 0 ||
        number > store->campaigns || !postgres_number(row, 0, 1, &count)) {
        return postgres_fail_damaged(store, "what is held is of no campaign",
                                     err);
    }
    store->campaign[number - 1].held = count;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
load_windows(struct postgres_store *store, struct sotto_error *err)
{
    const struct postgres_value *id = POSTGRES_VALUES(
        POSTGRES_BYTES(window_keys_collector(store->keys), COLLECTOR_ID_SIZE));
    enum sotto_status status =
        postgres_each(&store->link,
                      "SELECT key, campaign, sealed FROM incoming "
                      "WHERE collector = $1::uuid",
                      id, take_block, store, err);
    status =
        HOST_THEN(status, postgres_each(&store->link,
                                        "SELECT campaign, sealed FROM dropped "
                                        "WHERE collector = $1::uuid",
                                        id, take_dropped, store, err));
    return HOST_THEN(
        status, postgres_each(&store->link,
                              "SELECT campaign, sum(count)::int8 FROM held "
                              "WHERE collector = $1::uuid GROUP BY campaign",
                              id, take_held, store, err));
}

/* ---- All of it ----------------------------------------------------------- */

void
postgres_unload(struct postgres_store *store)
{
    for (uint32_t i = 0; i < store->campaigns; i++) {
        const struct postgres_campaign *campaign = &store->campaign[i];
        host_wipe_free(campaign->block,
                       campaign->block_room * postgres_triple(campaign));
    }
    for (int i = 0; i < GENERATIONS; i++) {
        window_tags_clear(&store->tags[i]);
        store->bytes[i] = 0;
    }
    window_tags_clear(&store->dropped);
    free(store->campaign);
    free(store->sorted);
    store->campaign = NULL;
    store->sorted = NULL;
    store->campaigns = 0;
    store->held_key = 0;
    store->tags_moved = store->deferred = false;
    store->stale = true;
}

enum sotto_status
postgres_load(struct postgres_store *store, struct sotto_error *err)
{
    if (!store->stale) {
        return SOTTO_STATUS_OK;
    }
    postgres_unload(store);
    enum sotto_status status = postgres_load_campaigns(store, err);
    status = HOST_THEN(status, load_move(store, err));
    status = HOST_THEN(status, load_windows(store, err));
    store->stale = status != SOTTO_STATUS_OK;
    return status;
}
