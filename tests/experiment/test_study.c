/*
 * test_study.c: experiments that measure a loss: P2's Figure 3 to four digits,
 * a simulation that meets it, rows that are kept, result files; and household
 * power on made days.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <unistd.h>

#include "experiment/study.h"
#include "host/file.h"
#include "scratch.h"

#define SEEN_MOST 512u

static struct sotto_error err;

/* What a run handed on. */
struct seen {
    struct sotto_experiment_row row[SEEN_MOST];
    char name[SEEN_MOST][40], panel[SEEN_MOST][24], note[SEEN_MOST][96];
    size_t count, made;
};
static struct seen seen;

static void
take(void *context, const struct sotto_experiment_row *row)
{
    (void)context;
    assert_true(seen.count < SEEN_MOST);
    size_t at = seen.count++;
    seen.row[at] = *row;
    (void)snprintf(seen.name[at], sizeof seen.name[at], "%s", row->mechanism);
    (void)snprintf(seen.panel[at], sizeof seen.panel[at], "%s", row->level);
    (void)snprintf(seen.note[at], sizeof seen.note[at], "%s",
                   row->note != NULL ? row->note : "");
    seen.made += row->mean || row->cached ? 0 : 1;
    assert_true(isnan(row->accuracy));
}

static struct sotto_experiment_options
options_of(const char *name, const char *mechanism)
{
    static char cache[128], results[128];
    (void)snprintf(cache, sizeof cache, "%s", in_folder("cache"));
    (void)snprintf(results, sizeof results, "%s", in_folder("results"));
    return (struct sotto_experiment_options){.name = name,
                                             .mechanism = mechanism,
                                             .folder = cache,
                                             .results = results,
                                             .command = "sotto experiment x",
                                             .commit = "c0ffee"};
}

