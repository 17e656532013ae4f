/*
 * test_experiment.c: a whole experiment on small pictures: rows, means, what is
 * done twice and what is not, stopping and going on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <math.h>
#include <unistd.h>

#include "blobs.h"
#include "fail_alloc.h"
#include "scratch.h"
#include "sotto/sotto.h"

#define SEEN_MOST 64u

static struct sotto_error err;

/* What a run handed on. */
struct seen {
    struct sotto_experiment_row row[SEEN_MOST];
    char setting[SEEN_MOST][384];
    size_t count, made; /* made: not cached */
};

static void
take(void *context, const struct sotto_experiment_row *row)
{
    struct seen *seen = context;
    assert_true(seen->count < SEEN_MOST);
    assert_string_equal(row->experiment, "mnist-collection");
    assert_non_null(row->setting);
    (void)snprintf(seen->setting[seen->count], sizeof seen->setting[0], "%s",
                   row->setting);
    seen->row[seen->count++] = *row;
    seen->made += row->cached || row->mean ? 0 : 1;
}

static int
setup(void **state)
{
    (void)state;
    if (scratch_make() != 0) {
        return -1;
    }
    return blobs_write(folder, 200, 80);
}

static const double one_eps[] = {10};

/* Principal components need no training: quick. */
static struct sotto_experiment_options
quick(void)
{
    static char cache[128], results[128];
    (void)snprintf(cache, sizeof cache, "%s", in_folder("cache"));
    (void)snprintf(results, sizeof results, "%s", in_folder("results"));
    return (struct sotto_experiment_options){.name = "mnist-collection",
                                             .mechanism = "pca",
                                             .eps = one_eps,
                                             .eps_count = 1,
                                             .trials = 2,
                                             .draws = 2,
                                             .threads = 2,
                                             .data = folder,
                                             .folder = cache,
                                             .results = results,
                                             .command = "sotto experiment"};
}

