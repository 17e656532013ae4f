/*
 * test_store_suite.c: what every back-end promises (store/store.h), asked of
 * each through the interface alone.
 */
#include "postgres_server.h"

#include <math.h>

#include "../fail_alloc.h"

static char url[600];
static bool on_server; /* PostgreSQL is asked, and not SQLite */

/* Names a store that is not there yet. */
static void
new_url(void)
{
    static unsigned number;
    char name[32];
    if (on_server) {
        server_new_url(url, sizeof url);
    } else {
        (void)snprintf(name, sizeof name, "store%u", number++);
        (void)snprintf(url, sizeof url, "sqlite:%s", in_folder(name));
    }
}

static void
expect_counts(struct store *store, uint32_t campaign, uint64_t waiting,
              uint64_t released, uint64_t batches)
{
    struct store_counts counts = counts_of(store, campaign);
    assert_int_equal(counts.waiting, waiting);
    assert_int_equal(counts.released, released);
    assert_int_equal(counts.batches, batches);
}

static void
test_answers(void **state)
{
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1), other = campaign_of(store, 2);
    assert_int_equal(campaign_of(store, 1), c);
    assert_int_not_equal(other, c);
    MUST(store_begin(store, &said));
    assert_int_equal(put(store, c, 1, 0), STORE_ACCEPTED);
    assert_int_equal(put(store, c, 1, 0), STORE_DUPLICATE); /* same commit */
    MUST(store_commit(store, &said));
    assert_int_equal(put_many(store, c, 0, 50), 49);
    assert_int_equal(put_many(store, c, 0, 50), 0); /* in the window */
    /* of another mechanism it is another report */
    MUST(store_begin(store, &said));
    assert_int_equal(put(store, other, 2, 0), STORE_ACCEPTED);
    MUST(store_commit(store, &said));
    move_window(store, ALL, 60);
    assert_int_equal(put_many(store, c, 0, 50), 0); /* behind the window */
    store_free(store);
    store = open_store(url);
    assert_int_equal(campaign_of(store, 1), c);
    assert_int_equal(put_many(store, c, 0, 50), 0); /* after reopening */
    assert_int_equal(put_many(store, c, 0, 100), 50);
    move_window(store, ALL, 60);
    expect_counts(store, c, 0, 100, 1);
    assert_int_equal(put_many(store, c, 0, 100), 0); /* after the release */
    scrub(store);
    store_free(store);
    store = open_store(url);
    assert_int_equal(put_many(store, c, 0, 100), 0);
    expect_counts(store, c, 0, 100, 1);
    store_free(store);
}

/* What came again has other bytes: the first one counts. */
static void
test_first_counts(void **state)
{
    uint8_t report[REPORT_SIZE], other[REPORT_SIZE];
    enum store_answer answer = STORE_ACCEPTED;
    uint64_t order[2] = {0};
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    (void)put_many(store, c, 0, 2);
    fake_report(1, 0, false, report);
    fake_report(1, 7, false, other);
    memcpy(report + REPORT_HEADER_SIZE, other + REPORT_HEADER_SIZE,
           PAYLOAD_SIZE);
    MUST(store_begin(store, &said));
    MUST(store_put(store, c, report, &answer, &said));
    MUST(store_commit(store, &said));
    assert_int_equal(answer, STORE_DUPLICATE);
    move_window(store, ALL, 2);
    assert_int_equal(read_all(url, 1, 2, 2, NULL, order), 2);
    store_free(store);
}

