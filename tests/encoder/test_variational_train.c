/*
 * test_variational_train.c: stopping, going on, threads: always the same files.
 */
#include "encoder/variational.h"

#include "learnt_fixture.h"
#include "nn/checkpoint.h"

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

static struct vlm_options
small_options(void)
{
    return (struct vlm_options){.eps = "4",
                                .label = "kind",
                                .d = 3,
                                .hidden = small_hidden,
                                .hiddens = 1,
                                .epochs = 6,
                                .batch = 16,
                                .seed = 5,
                                .threads = 1,
                                .checkpoint = checkpoint};
}

static enum sotto_status
train(const struct sotto_table *table, const struct vlm_options *options,
      const char *name, struct vlm_info *ret_info)
{
    char path[512], analyst[512];
    (void)snprintf(path, sizeof path, "%s/%s.sotto", folder, name);
    (void)snprintf(analyst, sizeof analyst, "%s/%s.analyst", folder, name);
    return train_vlm(table, options, path, analyst, ret_info, NULL, &err);
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

/* Stops at a step, or where the prior is made. */
struct stop {
    uint64_t at;
    const char *what;
    uint64_t last, ticks;
};

static bool
tick(void *context, const char *what, uint64_t done, uint64_t total)
{
    struct stop *stop = context;
    assert_true(done < total);
    stop->ticks++;
    stop->last = done;
    return strcmp(what, stop->what) != 0 || done < stop->at;
}

/* Wherever it is stopped, the same command goes on to the same files; and also
   if it is stopped again and again. */
static void
test_resume(void **state)
{
    struct vlm_options options = small_options();
    struct sotto_table *table = people(150);
    struct vlm_info info;
    (void)state;
    must(train(table, &options, "whole", &info));
    assert_int_equal(access(checkpoint, F_OK), -1);
    for (uint64_t at = 0; at < 54; at += 5) { /* 9 steps an epoch */
        struct stop stop = {.at = at, .what = "training"};
        options.watch = (struct sotto_watch){tick, &stop};
        must_fail(SOTTO_STATUS_STOPPED, "stopped",
                  train(table, &options, "parts", &info));
        assert_int_equal(access(in_folder("parts.sotto"), F_OK), -1);
        assert_int_equal(access(checkpoint, F_OK), at < 9 ? -1 : 0);
        options.watch = (struct sotto_watch){NULL, NULL};
        must(train(table, &options, "parts", &info));
        assert_true(info.resumed == (at >= 9));
        assert_int_equal(info.epochs, 6);
        assert_same("whole", "parts");
        assert_int_equal(access(checkpoint, F_OK), -1);
        assert_int_equal(unlink(in_folder("parts.sotto")), 0);
    }
    for (uint64_t at = 9; at < 60; at += 9) {
        struct stop stop = {.at = at, .what = "training"};
        options.watch = (struct sotto_watch){tick, &stop};
        enum sotto_status status = train(table, &options, "parts", &info);
        assert_int_equal(status,
                         at < 54 ? SOTTO_STATUS_STOPPED : SOTTO_STATUS_OK);
        assert_int_equal(stop.ticks, 10); /* an epoch, and one more */
    }
    assert_same("whole", "parts");
    sotto_table_free(table);
}

static void
test_stopped_while_encoding(void **state)
{
    struct vlm_options options = small_options();
    struct sotto_table *table = people(100);
    struct stop stop = {.at = 0, .what = "encoding"};
    struct vlm_info info;
    (void)state;
    must(train(table, &options, "whole", &info));
    options.watch = (struct sotto_watch){tick, &stop};
    must_fail(SOTTO_STATUS_STOPPED, "stopped",
              train(table, &options, "parts", &info));
    assert_int_equal(access(in_folder("parts.sotto"), F_OK), -1);
    options.watch = (struct sotto_watch){NULL, NULL};
    must(train(table, &options, "parts", &info));
    assert_true(info.resumed);
    assert_same("whole", "parts");
    sotto_table_free(table);
}

/* What training depends on is in the key; the budget and names are not. */
static void
test_key(void **state)
{
    struct vlm_options options = small_options(), other;
    struct sotto_table *table = people(150), *fewer = people(149);
    struct stop stop = {.at = 30, .what = "training"};
    struct vlm_info info;
    (void)state;
    options.watch = (struct sotto_watch){tick, &stop};
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
    OTHER(l, 4);
    OTHER(eps_pre, 7);
    OTHER(autogen, 1);
    OTHER(d, 2);
    OTHER(patience, 50);
    OTHER(validation, 0.2);
    OTHER(linear, true);
#undef OTHER
    must_fail(SOTTO_STATUS_INPUT, "or other data",
              train(fewer, &options, "b", &info));
    assert_int_equal(access(in_folder("b.sotto"), F_OK), -1);
    options.eps = "8";
    options.name = "other";
    options.lambda = 0.5;
    must(train(table, &options, "b", &info));
    assert_true(info.resumed);
    sotto_table_free(table);
    sotto_table_free(fewer);
}

/* Another version of the program does not go on from this one's checkpoint. */
static void
test_version(void **state)
{
    struct vlm_options options = small_options();
    static const struct sotto_train_options common = {.eps = "4",
                                                      .label = "kind"};
    struct variational_settings set = {
        .common = {.label_channel = "flip", .channel = "laplace", .d = 3},
        .hidden = {{8}, 1},
        .learn_b = true,
        .l = 5,
        .epochs = 6,
        .batch = 16,
        .rate = 0.001,
        .validation = 0.1,
        .seed = 5};
    struct sotto_table *table = people(150);
    struct stop stop = {.at = 30, .what = "training"};
    struct vlm_info info;
    struct learnt learnt;
    char key[2][LEARNT_KEY_SIZE];
    uint8_t *data = NULL;
    size_t size = 0;
    (void)state;
    struct encoder_job job = {
        .encoder = &encoder_vlm, .table = table, .options = &common};
    must(learnt_begin(&learnt, &job, &set.common, &err));
    must(learnt_key(&learnt, &set, VARIATIONAL_ALGORITHM, SOTTO_VERSION, key[0],
                    &err));
    must(learnt_key(&learnt, &set, VARIATIONAL_ALGORITHM, "0.0.0", key[1],
                    &err));
    assert_string_not_equal(key[0], key[1]);
    learnt_clear(&learnt);
    options.watch = (struct sotto_watch){tick, &stop};
    must_fail(SOTTO_STATUS_STOPPED, "", train(table, &options, "a", &info));
    must(host_file_read(checkpoint, (size_t)1 << 24, &data, &size, &err));
    assert_non_null(memmem(data, size, key[0], strlen(key[0])));
    free(data);
    sotto_table_free(table);
}

static void
test_threads(void **state)
{
    struct vlm_options options = small_options();
    struct sotto_table *table = people(300);
    struct vlm_info one, two;
    static const uint32_t wide[] = {70, 33};
    (void)state;
    options.hidden = wide;
    options.hiddens = 2;
    options.epochs = 2;
    options.batch = 100;
    must(train(table, &options, "one", &one));
    for (unsigned threads = 2; threads < 5; threads++) {
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

/* Too high a rate for so few rows: an early epoch stays the best. */
static void
test_patience(void **state)
{
    struct vlm_options options = small_options();
    struct sotto_table *table = people(60);
    struct vlm_info early, whole;
    struct stop stop = {.at = UINT64_MAX, .what = "training"};
    (void)state;
    options.epochs = 200;
    options.rate = 0.05;
    options.eps_pre = 1000;
    options.autogen = 10;
    options.patience = 4;
    options.watch = (struct sotto_watch){tick, &stop};
    must(train(table, &options, "whole", &early));
    assert_true(early.epochs < 200 && early.epochs > 4);
    options.patience = 4; /* the same through a checkpoint in between */
    stop.at = 4 * (early.epochs - 2);
    must_fail(SOTTO_STATUS_STOPPED, "",
              train(table, &options, "parts", &whole));
    options.watch = (struct sotto_watch){NULL, NULL};
    must(train(table, &options, "parts", &whole));
    assert_true(whole.resumed && whole.epochs == early.epochs);
    assert_same("whole", "parts");
    sotto_table_free(table);
}

static void
test_damaged(void **state)
{
    struct vlm_options options = small_options();
    struct sotto_table *table = people(40);
    struct vlm_info info;
    (void)state;
    must(host_file_write(checkpoint, 0600, false, "no checkpoint", 13, &err));
    must_fail(SOTTO_STATUS_FORMAT, "checkpoint",
              train(table, &options, "a", &info));
    sotto_table_free(table);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_paths, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_resume),  TEST(test_stopped_while_encoding),
        TEST(test_key),     TEST(test_version),
        TEST(test_threads), TEST(test_patience),
        TEST(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