static void
run(const struct sotto_experiment_options *options)
{
    memset(&seen, 0, sizeof seen);
    if (sotto_experiment_run(options, take, NULL, &err) != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
}

/* The mean's loss; NAN: there is none. */
static double
loss_at(const char *panel, const char *method, double x)
{
    for (size_t i = 0; i < seen.count; i++) {
        if (seen.row[i].mean && fabs(seen.row[i].x - x) < 1e-9 &&
            strcmp(seen.panel[i], panel) == 0 &&
            strcmp(seen.name[i], method) == 0) {
            return seen.row[i].loss;
        }
    }
    return NAN;
}

static bool
file_has(const char *name, const char *text)
{
    uint8_t *data = NULL;
    size_t size = 0;
    assert_int_equal(
        host_file_read(in_folder(name), 1 << 20, &data, &size, &err),
        SOTTO_STATUS_OK);
    char *copy = calloc(size + 1, 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    bool found = strstr(copy, text) != NULL;
    free(copy);
    free(data);
    return found;
}

/* ---- Theory ---------------------------------------------------------------
 */

/* r / epsilon; aware, agnostic, privacy-agnostic in three settings. */
static const double figure_3[3][10] = {
    {0.1, .2963, .9697, .5517, 1.5152, 1.6970, 2.6897, 2.3619, 2.4242, 4.8276},
    {0.2, .9697, 2.2456, 1.5610, 3.5088, 3.9298, 3.9512, 5.4696, 5.6140,
     6.3415},
    {0.5, 2.6667, 3.5556, 3.2000, 5.6667, 6.2222, 6.0000, 8.6601, 8.8889,
     8.8000}};

static void
test_figure_3(void **state)
{
    static const char *const names[] = {"eq-13", "eq-58-agnostic",
                                        "eq-59-privacy-agnostic"};
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        struct sotto_experiment_options options =
            options_of("task-theory", names[m]);
        run(&options);
        for (size_t i = 0; i < 9; i++) {
            char panel[16];
            (void)snprintf(panel, sizeof panel, "setting-%zu", i / 3 + 1);
            double found = loss_at(panel, names[m], figure_3[i % 3][0]);
            double known = figure_3[i % 3][1 + 3 * (i / 3) + m];
            assert_true(fabs(found - known) < 0.00005001);
        }
    }
    /* The files have what all runs have made, and a picture a setting. */
    assert_true(file_has("results/task-theory.md",
                         "| 0.1 | 0.2963 | 0.9697 | 0.5517 |"));
    assert_true(file_has("results/task-theory.md", "commit c0ffee"));
    assert_true(file_has("results/task-theory.md", "\n| 0.05 (*) | 0.0784 |"));
    assert_false(file_has("results/task-theory.md", "| 0.1 (*) |"));
    assert_true(file_has("results/task-theory.csv",
                         "task-theory,setting-1,0.1,20,eq-59-"));
    assert_int_equal(access(in_folder("results/task-theory.svg"), R_OK), 0);
    assert_int_equal(
        access(in_folder("results/task-theory-setting-2.svg"), R_OK), 0);
}

/* Within 1% (here of one seed; of five it is less). */
static void
test_simulation(void **state)
{
    struct sotto_experiment_options options =
        options_of("task-theory", "eq-13-simulated");
    (void)state;
    options.trials = 1;
    run(&options);
    for (size_t i = 0; i < 9; i++) {
        char panel[16];
        (void)snprintf(panel, sizeof panel, "setting-%zu", i / 3 + 1);
        double found = loss_at(panel, "eq-13-simulated", figure_3[i % 3][0]);
        double known = figure_3[i % 3][1 + 3 * (i / 3)];
        assert_true(fabs(found / known - 1) < 0.01);
    }
}

/* ---- Power, on made days ---------------------------------------------------
 */

/* 60 days of 24 hours, of which one lacks an hour, and one a value. */
static void
write_days(const char *name)
{
    FILE *file = fopen(in_folder(name), "w");
    assert_non_null(file);
    (void)fputs("datetime,other,Global_active_power\n", file);
    for (int day = 0; day < 60; day++) {
        double of_day = 50 + 37 * day % 41;
        for (int hour = 0; hour < 24; hour++) {
            if (day == 7 && hour == 5) {
                continue;
            }
            double at = of_day * (hour > 7 && hour < 20 ? 2 : 1) +
                        (double)((13 * day + 7 * hour) % 29);
            (void)fprintf(file, "2007-%02d-%02d %02d:00:00,x,", 1 + day / 28,
                          1 + day % 28, hour);
            if (day == 9 && hour == 3) {
                (void)fputs("?\n", file);
            } else {
                (void)fprintf(file, "%.3f\n", at);
            }
        }
    }
    assert_int_equal(fclose(file), 0);
}

static void
test_power(void **state)
{
    static const double eps[] = {5, 40};
    struct sotto_experiment_options options =
        options_of("task-power", "privacy-agnostic");
    (void)state;
    write_days("days.csv");
    options.data = in_folder("days.csv");
    options.eps = eps;
    options.eps_count = 2;
    run(&options);
    double at_5 = loss_at("loss", "privacy-agnostic", 5);
    double hours = 0;
    assert_true(at_5 > loss_at("loss", "privacy-agnostic", 40));
    for (int hour = 1; hour <= 24; hour++) {
        hours += (hour >= 9 && hour <= 20 ? 4 : 1) *
                 loss_at("hours", "privacy-agnostic", hour);
    }
    assert_true(fabs(hours / 24 - at_5) < 1e-8); /* as the CSV has them */
    for (size_t i = 0; i < seen.count; i++) {
        assert_true((strstr(seen.note[i], "beyond the format") != NULL) ==
                    (seen.row[i].eps > 32));
    }
    assert_true(file_has("results/task-power.md", "| 40 (*) |"));

    /* All of it is kept. */
    assert_true(seen.made > 20);
    run(&options);
    assert_int_equal(seen.made, 0);
    assert_true(at_5 == loss_at("loss", "privacy-agnostic", 5));
}

/* Random methods have seeds, the others none. */
static void
test_trials(void **state)
{
    static const double eps[] = {1};
    struct sotto_experiment_options options =
        options_of("task-power", "task-codes");
    (void)state;
    write_days("days.csv");
    options.data = in_folder("days.csv");
    options.eps = eps;
    options.eps_count = 1;
    options.trials = 3;
    run(&options);
    for (size_t i = 0; i < seen.count; i++) {
        assert_true(seen.row[i].runs == (seen.row[i].mean ? 3 : 1));
        assert_true(isfinite(seen.row[i].deviation) == seen.row[i].mean);
    }
    assert_true(seen.count >= 4);
}

/* ---- What is measured, and how often ----------------------------------------
 */

static size_t calls, fails_at;

static enum sotto_status
open_toy(const struct sotto_experiment_options *options, void **ret_state,
         char ret_hash[EXPERIMENT_HASH_SIZE], struct sotto_error *error)
{
    (void)options;
    (void)error;
    *ret_state = &calls;
    (void)snprintf(ret_hash, EXPERIMENT_HASH_SIZE, "none");
    return SOTTO_STATUS_OK;
}

static void
close_toy(void *state)
{
    assert_ptr_equal(state, &calls);
}

/* 1 / eps, a hundredth more a trial; of output i, i / 8. */
static enum sotto_status
measure_toy(void *state, const struct study_point *point,
            struct study_outcome *ret_outcome, struct sotto_error *error)
{
    assert_ptr_equal(state, &calls);
    if (++calls == fails_at) {
        error->status = SOTTO_STATUS_LIMIT;
        return SOTTO_STATUS_LIMIT;
    }
    ret_outcome->loss = 1 / point->eps + 0.01 * point->trial;
    for (size_t i = 0; i < 3; i++) {
        ret_outcome->each[i] = (double)(i + 1) / 8;
    }
    return SOTTO_STATUS_OK;
}

static const double toy_eps[] = {1, 2, 4, 0}, toy_outputs[] = {1, 2, 3, 0};
static const struct study_panel toy_panels[] = {
    {.name = "loss", .title = "loss", .axis = STUDY_EPS, .x = toy_eps},
    {.name = "each",
     .title = "each",
     .axis = STUDY_OUTPUT,
     .x = toy_outputs,
     .fixed = 2,
     .methods = "plain",
     .unit = 2},
    {.x = NULL}};
static const struct study_gain toy_gains[] = {{"plain", "random", 12.5, 1},
                                              {.method = NULL}};
static const struct study toy_study = {.panels = toy_panels,
                                       .gains = toy_gains,
                                       .open = open_toy,
                                       .close = close_toy,
                                       .measure = measure_toy};
static const struct experiment_mechanism toy_methods[] = {
    {.name = "plain", .beside = "plain"},
    {.name = "random", .how = STUDY_RANDOM, .beside = "random"},
    {.name = NULL}};
static const struct experiment toy = {.name = "toy",
                                      .about = "A toy.",
                                      .study = &toy_study,
                                      .mechanisms = toy_methods};

/* Stopped by a failure, it goes on where it was; what is done is not done
   again. */
static void
test_toy(void **state)
{
    struct sotto_experiment_options options = options_of("toy", NULL);
    (void)state;
    options.trials = 4;
    memset(&seen, 0, sizeof seen);
    calls = 0;
    fails_at = 8; /* of 3 (1 + 4) + 1 */
    assert_int_equal(study_run(&toy, &options, take, NULL, &err),
                     SOTTO_STATUS_LIMIT);
    assert_int_equal(calls, 8);
    fails_at = 0;
    for (size_t again = 0; again < 2; again++) {
        memset(&seen, 0, sizeof seen);
        assert_int_equal(study_run(&toy, &options, take, NULL, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(calls, 8 + 9);
    }
    assert_true(fabs(loss_at("loss", "random", 2) - 0.525) < 1e-9);
    assert_true(loss_at("each", "plain", 3) == 3.0 / 16);
    for (size_t i = 0; i < seen.count; i++) {
        if (seen.row[i].mean && seen.row[i].runs == 4) {
            double of = sqrt(5.0 / 3) * 0.01; /* of 1, 2, 3, 4 hundredths */
            assert_true(fabs(seen.row[i].deviation - of) < 1e-9);
        }
    }
    /* 1 - 1.01 / 1.025, the largest at 1, 2 and 4: at 4, 1 - .26 / .275 */
    assert_true(
        file_has("results/toy.md", "| plain | random | 5.5 | 4 | 12.5 | 1 |"));
    assert_true(file_has("results/toy.md", "| 2 | 0.5100 | 0.5250 ± 0.0129 |"));
}

/* A run of some epsilons measures them alone, and its files keep the rows of
   earlier runs. */
static void
test_part(void **state)
{
    static const double eps[] = {4, 8};
    struct sotto_experiment_options options = options_of("toy", NULL);
    (void)state;
    calls = 0;
    fails_at = 0;
    options.trials = 2;
    assert_int_equal(study_run(&toy, &options, take, NULL, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(calls, 3 * (1 + 2) + 1);
    options.eps = eps;
    options.eps_count = 2;
    options.command = "sotto experiment x --eps 4,8 --mechanism y --data d";
    memset(&seen, 0, sizeof seen);
    assert_int_equal(study_run(&toy, &options, take, NULL, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(calls, 3 * (1 + 2) + 1 + (1 + 2)); /* those of 8 */
    assert_true(isnan(loss_at("loss", "plain", 1)));
    assert_true(isfinite(loss_at("loss", "plain", 4)));
    assert_true(isfinite(loss_at("loss", "plain", 8)));
    assert_true(file_has("results/toy.md", "\n| 1 | 1.0100 |"));
    assert_true(file_has("results/toy.md", "\n| 2 | 0.5100 |"));
    assert_true(file_has("results/toy.md", "\n| 8 | 0.1350 |"));
    /* What would make a part only is not said to make the whole. */
    assert_true(
        file_has("results/toy.md", "\n    sotto experiment x --data d"));
    assert_true(file_has("results/toy.csv", "\ntoy,each,3,2,plain,mean,"));
    memset(&seen, 0, sizeof seen);
    assert_int_equal(study_plan(&toy, &options, take, NULL, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(seen.count, 2 * 2);
}

/* ---- Plans, and what is refused --------------------------------------------
 */

static void
test_plan(void **state)
{
    struct sotto_experiment_options options = options_of("task-power", NULL);
    char *path = NULL;
    (void)state;
    memset(&seen, 0, sizeof seen);
    assert_int_equal(sotto_experiment_plan(&options, take, NULL, &err),
                     SOTTO_STATUS_OK);
    assert_true(seen.count > 100 && isnan(seen.row[0].loss));
    assert_int_equal(sotto_experiment_path(&options, &path, &err),
                     SOTTO_STATUS_OK);
    assert_non_null(strstr(path, "/results/task-power"));
    free(path);
}

static void
must_fail(const struct sotto_experiment_options *options,
          enum sotto_status status, const char *text)
{
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(sotto_experiment_run(options, take, NULL, &err), status);
    if (strstr(err.message, text) == NULL) {
        fail_msg("'%s' is not in '%s'", text, err.message);
    }
}

static void
test_refused(void **state)
{
    static const double eps[] = {2000}, none = INFINITY;
    struct sotto_experiment_options options = options_of("task-power", NULL);
    FILE *file;
    (void)state;
    must_fail(&options, SOTTO_STATUS_USAGE, "task-power needs data");
    assert_string_equal(err.subject, "data");
    options.data = in_folder("none.csv");
    must_fail(&options, SOTTO_STATUS_IO, "none.csv");
    file = fopen(in_folder("bad.csv"), "w");
    assert_non_null(file);
    (void)fputs("datetime,Global_active_power\nnoon,3\n", file);
    assert_int_equal(fclose(file), 0);
    options.data = in_folder("bad.csv");
    must_fail(&options, SOTTO_STATUS_INPUT, "line 2");
    options.mechanism = "other";
    must_fail(&options, SOTTO_STATUS_USAGE, "no mechanism 'other'");
    options.mechanism = NULL;
    options.level = SOTTO_LEVEL_FEATURE;
    must_fail(&options, SOTTO_STATUS_USAGE, "no draws, level");
    options.level = SOTTO_LEVEL_LATENT;
    options.eps = eps;
    options.eps_count = 1;
    must_fail(&options, SOTTO_STATUS_USAGE, "0.000001 to 1000; not 2000");
    options.eps = &none;
    must_fail(&options, SOTTO_STATUS_USAGE, "not none");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)
        TEST(test_figure_3), TEST(test_simulation), TEST(test_power),
        TEST(test_trials),   TEST(test_plan),       TEST(test_toy),
        TEST(test_part),     TEST(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
