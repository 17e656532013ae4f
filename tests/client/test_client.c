/*
 * test_client.c: the device's interface: opening, pinning, privatising,
 * failing closed, and leaving nothing behind.
 */
#include "client_fixture.h"

#include "base/blake2b.h"

static bool
all_zero(const void *data, size_t size)
{
    const uint8_t *at = data;
    size_t i = 0;
    while (i < size && at[i] == 0) {
        i++;
    }
    return i == size;
}

static void
test_opens_everything(void **state)
{
    struct file file = file_make(everything());
    struct opened opened = client_open(file);
    uint8_t hash[SOTTO_HASH_SIZE];
    (void)state;
    blake2b_256(file.data, file.size, hash);
    assert_int_equal(sotto_client_columns(opened.client), 4);
    /* header 52, 2 blocks of 2 numbers of 2 bytes, a bitmap of 9, 2 flips */
    assert_int_equal(sotto_client_report_size(opened.client), 52 + 8 + 2 + 2);
    assert_memory_equal(sotto_client_hash(opened.client), hash, sizeof hash);
    client_done(&opened);
    sotto_client_close(NULL);
    free(file.data);
}

static void
test_reports(void **state)
{
    struct file file = file_make(everything());
    struct opened opened = client_open(file);
    struct sotto_value values[4];
    uint8_t report[2][64];
    (void)state;
    everything_record(values);
    tape_start(NULL, 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(sotto_client_privatise(opened.client, values, 4,
                                                report[i], sizeof report[i]),
                         SOTTO_STATUS_OK);
        assert_true(
            report_valid(&opened.client->report, report[i], sizeof report[i]));
        assert_memory_equal(report[i], "STO1", 4);
    }
    assert_memory_equal(report[0], report[1], 36);
    assert_memory_not_equal(report[0] + 36, report[1] + 36, SOTTO_ID_SIZE);
    client_done(&opened);
    free(file.data);
}

static void
test_pin(void **state)
{
    struct file file = file_make(small());
    struct opened opened = client_open(file);
    struct sotto_client *client = NULL;
    struct sotto_error err;
    uint8_t pin[SOTTO_HASH_SIZE];
    (void)state;
    memcpy(pin, sotto_client_hash(opened.client), sizeof pin);
    assert_int_equal(sotto_client_open(file.data, file.size, pin,
                                       opened.workspace, opened.size, &client,
                                       NULL),
                     SOTTO_STATUS_OK);
    for (size_t i = 0; i < 8 * sizeof pin; i++) {
        client = NULL;
        poison(&err);
        pin[i / 8] ^= (uint8_t)(1u << (i % 8));
        assert_int_equal(sotto_client_open(file.data, file.size, pin,
                                           opened.workspace, opened.size,
                                           &client, &err),
                         SOTTO_STATUS_PIN);
        check_error(&err, SOTTO_STATUS_PIN, file.size);
        assert_null(client);
        pin[i / 8] ^= (uint8_t)(1u << (i % 8));
    }
    for (size_t i = 0; i < file.size; i++) { /* before a byte is parsed */
        file.data[i] ^= 1;
        assert_int_equal(sotto_client_open(file.data, file.size, pin,
                                           opened.workspace, opened.size,
                                           &client, NULL),
                         SOTTO_STATUS_PIN);
        file.data[i] ^= 1;
    }
    free(opened.workspace);
    free(file.data);
}

static void
test_workspace_one_byte_short(void **state)
{
    struct file file = file_make(everything());
    struct sotto_client *client = NULL;
    struct sotto_error err;
    size_t need = 0;
    uint8_t *workspace;
    (void)state;
    assert_int_equal(sotto_client_size(file.data, file.size, &need, NULL),
                     SOTTO_STATUS_OK);
    workspace = malloc(need - 1);
    assert_non_null(workspace);
    poison(&err);
    assert_int_equal(sotto_client_open(file.data, file.size, NULL, workspace,
                                       need - 1, &client, &err),
                     SOTTO_STATUS_SIZE);
    check_error(&err, SOTTO_STATUS_SIZE, file.size);
    assert_null(client);
    free(workspace);
    free(file.data);
}

