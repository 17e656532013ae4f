/*
 * postgres_payloads.c: a campaign's payloads, when a window has ended.
 *
 * Those of the window and those held get new random keys and are sorted by
 * them, which is a uniformly random order:
 *
 *     incoming, held --> (key, payload, check) triples, sorted
 *         batch_min or more left: a batch, of STORE_WINDOW_MOST at most
 *         the rest: held again, under another key than before
 *
 * and what was read is deleted. All of it is in memory at once: what a window
 * takes, which is bounded (postgres_limits), twice if the last one was slow,
 * and what is held, which is less than STORE_BATCH_BYTES.
 *
 * What is held is sealed: of a window of three reports the log would else show
 * three tags beside three payloads. So it is as if it had not left its window.
 */
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "host/error.h"
#include "host/wipe.h"
#include "store/postgres/postgres_store.h"

/* Triples of a new key, a payload and its check, `record` bytes each. */
struct triples {
    uint8_t *data;
    size_t count, record;
};

/* A campaign's rows on their way into triples. */
struct gathering {
    struct postgres_store *store;
    uint32_t number;
    struct triples *triples;
    size_t first; /* the one that is filled next */
};

/* ---- Gathering ----------------------------------------------------------- */

static enum sotto_status
fail_count(const struct postgres_store *store, struct sotto_error *err)
{
    return postgres_fail_damaged(
        store, "there are not as many reports as were counted", err);
}

