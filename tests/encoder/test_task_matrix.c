/*
 * test_task_matrix.c: a task as people give it: weights, a file, a target; and
 * what is wrong with one, by file, row and field.
 */
#include "encoder/task_matrix.h"

#include "fail_alloc.h"
#include "task_people.h"

enum { ROWS = 400 };

/* The share of each column that is kept, in the table's order; -1: it is no
   input. */
static void
find_kept(const struct sotto_table *table,
          const struct task_linear_options *options, double ret_kept[3])
{
    struct sotto_analyst *analyst = NULL;
    char *text = NULL;
    sotto_mechanism_free(make_task(table, options, NULL));
    must(sotto_analyst_read(in_folder("m.analyst"), &analyst, &err));
    must(sotto_analyst_describe(analyst, false, &text, &err));
    for (size_t i = 0; i < 3; i++) {
        char line[64];
        const char *at;
        (void)snprintf(line, sizeof line, "%%  %s\n",
                       sotto_table_name(table, i));
        at = strstr(text, line);
        ret_kept[i] = at != NULL ? strtod(at - 6, NULL) : -1;
    }
    free(text);
    sotto_analyst_free(analyst);
}

#define assert_kept(options, age, wage, city)                                  \
    do {                                                                       \
        double kept[3];                                                        \
        find_kept(table, options, kept);                                       \
        if (!(kept[0] >= (age) && kept[1] >= (wage) && kept[2] >= (city))) {   \
            fail_msg("kept %g %g %g", kept[0], kept[1], kept[2]);              \
        }                                                                      \
    } while (0)

/* Each of them keeps what it names. */
static void
test_weights(void **state)
{
    struct task_linear_options options = {.eps = "30"};
    struct sotto_table *table = earners(ROWS, 0);
    (void)state;
    options.weights = "age=1";
    assert_kept(&options, 99.9, 0, 0);
    options.weights = "wage=0.5,age=0";
    assert_kept(&options, 0, 99.9, 0);
    options.weights = "city=3"; /* every category but one that never is */
    assert_kept(&options, 0, 0, 99.9);
    options.weights = "city=Ulm=1";
    assert_kept(&options, 0, 0, 40);
    options.weights = "age=1,wage=1,city=2";
    assert_kept(&options, 95, 95, 95);
    sotto_table_free(table);
}

/* A file's weights are for the columns' own units: a euro of wage is a
   thousandth of its deviation, so these two rows want both alike. */
static void
test_file(void **state)
{
    struct task_linear_options options = {.eps = "30"};
    struct sotto_table *table = earners(ROWS, 0);
    double loss;
    struct sotto_train_facts facts;
    (void)state;
    options.task = write_task("wage\n1\n");
    assert_kept(&options, 0, 99.9, 0);
    sotto_mechanism_free(make_task(table, &options, &facts));
    loss = sotto_train_fact(&facts, "without"); /* the wage's variance */
    assert_true(loss > 500000 && loss < 2000000);
    options.task = write_task("wage,age,city=Kiel\n1,0,0\n0,75,0\n0,0,2000\n");
    assert_kept(&options, 90, 90, 40);
    options.task = write_task("age,wage\n-40,1\n"); /* what age does not tell */
    assert_kept(&options, 0, 40, 0);
    sotto_table_free(table);
}

/* The target is no input unless it is the label; what predicts it is kept. */
static void
test_target(void **state)
{
    struct task_linear_options options = {.eps = "30", .target = "wage"};
    struct sotto_table *table = earners(ROWS, 10);
    struct sotto_train_facts facts;
    double kept[3], told;
    (void)state;
    find_kept(table, &options, kept);
    assert_true(kept[0] > 40 && kept[1] == -1 && kept[2] > 10);
    sotto_mechanism_free(make_task(table, &options, &facts));
    told = sotto_train_fact(&facts, "target_told");
    assert_true(told > 0.5 && told < 0.9);
    options.target = "city"; /* a category */
    find_kept(table, &options, kept);
    assert_true(kept[1] > 20 && kept[2] == -1);
    options.label = "city";
    sotto_mechanism_free(make_task(table, &options, &facts));
    assert_true(sotto_train_fact(&facts, "target_told") > 0.1);
    sotto_table_free(table);
}

/* Many inputs that have nothing to do with it, and few rows: the penalty keeps
   the predictor from following each. */
static void
test_penalty(void **state)
{
    enum { FEW = 40, NOISE = 30 };
    struct sotto_table *table = NULL;
    struct seeded seeded;
    struct task_linear_options options = {.eps = "8", .target = "t"};
    struct sotto_train_facts facts;
    double column[FEW], t[FEW];
    char name[8];
    (void)state;
    seeded_init(&seeded, 6, 0);
    must(sotto_table_new(FEW, &table, &err));
    for (size_t i = 0; i < FEW; i++) {
        column[i] = uniform(&seeded);
        t[i] = column[i] + 0.2 * uniform(&seeded);
    }
    must(sotto_table_add_numbers(table, "a", column, &err));
    must(sotto_table_add_numbers(table, "t", t, &err));
    for (size_t j = 0; j < NOISE; j++) {
        for (size_t i = 0; i < FEW; i++) {
            column[i] = uniform(&seeded);
        }
        (void)snprintf(name, sizeof name, "n%zu", j);
        must(sotto_table_add_numbers(table, name, column, &err));
    }
    sotto_mechanism_free(make_task(table, &options, &facts));
    assert_true(sotto_train_fact(&facts, "target_told") > 0.3);
    sotto_table_free(table);
}

