/*
 * test_registry.c: an encoder is a row. A toy one, this file and a row, trains,
 * is checked, has its settings in facts and key, and goes on from a checkpoint;
 * then what the rows of the library promise.
 */
#include "encoder/learnt.h"
#include "fail_alloc.h"
#include "host/error.h"
#include "learnt_fixture.h"
#include "nn/train.h"

/* ---- The toy: z = x_0 after one weight was trained to 1 / 2 ----------------
 */

struct toy_settings {
    struct learnt_settings common;
    uint32_t epochs;
    double rate;
    uint64_t seed;
};

#define AT(field) offsetof(struct toy_settings, field)

static const struct setting toy_rows[] = {
    LEARNT_SETTINGS(toy_settings, "1"),
    {.name = "epochs", SETTING_WHOLE, AT(epochs), 1, 100, "8", "passes"},
    {.name = "rate", SETTING_NUMBER, AT(rate), 0.001, 1, "0.1", "Adam's"},
    {.name = "seed", SETTING_SEED, AT(seed), 0, 0, "0", "of the order"},
    SETTING_END};

static double
toy_step(void *context, const uint32_t *row, size_t n, uint64_t epoch)
{
    const struct nn_arena *arena = context;
    (void)row;
    (void)n;
    (void)epoch;
    arena->gradient[0] = arena->value[0] - 0.5F;
    return fabs((double)arena->gradient[0]);
}

static enum sotto_status
toy_finish(const struct learnt *learnt, float w, struct sotto_error *to)
{
    float *weight = calloc(learnt->width + 1, sizeof *weight);
    struct layer layer = {.in = (uint32_t)learnt->width,
                          .out = 1,
                          .activation = ACTIVATION_NONE,
                          .weight = weight,
                          .bias = weight + learnt->width};
    json_t *facts = json_pack("{s:f}", "w", (double)w);
    struct learnt_result result = {
        .encoder = &layer, .encoder_layers = 1, .facts = facts};
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    if (weight != NULL && facts != NULL) {
        weight[0] = w;
        status = learnt_finish(learnt, &result, to);
    }
    json_decref(facts);
    free(weight);
    return status;
}

static enum sotto_status
toy_fit(const struct encoder_job *job, void *own, struct sotto_error *to)
{
    const struct toy_settings *set = own;
    struct learnt learnt = {0};
    struct nn_arena arena;
    struct tensor_backend *backend = NULL;
    struct nn_trained trained = {0};
    char key[LEARNT_KEY_SIZE] = "";
    enum sotto_status status = learnt_begin(&learnt, job, &set->common, to);
    nn_arena_init(&arena);
    if (status == SOTTO_STATUS_OK &&
        nn_arena_add(&arena, "w", 1, 0, false) == SIZE_MAX) {
        status = host_fail_memory(to);
    }
    if (status == SOTTO_STATUS_OK) {
        status = learnt_key(&learnt, set, 1, SOTTO_VERSION, key, to);
    }
    if (status == SOTTO_STATUS_OK) {
        status = nn_arena_allocate(&arena, to);
    }
    if (status == SOTTO_STATUS_OK) {
        status = tensor_new("plain", NULL, &backend, to);
    }
    if (status == SOTTO_STATUS_OK) {
        struct nn_task task = {
            .rows = learnt.n, .step = toy_step, .context = &arena};
        struct nn_plan plan = {.optimiser = {.rate = (float)set->rate},
                               .batch = 10,
                               .epochs = set->epochs,
                               .seed = set->seed,
                               .checkpoint = job->options->checkpoint,
                               .key = key,
                               .what = "training",
                               .watch = &job->options->watch};
        status = nn_train(&task, &plan, &arena, backend, &trained, to);
    }
    if (status == SOTTO_STATUS_OK) {
        status = toy_finish(&learnt, arena.value[0], to);
    }
    if (status == SOTTO_STATUS_OK) {
        fact_whole(job->facts, "epochs", trained.epochs);
        fact_flag(job->facts, "resumed", trained.resumed);
        fact_say(job->facts, "A toy, after %llu epochs.\n",
                 (unsigned long long)trained.epochs);
    }
    nn_arena_clear(&arena);
    tensor_backend_free(backend);
    learnt_clear(&learnt);
    return status;
}

