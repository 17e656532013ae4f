/*
 * test_ledger_upgrade.c: a ledger of sotto 0.1.0 is opened, upgraded in place
 * and killed at every step of that: whatever is left has every charge, every
 * report and the caps, and opens.
 */
#include "ledger_fixture.h"

#include "kill_steps.h"
#include "store/ledger.h"

#define PEOPLE 40u

/* Word for word what sotto 0.1.0 made. */
static const char schema[] =
    "PRAGMA application_id=1397707852;PRAGMA user_version=1;"
    "CREATE TABLE charge (\n"
    "  sequence INTEGER PRIMARY KEY,\n"
    "  person BLOB NOT NULL CHECK (length(person) = 32),\n"
    "  campaign TEXT NOT NULL,\n"
    "  mechanism BLOB NOT NULL CHECK (mechanism = substr(report, 5, 32)),\n"
    "  id BLOB NOT NULL UNIQUE CHECK (id = substr(report, 37, 16)),\n"
    "  charged_at INTEGER NOT NULL CHECK (charged_at >= 0),\n"
    "  eps INTEGER NOT NULL CHECK (eps > 0),\n"
    "  delta INTEGER NOT NULL CHECK (delta >= 0),\n"
    "  report BLOB NOT NULL CHECK (length(report) > 52),\n"
    "  UNIQUE (person, campaign, mechanism)\n"
    ") STRICT;"
    "CREATE TABLE ledger (\n"
    "  one INTEGER PRIMARY KEY CHECK (one = 1),\n"
    "  secret_check BLOB NOT NULL CHECK (length(secret_check) = 32),\n"
    "  lifetime_eps INTEGER NOT NULL CHECK (lifetime_eps > 0),\n"
    "  lifetime_delta INTEGER NOT NULL CHECK (lifetime_delta >= 0),\n"
    "  campaign_eps INTEGER NOT NULL\n"
    "    CHECK (campaign_eps > 0 AND campaign_eps <= lifetime_eps),\n"
    "  campaign_delta INTEGER NOT NULL\n"
    "    CHECK (campaign_delta >= 0 AND campaign_delta <= lifetime_delta)\n"
    ") STRICT";

static void
run_sql(const struct sql *sql, const char *text, const struct sql_value *values)
{
    struct sotto_error err = {0};
    if (sql_execute(sql, text, values, &err) != SOTTO_STATUS_OK) {
        fail_msg("%s: %s", text, err.message);
    }
}

static size_t
name_person(size_t i, char name[32])
{
    return (size_t)snprintf(name, 32, "person %zu", i);
}

static struct sotto_charge
charge_of(size_t i, char name[32])
{
    (void)name_person(i, name);
    return fake_charge(name, i % 2 ? "autumn" : "spring", (uint8_t)(i % 2 + 1),
                       EPS(1000));
}

/* Caps of 5 in all and 3 in a campaign, and one charge a person. */
static void
make_old(const char *path)
{
    struct sql sql = {NULL, path, "ledger"};
    uint8_t secret[LEDGER_SECRET_SIZE], check[LEDGER_CHECK_SIZE];
    assert_int_equal(ledger_secret_create(path, secret, NULL), SOTTO_STATUS_OK);
    ledger_secret_check(secret, check);
    assert_int_equal(sqlite3_open(path, &sql.db), SQLITE_OK);
    assert_int_equal(sql_run(&sql, schema, NULL), SOTTO_STATUS_OK);
    run_sql(&sql, "INSERT INTO ledger VALUES (1, ?1, ?2, 0, ?3, 0)",
            SQL_VALUES(SQL_BLOB(check, sizeof check), SQL_NUMBER(EPS(5000)),
                       SQL_NUMBER(EPS(3000))));
    for (unsigned i = 0; i < PEOPLE; i++) {
        uint8_t person[LEDGER_PERSON_SIZE], report[REPORT_SIZE];
        char name[32];
        struct sotto_charge charge = charge_of(i, name);
        fake_report(charge.mechanism, 100 + i, report);
        ledger_secret_person(secret, name, strlen(name), person);
        run_sql(&sql,
                "INSERT INTO charge VALUES (NULL, ?1, ?2, ?3, "
                "substr(?4, 37, 16), 1700000000, ?5, 0, ?4)",
                SQL_VALUES(SQL_BLOB(person, sizeof person),
                           SQL_TEXT(charge.campaign, charge.campaign_size),
                           SQL_BLOB(charge.mechanism, SOTTO_HASH_SIZE),
                           SQL_BLOB(report, sizeof report),
                           SQL_NUMBER(charge.eps)));
    }
    assert_int_equal(sqlite3_close(sql.db), SQLITE_OK);
}

static bool
open_and_close(void *context)
{
    struct sotto_ledger *ledger = NULL;
    bool opened = sotto_ledger_open(context, &ledger, NULL) == SOTTO_STATUS_OK;
    sotto_ledger_free(ledger);
    return opened;
}

