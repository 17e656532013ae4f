/*
 * test_postgres_store.c: what the PostgreSQL back-end promises beyond the
 * suite: what a server's folder holds, byte by byte; several collectors; and
 * that the server, or a writer, may be killed at any moment.
 */
#include "postgres_bytes.h"

#include "store/window_keys.h"

#define NUMBERS 200000u /* of reports, where writers are killed */

/* ---- Bytes --------------------------------------------------------------- */

/* The server's files, its log among them: while a window is open they hold
   neither payloads nor tags; when it was moved, tags in no order, and payloads
   only once they are a batch; never an id. */
static void
test_bytes(void **state)
{
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    for (uint64_t i = 0; i < REPORTS; i += 10) {
        (void)put_many(store, c, i, i + 10);
    }
    assert_int_equal(search(payload_needles(), REPORTS), 0);
    assert_int_equal(search(tag_needles(schema()), REPORTS), 0);
    move_window(store, 100, 2 * REPORTS); /* too few: they are held */
    scrub(store);
    assert_int_equal(search(payload_needles(), REPORTS), 0);
    struct needle *tag = tag_needles(schema());
    assert_int_equal(search(tag, REPORTS), REPORTS);
    double z = follows(tag, REPORTS);
    print_message("tags     z = %5.2f\n", z);
    assert_true(fabs(z) < 5);
    move_window(store, 100, REPORTS);
    scrub(store);
    struct needle *payload = payload_needles();
    size_t found = search(payload, REPORTS);
    assert_true(found + REPORTS / 50 > REPORTS); /* some lie on two pages */
    qsort(payload, REPORTS, sizeof *payload, compare_places);
    size_t lost = REPORTS - found; /* at 0: they sort first */
    z = follows(payload + lost, found);
    print_message("payloads z = %5.2f of %zu\n", z, found);
    assert_true(fabs(z) < 5);
    assert_int_equal(search(id_needles(), REPORTS), 0);
    store_free(store);
}

/* No transaction has brought both tags and payloads, whatever the slices. */
static void
test_transactions(void **state)
{
    bool done = false;
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    for (uint64_t window = 0; window < 6; window++) {
        (void)put_many(store, c, 50 * window, 50 * window + 50);
        MUST(store_begin(store, &said));
        MUST(store_end_window(store, &said));
        for (done = false; !done;) {
            MUST(store_advance(store, window < 3 ? ALL : 7, 60, &done, &said));
            if (window % 2 == 0 && !done) {
                MUST(store_commit(store, &said));
                MUST(store_begin(store, &said));
            }
        }
        MUST(store_commit(store, &said));
        assert_int_equal(
            ask_schema("SELECT count(*) FROM seen WHERE xmin::text IN "
                       "(SELECT xmin::text FROM part UNION "
                       "SELECT xmin::text FROM held)"),
            0);
    }
    assert_int_equal(counts_of(store, c).released, 300);
    /* what is held is rewritten under another key each time, and only that of
       the window is left */
    (void)put_many(store, c, 400, 410);
    move_window(store, ALL, 60);
    scrub(store);
    long first = ask_schema("SELECT min(key) FROM held");
    (void)put_many(store, c, 410, 420);
    move_window(store, ALL, 60);
    assert_int_not_equal(ask_schema("SELECT max(key) FROM held"), first);
    scrub(store);
    char command[300];
    (void)snprintf(command, sizeof command,
                   "test $(ls '%s' | grep -c key$) = 2", window_keys);
    assert_int_equal(system(command), 0);
    store_free(store);
}

/* A campaign that cannot be moved fails once; then what came of it is held, and
   the others go on. */
