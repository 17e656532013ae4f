/*
 * test_trial_learn.c: an experiment on another data set is a table: a toy one,
 * of CSV files, this file alone, is split, trained on, learnt from and tested.
 */
#include "clouds.h"

#include <glob.h>

static const struct experiment_mechanism mechanisms[] = {
    {.name = "pca", .settings = "pca"},
    {.name = "pca-codebook", .settings = "pca", .how = EXPERIMENT_CODES},
    {.name = NULL}};
static const struct experiment toy = CLOUDS_EXPERIMENT(mechanisms);

static double
run_toy(const char *mechanism, double eps, struct experiment_outcome *outcome)
{
    return run_clouds(&toy, mechanism, eps, outcome);
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
