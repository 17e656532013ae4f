/*
 * test_contrastive_train.c: stopping, going on, threads: always the same files.
 */
#include "contrastive_fixture.h"

static const uint32_t small_hidden[] = {8};
static char checkpoint[128];

static int
setup_paths(void **state)
{
    int made = setup(state);
    (void)snprintf(checkpoint, sizeof checkpoint, "%s",
                   in_folder("checkpoint"));
    return made;
}

static struct clm_options
small_options(void)
{
    return (struct clm_options){.eps = "4",
                                .label = "kind",
                                .d = 3,
                                .hidden = small_hidden,
                                .hiddens = 1,
                                .epochs = 4,
                                .batch = 16,
                                .seed = 5,
                                .threads = 1,
                                .checkpoint = checkpoint};
}

static enum sotto_status
train(const struct sotto_table *table, const struct clm_options *options,
      const char *name, struct clm_info *ret_info)
{
    char path[512], analyst[512];
    (void)snprintf(path, sizeof path, "%s/%s.sotto", folder, name);
    (void)snprintf(analyst, sizeof analyst, "%s/%s.analyst", folder, name);
    return train_clm(table, options, path, analyst, ret_info, NULL, &err);
}

static void
assert_same(const char *a, const char *b)
{
    char name[4][64];
    (void)snprintf(name[0], sizeof name[0], "%s.sotto", a);
    (void)snprintf(name[1], sizeof name[1], "%s.sotto", b);
    (void)snprintf(name[2], sizeof name[2], "%s.analyst", a);
    (void)snprintf(name[3], sizeof name[3], "%s.analyst", b);
    assert_true(same_files(in_folder(name[0]), in_folder(name[1])));
    assert_true(same_files(in_folder(name[2]), in_folder(name[3])));
}

/* Stops at a step. */
static bool
tick(void *context, const char *what, uint64_t done, uint64_t total)
{
    const uint64_t *at = context;
    assert_true(done < total);
    return strcmp(what, "training") != 0 || done < *at;
}

/* Wherever it is stopped, the same command goes on to the same files. */
static void
test_resume(void **state)
{
    struct clm_options options = small_options();
    struct sotto_table *table = people(150);
    struct clm_info info;
    (void)state;
    must(train(table, &options, "whole", &info));
    assert_false(info.resumed);
    assert_int_equal(access(checkpoint, F_OK), -1);
    for (uint64_t at = 0; at < 36; at += 5) { /* 9 steps an epoch */
        options.watch = (struct sotto_watch){tick, &at};
        must_fail(SOTTO_STATUS_STOPPED, "stopped",
                  train(table, &options, "parts", &info));
        assert_int_equal(access(in_folder("parts.sotto"), F_OK), -1);
        assert_int_equal(access(checkpoint, F_OK), at < 9 ? -1 : 0);
        options.watch = (struct sotto_watch){NULL, NULL};
        must(train(table, &options, "parts", &info));
        assert_true(info.resumed == (at >= 9));
        assert_int_equal(info.epochs, 4);
        assert_same("whole", "parts");
        assert_int_equal(access(checkpoint, F_OK), -1);
        assert_int_equal(unlink(in_folder("parts.sotto")), 0);
    }
    sotto_table_free(table);
}

/* What training depends on is in the key; the budget, names and how z is
   scaled are not. */
static void
test_key(void **state)
{
    static const uint32_t wider[] = {9};
    struct clm_options options = small_options(), other;
    struct sotto_table *table = people(150), *fewer = people(149);
    struct clm_info info;
    uint64_t at = 20;
    (void)state;
    options.watch = (struct sotto_watch){tick, &at};
    must_fail(SOTTO_STATUS_STOPPED, "", train(table, &options, "a", &info));
    options.watch = (struct sotto_watch){NULL, NULL};
#define OTHER(field, value)                                                    \
    other = options;                                                           \
    other.field = (value);                                                     \
    must_fail(SOTTO_STATUS_INPUT, "is of a training with other options",       \
              train(table, &other, "b", &info))
    OTHER(seed, 6);
    OTHER(epochs, 7);
    OTHER(batch, 15);
    OTHER(rate, 0.002);
    OTHER(eps_pre, 7);
    OTHER(temperature, 0.5);
    OTHER(d, 2);
    OTHER(hidden, wider);
    OTHER(label, NULL);
#undef OTHER
    other = options; /* l goes with eps_pre */
    other.eps_pre = 7;
    other.l = 4;
    must_fail(SOTTO_STATUS_INPUT, "is of a training with other options",
              train(table, &other, "b", &info));
    must_fail(SOTTO_STATUS_INPUT, "or other data",
              train(fewer, &options, "b", &info));
    assert_int_equal(access(in_folder("b.sotto"), F_OK), -1);
    options.eps = "8";
    options.name = "other";
    options.lambda = 0.5;
    options.inside = 0.5;
    must(train(table, &options, "b", &info));
    assert_true(info.resumed);
    sotto_table_free(table);
    sotto_table_free(fewer);
}

/* Of pictures, how they are distorted, and what becomes of them. */
static void
test_key_of_pictures(void **state)
{
    static const uint32_t widths[] = {2, 4}, others[] = {2, 5};
    struct sotto_table *table = pictures(12, 9, 9, 1);
    struct clm_options options = {
        .widths = widths, .width_count = 2, .batch = 4, .d = 3};
    struct begun begun = {0};
    char key[6][LEARNT_KEY_SIZE];
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        struct clm_options other = options;
        other.augment = i == 1 ? "photo" : NULL;
        other.residual = i == 2;
        other.widths = i == 3 ? others : widths;
        other.network = i == 4 ? "mlp" : NULL;
        begun_make(&begun, table, &other);
        must(learnt_key(&begun.learnt, &begun.set, CONTRASTIVE_ALGORITHM,
                        i == 5 ? "0.0.0" : SOTTO_VERSION, key[i], &err));
        begun_clear(&begun);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(key[i], key[j]);
        }
    }
    sotto_table_free(table);
}

static void
test_threads(void **state)
{
    struct clm_options options = {.eps = "4",
                                  .d = 8,
                                  .epochs = 2,
                                  .batch = 48,
                                  .threads = 1,
                                  .checkpoint = checkpoint};
    struct sotto_table *table = pictures(100, 12, 12, 1);
    struct clm_info one, two;
    (void)state;
    must(train(table, &options, "one", &one));
    for (unsigned threads = 2; threads < 4; threads++) {
        options.threads = threads;
        must(train(table, &options, "two", &two));
        assert_same("one", "two");
        assert_true(one.loss == two.loss);
    }
    options.seed++;
    must(train(table, &options, "two", &two));
    assert_false(same_files(in_folder("one.sotto"), in_folder("two.sotto")));
    sotto_table_free(table);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_paths, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_resume),
        TEST(test_key),
        TEST(test_key_of_pictures),
        TEST(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