static void
test_set_aside(void **state)
{
    static uint8_t report[REPORT_HEADER_SIZE + 4096];
    enum store_answer answer = STORE_ACCEPTED;
    uint32_t large = 0;
    bool done = false;
    (void)state;
    new_url();
    struct store *store = open_store(url);
    MUST(store_campaign(store, hash_of(3), "large", 4096, &large, &said));
    uint32_t c = campaign_of(store, 1);
    for (uint64_t i = 0; i < 30; i += 10) {
        MUST(store_begin(store, &said));
        for (uint64_t j = i; j < i + 10; j++) {
            fake_report(3, j, false, report);
            MUST(store_put(store, large, report, &answer, &said));
        }
        MUST(store_commit(store, &said));
    }
    (void)put_many(store, c, 0, 50);
    MUST(store_begin(store, &said));
    MUST(store_end_window(store, &said));
    MUST(store_advance(store, ALL, STORE_WINDOW_MOST, &done, &said));
    /* held back, so many of them would be too much */
    assert_int_equal(store_commit(store, &said), SOTTO_STATUS_USAGE);
    for (done = false; !done;) {
        MUST(store_begin(store, &said));
        MUST(store_advance(store, ALL, STORE_WINDOW_MOST, &done, &said));
        MUST(store_commit(store, &said));
    }
    assert_int_equal(ask_schema("SELECT count(*) FROM incoming"), 0);
    assert_int_equal(ask_schema("SELECT count(*) FROM held"), 4);
    assert_int_equal(counts_of(store, large).waiting, 30);
    scrub(store);
    store_free(store);
    store = open_store(url);
    move_window(store, ALL, 2);
    assert_int_equal(counts_of(store, large).released, 30);
    assert_int_equal(counts_of(store, c).released, 50);
    store_free(store);
}

/* ---- Several collectors -------------------------------------------------- */

static struct store *
open_with(const char *keys)
{
    struct store *store = NULL;
    MUST(store_open_with_keys(url, in_folder(keys), false, &store, &said));
    return store;
}

static void
test_two_collectors(void **state)
{
    static unsigned times[400];
    (void)state;
    new_url();
    struct store *a = open_with("a"), *b = open_with("b");
    uint32_t c = campaign_of(a, 1);
    assert_int_equal(campaign_of(b, 2), c + 1);
    assert_int_equal(campaign_of(b, 1), c);
    /* the same reports in windows that are open together: both take them */
    assert_int_equal(put_many(a, c, 0, 150), 150);
    assert_int_equal(put_many(b, c, 100, 300), 200);
    assert_int_equal(counts_of(a, c).waiting, 350);
    move_window(a, 40, 50);
    /* b goes on elsewhere in the middle */
    bool done = false;
    MUST(store_begin(b, &said));
    MUST(store_end_window(b, &said));
    MUST(store_advance(b, 120, 50, &done, &said));
    MUST(store_commit(b, &said));
    assert_false(done);
    store_free(b);
    b = open_with("b");
    while (!done) {
        MUST(store_begin(b, &said));
        MUST(store_advance(b, 30, 50, &done, &said));
        MUST(store_commit(b, &said));
    }
    assert_int_equal(put_many(a, c, 0, 300), 0);
    assert_int_equal(put_many(b, c, 0, 300), 0);
    struct store_counts counts = counts_of(b, c);
    assert_int_equal(counts.waiting, 0);
    assert_int_equal(counts.released, 300);
    assert_int_equal(counts.batches, 2);
    assert_int_equal(read_all(url, 1, 50, 300, times, NULL), 300);
    for (size_t i = 0; i < 300; i++) {
        assert_int_equal(times[i], 1);
    }
    assert_int_equal(ask_schema("SELECT count(*) FROM dropped"), 0);
    store_free(a);
    store_free(b);
}

/* A folder of keys is one collector, wherever it is; and who it is may not be
   taken over by a copy. */
