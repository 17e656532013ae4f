/*
 * postgres_put.c: putting reports, in blocks.
 *
 *     tag = BLAKE2b-128(key = the store's, personal = "sotto.tag", id)
 *
 * Which reports of a group came before is asked in one round trip for those
 * whose tags are not in memory. What another collector has in a window that is
 * open is not known here: postgres_window.c sees to that when it is moved.
 *
 * A row of `incoming` is sealed, and sorted by its tags: not even of one commit
 * it says who came first.
 */
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>
#include <zlib.h>

#include "host/error.h"
#include "host/wipe.h"
#include "report/report.h"
#include "store/postgres/postgres_store.h"

#define PERSONAL_TAG "sotto.tag\0\0\0\0\0\0\0"
_Static_assert(sizeof PERSONAL_TAG ==
                   crypto_generichash_blake2b_PERSONALBYTES + 1,
               "as many bytes as BLAKE2b takes");

#define BLOCK_FIRST ((size_t)16) /* triples it has room for at first */

uint32_t
postgres_check_of(const uint8_t *payload, size_t size)
{
    return (uint32_t)crc32_z(0, payload, size);
}

bool
postgres_check_fits(const uint8_t *payload, size_t size)
{
    uint32_t check = postgres_check_of(payload, size);
    for (unsigned i = 0; i < CHECK_SIZE; i++) {
        if (payload[size + i] != (uint8_t)(check >> 8 * i)) {
            return false;
        }
    }
    return true;
}

/* ---- Blocks -------------------------------------------------------------- */

/* Nobody closes the campaign before the transaction ends; a row of one that is
   closed is none. */
static const char insert_block[] =
    "INSERT INTO incoming SELECT $1::uuid, $2::int8, number, $4::uuid, "
    "$5::int8::int4, $6::bytea FROM campaign "
    "WHERE number = $3::int8::int4 AND NOT closed FOR KEY SHARE";

/* Unless one is begun, the row is a transaction of its own. REFUSED: the
   campaign was forgotten since it was put. */
static enum sotto_status
write_block(struct postgres_store *store, uint32_t number,
            struct sotto_error *err)
{
    struct postgres_campaign *campaign = &store->campaign[number - 1];
    const struct window_seal seal = {store->move.key[store->move.active],
                                     number, PURPOSE_INCOMING};
    size_t record = postgres_triple(campaign);
    size_t size = campaign->block_count * record;
    uint8_t place[TAG_SIZE], *sealed = NULL;
    PGresult *result = NULL;
    if (sotto_entropy(place, sizeof place) != 0) {
        return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                         "the system gave no entropy; nothing was stored");
    }
    window_sort(campaign->block, campaign->block_count, record);
    enum sotto_status status =
        postgres_seal(store, &seal, campaign->block, size, &sealed, err);
    status = HOST_THEN(
        status,
        postgres_call(&store->link, insert_block,
                      POSTGRES_VALUES(
                          POSTGRES_BYTES(window_keys_collector(store->keys),
                                         COLLECTOR_ID_SIZE),
                          POSTGRES_NUMBER(seal.number), POSTGRES_NUMBER(number),
                          POSTGRES_BYTES(place, TAG_SIZE),
                          POSTGRES_NUMBER(campaign->block_count),
                          POSTGRES_BYTES(sealed, size + WINDOW_SEAL_EXTRA)),
                      &result, err));
    if (status == SOTTO_STATUS_OK && strcmp(PQcmdTuples(result), "1") != 0) {
        status = postgres_fail_closed(store, number, err);
    }
    PQclear(result);
    free(sealed);
    sodium_memzero(campaign->block, size);
    campaign->block_count = 0;
    return status;
}

enum sotto_status
postgres_put_blocks(struct postgres_store *store, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (uint32_t i = 0; i < store->campaigns && status == SOTTO_STATUS_OK;
         i++) {
        if (store->campaign[i].block_count > 0) {
            status = postgres_begin(&store->link, err);
            status = HOST_THEN(status, write_block(store, i + 1, err));
        }
    }
    return status;
}

/* Most groups are one row, which needs no words before and behind it: each is a
   round trip while others wait. */
