/*
 * sqlite_seen.c: the tags of windows that have ended, for good.
 *
 *     place                       tags
 *     campaign 2^32 + 0           t0 < t1 < ...        sorted, 16 bytes each
 *     campaign 2^32 + p           those from p on      p: the first 32 bits
 *     campaign 2^32 + p'
 *
 * A row is a bucket of up to BUCKET_MOST tags, about a page: those of its
 * campaign whose first 32 bits are at least its own and below the next row's.
 * Tags are keyed hashes, so that buckets fill evenly. One that gets new tags is
 * written anew, all of it in order: nothing in it tells which tags came
 * together.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "store/sqlite_store.h"

#define BUCKET_MOST ((size_t)248) /* a row of them is a page at most */

/* Campaigns are numbered one by one, so that places are positive. */
static int64_t
place_of(uint32_t campaign, const uint8_t *tag)
{
    uint64_t prefix = (uint64_t)tag[0] << 24 | (uint64_t)tag[1] << 16 |
                      (uint64_t)tag[2] << 8 | tag[3];
    return (int64_t)((uint64_t)campaign << 32 | prefix);
}

static int64_t
place_first(uint32_t campaign)
{
    return (int64_t)((uint64_t)campaign << 32);
}

/* ---- Finding ------------------------------------------------------------- */

/* How many of `count` sorted tags are below `tag`. */
static size_t
count_below(const uint8_t *tags, size_t count, const uint8_t *tag)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memcmp(tags + middle * TAG_SIZE, tag, TAG_SIZE) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Steps to the bucket where a tag belongs: SQLITE_ROW, and the statement is to
   be reset when it was read; SQLITE_DONE: the campaign has none yet. */
static int
step_to(sqlite3_stmt *select, uint32_t campaign, const uint8_t *tag)
{
    int code = sqlite3_bind_int64(select, 1, place_of(campaign, tag));
    code = code == SQLITE_OK ? sqlite3_step(select) : code;
    if (code != SQLITE_ROW) {
        return code;
    }
    if (sqlite3_column_int64(select, 0) < place_first(campaign)) {
        return SQLITE_DONE;
    }
    return sqlite3_column_blob(select, 1) == NULL ||
                   sqlite3_column_bytes(select, 1) % (int)TAG_SIZE != 0
               ? SQLITE_CORRUPT
               : SQLITE_ROW;
}

int
sqlite_seen_find(const struct sqlite_store *store, uint32_t campaign,
                 const uint8_t tag[TAG_SIZE])
{
    sqlite3_stmt *select = store->statement[STATEMENT_SEEN];
    if (!sqlite_filter_may_have(store->filter, tag)) {
        return SQLITE_DONE;
    }
    int code = step_to(select, campaign, tag);
    if (code == SQLITE_ROW) {
        const uint8_t *tags = sqlite3_column_blob(select, 1);
        size_t count = (size_t)sqlite3_column_bytes(select, 1) / TAG_SIZE;
        size_t at = count_below(tags, count, tag);
        bool found =
            at < count && memcmp(tags + at * TAG_SIZE, tag, TAG_SIZE) == 0;
        code = found ? SQLITE_ROW : SQLITE_DONE;
    }
    (void)sqlite3_reset(select);
    return code;
}

/* ---- Merging ------------------------------------------------------------- */

/* A bucket as it is to be. */
struct bucket {
    int64_t place, end; /* end: the place behind it */
    uint8_t *tags;
    size_t count;
};

static int
find_end(const struct sqlite_store *store, uint32_t campaign, int64_t place,
         int64_t *ret_end)
{
    sqlite3_stmt *select = store->statement[STATEMENT_SEEN_NEXT];
    int64_t end = place_first(campaign + 1);
    int code = sqlite3_bind_int64(select, 1, place);
    code = code == SQLITE_OK ? sqlite3_step(select) : code;
    if (code == SQLITE_ROW && sqlite3_column_int64(select, 0) < end) {
        end = sqlite3_column_int64(select, 0);
    }
    (void)sqlite3_reset(select);
    *ret_end = end;
    return code == SQLITE_ROW ? SQLITE_DONE : code;
}

