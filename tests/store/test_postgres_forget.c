/*
 * test_postgres_forget.c: a campaign that is forgotten while collectors run is
 * gone from every table, wherever its windows were; no report of it is taken,
 * and the other campaigns lose nothing.
 */
#include "postgres_bytes.h"

#define STEPS 24u /* of a move of a small window, and some more */

static struct store *
open_with(const char *keys)
{
    struct store *store = NULL;
    MUST(store_open_with_keys(url, in_folder(keys), false, &store, &said));
    return store;
}

/* Puts reports of any mechanism in one commit. */
static void
put_all(struct store *store, uint32_t c, uint8_t mechanism, uint64_t first,
        uint64_t last)
{
    MUST(store_begin(store, &said));
    for (; first < last; first++) {
        assert_int_equal(put(store, c, mechanism, first), STORE_ACCEPTED);
    }
    MUST(store_commit(store, &said));
}

/* Late reports of campaign `c`, of mechanism 1: they are refused, and all since
   store_begin with them. */
static void
expect_closed(struct store *store, uint32_t c, uint64_t number)
{
    uint8_t report[REPORT_SIZE];
    enum store_answer answer = STORE_ACCEPTED;
    fake_report(1, number, false, report);
    MUST(store_begin(store, &said));
    assert_int_equal(store_put(store, c, report, &answer, &said),
                     SOTTO_STATUS_REFUSED);
    assert_non_null(strstr(said.message, "forgotten"));
    store_rollback(store);
}

/* Rows and partitions that are left of campaign 1. */
static long
count_left(void)
{
    return ask_schema(
        "SELECT (SELECT count(*) FROM incoming WHERE campaign = 1) + "
        "(SELECT count(*) FROM held WHERE campaign = 1) + "
        "(SELECT count(*) FROM dropped WHERE campaign = 1) + "
        "(SELECT count(*) FROM batch WHERE campaign = 1) + "
        "(SELECT count(*) FROM seen WHERE campaign = 1) + "
        "(SELECT count(*) FROM part WHERE campaign = 1) + "
        "(SELECT count(*) FROM pg_class WHERE relnamespace = "
        "current_schema()::regnamespace AND relname ~ '^(seen|part)_1(_|$)')");
}

/* Steps of a move, 7 rows each. */
static bool
move_some(struct store *store, unsigned steps)
{
    bool done = false;
    for (unsigned i = 0; i < steps && !done; i++) {
        MUST(store_begin(store, &said));
        MUST(store_advance(store, 7, 20, &done, &said));
        MUST(store_commit(store, &said));
    }
    return done;
}

/* One collector with reports of mechanisms 1 and 2 that are released, held, and
   in a window that was moved `steps` far; the other one has some of the same.
   Campaign 1 is forgotten; then all is moved on. */
