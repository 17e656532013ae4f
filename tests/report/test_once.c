/*
 * test_once.c: the contract between a device and its ledger, with a ledger of
 * one row in memory.
 */
#include "client/client_fixture.h"

#include "base/status.h"

enum call { CALL_BEGIN = 1, CALL_COMMIT = 2, CALL_CANCEL = 3 };

struct memory {
    enum sotto_status begin, commit; /* what they answer */
    bool found;
    uint8_t kept[256];
    struct sotto_charge charge;
    enum call calls[4];
    size_t count;
    size_t entropy_calls; /* when commit was called */
};

static enum sotto_status
memory_begin(void *context, const struct sotto_charge *charge, uint8_t *report,
             size_t size, int *ret_found, struct sotto_error *err)
{
    struct memory *memory = context;
    memory->calls[memory->count++] = CALL_BEGIN;
    memory->charge = *charge;
    if (memory->begin != SOTTO_STATUS_OK) {
        memset(report, 0x77, size); /* what a careless ledger leaves */
        return status_fail(err, memory->begin, 0, "begin");
    }
    if (memory->found) {
        memcpy(report, memory->kept, size);
    }
    *ret_found = memory->found;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
memory_commit(void *context, const struct sotto_charge *charge,
              const uint8_t *report, size_t size, struct sotto_error *err)
{
    struct memory *memory = context;
    memory->calls[memory->count++] = CALL_COMMIT;
    memory->entropy_calls = tape.calls;
    assert_memory_equal(charge, &memory->charge, sizeof *charge);
    memcpy(memory->kept, report, size);
    return memory->commit == SOTTO_STATUS_OK
               ? SOTTO_STATUS_OK
               : status_fail(err, memory->commit, 0, "commit");
}

static void
memory_cancel(void *context)
{
    struct memory *memory = context;
    memory->calls[memory->count++] = CALL_CANCEL;
}

struct fixture {
    struct file file;
    struct opened opened;
    struct memory memory;
    struct sotto_ledger_port port;
    struct sotto_value values[4];
    uint8_t report[64];
    struct sotto_error err;
};

static struct fixture f;

static int
setup(void **state)
{
    (void)state;
    memset(&f, 0, sizeof f);
    f.file = file_make(everything());
    f.opened = client_open(f.file);
    f.port = (struct sotto_ledger_port){&f.memory, memory_begin, memory_commit,
                                        memory_cancel};
    everything_record(f.values);
    memset(f.report, 0xee, sizeof f.report);
    tape_start(NULL, 0);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    client_done(&f.opened);
    free(f.file.data);
    return 0;
}

static enum sotto_status
report_of(const char *person, size_t size, const struct sotto_value *values)
{
    return sotto_client_report(f.opened.client, &f.port, person, size, values,
                               4, f.report, sizeof f.report, &f.err);
}

static void
expect_wiped(void)
{
    static const uint8_t zero[64];
    assert_memory_equal(f.report, zero, sizeof zero);
}

static void
expect_calls(enum call first, enum call second)
{
    assert_int_equal(f.memory.count, (first != 0) + (second != 0));
    assert_int_equal(f.memory.calls[0], first);
    assert_int_equal(f.memory.calls[1], second);
}

static void
test_new(void **state)
{
    (void)state;
    assert_int_equal(report_of("ann", 3, f.values), SOTTO_STATUS_OK);
    expect_calls(CALL_BEGIN, CALL_COMMIT);
    assert_memory_equal(f.memory.kept, f.report, sizeof f.report);
    assert_true(
        report_valid(&f.opened.client->report, f.report, sizeof f.report));
    assert_int_equal(f.memory.charge.person_size, 3);
    assert_memory_equal(f.memory.charge.person, "ann", 3);
    assert_int_equal(f.memory.charge.campaign_size, 5);
    assert_memory_equal(f.memory.charge.campaign, "tests", 5);
    assert_memory_equal(f.memory.charge.mechanism,
                        sotto_client_hash(f.opened.client), SOTTO_HASH_SIZE);
    assert_int_equal(f.memory.charge.eps, UNITS(4));
    assert_int_equal(f.memory.charge.delta, 0);
    assert_true(f.memory.entropy_calls >
                0); /* it was made before it was kept */
}

/* The stored report, byte for byte; the record is not even looked at. */
static void
test_found(void **state)
{
    uint8_t first[64];
    (void)state;
    assert_int_equal(report_of("ann", 3, f.values), SOTTO_STATUS_OK);
    memcpy(first, f.report, sizeof first);
    memset(f.report, 0xee, sizeof f.report);
    f.memory.found = true;
    f.memory.count = 0;
    f.memory.calls[1] = 0;
    tape_start(NULL, 0);
    assert_int_equal(report_of("ann", 3, NULL), SOTTO_STATUS_OK);
    expect_calls(CALL_BEGIN, 0);
    assert_memory_equal(f.report, first, sizeof first);
    assert_int_equal(tape.calls, 0);
}

/* Whether to report is decided before the record is looked at: there is
   none to look at. */
static void
test_refused(void **state)
{
    static const enum sotto_status all[] = {
        SOTTO_STATUS_REFUSED, SOTTO_STATUS_IO, SOTTO_STATUS_MEMORY,
        SOTTO_STATUS_FORMAT};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        f.memory.begin = all[i];
        f.memory.count = 0;
        assert_int_equal(report_of("ann", 3, NULL), all[i]);
        expect_calls(CALL_BEGIN, 0);
        assert_int_equal(f.err.status, all[i]);
        assert_string_equal(f.err.message, "begin");
        assert_int_equal(tape.calls, 0);
        expect_wiped();
    }
}