/* At every size of slices, over windows, with reports coming in between. */
static void
test_moves(void **state)
{
    static const size_t rows[] = {1, 7, 64, 1000};
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        unsigned times[2000] = {0};
        uint64_t at = 0, moved = 0;
        new_url();
        struct store *store = open_store(url);
        uint32_t c = campaign_of(store, 1);
        for (unsigned window = 0; window < 4; window++) {
            bool done = false;
            at += put_many(store, c, at, at + 20 + 30 * window);
            MUST(store_begin(store, &said));
            MUST(store_end_window(store, &said));
            moved = at;
            at += put(store, c, 1, at) == STORE_ACCEPTED; /* of the next */
            MUST(store_commit(store, &said));
            while (!done) {
                MUST(store_begin(store, &said));
                at += put(store, c, 1, at) == STORE_ACCEPTED;
                assert_int_equal(put(store, c, 1, mix(at) % at),
                                 STORE_DUPLICATE);
                MUST(store_advance(store, rows[r], 40, &done, &said));
                MUST(store_end_window(store, &said)); /* nothing, till it is */
                MUST(store_commit(store, &said));
                if (mix(at) % 8 == 0) {
                    store_free(store);
                    store = open_store(url);
                }
            }
            MUST(store_begin(store, &said));
            MUST(store_advance(store, ALL, 40, &done, &said));
            MUST(store_commit(store, &said));
        }
        struct store_counts n = counts_of(store, c);
        assert_int_equal(n.waiting + n.released, at);
        assert_true(n.released >= moved);
        move_window(store, rows[r], 2);
        scrub(store);
        assert_int_equal(read_all(url, 1, 2, at, times, NULL), at);
        for (uint64_t i = 0; i < at; i++) {
            assert_int_equal(times[i], 1);
        }
        store_free(store);
    }
}

/* Of the window that is open nothing is counted as held, also while the last
   one is being moved. */
static void
test_held(void **state)
{
    bool done = false;
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    put_many(store, c, 0, 7);
    assert_int_equal(counts_of(store, c).held, 0);
    assert_int_equal(counts_of(store, c).waiting, 7);
    MUST(store_begin(store, &said));
    MUST(store_end_window(store, &said));
    MUST(store_commit(store, &said));
    put_many(store, c, 7, 9);
    assert_int_equal(counts_of(store, c).held, 7);
    assert_int_equal(counts_of(store, c).waiting, 9);
    while (!done) {
        MUST(store_begin(store, &said));
        MUST(store_advance(store, 3, 100, &done, &said));
        MUST(store_commit(store, &said));
        assert_int_equal(counts_of(store, c).held, 7);
    }
    move_window(store, ALL, 9);
    expect_counts(store, c, 0, 9, 1);
    assert_int_equal(counts_of(store, c).held, 0);
    store_free(store);
}

static void
test_batch_min(void **state)
{
    bool done = false;
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1), other = campaign_of(store, 2);
    for (uint64_t i = 0; i < 9; i++) { /* nine windows of one report */
        assert_int_equal(put_many(store, c, i, i + 1), 1);
        move_window(store, ALL, 10);
        expect_counts(store, c, i + 1, 0, 0);
        assert_int_equal(read_all(url, 1, 10, 10, NULL, NULL), 0);
    }
    MUST(store_begin(store, &said));
    for (uint64_t i = 0; i < 5; i++) {
        (void)put(store, other, 2, i);
    }
    MUST(store_commit(store, &said));
    (void)put_many(store, c, 9, 10);
    move_window(store, ALL, 10);
    expect_counts(store, c, 0, 10, 1);
    expect_counts(store, other, 5, 0, 0);
    assert_int_equal(read_all(url, 1, 10, 10, NULL, NULL), 10);
    assert_int_equal(read_all(url, 2, 10, 10, NULL, NULL), 0);
    move_window(store, ALL, 5); /* fewer are enough now */
    expect_counts(store, other, 0, 5, 1);
    assert_int_equal(read_all(url, 2, 5, 10, NULL, NULL), 5);
    MUST(store_begin(store, &said));
    assert_int_equal(store_advance(store, 1, 1, &done, &said),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(
        store_advance(store, 1, STORE_WINDOW_MOST + 1, &done, &said),
        SOTTO_STATUS_USAGE);
    store_rollback(store);
    store_free(store);
}

