/*
 * test_ledger_create.c: making a ledger: caps, modes, and nothing overwritten.
 */
#include "ledger_fixture.h"

static void
refuse(const struct sotto_ledger_caps *caps, enum sotto_status wanted,
       const char *piece)
{
    struct sotto_error err = {0};
    assert_int_equal(sotto_ledger_create(in_folder("l"), caps, &err), wanted);
    assert_int_equal(err.status, wanted);
    expect_in(err.message, piece);
    assert_int_equal(entries(), 0);
}

static void
test_caps(void **state)
{
    static const char *const format[] = {"", "x", "-1", "1e3", " 1", "01"};
    struct sotto_ledger_caps caps = {NULL, NULL, NULL, NULL};
    (void)state;
    refuse(&caps, SOTTO_STATUS_FORMAT, "lifetime's epsilon");
    for (size_t i = 0; i < sizeof format / sizeof *format; i++) {
        caps.lifetime_eps = format[i];
        refuse(&caps, SOTTO_STATUS_FORMAT, "lifetime's epsilon");
    }
    caps.lifetime_eps = "0.0000000000001";
    refuse(&caps, SOTTO_STATUS_LIMIT, "12 digits");
    caps.lifetime_eps = "1000000.1";
    refuse(&caps, SOTTO_STATUS_BUDGET, "1000000");
    caps.lifetime_eps = "0";
    refuse(&caps, SOTTO_STATUS_BUDGET, "0.000001");
    caps.lifetime_eps = "2";
    caps.lifetime_delta = "1.1";
    refuse(&caps, SOTTO_STATUS_BUDGET, "lifetime's delta");
    caps.lifetime_delta = "0.5";
    caps.campaign_eps = "2.000000000001";
    refuse(&caps, SOTTO_STATUS_BUDGET, "campaign's epsilon");
    caps.campaign_eps = "0";
    refuse(&caps, SOTTO_STATUS_BUDGET, "campaign's epsilon");
    caps.campaign_eps = "2";
    caps.campaign_delta = "0.500000000001";
    refuse(&caps, SOTTO_STATUS_BUDGET, "campaign's delta");
    caps.campaign_delta = "0.5";
    caps.lifetime_eps = "1000000";
    assert_int_equal(sotto_ledger_create(in_folder("l"), &caps, NULL),
                     SOTTO_STATUS_OK);
}

static void
test_modes(void **state)
{
    static const char *const names[] = {"l", "l.secret", "l.mark"};
    struct stat info;
    (void)state;
    mode_t old = umask(0);
    create(in_folder("l"), "1", NULL);
    (void)umask(old);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(stat(in_folder(names[i]), &info), 0);
        assert_int_equal(info.st_mode & 0777, 0600);
    }
    assert_int_equal(entries(), 3);
}

/* Neither a ledger nor what one left behind is touched. */
static void
test_nothing_overwritten(void **state)
{
    static const char *const names[] = {"l", "l.secret", "l.mark", "l-journal",
                                        "l-wal"};
    struct sotto_ledger_caps caps = {"1", NULL, NULL, NULL};
    struct sotto_error err = {0};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        size_t size = 0;
        spill(in_folder(names[i]), "mine", 4);
        assert_int_equal(sotto_ledger_create(in_folder("l"), &caps, &err),
                         SOTTO_STATUS_IO);
        expect_in(err.message, names[i]);
        uint8_t *data = slurp(in_folder(names[i]), &size);
        assert_int_equal(size, 4);
        assert_memory_equal(data, "mine", 4);
        free(data);
        assert_int_equal(entries(), 1);
        assert_int_equal(unlink(in_folder(names[i])), 0);
    }
    assert_int_equal(symlink("nowhere", in_folder("l")), 0);
    assert_int_equal(sotto_ledger_create(in_folder("l"), &caps, &err),
                     SOTTO_STATUS_IO);
    assert_int_equal(sotto_ledger_create(in_folder("none/l"), &caps, &err),
                     SOTTO_STATUS_IO);
    assert_int_equal(entries(), 1);
}

/* A ledger that cannot be written takes its secret with it. */
static void
test_no_secret_left(void **state)
{
    struct sotto_ledger_caps caps = {"1", NULL, NULL, NULL};
    char name[300], path[500];
    (void)state;
    memset(name, 'n', sizeof name);
    name[255 - 7] = '\0'; /* with .secret as long as a name may be */
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(sotto_ledger_create(path, &caps, NULL), SOTTO_STATUS_OK);
    name[255 - 6] = '\0';
    name[255 - 7] = 'n';
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(sotto_ledger_create(path, &caps, NULL), SOTTO_STATUS_IO);
    assert_int_equal(entries(), 3);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_caps),
        TEST(test_modes),
        TEST(test_nothing_overwritten),
        TEST(test_no_secret_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
