/*
 * test_codes_choose.c: few codes where reports say little, more where they say
 * much.
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
#include "host/pool.h"
#include "random/seeded.h"

enum { N = 1000, D = 2, CLASSES = 4 };

static struct sotto_error err;

static void
must(enum sotto_status status)
{
    if (status != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
}

/* Points spread evenly over a square, in cells: no cut into four is that of
   another clustering, and more parts are always closer to it. */
static struct sotto_codebook *
square(size_t n, unsigned threads)
{
    static const struct schema_column column = {.name = "label",
                                                .count = CLASSES + 1};
    struct sotto_codebook *codebook = calloc(1, sizeof *codebook);
    struct seeded seeded;
    assert_non_null(codebook);
    seeded_init(&seeded, 11, 0);
    codebook->n = n;
    codebook->d = D;
    codebook->label = 0;
    must(schema_init(&codebook->schema, 1, &err));
    must(schema_add(&codebook->schema, &column, &err));
    codebook->z = codebook->place = calloc(n, D * sizeof *codebook->z);
    assert_non_null(codebook->z);
    for (size_t i = 0; i < n * D; i++) {
        codebook->z[i] = (float)random_u32(&seeded.random) / 0x1p32F;
    }
    must(host_pool_new(threads, &codebook->pool, &err));
    must(tensor_new("cpu", codebook->pool, &codebook->backend, &err));
    must(clustering_init(&codebook->clustering, codebook->pool,
                         codebook->backend, codebook->z, n, D, n / 20, 1, NULL,
                         &err));
    return codebook;
}

static struct sotto_codebook_choice
choose(struct sotto_codebook *codebook, const char *eps, uint64_t seed)
{
    struct sotto_codebook_wanted wanted = {
        .eps = eps, .people = 1200, .seed = seed};
    struct sotto_codebook_choice choice = {0};
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    return choice;
}

static void
test_epsilon(void **state)
{
    struct sotto_codebook *codebook = square(N, 1);
    struct sotto_codebook_choice little = choose(codebook, "0.2", 2);
    struct sotto_codebook_choice much = choose(codebook, "8", 2);
    (void)state;
    assert_int_equal(little.k, CLASSES);
    assert_int_equal(little.people, 1200);
    assert_true(little.tries > 4);
    assert_int_equal(little.tried[0].k, CLASSES);
    assert_string_equal(little.tried[0].channel, "subset");
    assert_true(much.k >= 3 * (size_t)CLASSES);
    for (size_t i = 0; i < much.tries; i++) {
        const struct sotto_codebook_try *at = &much.tried[i];
        assert_true(at->score > 0 && at->score <= 1);
        assert_true(at->k >= CLASSES && at->k <= N / 20);
        assert_true(at->draws == 0 || at->error > 0);
    }
    sotto_codebook_free(codebook);
}

static void
test_threads(void **state)
{
    struct sotto_codebook *one = square(N, 1), *two = square(N, 2);
    struct sotto_codebook_choice a = choose(one, "1", 5);
    struct sotto_codebook_choice b = choose(two, "1", 5);
    (void)state;
    assert_int_equal(a.k, b.k);
    assert_string_equal(a.channel, b.channel);
    assert_int_equal(a.tries, b.tries);
    for (size_t i = 0; i < a.tries; i++) {
        assert_int_equal(a.tried[i].draws, b.tried[i].draws);
        assert_true(a.tried[i].score == b.tried[i].score);
        assert_true(a.tried[i].error == b.tried[i].error);
    }
    sotto_codebook_free(one);
    sotto_codebook_free(two);
}

/* What is given is not chosen. */
static void
test_given(void **state)
{
    struct sotto_codebook *codebook = square(N, 1);
    struct sotto_codebook_wanted wanted = {
        .eps = "2", .k = 9, .people = 500, .classes = 3};
    struct sotto_codebook_choice choice = {0};
    (void)state;
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_int_equal(choice.k, 9);
    assert_int_equal(choice.tries, 2);
    wanted.channel = "flip";
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_int_equal(choice.k, 9);
    assert_string_equal(choice.channel, "flip");
    assert_int_equal(choice.tries, 0);
    wanted.k = 0;
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_string_equal(choice.channel, "flip");
    assert_int_equal(choice.tried[0].k, 3);
    codebook->label = SIZE_MAX; /* none: nothing to simulate */
    wanted.channel = NULL;
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_int_equal(choice.k, 32);
    assert_string_equal(choice.channel, "subset");
    assert_int_equal(choice.tries, 0);
    sotto_codebook_free(codebook);
}