static const struct encoder encoder_toy = {.kind = {.name = "toy",
                                                    .about = "one weight",
                                                    .analyst = "a prior",
                                                    .trains = true},
                                           .settings = toy_rows,
                                           .own_size =
                                               sizeof(struct toy_settings),
                                           .fit = toy_fit};

static const struct encoder *const with_toy[] = {&encoder_pca, &encoder_toy,
                                                 NULL};

/* ---- It trains ----------------------------------------------------------- */

static enum sotto_status
train(const struct sotto_table *table,
      const struct sotto_train_options *options, const char *name,
      struct sotto_train_facts *facts)
{
    struct encoder_job job = {.table = table,
                              .options = options,
                              .path = in_folder(name),
                              .analyst_path = in_folder("analyst"),
                              .facts = facts};
    return encoder_train(with_toy, "toy", job, &err);
}

static bool
stop_late(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    (void)total;
    return strcmp(what, "training") != 0 || done < 17;
}

static void
test_toy(void **state)
{
    struct sotto_setting set[] = {{"epochs", "5"}, {"rate", "2e-1"}};
    struct sotto_train_options options = {
        .eps = "4", .label = "kind", .set = set, .sets = 2};
    struct sotto_table *table = people(50);
    struct sotto_train_facts facts;
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_mechanism_info info;
    (void)state;
    must(train(table, &options, "whole", &facts));
    assert_true(sotto_train_fact(&facts, "epochs") == 5);
    assert_true(isnan(sotto_train_fact(&facts, "epoch")));
    assert_string_equal(facts.said, "A toy, after 5 epochs.\n");
    assert_string_equal(facts.settings,
                        "d=1 channel=laplace label-channel=flip epochs=5 "
                        "rate=0.2 seed=0");
    must(sotto_mechanism_read(in_folder("whole"), &mechanism, &err));
    sotto_mechanism_info(mechanism, &info);
    assert_string_equal(info.name, "toy");
    assert_int_equal(info.layers, 1);
    sotto_mechanism_free(mechanism);
    /* Stopped, and gone on; but not with other settings, unless late. */
    char checkpoint[512];
    (void)snprintf(checkpoint, sizeof checkpoint, "%s", in_folder("c"));
    options.checkpoint = checkpoint;
    options.watch = (struct sotto_watch){stop_late, NULL};
    must_fail(SOTTO_STATUS_STOPPED, "stopped",
              train(table, &options, "part", &facts));
    options.watch = (struct sotto_watch){NULL, NULL};
    set[1].value = "0.3";
    must_fail(SOTTO_STATUS_INPUT, "with other options",
              train(table, &options, "part", &facts));
    set[1].value = "0.2";
    must(train(table, &options, "part", &facts));
    assert_true(sotto_train_fact(&facts, "resumed") == 1);
    assert_true(same_files(in_folder("whole"), in_folder("part")));
    assert_int_equal(access(checkpoint, F_OK), -1);
    sotto_table_free(table);
}

static void
test_refused(void **state)
{
    struct sotto_setting set[] = {{"epochs", "0"}};
    struct sotto_train_options options = {.eps = "4", .set = set, .sets = 1};
    struct sotto_table *table = people(20);
    (void)state;
    must_fail(SOTTO_STATUS_USAGE,
              "epochs 0 is not a whole number from 1 to 100",
              train(table, &options, "m", NULL));
    set[0].name = "epoch";
    must_fail(SOTTO_STATUS_USAGE, "epoch is not for toy",
              train(table, &options, "m", NULL));
    options.eps = "x";
    must_fail(SOTTO_STATUS_FORMAT, "", train(table, &options, "m", NULL));
    options.eps = NULL;
    must_fail(SOTTO_STATUS_USAGE, "eps is missing",
              train(table, &options, "m", NULL));
    must_fail(SOTTO_STATUS_USAGE, "no kind 'toys': this version has pca, toy",
              encoder_train(with_toy, "toys",
                            (struct encoder_job){.options = &options}, &err));
    assert_int_equal(entries(), 0);
    sotto_table_free(table);
}

