/*
 * test_sqlite_window.c: what bounds a window, a batch and the log; and a
 * campaign that cannot be moved, which harms no other.
 */
#include "host/clock.h"
#include "store/sqlite/sqlite_store.h"
#include "store_file.h"

#define STUCK 1500u
#define EACH 84u /* of the other campaign, a window: they fit into a row */
#define ROW 3900 /* bytes that a row may have, if it is to be stuck */

static struct sqlite_store *
open_own(const char *path)
{
    void *own = NULL;
    uint32_t campaign = 0;
    MUST(store_sqlite.open(path, false, &own, &said));
    for (uint8_t i = 1; i <= 2; i++) {
        MUST(store_sqlite.campaign(own, hash_of(i), "c", PAYLOAD_SIZE,
                                   &campaign, &said));
    }
    return own;
}

static enum sotto_status
put_one(struct sqlite_store *store, uint8_t mechanism, uint64_t number)
{
    uint8_t report[REPORT_SIZE];
    enum store_answer answer = STORE_DUPLICATE;
    fake_report(mechanism, number, false, report);
    return store_sqlite.put(store, mechanism, report, &answer, &said);
}

static void
put_all(struct sqlite_store *store, uint8_t mechanism, uint64_t first,
        uint64_t last)
{
    MUST(store_sqlite.begin(store, &said));
    for (uint64_t i = first; i < last; i++) {
        MUST(put_one(store, mechanism, i));
    }
    MUST(store_sqlite.commit(store, &said));
}

/* One slice of a move, committed or rolled back. */
static enum sotto_status
advance(struct sqlite_store *store, size_t batch_min, bool *done)
{
    MUST(store_sqlite.begin(store, &said));
    enum sotto_status status =
        store_sqlite.advance(store, ALL, batch_min, done, &said);
    if (status == SOTTO_STATUS_OK) {
        MUST(store_sqlite.commit(store, &said));
    } else {
        store_sqlite.rollback(store);
    }
    return status;
}

/* Ends a window and moves it on, however often it fails; says how often. */
static size_t
move_on(struct sqlite_store *store, size_t batch_min, enum sotto_status wanted)
{
    bool done = false;
    size_t failures = 0;
    MUST(store_sqlite.begin(store, &said));
    MUST(store_sqlite.end_window(store, &said));
    MUST(store_sqlite.commit(store, &said));
    while (!done && failures < 5) {
        enum sotto_status status = advance(store, batch_min, &done);
        assert_true(status == SOTTO_STATUS_OK || status == wanted);
        failures += status != SOTTO_STATUS_OK;
    }
    return failures;
}

static struct store_counts
counts(struct sqlite_store *store, uint32_t campaign)
{
    struct store_counts n = {0};
    MUST(store_sqlite.count(store, campaign, &n, &said));
    return n;
}

/* What is summed up as it changes is what there is. */
static void
check_totals(const struct sqlite_store *store)
{
    struct sqlite_total total[GENERATIONS] = {{0, 0}, {0, 0}};
    uint64_t held = 0;
    for (uint32_t i = 0; i < store->campaigns; i++) {
        for (size_t g = 0; g < GENERATIONS; g++) {
            uint64_t n = store->campaign[i].incoming[g];
            total[g].reports += n;
            total[g].bytes += n * store->campaign[i].payload_size;
        }
        held += store->campaign[i].held;
    }
    for (size_t g = 0; g < GENERATIONS; g++) {
        assert_int_equal(store->incoming[g].reports, total[g].reports);
        assert_int_equal(store->incoming[g].bytes, total[g].bytes);
    }
    assert_int_equal(store->held, held);
}

/* ---- Campaigns that cannot be moved -------------------------------------- */

/* Campaign 1 cannot be released; campaign 2 is, window after window; and in the
   end all of both, once. */
static void
test_stuck(void **state)
{
    static unsigned times[2][STUCK + 30 * EACH];
    const char *path = new_path();
    struct sqlite_store *store = open_own(path);
    uint64_t one = 0, two = 0;
    (void)state;
    memset(times, 0, sizeof times);
    store->limits.aside_bytes = (size_t)300 * (TAG_SIZE + PAYLOAD_SIZE);
    int usual = sqlite3_limit(store->sql.db, SQLITE_LIMIT_LENGTH, ROW);
    for (int window = 0; window < 10; window++, two += EACH) {
        for (int i = 0; i < 10 && one < STUCK; i++, one += STUCK / 20) {
            put_all(store, 1, one, one + STUCK / 20);
        }
        put_all(store, 2, two, two + EACH);
        size_t failures = move_on(store, 80, SOTTO_STATUS_REFUSED);
        assert_int_equal(failures, 1);
        assert_non_null(strstr(said.message, "longer than SQLite"));
        check_totals(store);
        struct store_counts n = counts(store, 2);
        assert_int_equal(n.released, two + EACH);
        assert_int_equal(n.batches, window + 1);
        assert_int_equal(counts(store, 1).waiting + counts(store, 1).released,
                         one);
        if (window == 5) { /* and after a start */
            store_sqlite.close(store);
            store = open_own(path);
            (void)sqlite3_limit(store->sql.db, SQLITE_LIMIT_LENGTH, ROW);
        }
    }
    assert_int_equal(one, STUCK);
    (void)sqlite3_limit(store->sql.db, SQLITE_LIMIT_LENGTH, usual);
    assert_int_equal(move_on(store, 80, SOTTO_STATUS_OK), 0);
    store_sqlite.close(store);
    assert_int_equal(read_all(url, 1, 80, STUCK, times[0], NULL), STUCK);
    assert_int_equal(read_all(url, 2, 80, two, times[1], NULL), two);
    for (uint64_t i = 0; i < two; i++) {
        assert_int_equal(times[0][i], i < STUCK);
        assert_int_equal(times[1][i], 1);
    }
}