/* Everybody has the report that 0.1.0 kept, and the caps are as they were. */
static void
expect_all(const char *path)
{
    struct sotto_ledger *ledger = open_ledger(path);
    struct sotto_ledger_amount lifetime = {0}, campaign = {0};
    sotto_ledger_caps(ledger, &lifetime, &campaign);
    assert_string_equal(lifetime.eps_text, "5");
    assert_string_equal(campaign.eps_text, "3");
    assert_string_equal(campaign.delta_text, "0");
    for (unsigned i = 0; i < PEOPLE; i++) {
        uint8_t report[REPORT_SIZE] = {0}, wanted[REPORT_SIZE];
        char name[32];
        struct sotto_ledger_amount spent = {0}, left = {0};
        struct sotto_charge charge = charge_of(i, name);
        fake_report(charge.mechanism, 100 + i, wanted);
        assert_int_equal(ask(ledger, &charge, 7, report, NULL),
                         SOTTO_STATUS_OK);
        assert_memory_equal(report, wanted, sizeof report);
        assert_int_equal(sotto_ledger_balance(ledger, name, strlen(name), NULL,
                                              &spent, &left, NULL),
                         SOTTO_STATUS_OK);
        assert_string_equal(spent.eps_text, "1");
        assert_string_equal(left.eps_text, "4");
    }
    sotto_ledger_free(ledger);
}

static int64_t
version_of(const char *path)
{
    struct sql sql = {NULL, path, "ledger"};
    int64_t version = 0;
    assert_int_equal(sqlite3_open(path, &sql.db), SQLITE_OK);
    assert_int_equal(sql_integer(&sql, "PRAGMA user_version", &version, NULL),
                     SOTTO_STATUS_OK);
    assert_int_equal(sqlite3_close(sql.db), SQLITE_OK);
    return version;
}

static void
test_killed_at_every_step(void **state)
{
    char path[256];
    size_t size = 0, old = 0, journals = 0;
    long n = 1;
    (void)state;
    (void)snprintf(path, sizeof path, "%s", in_folder("l"));
    make_old(path);
    uint8_t *image = slurp(path, &size);
    while (kill_steps_run(open_and_close, path, n)) {
        journals += access(in_folder("l-journal"), F_OK) == 0;
        old += version_of(path) == 1;
        expect_all(path);
        assert_int_equal(version_of(path), 2);
        spill(path, image, size);
        (void)unlink(in_folder("l.mark"));
        n++;
    }
    print_message("%ld kills: %zu left version 1, %zu a journal\n", n - 1, old,
                  journals);
    assert_true(n > 10 && old > 5 && journals > 3);
    assert_true(old < (size_t)n);
    expect_all(path);
    free(image);
}

/* A ledger of 0.1.0 put back after the upgrade is behind the mark as well. */
static void
test_old_backup(void **state)
{
    struct sotto_error err = {0};
    struct sotto_charge charge = fake_charge("somebody", "spring", 1, EPS(1));
    uint8_t report[REPORT_SIZE];
    size_t size = 0;
    (void)state;
    make_old(in_folder("l"));
    uint8_t *image = slurp(in_folder("l"), &size);
    struct sotto_ledger *ledger = open_ledger(in_folder("l"));
    assert_int_equal(ask(ledger, &charge, 1, report, &err), SOTTO_STATUS_OK);
    sotto_ledger_free(ledger);
    spill(in_folder("l"), image, size);
    ledger = open_ledger(in_folder("l"));
    assert_int_equal(ask(ledger, &charge, 2, report, &err),
                     SOTTO_STATUS_REFUSED);
    expect_in(err.message, "had 41 charges and has fewer");
    sotto_ledger_free(ledger);
    free(image);
}

/* As before, a second mechanism needs room; now it needs agreement, too. */
static void
test_rules_after_it(void **state)
{
    struct sotto_error err = {0};
    struct sotto_charge second =
        fake_charge("person 0", "spring", 9, EPS(2000));
    struct sotto_charge third = fake_charge("person 0", "spring", 10, 1);
    uint8_t report[REPORT_SIZE];
    (void)state;
    make_old(in_folder("l"));
    struct sotto_ledger *ledger = open_ledger(in_folder("l"));
    assert_int_equal(ask(ledger, &second, 1, report, &err),
                     SOTTO_STATUS_REFUSED);
    expect_in(err.message, "--again");
    sotto_ledger_again(ledger, true);
    assert_int_equal(ask(ledger, &second, 1, report, &err), SOTTO_STATUS_OK);
    assert_int_equal(ask(ledger, &third, 2, report, &err),
                     SOTTO_STATUS_REFUSED);
    expect_in(err.message, "epsilon in a campaign is 3; 3 is spent");
    sotto_ledger_free(ledger);
}

/* A damaged one is not upgraded, and not touched. */
static void
test_damaged(void **state)
{
    size_t before = 0, after = 0;
    struct sql sql = {NULL, NULL, "ledger"};
    (void)state;
    make_old(in_folder("l"));
    assert_int_equal(sqlite3_open(in_folder("l"), &sql.db), SQLITE_OK);
    assert_int_equal(sql_run(&sql, "CREATE TABLE kept (x)", NULL),
                     SOTTO_STATUS_OK);
    assert_int_equal(sqlite3_close(sql.db), SQLITE_OK);
    uint8_t *was = slurp(in_folder("l"), &before);
    expect_closed(in_folder("l"), SOTTO_STATUS_FORMAT, "not those of a ledger");
    uint8_t *is = slurp(in_folder("l"), &after);
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
        TEST(test_old_backup),
        TEST(test_rules_after_it),
        TEST(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