/* Copies what has a payload and its check at `skip` of `each` bytes. */
static enum sotto_status
copy_payloads(struct gathering *to, const uint8_t *from, size_t size,
              size_t skip, struct sotto_error *err)
{
    struct triples *triples = to->triples;
    size_t length = triples->record - TAG_SIZE, each = skip + length;
    if (size % each != 0) {
        return fail_count(to->store, err);
    }
    for (size_t i = 0; i < size / each; i++) {
        const uint8_t *one = from + i * each;
        if (skip == TAG_SIZE &&
            window_tags_has(&to->store->dropped, to->number, one)) {
            continue;
        }
        if (to->first == triples->count) {
            return fail_count(to->store, err);
        }
        memcpy(triples->data + to->first++ * triples->record + TAG_SIZE,
               one + skip, length);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
gather_incoming(void *context, const PGresult *row, struct sotto_error *err)
{
    struct gathering *to = context;
    const struct window_seal seal = {
        to->store->move.key[1 - to->store->move.active], to->number,
        PURPOSE_INCOMING};
    uint8_t *plain = NULL;
    size_t size = 0;
    enum sotto_status status =
        postgres_unseal(to->store, &seal, row, 0, &plain, &size, err);
    status = HOST_THEN(status, copy_payloads(to, plain, size, TAG_SIZE, err));
    host_wipe_free(plain, size);
    return status;
}

static enum sotto_status
gather_held(void *context, const PGresult *row, struct sotto_error *err)
{
    struct gathering *to = context;
    struct window_seal seal = {0, to->number, PURPOSE_HELD};
    uint8_t *plain = NULL;
    uint64_t key = 0;
    size_t size = 0;
    (void)postgres_number(row, 0, 1, &key);
    seal.number = (int64_t)key;
    enum sotto_status status =
        postgres_unseal(to->store, &seal, row, 0, &plain, &size, err);
    status = HOST_THEN(status, copy_payloads(to, plain, size, 0, err));
    host_wipe_free(plain, size);
    return status;
}

/* Hands the rows of the window that has ended to `take`. */
static enum sotto_status
each_block(struct gathering *to, postgres_take *take, struct sotto_error *err)
{
    struct postgres_store *store = to->store;
    return postgres_each(
        &store->link,
        "SELECT sealed FROM incoming WHERE collector = $1::uuid "
        "AND key = $2::int8 AND campaign = $3::int8::int4",
        POSTGRES_VALUES(
            POSTGRES_BYTES(window_keys_collector(store->keys),
                           COLLECTOR_ID_SIZE),
            POSTGRES_NUMBER(store->move.key[1 - store->move.active]),
            POSTGRES_NUMBER(to->number)),
        take, to, err);
}

static enum sotto_status
shuffle_triples(struct triples *triples, struct sotto_error *err)
{
    uint8_t key[64 * TAG_SIZE];
    for (size_t i = 0; i < triples->count; i++) {
        size_t at = i % 64 * TAG_SIZE;
        if (at == 0 && sotto_entropy(key, sizeof key) != 0) {
            return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                             "the system gave no entropy; nothing was "
                             "released");
        }
        memcpy(triples->data + i * triples->record, key + at, TAG_SIZE);
    }
    window_sort(triples->data, triples->count, triples->record);
    return SOTTO_STATUS_OK;
}

/* Reads a campaign's payloads that wait, under new keys, in their order. */
static enum sotto_status
gather_all(struct postgres_store *store, uint32_t number,
           struct triples *triples, struct sotto_error *err)
{
    struct gathering to = {store, number, triples, 0};
    enum sotto_status status = each_block(&to, gather_incoming, err);
    status = HOST_THEN(
        status,
        postgres_each(
            &store->link,
            "SELECT sealed, key FROM held WHERE collector = $1::uuid "
            "AND campaign = $2::int8::int4",
            POSTGRES_VALUES(POSTGRES_BYTES(window_keys_collector(store->keys),
                                           COLLECTOR_ID_SIZE),
                            POSTGRES_NUMBER(number)),
            gather_held, &to, err));
    if (status == SOTTO_STATUS_OK && to.first < triples->count &&
        store->dropped.count == 0) {
        return fail_count(store, err);
    }
    triples->count = to.first;
    return HOST_THEN(status, shuffle_triples(triples, err));
}

/* ---- Writing ------------------------------------------------------------- */

/* A row of `held`: `size` bytes of (payload, check) pairs. */
static enum sotto_status
insert_held(struct postgres_store *store, uint32_t number, const uint8_t *pairs,
            size_t count, struct sotto_error *err)
{
    struct postgres_campaign *campaign = &store->campaign[number - 1];
    size_t size = count * (campaign->payload_size + CHECK_SIZE);
    struct window_seal seal = {store->held_key, number, PURPOSE_HELD};
    uint8_t place[TAG_SIZE], *sealed = NULL;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (sotto_entropy(place, sizeof place) != 0) {
        return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                         "the system gave no entropy; nothing was moved");
    }
    if (seal.number == 0) {
        status = window_keys_make(store->keys, &store->held_key, err);
        seal.number = store->held_key;
    }
    status = HOST_THEN(status,
                       postgres_seal(store, &seal, pairs, size, &sealed, err));
    status = HOST_THEN(
        status,
        postgres_query(
            &store->link,
            "INSERT INTO held VALUES ($1::uuid, $2::int8, $3::int8::int4, "
            "$4::uuid, $5::int8::int4, $6::bytea)",
            POSTGRES_VALUES(
                POSTGRES_BYTES(window_keys_collector(store->keys),
                               COLLECTOR_ID_SIZE),
                POSTGRES_NUMBER(seal.number), POSTGRES_NUMBER(number),
                POSTGRES_BYTES(place, TAG_SIZE), POSTGRES_NUMBER(count),
                POSTGRES_BYTES(sealed, size + WINDOW_SEAL_EXTRA)),
            NULL, err));
    free(sealed);
    if (status == SOTTO_STATUS_OK) {
        campaign->held += count;
    }
    return status;
}

/* Holds the triples from `first` on, in rows of bounded size. */
static enum sotto_status
hold_triples(struct postgres_store *store, uint32_t number,
             const struct triples *triples, size_t first,
             struct sotto_error *err)
{
    size_t pair = triples->record - TAG_SIZE;
    size_t most = pair < BLOCK_BYTES ? BLOCK_BYTES / pair : 1;
    enum sotto_status status = SOTTO_STATUS_OK;
    uint8_t *pairs = NULL;
    if (first == triples->count) {
        return SOTTO_STATUS_OK;
    }
    most = most < triples->count - first ? most : triples->count - first;
    pairs = malloc(most * pair);
    if (pairs == NULL) {
        return host_fail_memory(err);
    }
    while (first < triples->count && status == SOTTO_STATUS_OK) {
        size_t count = 0;
        for (; count < most && first < triples->count; count++, first++) {
            memcpy(pairs + count * pair,
                   triples->data + first * triples->record + TAG_SIZE, pair);
        }
        status = insert_held(store, number, pairs, count, err);
    }
    host_wipe_free(pairs, most * pair);
    return status;
}

