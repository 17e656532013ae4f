/*
 * test_report_json.c: one report as one line of JSON.
 */
#include "mechanism_fixture.h"

#include <stdio.h>

#include "fail_alloc.h"
#include "mechanism/report_json.h"

static struct sotto_error err;

/* Exactly this spelling: docs/format.md promises it. */
static void
test_spelling(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct sotto_mechanism_info info;
    uint8_t report[256] = "SIM1";
    char *line = NULL, expected[512];
    int64_t values[8];
    (void)state;
    sotto_mechanism_info(mechanism, &info);
    assert_int_equal(report_json_values(mechanism), 2);
    memcpy(report + 4, mechanism->device.report->hash, SOTTO_HASH_SIZE);
    for (uint8_t i = 0; i < 16; i++) {
        report[36 + i] = (uint8_t)(0xf0 + i);
    }
    assert_ptr_equal(sotto_report_id(report), report + 36);
    static const int64_t first[] = {-12345}, second[] = {7, -9}, set[] = {1, 3},
                         symbol[] = {11};
    static const int64_t *const all[] = {first, second, set, symbol};
    for (size_t i = 0; i < 4; i++) {
        const struct likelihood_instance *at = &mechanism->likelihood[i];
        assert_true(at->likelihood->pack(
            at, all[i], report + shape_offset(&mechanism->shape, i, 0)));
    }
    (void)snprintf(expected, sizeof expected,
                   "{\"mechanism\":\"%s\","
                   "\"id\":\"f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff\","
                   "\"simulated\":true,"
                   "\"parts\":[[-12345],[7,-9],[1,3],[11]]}",
                   info.hash);
    assert_int_equal(sotto_report_json(mechanism, report, &line, &err),
                     SOTTO_STATUS_OK);
    assert_string_equal(line, expected);
    uint8_t back[256];
    memset(back, 0xa5, sizeof back);
    assert_int_equal(
        report_json_read(mechanism, line, strlen(line), values, back, &err),
        SOTTO_STATUS_OK);
    assert_memory_equal(back, report, info.report_size);
    assert_int_equal(back[info.report_size], 0xa5);
    free(line);
    report[0] = 'X';
    assert_int_equal(sotto_report_json(mechanism, report, &line, &err),
                     SOTTO_STATUS_INPUT);
    sotto_mechanism_free(mechanism);
}

/* Several blocks of a part stand one behind the other in one list. */
static void
test_blocks(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    size_t size = mechanism->shape.report_size;
    int64_t values[8];
    (void)state;
    for (uint64_t i = 0; i < 200; i++) {
        uint8_t report[256], back[256];
        char *line = NULL;
        fixture_report(mechanism, i, report, size);
        assert_int_equal(sotto_report_json(mechanism, report, &line, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(
            report_json_read(mechanism, line, strlen(line), values, back, &err),
            SOTTO_STATUS_OK);
        assert_memory_equal(back, report, size);
        free(line);
    }
    sotto_mechanism_free(mechanism);
}

/* gaussian's integers, duchi's signs and window's number, there and back. */
static void
test_numbers(void **state)
{
    static const int64_t noisy[] = {-70, 0, 81, 5}, signs[] = {-1, 1},
                         near[] = {-501};
    static const int64_t *const all[] = {noisy, signs, near};
    struct sotto_mechanism *mechanism = fixture_open(&fixture_numbers);
    uint8_t report[256] = "STO1", back[256];
    int64_t values[8];
    char *line = NULL;
    (void)state;
    memcpy(report + 4, mechanism->device.report->hash, SOTTO_HASH_SIZE);
    for (size_t i = 0; i < 3; i++) {
        const struct likelihood_instance *at = &mechanism->likelihood[i];
        assert_true(at->likelihood->pack(
            at, all[i], report + shape_offset(&mechanism->shape, i, 0)));
    }
    assert_int_equal(sotto_report_json(mechanism, report, &line, &err),
                     SOTTO_STATUS_OK);
    fixture_in(line, "\"parts\":[[-70,0,81,5],[-1,1],[-501]]}");
    assert_int_equal(
        report_json_read(mechanism, line, strlen(line), values, back, &err),
        SOTTO_STATUS_OK);
    assert_memory_equal(back, report, mechanism->shape.report_size);
    strstr(line, "[-1,1]")[3] = '-'; /* [-1-1]: no JSON */
    assert_int_equal(
        report_json_read(mechanism, line, strlen(line), values, back, &err),
        SOTTO_STATUS_INPUT);
    memcpy(strstr(line, "[-1-1]"), "[ 0,1]", 6);
    assert_int_equal(
        report_json_read(mechanism, line, strlen(line), values, back, &err),
        SOTTO_STATUS_INPUT);
    fixture_in(err.message, "its channel 'duchi' never sends");
    free(line);
    sotto_mechanism_free(mechanism);
}

/* However a right line is spelt it is read; one that is longer than that is
   not even parsed: it would take no memory to refuse it. */
static void
test_most(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    size_t most = report_json_most(mechanism);
    uint8_t report[256], back[256];
    int64_t values[8];
    char *line = NULL, *padded = malloc(most + 1);
    (void)state;
    fixture_report(mechanism, 1, report, mechanism->shape.report_size);
    assert_int_equal(sotto_report_json(mechanism, report, &line, &err),
                     SOTTO_STATUS_OK);
    assert_non_null(padded);
    assert_in_range(most, 2 * strlen(line) + 1024, 16 * strlen(line));
    memset(padded, ' ', most + 1);
    memcpy(padded, line, strlen(line));
    assert_int_equal(
        report_json_read(mechanism, padded, most, values, back, &err),
        SOTTO_STATUS_OK);
    memset(back, 0, sizeof back);
    fail_alloc_at(1);
    assert_int_equal(
        report_json_read(mechanism, padded, most + 1, values, back, &err),
        SOTTO_STATUS_INPUT);
    assert_int_equal(fail_alloc_count(), 0);
    fail_alloc_at(0);
    assert_non_null(strstr(err.message, "another mechanism's"));
    assert_int_equal(back[0], 0);
    free(padded);
    free(line);
    sotto_mechanism_free(mechanism);
}

static void
test_memory(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    uint8_t report[256];
    enum sotto_status status;
    long n = 0;
    (void)state;
    fixture_report(mechanism, 1, report, mechanism->shape.report_size);
    do {
        char *line = NULL;
        fail_alloc_at(++n);
        status = sotto_report_json(mechanism, report, &line, &err);
        assert_int_equal(status == SOTTO_STATUS_OK, line != NULL);
        free(line);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 2);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spelling), cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_numbers),  cmocka_unit_test(test_most),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
