/*
 * sqlite_seen.c: the tags of windows that have ended, for good.
 *
 *     place                       tags
 *     campaign 2^32 + 0           t0 < t1 < ...        sorted, 16 bytes each
 *     campaign 2^32 + p           those from p on      p: the first 32 bits
 *     campaign 2^32 + p'
 *
 * A row is a bucket, about a page: those tags of its campaign whose first 32
 * bits are at least its own and below the next row's. The buckets of a campaign
 * are the leaves of the tree in which a range of 2^32 numbers is halved, and
 * its halves are, as long as there are more than BUCKET_MOST tags in one:
 *
 *     [0, 2^32) --> [0, 2^31) --> [0, 2^30), [2^30, 2^31)
 *               `-> [2^31, 2^32)
 *
 * So where buckets begin depends on which tags there are, and not on which
 * came first, or together; no tag gives a bucket its name. A bucket that gets
 * tags is written anew, all of it in order. Tags are keyed hashes, so that
 * buckets fill evenly.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "store/sqlite/sqlite_store.h"

#define OUT_OF_ORDER "its tags are not in order"
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

/* Where the campaign of a place ends. */
static int64_t
place_end(int64_t place)
{
    return ((place >> 32) + 1) * (INT64_C(1) << 32);
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

/* Whether there was no memory to read a bucket, which is not an empty one. */
static bool
is_missing(sqlite3_stmt *row)
{
    return sqlite3_column_blob(row, 1) == NULL &&
           sqlite3_errcode(sqlite3_db_handle(row)) == SQLITE_NOMEM;
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
    if (is_missing(select)) {
        return SQLITE_NOMEM;
    }
    return sqlite3_column_bytes(select, 1) % (int)TAG_SIZE != 0 ? SQLITE_CORRUPT
                                                                : SQLITE_ROW;
}

int
sqlite_seen_find(const struct sqlite_store *store, uint32_t campaign,
                 const uint8_t tag[TAG_SIZE])
{
    sqlite3_stmt *select = store->statement[STATEMENT_SEEN];
    if (!window_filter_may_have(store->filter, tag)) {
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
find_end(const struct sqlite_store *store, int64_t place, int64_t *ret_end)
{
    sqlite3_stmt *select = store->statement[STATEMENT_SEEN_NEXT];
    int64_t end = place_end(place);
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
count_before(const struct window_tag *tag, size_t count, int64_t end)
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
merge_tags(const uint8_t *old, size_t old_count, const struct window_tag *tag,
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
read_bucket(const struct sqlite_store *store, const struct window_tag *tag,
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
        code = find_end(store, bucket->place, &bucket->end);
    }
    if (code == SQLITE_DONE) {
        taken = count_before(tag, count, bucket->end);
        bucket->count = old_count + taken;
        bucket->tags = malloc(bucket->count * TAG_SIZE);
        code = bucket->tags == NULL ? SQLITE_NOMEM : SQLITE_DONE;
    }
    if (code == SQLITE_DONE &&
        !merge_tags(old, old_count, tag, taken, bucket->tags)) {
        code = SQLITE_CORRUPT;
    }
    (void)sqlite3_reset(select);
    *ret_taken = taken;
    return code;
}

/* How many of the sorted tags belong before `end`. */
static size_t
count_up_to(uint32_t campaign, const uint8_t *tags, size_t count, int64_t end)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (place_of(campaign, tags + middle * TAG_SIZE) < end) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/*
 * Writes it, cut into the leaves of its range. From where a leaf begins, the
 * largest range that could be one is that which the bits of its place allow;
 * it is halved until it holds few enough. 32 bits are all that a place has:
 * tags that share them stay together.
 */
static int
write_bucket(const struct sqlite_store *store, uint32_t campaign,
             const struct bucket *bucket)
{
    const uint8_t *tags = bucket->tags;
    size_t left = bucket->count;
    int code = SQLITE_DONE;
    for (int64_t place = bucket->place, width = 0;
         code == SQLITE_DONE && place < bucket->end; place += width) {
        width = place == bucket->place ? bucket->end - place : place & -place;
        size_t count = count_up_to(campaign, tags, left, place + width);
        while (count > BUCKET_MOST && width > 1) {
            width /= 2;
            count = count_up_to(campaign, tags, left, place + width);
        }
        code = sqlite_step(
            store->statement[STATEMENT_SEE],
            SQL_VALUES(SQL_NUMBER(place), SQL_BLOB(tags, count * TAG_SIZE)));
        tags += count * TAG_SIZE;
        left -= count;
    }
    return code;
}

enum sotto_status
sqlite_seen_merge(struct sqlite_store *store, const struct window_tag *tag,
                  size_t count, struct sotto_error *err)
{
    int code = SQLITE_DONE;
    for (size_t i = 0; i < count; i++) {
        window_filter_add(store->filter, tag[i].tag);
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

/* Rows that follow one another: where the last one begins, where its last tag
   belongs and how many it has; and the row before it. */
struct walk {
    struct sqlite_store *store;
    int64_t place, last;
    size_t count;
    int64_t left, left_width;
    size_t left_count;
};

/* Whether a bucket's tags are in order, from `place` on. */
static bool
is_sorted(uint32_t campaign, int64_t place, const uint8_t *tags, size_t size)
{
    if (size % TAG_SIZE != 0 ||
        (size > 0 && place_of(campaign, tags) < place)) {
        return false;
    }
    for (size_t at = TAG_SIZE; at < size; at += TAG_SIZE) {
        if (memcmp(tags + at - TAG_SIZE, tags + at, TAG_SIZE) >= 0) {
            return false;
        }
    }
    return true;
}

/* The last row ends at `end`: whether it is a leaf of the tree, and holds what
   belongs there. Two halves that are leaves must be too many for one. */
static bool
close_row(struct walk *walk, int64_t end)
{
    int64_t width = end - walk->place;
    bool is_half = width < place_first(1) && walk->left_width == width &&
                   walk->left + width == walk->place &&
                   walk->left % (2 * width) == 0;
    bool right = width > 0 && (width & (width - 1)) == 0 &&
                 walk->place % width == 0 && walk->last < end &&
                 (walk->count <= BUCKET_MOST || width == 1) &&
                 (!is_half || walk->left_count + walk->count > BUCKET_MOST);
    walk->left = walk->place;
    walk->left_width = width;
    walk->left_count = walk->count;
    return right;
}

/* Looks at a row, and where it makes the one before it end. */
static enum sotto_status
check_row(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct walk *walk = context;
    struct sqlite_store *store = walk->store;
    int64_t place = sqlite3_column_int64(row, 0);
    uint32_t campaign = (uint32_t)(place >> 32);
    const uint8_t *tags = sqlite3_column_blob(row, 1);
    size_t size = (size_t)sqlite3_column_bytes(row, 1);
    int64_t before = walk->place > 0 ? place_end(walk->place) : 0;
    if (place < place_first(1) || place >> 32 > (int64_t)store->campaigns) {
        return sqlite_fail_damaged(store, "it has tags of no campaign", err);
    }
    if (is_missing(row) ||
        (place >= before && place != place_first(campaign)) ||
        !is_sorted(campaign, place, tags, size) ||
        (before > 0 && !close_row(walk, place < before ? place : before))) {
        return sqlite_fail_damaged(store, OUT_OF_ORDER, err);
    }
    for (size_t at = 0; at < size; at += TAG_SIZE) {
        window_filter_add(store->filter, tags + at);
    }
    walk->place = place;
    walk->count = size / TAG_SIZE;
    walk->last = size > 0 ? place_of(campaign, tags + size - TAG_SIZE) : place;
    return SOTTO_STATUS_OK;
}

enum sotto_status
sqlite_seen_check(struct sqlite_store *store, struct sotto_error *err)
{
    struct walk walk = {.store = store};
    enum sotto_status status =
        sql_each(&store->sql, "SELECT place, tags FROM seen ORDER BY place",
                 SQL_NONE, check_row, &walk, err);
    if (status == SOTTO_STATUS_OK && walk.place > 0 &&
        !close_row(&walk, place_end(walk.place))) {
        status = sqlite_fail_damaged(store, OUT_OF_ORDER, err);
    }
    return status;
}
