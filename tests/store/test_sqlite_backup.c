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
spill(const char *path, const char *suffix, const void *data, size_t size)
{
    char name[800];
    (void)snprintf(name, sizeof name, "%s%s", path, suffix);
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static bool
is_there(const char *path, const char *suffix)
{
    char name[800];
    (void)snprintf(name, sizeof name, "%s%s", path, suffix);
    return access(name, F_OK) == 0;
}

/* What a crash leaves of a copy that was not whole is no store by its name, and
   the next one removes it; tags without a file are no store either. */
static void
test_left_over(void **state)
{
    char tags[800];
    struct store *store = NULL;
    (void)state;
    (void)new_path();
    new_backup();
    store = open_store(url);
    (void)put_many(store, campaign_of(store, 1), 0, BEFORE);
    move_window(store, ALL, 100);
    spill(backup, ".part", "half", 4);
    spill(backup, ".part-journal", "half", 4);
    spill(backup, ".part.lock", "", 0);
    (void)snprintf(tags, sizeof tags, "%s.part-tags", backup);
    assert_int_equal(mkdir(tags, 0700), 0);
    spill(tags, "/0000000000000009.tags", "half", 4);
    MUST(store_backup(url, backup, &said));
    store_free(store);
    static const char *const gone[] = {".part",      ".part-journal",
                                       ".part-wal",  ".part-shm",
                                       ".part.lock", ".part-tags"};
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        assert_false(is_there(backup, gone[i]));
    }
    assert_int_equal(look_at_all(backup_url).places, 0);
    assert_int_equal(read_all(backup_url, 1, 100, BEFORE, NULL, NULL), BEFORE);
    assert_int_equal(unlink(backup), 0); /* as if it had not come to that */
    store = NULL;
    assert_int_equal(store_open(backup_url, false, &store, &said),
                     SOTTO_STATUS_FORMAT);
    assert_int_equal(store_backup(url, backup, &said), SOTTO_STATUS_FORMAT);
    assert_non_null(strstr(said.message, "belongs to a store"));
}

/* A damaged payload is as damaged in the copy, and costs what it did; damage
   that would be hidden there is not copied. */
static void
test_damaged(void **state)
{
    uint64_t wanted = mix(7 ^ 0x5a5a5a5a);
    (void)state;
    const char *path = new_path();
    struct store *store = open_store(url);
    (void)put_many(store, campaign_of(store, 1), 0, BEFORE);
    move_window(store, ALL, 100);
    store_free(store);
    struct bytes file = raw(path, "");
    size_t at = 0;
    while (memcmp(file.data + at, &wanted, 8) != 0) {
        at++;
    }
    file.data[at] ^= 1;
    spill(path, "", file.data, file.size);
    new_backup();
    MUST(store_backup(url, backup, &said));
    assert_int_equal(look_at_all(backup_url).reports, 1);
    assert_int_equal(read_all(backup_url, 1, 99, BEFORE, NULL, NULL),
                     BEFORE - 1);
    file.data[at / PAGE * PAGE + 4] ^= 1; /* rows of that page */
    spill(path, "", file.data, file.size);
    new_backup();
    enum sotto_status status = store_backup(url, backup, &said);
    assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_FORMAT);
    assert_int_equal(is_there(backup, ""), status == SOTTO_STATUS_OK);
    assert_true(status == SOTTO_STATUS_FORMAT ||
                look_at_all(backup_url).places > 0);
    free(file.data);
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
        cmocka_unit_test(test_backup),        cmocka_unit_test(test_half_moved),
        cmocka_unit_test(test_left_over),     cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_nothing_there),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
