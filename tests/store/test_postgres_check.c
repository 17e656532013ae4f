/*
 * test_postgres_check.c: what a look at a store on a server finds, with and
 * without keys; whether a first start would work, which makes nothing; and
 * that the server's own tools make a backup that is a store.
 */
#include "postgres_bytes.h"

#include "fail_alloc.h"
#include "store/window_keys.h"

static char told[4096];

static void
tell(void *context, const char *text)
{
    size_t at = strlen(told);
    (void)context;
    (void)snprintf(told + at, sizeof told - at, "%s\n", text);
}

/* What is found with the keys in `keys` (NULL: without), `bytes` at a time. */
static struct store_damage
look(const char *keys, size_t bytes)
{
    struct store_checker *checker = NULL;
    struct store_damage damage = {0};
    bool done = false;
    told[0] = '\0';
    MUST(store_checker_open_with_keys(url, keys, tell, NULL, &checker, &said));
    while (!done) {
        MUST(store_checker_step(checker, bytes, &damage, &done, &said));
    }
    store_checker_free(checker);
    return damage;
}

/* Goes on as another role, who may do nothing yet. */
static void
become(const char *role)
{
    char other[600], text[100];
    char *user = strstr(url, "user=");
    const char *rest = strchr(user, '&');
    (void)snprintf(text, sizeof text, "CREATE ROLE %s LOGIN", role);
    server_say(text);
    (void)snprintf(text, sizeof text, "GRANT USAGE ON SCHEMA %s TO %s",
                   schema(), role);
    server_say(text);
    (void)snprintf(other, sizeof other, "%.*suser=%s%s", (int)(user - url), url,
                   role, rest);
    (void)snprintf(url, sizeof url, "%s", other);
}

static void
expect_sound(const char *keys, uint64_t sealed)
{
    struct store_damage damage = look(keys, ALL);
    if (damage.places + damage.reports > 0) {
        fail_msg("%s", told);
    }
    assert_int_equal(damage.sealed, sealed);
    damage = look(keys, 1);
    assert_int_equal(damage.places + damage.reports, 0);
    assert_int_equal(damage.sealed, sealed);
}

/* Three batches of one campaign and one of another, something held, an open
   window of two commits. */
static struct store *
make_store(void)
{
    new_url();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1), other = campaign_of(store, 2);
    for (uint64_t i = 0; i < 3; i++) {
        (void)put_many(store, c, 50 * i, 50 * i + 50);
        MUST(store_begin(store, &said));
        assert_int_equal(put(store, other, 2, i), STORE_ACCEPTED);
        MUST(store_commit(store, &said));
        move_window(store, ALL, 20);
        scrub(store);
    }
    (void)put_many(store, c, 200, 203);
    (void)put_many(store, c, 203, 209);
    return store;
}

static void
test_sound(void **state)
{
    struct store_checker *checker = NULL;
    (void)state;
    struct store *store = make_store();
    expect_sound(NULL, 3); /* two rows of the window, one that is held */
    assert_int_equal(store_checker_open_with_keys(url, window_keys, NULL, NULL,
                                                  &checker, &said),
                     SOTTO_STATUS_IO);
    assert_non_null(strstr(said.message, "writer"));
    /* by a role that may only look, as docs/postgres.md has it */
    char mine_url[600];
    (void)snprintf(mine_url, sizeof mine_url, "%s", url);
    become("checker");
    assert_int_equal(store_checker_open(url, NULL, NULL, &checker, &said),
                     SOTTO_STATUS_IO);
    (void)ask_schema("SELECT 1");
    server_say("GRANT SELECT ON meta, campaign, collector, incoming, held, "
               "dropped, batch, part, seen TO checker");
    expect_sound(NULL, 3);
    (void)snprintf(url, sizeof url, "%s", mine_url);
    store_free(store);
    expect_sound(window_keys, 0);
    /* another one's are of no use, and a folder that is none is not made */
    const char *mine = window_keys;
    store = NULL;
    MUST(store_open_with_keys(url, in_folder("others"), false, &store, &said));
    store_free(store);
    char others[200];
    (void)snprintf(others, sizeof others, "%s", in_folder("others"));
    expect_sound(others, 3);
    window_keys = mine;
    assert_int_equal(store_checker_open_with_keys(url, in_folder("none"), NULL,
                                                  NULL, &checker, &said),
                     SOTTO_STATUS_IO);
    assert_int_not_equal(access(in_folder("none"), F_OK), 0);
    assert_int_equal(store_checker_open_with_keys("sqlite:x", mine, NULL, NULL,
                                                  &checker, &said),
                     SOTTO_STATUS_USAGE);
}

