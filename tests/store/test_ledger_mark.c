/*
 * test_ledger_mark.c: a ledger put back from a backup makes no new charge; a
 * kill at any step of a charge leaves one that is not taken for such.
 */
#include "ledger_fixture.h"

#include "kill_steps.h"
#include "store/ledger.h"

static const uint8_t secret[LEDGER_SECRET_SIZE] = {1};
static uint8_t report[REPORT_SIZE];

static uint64_t
raise_to(const uint8_t *with, uint64_t sequence)
{
    uint64_t mark = 0;
    assert_int_equal(
        ledger_mark_raise(in_folder("l"), with, sequence, &mark, NULL),
        SOTTO_STATUS_OK);
    return mark;
}

static void
test_rises(void **state)
{
    static const uint8_t other[LEDGER_SECRET_SIZE] = {2};
    struct stat info;
    (void)state;
    assert_true(raise_to(secret, 3) == LEDGER_MARK_LOST);
    assert_int_equal(entries(), 0); /* and none is made */
    assert_int_equal(ledger_mark_create(in_folder("l"), secret, 3, NULL),
                     SOTTO_STATUS_OK);
    assert_int_equal(stat(in_folder("l.mark"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_true(raise_to(secret, 2) == 3);
    assert_true(raise_to(secret, 5) == 3);
    assert_true(raise_to(secret, 4) == 5);
    assert_true(raise_to(secret, 6) == 5);
    assert_int_equal(ledger_mark_create(in_folder("l"), secret, 1, NULL),
                     SOTTO_STATUS_OK);
    assert_true(raise_to(secret, UINT64_C(1) << 40) == 6);
    assert_true(raise_to(secret, 0) == UINT64_C(1) << 40);
    assert_true(raise_to(other, 0) == LEDGER_MARK_LOST);
    ledger_mark_remove(in_folder("l"));
    assert_int_equal(entries(), 0);
}

/* A write that is torn leaves the mark before it; both gone are lost. */
static void
test_torn(void **state)
{
    size_t size = 0;
    (void)state;
    assert_int_equal(ledger_mark_create(in_folder("l"), secret, 3, NULL),
                     SOTTO_STATUS_OK);
    (void)raise_to(secret, 4);
    (void)raise_to(secret, 5);
    uint8_t *data = slurp(in_folder("l.mark"), &size);
    assert_int_equal(size, 80);
    for (size_t i = 0; i < size; i++) {
        data[i] ^= 1;
        spill(in_folder("l.mark"), data, size);
        data[i] ^= 1;
        uint64_t mark = raise_to(secret, 0);
        assert_true(mark == 4 || mark == 5);
        assert_true(raise_to(secret, 6) == mark);
        assert_true(raise_to(secret, 0) == 6);
    }
    for (size_t kept = 0; kept < size; kept++) {
        spill(in_folder("l.mark"), data, kept);
        assert_true(kept < size / 2 ? raise_to(secret, 0) == LEDGER_MARK_LOST
                                    : raise_to(secret, 0) >= 4);
    }
    data[0] ^= 1;
    data[size / 2] ^= 1;
    spill(in_folder("l.mark"), data, size);
    assert_true(raise_to(secret, 0) == LEDGER_MARK_LOST);
    free(data);
}

/* A file of the ledger, copied. */
static void
copy(const char *from, const char *to)
{
    size_t size = 0;
    uint8_t *data = slurp(in_folder(from), &size);
    spill(in_folder(to), data, size);
    free(data);
}

static enum sotto_status
ask_once(const char *person, unsigned salt, struct sotto_error *err)
{
    struct sotto_charge charge = fake_charge(person, "a", 1, EPS(1000));
    struct sotto_ledger *ledger = open_ledger(in_folder("l"));
    enum sotto_status status = ask(ledger, &charge, salt, report, err);
    sotto_ledger_free(ledger);
    return status;
}

static void
test_backup(void **state)
{
    struct sotto_error err = {0};
    (void)state;
    create(in_folder("l"), "10", NULL);
    assert_int_equal(ask_once("ann", 1, &err), SOTTO_STATUS_OK);
    copy("l", "backup");
    copy("l.mark", "backup.mark");
    assert_int_equal(ask_once("bob", 2, &err), SOTTO_STATUS_OK);
    copy("l", "newest");
    copy("backup", "l");
    assert_int_equal(ask_once("bob", 3, &err), SOTTO_STATUS_REFUSED);
    expect_in(err.message, "had 2 charges and has fewer");
    assert_int_equal(ask_once("cy", 4, &err), SOTTO_STATUS_REFUSED);
    assert_int_equal(ask_once("ann", 5, &err), SOTTO_STATUS_OK);
    assert_int_equal(report[REPORT_HEADER_SIZE], 1); /* stored ones go */
    copy("newest", "l");
    assert_int_equal(ask_once("bob", 6, &err), SOTTO_STATUS_OK);
    assert_int_equal(report[REPORT_HEADER_SIZE], 2);
    assert_int_equal(ask_once("cy", 7, &err), SOTTO_STATUS_OK);
    /* Both files together: that is not seen, and docs/ledger.md says so. */
    copy("backup", "l");
    copy("backup.mark", "l.mark");
    assert_int_equal(ask_once("bob", 8, &err), SOTTO_STATUS_OK);
    assert_int_equal(report[REPORT_HEADER_SIZE], 8);
}

static void
test_lost(void **state)
{
    struct sotto_error err = {0};
    (void)state;
    create(in_folder("l"), "10", NULL);
    assert_int_equal(ask_once("ann", 1, &err), SOTTO_STATUS_OK);
    copy("l.mark", "kept");
    assert_int_equal(unlink(in_folder("l.mark")), 0);
    assert_int_equal(ask_once("bob", 2, &err), SOTTO_STATUS_REFUSED);
    expect_in(err.message, "l.mark");
    assert_int_equal(ask_once("ann", 3, &err), SOTTO_STATUS_OK);
    assert_int_equal(report[REPORT_HEADER_SIZE], 1);
    copy("kept", "l.mark");
    assert_int_equal(ask_once("bob", 4, &err), SOTTO_STATUS_OK);
    /* Taken away in the middle: what is charged is kept, not released. */
    struct sotto_charge charge = fake_charge("cy", "a", 1, EPS(1000));
    struct sotto_ledger *ledger = open_ledger(in_folder("l"));
    assert_int_equal(rename(in_folder("l.mark"), in_folder("kept")), 0);
    assert_int_equal(ask(ledger, &charge, 5, report, &err), SOTTO_STATUS_IO);
    assert_int_equal(ask(ledger, &charge, 6, report, &err), SOTTO_STATUS_IO);
    assert_int_equal(rename(in_folder("kept"), in_folder("l.mark")), 0);
    assert_int_equal(ask(ledger, &charge, 7, report, &err), SOTTO_STATUS_OK);
    assert_int_equal(report[REPORT_HEADER_SIZE], 5);
    sotto_ledger_free(ledger);
}

static bool
charge_bob(void *context)
{
    struct sotto_charge charge = fake_charge("bob", "a", 1, EPS(1000));
    struct sotto_ledger *ledger = NULL;
    bool done = sotto_ledger_open(context, &ledger, NULL) == SOTTO_STATUS_OK &&
                ask(ledger, &charge, 2, report, NULL) == SOTTO_STATUS_OK;
    sotto_ledger_free(ledger);
    return done;
}

/* Nobody is locked out by a kill: the mark is never above the ledger. */
static void
test_killed_at_every_step(void **state)
{
    struct sotto_error err = {0};
    char path[256];
    size_t between = 0, charged = 0;
    long n = 1;
    (void)state;
    (void)snprintf(path, sizeof path, "%s", in_folder("l"));
    create(path, "10", NULL);
    assert_int_equal(ask_once("ann", 1, &err), SOTTO_STATUS_OK);
    copy("l", "backup");
    copy("l.mark", "backup.mark");
    size_t size = 0;
    while (kill_steps_run(charge_bob, path, n)) {
        uint8_t *mark = slurp(in_folder("l.mark"), &size);
        bool raised = mark[0] == 2 || mark[size / 2] == 2;
        free(mark);
        assert_int_equal(ask_once("bob", 3, &err), SOTTO_STATUS_OK);
        bool kept = report[REPORT_HEADER_SIZE] == 2;
        assert_true(kept || !raised);
        between += kept && !raised;
        charged += kept;
        assert_int_equal(ask_once("cy", 4, &err), SOTTO_STATUS_OK);
        copy("backup", "l");
        copy("backup.mark", "l.mark");
        n++;
    }
    print_message("%ld kills: %zu left the charge, %zu of them no mark yet\n",
                  n - 1, charged, between);
    assert_true(n > 10 && charged > 1 && between > 0 && between < charged);
    copy("backup", "l"); /* it came to its end: the backup is seen */
    assert_int_equal(ask_once("bob", 5, &err), SOTTO_STATUS_REFUSED);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_rises),
        TEST(test_torn),
        TEST(test_backup),
        TEST(test_lost),
        TEST(test_killed_at_every_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