static struct seen
run(const struct sotto_experiment_options *options)
{
    struct seen seen = {0};
    enum sotto_status status = sotto_experiment_run(options, take, &seen, &err);
    if (status != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
    return seen;
}

static size_t
lines(const char *name)
{
    size_t count = 0;
    FILE *file = fopen(in_folder(name), "r");
    assert_non_null(file);
    for (int c; (c = fgetc(file)) != EOF;) {
        count += c == '\n' ? 1 : 0;
    }
    assert_int_equal(fclose(file), 0);
    return count;
}

/* ---- Rows and means ----------------------------------------------------- */

static void
test_means(void **state)
{
    static const double high[] = {32};
    struct sotto_experiment_options options = quick();
    double a[4];
    (void)state;
    assert_int_equal(blobs_write(folder, 800, 80), 0);
    options.eps = high;
    struct seen seen = run(&options);
    assert_int_equal(seen.count, 5);
    assert_int_equal(seen.made, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct sotto_experiment_row *row = &seen.row[i];
        assert_false(row->mean);
        assert_int_equal(row->trial, 1 + i / 2);
        assert_int_equal(row->draw, 1 + i % 2);
        assert_true(row->accuracy > 0.3 && row->accuracy <= 1);
        assert_true(isnan(row->paper) && isnan(row->reach));
        a[i] = row->accuracy;
    }
    const struct sotto_experiment_row *mean = &seen.row[4];
    double first = (a[0] + a[1]) / 2, second = (a[2] + a[3]) / 2;
    double within = pow(a[0] - a[1], 2) / 2 + pow(a[2] - a[3], 2) / 2;
    assert_true(mean->mean && mean->runs == 4 && !mean->cached);
    assert_true(fabs(mean->accuracy - (first + second) / 2) < 1e-12);
    assert_true(fabs(mean->deviation - fabs(first - second) / sqrt(2)) < 1e-9);
    assert_true(fabs(mean->deviation_draws - sqrt(within / 2)) < 1e-9);

    struct seen again = run(&options);
    assert_int_equal(again.made, 0);
    assert_true(again.row[4].cached);
    for (size_t i = 0; i < 5; i++) {
        assert_true(again.row[i].accuracy == seen.row[i].accuracy);
    }
    assert_int_equal(lines("cache/mnist-collection.csv"), 1 + 4);
    assert_int_equal(lines("results/mnist-collection-pca.csv"), 1 + 5);
}

/* Threads and what else was run before change no accuracy. */
static void
test_repeatable(void **state)
{
    struct sotto_experiment_options options = quick();
    (void)state;
    options.trials = 1;
    struct seen seen = run(&options);
    options.folder = in_folder("other");
    options.threads = 1;
    options.draws = 1;
    struct seen other = run(&options);
    assert_int_equal(other.made, 1);
    assert_true(other.row[0].accuracy == seen.row[0].accuracy);
    assert_true(isnan(other.row[1].deviation));
    assert_true(isnan(other.row[1].deviation_draws));
}

/* Everything that decides a row makes another one. */
static void
test_keys(void **state)
{
    static const double two[] = {10, INFINITY};
    struct sotto_experiment_options options = quick();
    (void)state;
    options.trials = options.draws = 1;
    assert_int_equal(run(&options).made, 1);
    options.draws = 2;
    assert_int_equal(run(&options).made, 1);
    options.trials = 2;
    assert_int_equal(run(&options).made, 2);
    options.trials = options.draws = 1;
    options.eps = two;
    options.eps_count = 2;
    assert_int_equal(run(&options).made, 1);
    assert_int_equal(lines("results/mnist-collection-pca.csv"), 1 + 4);
    options.eps_count = 1; /* the other epsilon stays in the table */
    assert_int_equal(run(&options).made, 0);
    assert_int_equal(lines("results/mnist-collection-pca.csv"), 1 + 4);
    options.aux_share = 0.5;
    assert_int_equal(run(&options).made, 1);
    options.seed = 1;
    assert_int_equal(run(&options).made, 1);
    options.level = SOTTO_LEVEL_FEATURE;
    assert_int_equal(run(&options).made, 1);
    assert_int_equal(blobs_write(folder, 220, 80), 0);
    assert_int_equal(run(&options).made, 1);
    assert_int_equal(run(&options).made, 0);
    assert_int_equal(lines("cache/mnist-collection.csv"), 1 + 9);
}

/* The variational mechanism, at both levels, with and without noise; its
   encoder is trained once for each setting. */
static void
test_variational(void **state)
{
    static const double eps[] = {10, INFINITY};
    struct sotto_experiment_options options = quick();
    (void)state;
    options.mechanism = NULL; /* vlm */
    options.eps = eps;
    options.eps_count = 2;
    options.trials = options.draws = 1;
    options.epochs = 2;
    struct seen seen = run(&options);
    assert_int_equal(seen.made, 2);
    assert_string_equal(seen.row[0].mechanism, "vlm");
    assert_non_null(strstr(seen.setting[0], "epochs=2 "));
    assert_true(seen.row[1].reach == 0.86 && seen.row[3].paper == 0.949);
    glob_t encoders;
    assert_int_equal(glob(in_folder("cache/encoders/*"), 0, NULL, &encoders),
                     0);
    assert_int_equal(encoders.gl_pathc, 2 * 3); /* no checkpoint is left */
    globfree(&encoders);
    options.level = SOTTO_LEVEL_FEATURE;
    seen = run(&options);
    assert_int_equal(seen.made, 2);
    assert_string_equal(seen.row[0].level, "feature");
    assert_int_equal(access(in_folder("cache/budget.sotto"), F_OK), -1);
    options.mechanism = "vlm-linear";
    options.level = SOTTO_LEVEL_LATENT;
    assert_int_equal(run(&options).made, 2);
}

/* ---- Stopping ----------------------------------------------------------- */

static bool
count_down(void *context, const char *what, uint64_t done, uint64_t total)
{
    int *left = context;
    assert_true(strncmp(what, "eps 10 trial ", 13) == 0);
    assert_true(done <= total || total == 0);
    return (*left)-- > 0;
}

/* Stopped in many places in turn, it goes on, and comes to the same rows. */
static void
test_stopped(void **state)
{
    struct sotto_experiment_options options = quick();
    enum sotto_status status = SOTTO_STATUS_STOPPED;
    size_t stops = 0;
    (void)state;
    options.trials = 1;
    struct seen whole = run(&options), last = {0};
    options.folder = in_folder("other");
    for (int steps = 0; status == SOTTO_STATUS_STOPPED;
         steps += steps / 3 + 1) {
        int left = steps;
        options.watch = (struct sotto_watch){count_down, &left};
        memset(&last, 0, sizeof last);
        status = sotto_experiment_run(&options, take, &last, &err);
        stops += status == SOTTO_STATUS_STOPPED ? 1 : 0;
        assert_true(steps < 2000);
    }
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(stops > 4);
    assert_int_equal(last.count, whole.count);
    for (size_t i = 0; i < whole.count; i++) {
        assert_true(last.row[i].accuracy == whole.row[i].accuracy);
    }
    assert_int_equal(lines("other/mnist-collection.csv"), 1 + 2);
}

/* One folder, one run. */
static void
run_inside(void *context, const struct sotto_experiment_row *row)
{
    (void)row;
    assert_int_equal(sotto_experiment_run(context, NULL, NULL, &err),
                     SOTTO_STATUS_IO);
    assert_non_null(strstr(err.message, "another experiment"));
}

static void
test_locked(void **state)
{
    struct sotto_experiment_options options = quick();
    struct sotto_error other;
    (void)state;
    options.trials = options.draws = 1;
    assert_int_equal(
        sotto_experiment_run(&options, run_inside, &options, &other),
        SOTTO_STATUS_OK);
    assert_int_equal(run(&options).made, 0);
}

/* ---- Options ------------------------------------------------------------ */

static void
test_wrong(void **state)
{
    static const double bad[] = {33}, nothing[] = {NAN};
    struct sotto_experiment_options options[7];
    static const char *const says[7] = {"'x'",   "'y'",    "33",          "nan",
                                        "share", "trials", "train-images"};
    (void)state;
    for (size_t i = 0; i < 7; i++) {
        options[i] = quick();
    }
    options[0].name = "x";
    options[1].mechanism = "y";
    options[2].eps = bad;
    options[3].eps = nothing;
    options[4].aux_share = 0.8;
    options[5].trials = 1001;
    options[6].data = in_folder("nowhere");
    for (size_t i = 0; i < 7; i++) {
        memset(&err, 0x55, sizeof err);
        assert_int_equal(sotto_experiment_run(&options[i], NULL, NULL, &err),
                         i < 6 ? SOTTO_STATUS_USAGE : SOTTO_STATUS_INPUT);
        if (strstr(err.message, says[i]) == NULL && i < 6) {
            fail_msg("'%s' does not say %s", err.message, says[i]);
        }
    }
    assert_int_equal(access(in_folder("results"), F_OK), -1);
}

static void
test_plan(void **state)
{
    static const double eps[] = {10, 8, 6, 4, 2, 1, INFINITY};
    static const double paper[] = {86.1, 82.1, 72.8, 61.3, 35.3, 16.9, 94.9};
    static const double reach[] = {86, 82, 75, 62, 40, 18, 95};
    struct sotto_experiment_options options = {.name = "mnist-collection"};
    struct seen seen = {0};
    char *path = NULL;
    long n = 0;
    enum sotto_status status;
    (void)state;
    assert_int_equal(sotto_experiment_plan(&options, take, &seen, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(seen.count, 7);
    for (size_t i = 0; i < 7; i++) {
        const struct sotto_experiment_row *row = &seen.row[i];
        assert_true(row->mean && row->runs == 9 && isnan(row->accuracy));
        assert_true(row->eps == eps[i]);
        assert_true(fabs(row->paper - paper[i] / 100) < 1e-12);
        assert_true(fabs(row->reach - reach[i] / 100) < 1e-12);
        assert_string_equal(row->paper_table, "P0 Table 1");
    }
    options.results = "r";
    do {
        fail_alloc_at(++n);
        status = sotto_experiment_path(&options, &path, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    } while (status != SOTTO_STATUS_OK);
    fail_alloc_at(0);
    assert_string_equal(path, "r/mnist-collection-vlm");
    assert_true(n > 1);
    free(path);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_means, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_repeatable, setup,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_keys, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_variational, setup,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_stopped, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_locked, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_wrong, setup, scratch_tear_down),
        cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
