/*
 * test_store_sqlite.c: the SQLite back-end with damaged files, full disks and a
 * lack of memory inside SQLite. test_sqlite_scrub.c reads its files.
 */
#include "store_file.h"

#include "store/sql_sums.h"

#include <sqlite3.h>
#include <time.h>

static sqlite3 *last; /* the connection that was opened last */

static int
remember(sqlite3 *db, char **message, const struct sqlite3_api_routines *api)
{
    (void)message;
    (void)api;
    last = db;
    return SQLITE_OK;
}

/* ---- Files that are no stores, or damaged -------------------------------- */

static void
spill(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void
expect_closed(const char *piece)
{
    struct store *store = NULL;
    struct store_reader *reader = NULL;
    assert_int_equal(store_open(url, false, &store, &said),
                     SOTTO_STATUS_FORMAT);
    if (strstr(said.message, piece) == NULL) {
        fail_msg("'%s' is not in '%s'", piece, said.message);
    }
    assert_int_equal(store_reader_open(url, &reader, NULL, &said),
                     SOTTO_STATUS_FORMAT);
    assert_null(store);
    assert_null(reader);
}

/* Whether or not its pages have sums. */
static void
alter(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    assert_int_equal(sql_sums_register(), SQLITE_OK);
    assert_int_equal(sqlite3_open_v2(path, &db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                     SQL_SUMS_VFS),
                     SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK) {
        fail_msg("'%s': %s", text, sqlite3_errmsg(db));
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void
test_not_a_store(void **state)
{
    struct store *store = NULL;
    (void)state;
    spill(new_path(), "hello", 5);
    expect_closed("no store");
    spill(new_path(), "", 0);
    expect_closed("no store");
    alter(new_path(), "CREATE TABLE t (x)");
    expect_closed("no store");
    const char *path = new_path();
    store_free(open_store(url));
    alter(path, "PRAGMA user_version=9");
    expect_closed("version 9");
    path = new_path();
    store_free(open_store(url));
    alter(path, "CREATE INDEX i ON campaign (name)");
    expect_closed("tables");
    path = new_path();
    char log[700];
    (void)snprintf(log, sizeof log, "%s-wal", path);
    spill(log, "x", 1);
    assert_int_equal(store_open(url, false, &store, &said),
                     SOTTO_STATUS_FORMAT);
    assert_int_equal(access(path, F_OK), -1);
    (void)snprintf(url, sizeof url, "sqlite:%s/none/s", folder);
    assert_int_equal(store_open(url, false, &store, &said), SOTTO_STATUS_IO);
}

/* Whether a store is refused, or a look at all of it finds a damaged place. */
static bool
is_noticed(void)
{
    struct store *store = NULL;
    enum sotto_status status = store_open(url, false, &store, &said);
    store_free(store);
    assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_FORMAT);
    return status != SOTTO_STATUS_OK || look_at_all(url).places > 0;
}

/* What the tables say of each other is asked, too. */
static void
test_contradictions(void **state)
{
    static const char *const change[] = {
        "DELETE FROM run",
        "UPDATE run SET number = number + 1",
        "UPDATE run SET tags = tags - 1",
        "UPDATE run SET lost = 1",
        "INSERT INTO run VALUES (99, 2, 0, 1, 0)",
        "INSERT INTO incoming_1 SELECT * FROM incoming_0",
        "INSERT INTO incoming_0 SELECT place + 1, reports FROM incoming_0",
        "UPDATE incoming_0 SET reports = substr(reports, 2)",
        "UPDATE incoming_0 SET place = place + (1 << 43)",
        "UPDATE held SET payload = substr(payload, 2)",
        "UPDATE held SET campaign = 7",
        "UPDATE batch SET count = count + 1",
        "UPDATE batch SET number = 3",
        "UPDATE batch SET campaign = 2",
        "UPDATE batch SET first = 2",
        "UPDATE batch SET chunks = 2",
        "UPDATE batch SET sum = 4294967295 - sum",
        "UPDATE released SET place = 7",
        "UPDATE released SET reports = substr(reports, 2)",
        "DELETE FROM released",
        "INSERT INTO released SELECT 99, reports FROM released",
        "UPDATE spare_campaign SET name = 'x'",
        "DELETE FROM spare_meta",
        "UPDATE spare_move SET active = 1 - active",
        "UPDATE spare_total SET released = released + 1",
        "DELETE FROM spare_run",
        "INSERT INTO spare_closed VALUES (1)",
        "DROP TRIGGER meta_updated",
        "UPDATE move SET active = 1",
        "UPDATE move SET active = 1, stage = 2",
        "DELETE FROM move",
        "DELETE FROM meta",
        "UPDATE campaign SET number = 4",
        "UPDATE campaign SET payload_size = 9",
    };
    (void)state;
    for (size_t i = 0; i < sizeof change / sizeof change[0]; i++) {
        const char *path = new_path();
        struct store *store = open_store(url);
        uint32_t c = campaign_of(store, 1);
        (void)put_many(store, c, 0, 10);
        move_window(store, ALL, 10);
        (void)put_many(store, c, 10, 15);
        move_window(store, ALL, 10);
        (void)put_many(store, c, 15, 20);
        store_free(store);
        store = open_store(url);
        store_free(store);
        assert_int_equal(look_at_all(url).places, 0);
        alter(path, change[i]);
        if (!is_noticed()) {
            fail_msg("'%s' was not seen", change[i]);
        }
    }
}

/* A new store with two campaigns, and `rows` of 20 moved. */
static const char *
half_moved(size_t rows)
{
    bool done = false;
    const char *path = new_path();
    struct store *store = open_store(url);
    uint32_t first = campaign_of(store, 1), second = campaign_of(store, 2);
    MUST(store_begin(store, &said));
    for (uint64_t j = 0; j < 10; j++) {
        (void)put(store, first, 1, j);
        (void)put(store, second, 2, j);
    }
    MUST(store_end_window(store, &said));
    if (rows > 0) {
        MUST(store_advance(store, rows, 5, &done, &said));
    }
    MUST(store_commit(store, &said));
    store_free(store);
    store_free(open_store(url));
    return path;
}

/* And what `move` says, at every stage. */
static void
test_wrong_move(void **state)
{
    static const struct {
        size_t rows;
        const char *change;
    } wrong[] = {
        {ALL, "UPDATE move SET campaign = 1"},
        {0, "UPDATE move SET campaign = 1"},
        {0, "UPDATE move SET campaign = 99"},
        {0, "UPDATE move SET stage = 0"},
        {0, "UPDATE move SET stage = 2, campaign = 1"},
        {20, "UPDATE move SET campaign = 99"},
        {20, "UPDATE move SET campaign = 1"},
        {21, "UPDATE move SET campaign = 2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct store *store = NULL;
        alter(half_moved(wrong[i].rows), wrong[i].change);
        if (store_open(url, false, &store, &said) != SOTTO_STATUS_FORMAT) {
            fail_msg("'%s' was not seen", wrong[i].change);
        }
    }
}

/* A page that nothing uses contradicts no table, and is seen all the same; and
   then the file is as it was. */
static void
test_every_page(void **state)
{
    static const size_t log_mark = 18; /* in SQLite's header: 1, or 2 */
    const char *path = new_path();
    struct store *store = open_store(url);
    (void)state;
    (void)put_many(store, campaign_of(store, 1), 0, 100);
    store_free(store);
    alter(path, "PRAGMA journal_mode=DELETE");
    struct bytes file = raw(path, "");
    uint8_t *more = calloc(1, file.size + PAGE);
    assert_non_null(more);
    memcpy(more, file.data, file.size);
    assert_int_equal(more[log_mark], 1);
    assert_true(more[31] < 255);
    more[31]++; /* the number of pages */
    spill(path, more, file.size + PAGE);
    assert_true(look_at_all(url).places > 0);
    struct bytes after = raw(path, "");
    assert_int_equal(after.size, file.size + PAGE);
    assert_memory_equal(after.data, more, after.size);
    free(after.data);
    free(file.data);
    free(more);
}

/* The files of a store's tags, for another one. */
static void
copy_tags(const char *from, const char *to)
{
    char command[1400];
    (void)snprintf(command, sizeof command, "cp -r '%s-tags' '%s-tags'", from,
                   to);
    assert_int_equal(system(command), 0);
}

/* Any byte may be wrong: it is seen or it is not, and nothing worse. */
static void
test_damage(void **state)
{
    uint64_t random = 6;
    size_t refused = 0, failed = 0, harmless = 0, noticed = 0;
    const char *full = getenv("SOTTO_FULL");
    size_t trials = full != NULL && strcmp(full, "1") == 0 ? 5000 : 250;
    const char *path = new_path();
    (void)state;
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    (void)put_many(store, c, 0, 100);
    move_window(store, ALL, 2);
    (void)put_many(store, c, 100, 130);
    move_window(store, ALL, 50);
    (void)put_many(store, c, 130, 160);
    store_free(store);
    struct bytes image = raw(path, "");
    char first[600];
    (void)snprintf(first, sizeof first, "%s", path);
    for (size_t i = 0; i < trials; i++) {
        size_t size = image.size;
        uint8_t *copy = malloc(size);
        assert_non_null(copy);
        memcpy(copy, image.data, size);
        size_t flips = 1 + next_random(&random) % 4;
        for (size_t j = 0; j < flips; j++) {
            size_t page = next_random(&random) % (size / PAGE);
            size_t at = next_random(&random) % (j % 2 == 0 ? 120 : PAGE);
            copy[page * PAGE + at] = (uint8_t)next_random(&random);
        }
        if (i % 10 == 9) {
            size = next_random(&random) % size;
        }
        path = new_path();
        copy_tags(first, path);
        spill(path, copy, size);
        free(copy);
        store = NULL;
        enum sotto_status status = store_open(url, false, &store, &said);
        assert_true(
            status == SOTTO_STATUS_OK || status == SOTTO_STATUS_FORMAT ||
            status == SOTTO_STATUS_IO || status == SOTTO_STATUS_REFUSED);
        refused += status != SOTTO_STATUS_OK;
        store_free(store);
        struct store_damage damage = look_at_all(url);
        noticed +=
            status != SOTTO_STATUS_OK || damage.places + damage.reports > 0;
        status = status == SOTTO_STATUS_OK ? live(url, 200, &said) : status;
        failed += status != SOTTO_STATUS_OK;
        harmless += status == SOTTO_STATUS_OK;
        assert_true(status != SOTTO_STATUS_MEMORY);
        (void)unlink(path);
    }
    failed -= refused;
    print_message("%zu damaged files: %zu refused, %zu seen later, %zu with "
                  "harmless or unseen damage; a look at all saw %zu\n",
                  trials, refused, failed, harmless, noticed);
    assert_true(noticed > trials / 4);
    free(image.data);
}

/* ---- Two writers --------------------------------------------------------- */

static void
expect_writer(const char *name, const char *piece)
{
    char other[600];
    struct store *store = NULL;
    (void)snprintf(other, sizeof other, "sqlite:%s", in_folder(name));
    assert_int_equal(store_open(other, false, &store, &said), SOTTO_STATUS_IO);
    if (strstr(said.message, piece) == NULL) {
        fail_msg("'%s' is not in '%s'", piece, said.message);
    }
}

/* The lock is the file's, by whatever name it is opened. */
static void
test_one_writer(void **state)
{
    const char *path = new_path();
    char lock[700];
    (void)state;
    assert_int_equal(symlink(path, in_folder("link")), 0);
    struct store *store = open_store(url);
    expect_writer("link", "has a writer");
    assert_int_equal(link(path, in_folder("hard")), 0);
    expect_writer("hard", "another name");
    store_free(store);
    assert_int_equal(unlink(in_folder("hard")), 0);
    (void)snprintf(lock, sizeof lock, "%s.lock", path);
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(symlink("elsewhere", lock), 0);
    expect_writer("link", "cannot lock");
    assert_int_equal(access(in_folder("elsewhere"), F_OK), -1);
}

/* Somebody who minds no lock is noticed, and nothing is written any more. */
static void
test_others_write(void **state)
{
    bool clean = false;
    const char *path = new_path();
    (void)state;
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    (void)put_many(store, c, 0, 100);
    move_window(store, 10, 2);
    scrub(store);
    (void)put_many(store, c, 100, 110);
    MUST(store_begin(store, &said));
    (void)put(store, c, 1, 110);
    store_rollback(store);
    MUST(store_begin(store, &said)); /* it was I who wrote */
    store_rollback(store);
    alter(path, "UPDATE campaign SET name = 'other'");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(store_begin(store, &said), SOTTO_STATUS_FORMAT);
        assert_non_null(strstr(said.message, "another program has written"));
        store_rollback(store);
    }
    MUST(store_scrub(store, &clean, &said));
    store_free(store);
    store = open_store(url);
    assert_int_equal(counts_of(store, campaign_of(store, 1)).waiting, 10);
    store_free(store);
}

/* ---- Files that go while the store is open ------------------------------ */

static void
test_gone(void **state)
{
    static const char *const suffix[] = {"", "-wal", ".lock"};
    const char *path = new_path();
    (void)state;
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    for (unsigned i = 0; i < 3; i++) {
        char name[700], away[720];
        (void)put_many(store, c, 10 * i, 10 * i + 10);
        (void)snprintf(name, sizeof name, "%s%s", path, suffix[i]);
        (void)snprintf(away, sizeof away, "%s.away", name);
        assert_int_equal(rename(name, away), 0);
        assert_int_equal(store_begin(store, &said), SOTTO_STATUS_IO);
        assert_non_null(strstr(said.message, "is gone"));
        spill(name, "", 0); /* another one in its place */
        assert_int_equal(store_begin(store, &said), SOTTO_STATUS_IO);
        assert_non_null(strstr(said.message, suffix[i]));
        assert_int_equal(rename(away, name), 0);
    }
    (void)put_many(store, c, 30, 40);
    assert_int_equal(counts_of(store, c).waiting, 40);
    store_free(store);
}

/* ---- Full disks ---------------------------------------------------------- */

static void
limit_pages(int pages)
{
    char text[64];
    (void)snprintf(text, sizeof text, "PRAGMA max_page_count=%d", pages);
    assert_int_equal(sqlite3_exec(last, text, NULL, NULL, NULL), SQLITE_OK);
}

/* Puts 40 reports and ends their window while no tags can be written: moving it
   on must fail. Returns 40. */
static uint64_t
put_and_fail_to_move(struct store *store, uint32_t c, uint64_t first,
                     const char *tags, const char *away)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    bool done = false;
    MUST(store_begin(store, &said));
    for (uint64_t i = 0; i < 40; i++) {
        uint8_t report[REPORT_SIZE];
        enum store_answer answer;
        fake_report(1, first + i, false, report);
        MUST(store_put(store, c, report, &answer, &said));
        assert_int_equal(answer, STORE_ACCEPTED);
    }
    assert_int_equal(rename(tags, away), 0);
    MUST(store_end_window(store, &said));
    MUST(store_commit(store, &said));
    for (int i = 0; i < 10000 && status == SOTTO_STATUS_OK && !done; i++) {
        const struct timespec moment = {0, 1000000};
        MUST(store_begin(store, &said));
        status = store_advance(store, 30, 100, &done, &said);
        if (status == SOTTO_STATUS_OK) {
            MUST(store_commit(store, &said));
            (void)nanosleep(&moment, NULL);
        } else {
            store_rollback(store);
        }
    }
    assert_int_not_equal(status, SOTTO_STATUS_OK);
    assert_int_equal(rename(away, tags), 0);
    return 40;
}

static void
test_full_disk(void **state)
{
    static unsigned times[4000];
    uint64_t accepted = 0;
    size_t failures = 0, moves = 0;
    (void)state;
    const char *path = new_path();
    char tags[700], away[700];
    bool full = false;
    (void)snprintf(tags, sizeof tags, "%s-tags", path);
    (void)snprintf(away, sizeof away, "%s-away", path);
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    for (int i = 0; i < 4000 && accepted < 3900; i++) {
        uint8_t report[REPORT_SIZE];
        enum store_answer answer = STORE_ACCEPTED;
        enum sotto_status status = SOTTO_STATUS_OK;
        size_t count = 0;
        bool done = false;
        limit_pages(12 + i / 4);
        MUST(store_begin(store, &said));
        for (; count < 40 && status == SOTTO_STATUS_OK; count++) {
            fake_report(1, accepted + count, false, report);
            status = store_put(store, c, report, &answer, &said);
            assert_true(status != SOTTO_STATUS_OK || answer == STORE_ACCEPTED);
        }
        if (status == SOTTO_STATUS_OK) {
            status = store_commit(store, &said);
        } else {
            store_rollback(store);
        }
        accepted += status == SOTTO_STATUS_OK ? count : 0;
        full = full || (status != SOTTO_STATUS_OK &&
                        strstr(said.message, "full") != NULL);
        failures += status != SOTTO_STATUS_OK;
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_IO);
        struct store_counts n = counts_of(store, c);
        assert_int_equal(n.waiting + n.released, accepted);
        /* now and then no tags can be written, either */
        bool gone = i % 4 != 0 && rename(tags, away) == 0;
        MUST(store_begin(store, &said));
        status = accepted % 3 == 0 ? store_end_window(store, &said)
                                   : SOTTO_STATUS_OK;
        if (status == SOTTO_STATUS_OK) {
            status = store_advance(store, 30, 100, &done, &said);
        }
        if (status == SOTTO_STATUS_OK) {
            status = store_commit(store, &said);
        } else {
            store_rollback(store);
        }
        moves += status != SOTTO_STATUS_OK;
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_IO ||
                    (gone && status == SOTTO_STATUS_FORMAT));
        assert_true(!gone || rename(away, tags) == 0);
    }
    assert_true(full);
    limit_pages(1 << 20); /* space is back */
    move_window(store, ALL, 2);
    accepted += put_and_fail_to_move(store, c, accepted, tags, away);
    bool done = false;
    while (!done) {
        MUST(store_begin(store, &said));
        MUST(store_advance(store, 1000, 2, &done, &said));
        MUST(store_commit(store, &said));
    }
    move_window(store, ALL, 2);
    scrub(store);
    print_message("%zu puts and %zu moves failed; %zu accepted\n", failures,
                  moves, (size_t)accepted);
    assert_true(failures > 5);
    assert_int_equal(read_all(url, 1, 2, accepted, times, NULL), accepted);
    for (uint64_t i = 0; i < accepted; i++) {
        assert_int_equal(times[i], 1);
    }
    store_free(store);
}