/* Two of them: what was set aside for one is not undone by the other. */
static void
test_both_stuck(void **state)
{
    struct sqlite_store *store = open_own(new_path());
    (void)state;
    int usual = sqlite3_limit(store->sql.db, SQLITE_LIMIT_LENGTH, ROW);
    for (uint64_t i = 0; i < STUCK; i += 75) {
        put_all(store, 1, i, i + 75);
        put_all(store, 2, i, i + 75);
    }
    assert_int_equal(move_on(store, 100, SOTTO_STATUS_REFUSED), 2);
    check_totals(store);
    assert_int_equal(counts(store, 1).waiting, STUCK);
    assert_int_equal(counts(store, 2).waiting, STUCK);
    (void)sqlite3_limit(store->sql.db, SQLITE_LIMIT_LENGTH, usual);
    assert_int_equal(move_on(store, 100, SOTTO_STATUS_OK), 0);
    assert_int_equal(counts(store, 1).released, STUCK);
    assert_int_equal(counts(store, 2).released, STUCK);
    store_sqlite.close(store);
}

/* A batch that no store can hold back is refused before it is too late. */
static void
test_batch_bytes(void **state)
{
    const size_t big = (size_t)1 << 20;
    uint32_t c = 0;
    bool done = false;
    uint8_t *report = calloc(1, REPORT_HEADER_SIZE + big);
    enum store_answer answer = STORE_DUPLICATE;
    (void)state;
    assert_non_null(report);
    MUST(store_check_batch(255, big, &said));
    MUST(store_check_batch(STORE_WINDOW_MOST, 2032, &said));
    assert_int_equal(store_check_batch(256, big, &said), SOTTO_STATUS_USAGE);
    assert_non_null(strstr(said.message, "256 reports of 1048576 bytes"));
    assert_int_equal(store_check_batch(STORE_WINDOW_MOST, 2033, &said),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(store_check_batch(1, 1, &said), SOTTO_STATUS_USAGE);
    assert_int_equal(store_check_batch(STORE_WINDOW_MOST + 1, 1, &said),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(store_check_batch(2, SIZE_MAX, &said), SOTTO_STATUS_USAGE);
    assert_int_equal(store_check_batch(2, 0, &said), SOTTO_STATUS_USAGE);
    (void)new_path();
    struct store *store = open_store(url);
    assert_int_equal(
        store_campaign(store, hash_of(2), "c", (size_t)128 << 20, &c, &said),
        SOTTO_STATUS_USAGE);
    MUST(store_campaign(store, hash_of(1), "c", big, &c, &said));
    fake_report(1, 1, false, report);
    MUST(store_begin(store, &said));
    MUST(store_put(store, c, report, &answer, &said));
    MUST(store_end_window(store, &said));
    assert_int_equal(store_advance(store, ALL, 256, &done, &said),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(said.message, "256 reports of 1048576 bytes"));
    store_free(store);
    free(report);
}

/* ---- Bounds -------------------------------------------------------------- */

static void
test_usual_limits(void **state)
{
    struct sqlite_store *store = open_own(new_path());
    (void)state;
    assert_true(store->limits.window_bytes == (uint64_t)256 << 20);
    assert_true(store->limits.batch_bytes == (uint64_t)512 << 20);
    assert_int_equal(store->limits.aside_bytes, 4 << 20);
    assert_int_equal(store->limits.log_frames, 4096);
    store_sqlite.close(store);
}

/* A window ends by itself with so many bytes; with twice as many, while the
   last one is still there, nothing more is taken. */
static void
test_window_bytes(void **state)
{
    struct sqlite_store *store = open_own(new_path());
    uint64_t taken = 0;
    (void)state;
    store->limits.window_bytes = (uint64_t)100 * PAYLOAD_SIZE;
    MUST(store_sqlite.begin(store, &said));
    for (; taken < 100; taken++) {
        MUST(put_one(store, 1 + taken % 2, taken));
    }
    assert_int_equal(store->move.stage, STAGE_NONE);
    MUST(put_one(store, 1, taken++));
    assert_int_equal(store->move.stage, STAGE_TAGS);
    MUST(store_sqlite.commit(store, &said));
    check_totals(store);
    MUST(store_sqlite.begin(store, &said));
    while (put_one(store, 2, taken) == SOTTO_STATUS_OK) {
        taken++;
        assert_true(taken < 400);
    }
    assert_int_equal(taken, 300);
    assert_non_null(strstr(said.message, "faster than"));
    store_sqlite.rollback(store);
    store_sqlite.close(store);
}

/* Batches are cut where they have so many bytes, but not below batch_min. */
static void
test_batches_are_cut(void **state)
{
    static unsigned times[1000];
    const char *path = new_path();
    struct sqlite_store *store = open_own(path);
    (void)state;
    store->limits.batch_bytes = (uint64_t)300 * (TAG_SIZE + PAYLOAD_SIZE);
    put_all(store, 1, 0, 1000);
    assert_int_equal(move_on(store, 50, SOTTO_STATUS_OK), 0);
    assert_int_equal(counts(store, 1).batches, 4);
    assert_int_equal(counts(store, 1).waiting, 0);
    put_all(store, 2, 0, 1000);
    assert_int_equal(move_on(store, 400, SOTTO_STATUS_OK), 0);
    assert_int_equal(counts(store, 2).batches, 2);
    assert_int_equal(counts(store, 2).waiting, 200);
    store_sqlite.close(store);
    assert_int_equal(read_all(url, 1, 50, 1000, times, NULL), 1000);
}

/* The log is written back and begun anew, and so has an end. */
static void
test_log_ends(void **state)
{
    const char *path = new_path();
    char log[700];
    struct stat info;
    struct sqlite_store *store = open_own(path);
    (void)state;
    (void)snprintf(log, sizeof log, "%s-wal", path);
    store->limits.log_frames = 50;
    for (uint64_t i = 0; i < 200; i++) {
        put_all(store, 1, 10 * i, 10 * i + 10);
    }
    assert_int_equal(stat(log, &info), 0);
    assert_true(info.st_size < 80 * (off_t)(PAGE + 24));
    store_sqlite.close(store);
}

/* Once it is written back, SQLite takes no frame of before for the log's: a
   damaged one could not bring older pages back. */
static void
test_log_begins_anew(void **state)
{
    const char *path = new_path();
    char log[700];
    struct sql_log_look look = {0};
    uint64_t i = 0, most = 0;
    struct sqlite_store *store = open_own(path);
    (void)state;
    (void)snprintf(log, sizeof log, "%s-wal", path);
    store->limits.log_frames = 50;
    do {
        most = look.frames;
        put_all(store, 1, 10 * i, 10 * i + 10);
        MUST(sql_log_look(log, &look, &said));
        i++;
    } while (look.frames > most && i < 200);
    assert_in_range(most, 40, 60);
    assert_int_equal(look.frames, 1);
    assert_int_equal(look.commits, 1);
    store_sqlite.close(store);
}

/* A reader that stays: the log is looked at as it grows by quarters, not at
   each commit; and it begins anew when the reader has gone. */
static void
test_reader_stays(void **state)
{
    const char *path = new_path();
    sqlite3 *reader = NULL;
    bool clean = true;
    uint64_t i = 0;
    size_t tries = 0;
    struct sqlite_store *store = open_own(path);
    (void)state;
    store->limits.log_frames = 50;
    put_all(store, 1, 0, 10);
    assert_int_equal(sqlite3_open_v2(path, &reader, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(reader, "BEGIN; SELECT * FROM move", NULL, NULL, NULL),
        SQLITE_OK);
    for (i = 1; i < 300; i++) {
        int before = store->frames_tried;
        put_all(store, 1, 10 * i, 10 * i + 10);
        tries += store->frames_tried != before;
    }
    assert_in_range(store->frames, 600, 10000);
    assert_in_range(tries, 5, 30);
    MUST(store_sqlite.scrub(store, &clean, &said));
    assert_false(clean);
    assert_true(store->scrub_at > 0);
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
    store->scrub_at = host_seconds() + 1000;
    MUST(store_sqlite.scrub(store, &clean, &said));
    assert_false(clean);
    int most = store->frames + store->frames / 2;
    for (; store->frames > 50; i++) {
        assert_true(store->frames < most);
        put_all(store, 1, 10 * i, 10 * i + 10);
    }
    store->scrub_at = 0;
    MUST(store_sqlite.scrub(store, &clean, &said));
    assert_true(clean);
    assert_int_equal(counts(store, 1).waiting, 10 * i);
    store_sqlite.close(store);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stuck),
        cmocka_unit_test(test_both_stuck),
        cmocka_unit_test(test_batch_bytes),
        cmocka_unit_test(test_usual_limits),
        cmocka_unit_test(test_window_bytes),
        cmocka_unit_test(test_batches_are_cut),
        cmocka_unit_test(test_log_ends),
        cmocka_unit_test(test_log_begins_anew),
        cmocka_unit_test(test_reader_stays),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