/* Something that is changed by a statement, and what is then found. */
struct harm {
    const char *text;
    uint64_t reports, places; /* without keys */
    uint64_t with_reports, with_places;
    const char *word; /* that is said, with keys */
};

static const struct harm harms[] = {
    {"UPDATE part SET reports = set_byte(reports, 44 * 7 + 20, "
     "get_byte(reports, 44 * 7 + 20) # 1) WHERE campaign = 1 AND number = 2 "
     "RETURNING 1",
     1, 0, 1, 0, "campaign 1, batch 2: 1 of 50"},
    {"UPDATE part SET reports = set_byte(reports, 40, get_byte(reports, 40) "
     "# 1) RETURNING 1",
     3, 0, 3, 0, "batch 3: 1 of 50"},
    {"UPDATE part SET reports = substr(reports, 2) WHERE number = 3 "
     "RETURNING 1",
     0, 1, 0, 1, "wrong size"},
    {"UPDATE part SET reports = substr(reports, 45) WHERE number = 3 "
     "RETURNING 1",
     0, 1, 0, 1, "as many"},
    {"DELETE FROM part WHERE number = 1 RETURNING 1", 0, 1, 0, 1, "lacks"},
    {"DELETE FROM batch WHERE number = 2 RETURNING 1", 0, 3, 0, 3,
     "from 2 to 2"},
    {"DELETE FROM batch WHERE number = 1 RETURNING 1", 0, 3, 0, 3,
     "from 1 to 1"},
    {"INSERT INTO part VALUES (1, 2, 1, '') RETURNING 1", 0, 1, 0, 1,
     "of no batch"},
    {"UPDATE campaign SET released = released + 1 WHERE number = 1 "
     "RETURNING 1",
     0, 2, 0, 2, "what was counted"}, /* and a tag too few */
    {"UPDATE campaign SET batches = 4 WHERE number = 1 RETURNING 1", 0, 1, 0, 1,
     "what was counted"},
    {"DELETE FROM seen WHERE tag IN (SELECT tag FROM seen WHERE campaign = 1 "
     "ORDER BY tag LIMIT 1) RETURNING 1",
     0, 1, 0, 1, "tags of a campaign"},
    {"UPDATE incoming SET count = count + 1 RETURNING 1", 0, 2, 0, 2,
     "wrong size"},
    {"UPDATE incoming SET key = key + 1 RETURNING 1", 0, 2, 0, 2, "no window"},
    {"UPDATE incoming SET campaign = 9 RETURNING 1", 0, 2, 0, 2, "no campaign"},
    {"UPDATE campaign SET closed = true WHERE number = 1 RETURNING 1", 0, 2, 0,
     2, "closed"},
    /* what only its collector can see */
    {"UPDATE incoming SET sealed = set_byte(sealed, 70, get_byte(sealed, 70) "
     "# 1) RETURNING 1",
     0, 0, 0, 2, "damaged, or another"},
    {"UPDATE held SET sealed = set_byte(sealed, 0, get_byte(sealed, 0) # 1) "
     "RETURNING 1",
     0, 0, 0, 1, "damaged, or another"},
    {"UPDATE incoming SET campaign = 2 RETURNING 1", 0, 0, 0, 2,
     "damaged, or another"},
};

static void
test_harm(void **state)
{
    (void)state;
    store_free(make_store());
    for (size_t i = 0; i < sizeof harms / sizeof harms[0]; i++) {
        const struct harm *harm = &harms[i];
        char text[60];
        (void)snprintf(text, sizeof text, "SET search_path = %s", schema());
        server_say(text);
        server_say(harm->text);
        struct store_damage damage = look(NULL, ALL);
        if (damage.reports != harm->reports || damage.places != harm->places) {
            fail_msg("%s: %s", harm->text, told);
        }
        damage = look(window_keys, ALL);
        if (damage.reports != harm->with_reports ||
            damage.places != harm->with_places ||
            strstr(told, harm->word) == NULL) {
            fail_msg("%s, with keys: %s", harm->text, told);
        }
        damage = look(window_keys, 200);
        assert_int_equal(damage.reports, harm->with_reports);
        store_free(make_store());
    }
}

/* A payload that was changed before it was sealed; and partitions. */
static void
test_more_harm(void **state)
{
    (void)state;
    store_free(make_store());
    (void)ask_schema("SELECT 1");
    server_say("DROP TABLE part_2");
    struct store_damage damage = look(NULL, ALL);
    assert_int_equal(damage.places, 1);
    assert_non_null(strstr(told, "partitions"));
    (void)ask_schema("UPDATE meta SET version = 2 RETURNING 1");
    struct store_checker *checker = NULL;
    assert_int_equal(store_checker_open(url, NULL, NULL, &checker, &said),
                     SOTTO_STATUS_FORMAT);
    new_url();
    assert_int_equal(store_checker_open(url, NULL, NULL, &checker, &said),
                     SOTTO_STATUS_IO);
}