static void
test_refused(void **state)
{
    struct task_linear_options options = {.eps = "5"};
    struct sotto_table *table = earners(50, 0), *pictures = images(50);
    (void)state;
#define REFUSED(status, message)                                               \
    must_fail(SOTTO_STATUS_##status, message,                                  \
              train_task_linear(table, &options, in_folder("m.sotto"), NULL,   \
                                NULL, NULL, &err));                            \
    assert_int_equal(access(in_folder("m.sotto"), F_OK), -1)
    REFUSED(USAGE, "task is missing: give a matrix, or weights, or a target");
    options.weights = "age=1";
    options.target = "wage";
    REFUSED(USAGE, "task is given more than once");
    options.target = NULL;
    options.weights = "age";
    REFUSED(USAGE, "weights has 'age': write COL=W");
    options.weights = "age=-1";
    REFUSED(USAGE, "weights has 'age=-1'");
    options.weights = "agee=1";
    REFUSED(USAGE, "\"agee\", which is no input: did you mean \"age\"?");
    options.weights = "city=Rome=1";
    REFUSED(USAGE, "\"city=Rome\", which is no input");
    options.weights = "age=1,age=2";
    REFUSED(USAGE, "names 'age' twice");
    options.weights = "age=0";
    REFUSED(USAGE, "asks for nothing");
    options.weights = "wage=1,age=1e308";
    REFUSED(USAGE, "weights gives 'age' 1e+308: a weight is 0, or from 1e-100 "
                   "to 1e+100");
    options.weights = "age=1e-200";
    REFUSED(USAGE, "weights gives 'age' 1e-200");
    options.label = "city";
    options.weights = "city=1";
    REFUSED(USAGE, "it is the label, the target, or left out");
    options.label = NULL;
    options.weights = NULL;
    options.target = "wages";
    REFUSED(USAGE, "target: there is no column \"wages\"");
    options.target = NULL;
    options.task = write_task("age,wage\n1,0\n0,much\n");
    REFUSED(INPUT, "K.csv': row 2 (line 3), field \"wage\": \"much\" is no "
                   "number");
    options.task = write_task("age,wage\n1,\n");
    REFUSED(INPUT, "row 1 (line 2), field \"wage\": nothing is there");
    options.task = write_task("age,wage\n1,0\n0,-1e300\n");
    REFUSED(INPUT, "row 2 (line 3), field \"wage\": -1e+300 is too large");
    options.task = write_task("agee\n1\n");
    REFUSED(INPUT, "the header has \"agee\", which is no input: did you mean "
                   "\"age\"?");
    options.task = write_task("city\n1\n");
    REFUSED(INPUT, "\"city\", which holds categories or samples");
    options.task = write_task("age\n0\n");
    REFUSED(INPUT, "every weight is 0");
    options.task = in_folder("none.csv");
    REFUSED(IO, "none.csv");
    options.task = NULL;
    options.target = "image";
    sotto_table_free(table);
    table = pictures;
    REFUSED(USAGE, "target is a column of images");
    options.target = NULL;
    options.weights = "image=1"; /* every pixel */
    sotto_mechanism_free(make_task(table, &options, NULL));
    sotto_table_free(pictures);
#undef REFUSED
}

/* Names may hold commas and signs. */
static void
test_names(void **state)
{
    static const char text[] = "\"a,b\",c=2,d\n1,5,3\n2,1,5\n4,2,2\n";
    struct task_linear_options options = {.eps = "8", .weights = "a,b=3,c=2=1"};
    struct sotto_table *table = NULL;
    struct sotto_train_facts facts;
    (void)state;
    assert_int_equal(task_list_piece(options.weights), strlen("a,b=3"));
    assert_int_equal(task_list_piece("a,b"), strlen("a,b"));
    assert_int_equal(task_list_piece(""), 0);
    must(sotto_table_parse(text, strlen(text), "-", NULL, &table, &err));
    sotto_mechanism_free(make_task(table, &options, &facts));
    /* Variances of 9 and 1; of 3 rows left out, 9/4 of that. */
    assert_true(fabs(sotto_train_fact(&facts, "without") - 10 * 2.25) < 1e-5);
    options.weights = "a,b=3,";
    sotto_mechanism_free(make_task(table, &options, NULL));
    options.weights = ",a,b=3";
    must_fail(SOTTO_STATUS_USAGE, "names \",a,b\", which is no input",
              train_task_linear(table, &options, in_folder("m.sotto"), NULL,
                                NULL, NULL, &err));
    sotto_table_free(table);
}

static void
test_memory(void **state)
{
    struct task_linear_options options = {.eps = "5", .threads = 1};
    struct sotto_table *table = earners(20, 0);
    enum sotto_status status;
    long n = 0;
    (void)state;
    options.task = write_task("age,city=Ulm\n1,2\n");
    do {
        fail_alloc_at(++n);
        status =
            train_task_linear(table, &options, NULL, NULL, NULL, NULL, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    } while (n < 120);
    fail_alloc_at(0);
    options.task = NULL;
    options.weights = "age=1,city=Ulm=2";
    for (n = 1; n < 120; n++) {
        fail_alloc_at(n);
        status =
            train_task_linear(table, &options, NULL, NULL, NULL, NULL, &err);
        assert_int_equal(status, SOTTO_STATUS_MEMORY);
    }
    fail_alloc_at(0);
    sotto_table_free(table);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_weights), TEST(test_file),  TEST(test_target),
        TEST(test_penalty), TEST(test_names), TEST(test_refused),
        TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
