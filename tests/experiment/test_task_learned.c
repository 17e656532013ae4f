/*
 * test_task_learned.c: the methods' losses for a task that is a network, on
 * made records, between those of the record in the clear and of no report; and
 * columns as records.
 */
#include "encoder/learnt_fixture.h"
#include "experiment/task_learned.h"

enum { ROWS = 200, AUX = 140, WIDTH = 4 };

static const size_t sizes[] = {1, 2, 0};

static struct task_learned_spec
small_spec(bool classes)
{
    return (struct task_learned_spec){
        .likelihood = classes ? ANALYST_CATEGORICAL : ANALYST_GAUSSIAN,
        .function_hidden = 6,
        .function_epochs = 800,
        .hidden = classes ? 4 : 0,
        .activation = ACTIVATION_SIGMOID,
        .sizes = sizes,
        .steps = 400,
        .rate = 0.01,
        .paper_z = 2,
        .eta = 0.001,
        .paper_epochs = 600,
        .paper_period = 15,
        .clear_epochs = 300};
}

static void
fill(struct task_learned_data *data, bool classes)
{
    struct seeded seeded;
    seeded_init(&seeded, 2, 0);
    *data = (struct task_learned_data){
        .rows = ROWS, .aux = AUX, .width = WIDTH, .out = classes ? 2 : 1};
    data->x = calloc(ROWS, WIDTH * sizeof *data->x);
    data->all = calloc(ROWS, WIDTH * sizeof *data->all);
    data->y = calloc(ROWS, data->out * sizeof *data->y);
    assert_true(data->x != NULL && data->all != NULL && data->y != NULL);
    for (size_t i = 0; i < ROWS; i++) {
        float *x = data->x + i * WIDTH;
        for (size_t j = 0; j < WIDTH; j++) {
            x[j] = (float)uniform(&seeded);
        }
        if (classes) {
            data->y[2 * i + (x[0] + x[1] > 1 ? 1 : 0)] = 1;
        } else {
            data->y[i] = 0.6F * x[0] - 0.4F * x[2] + 0.4F;
        }
    }
    memcpy(data->all, data->x, ROWS * WIDTH * sizeof *data->x);
}

static double
measure(struct task_learned *learned, const char *name, double eps)
{
    const struct experiment_mechanism method = {.name = name};
    const struct study_point point = {
        .method = &method, .eps = eps, .trial = 1, .seed = 7};
    struct study_outcome outcome = {0};
    must(task_learned_measure(learned, &point, &outcome, &err));
    assert_true(outcome.note[0] != '\0');
    return outcome.loss;
}

static void
check_methods(bool classes)
{
    static const char *const sound[] = {"task-aware", "task-codes",
                                        "task-agnostic", "privacy-agnostic",
                                        "privacy-agnostic-3"};
    const struct task_learned_spec spec = small_spec(classes);
    struct task_learned_data data;
    struct task_learned *learned = NULL;
    double clear, constant, aware;
    fill(&data, classes);
    must(task_learned_new(&spec, &data, 1, &learned, &err));
    assert_null(data.x);
    task_learned_bounds(learned, &clear, &constant);
    assert_true(clear < constant / 3);
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++) {
        double loss = measure(learned, sound[i], 8);
        assert_true(loss > clear / 2 && loss < 1.1 * constant);
        assert_true(measure(learned, sound[i], 1000) < loss);
    }
    aware = measure(learned, "task-aware", 8);
    assert_true(aware != measure(learned, "privacy-agnostic", 8));
    assert_true(aware == measure(learned, "task-aware", 8));
    assert_true(aware < measure(learned, "task-agnostic", 8));
    assert_true(isfinite(measure(learned, "unsound-aware", 8)));
    assert_true(isfinite(measure(learned, "unsound-agnostic-code", 8)));
    assert_true(isfinite(measure(learned, "unsound-privacy-agnostic", 8)));
    task_learned_free(learned);
}

static void
test_regression(void **state)
{
    (void)state;
    check_methods(false);
}

static void
test_classes(void **state)
{
    (void)state;
    check_methods(true);
}

/* Nets with a hidden layer, on the same task function; the first ones again. */
static void
test_set_nets(void **state)
{
    static const char *const names[] = {"task-aware", "task-agnostic",
                                        "unsound-aware"};
    const struct task_learned_spec spec = small_spec(false);
    struct task_learned_spec hidden = spec;
    struct task_learned_data data;
    struct task_learned *learned = NULL;
    (void)state;
    hidden.hidden = WIDTH;
    hidden.activation = ACTIVATION_RELU;
    fill(&data, false);
    must(task_learned_new(&spec, &data, 1, &learned, &err));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double loss = measure(learned, names[i], 8), other;
        task_learned_set_nets(learned, &hidden);
        other = measure(learned, names[i], 8);
        assert_true(isfinite(other) && other != loss);
        task_learned_set_nets(learned, &spec);
        assert_true(measure(learned, names[i], 8) == loss);
    }
    task_learned_free(learned);
}

static void
test_refused(void **state)
{
    const struct task_learned_spec spec = small_spec(false);
    const struct experiment_mechanism other = {.name = "other"};
    const struct study_point point = {.method = &other, .eps = 1};
    struct task_learned_data data;
    struct task_learned *learned = NULL;
    struct study_outcome outcome;
    (void)state;
    fill(&data, false);
    must(task_learned_new(&spec, &data, 1, &learned, &err));
    must_fail(SOTTO_STATUS_USAGE, "no method 'other'",
              task_learned_measure(learned, &point, &outcome, &err));
    task_learned_free(learned);
}

/* ---- Columns (task_learned_read.c) -----------------------------------------
 */

/* 30 rows: 21 auxiliary, among which the second column is at most 40. */
static void
write_columns(char *text, size_t size, const char *last)
{
    size_t used = (size_t)snprintf(text, size, "id,a,b\n");
    for (int i = 0; i < 30; i++) {
        used += (size_t)snprintf(text + used, size - used, "%d,%d,%s\n", i,
                                 i < 21 ? 2 * i : 80,
                                 i == 29 ? last
                                 : i % 2 ? "1"
                                         : "0");
    }
}

static void
test_read(void **state)
{
    char text[1024];
    struct sotto_table *table = NULL;
    struct task_learned_data data;
    (void)state;
    write_columns(text, sizeof text, "1");
    must(sotto_table_parse(text, strlen(text), "t", NULL, &table, &err));
    must(task_learned_read(table, 1, 2, &data, &err));
    assert_int_equal(data.rows, 30);
    assert_int_equal(data.aux, 21);
    assert_true(data.x[20 * 2] == 1 && data.x[29 * 2] == 2);
    assert_true(data.all[20 * 2] == 0.5F && data.all[29 * 2] == 1);
    task_learned_data_clear(&data);
    sotto_table_free(table);

    write_columns(text, sizeof text, "");
    must(sotto_table_parse(text, strlen(text), "t", NULL, &table, &err));
    must_fail(SOTTO_STATUS_INPUT, "line 31, column b",
              task_learned_read(table, 1, 2, &data, &err));
    sotto_table_free(table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regression), cmocka_unit_test(test_classes),
        cmocka_unit_test(test_set_nets),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