/* A page of a table that the server cannot read: it is told of, and the look
   comes to an end. */
static void
test_unreadable(void **state)
{
    static const char *const table[] = {"batch", "part_1", "held", "incoming"};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[100], name[400];
        store_free(make_store());
        (void)snprintf(text, sizeof text,
                       "SELECT pg_relation_filenode('%s')::int8", table[i]);
        long node = ask_schema(text);
        long database = ask_schema("SELECT oid::int8 FROM pg_database WHERE "
                                   "datname = current_database()");
        (void)snprintf(name, sizeof name, "%s/base/%ld/%ld", server.data,
                       database, node);
        server_say("CHECKPOINT");
        server_stop(SIGINT);
        FILE *file = fopen(name, "r+b");
        assert_non_null(file);
        for (unsigned j = 0; j < 100; j++) {
            assert_int_not_equal(fputc(0x55, file), EOF);
        }
        assert_int_equal(fclose(file), 0);
        server_start();
        assert_true(look(NULL, ALL).places > 0);
        assert_non_null(strstr(told, "invalid page"));
        assert_true(look(NULL, 200).places > 0);
    }
}

/* In the middle of a round a campaign is forgotten, a window is moved on, and
   the server is started anew: none of that is damage. */
static void
test_meanwhile(void **state)
{
    struct store_counts counts = {0};
    (void)state;
    for (unsigned steps = 0; steps < 20; steps++) {
        struct store_checker *checker = NULL;
        struct store_damage damage = {0};
        bool done = false;
        struct store *store = make_store();
        MUST(store_checker_open(url, tell, NULL, &checker, &said));
        told[0] = '\0';
        for (unsigned i = 0; i < steps && !done; i++) {
            MUST(store_checker_step(checker, 1, &damage, &done, &said));
        }
        if (steps % 2 == 0) {
            MUST(store_forget_at(url, hash_of(1), &counts, &said));
        } else {
            move_window(store, ALL, 2);
            scrub(store);
        }
        if (steps % 7 == 3) {
            server_stop(SIGINT);
            server_start();
            assert_int_equal(
                store_checker_step(checker, 1, &damage, &done, &said),
                SOTTO_STATUS_IO); /* it hears of it */
        }
        do {
            MUST(store_checker_step(checker, 1, &damage, &done, &said));
        } while (!done);
        if (damage.places + damage.reports > 0) {
            fail_msg("after %u steps: %s", steps, told);
        }
        store_checker_free(checker);
        store_free(store);
    }
}

/* Whatever allocation fails, nothing is lost, and the next time all is seen. */
static void
test_no_memory(void **state)
{
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    (void)state;
    store_free(make_store());
    for (long n = 1; status != SOTTO_STATUS_OK; n++) {
        struct store_checker *checker = NULL;
        struct store_damage damage = {0};
        bool done = false;
        fail_alloc_at(n);
        status = store_checker_open_with_keys(url, window_keys, NULL, NULL,
                                              &checker, &said);
        if (status == SOTTO_STATUS_OK) {
            status = store_checker_step(checker, ALL, &damage, &done, &said);
        }
        fail_alloc_at(0);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        if (checker != NULL && status != SOTTO_STATUS_OK) {
            MUST(store_checker_step(checker, ALL, &damage, &done, &said));
            assert_true(done && damage.places + damage.reports == 0);
        }
        store_checker_free(checker);
        assert_true(n < 1000);
    }
    status = SOTTO_STATUS_MEMORY;
    for (long n = 1; status != SOTTO_STATUS_OK; n++) {
        bool new = false;
        fail_alloc_at(n);
        status = store_try(url, window_keys, false, &new, &said);
        fail_alloc_at(0);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    }
    status = SOTTO_STATUS_MEMORY;
    for (long n = 1; status != SOTTO_STATUS_OK; n++) {
        struct store_counts counts = {0};
        fail_alloc_at(n);
        status = store_forget_at(url, hash_of(1), &counts, &said);
        fail_alloc_at(0);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        assert_int_equal(counts.released, status == SOTTO_STATUS_OK ? 150 : 0);
    }
}

/* ---- Before the first start ---------------------------------------------- */

