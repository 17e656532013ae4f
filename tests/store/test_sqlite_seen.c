/*
 * test_sqlite_seen.c: buckets of tags: every one that was merged is found, no
 * other is, and what contradicts itself is refused.
 */
#include "fail_alloc.h"
#include "store/sqlite/sqlite_store.h"
#include "store_fixture.h"

#include <math.h>

#define TAGS 5000u
#define SAME 1800u
#define BUCKET_MOST 248
#define WINDOWS 30u /* for a histogram of them */
#define WINDOW 500u

static const char *own_name = "s";

static struct sqlite_store *
open_own(void)
{
    void *own = NULL;
    uint32_t campaign = 0;
    MUST(store_sqlite.open(in_folder(own_name), false, &own, &said));
    for (uint8_t i = 1; i <= 3; i++) {
        MUST(store_sqlite.campaign(own, hash_of(i), "c", 8, &campaign, &said));
        assert_int_equal(campaign, i);
    }
    return own;
}

/* Commits, and opens again, which checks. */
static struct sqlite_store *
reopen(struct sqlite_store *store)
{
    MUST(store_sqlite.commit(store, &said));
    store_sqlite.close(store);
    return open_own();
}

static struct window_tag
tag_of(uint32_t campaign, uint64_t number)
{
    struct window_tag tag = {campaign, {0}};
    uint64_t half[2] = {mix(number), mix(number + ID_SECOND)};
    memcpy(tag.tag, half, sizeof half);
    return tag;
}

/* Merges them, sorted, so many at a time. */
static void
merge_all(struct sqlite_store *store, struct window_tag *tag, size_t count,
          size_t slice)
{
    qsort(tag, count, sizeof *tag, window_tags_compare);
    MUST(store_sqlite.begin(store, &said));
    for (size_t i = 0; i < count; i += slice) {
        size_t end = i + slice < count ? i + slice : count;
        MUST(sqlite_seen_merge(store, tag + i, end - i, &said));
    }
}

static bool
has(const struct sqlite_store *store, const struct window_tag *tag)
{
    int code = sqlite_seen_find(store, tag->campaign, tag->tag);
    assert_true(code == SQLITE_ROW || code == SQLITE_DONE);
    return code == SQLITE_ROW;
}

static int64_t
ask(const struct sqlite_store *store, const char *text)
{
    int64_t value = -1;
    MUST(sql_integer(&store->sql, text, &value, &said));
    return value;
}

/* ---- Right --------------------------------------------------------------- */

static void
test_all_found(void **state)
{
    static struct window_tag tag[TAGS];
    struct sqlite_store *store = open_own();
    (void)state;
    for (size_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < TAGS; i++) {
            tag[i] = tag_of(1 + i % 2 * 2, round * TAGS + i); /* 1 and 3 */
        }
        merge_all(store, tag, TAGS, round == 0 ? 77 : TAGS);
        store = reopen(store);
    }
    for (uint32_t i = 0; i < 5 * TAGS; i++) {
        uint32_t campaign = 1 + i % TAGS % 2 * 2;
        struct window_tag mine = tag_of(campaign, i);
        struct window_tag other = tag_of(4 - campaign, i);
        struct window_tag none = tag_of(2, i);
        assert_int_equal(has(store, &mine), i < 4 * TAGS);
        assert_false(has(store, &other));
        assert_false(has(store, &none));
    }
    assert_int_equal(ask(store, "SELECT sum(length(tags)) / 16 FROM seen"),
                     4 * TAGS);
    assert_true(ask(store, "SELECT max(length(tags)) / 16 FROM seen") <=
                BUCKET_MOST);
    assert_true(ask(store, "SELECT avg(length(tags)) / 16 FROM seen") >=
                BUCKET_MOST / 3);
    store_sqlite.close(store);
}

/* A bucket is named by 32 bits: those that share them stay together. */
static void
test_same_beginning(void **state)
{
    static struct window_tag tag[SAME];
    static const uint8_t begins[3] = {0x00, 0x7f, 0xff};
    struct sqlite_store *store = open_own();
    (void)state;
    for (uint32_t i = 0; i < SAME; i++) {
        tag[i] = tag_of(2, i);
        memset(tag[i].tag, begins[i % 3], 4);
    }
    merge_all(store, tag, SAME, 500);
    store = reopen(store);
    for (uint32_t i = 0; i < SAME; i++) {
        struct window_tag near = tag[i];
        assert_true(has(store, &tag[i]));
        near.tag[15] ^= 1;
        assert_false(has(store, &near));
    }
    assert_int_equal(ask(store, "SELECT max(length(tags)) / 16 FROM seen"),
                     600);
    store_sqlite.close(store);
}

/* ---- What buckets tell --------------------------------------------------- */

/* A hash of all rows. */
static uint64_t
all_rows(const struct sqlite_store *store)
{
    uint64_t sum = 0;
    sqlite3_stmt *select = NULL;
    MUST(sql_prepare(&store->sql, "SELECT place, tags FROM seen ORDER BY place",
                     &select, &said));
    while (sqlite3_step(select) == SQLITE_ROW) {
        const uint8_t *tags = sqlite3_column_blob(select, 1);
        sum = mix(sum ^ (uint64_t)sqlite3_column_int64(select, 0));
        for (int i = 0; i < sqlite3_column_bytes(select, 1); i++) {
            sum = mix(sum ^ tags[i]);
        }
    }
    (void)sqlite3_finalize(select);
    return sum;
}

/* Number `i` of tags many of which begin alike. */
static struct window_tag
crowded_tag(uint64_t i)
{
    struct window_tag tag = tag_of(2, i);
    if (i % 5 == 4) {
        memset(tag.tag, 0xa5, 3);
    }
    return tag;
}