static void
test_unaligned(void **state)
{
    struct file file = file_make(small());
    uint8_t *copy = malloc(file.size + 8), *workspace = malloc(65536);
    struct sotto_client *client = NULL;
    struct sotto_error err;
    size_t need = 0;
    (void)state;
    assert_non_null(copy);
    assert_non_null(workspace);
    for (size_t i = 1; i < 8; i++) {
        memcpy(copy + i, file.data, file.size);
        poison(&err);
        assert_int_equal(sotto_client_size(copy + i, file.size, &need, &err),
                         SOTTO_STATUS_USAGE);
        check_error(&err, SOTTO_STATUS_USAGE, file.size);
        assert_int_equal(need, 0);
        assert_int_equal(sotto_client_open(copy + i, file.size, NULL, workspace,
                                           65536, &client, NULL),
                         SOTTO_STATUS_USAGE);
        poison(&err);
        assert_int_equal(sotto_client_open(file.data, file.size, NULL,
                                           workspace + i, 65536 - i, &client,
                                           &err),
                         SOTTO_STATUS_SIZE);
        check_error(&err, SOTTO_STATUS_SIZE, file.size);
        assert_null(client);
    }
    free(workspace);
    free(copy);
    free(file.data);
}

/* Two clients over one file do not disturb each other. */
static void
test_two_clients(void **state)
{
    struct file file = file_make(everything());
    struct opened one = client_open(file), two = client_open(file);
    struct sotto_value values[4];
    uint8_t alone[64], between[64], other[64];
    (void)state;
    everything_record(values);
    tape_start(NULL, 0);
    assert_int_equal(sotto_client_privatise(one.client, values, 4, alone, 64),
                     SOTTO_STATUS_OK);
    values[0] = value_number(90);
    assert_int_equal(sotto_client_privatise(two.client, values, 4, other, 64),
                     SOTTO_STATUS_OK);
    everything_record(values);
    tape_start(NULL, 0);
    assert_int_equal(sotto_client_privatise(one.client, values, 4, between, 64),
                     SOTTO_STATUS_OK);
    assert_memory_equal(alone, between, 64);
    client_done(&two);
    tape_start(NULL, 0);
    assert_int_equal(sotto_client_privatise(one.client, values, 4, between, 64),
                     SOTTO_STATUS_OK);
    assert_memory_equal(alone, between, 64);
    client_done(&one);
    free(file.data);
}

static void
test_wrong_sizes(void **state)
{
    struct file file = file_make(everything());
    struct opened opened = client_open(file);
    struct sotto_value values[5];
    uint8_t report[65];
    (void)state;
    everything_record(values);
    tape_start(NULL, 0);
    for (size_t i = 0; i < 6; i++) {
        enum sotto_status expected =
            i == 4 ? SOTTO_STATUS_OK : SOTTO_STATUS_SIZE;
        assert_int_equal(
            sotto_client_privatise(opened.client, values, i, report, 64),
            expected);
    }
    for (size_t size = 63; size <= 65; size += 2) { /* and wiped */
        memset(report, 0xcc, sizeof report);
        assert_int_equal(
            sotto_client_privatise(opened.client, values, 4, report, size),
            SOTTO_STATUS_SIZE);
        assert_true(all_zero(report, size));
    }
    assert_int_equal(tape.calls, 1);
    client_done(&opened);
    free(file.data);
}

/* Nothing a record or its noise left: not in x, z, symbols, q or entropy. */
static void
check_wiped(const struct opened *opened)
{
    const struct sotto_client *client = opened->client;
    const struct device_sizes *sizes = &client->sizes;
    assert_true(
        all_zero(client->encoder.buffer, sizeof(float) * 2 * sizes->width));
    assert_true(
        all_zero(client->encoder.symbol, sizeof(int32_t) * sizes->columns));
    assert_true(all_zero(client->report.q, sizeof(int32_t) * sizes->q));
    assert_true(all_zero(client->entropy_buffer, client->entropy.random.size));
    assert_false(client->entropy.random.failed);
}

/* The float's four bytes, anywhere in the workspace, at any alignment. */
static bool
holds(const struct opened *opened, const void *bytes, size_t size)
{
    return memmem(opened->workspace, opened->size, bytes, size) != NULL;
}