static long
count_tables(void)
{
    return ask_schema("SELECT count(*) FROM pg_class WHERE relnamespace = "
                      "current_schema()::regnamespace");
}

static void
expect_try(enum sotto_status wanted, bool simulation, const char *word)
{
    bool new = false;
    assert_int_equal(store_try(url, window_keys, simulation, &new, &said),
                     wanted);
    assert_non_null(strstr(said.message, word));
}

static void
test_try(void **state)
{
    char text[200];
    bool new = false;
    (void)state;
    new_url();
    MUST(store_try(url, window_keys, false, &new, &said));
    assert_true(new);
    assert_int_equal(count_tables(), 0);
    assert_int_not_equal(access(window_keys, F_OK), 0);
    server_say("ALTER ROLE sotto SET log_min_duration_statement = 100");
    expect_try(SOTTO_STATUS_REFUSED, false, "log_parameter_max_length");
    server_say("ALTER ROLE sotto RESET ALL");
    /* a role that may look, and make nothing */
    char mine[600];
    (void)snprintf(mine, sizeof mine, "%s", url);
    become("looker");
    expect_try(SOTTO_STATUS_IO, false, "may make no tables");
    (void)snprintf(url, sizeof url, "%s", mine);
    store_free(open_store(url));
    MUST(store_try(url, window_keys, false, &new, &said));
    assert_false(new);
    expect_try(SOTTO_STATUS_REFUSED, true, "devices'");
    /* one that may make tables of its own, beside another role's */
    become("maker");
    (void)snprintf(text, sizeof text,
                   "GRANT CREATE ON SCHEMA %s TO maker; GRANT SELECT ON ALL "
                   "TABLES IN SCHEMA %s TO maker",
                   schema(), schema());
    server_say(text);
    expect_try(SOTTO_STATUS_IO, false, "another role's");
    (void)snprintf(url, sizeof url, "%s", mine);
    assert_int_equal(chmod(window_keys, 0755), 0);
    expect_try(SOTTO_STATUS_REFUSED, false, "chmod 700");
    assert_int_equal(chmod(window_keys, 0700), 0);
    window_keys = "/nowhere/at/all";
    expect_try(SOTTO_STATUS_IO, false, "cannot be made");
    window_keys = NULL;
    expect_try(SOTTO_STATUS_USAGE, false, "window-keys");
}

/* ---- Backups ------------------------------------------------------------- */

/* As docs/postgres.md says: without what is sealed. The copy is a store, which
   has all that was released, knows it, and waits for nothing. */
static void
test_dump(void **state)
{
    static unsigned times[300];
    char command[1400];
    (void)state;
    struct store *store = make_store();
    assert_int_equal(store_backup(url, in_folder("copy"), &said),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(said.message, "pg_basebackup"));
    assert_non_null(strstr(said.message, "never copy a folder of window keys"));
    (void)snprintf(
        command, sizeof command,
        "cd '%s' && PGHOST='%s' PGUSER=sotto && export PGHOST PGUSER && "
        "pg_dump --format=custom --schema=%s"
        " --exclude-table-data=%s.collector --exclude-table-data=%s.incoming"
        " --exclude-table-data=%s.held --exclude-table-data=%s.dropped"
        " postgres >dump && createdb other && pg_restore -d other dump",
        folder, server.socket, schema(), schema(), schema(), schema(),
        schema());
    assert_int_equal(system(command), 0);
    store_free(store);
    char copy[600];
    char *name = strstr(url, "postgres?");
    (void)snprintf(copy, sizeof copy, "%.*sother%s", (int)(name - url), url,
                   name + strlen("postgres"));
    (void)snprintf(url, sizeof url, "%s", copy);
    window_keys = in_folder("anew");
    expect_sound(NULL, 0);
    store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    struct store_counts counts = counts_of(store, c);
    assert_int_equal(counts.released, 150);
    assert_int_equal(counts.waiting, 0);
    assert_int_equal(put_many(store, c, 0, 150), 0);
    assert_int_equal(put_many(store, c, 200, 250), 50); /* those were open */
    move_window(store, ALL, 20);
    assert_int_equal(read_all(url, 1, 20, 300, times, NULL), 200);
    for (size_t i = 0; i < 300; i++) {
        assert_int_equal(times[i], i < 150 || (i >= 200 && i < 250) ? 1 : 0);
    }
    store_free(store);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),      cmocka_unit_test(test_harm),
        cmocka_unit_test(test_more_harm),  cmocka_unit_test(test_meanwhile),
        cmocka_unit_test(test_unreadable), cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_try),        cmocka_unit_test(test_dump),
    };
    if (!server_find()) {
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, server_set_up, server_tear_down);
}
