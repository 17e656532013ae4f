/*
 * test_task_learnt.c: the learnt task-aware mechanism, from a table to its
 * files.
 */
#include "encoder/task_learnt.h"

#include "client/opened.h"
#include "fail_alloc.h"
#include "host/wipe.h"
#include "task_learnt_fixture.h"

/* Copies keep their settings' address. */
static enum sotto_status
train(const struct sotto_table *table, struct task_asked *asked,
      const char *name, struct sotto_train_facts *ret_facts,
      struct sotto_mechanism **ret_mechanism)
{
    char path[512], analyst[512];
    (void)snprintf(path, sizeof path, "%s/%s.sotto", folder, name);
    (void)snprintf(analyst, sizeof analyst, "%s/%s.analyst", folder, name);
    asked->options.set = asked->set;
    asked->options.sets = asked->sets;
    return sotto_train(table, "task", &asked->options, path, analyst, ret_facts,
                       ret_mechanism, &err);
}

static const char *
fact_word(const struct sotto_train_facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->facts; i++) {
        if (strcmp(facts->fact[i].name, name) == 0) {
            return facts->fact[i].text;
        }
    }
    return "";
}

/* ---- What is made ---------------------------------------------------------
 */

static void
test_files(void **state)
{
    struct task_asked asked = small_asked();
    struct sotto_table *table = ten(300);
    struct sotto_train_facts facts;
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_mechanism_info info;
    struct sotto_part_info part;
    struct sotto_analyst *analyst = NULL;
    (void)state;
    ask(&asked, "target", "y=2");
    ask(&asked, "d", "3");
    ask(&asked, "epochs", "4");
    ask(&asked, "hidden", "6");
    must(train(table, &asked, "m", &facts, &mechanism));
    sotto_mechanism_info(mechanism, &info);
    assert_string_equal(info.name, "task");
    assert_string_equal(info.auxiliary,
                        "none: learnt from the auxiliary data, for the task: "
                        "target y=2");
    assert_int_equal(info.layers, 2);
    assert_int_equal(info.parts, 1);
    assert_int_equal(info.columns, 10); /* y is not among them */
    sotto_mechanism_part(mechanism, 0, &part);
    assert_string_equal(part.covers, "features");
    assert_string_equal(part.channel, "laplace");
    assert_int_equal(part.size, 3);
    assert_string_equal(fact_word(&facts, "task"), "target y=2");
    assert_true(sotto_train_fact(&facts, "d") == 3);
    assert_true(sotto_train_fact(&facts, "epochs") == 4);
    assert_non_null(strstr(facts.settings, "eps-pre=4"));
    must(sotto_analyst_read(in_folder("m.analyst"), &analyst, &err));
    must(sotto_analyst_check(analyst, mechanism, &err));
    assert_int_equal(sotto_analyst_points(analyst), 300);
    assert_int_equal(sotto_analyst_width(analyst), 3);
    assert_int_equal(sotto_analyst_x_width(analyst), 10);
    sotto_analyst_free(analyst);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* A label that is the target is sent, with its own share, and stays out of x;
   the noise of training is that of the record's share. */
static void
test_label(void **state)
{
    static const char *const drop[] = {"y", "noise"};
    struct task_asked asked = small_asked();
    struct sotto_table *table = ten(200);
    struct sotto_train_facts facts;
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_mechanism_info info;
    (void)state;
    asked.options.drop = drop;
    asked.options.label = "sign";
    ask(&asked, "target", "sign");
    ask(&asked, "lambda", "0.25");
    ask(&asked, "d", "1");
    ask(&asked, "epochs", "2");
    must(train(table, &asked, "m", &facts, &mechanism));
    sotto_mechanism_info(mechanism, &info);
    assert_int_equal(info.columns, 11);
    assert_true(info.eps_features == 1 && info.eps_label == 3);
    assert_non_null(strstr(facts.settings, "eps-pre=1 "));
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* The task's words are cut where the manifest has no room, and what it cannot
   hold is written as '?'. */
static void
test_words(void **state)
{
    static const char name[] = "a \xc3\xa9 \\ very long name of a column that "
                               "does not fit into the line which a manifest "
                               "has for all of this";
    struct task_asked asked = small_asked();
    char text[4096];
    size_t used = (size_t)snprintf(text, sizeof text, "u,v,%s\n", name);
    struct sotto_table *table = NULL;
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_mechanism_info info;
    (void)state;
    for (int i = 0; i < 40; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%d,%d,%d\n",
                                 i % 7, i % 3, i % 5);
    }
    must(sotto_table_parse(text, used, "t", NULL, &table, &err));
    asked.options.drops = 0;
    ask(&asked, "target", name);
    ask(&asked, "d", "1");
    ask(&asked, "epochs", "1");
    must(train(table, &asked, "m", NULL, &mechanism));
    sotto_mechanism_info(mechanism, &info);
    assert_int_equal(strlen(info.auxiliary), 120);
    assert_non_null(
        strstr(info.auxiliary, "the task: target a ?? ? very long"));
    assert_string_equal(info.auxiliary + 117, "...");
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* ---- What it is good for ---------------------------------------------------
 */

/* The share of y's variance that a line through the first number of simulated
   reports explains, on records that were not learnt from. */
static double
explained(struct sotto_mechanism *mechanism, const char *analyst_path,
          const struct sotto_table *test)
{
    size_t rows = sotto_table_rows(test);
    struct sotto_mechanism_info info;
    struct sotto_analyst *analyst = NULL;
    double zz = 0, yy = 0, zy = 0, z_mean = 0, y_mean = 0;
    sotto_mechanism_info(mechanism, &info);
    must(sotto_analyst_read(analyst_path, &analyst, &err));
    assert_int_equal(sotto_analyst_width(analyst), 1);
    for (size_t i = 0; i < rows; i++) {
        struct sotto_value value[10];
        uint8_t report[256];
        double z[1], y = sotto_table_cell(test, i, 10).number, from;
        for (size_t j = 0; j < 10; j++) {
            value[j] = sotto_table_cell(test, i, j);
        }
        must(sotto_simulate(mechanism, 9, i, value, 10, report,
                            info.report_size));
        sotto_analyst_estimate(analyst, mechanism, report, z);
        from = y - y_mean;
        y_mean += from / (double)(i + 1);
        yy += from * (y - y_mean);
        zy += (z[0] - z_mean) * (y - y_mean);
        from = z[0] - z_mean;
        z_mean += from / (double)(i + 1);
        zz += from * (z[0] - z_mean);
    }
    sotto_analyst_free(analyst);
    return zy * zy / zz / yy;
}

static double
train_explained(const struct sotto_table *table, const struct sotto_table *test,
                struct task_asked asked)
{
    struct sotto_mechanism *mechanism = NULL;
    double share;
    ask(&asked, "d", "1");
    must(train(table, &asked, "m", NULL, &mechanism));
    share = explained(mechanism, in_folder("m.analyst"), test);
    sotto_mechanism_free(mechanism);
    return share;
}

/* The task needs one direction of ten, and not that which varies most: an
   encoder that is to tell the records keeps the other. So also for what is
   foretold as a category, and of y itself in place of what f says of it. */
static void
test_learns(void **state)
{
    static const char *const no_y[] = {"y", "noise"};
    struct sotto_table *table = ten(600), *test = ten(2000);
    struct task_asked asked = small_asked(), told;
    double aware, truth, sign, blind;
    (void)state;
    asked.options.eps = "8";
    ask(&asked, "epochs", "60");
    ask(&asked, "rate", "0.01");
    told = asked;
    ask(&asked, "target", "y");
    aware = train_explained(table, test, asked);
    ask(&asked, "truth", "yes");
    truth = train_explained(table, test, asked);
    asked.set[2].name = "target";
    asked.set[2].value = "sign";
    asked.options.drop = no_y;
    asked.sets = 3;
    sign = train_explained(table, test, asked);
    told.options.drops = 2;
    told.sets = 2;
    {
        static const char *const weights[] = {"x0=1", "x1=1", "x2=1", "x3=1",
                                              "x4=1", "x5=1", "x6=1", "x7=1",
                                              "x8=1", "x9=1"};
        static const char *const drop[] = {"sign", "noise", "y"};
        told.options.drop = drop;
        told.options.drops = 3;
        for (size_t i = 0; i < 10; i++) {
            ask(&told, "weights", weights[i]);
        }
    }
    blind = train_explained(table, test, told);
    if (!(aware > 0.65 && truth > 0.65 && sign > 0.5 && blind < 0.1)) {
        fail_msg("%g, of the truth %g, of the sign %g, blind %g", aware, truth,
                 sign, blind);
    }
    sotto_table_free(table);
    sotto_table_free(test);
}

/* Records far outside what was learnt from stay within the claim. */
static void
test_audit(void **state)
{
    struct task_asked asked = small_asked();
    struct sotto_table *table = ten(200);
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_audit *audit = NULL;
    struct sotto_audit_options options = {
        .samples = 500, .branches = 100000, .steps = 1000, .seed = 1};
    struct sotto_audit_info info;
    (void)state;
    asked.options.eps = "1";
    ask(&asked, "target", "y");
    ask(&asked, "d", "2");
    ask(&asked, "hidden", "5");
    ask(&asked, "steps", "64");
    ask(&asked, "epochs", "10");
    must(train(table, &asked, "m", NULL, &mechanism));
    must(sotto_audit_run(mechanism, &options, &audit, &err));
    sotto_audit_info(audit, &info);
    assert_false(info.violated);
    assert_true(info.sensitivity_found <= info.sensitivity_stated);
    assert_true(info.sensitivity_found > 0.99 * info.sensitivity_stated);
    sotto_audit_free(audit);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* ---- Stopping, going on, threads -------------------------------------------
 */

static bool
same(const char *a, const char *b)
{
    char name[4][64];
    (void)snprintf(name[0], sizeof name[0], "%s.sotto", a);
    (void)snprintf(name[1], sizeof name[1], "%s.sotto", b);
    (void)snprintf(name[2], sizeof name[2], "%s.analyst", a);
    (void)snprintf(name[3], sizeof name[3], "%s.analyst", b);
    return same_files(in_folder(name[0]), in_folder(name[1])) &&
           same_files(in_folder(name[2]), in_folder(name[3]));
}

static void
test_threads(void **state)
{
    struct task_asked asked = small_asked();
    struct sotto_table *table = ten(300);
    (void)state;
    ask(&asked, "target", "y");
    ask(&asked, "d", "3");
    ask(&asked, "hidden", "40");
    ask(&asked, "epochs", "2");
    ask(&asked, "batch", "100");
    ask(&asked, "task-hidden", "70,33");
    must(train(table, &asked, "one", NULL, NULL));
    asked.options.threads = 2;
    must(train(table, &asked, "two", NULL, NULL));
    assert_true(same("one", "two"));
    ask(&asked, "seed", "7");
    must(train(table, &asked, "two", NULL, NULL));
    assert_false(same_files(in_folder("one.sotto"), in_folder("two.sotto")));
    sotto_table_free(table);
}

/* Stops at a tick. */
struct stop {
    uint64_t at, ticks;
};

static bool
tick(void *context, const char *what, uint64_t done, uint64_t total)
{
    struct stop *stop = context;
    (void)what;
    (void)done;
    (void)total;
    return stop->ticks++ < stop->at;
}

/* Wherever it is stopped, in the task's training or in any of those of nets,
   the same command goes on to the same files, and leaves no others. */
static void
test_resume(void **state)
{
    struct task_asked asked = small_asked();
    struct sotto_table *table = ten(120);
    struct sotto_train_facts facts;
    struct stop whole = {.at = UINT64_MAX};
    char checkpoint[512];
    (void)state;
    (void)snprintf(checkpoint, sizeof checkpoint, "%s", in_folder("c"));
    asked.options.checkpoint = checkpoint;
    asked.options.watch = (struct sotto_watch){tick, &whole};
    ask(&asked, "target", "y");
    ask(&asked, "epochs", "4");
    ask(&asked, "task-epochs", "4");
    ask(&asked, "patience", "3");
    must(train(table, &asked, "whole", &facts, NULL));
    assert_false(sotto_train_fact(&facts, "resumed") > 0);
    assert_true(whole.ticks >= 24); /* 8 for f, 8 for each of two nets */
    assert_int_equal(entries(), 2);
    for (uint64_t at = 0; at < 24; at += 3) {
        struct stop stop = {.at = at};
        asked.options.watch = (struct sotto_watch){tick, &stop};
        must_fail(SOTTO_STATUS_STOPPED, "stopped",
                  train(table, &asked, "parts", NULL, NULL));
        assert_int_equal(access(in_folder("parts.sotto"), F_OK), -1);
        assert_int_equal(access(checkpoint, F_OK), at < 2 ? -1 : 0);
        asked.options.watch = (struct sotto_watch){NULL, NULL};
        must(train(table, &asked, "parts", &facts, NULL));
        assert_true((sotto_train_fact(&facts, "resumed") > 0) == (at >= 2));
        assert_true(same("whole", "parts"));
        assert_int_equal(unlink(in_folder("parts.sotto")), 0);
        assert_int_equal(unlink(in_folder("parts.analyst")), 0);
        assert_int_equal(entries(), 2);
    }
    sotto_table_free(table);
}

/* Another task, weight or noise is another training. */
static void
test_key(void **state)
{
    struct sotto_table *table = ten(120);
    struct task_asked asked = small_asked();
    struct stop stop = {.at = 20};
    char checkpoint[512];
    (void)state;
    (void)snprintf(checkpoint, sizeof checkpoint, "%s", in_folder("c"));
    asked.options.checkpoint = checkpoint;
    asked.options.watch = (struct sotto_watch){tick, &stop};
    ask(&asked, "target", "y");
    ask(&asked, "epochs", "4");
    must_fail(SOTTO_STATUS_STOPPED, "", train(table, &asked, "a", NULL, NULL));
    asked.options.watch = (struct sotto_watch){NULL, NULL};
    asked.set[0].value = "y=2";
    must_fail(SOTTO_STATUS_INPUT, "other options or other data",
              train(table, &asked, "a", NULL, NULL));
    asked.set[0].value = "x9";
    must_fail(SOTTO_STATUS_INPUT, "other options or other data",
              train(table, &asked, "a", NULL, NULL));
    asked.set[0].value = "y";
    asked.options.eps = "5";
    must_fail(SOTTO_STATUS_INPUT, "other options or other data",
              train(table, &asked, "a", NULL, NULL));
    asked.options.eps = "4";
    must(train(table, &asked, "a", NULL, NULL));
    sotto_table_free(table);
}

/* ---- Refusals ---------------------------------------------------------------
 */

static void
refused(enum sotto_status status, const char *text,
        const struct sotto_table *table, const char *a, const char *a_value,
        const char *b, const char *b_value)
{
    struct task_asked asked = small_asked();
    if (a != NULL) {
        ask(&asked, a, a_value);
    }
    if (b != NULL) {
        ask(&asked, b, b_value);
    }
    ask(&asked, "epochs", "1");
    must_fail(status, text, train(table, &asked, "m", NULL, NULL));
    assert_int_equal(entries(), 0);
}

static void
test_refused(void **state)
{
    struct sotto_table *table = ten(40), *pictures = images(12);
    (void)state;
#define USAGE(text, ...) refused(SOTTO_STATUS_USAGE, text, table, __VA_ARGS__)
    USAGE("target is missing", NULL, NULL, NULL, NULL);
    USAGE("exclude each other", "target", "y", "model", "m");
    USAGE("truth is for targets", "weights", "x1=1", "truth", "yes");
    USAGE("task-hidden is for", "weights", "x1=1", "task-hidden", "3");
    USAGE("task-epochs is for", "weights", "x1=1", "task-epochs", "3");
    USAGE("no column \"z\"", "target", "z", NULL, NULL);
    USAGE("above 0", "target", "y=0", NULL, NULL);
    USAGE("above 0", "weights", "x1=-1", NULL, NULL);
    USAGE("write COLUMN=W", "weights", "x1", NULL, NULL);
    USAGE("y is given twice", "target", "y", "target", "y=2");
    USAGE("x1 is given twice", "weights", "x1=1", "weights", "x1=2");
    USAGE("not among the columns", "target", "x1", "weights", "x1=1");
    USAGE("not among the columns", "target", "y", "weights", "noise=1");
    refused(SOTTO_STATUS_IO, "none.model", table, "model", "none.model", NULL,
            NULL);
#undef USAGE
    struct task_asked asked = small_asked();
    asked.options.drops = 0;
    ask(&asked, "target", sotto_table_name(pictures, 0));
    must_fail(SOTTO_STATUS_USAGE, "every column is dropped",
              train(pictures, &asked, "m", NULL, NULL));
    sotto_table_free(pictures);
    sotto_table_free(table);
}

static void
test_memory(void **state)
{
    struct task_asked asked = small_asked();
    struct sotto_table *table = ten(12);
    enum sotto_status status;
    long n = 0;
    (void)state;
    ask(&asked, "target", "y");
    ask(&asked, "weights", "x3=1");
    ask(&asked, "epochs", "1");
    ask(&asked, "task-epochs", "1");
    do {
        memset(&err, 0xa5, sizeof err);
        fail_alloc_at(++n);
        status = train(table, &asked, "m", NULL, NULL);
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_int_equal(access(in_folder("m.sotto"), F_OK), -1);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 60);
    sotto_table_free(table);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_files),  TEST(test_label), TEST(test_words),
        TEST(test_learns), TEST(test_audit), TEST(test_threads),
        TEST(test_resume), TEST(test_key),   TEST(test_refused),
        TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