/* A window that takes no more ends by itself, and no batch is larger. */
static void
test_full_window(void **state)
{
    uint64_t number = 0;
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    (void)put_many(store, c, 0, STORE_WINDOW_MOST);
    (void)put_many(store, c, STORE_WINDOW_MOST, STORE_WINDOW_MOST + 2);
    bool done = true;
    MUST(store_begin(store, &said));
    MUST(store_advance(store, 1, 1000, &done, &said));
    MUST(store_commit(store, &said));
    assert_false(done);
    while (!done) {
        MUST(store_begin(store, &said));
        MUST(store_advance(store, 50000, 1000, &done, &said));
        MUST(store_commit(store, &said));
    }
    expect_counts(store, c, 2, STORE_WINDOW_MOST, 1);
    /* without moving it takes twice as many, and then says so */
    number = (uint64_t)3 * STORE_WINDOW_MOST;
    (void)put_many(store, c, STORE_WINDOW_MOST + 2, number);
    (void)put_many(store, c, number, number + STORE_WINDOW_MOST);
    uint8_t report[REPORT_SIZE];
    enum store_answer answer = STORE_ACCEPTED;
    fake_report(1, UINT32_MAX, false, report);
    MUST(store_begin(store, &said));
    assert_int_equal(store_put(store, c, report, &answer, &said),
                     SOTTO_STATUS_IO);
    store_rollback(store);
    move_window(store, ALL, 1000);
    assert_int_equal(put_many(store, c, UINT32_MAX, UINT32_MAX + 1ul), 1);
    move_window(store, ALL, 1000);
    expect_counts(store, c, 1, number + STORE_WINDOW_MOST, 4);
    store_free(store);
}

static void
test_rollback(void **state)
{
    bool done = false;
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    (void)put_many(store, c, 0, 20);
    MUST(store_begin(store, &said));
    assert_int_equal(put(store, c, 1, 20), STORE_ACCEPTED);
    store_rollback(store);
    expect_counts(store, c, 20, 0, 0);
    assert_int_equal(put_many(store, c, 20, 21), 1);
    for (size_t rows = 1; rows < 30; rows += 7) { /* undone at any point */
        MUST(store_begin(store, &said));
        MUST(store_end_window(store, &said));
        MUST(store_advance(store, rows, 10, &done, &said));
        MUST(store_advance(store, rows, 10, &done, &said));
        store_rollback(store);
        expect_counts(store, c, 21, 0, 0);
    }
    MUST(store_begin(store, &said));
    (void)put(store, c, 1, 30);
    store_free(store); /* rolls back */
    store = open_store(url);
    expect_counts(store, c, 21, 0, 0);
    store_rollback(store); /* of nothing */
    move_window(store, 3, 10);
    expect_counts(store, c, 0, 21, 1);
    store_free(store);
}

/* Calls that come when they should not harm nothing. */
static void
test_misuse(void **state)
{
    uint8_t report[REPORT_SIZE];
    enum store_answer answer = STORE_ACCEPTED;
    struct store_counts counts;
    uint32_t number = 0;
    bool flag = false;
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    fake_report(1, 0, false, report);
    assert_int_equal(store_put(store, c, report, &answer, &said),
                     SOTTO_STATUS_USAGE);
    store_rollback(store);
    assert_int_equal(store_commit(store, &said), SOTTO_STATUS_USAGE);
    assert_int_equal(store_end_window(store, &said), SOTTO_STATUS_USAGE);
    store_rollback(store);
    MUST(store_begin(store, &said));
    assert_int_equal(store_begin(store, &said), SOTTO_STATUS_USAGE);
    assert_int_equal(store_scrub(store, &flag, &said), SOTTO_STATUS_USAGE);
    assert_int_equal(store_campaign(store, hash_of(9), "n", 5, &number, &said),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(store_put(store, c + 1, report, &answer, &said),
                     SOTTO_STATUS_FORMAT);
    assert_int_equal(store_commit(store, &said), SOTTO_STATUS_USAGE);
    MUST(store_begin(store, &said));
    fake_report(2, 0, false, report);
    assert_int_equal(store_put(store, c, report, &answer, &said),
                     SOTTO_STATUS_FORMAT);
    store_rollback(store);
    MUST(store_begin(store, &said));
    fake_report(1, 0, true, report);
    assert_int_equal(store_put(store, c, report, &answer, &said),
                     SOTTO_STATUS_FORMAT);
    store_rollback(store);
    assert_int_equal(store_campaign(store, hash_of(1), "n", 5, &number, &said),
                     SOTTO_STATUS_FORMAT);
    assert_int_equal(store_count(store, 9, &counts, &said), SOTTO_STATUS_USAGE);
    assert_int_equal(put_many(store, c, 0, 1), 1);
    store_free(store);
    store_free(NULL);
    store_reader_free(NULL);
}

static void
test_urls(void **state)
{
    static const char *const bad[] = {
        "", "x", "/tmp/x", "sqlite:", "sqlite", "postgres:", ":", "sqlitex:y"};
    struct store *store = NULL;
    struct store_reader *reader = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(store_open(bad[i], false, &store, &said),
                         SOTTO_STATUS_USAGE);
        assert_non_null(strstr(said.message, "sqlite:PATH"));
        assert_int_equal(store_reader_open(bad[i], &reader, NULL, &said),
                         SOTTO_STATUS_USAGE);
    }
    new_url();
    assert_int_equal(store_reader_open(url, &reader, NULL, &said),
                     SOTTO_STATUS_IO);
    assert_null(store);
    assert_null(reader);
}