static void
test_copied_keys(void **state)
{
    struct store *second = NULL;
    char command[600];
    (void)state;
    new_url();
    struct store *store = open_with("mine");
    uint32_t c = campaign_of(store, 1);
    (void)put_many(store, c, 0, 10);
    (void)snprintf(command, sizeof command, "cp -a '%s' '%s'",
                   in_folder("mine"), in_folder("copy"));
    assert_int_equal(system(command), 0);
    assert_int_equal(
        store_open_with_keys(url, in_folder("copy"), false, &second, &said),
        SOTTO_STATUS_IO);
    assert_non_null(strstr(said.message, "writer"));
    store_free(store); /* its machine is gone; the folder is elsewhere */
    store = open_with("copy");
    assert_int_equal(put_many(store, c, 0, 10), 0);
    move_window(store, ALL, 2);
    assert_int_equal(read_all(url, 1, 2, 10, NULL, NULL), 10);
    store_free(store);
}

/* On a server that has nothing yet: one of them makes the tables. */
static void
test_first_together(void **state)
{
    static const char *const keys[] = {"first0", "first1", "first2", "first3"};
    pid_t child[4];
    int status = 0;
    (void)state;
    new_url();
    for (size_t i = 0; i < 4; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            struct store *store = NULL;
            uint32_t number = 0;
            bool good =
                store_open_with_keys(url, in_folder(keys[i]), false, &store,
                                     &said) == SOTTO_STATUS_OK &&
                store_campaign(store, hash_of(1), "test", PAYLOAD_SIZE, &number,
                               &said) == SOTTO_STATUS_OK;
            store_free(store);
            _exit(good && number == 1 ? 0 : 1);
        }
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
}

/* What docs/postgres.md says of a collector whose keys are lost. */
static void
test_give_up(void **state)
{
    (void)state;
    new_url();
    struct store *lost = open_with("lost"), *store = open_with("left");
    uint32_t c = campaign_of(store, 1);
    (void)campaign_of(lost, 1);
    (void)put_many(lost, c, 0, 20);
    move_window(lost, ALL, 50);
    (void)put_many(lost, c, 20, 30);
    store_free(lost);
    assert_int_equal(counts_of(store, c).waiting, 30);
    (void)ask_schema("DELETE FROM collector WHERE id = (SELECT collector FROM "
                     "incoming) RETURNING 1");
    assert_int_equal(counts_of(store, c).waiting, 0);
    assert_int_equal(put_many(store, c, 0, 30), 10); /* 20 are in `seen` */
    store_free(store);
    lost = open_with("lost"); /* found again: as a new one */
    assert_int_equal(put_many(lost, c, 100, 110), 10);
    move_window(lost, ALL, 2);
    scrub(lost);
    store_free(lost);
}

/* ---- What is refused ----------------------------------------------------- */

static void
expect_refused(enum sotto_status wanted, const char *word)
{
    struct store *store = NULL;
    assert_int_equal(try_store(url, false, &store), wanted);
    assert_non_null(strstr(said.message, word));
    assert_null(store);
}

static void
test_refused(void **state)
{
    struct store *store = NULL;
    struct store_reader *reader = NULL;
    static const char *const bad[] = {
        "postgres:x", "postgres://[", "postgresql:///d?nothing=1",
        "postgres://me:secret@h/d", "postgres://h/d?sslpassword=secret"};
    (void)state;
    new_url();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(try_store(bad[i], false, &store), SOTTO_STATUS_USAGE);
        assert_null(strstr(said.message, "secret"));
    }
    assert_int_equal(store_open(url, false, &store, &said), SOTTO_STATUS_USAGE);
    assert_non_null(strstr(said.message, "window-keys"));
    assert_int_equal(
        store_open_with_keys("sqlite:x", "k", false, &store, &said),
        SOTTO_STATUS_USAGE);
    assert_int_equal(store_open_with_keys("postgres:///d?host=/nowhere",
                                          window_keys, false, &store, &said),
                     SOTTO_STATUS_IO);
    server_say("ALTER ROLE sotto SET log_min_duration_statement = 100");
    expect_refused(SOTTO_STATUS_REFUSED, "log_parameter_max_length");
    server_say("ALTER ROLE sotto SET log_parameter_max_length = 0");
    store_free(open_store(url));
    server_say("ALTER ROLE sotto RESET ALL");
    store_free(open_store(url));
    (void)ask_schema("UPDATE meta SET version = 2 RETURNING 1");
    expect_refused(SOTTO_STATUS_FORMAT, "later");
    assert_int_equal(store_reader_open(url, &reader, NULL, &said),
                     SOTTO_STATUS_FORMAT);
    (void)ask_schema("UPDATE meta SET version = 1 RETURNING 1");
    store = open_store(url);
    uint32_t c = campaign_of(store, 1), number = 0;
    (void)put_many(store, c, 0, 5);
    (void)ask_schema("UPDATE campaign SET closed = true RETURNING 1");
    assert_int_equal(
        store_campaign(store, hash_of(1), "n", PAYLOAD_SIZE, &number, &said),
        SOTTO_STATUS_REFUSED);
    store_free(store);
    char command[300];
    (void)snprintf(command, sizeof command, "rm '%s'/*.key", window_keys);
    assert_int_equal(system(command), 0);
    expect_refused(SOTTO_STATUS_FORMAT, "put it back");
}