static void
test_memory(void **state)
{
    struct sotto_train_options options = {.eps = "4"};
    struct sotto_table *table = people(20);
    struct sotto_train_facts facts;
    long count = 1;
    (void)state;
    for (long n = 0; n <= count; n++) {
        fail_alloc_at(n);
        enum sotto_status status = train(table, &options, "m", &facts);
        count = n == 0 ? fail_alloc_count() : count;
        fail_alloc_at(0);
        assert_true(status == SOTTO_STATUS_MEMORY || n == 0 ||
                    status == SOTTO_STATUS_OK); /* a text left out */
    }
    sotto_table_free(table);
}

/* ---- What there is ------------------------------------------------------- */

enum { SETS = 8 };

/* A kind's example, "d=4 epochs=4", as settings; `text` is room. */
static size_t
take_example(const struct sotto_train_kind *kind, char text[256],
             struct sotto_setting set[SETS])
{
    size_t count = 0;
    char *rest = NULL;
    (void)snprintf(text, 256, "%s", kind->example != NULL ? kind->example : "");
    for (char *at = strtok_r(text, " ", &rest); at != NULL && count < SETS - 1;
         at = strtok_r(NULL, " ", &rest)) {
        char *sign = strchr(at, '=');
        if (sign != NULL) {
            *sign = '\0';
        }
        set[count++] =
            (struct sotto_setting){at, sign != NULL ? sign + 1 : NULL};
    }
    return count;
}

/* Every row's default is one that its own check takes, beside what its example
   says is needed, and names are as the command line wants them. */
static void
test_rows(void **state)
{
    struct sotto_train_kind kind;
    struct sotto_setting_info setting;
    size_t kinds = 0;
    (void)state;
    for (; sotto_train_kind_at(kinds, &kind); kinds++) {
        struct sotto_setting set[SETS];
        char text[256];
        size_t settings = 0, sets = take_example(&kind, text, set);
        struct sotto_train_options options = {
            .eps = "1", .label = "y", .set = set, .sets = sets};
        must(sotto_train_check(kind.name, &options, &err));
        assert_true(strlen(kind.about) > 20);
        for (; sotto_train_setting_at(kind.name, settings, &setting);
             settings++) {
            set[sets] = (struct sotto_setting){setting.name, setting.initial};
            assert_int_equal(
                strspn(setting.name, "abcdefghijklmnopqrstuvwxyz-"),
                strlen(setting.name));
            assert_true(setting.help[0] != '\0');
            options.sets = sets + (setting.initial != NULL);
            must(sotto_train_check(kind.name, &options, &err));
        }
        assert_true(settings > 3);
    }
    assert_int_equal(kinds, 9);
    assert_false(sotto_train_setting_at("none", 0, &setting));
}

static bool
has(const char *kind, const char *name)
{
    struct sotto_setting_info setting;
    size_t found = 0;
    for (size_t i = 0; sotto_train_setting_at(kind, i, &setting); i++) {
        found += strcmp(setting.name, name) == 0;
    }
    assert_true(found < 2);
    return found == 1;
}

/* What is its base's, a codebook has too, unless it comes late. */
static void
test_base(void **state)
{
    (void)state;
    assert_true(has("codebook", "k") && has("codebook", "seed"));
    assert_true(has("codebook", "widths") && has("codebook", "epochs"));
    assert_true(has("clm", "inside") && !has("codebook", "inside"));
    assert_true(has("clm", "lambda") && !has("codebook", "lambda"));
    assert_false(has("codebook", "linear") || has("pca", "epochs"));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_toy),  TEST(test_refused), TEST(test_memory),
        TEST(test_rows), TEST(test_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
