/*
 * test_simulate.c: reports of a seeded generator.
 */
#include "mechanism_fixture.h"

#include "client/device.h"
#include "random/seeded.h"

#define REPORTS 50u

/* The same (seed, stream) gives the same bytes, whatever came before. */
static void
test_streams(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    size_t size = mechanism->shape.report_size;
    uint8_t forward[REPORTS][256], report[256];
    (void)state;
    assert_true(size <= sizeof report);
    for (uint64_t i = 0; i < REPORTS; i++) {
        fixture_report(mechanism, i, forward[i], size);
        assert_true(sotto_report_simulated(forward[i]));
        assert_true(report_valid(mechanism->device.report, forward[i], size));
        assert_memory_equal(forward[i], "SIM1", 4);
        for (uint64_t j = 0; j < i; j++) { /* the ids differ */
            assert_memory_not_equal(forward[i] + 36, forward[j] + 36, 16);
        }
    }
    for (uint64_t i = REPORTS; i-- > 0;) {
        fixture_report(mechanism, i, report, size);
        assert_memory_equal(report, forward[i], size);
    }
    sotto_mechanism_free(mechanism);
}

/* The id is the generator's first 16 bytes: nothing of the record is in it. */
static void
test_known_id(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    size_t size = mechanism->shape.report_size;
    static const uint32_t counter[4] = {0, 0, 5, UINT32_C(1) << 31},
                          key[2] = {7, 0};
    uint32_t block[4];
    uint8_t report[256];
    (void)state;
    fixture_report(mechanism, 5, report, size);
    seeded_philox(counter, key, block);
    for (size_t i = 0; i < 16; i++) {
        assert_int_equal(report[36 + i], (block[i / 4] >> (8 * (i % 4))) & 255);
    }
    sotto_mechanism_free(mechanism);
}

/* A real report carries another mark and comes from entropy. */
static void
test_marks(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    size_t size = mechanism->shape.report_size;
    struct sotto_value values[FIXTURE_COLUMNS] = {{.kind = 0}};
    uint8_t report[256], poison[256];
    (void)state;
    assert_int_equal(sotto_client_privatise(sotto_mechanism_client(mechanism),
                                            values, FIXTURE_COLUMNS, report,
                                            size),
                     SOTTO_STATUS_OK);
    assert_false(sotto_report_simulated(report));
    memset(poison, 0xa5, sizeof poison);
    memcpy(report, poison, sizeof poison);
    assert_int_equal(sotto_simulate(mechanism, 1, 1, values, 3, report, size),
                     SOTTO_STATUS_SIZE);
    assert_int_equal(
        sotto_simulate(mechanism, 1, 1, values, 4, report, size - 1),
        SOTTO_STATUS_SIZE);
    assert_memory_equal(report, poison, sizeof poison);
    assert_int_equal(sotto_simulate(mechanism, 1, 1, values, 4, report, size),
                     SOTTO_STATUS_OK);
    sotto_mechanism_free(mechanism);
}

/* Nothing of the record stays in the workspace. */
static void
test_wiped(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct sotto_client *client = mechanism->client;
    uint8_t report[256];
    (void)state;
    fixture_report(mechanism, 1, report, client->report.size);
    for (uint32_t i = 0; i < 2 * client->sizes.width; i++) {
        assert_true(client->encoder.buffer[i] == 0);
    }
    for (uint32_t i = 0; i < client->sizes.columns; i++) {
        assert_int_equal(client->encoder.symbol[i], 0);
    }
    for (uint32_t i = 0; i < client->sizes.q; i++) {
        assert_int_equal(client->report.q[i], 0);
    }
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_known_id),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_wiped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