/* A payload that is not what was put is left out, and no other. */
static void
test_damage(void **state)
{
    struct store_reader *reader = NULL;
    struct store_batch batch = {0};
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    (void)put_many(store, c, 0, 50);
    move_window(store, ALL, 2);
    store_free(store);
    (void)ask_schema("UPDATE part SET reports = set_byte(reports, 44 * 7 + 20, "
                     "get_byte(reports, 44 * 7 + 20) # 1) RETURNING 1");
    MUST(store_reader_open(url, &reader, NULL, &said));
    MUST(store_reader_next(reader, hash_of(1), 0, &batch, &said));
    assert_int_equal(batch.count, 49);
    assert_int_equal(batch.damaged, 1);
    assert_int_equal(batch.size, 49 * REPORT_SIZE);
    free(batch.reports);
    (void)ask_schema("UPDATE part SET reports = substr(reports, 2) "
                     "RETURNING 1");
    assert_int_equal(store_reader_next(reader, hash_of(1), 0, &batch, &said),
                     SOTTO_STATUS_FORMAT);
    store_reader_free(reader);
}

/* ---- Kills --------------------------------------------------------------- */

/* Puts what is not known to be stored until it is; the server may go at any
   moment, and what it did not acknowledge is rolled back or there, whole. */
static void
test_kill_server(void **state)
{
    static unsigned times[NUMBERS];
    uint64_t random = 20261118, end = 0;
    const char *full = getenv("SOTTO_FULL");
    unsigned kills = full != NULL && strcmp(full, "1") == 0 ? 50 : 5;
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    for (unsigned i = 0; i < kills; i++) {
        uint8_t report[REPORT_SIZE];
        enum store_answer answer = STORE_ACCEPTED;
        enum sotto_status status;
        bool done = false;
        uint64_t last = end + 1 + next_random(&random) % 60;
        pid_t killer = fork();
        if (killer == 0) { /* at some moment of what follows */
            const struct timespec wait = {
                0, (long)(20 + next_random(&random) % 100) * 1000000L};
            (void)nanosleep(&wait, NULL);
            (void)kill(server.id, i % 2 == 0 ? SIGKILL : SIGQUIT);
            _exit(0);
        }
        for (status = SOTTO_STATUS_OK; status == SOTTO_STATUS_OK;) {
            status = store_begin(store, &said);
            for (uint64_t n = end; n < last && status == SOTTO_STATUS_OK; n++) {
                fake_report(1, n, false, report);
                status = store_put(store, c, report, &answer, &said);
            }
            if (status == SOTTO_STATUS_OK) {
                status = store_end_window(store, &said);
            }
            if (status == SOTTO_STATUS_OK) {
                status = store_advance(store, 40, 30, &done, &said);
            }
            if (status == SOTTO_STATUS_OK) {
                status = store_commit(store, &said);
            }
            if (status == SOTTO_STATUS_OK && done) {
                status = store_scrub(store, &done, &said);
            }
            if (status == SOTTO_STATUS_OK) {
                end = last;
                last = end + 1 + next_random(&random) % 60;
            }
        }
        assert_int_equal(status, SOTTO_STATUS_IO);
        store_rollback(store);
        assert_int_equal(waitpid(killer, NULL, 0), killer);
        assert_int_equal(store_begin(store, &said), SOTTO_STATUS_IO);
        server_stop(SIGKILL);
        server_start();
    }
    assert_true(end > 0);
    (void)put_many(store, c, end, end + 100);
    end += 100;
    move_window(store, ALL, 2);
    move_window(store, ALL, 2);
    scrub(store);
    store_free(store);
    size_t stored = read_all(url, 1, 2, NUMBERS, times, NULL);
    for (uint64_t i = 0; i < NUMBERS; i++) {
        assert_true(times[i] <= 1);
        assert_true(i >= end || times[i] == 1);
    }
    print_message("%u kills of the server, %zu reports, %zu acknowledged\n",
                  kills, stored, (size_t)end);
}