static bool
stop(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    return strcmp(what, "choosing") != 0 || (done < 2 && total > 2);
}

static void
refused(struct sotto_codebook *codebook,
        const struct sotto_codebook_wanted *wanted, enum sotto_status status,
        const char *message)
{
    struct sotto_codebook_choice choice = {.k = 77};
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(sotto_codebook_choose(codebook, wanted, &choice, &err),
                     status);
    assert_int_equal(err.status, status);
    assert_non_null(strstr(err.message, message));
    assert_int_equal(choice.k, 77);
}

static void
test_refused(void **state)
{
    struct sotto_codebook *codebook = square(200, 1);
    (void)state;
    refused(codebook,
            &(struct sotto_codebook_wanted){.eps = "1", .classes = 11},
            SOTTO_STATUS_USAGE, "from 2 to 10");
    refused(codebook, &(struct sotto_codebook_wanted){.eps = "1", .classes = 1},
            SOTTO_STATUS_USAGE, "from 2 to 10");
    refused(codebook, &(struct sotto_codebook_wanted){.eps = "0"},
            SOTTO_STATUS_BUDGET, "");
    refused(codebook, &(struct sotto_codebook_wanted){.eps = "1", .k = 11},
            SOTTO_STATUS_USAGE, "from 2 to 10");
    refused(codebook,
            &(struct sotto_codebook_wanted){.eps = "1", .channel = "laplace"},
            SOTTO_STATUS_USAGE, "laplace");
    refused(codebook,
            &(struct sotto_codebook_wanted){
                .eps = "1", .people = 100, .watch = {.tick = stop}},
            SOTTO_STATUS_STOPPED, "stopped");
    sotto_codebook_free(codebook);
}

/* Stops at the `last` look, and must not be asked again. */
struct patience {
    size_t looks, last;
};

static bool
until(void *context, const char *what, uint64_t done, uint64_t total)
{
    struct patience *patience = context;
    assert_true(strcmp(what, "choosing") == 0 ||
                strcmp(what, "clustering") == 0);
    assert_true(done <= total && total > 0);
    patience->looks++;
    assert_true(patience->looks <= patience->last);
    return patience->looks < patience->last;
}

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

/* There are looks within every simulated collection, and after each it can
   stop. */
static void
test_stop(void **state)
{
    struct patience patience = {.last = SIZE_MAX};
    struct sotto_codebook_wanted wanted = {
        .eps = "1",
        .k = 5,
        .people = 200,
        .watch = {.tick = until, .context = &patience}};
    struct sotto_codebook *codebook = square(200, 1);
    struct sotto_codebook_choice choice = {0};
    size_t all, draws = 0;
    (void)state;
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    for (size_t i = 0; i < choice.tries; i++) {
        draws += choice.tried[i].draws;
    }
    assert_true(draws > 0);
    all = patience.looks;
    assert_true(all >= 2 * choice.tries + 2 * draws);
    for (size_t last = 1; last <= all; last += last < 6 ? 1 : 41) {
        patience = (struct patience){.last = last};
        refused(codebook, &wanted, SOTTO_STATUS_STOPPED, "stopped");
        assert_int_equal(patience.looks, last);
    }
    sotto_codebook_free(codebook);
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

/* So many classes that no number of codes fits beside them. */
static void
test_many_classes(void **state)
{
    struct sotto_codebook *codebook = square(5200, 1);
    (void)state;
    refused(codebook,
            &(struct sotto_codebook_wanted){
                .eps = "1", .classes = 256, .people = 100},
            SOTTO_STATUS_LIMIT, "256 classes");
    sotto_codebook_free(codebook);
}

static void
test_memory(void **state)
{
    struct sotto_codebook_wanted wanted = {
        .eps = "2", .k = 4, .classes = 2, .people = 50, .channel = NULL};
    struct sotto_codebook *codebook = square(100, 1);
    enum sotto_status status;
    long n = 0, step = 1;
    (void)state;
    do {
        struct sotto_codebook_choice choice = {0};
        fail_alloc_at(n += step);
        status = sotto_codebook_choose(codebook, &wanted, &choice, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_int_equal(choice.k, 0);
        }
        step = n < 100 ? 1 : 19;
        codebook_cuts_free(codebook->cut);
        codebook->cut = NULL;
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 50);
    sotto_codebook_free(codebook);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_epsilon), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_given),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_trial),   cmocka_unit_test(test_memory),
        cmocka_unit_test(test_empty),   cmocka_unit_test(test_many_classes),
        cmocka_unit_test(test_stop),    cmocka_unit_test(test_stop_trial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