/* ---- No memory inside SQLite --------------------------------------------- */

static sqlite3_mem_methods usual;
static long made, failing;

static void *
failing_malloc(int size)
{
    return ++made == failing ? NULL : usual.xMalloc(size);
}

static void *
failing_realloc(void *old, int size)
{
    return ++made == failing ? NULL : usual.xRealloc(old, size);
}

static void
test_sqlite_memory(void **state)
{
    unsigned times[40];
    size_t failures = 0;
    const char *full = getenv("SOTTO_FULL");
    long step = full != NULL && strcmp(full, "1") == 0 ? 1 : 13;
    (void)state;
    for (long n = 1;; n += step) {
        (void)new_path();
        made = 0;
        failing = n;
        enum sotto_status status = live(url, 0, &said);
        bool all = made < failing;
        failing = 0;
        failures += status != SOTTO_STATUS_OK;
        if (status != SOTTO_STATUS_OK && status != SOTTO_STATUS_MEMORY &&
            status != SOTTO_STATUS_IO) {
            fail_msg("allocation %ld: %s", n, said.message);
        }
        MUST(live(url, 0, &said));
        memset(times, 0, sizeof times);
        assert_int_equal(read_all(url, 1, 30, 40, times, NULL), 40);
        if (all) {
            print_message("%ld allocations, %zu failures\n", made, failures);
            break;
        }
    }
    assert_true(failures > 20);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_a_store),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_wrong_move),
        cmocka_unit_test(test_every_page),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_one_writer),
        cmocka_unit_test(test_others_write),
        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_sqlite_memory),
    };
    (void)sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual);
    sqlite3_mem_methods methods = usual;
    methods.xMalloc = failing_malloc;
    methods.xRealloc = failing_realloc;
    (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    (void)sqlite3_auto_extension((void (*)(void))remember);
    return cmocka_run_group_tests(tests, setup, teardown);
}
