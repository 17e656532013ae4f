/*
 * test_queue.c: reports that wait, arrive and are refused; the order that is
 * not kept; two programs; damaged files; a lack of memory; kills.
 */
#include "ledger_fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "fail_alloc.h"
#include "store/queue.h"

#define TO "https://a/v1/campaigns/c"
#define ELSEWHERE "https://b/v1/campaigns/c"
#define MANY 60u
#define NOW 1000u /* a second of UTC */

static uint8_t mechanism[2][SOTTO_HASH_SIZE];

static int
setup_queue(void **state)
{
    memset(mechanism[0], 1, SOTTO_HASH_SIZE);
    memset(mechanism[1], 2, SOTTO_HASH_SIZE);
    fail_alloc_at(0);
    return setup(state);
}

static struct queue *
open_queue(const char *path, bool look)
{
    struct queue *queue = NULL;
    struct sotto_error err = {0};
    if (queue_open(path, look, &queue, &err) != SOTTO_STATUS_OK) {
        fail_msg("open: %s", err.message);
    }
    return queue;
}

static void
put_until(struct queue *queue, const char *to, unsigned which, unsigned salt,
          uint64_t ends)
{
    uint8_t report[REPORT_SIZE];
    struct sotto_error err = {0};
    fake_report(mechanism[which], salt, report);
    if (queue_put(queue, to, report, REPORT_SIZE, ends, &err) !=
        SOTTO_STATUS_OK) {
        fail_msg("put: %s", err.message);
    }
}

static void
put(struct queue *queue, const char *to, unsigned which, unsigned salt)
{
    put_until(queue, to, which, salt, 0);
}

static struct queue_batch
next(struct queue *queue, const char *to, uint64_t now, size_t most)
{
    struct queue_batch batch = {0};
    struct sotto_error err = {0};
    if (queue_next(queue, to, now, most, &batch, &err) != SOTTO_STATUS_OK) {
        fail_msg("next: %s", err.message);
    }
    return batch;
}

static struct queue_count
count_at(struct queue *queue, const char *to, uint64_t now)
{
    struct queue_count count = {9, 9, 9};
    struct sotto_error err = {0};
    assert_int_equal(queue_count(queue, to, now, &count, &err),
                     SOTTO_STATUS_OK);
    return count;
}

static size_t
count_of(struct queue *queue, const char *to)
{
    return count_at(queue, to, NOW).waiting;
}

static unsigned
salt_of(const struct queue_batch *batch, size_t i)
{
    unsigned salt = 0;
    memcpy(&salt, batch->reports + i * batch->size + REPORT_HEADER_SIZE,
           sizeof salt);
    return salt;
}