static void
forget_at_step(unsigned steps)
{
    static unsigned times[1000];
    struct store_counts counts = {0};
    uint32_t number = 0;
    new_url();
    struct store *a = open_with("a"), *b = open_with("b");
    uint32_t c = campaign_of(a, 1), other = campaign_of(a, 2);
    assert_int_equal(campaign_of(b, 1), c);
    put_all(a, c, 1, 0, 40);
    put_all(a, other, 2, 0, 40);
    move_window(a, ALL, 20);
    put_all(a, c, 1, 40, 50);
    put_all(a, other, 2, 40, 50);
    move_window(a, ALL, 20); /* held */
    put_all(a, c, 1, 50, 80);
    put_all(a, other, 2, 50, 80);
    put_all(b, c, 1, 70, 90); /* ten are in both */
    put_all(b, other, 2, 70, 90);
    move_window(b, ALL, 20);
    MUST(store_begin(a, &said));
    MUST(store_end_window(a, &said));
    MUST(store_commit(a, &said));
    (void)move_some(a, steps);
    put_all(a, c, 1, 100, 110); /* the next window */
    put_all(a, other, 2, 100, 110);
    MUST(store_forget_at(url, hash_of(1), &counts, &said));
    assert_true(counts.released >= 60 && counts.waiting >= 10);
    assert_int_equal(count_left(), 0);
    assert_int_equal(look_at_all(url).places, 0);
    expect_closed(a, c, 500);
    expect_closed(a, c, 105); /* also one that it has */
    expect_closed(b, c, 500);
    while (!move_some(a, 1)) {
    }
    put_all(a, other, 2, 110, 120);
    move_window(a, 30, 2);
    move_window(a, ALL, 2);
    move_window(b, ALL, 2);
    scrub(a);
    scrub(b);
    assert_int_equal(count_left(), 0);
    assert_int_equal(
        store_campaign(a, hash_of(1), "n", PAYLOAD_SIZE, &number, &said),
        SOTTO_STATUS_REFUSED);
    store_free(a);
    a = open_with("a");
    assert_int_equal(
        store_campaign(a, hash_of(1), "n", PAYLOAD_SIZE, &number, &said),
        SOTTO_STATUS_REFUSED);
    assert_int_equal(counts_of(a, other).waiting, 0);
    memset(times, 0, sizeof times);
    assert_int_equal(read_all(url, 2, 2, 1000, times, NULL), 110);
    for (size_t i = 0; i < 120; i++) {
        assert_int_equal(times[i], i < 90 || i >= 100 ? 1 : 0);
    }
    assert_int_equal(read_all(url, 1, 1, 1000, NULL, NULL), 0);
    struct store_damage damage = look_at_all(url);
    assert_int_equal(damage.places + damage.reports, 0);
    store_free(a);
    store_free(b);
}

static void
test_every_step(void **state)
{
    (void)state;
    for (unsigned steps = 0; steps <= STEPS; steps++) {
        forget_at_step(steps);
    }
}

/* Again, and one that nobody knows. */
static void
test_again(void **state)
{
    struct store_counts counts = {0};
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    put_all(store, c, 1, 0, 50);
    move_window(store, ALL, 20);
    put_all(store, c, 1, 50, 60);
    MUST(store_forget_at(url, hash_of(1), &counts, &said));
    assert_int_equal(counts.released, 50);
    assert_int_equal(counts.batches, 1);
    assert_int_equal(counts.waiting, 10);
    assert_int_equal(counts_of(store, c).released, 0);
    assert_true(counts_of(store, c).closed);
    MUST(store_forget_at(url, hash_of(1), &counts, &said));
    assert_int_equal(counts.released + counts.batches + counts.waiting, 0);
    assert_int_equal(store_forget_at(url, hash_of(9), &counts, &said),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(store_forget(store, hash_of(1), &counts, &said),
                     SOTTO_STATUS_USAGE);
    store_free(store);
    new_url(); /* and where there is no store none is made */
    assert_int_equal(store_forget_at(url, hash_of(1), &counts, &said),
                     SOTTO_STATUS_IO);
    assert_int_equal(ask_schema("SELECT count(*) FROM pg_class WHERE "
                                "relnamespace = current_schema()"
                                "::regnamespace"),
                     0);
}

/* Between a put and its commit: the commit says so, and nothing is there. */
static void
test_commit(void **state)
{
    struct store_counts counts = {0};
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1), other = campaign_of(store, 2);
    for (unsigned both = 0; both < 2; both++) {
        if (both == 1) {
            c = campaign_of(store, 3);
        }
        MUST(store_begin(store, &said));
        (void)put(store, c, both == 0 ? 1 : 3, 7);
        if (both == 1) {
            assert_int_equal(put(store, other, 2, 8), STORE_ACCEPTED);
        }
        MUST(store_forget_at(url, hash_of(both == 0 ? 1 : 3), &counts, &said));
        assert_int_equal(store_commit(store, &said), SOTTO_STATUS_REFUSED);
        assert_int_equal(ask_schema("SELECT count(*) FROM incoming"), 0);
        MUST(store_begin(store, &said));
        assert_int_equal(put(store, other, 2, 100 + both), STORE_ACCEPTED);
        MUST(store_commit(store, &said));
        assert_int_equal(ask_schema("DELETE FROM incoming RETURNING 1"), 1);
        store_free(store);
        store = open_store(url);
    }
    store_free(store);
}