/* Of `count` triples; under a number that no other collector takes. */
static enum sotto_status
insert_batch(struct postgres_store *store, uint32_t number, size_t count,
             const uint8_t *data, size_t record, struct sotto_error *err)
{
    static const char text[] =
        "WITH c AS (UPDATE campaign SET batches = batches + 1, "
        "released = released + $2::int8 WHERE number = $1::int8 "
        "RETURNING number, batches) "
        "INSERT INTO batch SELECT number, batches, $2::int8, $3::int8 FROM c "
        "RETURNING number";
    static const char part[] =
        "INSERT INTO part VALUES ($1::int8::int4, $2::int8, $3::int8::int4, "
        "$4::bytea)";
    size_t most = record < BLOCK_BYTES ? BLOCK_BYTES / record : 1;
    size_t parts = (count + most - 1) / most;
    uint64_t batch = 0;
    PGresult *result = NULL;
    enum sotto_status status = postgres_query(
        &store->link, text,
        POSTGRES_VALUES(POSTGRES_NUMBER(number), POSTGRES_NUMBER(count),
                        POSTGRES_NUMBER(parts)),
        &result, err);
    if (status == SOTTO_STATUS_OK &&
        (PQntuples(result) != 1 || !postgres_number(result, 0, 0, &batch))) {
        status = postgres_fail_damaged(store, "a campaign is gone", err);
    }
    PQclear(result);
    for (size_t i = 0; i < parts && status == SOTTO_STATUS_OK; i++) {
        size_t rest = count - i * most;
        status = postgres_call(
            &store->link, part,
            POSTGRES_VALUES(
                POSTGRES_NUMBER(number), POSTGRES_NUMBER(batch),
                POSTGRES_NUMBER(i),
                POSTGRES_BYTES(data + i * most * record,
                               (rest < most ? rest : most) * record)),
            NULL, err);
    }
    return status;
}

/* Releases what can be released and holds the rest. */
static enum sotto_status
release_triples(struct postgres_store *store, uint32_t number,
                const struct triples *triples, size_t batch_min,
                struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t most = (size_t)(store->limits.batch_bytes / triples->record);
    size_t first = 0;
    most = most < STORE_WINDOW_MOST ? most : STORE_WINDOW_MOST;
    most = most > batch_min ? most : batch_min;
    if (triples->count >= batch_min) {
        status = postgres_schema_lock(&store->link, err);
    }
    while (status == SOTTO_STATUS_OK && triples->count - first >= batch_min) {
        size_t count = triples->count - first;
        count = count < most ? count : most;
        status = insert_batch(store, number, count,
                              triples->data + first * triples->record,
                              triples->record, err);
        first += count;
    }
    return HOST_THEN(status, hold_triples(store, number, triples, first, err));
}

/* ---- Deleting ------------------------------------------------------------ */

/* Deletes what came of a campaign in the window that has ended. */
static enum sotto_status
delete_incoming(struct postgres_store *store, uint32_t number,
                struct sotto_error *err)
{
    unsigned old = 1 - store->move.active;
    struct postgres_campaign *campaign = &store->campaign[number - 1];
    enum sotto_status status = postgres_query(
        &store->link,
        "DELETE FROM incoming WHERE collector = $1::uuid AND key = $2::int8 "
        "AND campaign = $3::int8::int4",
        POSTGRES_VALUES(POSTGRES_BYTES(window_keys_collector(store->keys),
                                       COLLECTOR_ID_SIZE),
                        POSTGRES_NUMBER(store->move.key[old]),
                        POSTGRES_NUMBER(number)),
        NULL, err);
    if (status == SOTTO_STATUS_OK) {
        store->bytes[old] -= campaign->incoming[old] * campaign->payload_size;
        campaign->incoming[old] = 0;
    }
    return status;
}

