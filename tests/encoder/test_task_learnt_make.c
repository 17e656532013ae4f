/*
 * test_task_learnt_make.c: how many numbers a report has, which rows train, and
 * a model as the task.
 */
#include "encoder/task_learnt.h"

#include "task_learnt_fixture.h"

static struct task_settings
small_set(void)
{
    return (struct task_settings){
        .common = {.label_channel = "flip", .steps = 4096},
        .epochs = 30,
        .task_epochs = 30,
        .batch = 32,
        .rate = 0.01,
        .validation = 0.2,
        .seed = 3};
}

static void
making_run(struct task_making *making, struct task_asked *asked,
           struct task_settings *set, struct encoder_job *job)
{
    asked->options.set = asked->set;
    asked->options.sets = asked->sets;
    job->encoder = &encoder_task;
    job->options = &asked->options;
    *making = (struct task_making){.job = job, .set = set};
    must(task_making_run(making, &err));
}

/* One number says what one direction is; ten columns that are to be told at
   much epsilon want more. */
static void
test_chooses(void **state)
{
    static const char *const weights[] = {"x0=1", "x8=1", "x9=1"};
    struct sotto_table *table = ten(300);
    struct encoder_job job = {.table = table};
    struct task_settings set = small_set();
    struct task_asked asked = small_asked();
    struct task_making making;
    (void)state;
    ask(&asked, "target", "y");
    set.targets = 1;
    making_run(&making, &asked, &set, &job);
    assert_int_equal(making.learnt.set.d, 1);
    assert_int_equal(making.tries, 2);
    assert_true(making.tried[0] == 1 && making.tried[1] == 2);
    assert_true(making.losses[1] > 0.99 * making.losses[0]);
    assert_true(making.trained.held == making.losses[0]);
    assert_true(making.clear < making.trained.held);
    assert_true(making.trained.held < making.constant);
    assert_int_equal(making.held, 60);
    assert_int_equal(making.rows, 240);
    assert_true(set.eps_pre == 4);
    task_making_clear(&making);

    asked = small_asked();
    asked.options.eps = "30";
    set = small_set();
    set.weighteds = 3;
    for (size_t i = 0; i < 3; i++) {
        ask(&asked, "weights", weights[i]);
    }
    making_run(&making, &asked, &set, &job);
    assert_true(making.learnt.set.d >= 4 && making.tries >= 3);
    for (size_t i = 0; i < making.tries; i++) {
        bool last = i + 1 == making.tries; /* which was one too many */
        assert_true(making.tried[i] == fmin(pow(2, (double)i), 11));
        assert_true(i == 0 ||
                    (making.losses[i] < 0.995 * making.losses[i - 1]) == !last);
    }
    assert_true(making.tried[making.tries - 2] == making.learnt.set.d);
    assert_true(making.clear == 0 && fabs(making.constant - 3) < 0.1);
    task_making_clear(&making);
    sotto_table_free(table);
}

/* Rows without a target do not train f; nor, of the truth, a net. */
static void
test_known(void **state)
{
    char text[8192];
    size_t used = (size_t)snprintf(text, sizeof text, "a,b,t\n");
    struct sotto_table *table = NULL;
    struct task_settings set = small_set();
    struct task_asked asked = {.options = {.eps = "4"}};
    struct encoder_job job;
    struct task_making making;
    (void)state;
    for (int i = 0; i < 100; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 i % 4 == 0 ? "%d,%d,\n" : "%d,%d,%d\n",
                                 i * 7 % 11, i * 5 % 13, i * 7 % 11);
    }
    must(sotto_table_parse(text, used, "-", NULL, &table, &err));
    job = (struct encoder_job){.table = table};
    ask(&asked, "target", "t");
    set.targets = 1;
    set.common.d = 1;
    set.truth = true;
    making_run(&making, &asked, &set, &job);
    assert_int_equal(making.known_rows + making.known_held, 75);
    for (size_t i = 0; i < 75; i++) {
        assert_true(making.known[i] % 4 != 0);
        for (size_t j = 0; j < making.held; j++) {
            if (making.known[i] == making.row[j]) {
                assert_true(i < making.known_held);
            }
        }
    }
    assert_null(making.answers);
    task_making_clear(&making);
    sotto_table_free(table);
}