static void
test_one_writer(void **state)
{
    struct store *second = NULL;
    (void)state;
    new_url();
    struct store *store = open_store(url);
    assert_int_equal(try_store(url, false, &second), SOTTO_STATUS_IO);
    assert_non_null(strstr(said.message, "writer"));
    assert_null(second);
    store_free(store);
    store = open_store(url);
    store_free(store);
}

static void
test_simulation(void **state)
{
    struct store *store = NULL, *other = NULL;
    struct store_reader *reader = NULL;
    struct store_batch batch = {0};
    uint8_t report[REPORT_SIZE];
    enum store_answer answer = STORE_DUPLICATE;
    bool simulation = false;
    (void)state;
    new_url();
    MUST(try_store(url, true, &store));
    uint32_t c = campaign_of(store, 1);
    MUST(store_begin(store, &said));
    for (uint64_t i = 0; i < 3; i++) {
        fake_report(1, i, true, report);
        MUST(store_put(store, c, report, &answer, &said));
    }
    MUST(store_commit(store, &said));
    move_window(store, ALL, 3);
    store_free(store);
    assert_int_equal(try_store(url, false, &other), SOTTO_STATUS_REFUSED);
    assert_non_null(strstr(said.message, "simulated"));
    MUST(store_reader_open(url, &reader, &simulation, &said));
    assert_true(simulation);
    MUST(store_reader_next(reader, hash_of(1), 0, &batch, &said));
    assert_int_equal(batch.count, 3);
    assert_true(report_simulated(batch.reports));
    free(batch.reports);
    MUST(store_reader_next(reader, hash_of(1), UINT64_MAX, &batch, &said));
    assert_int_equal(batch.number, 0);
    MUST(store_reader_next(reader, hash_of(5), 0, &batch, &said));
    assert_int_equal(batch.number, 0);
    store_reader_free(reader);
    new_url();
    store = open_store(url);
    store_free(store);
    assert_int_equal(try_store(url, true, &other), SOTTO_STATUS_REFUSED);
    assert_null(other);
}

/* A reader sees whole batches and no others, between all commits. */
static void
test_reading(void **state)
{
    struct store_reader *reader = NULL;
    struct store_batch batch = {0};
    size_t seen = 0;
    uint64_t after = 0;
    bool clean = false;
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    MUST(store_reader_open(url, &reader, NULL, &said));
    for (uint64_t i = 0; i < 40; i++) {
        bool done = false;
        (void)put_many(store, c, 10 * i, 10 * i + 10);
        MUST(store_begin(store, &said));
        MUST(store_end_window(store, &said));
        while (!done) {
            MUST(store_advance(store, 4, 25, &done, &said));
            MUST(store_reader_next(reader, hash_of(1), after, &batch, &said));
            assert_int_equal(batch.number, 0); /* it is not committed */
        }
        MUST(store_commit(store, &said));
        MUST(store_reader_next(reader, hash_of(1), after, &batch, &said));
        if (batch.number != 0) {
            assert_int_equal(batch.number, ++after);
            assert_int_equal(batch.count, 30);
            seen += batch.count;
            free(batch.reports);
        }
        MUST(store_scrub(store, &clean, &said)); /* no reader is in the way */
        assert_true(clean);
    }
    struct store_counts counts = counts_of(store, c);
    assert_int_equal(seen, counts.released);
    assert_int_equal(seen, 390);
    store_reader_free(reader);
    store_free(store);
}

/* ---- The order of release ------------------------------------------------ */

#define SHUFFLED 4000u

/* Spearman's rank correlation of a permutation with the order of its places:
   normal with variance 1/(n - 1) if it is random. */
static double
correlation(const uint64_t *order, size_t n)
{
    double sum = 0, mean = ((double)n - 1) / 2;
    for (size_t i = 0; i < n; i++) {
        sum += ((double)i - mean) * ((double)order[i] - mean);
    }
    return sum * 12 / ((double)n * ((double)n * (double)n - 1));
}