static void
test_commit_fails(void **state)
{
    (void)state;
    f.memory.commit = SOTTO_STATUS_IO;
    assert_int_equal(report_of("ann", 3, f.values), SOTTO_STATUS_IO);
    expect_calls(CALL_BEGIN, CALL_COMMIT);
    assert_string_equal(f.err.message, "commit");
    expect_wiped();
}

static void
test_no_entropy(void **state)
{
    (void)state;
    tape.failing_call = 1;
    assert_int_equal(report_of("ann", 3, f.values), SOTTO_STATUS_ENTROPY);
    expect_calls(CALL_BEGIN, CALL_CANCEL);
    assert_int_equal(f.err.status, SOTTO_STATUS_ENTROPY);
    expect_wiped();
}

/* What was kept is no report of this mechanism. */
static void
test_damaged(void **state)
{
    (void)state;
    f.memory.found = true;
    assert_int_equal(report_of("ann", 3, f.values), SOTTO_STATUS_FORMAT);
    expect_calls(CALL_BEGIN, 0);
    assert_int_equal(f.err.status, SOTTO_STATUS_FORMAT);
    expect_wiped();
}

/* A simulated report that found its way into a ledger stays there
   (invariant 3). */
static void
test_simulated(void **state)
{
    (void)state;
    assert_int_equal(report_of("ann", 3, f.values), SOTTO_STATUS_OK);
    memcpy(f.memory.kept, REPORT_MAGIC_SIMULATED, REPORT_MAGIC_SIZE);
    f.memory.found = true;
    assert_int_equal(report_of("ann", 3, f.values), SOTTO_STATUS_FORMAT);
    expect_wiped();
}

static void
test_usage(void **state)
{
    char name[SOTTO_PERSON_MAX + 1];
    (void)state;
    memset(name, 'n', sizeof name);
    assert_int_equal(report_of(name, 0, f.values), SOTTO_STATUS_USAGE);
    expect_wiped();
    memset(f.report, 0xee, sizeof f.report);
    assert_int_equal(report_of(name, sizeof name, f.values),
                     SOTTO_STATUS_USAGE);
    expect_wiped();
    memset(f.report, 0xee, sizeof f.report);
    assert_int_equal(sotto_client_report(f.opened.client, &f.port, name, 3,
                                         f.values, 3, f.report, sizeof f.report,
                                         &f.err),
                     SOTTO_STATUS_SIZE);
    expect_wiped();
    assert_int_equal(sotto_client_report(f.opened.client, &f.port, name, 3,
                                         f.values, 4, f.report,
                                         sizeof f.report - 1, &f.err),
                     SOTTO_STATUS_SIZE);
    assert_int_equal(f.memory.count, 0);
    assert_int_equal(report_of(name, SOTTO_PERSON_MAX, f.values),
                     SOTTO_STATUS_OK);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_new),          TEST(test_found),      TEST(test_refused),
        TEST(test_commit_fails), TEST(test_no_entropy), TEST(test_damaged),
        TEST(test_usage),        TEST(test_simulated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