static void
test_life(void **state)
{
    struct queue *queue = open_queue(in_folder("q"), false);
    struct sotto_error err = {0};
    const char *refusal[3] = {NULL, NULL, "hash"};
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        put(queue, TO, 0, i);
        put(queue, TO, 0, i); /* the same once more */
    }
    put(queue, ELSEWHERE, 0, 0);
    assert_int_equal(count_of(queue, TO), 5);
    assert_int_equal(count_of(queue, ELSEWHERE), 1);
    struct queue_batch batch = next(queue, TO, NOW, 3);
    assert_int_equal(batch.count, 3);
    assert_int_equal(batch.size, REPORT_SIZE);
    unsigned gone = salt_of(&batch, 0), marked = salt_of(&batch, 2);
    assert_int_equal(queue_settle(queue, &batch, refusal, &err),
                     SOTTO_STATUS_OK);
    queue_batch_clear(&batch);
    assert_int_equal(count_of(queue, TO), 2);
    put(queue, TO, 0, gone);   /* it arrived */
    put(queue, TO, 0, marked); /* it was refused */
    assert_int_equal(count_of(queue, TO), 2);
    put(queue, ELSEWHERE, 0, gone); /* there it did not */
    assert_int_equal(count_of(queue, ELSEWHERE), gone == 0 ? 1 : 2);
    queue_free(queue);
    queue = open_queue(in_folder("q"), false);
    batch = next(queue, TO, NOW, 100);
    assert_int_equal(batch.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(salt_of(&batch, i) != gone && salt_of(&batch, i) != marked);
    }
    queue_batch_clear(&batch);
    queue_free(queue);
    struct stat info;
    assert_int_equal(stat(in_folder("q"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(stat(in_folder("q.lock"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(entries(), 2);
}

/* Reports of two mechanisms never share a batch, and a batch has its bounds. */
static void
test_batches(void **state)
{
    struct queue *queue = open_queue(in_folder("q"), false);
    size_t seen[2] = {0, 0};
    struct sotto_error err = {0};
    static const char *const none[2] = {NULL, NULL};
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        put(queue, TO, i % 2, i);
    }
    for (;;) {
        struct queue_batch batch = next(queue, TO, NOW, 2);
        if (batch.count == 0) {
            break;
        }
        assert_true(batch.count <= 2);
        for (size_t i = 0; i < batch.count; i++) {
            assert_memory_equal(batch.reports + i * REPORT_SIZE, batch.reports,
                                REPORT_MAGIC_SIZE + SOTTO_HASH_SIZE);
        }
        seen[batch.reports[REPORT_MAGIC_SIZE] - 1] += batch.count;
        assert_int_equal(queue_settle(queue, &batch, none, &err),
                         SOTTO_STATUS_OK);
        queue_batch_clear(&batch);
    }
    assert_int_equal(seen[0], 5);
    assert_int_equal(seen[1], 5);
    queue_free(queue);
}

/* A batch of long reports stops at QUEUE_BODY_MOST, but has one at least. */
static void
test_long(void **state)
{
    size_t size = QUEUE_BODY_MOST / 3 + 1;
    uint8_t *report = calloc(2, QUEUE_BODY_MOST);
    struct queue *queue = open_queue(in_folder("q"), false);
    struct sotto_error err = {0};
    (void)state;
    assert_non_null(report);
    for (uint8_t i = 0; i < 4; i++) {
        report[REPORT_MAGIC_SIZE + SOTTO_HASH_SIZE] = i;
        assert_int_equal(queue_put(queue, TO, report, size, 0, &err),
                         SOTTO_STATUS_OK);
    }
    struct queue_batch batch = next(queue, TO, NOW, 100);
    assert_int_equal(batch.count, 2);
    queue_batch_clear(&batch);
    assert_int_equal(
        queue_put(queue, ELSEWHERE, report, 2 * QUEUE_BODY_MOST, 0, &err),
        SOTTO_STATUS_OK);
    batch = next(queue, ELSEWHERE, NOW, 100);
    assert_int_equal(batch.count, 1);
    queue_batch_clear(&batch);
    assert_int_equal(queue_put(queue, TO, report, REPORT_HEADER_SIZE, 0, &err),
                     SOTTO_STATUS_FORMAT);
    queue_free(queue);
    free(report);
}

/* The order of putting is neither in what comes out nor in the keys. Of 59
   neighbours about half are in order, with deviation sqrt(61/12): outside 10
   to 49 with probability below 10^-16. */
static void
test_order(void **state)
{
    struct queue *queue = open_queue(in_folder("q"), false);
    size_t place[MANY], ahead = 0;
    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        put(queue, TO, 0, i);
    }
    struct queue_batch batch = next(queue, TO, NOW, MANY);
    assert_int_equal(batch.count, MANY);
    for (size_t i = 0; i < MANY; i++) {
        place[salt_of(&batch, i)] = i;
        assert_true(i == 0 || batch.key[i] > batch.key[i - 1]);
    }
    for (size_t i = 1; i < MANY; i++) {
        ahead += place[i] > place[i - 1];
    }
    assert_in_range(ahead, 10, 49);
    queue_batch_clear(&batch);
    queue_free(queue);
}

/* What arrived is off the file, but for its tag: neither id nor payload. */
static void
test_forgotten(void **state)
{
    struct queue *queue = open_queue(in_folder("q"), false);
    uint8_t report[REPORT_SIZE];
    struct sotto_error err = {0};
    static const char *const none[1] = {NULL};
    size_t size = 0;
    (void)state;
    memset(report, 0xc3, sizeof report);
    assert_int_equal(queue_put(queue, TO, report, sizeof report, 0, &err),
                     SOTTO_STATUS_OK);
    struct queue_batch batch = next(queue, TO, NOW, 1);
    uint8_t *data = slurp(in_folder("q"), &size);
    assert_non_null(memmem(data, size, report, sizeof report));
    free(data);
    assert_int_equal(queue_settle(queue, &batch, none, &err), SOTTO_STATUS_OK);
    queue_batch_clear(&batch);
    queue_free(queue);
    data = slurp(in_folder("q"), &size);
    assert_null(memmem(data, size, report, 8));
    assert_null(memmem(data, size, "campaigns", 9)); /* nor where it went */
    free(data);
}

/* The second of two programs is told, and a look is not in the way. */
static void
test_two(void **state)
{
    struct queue *first = open_queue(in_folder("q"), false), *second = NULL;
    struct sotto_error err = {0};
    int ended = 0;
    (void)state;
    put(first, TO, 0, 1);
    pid_t child = fork();
    if (child == 0) {
        enum sotto_status status =
            queue_open(in_folder("q"), false, &second, &err);
        _exit(status == SOTTO_STATUS_IO &&
                      strstr(err.message, "another program is sending") != NULL
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    assert_int_equal(queue_open(in_folder("q"), false, &second, &err),
                     SOTTO_STATUS_IO);
    struct queue *look = open_queue(in_folder("q"), true);
    assert_int_equal(count_of(look, TO), 1);
    uint8_t report[REPORT_SIZE];
    fake_report(mechanism[0], 9, report);
    assert_int_equal(queue_put(look, TO, report, sizeof report, 0, &err),
                     SOTTO_STATUS_USAGE);
    struct queue_batch batch = next(look, TO, NOW, 1);
    static const char *const none[1] = {NULL};
    assert_int_equal(queue_settle(look, &batch, none, &err),
                     SOTTO_STATUS_USAGE);
    queue_batch_clear(&batch);
    queue_free(look);
    queue_free(first);
    queue_free(open_queue(in_folder("q"), false)); /* the lock is gone */
}

static void
test_memory(void **state)
{
    static const char *const none[1] = {NULL};
    (void)state;
    for (long n = 1;; n++) {
        struct queue *queue = NULL;
        struct queue_batch batch = {0};
        struct queue_count count = {0};
        struct sotto_error err = {0};
        uint8_t report[REPORT_SIZE];
        fake_report(mechanism[0], 1, report);
        (void)unlink(in_folder("q"));
        fail_alloc_at(n);
        enum sotto_status status =
            queue_open(in_folder("q"), false, &queue, &err);
        if (status == SOTTO_STATUS_OK) {
            status = queue_put(queue, TO, report, sizeof report, 0, &err);
        }
        if (status == SOTTO_STATUS_OK) {
            status = queue_next(queue, TO, NOW, 5, &batch, &err);
        }
        if (status == SOTTO_STATUS_OK) {
            status = queue_settle(queue, &batch, none, &err);
        }
        if (status == SOTTO_STATUS_OK) {
            status = queue_count(queue, TO, NOW, &count, &err);
        }
        if (status == SOTTO_STATUS_OK) {
            status = queue_drop(queue, TO, NOW, &err);
        }
        bool done = fail_alloc_count() < n;
        fail_alloc_at(0);
        queue_batch_clear(&batch);
        queue_free(queue);
        if (done) {
            assert_int_equal(status, SOTTO_STATUS_OK);
            break;
        }
        assert_true(status == SOTTO_STATUS_MEMORY || status == SOTTO_STATUS_IO);
    }
}

/* A child puts and settles until it is killed: then the queue opens, and each
   report waits or arrived, never both, never neither. */
static void
test_kill(void **state)
{
    const char *path = in_folder("q");
    (void)state;
    for (unsigned round = 0; round < 12; round++) {
        pid_t child = fork();
        if (child == 0) {
            struct queue *queue = open_queue(path, false);
            static const char *const none[4] = {NULL};
            for (unsigned i = 0;; i++) {
                put(queue, TO, 0, 1000 * round + i);
                if (i % 4 == 3) {
                    struct queue_batch batch = next(queue, TO, NOW, 2);
                    if (queue_settle(queue, &batch, none, NULL) !=
                        SOTTO_STATUS_OK) {
                        _exit(1);
                    }
                    queue_batch_clear(&batch);
                }
            }
        }
        const struct timespec pause = {0, (long)(3000000 * (round + 1))};
        (void)nanosleep(&pause, NULL);
        assert_int_equal(kill(child, SIGKILL), 0);
        int ended = 0;
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_true(WIFSIGNALED(ended));
        struct queue *queue = open_queue(path, false);
        size_t before = count_of(queue, TO);
        for (unsigned i = 0; i < before; i++) {
            put(queue, TO, 0, 1000 * round); /* whatever became of it */
        }
        assert_true(count_of(queue, TO) <= before + 1);
        queue_free(queue);
    }
}

/* ---- What the file tells ------------------------------------------------- */

/* Where bytes are in a file of at most 1 MiB. */
static size_t
find_in(const uint8_t *file, size_t size, const void *bytes, size_t length)
{
    for (size_t at = 0; at + length <= size; at++) {
        if (memcmp(file + at, bytes, length) == 0) {
            return at;
        }
    }
    fail_msg("a report is not in the file");
    return 0;
}

/* Reports should lie in a page in the order of their keys, from its end on: how
   many pairs do not? */
static size_t
count_out_of_order(const char *path)
{
    enum { PAGE = 4096, MOST = 200 };
    static uint8_t file[1 << 20];
    static size_t at[MOST];
    size_t rows = 0, wrong = 0;
    sqlite3 *db = NULL;
    sqlite3_stmt *select = NULL;
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    size_t size = fread(file, 1, sizeof file, in);
    (void)fclose(in);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT report FROM report ORDER BY key", -1,
                           &select, NULL),
        SQLITE_OK);
    for (; sqlite3_step(select) == SQLITE_ROW && rows < MOST; rows++) {
        at[rows] = find_in(file, size, sqlite3_column_blob(select, 0),
                           (size_t)sqlite3_column_bytes(select, 0));
        for (size_t i = 0; i < rows; i++) {
            wrong += at[i] / PAGE == at[rows] / PAGE && at[i] < at[rows];
        }
    }
    (void)sqlite3_finalize(select);
    (void)sqlite3_close(db);
    assert_true(rows > 1);
    return wrong;
}

/* Neither in one run nor in several: not even which run was first. */
static void
test_no_order_in_file(void **state)
{
    const char *path = in_folder("order");
    struct sotto_error err = {0};
    struct queue *queue = open_queue(path, false);
    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        put(queue, TO, 0, i);
    }
    assert_true(count_out_of_order(path) > MANY);
    for (unsigned run = 0; run < 3; run++) {
        assert_int_equal(queue_begin(queue, &err), SOTTO_STATUS_OK);
        for (unsigned i = 0; i < MANY / 3; i++) {
            put(queue, TO, 0, MANY + run * MANY / 3 + i);
        }
        assert_int_equal(queue_commit(queue, &err), SOTTO_STATUS_OK);
        assert_int_equal(count_out_of_order(path), 0);
        queue_free(queue);
        queue = open_queue(path, false);
    }
    assert_int_equal(count_of(queue, TO), 2 * MANY);
    queue_free(queue);
}

/* What was begun is there when it is committed, and not before. */
static void
test_begin(void **state)
{
    const char *path = in_folder("begun");
    struct sotto_error err = {0};
    struct queue *queue = open_queue(path, false);
    (void)state;
    assert_int_equal(queue_commit(queue, &err), SOTTO_STATUS_OK);
    assert_int_equal(queue_begin(queue, &err), SOTTO_STATUS_OK);
    assert_int_equal(queue_begin(queue, &err), SOTTO_STATUS_USAGE);
    put(queue, TO, 0, 1);
    static uint8_t big[1 << 20]; /* more of it than a cache keeps by itself */
    for (unsigned i = 0; i < 4; i++) {
        fake_report(mechanism[0], 100 + i, big);
        assert_int_equal(queue_put(queue, TO, big, sizeof big, 0, &err),
                         SOTTO_STATUS_OK);
    }
    struct queue *look = open_queue(path, true);
    assert_int_equal(count_of(look, TO), 0);
    assert_int_equal(queue_begin(look, &err), SOTTO_STATUS_USAGE);
    queue_free(queue);
    assert_int_equal(count_of(look, TO), 0);
    queue = open_queue(path, false);
    assert_int_equal(queue_begin(queue, &err), SOTTO_STATUS_OK);
    put(queue, TO, 0, 1);
    put(queue, TO, 0, 1);
    put(queue, TO, 1, 2);
    assert_int_equal(queue_commit(queue, &err), SOTTO_STATUS_OK);
    assert_int_equal(count_of(look, TO), 2);
    queue_free(look);
    queue_free(queue);
}

/* A queue is one ledger's, once it has been one's; a look compares. */
static void
test_bound(void **state)
{
    const uint8_t mine[32] = {1}, yours[32] = {2};
    struct sotto_error err = {0};
    uint64_t mark = 9;
    (void)state;
    struct queue *queue = open_queue(in_folder("none"), true);
    assert_int_equal(queue_bind(queue, mine, 32, &mark, &err), SOTTO_STATUS_OK);
    queue_free(queue);
    queue = open_queue(in_folder("q"), false);
    queue_free(queue);
    queue = open_queue(in_folder("q"), true);
    assert_int_equal(queue_bind(queue, yours, 32, &mark, &err),
                     SOTTO_STATUS_OK);
    queue_free(queue);
    for (int look = 0; look < 2; look++) {
        queue = open_queue(in_folder("q"), look == 1);
        assert_int_equal(queue_bind(queue, mine, 32, &mark, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(queue_bind(queue, yours, 32, &mark, &err),
                         SOTTO_STATUS_REFUSED);
        expect_in(err.message, "another ledger");
        queue_free(queue);
    }
}

/* The mark only rises, with what is begun or at once; a look sees none. */
static void
test_mark(void **state)
{
    const uint8_t mine[32] = {1};
    struct sotto_error err = {0};
    uint64_t mark = 9;
    (void)state;
    struct queue *queue = open_queue(in_folder("q"), false);
    assert_int_equal(queue_bind(queue, mine, 32, &mark, &err), SOTTO_STATUS_OK);
    assert_int_equal(mark, 0);
    assert_int_equal(queue_mark(queue, 7, &err), SOTTO_STATUS_OK);
    assert_int_equal(queue_mark(queue, 5, &err), SOTTO_STATUS_OK);
    assert_int_equal(queue_begin(queue, &err), SOTTO_STATUS_OK);
    assert_int_equal(queue_mark(queue, 8, &err), SOTTO_STATUS_OK);
    queue_free(queue); /* not committed */
    queue = open_queue(in_folder("q"), false);
    assert_int_equal(queue_bind(queue, mine, 32, &mark, &err), SOTTO_STATUS_OK);
    assert_int_equal(mark, 7);
    queue_free(queue);
    queue = open_queue(in_folder("q"), true);
    assert_int_equal(queue_bind(queue, mine, 32, &mark, &err), SOTTO_STATUS_OK);
    assert_int_equal(mark, 0);
    assert_int_equal(queue_mark(queue, 8, &err), SOTTO_STATUS_USAGE);
    queue_free(queue);
}

/* What was refused is counted, and waits again when asked for. */
static void
test_retry(void **state)
{
    struct sotto_error err = {0};
    const char *refusal[] = {"hash", NULL};
    (void)state;
    struct queue *queue = open_queue(in_folder("q"), false);
    put(queue, TO, 0, 1);
    put(queue, TO, 0, 2);
    put(queue, ELSEWHERE, 0, 1);
    struct queue_batch batch = next(queue, TO, NOW, 2);
    unsigned refused = salt_of(&batch, 0);
    assert_int_equal(queue_settle(queue, &batch, refusal, &err),
                     SOTTO_STATUS_OK);
    queue_batch_clear(&batch);
    assert_int_equal(count_of(queue, TO), 0);
    assert_int_equal(count_at(queue, TO, NOW).refused, 1);
    assert_int_equal(queue_retry(queue, ELSEWHERE, &err), SOTTO_STATUS_OK);
    assert_int_equal(count_of(queue, TO), 0);
    assert_int_equal(queue_retry(queue, TO, &err), SOTTO_STATUS_OK);
    batch = next(queue, TO, NOW, 2);
    assert_int_equal(batch.count, 1);
    assert_int_equal(salt_of(&batch, 0), refused);
    queue_batch_clear(&batch);
    assert_int_equal(count_at(queue, TO, NOW).refused, 0);
    queue_free(queue);
    queue = open_queue(in_folder("q"), true);
    assert_int_equal(queue_retry(queue, TO, &err), SOTTO_STATUS_USAGE);
    queue_free(queue);
}

/* From the second of its end on a report is neither given nor counted as one
   that waits or was refused; it stays until it is dropped. */
static void
test_end(void **state)
{
    struct sotto_error err = {0};
    const char *refusal[] = {"hash"};
    (void)state;
    struct queue *queue = open_queue(in_folder("q"), false);
    for (unsigned i = 0; i < 4; i++) {
        put_until(queue, TO, 0, i, NOW);
    }
    struct queue_batch batch = next(queue, TO, NOW - 1, 1);
    assert_int_equal(batch.ends, NOW);
    assert_int_equal(queue_settle(queue, &batch, refusal, &err),
                     SOTTO_STATUS_OK);
    queue_batch_clear(&batch);
    put_until(queue, TO, 1, 9, 0);
    put_until(queue, ELSEWHERE, 0, 0, NOW);
    struct queue_count count = count_at(queue, TO, NOW - 1);
    assert_int_equal(count.waiting, 4);
    assert_int_equal(count.refused, 1);
    assert_int_equal(count.ended, 0);
    queue_free(queue);
    for (int look = 1; look >= 0; look--) {
        queue = open_queue(in_folder("q"), look == 1);
        count = count_at(queue, TO, NOW);
        assert_int_equal(count.waiting, 1);
        assert_int_equal(count.refused, 0);
        assert_int_equal(count.ended, 4);
        batch = next(queue, TO, NOW, 100);
        assert_int_equal(batch.count, 1);
        assert_int_equal(batch.ends, 0);
        assert_int_equal(salt_of(&batch, 0), 9);
        queue_batch_clear(&batch);
        assert_int_equal(queue_drop(queue, TO, NOW, &err),
                         look ? SOTTO_STATUS_USAGE : SOTTO_STATUS_OK);
        queue_free(queue);
    }
    queue = open_queue(in_folder("q"), true);
    assert_int_equal(count_at(queue, TO, 0).waiting, 1);
    assert_int_equal(count_at(queue, ELSEWHERE, 0).waiting, 1);
    queue_free(queue);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bound, setup_queue, teardown),
        cmocka_unit_test_setup_teardown(test_mark, setup_queue, teardown),
        cmocka_unit_test_setup_teardown(test_retry, setup_queue, teardown),
        cmocka_unit_test_setup_teardown(test_end, setup_queue, teardown),
        cmocka_unit_test_setup_teardown(test_life, setup_queue, teardown),
        cmocka_unit_test_setup_teardown(test_batches, setup_queue, teardown),
        cmocka_unit_test_setup_teardown(test_long, setup_queue, teardown),
        cmocka_unit_test_setup_teardown(test_order, setup_queue, teardown),
        cmocka_unit_test_setup_teardown(test_forgotten, setup_queue, teardown),
        cmocka_unit_test_setup_teardown(test_no_order_in_file, setup_queue,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_begin, setup_queue, teardown),
        cmocka_unit_test_setup_teardown(test_two, setup_queue, teardown),
        cmocka_unit_test_setup_teardown(test_memory, setup_queue, teardown),
        cmocka_unit_test_setup_teardown(test_kill, setup_queue, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