enum sotto_status
postgres_put_commit(struct postgres_store *store, struct sotto_error *err)
{
    uint32_t blocks = 0, last = 0;
    for (uint32_t i = 0; i < store->campaigns; i++) {
        if (store->campaign[i].block_count > 0) {
            blocks++;
            last = i + 1;
        }
    }
    if (blocks == 1 && !store->link.begun) {
        return write_block(store, last, err);
    }
    enum sotto_status status = postgres_put_blocks(store, err);
    return HOST_THEN(status, postgres_commit(&store->link, err));
}

/* Room for one more triple in a campaign's block. */
static enum sotto_status
reserve_triple(struct postgres_store *store, uint32_t number,
               struct sotto_error *err)
{
    struct postgres_campaign *campaign = &store->campaign[number - 1];
    size_t record = postgres_triple(campaign);
    if (campaign->block_count > 0 &&
        (campaign->block_count + 1) * record > BLOCK_BYTES) {
        enum sotto_status status = postgres_begin(&store->link, err);
        return HOST_THEN(status, write_block(store, number, err));
    }
    if (campaign->block_count < campaign->block_room) {
        return SOTTO_STATUS_OK;
    }
    size_t room = campaign->block_room > 0 ? 2 * campaign->block_room
                  : record < BLOCK_BYTES / BLOCK_FIRST ? BLOCK_FIRST
                                                       : 1;
    uint8_t *grown = host_wipe_resize(
        campaign->block, campaign->block_room * record, room * record);
    if (grown == NULL) {
        return host_fail_memory(err);
    }
    campaign->block = grown;
    campaign->block_room = room;
    return SOTTO_STATUS_OK;
}

/* ---- Reports ------------------------------------------------------------- */

static bool
is_waiting(const struct postgres_store *store, uint32_t number,
           const uint8_t tag[TAG_SIZE])
{
    return window_tags_has(&store->tags[0], number, tag) ||
           window_tags_has(&store->tags[1], number, tag);
}

static enum sotto_status
add_report(struct postgres_store *store, uint32_t number,
           const uint8_t tag[TAG_SIZE], const uint8_t *payload,
           struct sotto_error *err)
{
    enum sotto_status status = postgres_window_make_room(store, err);
    status = HOST_THEN(status, reserve_triple(store, number, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    unsigned active = store->move.active;
    struct window_tags *tags = &store->tags[active];
    if (!window_tags_reserve(tags, 1)) {
        return host_fail_memory(err);
    }
    struct postgres_campaign *campaign = &store->campaign[number - 1];
    size_t size = campaign->payload_size;
    uint32_t check = postgres_check_of(payload, size);
    uint8_t *to =
        campaign->block + campaign->block_count++ * postgres_triple(campaign);
    memcpy(to, tag, TAG_SIZE);
    memcpy(to + TAG_SIZE, payload, size);
    for (unsigned i = 0; i < CHECK_SIZE; i++) {
        to[TAG_SIZE + size + i] = (uint8_t)(check >> 8 * i);
    }
    (void)window_tags_add(tags, number, tag);
    campaign->incoming[active]++;
    store->bytes[active] += size;
    return SOTTO_STATUS_OK;
}

/* Whether it may be in this store at all. */
static enum sotto_status
check_report(const struct postgres_store *store, uint32_t campaign,
             const uint8_t *report, struct sotto_error *err)
{
    if (campaign == 0 || campaign > store->campaigns ||
        memcmp(report + REPORT_MAGIC_SIZE, store->campaign[campaign - 1].hash,
               SOTTO_HASH_SIZE) != 0) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "the report is of another mechanism");
    }
    return report_simulated(report) == store->simulation
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "the report is %ssimulated, and '%s' takes others",
                           store->simulation ? "not " : "",
                           host_shown(store->link.url));
}

/* ---- What came before ---------------------------------------------------- */

/* A group of reports, with what is known of each. */
struct group {
    uint32_t campaign;
    const uint8_t *const *report;
    size_t count;
    uint8_t (*tag)[TAG_SIZE];
    struct window_tags seen; /* of those that were asked for */
};

/* A look into the index for each tag: no plan of a join is as sure of that when
   the tables were empty a moment ago. A row that is null says that the campaign
   was forgotten. */
static const char find_seen[] =
    "SELECT t.tag FROM unnest($2::uuid[]) AS t(tag) "
    "WHERE (SELECT true FROM seen AS s WHERE s.campaign = $1::int8::int4 "
    "AND s.tag = t.tag) "
    "UNION ALL SELECT NULL FROM campaign WHERE number = $1::int8::int4 "
    "AND closed";