/* Twenty shuffles; |z| > 5 has probability below 10^-6 each. */
static void
test_order(void **state)
{
    static uint64_t order[SHUFFLED];
    double squares = 0;
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        new_url();
        struct store *store = open_store(url);
        uint32_t c = campaign_of(store, 1);
        (void)put_many(store, c, 0, SHUFFLED / 2);
        (void)put_many(store, c, SHUFFLED / 2, SHUFFLED);
        move_window(store, ALL, 2);
        assert_int_equal(read_all(url, 1, 2, SHUFFLED, NULL, order), SHUFFLED);
        double z = correlation(order, SHUFFLED) * sqrt(SHUFFLED - 1.0);
        assert_true(fabs(z) < 5);
        squares += z * z;
        size_t follow = 0; /* neighbours that came one after the other: 2 */
        for (size_t i = 1; i < SHUFFLED; i++) {
            follow +=
                order[i] == order[i - 1] + 1 || order[i] + 1 == order[i - 1];
        }
        assert_true(follow < 20);
        store_free(store);
    }
    /* chi-square of 20: above 60 or below 3 with probability below 10^-5 */
    assert_true(squares < 60 && squares > 3);
}

/* Released ids are new: none is the device's, none comes twice. */
static void
test_keys(void **state)
{
    struct store_reader *reader = NULL;
    struct store_batch batch = {0};
    uint8_t report[REPORT_SIZE];
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    (void)put_many(store, c, 0, 100);
    move_window(store, ALL, 2);
    MUST(store_reader_open(url, &reader, NULL, &said));
    MUST(store_reader_next(reader, hash_of(1), 0, &batch, &said));
    for (size_t i = 0; i < batch.count; i++) {
        const uint8_t *id = sotto_report_id(batch.reports + i * REPORT_SIZE);
        for (uint64_t j = 0; j < 100; j++) {
            fake_report(1, j, false, report);
            assert_memory_not_equal(id, sotto_report_id(report), SOTTO_ID_SIZE);
        }
        for (size_t j = 0; j < i; j++) {
            assert_memory_not_equal(
                id, sotto_report_id(batch.reports + j * REPORT_SIZE),
                SOTTO_ID_SIZE);
        }
    }
    free(batch.reports);
    store_reader_free(reader);
    store_free(store);
}

/* ---- Memory -------------------------------------------------------------- */

/* Every allocation of ours fails once: MEMORY, nothing lost, and the next try
   goes on. SQLite's own are failed by its back-end's test; libpq's are not. */
static void
test_memory(void **state)
{
    unsigned times[40] = {0};
    const char *full = getenv("SOTTO_FULL");
    /* A schema with its tables takes a server longer than a file: every fourth,
       unless there is time. */
    long step = on_server && (full == NULL || strcmp(full, "1") != 0) ? 4 : 1;
    (void)state;
    for (long n = 1;; n += step) {
        new_url();
        fail_alloc_at(n);
        enum sotto_status status = live(url, 0, &said);
        fail_alloc_at(0);
        if (status == SOTTO_STATUS_OK) {
            assert_true(n > 10);
            break;
        }
        assert_int_equal(status, SOTTO_STATUS_MEMORY);
        MUST(live(url, 0, &said));
        memset(times, 0, sizeof times);
        assert_int_equal(read_all(url, 1, 30, 40, times, NULL), 40);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),    cmocka_unit_test(test_first_counts),
        cmocka_unit_test(test_moves),      cmocka_unit_test(test_batch_min),
        cmocka_unit_test(test_held),       cmocka_unit_test(test_full_window),
        cmocka_unit_test(test_rollback),   cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_urls),       cmocka_unit_test(test_one_writer),
        cmocka_unit_test(test_simulation), cmocka_unit_test(test_reading),
        cmocka_unit_test(test_order),      cmocka_unit_test(test_keys),
        cmocka_unit_test(test_memory),
    };
    int failed = cmocka_run_group_tests_name("SQLite", tests, setup, teardown);
    if (failed != 0 || !server_find()) {
        return failed != 0 ? failed : SKIPPED;
    }
    on_server = true;
    return cmocka_run_group_tests_name("PostgreSQL", tests, server_set_up,
                                       server_tear_down);
}
