/*
 * test_ledger_file.c: opening believes nothing: what is no ledger, another's
 * version, a changed schema, damaged bytes; and nothing of it is overwritten.
 */
#include "ledger_fixture.h"

#include "store/ledger.h"

/* Runs SQL on a file, as another program could. */
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

/* Opening fails and leaves every byte as it was. */
static void
expect_untouched(const char *path, const char *piece)
{
    size_t before = 0, after = 0;
    uint8_t *was = slurp(path, &before);
    expect_closed(path, SOTTO_STATUS_FORMAT, piece);
    uint8_t *is = slurp(path, &after);
    assert_int_equal(before, after);
    assert_memory_equal(was, is, before);
    free(was);
    free(is);
}

static void
test_no_ledger(void **state)
{
    (void)state;
    expect_closed(in_folder("none"), SOTTO_STATUS_IO, "there is no ledger '");
    expect_closed(in_folder("none/l"), SOTTO_STATUS_IO, "there is no ledger '");
    assert_int_equal(mkdir(in_folder("dir"), 0700), 0);
    expect_closed(in_folder("dir"), SOTTO_STATUS_IO, "");
    spill(in_folder("empty"), "", 0);
    expect_untouched(in_folder("empty"), "no ledger");
    spill(in_folder("text"), "This is no database at all, but long enough", 43);
    expect_untouched(in_folder("text"), "no ledger");
    run_sql(in_folder("foreign"), "PRAGMA journal_mode=WAL;"
                                  "CREATE TABLE charge (x); "
                                  "INSERT INTO charge VALUES (1)");
    expect_untouched(in_folder("foreign"), "no ledger");
}

/* Names that SQLite would take for memory, a temporary file, an address. */
static void
test_odd_names(void **state)
{
    char old[512];
    struct sotto_ledger *ledger = NULL;
    (void)state;
    assert_non_null(getcwd(old, sizeof old));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(sotto_ledger_open("", &ledger, NULL), SOTTO_STATUS_IO);
    static const char *const names[] = {":memory:", "file:x?mode=memory", "l"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(sotto_ledger_open(names[i], &ledger, NULL),
                         SOTTO_STATUS_IO);
        create(names[i], "1", NULL);
        sotto_ledger_free(open_ledger(names[i]));
    }
    assert_int_equal(chdir(old), 0);
    assert_int_equal(entries(), 9);
}

static void
test_versions_and_schemas(void **state)
{
    static const char *const changes[][2] = {
        {"PRAGMA user_version=3", "version 3"},
        {"PRAGMA user_version=1", "not those of a ledger"},
        {"PRAGMA user_version=0", "version 0"},
        {"PRAGMA application_id=7", "no ledger"},
        {"CREATE TABLE more (x)", "not those of a ledger"},
        {"CREATE TRIGGER t AFTER INSERT ON charge BEGIN SELECT 1; END",
         "not those of a ledger"},
        {"DROP TABLE charge; CREATE TABLE charge (person, campaign, mechanism, "
         "id, charged_at, eps, delta, report)",
         "not those of a ledger"},
        {"DELETE FROM ledger", "no ledger"},
        {"PRAGMA ignore_check_constraints=ON; INSERT INTO charge (person, "
         "campaign, mechanism, id, charged_at, eps, delta, report) VALUES "
         "(x'00', '', x'00', x'00', 0, -1, 0, x'00')",
         "contradict"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "l%zu", i);
        create(in_folder(name), "1", NULL);
        run_sql(in_folder(name), changes[i][0]);
        expect_untouched(in_folder(name), changes[i][1]);
    }
}

/* One byte after another is changed. Pages have no checksums, so what is in an
   unused place, or inside a value and fits its constraints, goes unseen; the
   rest is refused, and nothing worse happens. */
static void
test_damage(void **state)
{
    const char *path = in_folder("l");
    uint8_t report[REPORT_SIZE], wanted[REPORT_SIZE];
    struct sotto_charge charge = fake_charge("ann", "spring", 1, EPS(500));
    struct sotto_charge second = fake_charge("ann", "autumn", 1, EPS(500));
    size_t size = 0, opened = 0, refused = 0;
    (void)state;
    create(path, "1", NULL);
    struct sotto_ledger *ledger = open_ledger(path);
    assert_int_equal(ask(ledger, &charge, 1, wanted, NULL), SOTTO_STATUS_OK);
    assert_int_equal(ask(ledger, &second, 2, report, NULL), SOTTO_STATUS_OK);
    sotto_ledger_free(ledger);
    uint8_t *data = slurp(path, &size);
    for (size_t at = 0; at < size; at += at < 512 ? 1 : 17) {
        data[at] ^= 0x41;
        spill(path, data, size);
        data[at] ^= 0x41;
        ledger = NULL;
        enum sotto_status status = sotto_ledger_open(path, &ledger, NULL);
        if (status != SOTTO_STATUS_OK) {
            assert_true(status == SOTTO_STATUS_FORMAT ||
                        status == SOTTO_STATUS_IO);
            refused++;
        } else {
            opened++;
        }
        sotto_ledger_free(ledger);
    }
    for (size_t kept = 0; kept < size; kept += 511) {
        spill(path, data, kept);
        ledger = NULL;
        assert_int_not_equal(sotto_ledger_open(path, &ledger, NULL),
                             SOTTO_STATUS_OK);
        sotto_ledger_free(ledger);
    }
    print_message("%zu bytes changed one by one: %zu refused, %zu opened\n",
                  opened + refused, refused, opened);
    assert_true(refused > 100);
    spill(path, data, size);
    ledger = open_ledger(path);
    assert_int_equal(ask(ledger, &charge, 9, report, NULL), SOTTO_STATUS_OK);
    assert_memory_equal(report, wanted, REPORT_SIZE);
    sotto_ledger_free(ledger);
    free(data);
}

/* What another program set in the file does not weaken ours. */
static void
test_settings(void **state)
{
    struct sql sql = {NULL, NULL, NULL};
    struct ledger_budgets caps;
    uint8_t check[LEDGER_CHECK_SIZE];
    int64_t value = 0;
    (void)state;
    create(in_folder("l"), "1", NULL);
    run_sql(in_folder("l"), "PRAGMA journal_mode=WAL");
    assert_int_equal(ledger_file_open(in_folder("l"), &sql, &caps, check, NULL),
                     SOTTO_STATUS_OK);
    assert_int_equal(sql_integer(&sql, "PRAGMA synchronous", &value, NULL),
                     SOTTO_STATUS_OK);
    assert_int_equal(value, 3);
    assert_int_equal(
        sql_expect(&sql, "PRAGMA journal_mode", "delete", "", NULL),
        SOTTO_STATUS_OK);
    assert_int_equal(caps.lifetime.eps, DECIMAL_UNIT);
    assert_int_equal(sqlite3_close(sql.db), SQLITE_OK);
    assert_int_equal(entries(), 3);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_no_ledger),
        TEST(test_odd_names),
        TEST(test_versions_and_schemas),
        TEST(test_damage),
        TEST(test_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
