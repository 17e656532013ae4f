/*
 * test_queue_upgrade.c: a queue of sotto 0.1.0 is opened, upgraded in place and
 * killed at every step of that: what waited still waits, what arrived is known.
 */
#include "ledger_fixture.h"

#include "kill_steps.h"
#include "store/queue.h"

#define TO "https://a/v1/campaigns/c"
#define WAITING 30u

/* What this version made, as 0.1.0 would have: it had no mark and no ends. */
static const char downgrade[] =
    "CREATE TEMP TABLE kept AS SELECT one, secret, ledger FROM queue;"
    "DROP TABLE queue;"
    "CREATE TABLE queue (\n"
    "  one INTEGER PRIMARY KEY CHECK (one = 1),\n"
    "  secret BLOB NOT NULL CHECK (length(secret) = 32),\n"
    "  ledger BLOB CHECK (length(ledger) = 32)\n"
    ") STRICT;"
    "INSERT INTO queue SELECT * FROM kept;"
    "DROP TABLE kept;"
    "CREATE TEMP TABLE kept AS "
    "SELECT key, tag, destination, refused, report FROM report;"
    "DROP TABLE report;"
    "CREATE TABLE report (\n"
    "  key INTEGER PRIMARY KEY,\n"
    "  tag BLOB NOT NULL UNIQUE CHECK (length(tag) = 32),\n"
    "  destination BLOB NOT NULL CHECK (length(destination) = 32),\n"
    "  refused TEXT,\n"
    "  report BLOB NOT NULL CHECK (length(report) > 52)\n"
    ") STRICT;"
    "INSERT INTO report SELECT * FROM kept;"
    "DROP TABLE kept;"
    "PRAGMA user_version=1";

static const uint8_t mine[32] = {1};

static struct queue *
open_queue(bool look)
{
    struct queue *queue = NULL;
    struct sotto_error err = {0};
    if (queue_open(in_folder("q"), look, &queue, &err) != SOTTO_STATUS_OK) {
        fail_msg("open: %s", err.message);
    }
    return queue;
}

static void
put(struct queue *queue, unsigned salt)
{
    static const uint8_t mechanism[SOTTO_HASH_SIZE] = {7};
    uint8_t report[REPORT_SIZE];
    fake_report(mechanism, salt, report);
    assert_int_equal(queue_put(queue, TO, report, sizeof report, 0, NULL),
                     SOTTO_STATUS_OK);
}

/* One report arrived, thirty wait. */
static void
make_old(void)
{
    struct queue_batch batch = {0};
    const char *refusal[] = {NULL};
    sqlite3 *db = NULL;
    uint64_t mark = 0;
    struct queue *queue = open_queue(false);
    assert_int_equal(queue_bind(queue, mine, 32, &mark, NULL), SOTTO_STATUS_OK);
    put(queue, 0);
    assert_int_equal(queue_next(queue, TO, 1, 1, &batch, NULL),
                     SOTTO_STATUS_OK);
    assert_int_equal(queue_settle(queue, &batch, refusal, NULL),
                     SOTTO_STATUS_OK);
    queue_batch_clear(&batch);
    for (unsigned i = 1; i <= WAITING; i++) {
        put(queue, i);
    }
    queue_free(queue);
    assert_int_equal(sqlite3_open(in_folder("q"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, downgrade, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Thirty wait, whatever second it is: 0.1.0 knew no mechanism that ends. */
static void
expect_waiting(struct queue *queue)
{
    struct queue_batch batch = {0};
    struct queue_count count = {0};
    assert_int_equal(queue_count(queue, TO, INT64_MAX, &count, NULL),
                     SOTTO_STATUS_OK);
    assert_int_equal(count.waiting, WAITING);
    assert_int_equal(count.refused + count.ended, 0);
    assert_int_equal(queue_next(queue, TO, INT64_MAX, 100, &batch, NULL),
                     SOTTO_STATUS_OK);
    assert_int_equal(batch.count, WAITING);
    assert_int_equal(batch.ends, 0);
    queue_batch_clear(&batch);
}

static void
expect_all(bool look)
{
    const uint8_t yours[32] = {2};
    uint64_t mark = 9;
    struct queue *queue = open_queue(look);
    expect_waiting(queue);
    assert_int_equal(queue_bind(queue, mine, 32, &mark, NULL), SOTTO_STATUS_OK);
    assert_int_equal(mark, 0);
    assert_int_equal(queue_bind(queue, yours, 32, &mark, NULL),
                     SOTTO_STATUS_REFUSED);
    for (unsigned i = 0; i <= WAITING && !look; i++) {
        put(queue, i); /* it waits, or has arrived: known either way */
    }
    expect_waiting(queue);
    queue_free(queue);
}

static bool
open_and_close(void *context)
{
    struct queue *queue = NULL;
    (void)context;
    bool opened =
        queue_open(in_folder("q"), false, &queue, NULL) == SOTTO_STATUS_OK;
    queue_free(queue);
    return opened;
}

static void
test_killed_at_every_step(void **state)
{
    size_t size = 0, journals = 0;
    long n = 1;
    (void)state;
    make_old();
    uint8_t *image = slurp(in_folder("q"), &size);
    while (kill_steps_run(open_and_close, NULL, n)) {
        journals += access(in_folder("q-journal"), F_OK) == 0;
        expect_all(false);
        spill(in_folder("q"), image, size);
        n++;
    }
    print_message("%ld kills, %zu left a journal\n", n - 1, journals);
    assert_true(n > 10 && journals > 3);
    expect_all(false);
    free(image);
}

/* A look changes nothing, and sees a queue of 0.1.0. */
static void
test_look(void **state)
{
    size_t before = 0, after = 0;
    (void)state;
    make_old();
    uint8_t *was = slurp(in_folder("q"), &before);
    expect_all(true);
    uint8_t *is = slurp(in_folder("q"), &after);
    assert_int_equal(before, after);
    assert_memory_equal(was, is, before);
    free(was);
    free(is);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_killed_at_every_step),
        TEST(test_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