static enum sotto_status
delete_held(struct postgres_store *store, uint32_t number,
            struct sotto_error *err)
{
    struct postgres_campaign *campaign = &store->campaign[number - 1];
    if (campaign->held == 0) {
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status = postgres_query(
        &store->link,
        "DELETE FROM held WHERE collector = $1::uuid "
        "AND campaign = $2::int8::int4",
        POSTGRES_VALUES(POSTGRES_BYTES(window_keys_collector(store->keys),
                                       COLLECTOR_ID_SIZE),
                        POSTGRES_NUMBER(number)),
        NULL, err);
    if (status == SOTTO_STATUS_OK) {
        campaign->held = 0;
    }
    return status;
}

enum sotto_status
postgres_payloads_drop(struct postgres_store *store, uint32_t number,
                       struct sotto_error *err)
{
    enum sotto_status status = delete_incoming(store, number, err);
    return HOST_THEN(status, delete_held(store, number, err));
}

enum sotto_status
postgres_payloads_move(struct postgres_store *store, uint32_t number,
                       size_t batch_min, struct sotto_error *err)
{
    const struct postgres_campaign *campaign = &store->campaign[number - 1];
    uint64_t count =
        campaign->incoming[1 - store->move.active] + campaign->held;
    struct triples triples = {NULL, (size_t)count, postgres_triple(campaign)};
    uint64_t size = checked_multiply(triples.record, (uint32_t)count);
    enum sotto_status status =
        store_check_batch(batch_min, campaign->payload_size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    triples.data = count > UINT32_MAX || size == CHECKED_OVERFLOW
                       ? NULL
                       : malloc((size_t)size);
    if (triples.data == NULL) {
        return host_fail_memory(err);
    }
    status = gather_all(store, number, &triples, err);
    status = HOST_THEN(status, delete_incoming(store, number, err));
    status = HOST_THEN(status, delete_held(store, number, err));
    status = HOST_THEN(
        status, release_triples(store, number, &triples, batch_min, err));
    host_wipe_free(triples.data, (size_t)size);
    return status;
}

/* ---- Without memory ------------------------------------------------------ */

/* Holds the payloads of one row. */
static enum sotto_status
hold_block(struct postgres_store *store, uint32_t number, const PGresult *row,
           struct sotto_error *err)
{
    struct triples triples = {NULL, 0,
                              postgres_triple(&store->campaign[number - 1])};
    struct gathering to = {store, number, &triples, 0};
    size_t room = (size_t)PQgetlength(row, 0, 0) / triples.record + 1;
    triples.data = malloc(room * triples.record);
    if (triples.data == NULL) {
        return host_fail_memory(err);
    }
    triples.count = room;
    enum sotto_status status = gather_incoming(&to, row, err);
    triples.count = to.first;
    status = HOST_THEN(status, hold_triples(store, number, &triples, 0, err));
    host_wipe_free(triples.data, room * triples.record);
    return status;
}

/*
 * What came of a campaign that could not be moved is held as it is, a row at a
 * time: the window must end, or no campaign's would. It is sealed like all that
 * is held, and shuffled with the rest when it is released.
 */
enum sotto_status
postgres_payloads_set_aside(struct postgres_store *store, uint32_t number,
                            struct sotto_error *err)
{
    static const char text[] =
        "SELECT sealed, place FROM incoming WHERE collector = $1::uuid "
        "AND key = $2::int8 AND campaign = $3::int8::int4 "
        "AND place > $4::uuid ORDER BY place LIMIT 1";
    uint8_t place[TAG_SIZE] = {0}; /* random ones are behind it */
    enum sotto_status status = SOTTO_STATUS_OK;
    bool more = true;
    while (more && status == SOTTO_STATUS_OK) {
        PGresult *row = NULL;
        status = postgres_query(
            &store->link, text,
            POSTGRES_VALUES(
                POSTGRES_BYTES(window_keys_collector(store->keys),
                               COLLECTOR_ID_SIZE),
                POSTGRES_NUMBER(store->move.key[1 - store->move.active]),
                POSTGRES_NUMBER(number), POSTGRES_BYTES(place, TAG_SIZE)),
            &row, err);
        more = status == SOTTO_STATUS_OK && PQntuples(row) > 0;
        if (more) {
            (void)postgres_bytes(row, 0, 1, place, TAG_SIZE);
            status = hold_block(store, number, row, err);
        }
        PQclear(row);
    }
    return HOST_THEN(status, delete_incoming(store, number, err));
}
