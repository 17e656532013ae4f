/*
 * test_task_linear.c: train task-linear: the loss that it tells is the one that
 * reports have, only what the task needs is kept, and both files say so.
 */
#include "fail_alloc.h"
#include "task_people.h"

enum { ROWS = 1000 };

enum { DRAWS = 40 };

/* z that DRAWS simulated reports of every row estimate, and x of the rows. */
static void
simulate(struct sotto_mechanism *mechanism, const struct sotto_table *table,
         const struct sotto_analyst *analyst, double *ret_z, float *ret_x)
{
    size_t size = sotto_client_report_size(sotto_mechanism_client(mechanism));
    struct rows rows;
    uint8_t report[256];
    assert_true(size <= sizeof report);
    must(rows_init(&rows, mechanism, table, &err));
    for (uint64_t i = 0; i < ROWS * DRAWS; i++) {
        must(sotto_simulate(mechanism, 1, i, rows_at(&rows, i % ROWS),
                            rows.count, report, size));
        sotto_analyst_estimate(analyst, mechanism, report,
                               ret_z + i * sotto_analyst_z_width(analyst));
    }
    for (size_t i = 0; i < ROWS; i++) {
        rows_encode(&rows, i, ret_x + i * sotto_analyst_x_width(analyst), NULL);
    }
    rows_clear(&rows);
}

/* The mean squared error of entry `at` of x in units of its deviation, over
   reports decoded as decode does it. */
static double
report_loss(struct sotto_mechanism *mechanism, const struct sotto_table *table,
            size_t at)
{
    struct sotto_analyst *analyst = NULL;
    double loss = 0, mean = 0, squares = 0;
    must(sotto_analyst_read(in_folder("m.analyst"), &analyst, &err));
    must(sotto_analyst_check(analyst, mechanism, &err));
    size_t width = sotto_analyst_x_width(analyst), n = ROWS * DRAWS;
    double *z = calloc(n * sotto_analyst_z_width(analyst), sizeof *z);
    float *x = malloc(ROWS * width * sizeof *x);
    float *back = malloc(n * width * sizeof *back);
    assert_true(z != NULL && x != NULL && back != NULL);
    simulate(mechanism, table, analyst, z, x);
    must(sotto_analyst_decode(analyst, z, n, back, &err));
    for (size_t i = 0; i < n; i++) {
        double value = (double)x[i % ROWS * width + at];
        mean += value / (double)n;
        squares += value * value / (double)n;
        loss += pow(value - (double)back[i * width + at], 2) / (double)n;
    }
    free(z);
    free(x);
    free(back);
    sotto_analyst_free(analyst);
    return loss / (squares - mean * mean);
}

/* Also where the lattice is coarse: the decoder is fitted to what devices make
   of a record, and to their channel's own noise. */
