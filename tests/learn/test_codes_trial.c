/*
 * test_codes_trial.c: simulated collections, which find what there is to find.
 */
#include "learn/codes/codes_choose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "fail_alloc.h"

enum { N = 1000 };

static struct sotto_error err;

static void
must(enum sotto_status status)
{
    if (status != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
}

/* Stops at the `last` look, and must not be asked again. */
struct patience {
    size_t looks, last;
};

static bool
until_labelled(void *context, const char *what, uint64_t done, uint64_t total)
{
    struct patience *patience = context;
    assert_string_equal(what, "labelling cells");
    assert_true(done <= total);
    patience->looks++;
    assert_true(patience->looks <= patience->last);
    return patience->looks < patience->last;
}

/* The chains, and at a large epsilon the table. */
static void
test_stop_trial(void **state)
{
    static int32_t code[N];
    static uint32_t label[N];
    struct patience patience = {0};
    const struct sotto_watch watch = {.tick = until_labelled,
                                      .context = &patience};
    struct codes_trial trial = {.code = code,
                                .label = label,
                                .n = N,
                                .k = 6,
                                .classes = 6,
                                .people = 1000,
                                .channel =
                                    channel_find(channel_exact, "subset", 6),
                                .watch = &watch};
    static const uint64_t eps[] = {DECIMAL_UNIT, 10 * DECIMAL_UNIT};
    double score = 7;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        code[i] = (int32_t)(i % 6);
        label[i] = (uint32_t)(5 - i % 6);
    }
    for (size_t i = 0; i < 2; i++) {
        trial.eps = eps[i];
        for (size_t last = 1; last < 4; last++) {
            patience = (struct patience){.last = last};
            assert_int_equal(codes_trial(&trial, &score, &err),
                             SOTTO_STATUS_STOPPED);
            assert_int_equal(patience.looks, last);
            assert_true(score == 7);
        }
    }
}

/* One trial: with no noise to speak of, and codes that are the labels, all is
   found; with the labels of others, a part. */
static void
test_trial(void **state)
{
    static int32_t code[N];
    static uint32_t label[N];
    struct codes_trial trial = {.code = code,
                                .label = label,
                                .n = N,
                                .k = 6,
                                .classes = 6,
                                .people = 1000,
                                .channel =
                                    channel_find(channel_exact, "subset", 6),
                                .eps = 10 * DECIMAL_UNIT};
    double score = 0, most = 0;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        code[i] = (int32_t)(i % 6);
        label[i] = (uint32_t)(5 - i % 6);
    }
    must(codes_trial(&trial, &score, &err));
    assert_true(score == 1);
    must(codes_trial_most(&trial, &most, &err));
    assert_true(most == 1);
    for (size_t i = 0; i < N; i++) {
        label[i] = i / 30 % 5 == 0 ? 0 : label[i];
    }
    must(codes_trial(&trial, &score, &err));
    must(codes_trial_most(&trial, &most, &err));
    assert_true(most < 0.9 && most > 0.8);
    assert_true(score == most);
    trial.eps = DECIMAL_UNIT / 1000;
    must(codes_trial(&trial, &score, &err));
    assert_true(score < most);
    trial.k = 65536;
    assert_int_equal(codes_trial(&trial, &score, &err), SOTTO_STATUS_LIMIT);
}

/* A code that no record has takes nothing from the others. */
static void
test_empty(void **state)
{
    static int32_t code[N];
    static uint32_t label[N];
    struct codes_trial trial = {.code = code,
                                .label = label,
                                .n = N,
                                .k = 4,
                                .classes = 3,
                                .people = 5000,
                                .channel =
                                    channel_find(channel_exact, "subset", 6),
                                .eps = 6 * DECIMAL_UNIT};
    double score = 0;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        label[i] = (uint32_t)(i % 3);
        code[i] = (int32_t)(i % 3) + 1;
    }
    must(codes_trial(&trial, &score, &err));
    assert_true(score == 1);
}

static void
test_trial_memory(void **state)
{
    static int32_t code[N];
    static uint32_t label[N];
    struct codes_trial trial = {.code = code,
                                .label = label,
                                .n = N,
                                .k = 4,
                                .classes = 2,
                                .people = 50,
                                .channel =
                                    channel_find(channel_exact, "subset", 6),
                                .eps = DECIMAL_UNIT};
    enum sotto_status status;
    long n = 0;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        code[i] = (int32_t)(i % 4);
        label[i] = (uint32_t)(i % 2);
    }
    do {
        double score = 7;
        fail_alloc_at(++n);
        status = codes_trial(&trial, &score, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_true(score == 7);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 10);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trial),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_stop_trial),
        cmocka_unit_test(test_trial_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
