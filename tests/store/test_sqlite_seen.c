/*
 * test_sqlite_seen.c: buckets of tags: every one that was merged is found, no
 * other is, and what contradicts itself is refused.
 */
#include "fail_alloc.h"
#include "store/sqlite_store.h"
#include "store_fixture.h"

#define TAGS 5000u
#define SAME 1800u
#define BUCKET_MOST 248

static struct sqlite_store *
open_own(void)
{
    void *own = NULL;
    uint32_t campaign = 0;
    MUST(store_sqlite.open(in_folder("s"), false, &own, &said));
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

static struct sqlite_tag
tag_of(uint32_t campaign, uint64_t number)
{
    struct sqlite_tag tag = {campaign, {0}};
    uint64_t half[2] = {mix(number), mix(number + ID_SECOND)};
    memcpy(tag.tag, half, sizeof half);
    return tag;
}

/* Merges them, sorted, so many at a time. */
static void
merge_all(struct sqlite_store *store, struct sqlite_tag *tag, size_t count,
          size_t slice)
{
    qsort(tag, count, sizeof *tag, sqlite_tags_compare);
    MUST(store_sqlite.begin(store, &said));
    for (size_t i = 0; i < count; i += slice) {
        size_t end = i + slice < count ? i + slice : count;
        MUST(sqlite_seen_merge(store, tag + i, end - i, &said));
    }
}

static bool
has(const struct sqlite_store *store, const struct sqlite_tag *tag)
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
    static struct sqlite_tag tag[TAGS];
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
        struct sqlite_tag mine = tag_of(campaign, i);
        struct sqlite_tag other = tag_of(4 - campaign, i);
        struct sqlite_tag none = tag_of(2, i);
        assert_int_equal(has(store, &mine), i < 4 * TAGS);
        assert_false(has(store, &other));
        assert_false(has(store, &none));
    }
    assert_int_equal(ask(store, "SELECT sum(length(tags)) / 16 FROM seen"),
                     4 * TAGS);
    assert_true(ask(store, "SELECT max(length(tags)) / 16 FROM seen") <=
                BUCKET_MOST);
    assert_true(ask(store, "SELECT avg(length(tags)) / 16 FROM seen") >=
                BUCKET_MOST / 2);
    store_sqlite.close(store);
}

/* A bucket is named by 32 bits: those that share them stay together. */
static void
test_same_beginning(void **state)
{
    static struct sqlite_tag tag[SAME];
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
        struct sqlite_tag near = tag[i];
        assert_true(has(store, &tag[i]));
        near.tag[15] ^= 1;
        assert_false(has(store, &near));
    }
    assert_int_equal(ask(store, "SELECT max(length(tags)) / 16 FROM seen"),
                     600);
    store_sqlite.close(store);
}

/* ---- Wrong --------------------------------------------------------------- */

static void
test_twice(void **state)
{
    struct sqlite_tag tag[2] = {tag_of(1, 1), tag_of(1, 2)};
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
    struct sqlite_tag tag = tag_of(1, 1);
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
        cmocka_unit_test_setup_teardown(test_twice, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