/* How many of the sorted tags belong before `end`. */
static size_t
count_before(const struct sqlite_tag *tag, size_t count, int64_t end)
{
    size_t taken = 0;
    while (taken < count &&
           place_of(tag[taken].campaign, tag[taken].tag) < end) {
        taken++;
    }
    return taken;
}

/* Both in order; false: one is there already. */
static bool
merge(const uint8_t *old, size_t old_count, const struct sqlite_tag *tag,
      size_t count, uint8_t *merged)
{
    size_t i = 0, j = 0;
    while (i < old_count || j < count) {
        int order = i == old_count ? 1
                    : j == count
                        ? -1
                        : memcmp(old + i * TAG_SIZE, tag[j].tag, TAG_SIZE);
        if (order == 0) {
            return false;
        }
        memcpy(merged, order < 0 ? old + i * TAG_SIZE : tag[j].tag, TAG_SIZE);
        merged += TAG_SIZE;
        i += order < 0 ? 1 : 0;
        j += order < 0 ? 0 : 1;
    }
    return true;
}

/* Reads where the first of the tags belongs, and merges those that do. */
static int
read_bucket(const struct sqlite_store *store, const struct sqlite_tag *tag,
            size_t count, struct bucket *bucket, size_t *ret_taken)
{
    sqlite3_stmt *select = store->statement[STATEMENT_SEEN];
    uint32_t campaign = tag[0].campaign;
    const uint8_t *old = NULL;
    size_t old_count = 0, taken = 0;
    int code = step_to(select, campaign, tag[0].tag), found = code;
    bucket->place = place_first(campaign);
    if (code == SQLITE_ROW) {
        bucket->place = sqlite3_column_int64(select, 0);
        old = sqlite3_column_blob(select, 1);
        old_count = (size_t)sqlite3_column_bytes(select, 1) / TAG_SIZE;
    }
    if (found == SQLITE_ROW || found == SQLITE_DONE) {
        code = find_end(store, campaign, bucket->place, &bucket->end);
    }
    if (code == SQLITE_DONE) {
        taken = count_before(tag, count, bucket->end);
        bucket->count = old_count + taken;
        bucket->tags = malloc(bucket->count * TAG_SIZE);
        code = bucket->tags == NULL ? SQLITE_NOMEM : SQLITE_DONE;
    }
    if (code == SQLITE_DONE &&
        !merge(old, old_count, tag, taken, bucket->tags)) {
        code = SQLITE_CORRUPT;
    }
    (void)sqlite3_reset(select);
    *ret_taken = taken;
    return code;
}

/* Writes it, cut into as few as it needs. A cut is between two tags that differ
   in their first 32 bits, for those are a bucket's name. */
static int
write_bucket(const struct sqlite_store *store, uint32_t campaign,
             const struct bucket *bucket)
{
    sqlite3_stmt *insert = store->statement[STATEMENT_SEE];
    size_t parts = (bucket->count + BUCKET_MOST - 1) / BUCKET_MOST;
    int64_t place = bucket->place;
    int code = SQLITE_DONE;
    for (size_t i = 0, first = 0; code == SQLITE_DONE && first < bucket->count;
         i++) {
        size_t end = bucket->count * (i + 1) / parts;
        const uint8_t *tags = bucket->tags + first * TAG_SIZE;
        int64_t next = 0;
        while (end < bucket->count) {
            next = place_of(campaign, bucket->tags + end * TAG_SIZE);
            if (end > first &&
                next >
                    place_of(campaign, bucket->tags + (end - 1) * TAG_SIZE)) {
                break;
            }
            end++;
        }
        code = sqlite3_bind_int64(insert, 1, place);
        if (code == SQLITE_OK) {
            code = sqlite3_bind_blob64(insert, 2, tags,
                                       (end - first) * TAG_SIZE, SQLITE_STATIC);
        }
        code = code == SQLITE_OK ? sqlite_step(insert) : code;
        place = next;
        first = end;
    }
    return code;
}