static void
test_leaves_nothing(void **state)
{
    struct file file = file_make(everything());
    struct opened opened = client_open(file);
    struct sotto_client *client = opened.client;
    struct sotto_value values[4];
    float seen[EVERYTHING_INPUTS + 7];
    uint8_t report[64], *before = malloc(opened.size);
    (void)state;
    assert_non_null(before);
    everything_record(values);
    values[0] = value_number(-123.456);
    tape_start(NULL, 0);

    schema_apply(&client->encoder, values);
    memcpy(seen, client->encoder.x, sizeof(float) * EVERYTHING_INPUTS);
    assert_true(holds(&opened, &seen[0], 4)); /* the search can find */
    forward_run(&client->encoder);
    memcpy(seen + EVERYTHING_INPUTS, client->encoder.z, sizeof(float) * 7);
    assert_true(holds(&opened, &seen[EVERYTHING_INPUTS], 4));
    device_wipe(client);
    check_wiped(&opened);
    memcpy(before, opened.workspace, opened.size);

    assert_int_equal(sotto_client_privatise(client, values, 4, report, 64),
                     SOTTO_STATUS_OK);
    check_wiped(&opened);
    assert_false(holds(&opened, &seen[0], 4));
    assert_false(holds(&opened, &seen[5], 4)); /* a pixel */
    for (size_t i = 0; i < 7; i++) {
        assert_false(holds(&opened, &seen[EVERYTHING_INPUTS + i], 4));
    }
    assert_false(holds(&opened, report + 36, 16));
    /* all of it, not only where we looked */
    assert_memory_equal(before, opened.workspace, opened.size);
    free(before);
    client_done(&opened);
    free(file.data);
}

/* A mechanism that fetches entropy several times, failing at each. */
static void
test_no_entropy_no_report(void **state)
{
    static const struct schema_column column = {
        "n", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1};
    static const float weight[400] = {0.5f}, bias[400] = {0};
    static const struct layer layer = {1, 400, ACTIVATION_NONE, weight, bias};
    static const struct compose_part parts[] = {
        {"features", "subset", UNITS(1), 1, 0, 0, 0, {{false, 0, 400}}, 1},
        {"features", "laplace", UNITS(1), 8, 0, 50, 16, {{0}}, 0},
    };
    static const struct compose_spec spec = {
        "s", "c", "a", UNITS(9), &column, 1, &layer, 1, parts, 2};
    struct file file = file_make(&spec);
    struct opened opened = client_open(file);
    struct sotto_value value = value_number(0.25);
    size_t size = sotto_client_report_size(opened.client), calls;
    uint8_t *report = malloc(size), *before = malloc(opened.size);
    (void)state;
    assert_non_null(report);
    assert_non_null(before);
    memcpy(before, opened.workspace, opened.size);
    tape_start(NULL, 0);
    assert_int_equal(
        sotto_client_privatise(opened.client, &value, 1, report, size),
        SOTTO_STATUS_OK);
    calls = tape.calls;
    assert_true(calls >= 3);
    for (size_t i = 1; i <= calls; i++) {
        memset(report, 0xcc, size);
        tape_start(NULL, 0);
        tape.failing_call = i;
        assert_int_equal(
            sotto_client_privatise(opened.client, &value, 1, report, size),
            SOTTO_STATUS_ENTROPY);
        assert_true(all_zero(report, size));
        check_wiped(&opened);
        assert_memory_equal(before, opened.workspace, opened.size);
    }
    /* and the client is as good as new */
    tape_start(NULL, 0);
    assert_int_equal(
        sotto_client_privatise(opened.client, &value, 1, report, size),
        SOTTO_STATUS_OK);
    assert_true(report_valid(&opened.client->report, report, size));
    free(before);
    free(report);
    client_done(&opened);
    free(file.data);
}

/* A source stuck at zero is caught where a draw can reject: flip among 3. */
static void
test_stuck_entropy(void **state)
{
    static const uint8_t zeros[4096];
    static const struct schema_column column = {
        "c", SOTTO_COLUMN_CATEGORY, 4, job_values, false, 0, 1};
    static const struct compose_part part = {
        "label", "flip", UNITS(1), 1, 0, 0, 0, {{true, 0, 0}}, 1};
    static const struct compose_spec spec = {"s", "c",  "a", UNITS(1), &column,
                                             1,   NULL, 0,   &part,    1};
    struct file file = file_make(&spec);
    struct opened opened = client_open(file);
    struct sotto_value value = value_text("baker");
    uint8_t report[53];
    (void)state;
    memset(report, 0xcc, sizeof report);
    tape_start(zeros, sizeof zeros);
    assert_int_equal(
        sotto_client_privatise(opened.client, &value, 1, report, sizeof report),
        SOTTO_STATUS_ENTROPY);
    assert_true(all_zero(report, sizeof report));
    check_wiped(&opened);
    client_done(&opened);
    free(file.data);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opens_everything),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_pin),
        cmocka_unit_test(test_workspace_one_byte_short),
        cmocka_unit_test(test_unaligned),
        cmocka_unit_test(test_two_clients),
        cmocka_unit_test(test_wrong_sizes),
        cmocka_unit_test(test_leaves_nothing),
        cmocka_unit_test(test_no_entropy_no_report),
        cmocka_unit_test(test_stuck_entropy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