static pid_t
forget_beside(void)
{
    struct store_counts counts = {0};
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        server.db = NULL;
        _exit(store_forget_at(url, hash_of(1), &counts, &said) ==
                      SOTTO_STATUS_OK
                  ? 0
                  : 1);
    }
    return child;
}

/* It waits for who is writing, for as long as that takes; who writes goes on as
   if nothing had been. */
static void
test_waits(void **state)
{
    bool done = false;
    int status = 0;
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1), other = campaign_of(store, 2);
    put_all(store, c, 1, 0, 50);
    put_all(store, other, 2, 0, 50);
    MUST(store_begin(store, &said));
    MUST(store_end_window(store, &said));
    MUST(store_advance(store, 10, 20, &done, &said));
    (void)ask_schema("SELECT 1");
    PGresult *result = PQexec(server.db, "SELECT 1 FROM campaign WHERE "
                                         "number = 1 FOR UPDATE NOWAIT");
    assert_string_equal(PQresultErrorField(result, PG_DIAG_SQLSTATE), "55P03");
    PQclear(result);
    pid_t child = forget_beside();
    (void)usleep(1500000);
    assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
    MUST(store_advance(store, ALL, 20, &done, &said));
    MUST(store_commit(store, &said));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(count_left(), 0);
    move_window(store, ALL, 20);
    assert_int_equal(read_all(url, 2, 20, 50, NULL, NULL), 50);
    store_free(store);
}

/* A commit that comes while it is being forgotten waits, and is refused. */
static void
test_race(void **state)
{
    int status = 0;
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    (void)ask_schema("SELECT 1");
    store_free(store);
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        server.db = NULL;
        store = open_store(url);
        MUST(store_begin(store, &said));
        (void)put(store, c, 1, 5);
        _exit(write(ready[1], "p", 1) == 1 && usleep(300000) == 0 &&
                      store_commit(store, &said) == SOTTO_STATUS_REFUSED
                  ? 0
                  : 1);
    }
    char said_so = 0;
    assert_int_equal(read(ready[0], &said_so, 1), 1);
    server_say("BEGIN");
    server_say("SELECT 1 FROM campaign WHERE number = 1 FOR UPDATE");
    (void)usleep(600000); /* it commits, and waits */
    assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
    server_say("UPDATE campaign SET closed = true WHERE number = 1");
    server_say("COMMIT");
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(ask_schema("SELECT count(*) FROM incoming"), 0);
    (void)close(ready[0]);
    (void)close(ready[1]);
}

/* A reader that has found a batch and waits for its parts, which are gone then:
   there is none. */
static void
test_reader_meanwhile(void **state)
{
    int status = 0;
    (void)state;
    new_url();
    struct store *store = open_store(url);
    put_all(store, campaign_of(store, 1), 1, 0, 50);
    move_window(store, ALL, 20);
    store_free(store);
    (void)ask_schema("SELECT 1");
    server_say("BEGIN");
    server_say("LOCK TABLE part IN ACCESS EXCLUSIVE MODE");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        server.db = NULL;
        _exit(read_all(url, 1, 20, 50, NULL, NULL) == 0 ? 0 : 1);
    }
    (void)usleep(500000);
    assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
    server_say("DELETE FROM batch");
    server_say("DROP TABLE part_1");
    server_say("COMMIT");
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* A reader that does not end: it says whose process that is, after a while, and
   has changed nothing; collectors took reports all the time. */
static void
test_reader_in_the_way(void **state)
{
    struct store_counts counts = {0};
    char text[60], pid[20];
    const char *full = getenv("SOTTO_FULL");
    (void)state;
    if (full == NULL || strcmp(full, "1") != 0) {
        print_message("half a minute: with SOTTO_FULL=1\n");
        return;
    }
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1), other = campaign_of(store, 2);
    put_all(store, c, 1, 0, 50);
    move_window(store, ALL, 20);
    (void)snprintf(text, sizeof text, "SET search_path = %s", schema());
    server_say(text);
    server_say("BEGIN");
    server_say("SELECT count(*) FROM part");
    pid_t child = forget_beside();
    int status = 0;
    uint64_t next = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        put_all(store, other, 2, next, next + 10);
        next += 10;
        (void)usleep(20000);
    }
    assert_int_not_equal(status, 0);
    assert_int_equal(store_forget_at(url, hash_of(1), &counts, &said),
                     SOTTO_STATUS_IO);
    (void)snprintf(pid, sizeof pid, "%d", PQbackendPID(server.db));
    assert_non_null(strstr(said.message, pid));
    server_say("COMMIT");
    assert_int_equal(read_all(url, 1, 20, 50, NULL, NULL), 50);
    MUST(store_forget_at(url, hash_of(1), &counts, &said));
    assert_int_equal(counts_of(store, other).waiting, next);
    store_free(store);
}

