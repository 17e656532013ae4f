/*
 * test_sqlite_forget.c: a campaign that is forgotten is gone from every file,
 * its space is given back, and no report of it is taken; the others stay.
 */
#include "store/sqlite/sqlite_store.h"
#include "store_file.h"

#include <sys/wait.h>

#define MANY 20000u

static void
put_all(struct store *store, uint32_t c, uint8_t mechanism, uint64_t first,
        uint64_t last)
{
    MUST(store_begin(store, &said));
    for (uint64_t i = first; i < last; i++) {
        assert_int_equal(put(store, c, mechanism, i), STORE_ACCEPTED);
    }
    MUST(store_commit(store, &said));
}

static off_t
file_size(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_size;
}

/* How often one of our payloads is in a file. */
static size_t
count_payloads(const char *path, uint64_t first, uint64_t last)
{
    struct bytes file = raw(path, "");
    size_t found = 0;
    for (size_t at = 0; at + PAYLOAD_SIZE <= file.size; at++) {
        if (memcmp(file.data + at, PAYLOAD_MARK, sizeof PAYLOAD_MARK) == 0) {
            uint64_t number = payload_number(file.data + at);
            found += number >= first && number < last;
        }
    }
    free(file.data);
    return found;
}

static void
test_forget(void **state)
{
    const char *path = new_path();
    struct store_counts counts = {0};
    uint32_t number = 0;
    (void)state;
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1), other = campaign_of(store, 2);
    put_all(store, c, 1, 0, MANY);
    put_all(store, other, 2, MANY, MANY + 100);
    move_window(store, ALL, 50);
    put_all(store, c, 1, MANY + 200, MANY + 230); /* held */
    move_window(store, ALL, 50);
    put_all(store, c, 1, MANY + 300, MANY + 320); /* and not moved */
    put_all(store, other, 2, MANY + 400, MANY + 410);
    scrub(store);
    off_t before = file_size(path);
    static const char *const kept[] = {".damaged", ".damaged-wal"};
    for (size_t i = 0; i < 2; i++) { /* all is in what a repair kept */
        char name[800];
        (void)snprintf(name, sizeof name, "%s%s", path, kept[i]);
        FILE *file = fopen(name, "wb");
        assert_non_null(file);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(store_forget(store, hash_of(1), &counts, &said),
                         SOTTO_STATUS_USAGE);
        assert_non_null(strstr(said.message, name));
        assert_int_equal(unlink(name), 0);
    }
    assert_int_equal(counts_of(store, c).released, MANY);
    assert_false(counts_of(store, c).closed);
    MUST(store_forget(store, hash_of(1), &counts, &said));
    assert_int_equal(counts.released, MANY);
    assert_int_equal(counts.waiting, 50);
    assert_true(counts_of(store, c).closed);
    assert_false(counts_of(store, other).closed);
    assert_true(file_size(path) < before / 4);
    assert_int_equal(count_payloads(path, 0, MANY), 0);
    assert_int_equal(count_payloads(path, MANY + 200, MANY + 320), 0);
    assert_true(count_payloads(path, MANY, MANY + 100) >= 95);
    assert_int_equal(
        store_campaign(store, hash_of(1), "n", PAYLOAD_SIZE, &number, &said),
        SOTTO_STATUS_REFUSED);
    assert_non_null(strstr(said.message, "closed"));
    MUST(store_forget(store, hash_of(1), &counts, &said)); /* again: nothing */
    assert_int_equal(counts.released + counts.waiting, 0);
    assert_int_equal(store_forget(store, hash_of(9), &counts, &said),
                     SOTTO_STATUS_USAGE);
    store_free(store);
    store = open_store(url);
    assert_int_equal(
        store_campaign(store, hash_of(1), "n", PAYLOAD_SIZE, &number, &said),
        SOTTO_STATUS_REFUSED);
    other = campaign_of(store, 2);
    struct store_counts left = counts_of(store, other);
    assert_int_equal(left.released, 100);
    assert_int_equal(left.waiting, 10);
    MUST(store_begin(store, &said));
    for (uint64_t i = MANY; i < MANY + 100; i++) {
        assert_int_equal(put(store, other, 2, i), STORE_DUPLICATE);
    }
    store_rollback(store);
    move_window(store, ALL, 5);
    store_free(store);
    assert_int_equal(read_all(url, 2, 5, MANY + 500, NULL, NULL), 110);
    assert_int_equal(read_all(url, 1, 1, MANY + 500, NULL, NULL), 0);
    assert_int_equal(look_at_all(url).places + look_at_all(url).reports, 0);
}

/* A process that is killed while it forgets leaves all of it, or none. */
static void
test_killed(void **state)
{
    size_t before = 0, after = 0;
    (void)state;
    for (unsigned i = 0; i < 30; i++) {
        const char *path = new_path();
        struct store_counts counts = {0};
        uint32_t number = 0;
        struct store *store = open_store(url);
        put_all(store, campaign_of(store, 1), 1, 0, 3000);
        put_all(store, campaign_of(store, 2), 2, 0, 50);
        move_window(store, ALL, 50);
        store_free(store);
        pid_t worker = fork();
        assert_true(worker >= 0);
        if (worker == 0) {
            store = open_store(url);
            MUST(store_forget(store, hash_of(1), &counts, &said));
            _exit(0);
        }
        (void)usleep(i * 400);
        (void)kill(worker, 9);
        assert_int_equal(waitpid(worker, NULL, 0), worker);
        store = open_store(url);
        enum sotto_status status = store_campaign(store, hash_of(1), "n",
                                                  PAYLOAD_SIZE, &number, &said);
        assert_true(status == SOTTO_STATUS_OK ||
                    status == SOTTO_STATUS_REFUSED);
        before += status == SOTTO_STATUS_OK;
        after += status == SOTTO_STATUS_REFUSED;
        store_free(store);
        assert_int_equal(read_all(url, 1, 1, 3000, NULL, NULL),
                         status == SOTTO_STATUS_OK ? 3000 : 0);
        assert_int_equal(read_all(url, 2, 1, 3000, NULL, NULL), 50);
        assert_int_equal(look_at_all(url).places + look_at_all(url).reports, 0);
        (void)path;
    }
    print_message("%zu killed before, %zu after\n", before, after);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forget),
        cmocka_unit_test(test_killed),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
