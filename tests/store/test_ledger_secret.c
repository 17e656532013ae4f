/*
 * test_ledger_secret.c: names become hashes under a secret; a secret that is
 * lost or another's closes the ledger.
 */
#include "ledger_fixture.h"

#include <sodium.h>

#include "store/ledger.h"

static bool no_entropy;

int
sotto_entropy(void *buffer, size_t size)
{
    static uint8_t next;
    memset(buffer, ++next, size);
    return no_entropy ? -1 : 0;
}

/* From Python's hashlib.blake2b(name, key=secret, person=..., digest_size=32)
   with the secret 0, 1, ..., 31. */
static void
test_known_answers(void **state)
{
    uint8_t secret[LEDGER_SECRET_SIZE], hash[32];
    char text[65];
    (void)state;
    for (uint8_t i = 0; i < sizeof secret; i++) {
        secret[i] = i;
    }
    ledger_secret_person(secret, "ann", 3, hash);
    assert_string_equal(
        sodium_bin2hex(text, sizeof text, hash, 32),
        "e4e7dd08bf442cf0a35bc7adcd8dd9e872b992a149ffab4e572ec119cc9fb281");
    ledger_secret_check(secret, hash);
    assert_string_equal(
        sodium_bin2hex(text, sizeof text, hash, 32),
        "099f4fe0f4041d75a3bf17742225d6e5f788e2e30cefb46db3135af7d8621478");
}

static void
test_lost_and_exchanged(void **state)
{
    const char *path = in_folder("l"), *secret = in_folder("l.secret");
    uint8_t report[REPORT_SIZE];
    struct sotto_charge charge = fake_charge("ann", "a", 1, EPS(1000));
    (void)state;
    create(path, "1", NULL);
    create(in_folder("m"), "1", NULL);
    struct sotto_ledger *ledger = open_ledger(path);
    assert_int_equal(ask(ledger, &charge, 1, report, NULL), SOTTO_STATUS_OK);
    sotto_ledger_free(ledger);
    assert_int_equal(rename(secret, in_folder("kept")), 0);
    expect_closed(path, SOTTO_STATUS_FORMAT, "l.secret' is not there");
    assert_int_equal(access(secret, F_OK), -1); /* and none was made */
    assert_int_equal(link(in_folder("m.secret"), secret), 0);
    expect_closed(path, SOTTO_STATUS_FORMAT, "belongs to another ledger");
    for (size_t size = 0; size <= LEDGER_SECRET_SIZE + 1; size++) {
        uint8_t bytes[LEDGER_SECRET_SIZE + 1] = {1};
        assert_int_equal(unlink(secret), 0);
        spill(secret, bytes, size);
        expect_closed(path, SOTTO_STATUS_FORMAT,
                      size == LEDGER_SECRET_SIZE ? "another ledger"
                                                 : "is no secret");
    }
    assert_int_equal(rename(in_folder("kept"), secret), 0);
    ledger = open_ledger(path);
    assert_int_equal(ask(ledger, &charge, 2, report, NULL), SOTTO_STATUS_OK);
    assert_int_equal(report[REPORT_HEADER_SIZE], 1);
    sotto_ledger_free(ledger);
}

static void
test_no_entropy(void **state)
{
    struct sotto_ledger_caps caps = {"1", NULL, NULL, NULL};
    struct sotto_error err = {0};
    (void)state;
    no_entropy = true;
    assert_int_equal(sotto_ledger_create(in_folder("l"), &caps, &err),
                     SOTTO_STATUS_ENTROPY);
    no_entropy = false;
    expect_in(err.message, "no entropy");
    assert_int_equal(entries(), 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_known_answers),
        TEST(test_lost_and_exchanged),
        TEST(test_no_entropy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
