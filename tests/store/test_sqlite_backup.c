/*
 * test_sqlite_backup.c: a backup of a store that is being written to is a store
 * that refuses what it knows and gives the same batches; it has nothing of the
 * open window, and goes on where a half moved one was.
 */
#include "store_file.h"

#define BEFORE 300u

static char backup[600], backup_url[620];

static void
new_backup(void)
{
    static unsigned number;
    char name[32];
    (void)snprintf(name, sizeof name, "b%u", number++);
    (void)snprintf(backup, sizeof backup, "%s", in_folder(name));
    (void)snprintf(backup_url, sizeof backup_url, "sqlite:%s", backup);
}

/* Whether a payload, or an id's first half, is in a file. */
static bool
file_has(const char *path, uint64_t wanted)
{
    struct bytes file = raw(path, "");
    bool found = false;
    for (size_t at = 0; at + 8 <= file.size && !found; at++) {
        found = memcmp(file.data + at, &wanted, 8) == 0;
    }
    free(file.data);
    return found;
}

static void
test_backup(void **state)
{
    (void)state;
    (void)new_path();
    new_backup();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    (void)put_many(store, c, 0, BEFORE);
    move_window(store, ALL, 100);
    (void)put_many(store, c, BEFORE, BEFORE + 20);
    move_window(store, ALL, 100);
    (void)put_many(store, c, BEFORE + 20, BEFORE + 30); /* open */
    MUST(store_backup(url, backup, &said));
    assert_int_equal(store_backup(url, backup, &said), SOTTO_STATUS_USAGE);
    assert_int_equal(put_many(store, c, BEFORE + 30, BEFORE + 40), 10);
    assert_int_equal(look_at_all(backup_url).places, 0);
    assert_true(file_has(backup, mix((BEFORE + 5) ^ 0x5a5a5a5a)));
    for (uint64_t i = BEFORE + 20; i < BEFORE + 30; i++) {
        assert_false(file_has(backup, mix(i ^ 0x5a5a5a5a)));
    }
    struct store *copy = open_store(backup_url); /* both at once */
    uint32_t d = campaign_of(copy, 1);
    struct store_counts counts = counts_of(copy, d);
    assert_int_equal(counts.released, BEFORE);
    assert_int_equal(counts.waiting, 20);
    assert_int_equal(put_many(copy, d, 0, BEFORE + 20), 0);
    assert_int_equal(put_many(copy, d, BEFORE + 20, BEFORE + 30), 10);
    store_free(copy);
    assert_int_equal(read_all(backup_url, 1, 100, BEFORE + 30, NULL, NULL),
                     BEFORE);
    static uint64_t order[2][BEFORE];
    (void)read_all(url, 1, 100, BEFORE + 30, NULL, order[0]);
    (void)read_all(backup_url, 1, 100, BEFORE + 30, NULL, order[1]);
    assert_memory_equal(order[0], order[1], sizeof order[0]);
    store_free(store);
}

/* At every stage of a window that is being moved: nothing is in the backup
   twice, and nothing that it would refuse is missing. */
static void
test_half_moved(void **state)
{
    (void)state;
    for (size_t steps = 0; steps < 4; steps++) {
        static unsigned times[200];
        bool done = false;
        (void)new_path();
        new_backup();
        struct store *store = open_store(url);
        uint32_t c = campaign_of(store, 1), d = campaign_of(store, 2);
        (void)put_many(store, c, 0, 100);
        MUST(store_begin(store, &said));
        for (uint64_t i = 0; i < 60; i++) {
            (void)put(store, d, 2, i);
        }
        MUST(store_end_window(store, &said));
        MUST(store_commit(store, &said));
        (void)put_many(store, c, 100, 150);
        for (size_t i = 0; i < steps && !done; i++) {
            MUST(store_begin(store, &said));
            MUST(store_advance(store, 160, 30, &done, &said));
            MUST(store_commit(store, &said));
        }
        MUST(store_backup(url, backup, &said));
        store_free(store);
        assert_int_equal(look_at_all(backup_url).places, 0);
        store = open_store(backup_url);
        c = campaign_of(store, 1);
        assert_int_equal(put_many(store, c, 0, 150), 50);
        move_window(store, ALL, 2);
        store_free(store);
        memset(times, 0, sizeof times);
        assert_int_equal(read_all(backup_url, 1, 2, 200, times, NULL), 150);
        for (size_t i = 0; i < 150; i++) {
            assert_int_equal(times[i], 1);
        }
        assert_int_equal(read_all(backup_url, 2, 2, 200, NULL, NULL), 60);
    }
}

static void
test_nothing_there(void **state)
{
    (void)state;
    (void)new_path();
    new_backup();
    assert_int_equal(store_backup(url, backup, &said), SOTTO_STATUS_IO);
    assert_int_equal(access(backup, F_OK), -1);
    assert_int_equal(store_backup("x", backup, &said), SOTTO_STATUS_USAGE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_backup),
        cmocka_unit_test(test_half_moved),
        cmocka_unit_test(test_nothing_there),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