/* Whatever came first, and however it was cut into windows and slices: the
   same tags make the same rows. */
static void
test_no_history(void **state)
{
    static struct window_tag tag[TAGS];
    static const size_t window[] = {TAGS, 250, 1000, 7, 3};
    uint64_t first = 0;
    (void)state;
    for (size_t trial = 0; trial < 5; trial++) {
        char name[8];
        (void)snprintf(name, sizeof name, "s%zu", trial);
        own_name = name;
        struct sqlite_store *store = open_own();
        for (uint32_t i = 0; i < TAGS; i++) {
            tag[i] = crowded_tag(trial % 2 == 0 ? i : TAGS - 1 - i);
        }
        MUST(store_sqlite.begin(store, &said));
        for (size_t i = 0; i < TAGS; i += window[trial]) {
            size_t left = TAGS - i;
            size_t count = window[trial] < left ? window[trial] : left;
            qsort(tag + i, count, sizeof *tag, window_tags_compare);
            MUST(sqlite_seen_merge(store, tag + i, count, &said));
        }
        store = reopen(store);
        first = trial == 0 ? all_rows(store) : first;
        assert_true(all_rows(store) == first);
        store_sqlite.close(store);
    }
    own_name = "s";
}

/* The windows of tags that stand first in a bucket, or give it its name: as
   many of any window as of any other. The last byte of a tag is its window. */
static void
test_names_tell_no_window(void **state)
{
    static struct window_tag tag[WINDOW];
    double sum = 0, count = 0;
    size_t named = 0;
    struct sqlite_store *store = open_own();
    sqlite3_stmt *select = NULL;
    (void)state;
    MUST(store_sqlite.begin(store, &said));
    for (uint64_t window = 0; window < WINDOWS; window++) {
        for (uint64_t i = 0; i < WINDOW; i++) {
            tag[i] = tag_of(1, window * WINDOW + i);
            tag[i].tag[15] = (uint8_t)window;
        }
        qsort(tag, WINDOW, sizeof *tag, window_tags_compare);
        MUST(sqlite_seen_merge(store, tag, WINDOW, &said));
    }
    MUST(sql_prepare(&store->sql, "SELECT place & 0xffffffff, tags FROM seen",
                     &select, &said));
    while (sqlite3_step(select) == SQLITE_ROW) {
        const uint8_t *tags = sqlite3_column_blob(select, 1);
        int64_t begins = (int64_t)tags[0] << 24 | (int64_t)tags[1] << 16 |
                         (int64_t)tags[2] << 8 | tags[3];
        named += begins == sqlite3_column_int64(select, 0);
        sum += tags[15];
        count++;
    }
    (void)sqlite3_finalize(select);
    store_sqlite.close(store);
    double sigma = sqrt((WINDOWS * WINDOWS - 1) / 12.0 / count);
    double z = (sum / count - (WINDOWS - 1) / 2.0) / sigma;
    print_message("%.0f buckets: %zu named by a tag, first tags z = %.2f\n",
                  count, named, z);
    assert_true(count > 50 && named == 0 && fabs(z) < 5);
}

/* ---- Wrong --------------------------------------------------------------- */

/* Rows that are sorted, but not the leaves that these tags make. */
static void
test_not_leaves(void **state)
{
    static const char *const change[] = {
        /* a bucket that begins at a tag, and no leaf */
        "UPDATE seen SET place = place + 1 WHERE place > 4294967296",
        /* one too many: two halves that are one leaf */
        ("INSERT INTO seen VALUES (12884901888, x''), "
         "(12884901888 + 2147483648, x'')"),
        /* one too few */
        "DELETE FROM seen WHERE place = 4294967296",
    };
    static struct window_tag tag[TAGS];
    (void)state;
    for (size_t i = 0; i < sizeof change / sizeof change[0]; i++) {
        char name[8];
        void *own = NULL;
        (void)snprintf(name, sizeof name, "n%zu", i);
        own_name = name;
        struct sqlite_store *store = open_own();
        for (uint32_t j = 0; j < TAGS; j++) {
            tag[j] = tag_of(1, j);
        }
        merge_all(store, tag, TAGS, TAGS);
        store = reopen(store);
        MUST(sql_run(&store->sql, change[i], &said));
        store_sqlite.close(store);
        if (store_sqlite.open(in_folder(name), false, &own, &said) !=
            SOTTO_STATUS_FORMAT) {
            fail_msg("'%s' was not seen", change[i]);
        }
        assert_non_null(strstr(said.message, "tags are not in order"));
    }
    own_name = "s";
}

static void
test_twice(void **state)
{
    struct window_tag tag[2] = {tag_of(1, 1), tag_of(1, 2)};
    struct sqlite_store *store = open_own();
    (void)state;
    merge_all(store, tag, 2, 2);
    assert_int_equal(sqlite_seen_merge(store, tag, 1, &said),
                     SOTTO_STATUS_FORMAT);
    store_sqlite.close(store);
}

static void
test_no_memory(void **state)
{
    struct window_tag tag = tag_of(1, 1);
    struct sqlite_store *store = open_own();
    (void)state;
    MUST(store_sqlite.begin(store, &said));
    fail_alloc_at(1);
    assert_int_equal(sqlite_seen_merge(store, &tag, 1, &said),
                     SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
    assert_false(has(store, &tag));
    store_sqlite.close(store);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_found, setup, teardown),
        cmocka_unit_test_setup_teardown(test_same_beginning, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_history, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names_tell_no_window, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_not_leaves, setup, teardown),
        cmocka_unit_test_setup_teardown(test_twice, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