enum sotto_status
sqlite_seen_merge(struct sqlite_store *store, const struct sqlite_tag *tag,
                  size_t count, struct sotto_error *err)
{
    int code = SQLITE_DONE;
    for (size_t i = 0; i < count; i++) {
        sqlite_filter_add(store->filter, tag[i].tag);
    }
    while (count > 0 && code == SQLITE_DONE) {
        struct bucket bucket = {0, 0, NULL, 0};
        size_t taken = 0;
        code = read_bucket(store, tag, count, &bucket, &taken);
        if (code == SQLITE_DONE) {
            code = write_bucket(store, tag[0].campaign, &bucket);
        }
        free(bucket.tags);
        tag += taken;
        count -= taken;
    }
    return code == SQLITE_DONE ? SOTTO_STATUS_OK
                               : sql_fail(&store->sql, code, err);
}

/* ---- Checking ------------------------------------------------------------ */

/* Whether a bucket's tags are in order and where they belong: from `place` on
   and, the last one, behind all of the bucket before it. */
static bool
is_right(uint32_t campaign, int64_t place, const uint8_t *tags, size_t size)
{
    if (tags == NULL || size == 0 || size % TAG_SIZE != 0 ||
        place_of(campaign, tags) < place) {
        return false;
    }
    for (size_t at = TAG_SIZE; at < size; at += TAG_SIZE) {
        if (memcmp(tags + at - TAG_SIZE, tags + at, TAG_SIZE) >= 0) {
            return false;
        }
    }
    return true;
}

/* One row behind another whose last tag belongs at `last`. */
static const char *
check_row(struct sqlite_store *store, sqlite3_stmt *row, int64_t *last)
{
    int64_t place = sqlite3_column_int64(row, 0), before = *last;
    uint32_t campaign = (uint32_t)(place >> 32);
    const uint8_t *tags = sqlite3_column_blob(row, 1);
    size_t size = (size_t)sqlite3_column_bytes(row, 1);
    if (place < place_first(1) || place >> 32 > (int64_t)store->campaigns) {
        return "it has tags of no campaign";
    }
    if (before >= place || !is_right(campaign, place, tags, size) ||
        (before < place_first(campaign) && place != place_first(campaign))) {
        return "its tags are not in order";
    }
    for (size_t at = 0; at < size; at += TAG_SIZE) {
        sqlite_filter_add(store->filter, tags + at);
    }
    *last = place_of(campaign, tags + size - TAG_SIZE);
    return *last >> 32 == campaign ? NULL : "its tags are not in order";
}

enum sotto_status
sqlite_seen_check(struct sqlite_store *store, struct sotto_error *err)
{
    sqlite3_stmt *select = NULL;
    const char *fault = NULL;
    int64_t last = 0;
    int code = SQLITE_OK;
    enum sotto_status status =
        sql_prepare(&store->sql, "SELECT place, tags FROM seen ORDER BY place",
                    &select, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    while (fault == NULL && (code = sqlite3_step(select)) == SQLITE_ROW) {
        fault = check_row(store, select, &last);
    }
    if (fault != NULL) {
        status = sqlite3_errcode(store->sql.db) == SQLITE_NOMEM
                     ? host_fail_memory(err)
                     : host_fail(err, SOTTO_STATUS_FORMAT, 0,
                                 "the store '%s' is damaged: %s",
                                 host_shown(store->path), fault);
    } else if (code != SQLITE_DONE) {
        status = sql_fail(&store->sql, code, err);
    }
    (void)sqlite3_finalize(select);
    return status;
}