/* Puts and moves on until it is killed; tells of each commit. */
_Noreturn static void
work(int to, uint64_t first, uint64_t random)
{
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    bool done = false;
    for (;;) {
        uint64_t last = first + 1 + next_random(&random) % 40;
        MUST(store_begin(store, &said));
        for (; first < last; first++) {
            (void)put(store, c, 1, first);
        }
        MUST(store_end_window(store, &said));
        MUST(store_advance(store, 30, 30, &done, &said));
        MUST(store_commit(store, &said));
        if (write(to, &last, sizeof last) != sizeof last) {
            _exit(1);
        }
        if (done) {
            MUST(store_scrub(store, &done, &said));
        }
    }
}

static void
test_kill_writer(void **state)
{
    static unsigned times[NUMBERS];
    uint64_t random = 20261119, end = 0;
    const char *full = getenv("SOTTO_FULL");
    unsigned kills = full != NULL && strcmp(full, "1") == 0 ? 50 : 6;
    (void)state;
    new_url();
    for (unsigned i = 0; i < kills; i++) {
        int ends[2];
        uint64_t told = 0;
        size_t most = 1 + next_random(&random) % 12;
        assert_int_equal(pipe(ends), 0);
        pid_t worker = fork();
        if (worker == 0) {
            work(ends[1], end, i);
        }
        (void)close(ends[1]);
        while (most-- > 0 && read(ends[0], &told, sizeof told) == sizeof told) {
            end = told;
        }
        (void)nanosleep(
            &(struct timespec){0, (long)(next_random(&random) % 4000000)},
            NULL);
        (void)kill(worker, SIGKILL);
        assert_int_equal(waitpid(worker, NULL, 0), worker);
        while (read(ends[0], &told, sizeof told) == sizeof told) {
            end = told;
        }
        (void)close(ends[0]);
    }
    struct store *store = open_store(url);
    move_window(store, ALL, 2);
    move_window(store, ALL, 2);
    store_free(store);
    size_t stored = read_all(url, 1, 2, NUMBERS, times, NULL);
    for (uint64_t i = 0; i < NUMBERS; i++) {
        assert_true(times[i] <= 1);
        assert_true(i >= end || times[i] == 1);
    }
    assert_true(stored <= end + 40);
    print_message("%u kills of the writer, %zu reports, %zu acknowledged\n",
                  kills, stored, (size_t)end);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_transactions),
        cmocka_unit_test(test_set_aside),
        cmocka_unit_test(test_two_collectors),
        cmocka_unit_test(test_copied_keys),
        cmocka_unit_test(test_first_together),
        cmocka_unit_test(test_give_up),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_kill_server),
        cmocka_unit_test(test_kill_writer),
    };
    if (!server_find()) {
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, server_set_up, server_tear_down);
}
