/*
 * sqlite_put.c: putting reports, in blocks.
 *
 *     tag = BLAKE2b-128(key = the store's, personal = "sotto.tag", id)
 *
 * A put looks its tag up in the runs and among the tags of both windows, and
 * adds it, the payload and the payload's sum to the campaign's block; a commit
 * writes the block in rows, one behind the other from a random place on: so
 * they share pages among themselves, and few with others.
 */
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "host/error.h"
#include "host/wipe.h"
#include "report/report.h"
#include "store/sqlite/sqlite_store.h"

#define PERSONAL_TAG "sotto.tag\0\0\0\0\0\0\0"
_Static_assert(sizeof PERSONAL_TAG ==
                   crypto_generichash_blake2b_PERSONALBYTES + 1,
               "as many bytes as BLAKE2b takes");

#define BLOCK_BYTES ((size_t)1 << 20) /* then it is written */
#define BLOCK_FIRST ((size_t)16)      /* pairs it has room for at first */
#define TOGETHER ((size_t)16)         /* reports looked up */

/* ---- Blocks -------------------------------------------------------------- */

/* A random place with `rows` behind it that are of the same campaign. */
static enum sotto_status
draw_place(uint32_t campaign, uint64_t rows, int64_t *ret_place,
           struct sotto_error *err)
{
    uint64_t number = UINT64_MAX, most = (uint64_t)SQLITE_PLACES - rows;
    while (number > most) {
        if (sotto_entropy((uint8_t *)&number, sizeof number) != 0) {
            return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                             "the system gave no entropy; nothing was stored");
        }
        number &= (uint64_t)SQLITE_PLACES - 1;
    }
    *ret_place = SQLITE_PLACE_FIRST(campaign) + (int64_t)number;
    return SOTTO_STATUS_OK;
}

/* A place that is taken, which nobody will see, means another one for what is
   left. */
enum sotto_status
sqlite_put_rows(const struct sql *sql, sqlite3_stmt *insert, uint32_t campaign,
                const uint8_t *records, size_t count, size_t record,
                struct sotto_error *err)
{
    size_t most = sqlite_rows_most(record, 0);
    int64_t place = 0;
    enum sotto_status status =
        draw_place(campaign, count / most + 1, &place, err);
    while (status == SOTTO_STATUS_OK && count > 0) {
        size_t some = count < most ? count : most;
        int code =
            sqlite_step(insert, SQL_VALUES(SQL_NUMBER(place),
                                           SQL_BLOB(records, some * record)));
        if (code == SQLITE_CONSTRAINT) {
            status = draw_place(campaign, count / most + 1, &place, err);
        } else if (code != SQLITE_DONE) {
            status = sql_fail(sql, code, err);
        } else {
            records += some * record;
            count -= some;
            place++;
        }
    }
    return status;
}

/* In the order of its tags: not even of one commit it says who came first. */
static enum sotto_status
write_block(struct sqlite_store *store, uint32_t number,
            struct sotto_error *err)
{
    struct sqlite_campaign *campaign = &store->campaign[number - 1];
    size_t count = campaign->block_count;
    window_sort(campaign->block, count, campaign->record);
    enum sotto_status status = sqlite_put_rows(
        &store->sql,
        store->statement[STATEMENT_ROW_0 + (int)store->move.active], number,
        campaign->block, count, campaign->record, err);
    sodium_memzero(campaign->block, count * campaign->record);
    campaign->block_count = 0;
    return status;
}

enum sotto_status
sqlite_put_blocks(struct sqlite_store *store, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (uint32_t i = 0; i < store->campaigns && status == SOTTO_STATUS_OK;
         i++) {
        if (store->campaign[i].block_count > 0) {
            status = write_block(store, i + 1, err);
        }
    }
    return status;
}

