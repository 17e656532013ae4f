/*
 * test_trial_learn.c: an experiment on another data set is a table: a toy one,
 * of CSV files, this file alone, is split, trained on, learnt from and tested.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <math.h>
#include <stdio.h>

#include "experiment/trial_learn.h"
#include "random/seeded.h"
#include "scratch.h"

static struct sotto_error err;

/* ---- The toy: two clouds of points in a plane -----------------------------
 */

static enum sotto_status
read_toy(struct data_records *data, struct sotto_error *to)
{
    enum sotto_status status =
        data_file_read(data, "train.csv", &data->train, to);
    return status == SOTTO_STATUS_OK
               ? data_file_read(data, "test.csv", &data->test, to)
               : status;
}

static const char *const files[] = {"train.csv", "test.csv", NULL};
static const struct trial_encoder encoders[] = {
    {"pca", 8, 0.5, "flip", "pca", "d=2 inside=0.9"},
    {"pca", INFINITY, 0.5, "flip", "pca", "d=2 inside=0.9"},
    {.eps = 0}};
static const struct trial_fit fits[] = {
    {.eps = 8, .decay = -1, .marginal = -1, .entropy = -1},
    {.eps = INFINITY, .decay = -1, .marginal = -1, .entropy = -1},
    {.eps = 0}};
static const struct data_set toy_set = {.name = "toy",
                                        .files = files,
                                        .form = "two tables",
                                        .read = read_toy,
                                        .encoders = encoders,
                                        .fits = fits};
static const struct experiment_mechanism mechanisms[] = {
    {.name = "pca", .settings = "pca"},
    {.name = "pca-codebook", .settings = "pca", .how = EXPERIMENT_CODES},
    {.name = NULL}};
static const struct papers_row papers[] = {{.name = NULL}};
static const struct experiment toy = {.name = "toy-collection",
                                      .data = &toy_set,
                                      .protocol = &protocol_collection,
                                      .classes = 2,
                                      .mechanisms = mechanisms,
                                      .aux_share = 0.75,
                                      .aux_share_most = 0.75,
                                      .papers = papers};

static int
write_points(const char *name, size_t count)
{
    FILE *to = fopen(in_folder(name), "w");
    struct seeded seeded;
    if (to == NULL) {
        return -1;
    }
    seeded_init(&seeded, 7, count);
    (void)fprintf(to, "x,y,label\n");
    for (size_t i = 0; i < count; i++) {
        double x = (double)random_u32(&seeded.random) / 0x1p32;
        double y = (double)random_u32(&seeded.random) / 0x1p32;
        (void)fprintf(to, "%.4f,%.4f,%s\n", x + (i % 2 == 0 ? 3 : 0), y,
                      i % 2 == 0 ? "right" : "left");
    }
    return fclose(to);
}

static int
setup(void **state)
{
    (void)state;
    return scratch_make() != 0 || write_points("train.csv", 800) != 0 ||
                   write_points("test.csv", 200) != 0
               ? -1
               : 0;
}

/* ---- Runs ------------------------------------------------------------------
 */

static double
run_toy(const char *mechanism, double eps, struct experiment_outcome *outcome)
{
    const struct sotto_experiment_options options = {
        .data = folder, .level = SOTTO_LEVEL_LATENT, .threads = 1};
    const struct experiment_run run = {
        .experiment = &toy,
        .mechanism = experiment_mechanism_find(&toy, mechanism),
        .level = "latent",
        .options = &options,
        .aux_share = 0.75,
        .trials = 1,
        .draws = 1,
        .folder = folder};
    const struct experiment_fit fit = {eps, 1, 1};
    char hash[EXPERIMENT_HASH_SIZE];
    struct trial *trial = NULL;
    *outcome = (struct experiment_outcome){0};
    if (trial_open(&run, &trial, hash, &err) != SOTTO_STATUS_OK ||
        trial_run(trial, &run, &fit, outcome, &err) != SOTTO_STATUS_OK) {
        fail_msg("%s: %s", mechanism, err.message);
    }
    assert_int_equal(sotto_table_rows(trial->split.people), 200);
    assert_int_equal(sotto_table_rows(trial->split.test), 50);
    trial_close(trial);
    return outcome->accuracy;
}

/* How many mechanisms of that name the folder keeps. */
static size_t
count_named(const char *name)
{
    glob_t found;
    size_t count = 0;
    assert_int_equal(glob(in_folder("encoders/*.sotto"), 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct sotto_mechanism *mechanism = NULL;
        struct sotto_mechanism_info info;
        assert_int_equal(
            sotto_mechanism_read(found.gl_pathv[i], &mechanism, &err),
            SOTTO_STATUS_OK);
        sotto_mechanism_info(mechanism, &info);
        count += strcmp(info.name, name) == 0 ? 1 : 0;
        sotto_mechanism_free(mechanism);
    }
    globfree(&found);
    return count;
}

/* Clouds that far apart are told apart, by a lattice and by codes. */
static void
test_toy(void **state)
{
    struct experiment_outcome outcome;
    (void)state;
    assert_true(run_toy("pca", INFINITY, &outcome) > 0.95);
    assert_string_equal(outcome.note, "");
    assert_true(run_toy("pca", 8, &outcome) > 0.8);
    assert_true(run_toy("pca-codebook", 8, &outcome) > 0.8);
    assert_non_null(strstr(outcome.note, "k="));
    assert_int_equal(count_named("toy-collection-pca"), 1);
    assert_int_equal(count_named("toy-collection-codebook"), 1);
}

/* A file that is missing is named, and so is what the folder should hold. */
static void
test_missing(void **state)
{
    char hash[EXPERIMENT_HASH_SIZE];
    struct data_records data;
    (void)state;
    assert_int_equal(remove(in_folder("test.csv")), 0);
    assert_int_equal(data_records_open(&toy_set, folder, &data, hash, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "test.csv"));
    assert_non_null(strstr(err.message, "two tables"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_toy, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_missing, setup, scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
