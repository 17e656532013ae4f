/*
 * test_sqlite_put.c: blocks: sorted, at random places, and gone from memory;
 * and the folder that is flushed before anything is put.
 */
#include "store/sqlite/sqlite_store.h"
#include "store_file.h"

#include <math.h>
#include <sys/syscall.h>

#define COMMITS 64
#define EACH 20

static size_t folders; /* flushed */

/* In place of the system's, which it calls. */
int
fsync(int fd)
{
    struct stat info;
    folders += fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
    return (int)syscall(SYS_fsync, fd);
}

/* Whether the pairs of a block are in the order of their tags. */
static bool
is_sorted(const uint8_t *pairs, size_t count)
{
    const size_t record = TAG_SIZE + PAYLOAD_SIZE + SUM_SIZE;
    bool sorted = true;
    for (size_t i = 1; i < count; i++) {
        sorted = sorted && memcmp(pairs + (i - 1) * record, pairs + i * record,
                                  TAG_SIZE) < 0;
    }
    return sorted;
}

/* In the order of places, blocks do not follow the order of commits: Kendall's
   S, by its standard deviation for a random order. |z| > 5 has probability
   below 10^-6. */
static void
test_blocks(void **state)
{
    uint64_t commit[COMMITS] = {0};
    size_t blocks = 0;
    double sum = 0;
    const char *path = new_path();
    sqlite3 *db = NULL;
    sqlite3_stmt *select = NULL;
    (void)state;
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    for (uint64_t i = 0; i < COMMITS; i++) {
        (void)put_many(store, c, i * EACH, i * EACH + EACH);
    }
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT reports FROM incoming_0 ORDER BY place",
                           -1, &select, NULL),
        SQLITE_OK);
    for (; sqlite3_step(select) == SQLITE_ROW && blocks < COMMITS; blocks++) {
        const uint8_t *pairs = sqlite3_column_blob(select, 0);
        assert_int_equal(sqlite3_column_bytes(select, 0),
                         EACH * (TAG_SIZE + PAYLOAD_SIZE + SUM_SIZE));
        assert_true(is_sorted(pairs, EACH));
        commit[blocks] = payload_number(pairs + TAG_SIZE) / EACH;
        for (size_t i = 0; i < blocks; i++) {
            sum += commit[i] < commit[blocks] ? 1 : -1;
        }
    }
    (void)sqlite3_finalize(select);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(blocks, COMMITS);
    const double k = COMMITS;
    double z = sum / sqrt(k * (k - 1) * (2 * k + 5) / 18);
    print_message("places of blocks: z = %.2f\n", z);
    assert_true(fabs(z) < 5);
    store_free(store);
}

/* What was written is not kept in memory. */
static void
test_wiped(void **state)
{
    void *own = NULL;
    uint32_t campaign = 0;
    uint8_t report[REPORT_SIZE],
        zero[EACH * (TAG_SIZE + PAYLOAD_SIZE + SUM_SIZE)] = {0};
    enum store_answer answer = STORE_DUPLICATE;
    (void)state;
    MUST(store_sqlite.open(new_path(), false, &own, &said));
    struct sqlite_store *store = own;
    MUST(store_sqlite.campaign(own, hash_of(1), "c", PAYLOAD_SIZE, &campaign,
                               &said));
    MUST(store_sqlite.begin(own, &said));
    for (uint64_t i = 0; i < EACH; i++) {
        fake_report(1, i, false, report);
        MUST(store_sqlite.put(own, campaign, report, &answer, &said));
    }
    assert_int_equal(store->campaign[0].block_count, EACH);
    assert_memory_not_equal(store->campaign[0].block, zero, sizeof zero);
    MUST(store_sqlite.commit(own, &said));
    assert_memory_equal(store->campaign[0].block, zero, sizeof zero);
    store_sqlite.close(own);
}

/* A log that was removed stays removed. */
static void
test_folder_flushed(void **state)
{
    (void)state;
    (void)new_path();
    store_free(open_store(url));
    folders = 0;
    struct store *store = open_store(url);
    assert_true(folders > 0);
    store_free(store);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_wiped),
        cmocka_unit_test(test_folder_flushed),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