static const float weight[] = {0, 3, 0, -3}, bias[] = {0, 0};
static const struct layer logits[] = {
    {.in = 2, .out = 2, .weight = weight, .bias = bias}};
static struct schema_column columns[3];
static struct schema schema = {.column = columns, .columns = 3};
static int freed;

static void
free_model(void *own)
{
    *(int *)own += 1;
}

/* Takes x9, then x8, on scales of its own, and looks at the latter. */
static enum sotto_status
give_model(const char *path, struct encoder_function *ret_function,
           struct sotto_error *error)
{
    (void)error;
    assert_string_equal(path, "some/where/x.model");
    columns[0] = (struct schema_column){.name = "x9",
                                        .kind = SOTTO_COLUMN_NUMBER,
                                        .input = true,
                                        .scale = 0.5,
                                        .inputs = 1};
    columns[1] = (struct schema_column){.name = "y", .inputs = 0};
    columns[2] = columns[0];
    columns[2].name = "x8";
    columns[2].shift = 1;
    columns[2].at = 1;
    *ret_function = (struct encoder_function){.own = &freed,
                                              .free = free_model,
                                              .schema = &schema,
                                              .layer = logits,
                                              .layers = 1,
                                              .classes = 2};
    return SOTTO_STATUS_OK;
}

static void
test_model(void **state)
{
    struct sotto_table *table = ten(200);
    struct encoder_job job = {.table = table, .function = give_model};
    struct task_settings set = small_set();
    struct task_asked asked = small_asked();
    struct task_making making;
    (void)state;
    set.model = "some/where/x.model";
    set.common.d = 1;
    freed = 0;
    making_run(&making, &asked, &set, &job);
    assert_int_equal(making.learnt.width, 2); /* the model's columns alone */
    assert_string_equal(making.learnt.schema.column[0].name, "x9");
    assert_true(making.learnt.schema.column[1].shift == 1);
    assert_string_equal(making.aim.words, "the model x.model");
    for (size_t i = 0; i < 200; i++) {
        double x8 = sotto_table_cell(table, i, 8).number;
        double p = 1 / (1 + exp(-6 * 0.5 * (x8 - 1)));
        assert_true(fabs((double)making.answers[2 * i] - p) < 1e-4);
    }
    assert_true(making.clear > 0.05 && making.clear < making.trained.held);
    /* The code is about x8, and not about x9. */
    const float *code =
        nn_arena_value(&making.net[making.best].arena,
                       making.net[making.best].encoder.layer[0].weight);
    assert_true(fabs((double)code[1]) > 5 * fabs((double)code[0]));
    task_making_clear(&making);
    assert_int_equal(freed, 1);

    /* A column that the data lacks. */
    struct encoder_job lacking = job;
    struct sotto_table *other = people(30);
    lacking.table = other;
    lacking.encoder = &encoder_task;
    asked.options.drops = 0;
    lacking.options = &asked.options;
    making = (struct task_making){.job = &lacking, .set = &set};
    must_fail(SOTTO_STATUS_USAGE, "the model takes the column",
              task_making_run(&making, &err));
    task_making_clear(&making);
    lacking.function = NULL; /* of a caller that reads no models */
    making = (struct task_making){.job = &lacking, .set = &set};
    set.model =
        "some/a\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
        "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
        "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
        "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9.model";
    must_fail(SOTTO_STATUS_USAGE, "model cannot be read here",
              task_making_run(&making, &err));
    assert_int_equal(strncmp(making.aim.words, "the model a??", 13), 0);
    for (const char *at = making.aim.words; *at != '\0'; at++) {
        assert_true(*at >= 0x20 && *at <= 0x7e);
    }
    task_making_clear(&making);
    sotto_table_free(other);
    sotto_table_free(table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chooses),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