/* Those that the server has. REFUSED: it says that nothing is taken. */
static enum sotto_status
take_seen(struct postgres_store *store, struct group *group,
          const PGresult *result, struct sotto_error *err)
{
    uint8_t tag[TAG_SIZE];
    size_t count = (size_t)PQntuples(result);
    if (count > 0 && !window_tags_reserve(&group->seen, count)) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        if (PQgetisnull(result, (int)i, 0) != 0) {
            return postgres_fail_closed(store, group->campaign, err);
        }
        if (!postgres_bytes(result, (int)i, 0, tag, TAG_SIZE)) {
            return postgres_fail_damaged(store, "a tag is of the wrong size",
                                         err);
        }
        (void)window_tags_add(&group->seen, group->campaign, tag);
    }
    return SOTTO_STATUS_OK;
}

/* Asks the server for the tags that nothing here knows, if there are any: it
   also says whether the campaign is open. */
static enum sotto_status
ask_seen(struct postgres_store *store, struct group *group,
         struct sotto_error *err)
{
    uint8_t *asked = malloc(group->count * TAG_SIZE + 1), *array = NULL;
    size_t count = 0, size = 0;
    PGresult *result = NULL;
    if (asked == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < group->count; i++) {
        if (!is_waiting(store, group->campaign, group->tag[i])) {
            memcpy(asked + count++ * TAG_SIZE, group->tag[i], TAG_SIZE);
        }
    }
    window_sort(asked, count, TAG_SIZE);
    array = postgres_tags(asked, count, TAG_SIZE, &size);
    free(asked);
    if (array == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status =
        postgres_call(&store->link, find_seen,
                      POSTGRES_VALUES(POSTGRES_NUMBER(group->campaign),
                                      POSTGRES_BYTES(array, size)),
                      &result, err);
    status = HOST_THEN(status, take_seen(store, group, result, err));
    PQclear(result);
    free(array);
    return status;
}

static enum sotto_status
put_group(struct postgres_store *store, struct group *group,
          enum store_answer *ret_answers, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < group->count; i++) {
        (void)crypto_generichash_blake2b_salt_personal(
            group->tag[i], TAG_SIZE, sotto_report_id(group->report[i]),
            SOTTO_ID_SIZE, store->tag_key, TAG_KEY_SIZE, NULL,
            (const unsigned char *)PERSONAL_TAG);
    }
    status = ask_seen(store, group, err);
    for (size_t i = 0; i < group->count && status == SOTTO_STATUS_OK; i++) {
        const uint8_t *tag = group->tag[i];
        bool before = is_waiting(store, group->campaign, tag) ||
                      window_tags_has(&group->seen, group->campaign, tag);
        if (!before) {
            status = add_report(store, group->campaign, tag,
                                group->report[i] + REPORT_HEADER_SIZE, err);
        }
        if (status == SOTTO_STATUS_OK) {
            ret_answers[i] = before ? STORE_DUPLICATE : STORE_ACCEPTED;
        }
    }
    return status;
}

enum sotto_status
postgres_put_many(void *own, uint32_t campaign, const uint8_t *const *report,
                  size_t count, enum store_answer *ret_answers,
                  struct sotto_error *err)
{
    struct postgres_store *store = own;
    struct group group = {
        .campaign = campaign, .report = report, .count = count};
    enum sotto_status status = postgres_check_begun(store, err);
    for (size_t i = 0; i < count && status == SOTTO_STATUS_OK; i++) {
        status = check_report(store, campaign, report[i], err);
    }
    if (status == SOTTO_STATUS_OK && count > 0) {
        group.tag = malloc(count * sizeof *group.tag);
        status = group.tag == NULL ? host_fail_memory(err)
                                   : put_group(store, &group, ret_answers, err);
    }
    window_tags_clear(&group.seen);
    free(group.tag);
    store->failed = store->failed || status != SOTTO_STATUS_OK;
    return status;
}

enum sotto_status
postgres_put(void *own, uint32_t campaign, const uint8_t *report,
             enum store_answer *ret_answer, struct sotto_error *err)
{
    const uint8_t *const one[] = {report};
    return postgres_put_many(own, campaign, one, 1, ret_answer, err);
}
