/*
 * test_hostile.c: hostile records are the same in every process, can be taken
 * back, and are as large as they say.
 */
#include "mechanism/mechanism_fixture.h"

#include "fail_alloc.h"
#include "privacy/hostile.h"

/* All of a record, texts and bytes too; reading them is half of the test. */
static uint64_t
digest(const struct sotto_value *values)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < FIXTURE_COLUMNS; i++) {
        uint8_t word[8];
        memcpy(word, &values[i].number, sizeof word);
        hash = hash * 31 + (uint64_t)values[i].kind;
        if (values[i].kind == SOTTO_VALUE_NUMBER) {
            for (size_t j = 0; j < sizeof word; j++) {
                hash = (hash ^ word[j]) * 1099511628211u;
            }
        }
        const uint8_t *data = values[i].data;
        for (size_t j = 0; data != NULL && j < values[i].size; j++) {
            hash = (hash ^ data[j]) * 1099511628211u;
        }
    }
    return hash;
}

static void
test_decided_by_number_and_seed(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct hostile *one = hostile_new(mechanism, 5);
    struct hostile *two = hostile_new(mechanism, 5);
    struct hostile *other = hostile_new(mechanism, 6);
    size_t different = 0;
    (void)state;
    for (uint64_t i = 200; i > 0; i--) {
        (void)digest(hostile_record(two, i * 7)); /* what went before */
        uint64_t first = digest(hostile_record(one, i));
        assert_true(first == digest(hostile_record(two, i)));
        different += first != digest(hostile_record(other, i));
    }
    assert_true(different > 150); /* the first kinds are the same */
    hostile_free(one);
    hostile_free(two);
    hostile_free(other);
    hostile_free(NULL);
    sotto_mechanism_free(mechanism);
}

static void
test_changes_are_taken_back(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct hostile *hostile = hostile_new(mechanism, 1);
    size_t changed = 0;
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        uint64_t before = digest(hostile_record(hostile, i % 60));
        changed += digest(hostile_mutate(hostile, i * 2654435761u)) != before;
        hostile_undo(hostile);
        assert_true(digest(hostile_mutate(hostile, i)) != 0);
        hostile_undo(hostile);
        hostile_undo(hostile); /* there is nothing left to take back */
        assert_true(digest(hostile_record(hostile, i % 60)) == before);
    }
    assert_true(changed > 1000);
    hostile_free(hostile);
    sotto_mechanism_free(mechanism);
}

/* A nudge moves a number or a sample one way or the other, and is undone. */
static void
test_nudges(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    struct hostile *hostile = hostile_new(mechanism, 1);
    size_t up = 0, down = 0;
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        uint64_t draw = i * 2654435761u;
        uint64_t before = digest(hostile_record(hostile, 17));
        uint64_t above = digest(hostile_nudge(hostile, draw, true));
        hostile_undo(hostile);
        uint64_t below = digest(hostile_nudge(hostile, draw, false));
        hostile_undo(hostile);
        up += above != before;
        down += below != before && below != above;
        assert_true(digest(hostile_record(hostile, 17)) == before);
    }
    assert_true(up > 500 && down > 500);
    hostile_free(hostile);
    sotto_mechanism_free(mechanism);
}

/* Invariant 4 on every one of them. */
static void
test_each_yields_a_report(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    struct hostile *hostile = hostile_new(mechanism, 2);
    size_t size = mechanism->shape.report_size;
    uint8_t *report = malloc(size);
    (void)state;
    for (uint64_t i = 0; i < 300; i++) {
        assert_int_equal(sotto_client_privatise(mechanism->client,
                                                hostile_record(hostile, i),
                                                FIXTURE_COLUMNS, report, size),
                         SOTTO_STATUS_OK);
    }
    free(report);
    hostile_free(hostile);
    sotto_mechanism_free(mechanism);
}

static void
test_memory(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct hostile *hostile = NULL;
    long n = 0;
    (void)state;
    while (hostile == NULL) {
        fail_alloc_at(++n);
        hostile = hostile_new(mechanism, 0);
    }
    fail_alloc_at(0);
    assert_int_equal(n, 6);
    hostile_free(hostile);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decided_by_number_and_seed),
        cmocka_unit_test(test_changes_are_taken_back),
        cmocka_unit_test(test_nudges),
        cmocka_unit_test(test_each_yields_a_report),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