/* Room for one more pair in a campaign's block. */
static enum sotto_status
reserve_pair(struct sqlite_store *store, uint32_t number,
             struct sotto_error *err)
{
    struct sqlite_campaign *campaign = &store->campaign[number - 1];
    size_t record = campaign->record;
    if (campaign->block_count < campaign->block_room) {
        return SOTTO_STATUS_OK;
    }
    if (campaign->block_count > 0 &&
        campaign->block_count * record >= BLOCK_BYTES) {
        return write_block(store, number, err);
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

/* SQLITE_ROW: it came before; SQLITE_DONE: it did not. */
static int
find_tag(struct sqlite_store *store, uint32_t number,
         const uint8_t tag[TAG_SIZE])
{
    if (window_tags_has(&store->tags[0], number, tag) ||
        window_tags_has(&store->tags[1], number, tag)) {
        return SQLITE_ROW;
    }
    return sqlite_runs_find(store, number, tag);
}

static enum sotto_status
add_report(struct sqlite_store *store, uint32_t number,
           const uint8_t tag[TAG_SIZE], const uint8_t *payload,
           struct sotto_error *err)
{
    struct sqlite_campaign *campaign = &store->campaign[number - 1];
    struct window_tags *tags = &store->tags[store->move.active];
    enum sotto_status status = reserve_pair(store, number, err);
    if (status == SOTTO_STATUS_OK && !window_tags_reserve(tags, 1)) {
        status = host_fail_memory(err);
    }
    if (status == SOTTO_STATUS_OK) {
        uint8_t *pair =
            campaign->block + campaign->block_count++ * campaign->record;
        memcpy(pair, tag, TAG_SIZE);
        memcpy(pair + TAG_SIZE, payload, campaign->payload_size);
        sqlite_record_sum(pair + TAG_SIZE, campaign->payload_size);
        (void)window_tags_add(tags, number, tag);
        campaign->incoming[store->move.active]++;
        store->incoming[store->move.active].reports++;
        store->incoming[store->move.active].bytes += campaign->payload_size;
    }
    return status;
}

void
sqlite_put_tag(const struct sqlite_store *store, const uint8_t *report,
               uint8_t tag[TAG_SIZE])
{
    (void)crypto_generichash_blake2b_salt_personal(
        tag, TAG_SIZE, sotto_report_id(report), SOTTO_ID_SIZE, store->key,
        TAG_KEY_SIZE, NULL, (const unsigned char *)PERSONAL_TAG);
}

static enum sotto_status
put_report(struct sqlite_store *store, uint32_t number, const uint8_t *report,
           const uint8_t tag[TAG_SIZE], enum store_answer *ret_answer,
           struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    int code = find_tag(store, number, tag);
    if (code == SQLITE_DONE) {
        status =
            add_report(store, number, tag, report + REPORT_HEADER_SIZE, err);
    } else if (code != SQLITE_ROW) {
        status = sql_fail(&store->sql, code, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_answer = code == SQLITE_ROW ? STORE_DUPLICATE : STORE_ACCEPTED;
    }
    return status;
}

/* Whether it may be in this store at all. */
static enum sotto_status
check_report(const struct sqlite_store *store, uint32_t campaign,
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
                           host_shown(store->path));
}

/* Makes the tags of some reports, and lets memory come that says whether they
   are known: that of all at once takes as long as that of one. */
static void
make_tags(const struct sqlite_store *store, uint32_t number,
          const uint8_t *const *report, size_t count, uint8_t (*tag)[TAG_SIZE])
{
    for (size_t i = 0; i < count; i++) {
        sqlite_put_tag(store, report[i], tag[i]);
        window_tags_prefetch(&store->tags[0], number, tag[i]);
        window_tags_prefetch(&store->tags[1], number, tag[i]);
        sqlite_runs_prefetch(store, number, tag[i]);
    }
}

enum sotto_status
sqlite_put_many(void *own, uint32_t campaign, const uint8_t *const *report,
                size_t count, enum store_answer *ret_answers,
                struct sotto_error *err)
{
    struct sqlite_store *store = own;
    uint8_t tag[TOGETHER][TAG_SIZE];
    enum sotto_status status = sqlite_check_begun(store, err);
    for (size_t i = 0; i < count && status == SOTTO_STATUS_OK; i++) {
        if (i % TOGETHER == 0) {
            make_tags(store, campaign, report + i,
                      count - i < TOGETHER ? count - i : TOGETHER, tag);
        }
        status = check_report(store, campaign, report[i], err);
        status = HOST_THEN(status, sqlite_window_make_room(store, err));
        status = HOST_THEN(status,
                           put_report(store, campaign, report[i],
                                      tag[i % TOGETHER], &ret_answers[i], err));
    }
    store->failed = store->failed || status != SOTTO_STATUS_OK;
    return status;
}

enum sotto_status
sqlite_put(void *own, uint32_t campaign, const uint8_t *report,
           enum store_answer *ret_answer, struct sotto_error *err)
{
    return sqlite_put_many(own, campaign, &report, 1, ret_answer, err);
}