/* A process that is killed while it forgets leaves all of it, or none. */
static void
test_killed(void **state)
{
    size_t before = 0, after = 0;
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        uint32_t number = 0;
        new_url();
        struct store *store = open_store(url);
        put_all(store, campaign_of(store, 1), 1, 0, 300);
        put_all(store, campaign_of(store, 2), 2, 0, 50);
        move_window(store, ALL, 50);
        pid_t worker = forget_beside();
        (void)usleep(4000 + i * 1500);
        (void)kill(worker, SIGKILL);
        assert_int_equal(waitpid(worker, NULL, 0), worker);
        (void)usleep(200000); /* the server ends what it was doing */
        enum sotto_status status = store_campaign(store, hash_of(1), "n",
                                                  PAYLOAD_SIZE, &number, &said);
        assert_true(status == SOTTO_STATUS_OK ||
                    status == SOTTO_STATUS_REFUSED);
        before += status == SOTTO_STATUS_OK;
        after += status == SOTTO_STATUS_REFUSED;
        store_free(store);
        assert_int_equal(read_all(url, 1, 1, 3000, NULL, NULL),
                         status == SOTTO_STATUS_OK ? 300 : 0);
        assert_int_equal(read_all(url, 2, 1, 3000, NULL, NULL), 50);
        assert_int_equal(look_at_all(url).places, 0);
    }
    print_message("%zu killed before, %zu after\n", before, after);
}

/* The server's files after all of it: what waited never stood there as it was,
   and tags of what was moved stand there in no order. */
static void
test_bytes(void **state)
{
    struct store_counts counts = {0};
    (void)state;
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1), other = campaign_of(store, 2);
    for (uint64_t i = 0; i < REPORTS; i += 10) {
        put_all(store, c, 1, i, i + 10);
        put_all(store, other, 2, 10000 + i, 10000 + i + 10);
    }
    MUST(store_begin(store, &said));
    MUST(store_end_window(store, &said));
    MUST(store_commit(store, &said));
    /* its tags, of which campaign 1's come first, are moved on by two thirds */
    bool done = false;
    for (unsigned i = 0; i < 2; i++) {
        MUST(store_begin(store, &said));
        MUST(store_advance(store, 200, 2, &done, &said));
        MUST(store_commit(store, &said));
    }
    MUST(store_forget_at(url, hash_of(1), &counts, &said));
    assert_int_equal(look_at_all(url).places, 0);
    while (!done) {
        MUST(store_begin(store, &said));
        MUST(store_advance(store, 200, 2, &done, &said));
        MUST(store_commit(store, &said));
    }
    scrub(store);
    assert_int_equal(search(payload_needles(), REPORTS), 0);
    assert_int_equal(search(id_needles(), REPORTS), 0);
    struct needle *tag = tag_needles(schema());
    size_t found = search(tag, REPORTS);
    assert_int_equal(found, 400); /* what was in `seen` before, and no more */
    qsort(tag, REPORTS, sizeof *tag, compare_places);
    double z = follows(tag + (REPORTS - found), found);
    print_message("tags     z = %5.2f of %zu\n", z, found);
    assert_true(fabs(z) < 5);
    store_free(store);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes), /* first: no other payload is there */
        cmocka_unit_test(test_every_step),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_commit),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_race),
        cmocka_unit_test(test_reader_meanwhile),
        cmocka_unit_test(test_reader_in_the_way),
        cmocka_unit_test(test_killed),
    };
    if (!server_find()) {
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, server_set_up, server_tear_down);
}
