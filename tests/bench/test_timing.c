/*
 * test_timing.c: the timing benchmark sees a leak, does not see one where
 * there is none, and keeps its rows' contract.
 *
 * A clock is involved, so these are statistics: alpha is stated with each.
 * Not run with sanitizers, which change what is timed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/timing.h"
#include "channel/channel.h"
#include "fail_alloc.h"
#include "host/welch.h"

#define RUNS 20000u
#define ROWS 64u
#define SIZE 256u

/* A secret of SIZE bytes, right in class 0 and wrong somewhere in class 1. */
struct secret {
    uint8_t right[SIZE], guess[SIZE];
    uint8_t input[2 * ROWS][SIZE];
    volatile uint32_t same;
    size_t runs;
};

static struct secret secret;

static void
prepare(void *context, uint32_t row, unsigned class_of)
{
    struct secret *own = context;
    memcpy(own->guess, own->input[2 * row + class_of], SIZE);
}

static void
finish(void *context)
{
    struct secret *own = context;
    own->runs++;
}

static void
compare_early_exit(void *context)
{
    struct secret *own = context;
    uint32_t i = 0;
    while (i < SIZE && own->right[i] == own->guess[i]) {
        i++;
    }
    own->same = i == SIZE;
}

static void
compare_all(void *context)
{
    struct secret *own = context;
    uint8_t difference = 0;
    for (uint32_t i = 0; i < SIZE; i++) {
        difference |= (uint8_t)(own->right[i] ^ own->guess[i]);
    }
    own->same = difference == 0;
}

static struct timing_result
compare(void (*run)(void *context), uint64_t seed)
{
    struct timing_subject subject = {prepare, run, finish, &secret, ROWS};
    struct timing_result result = {0, 0};
    memset(&secret, 0, sizeof secret);
    for (uint32_t i = 0; i < ROWS; i++) {
        secret.input[2 * i + 1][i * SIZE / ROWS] = 1;
    }
    assert_int_equal(timing_compare(&subject, RUNS, seed, &result, NULL),
                     SOTTO_STATUS_OK);
    assert_true(secret.runs >= RUNS);
    assert_true(result.microseconds > 0 && result.microseconds < 1e4);
    return result;
}

/* The random class ends earlier, by half the secret: t is in the hundreds. */
static void
test_a_leak_is_seen(void **state)
{
    struct timing_result result = compare(compare_early_exit, 1);
    (void)state;
    print_message("early exit: t = %.1f\n", result.t);
    assert_true(result.t < -2 * WELCH_CRITERION);
}

/* Fails if two comparisons in a row find something: 5.4e-5 squared, 3e-9. */
static void
test_constant_time_passes(void **state)
{
    struct timing_result result = compare(compare_all, 2);
    (void)state;
    print_message("fixed steps: t = %.2f\n", result.t);
    if (fabs(result.t) >= WELCH_CRITERION) {
        result = compare(compare_all, 3);
        print_message("fixed steps, again: t = %.2f\n", result.t);
    }
    assert_true(fabs(result.t) < WELCH_CRITERION);
}

/* ---- Rows ---------------------------------------------------------------- */

struct rows {
    size_t count, controls, differ;
    bool first_seen;
};

static void
take(void *context, const struct sotto_bench_row *row)
{
    struct rows *rows = context;
    bool seen = fabs(row->t) >= WELCH_CRITERION;
    bool control = strncmp(row->name, "control: ", 9) == 0;
    assert_int_equal(row->runs, RUNS);
    assert_true(row->rate > 0 && row->microseconds > 0);
    assert_true(fabs(row->rate * row->microseconds - 1e6) < 1);
    assert_true(row->ratio == 0);
    assert_non_null(row->setting);
    assert_non_null(row->against);
    assert_non_null(strstr(row->setting, "eps 1"));
    if (control) {
        assert_int_equal(rows->count, rows->controls); /* they come first */
        assert_string_equal(row->verdict,
                            seen ? "seen, as it must be" : "not seen");
        rows->first_seen = rows->first_seen || (rows->count == 0 && seen);
    } else {
        const struct channel *channel = channel_exact[rows->count - 2];
        assert_non_null(channel);
        assert_string_equal(row->name, channel->name);
        assert_string_equal(row->verdict,
                            seen ? "depends on the record" : "no difference");
        rows->differ += seen;
    }
    rows->count++;
    rows->controls += control;
}

/*
 * Every channel of the registry has a row, behind two controls of which the
 * first leaks 40 nanoseconds or so and is always seen. The second leaks one
 * or two: so few runs may miss it, and then the benchmark refuses.
 */
static void
test_rows(void **state)
{
    struct rows rows = {0};
    struct sotto_error err = {0};
    enum sotto_status status = timing_run(RUNS, take, &rows, &err);
    size_t channels = 0;
    (void)state;
    while (channel_exact[channels] != NULL) {
        channels++;
    }
    assert_int_equal(rows.controls, 2);
    assert_true(rows.first_seen);
    if (status == SOTTO_STATUS_OK) {
        assert_int_equal(rows.count, 2 + channels);
        assert_int_equal(rows.differ, 0);
    } else {
        assert_int_equal(err.status, status);
        assert_true((status == SOTTO_STATUS_CHECK && rows.count == 2) ||
                    (status == SOTTO_STATUS_REFUSED && rows.differ > 0));
    }
}

static void
ignore(void *context, const struct sotto_bench_row *row)
{
    (void)context;
    (void)row;
}

/* Every allocation fails in turn. */
static void
test_memory(void **state)
{
    struct timing_subject subject = {prepare, compare_all, finish, &secret,
                                     ROWS};
    struct timing_result result = {7, 7};
    long n = 0;
    enum sotto_status status;
    (void)state;
    do {
        struct sotto_error err = {0};
        fail_alloc_at(++n);
        status = timing_compare(&subject, 100, 1, &result, &err);
        fail_alloc_at(0);
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_int_equal(err.status, SOTTO_STATUS_MEMORY);
            assert_true(result.t == 7);
        }
    } while (status != SOTTO_STATUS_OK);
    assert_true(n > 4);
    n = 0;
    do {
        fail_alloc_at(++n);
        status = timing_run(2, ignore, NULL, NULL);
        fail_alloc_at(0);
    } while (status == SOTTO_STATUS_MEMORY);
    assert_int_equal(status, SOTTO_STATUS_CHECK); /* two runs show nothing */
    assert_true(n > 6);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_leak_is_seen),
        cmocka_unit_test(test_constant_time_passes),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
