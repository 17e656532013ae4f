/*
 * test_queue_file.c: opening a queue believes nothing, and changes nothing in
 * what is none.
 */
#include "ledger_fixture.h"

#include "store/queue.h"

#define OURS "the ledger has every report"
#define OTHER "choose another name"
#define TO "https://a/v1/campaigns/c"

static void
run_sql(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK) {
        fail_msg("%s: %s", text, sqlite3_errmsg(db));
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void
expect_untouched(const char *path, int looks, const char *advice)
{
    size_t before = 0, after = 0;
    uint8_t *was = slurp(path, &before);
    for (int look = 0; look <= looks; look++) {
        struct queue *queue = NULL;
        struct sotto_error err;
        memset(&err, 0xa5, sizeof err);
        assert_int_equal(queue_open(path, look == 1, &queue, &err),
                         SOTTO_STATUS_FORMAT);
        assert_null(queue);
        assert_int_equal(err.status, SOTTO_STATUS_FORMAT);
        expect_in(err.message, path);
        expect_in(err.message, advice);
        assert_int_equal(strstr(err.message, "move it away") != NULL,
                         advice[0] == 't');
    }
    uint8_t *is = slurp(path, &after);
    assert_int_equal(before, after);
    assert_memory_equal(was, is, before);
    free(was);
    free(is);
}

static void
make(const char *path)
{
    struct queue *queue = NULL;
    struct sotto_error err = {0};
    assert_int_equal(queue_open(path, false, &queue, &err), SOTTO_STATUS_OK);
    queue_free(queue);
}

static void
test_no_queue(void **state)
{
    struct queue *queue = NULL;
    struct sotto_error err = {0};
    struct queue_count count = {9, 9, 9};
    (void)state;
    spill(in_folder("empty"), "", 0);
    expect_untouched(in_folder("empty"), 1, OTHER);
    assert_int_not_equal(access(in_folder("empty.lock"), F_OK), 0);
    spill(in_folder("text"), "This is no database at all, but long enough", 43);
    expect_untouched(in_folder("text"), 1, OTHER);
    assert_int_not_equal(access(in_folder("text.lock"), F_OK), 0);
    create(in_folder("ledger"), "1", NULL);
    expect_untouched(in_folder("ledger"), 1, OTHER);
    assert_int_not_equal(access(in_folder("ledger.lock"), F_OK), 0);
    assert_int_equal(queue_open(in_folder("no/q"), false, &queue, &err),
                     SOTTO_STATUS_IO);
    assert_int_equal(queue_open(in_folder("none"), true, &queue, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(queue_count(queue, TO, 1, &count, &err), SOTTO_STATUS_OK);
    assert_int_equal(count.waiting + count.refused + count.ended, 0);
    queue_free(queue);
    assert_int_not_equal(access(in_folder("none"), F_OK), 0);
    assert_int_not_equal(access(in_folder("none.lock"), F_OK), 0);
}

static void
test_changed(void **state)
{
    static const char *const changes[] = {
        "PRAGMA user_version=3",
        "PRAGMA user_version=1",
        "PRAGMA application_id=7",
        "CREATE TABLE more (x)",
        "CREATE TRIGGER t AFTER INSERT ON report BEGIN SELECT 1; END",
        "DROP TABLE acknowledged; CREATE TABLE acknowledged (tag)",
        "DELETE FROM queue",
        ("PRAGMA ignore_check_constraints=ON; INSERT INTO report (tag, "
         "destination, ends, report) VALUES (x'00', x'00', 0, x'00')"),
        ("PRAGMA ignore_check_constraints=ON; INSERT INTO report (tag, "
         "destination, ends, report) VALUES (zeroblob(32), zeroblob(32), -1, "
         "zeroblob(53))"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "q%zu", i);
        make(in_folder(name));
        run_sql(in_folder(name), changes[i]);
        /* Opened to look, constraints are not looked at. */
        expect_untouched(in_folder(name), strstr(changes[i], "ignore") == NULL,
                         strstr(changes[i], "application") != NULL ? OTHER
                                                                   : OURS);
    }
}

/* Bytes changed here and there: refused, or unseen, and nothing worse. */
static void
test_damage(void **state)
{
    const char *path = in_folder("q");
    uint8_t report[REPORT_SIZE];
    uint8_t hash[SOTTO_HASH_SIZE] = {1};
    struct queue *queue = NULL;
    struct sotto_error err = {0};
    size_t size = 0, refused = 0;
    (void)state;
    assert_int_equal(queue_open(path, false, &queue, &err), SOTTO_STATUS_OK);
    for (unsigned i = 0; i < 9; i++) {
        fake_report(hash, i, report);
        assert_int_equal(queue_put(queue, TO, report, sizeof report, 0, &err),
                         SOTTO_STATUS_OK);
    }
    queue_free(queue);
    uint8_t *data = slurp(path, &size);
    for (size_t at = 0; at < size; at += at < 120 ? 1 : 97) {
        struct queue_batch batch = {0};
        data[at] ^= 0x55;
        spill(path, data, size);
        data[at] ^= 0x55;
        queue = NULL;
        enum sotto_status status = queue_open(path, true, &queue, &err);
        if (status == SOTTO_STATUS_OK) {
            status = queue_next(queue, TO, 1, 100, &batch, &err);
        }
        assert_true(status == SOTTO_STATUS_OK ||
                    status == SOTTO_STATUS_FORMAT || status == SOTTO_STATUS_IO);
        refused += status != SOTTO_STATUS_OK;
        queue_batch_clear(&batch);
        queue_free(queue);
    }
    assert_true(refused > 20);
    free(data);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_queue, setup, teardown),
        cmocka_unit_test_setup_teardown(test_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