static void
check_loss(const char *eps, uint32_t steps, unsigned gaps)
{
    struct task_linear_options options = {
        .eps = eps, .weights = "wage=1", .steps = steps, .threads = 1};
    struct sotto_table *table = earners(ROWS, gaps);
    struct sotto_train_facts facts;
    struct sotto_mechanism *mechanism = make_task(table, &options, &facts);
    double told = sotto_train_fact(&facts, "loss");
    double loss = report_loss(mechanism, table, 1);
    assert_int_equal(sotto_train_fact(&facts, "d"), 1);
    /* of rows left out, whose mean is that of the others */
    assert_true(fabs(sotto_train_fact(&facts, "without") -
                     pow(ROWS / (ROWS - 1.0), 2)) < 1e-5);
    if (!(fabs(loss / told - 1) < 0.02)) {
        fail_msg("eps %s, %u steps: a loss of %g, not %g", eps, (unsigned)steps,
                 loss, told);
    }
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

static void
test_loss(void **state)
{
    (void)state;
    check_loss("1", 0, 0);
    check_loss("8", 0, 0);
    check_loss("8", 0, 10);
    check_loss("8", 2, 0);
}

/* More columns than rows, and no order in them: a report hardly helps, and is
   not said to be worse than none, for both losses are of rows left out. */
static void
test_few(void **state)
{
    enum { FEW = 20, COLUMNS = 40 };
    struct task_linear_options options = {.eps = "4", .threads = 1};
    struct sotto_table *table = NULL;
    struct sotto_train_facts facts;
    struct seeded seeded;
    double column[FEW], loss, without;
    char weights[16 * COLUMNS], name[8];
    size_t used = 0;
    (void)state;
    seeded_init(&seeded, 9, 0);
    must(sotto_table_new(FEW, &table, &err));
    for (size_t j = 0; j < COLUMNS; j++) {
        for (size_t i = 0; i < FEW; i++) {
            column[i] = uniform(&seeded);
        }
        (void)snprintf(name, sizeof name, "n%zu", j);
        must(sotto_table_add_numbers(table, name, column, &err));
        used += (size_t)snprintf(weights + used, sizeof weights - used,
                                 "%s%s=1", j > 0 ? "," : "", name);
    }
    options.weights = weights;
    sotto_mechanism_free(make_task(table, &options, &facts));
    loss = sotto_train_fact(&facts, "loss");
    without = sotto_train_fact(&facts, "without");
    assert_true(loss < without && loss > 0.9 * without);
    assert_null(strstr(facts.said, "tells nothing"));
    sotto_table_free(table);
    table = earners(2, 0); /* a row left out is foretold by one other */
    options.weights = "wage=1,age=1";
    sotto_mechanism_free(make_task(table, &options, &facts));
    assert_non_null(strstr(facts.said, "tells nothing of the task"));
    sotto_table_free(table);
}

/* The encoder looks at the wage alone, and both files tell. */
static void
test_told(void **state)
{
    struct task_linear_options options = {.eps = "4", .weights = "wage=2"};
    struct sotto_table *table = earners(ROWS, 0);
    struct sotto_train_facts facts;
    struct sotto_mechanism *mechanism = make_task(table, &options, &facts);
    struct sotto_mechanism_info info;
    struct sotto_analyst *analyst = NULL;
    char *text = NULL;
    (void)state;
    sotto_mechanism_info(mechanism, &info);
    assert_string_equal(
        info.auxiliary,
        "none: learnt from the auxiliary data, for the task: weights wage=2");
    must(sotto_mechanism_describe(mechanism, false, &text, &err));
    assert_non_null(strstr(text, "gives no weight to age, city:"));
    free(text);
    must(sotto_mechanism_describe(mechanism, true, &text, &err));
    assert_non_null(strstr(text, "\"weightless\":[\"age\",\"city\"]"));
    free(text);
    assert_non_null(strstr(facts.said, "wage 100%"));
    must(sotto_analyst_read(in_folder("m.analyst"), &analyst, &err));
    must(sotto_analyst_describe(analyst, false, &text, &err));
    assert_non_null(strstr(text, "was made for weights wage=2: a report keeps "
                                 "1 number."));
    assert_non_null(strstr(text, "100.0%  wage"));
    free(text);
    must(sotto_analyst_describe(analyst, true, &text, &err));
    assert_non_null(strstr(text, "\"kind\": \"task-linear\""));
    free(text);
    sotto_analyst_free(analyst);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* What is kept of a column is its squared correlation with what is kept. */
static void
test_kept(void **state)
{
    struct task_linear_options options = {.eps = "4", .weights = "wage=1"};
    struct sotto_table *table = earners(ROWS, 0);
    struct sotto_train_facts facts;
    struct sotto_mechanism *mechanism = make_task(table, &options, &facts);
    double aa = 0, ww = 0, aw = 0, a = 0, w = 0, kept;
    char said[40];
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        a += sotto_table_cell(table, i, 0).number / ROWS;
        w += sotto_table_cell(table, i, 1).number / ROWS;
    }
    for (size_t i = 0; i < ROWS; i++) {
        double x = sotto_table_cell(table, i, 0).number - a;
        double y = sotto_table_cell(table, i, 1).number - w;
        aa += x * x;
        ww += y * y;
        aw += x * y;
    }
    kept = aw * aw / (aa * ww);
    (void)snprintf(said, sizeof said, "age %.0f%%", 100 * kept);
    assert_true(kept > 0.2 && kept < 0.9);
    if (strstr(facts.said, said) == NULL) {
        fail_msg("no '%s' in '%s'", said, facts.said);
    }
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* With all of it asked for at a large epsilon several numbers are kept, but for
   d, and the loss is below that of one. */
static void
test_several(void **state)
{
    struct task_linear_options options = {.eps = "30",
                                          .weights = "age=1,wage=1,city=2"};
    struct sotto_table *table = earners(ROWS, 0);
    struct sotto_train_facts facts, fewer;
    struct sotto_mechanism *mechanism = make_task(table, &options, &facts);
    (void)state;
    assert_true(sotto_train_fact(&facts, "d") >= 3);
    sotto_mechanism_free(mechanism);
    options.d = 1;
    mechanism = make_task(table, &options, &fewer);
    assert_int_equal(sotto_train_fact(&fewer, "d"), 1);
    assert_true(sotto_train_fact(&facts, "loss") <
                0.9 * sotto_train_fact(&fewer, "loss"));
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* A label has its share of epsilon and is no input; the seed of nothing: twice
   is the same file, on any number of threads. */
static void
test_label(void **state)
{
    struct task_linear_options options = {.eps = "5",
                                          .label = "city",
                                          .lambda = 0.6,
                                          .weights = "wage=1",
                                          .threads = 1};
    struct sotto_table *table = earners(ROWS, 0);
    struct sotto_mechanism *mechanism = make_task(table, &options, NULL);
    struct sotto_mechanism_info info;
    (void)state;
    sotto_mechanism_info(mechanism, &info);
    assert_true(fabs(info.eps_features - 3) < 1e-9);
    assert_true(fabs(info.eps_label - 2) < 1e-9);
    sotto_mechanism_free(mechanism);
    options.threads = 3;
    must(train_task_linear(table, &options, in_folder("n.sotto"),
                           in_folder("n.analyst"), NULL, NULL, &err));
    assert_true(same_files(in_folder("m.sotto"), in_folder("n.sotto")));
    assert_true(same_files(in_folder("m.analyst"), in_folder("n.analyst")));
    sotto_table_free(table);
}

static void
test_memory(void **state)
{
    struct task_linear_options options = {
        .eps = "5", .target = "wage", .threads = 1};
    struct sotto_table *table = earners(20, 0);
    struct sotto_mechanism *mechanism = NULL;
    enum sotto_status status;
    long n = 0;
    (void)state;
    do { /* the search allocates by the hundred in one place */
        memset(&err, 0xa5, sizeof err);
        n += n > 150 ? 37 : 1;
        fail_alloc_at(n);
        status =
            train_task_linear(table, &options, in_folder("m.sotto"),
                              in_folder("m.analyst"), NULL, &mechanism, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_null(mechanism);
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_int_equal(access(in_folder("m.sotto"), F_OK), -1);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 150);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_few),    TEST(test_loss),    TEST(test_told),
        TEST(test_kept),   TEST(test_several), TEST(test_label),
        TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
