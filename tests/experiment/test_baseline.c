/*
 * test_baseline.c: a classifier from noised vectors and labels, of a toy.
 */
#include "clouds.h"
#include "experiment/baseline.h"

static const struct experiment_mechanism mechanisms[] = {
    {.name = "duchi",
     .settings = "pca",
     .how = EXPERIMENT_RAW,
     .channel = "duchi"},
    {.name = "privunit2",
     .settings = "pca",
     .how = EXPERIMENT_RAW,
     .channel = "privunit2"},
    {.name = "pca-piecewise", .settings = "pca", .channel = "piecewise"},
    {.name = NULL}};
static const struct experiment toy = CLOUDS_EXPERIMENT(mechanisms);

static double
run_toy(const char *mechanism, double eps, struct experiment_outcome *outcome)
{
    return run_clouds(&toy, mechanism, eps, outcome);
}

/* Clouds that far apart are told apart, through every channel and without. */
static void
test_clouds(void **state)
{
    (void)state;
    for (size_t i = 0; mechanisms[i].name != NULL; i++) {
        struct experiment_outcome outcome, again;
        assert_true(run_toy(mechanisms[i].name, 8, &outcome) > 0.95);
        assert_non_null(strstr(outcome.note, "decay "));
        assert_true(run_toy(mechanisms[i].name, 8, &again) == outcome.accuracy);
        assert_true(run_toy(mechanisms[i].name, INFINITY, &outcome) > 0.99);
    }
}

/* What decides a row is in its text; and there is no feature level. */
static void
test_setting(void **state)
{
    struct sotto_experiment_options options = {
        .data = folder, .level = SOTTO_LEVEL_FEATURE, .threads = 1};
    struct experiment_run run = {.experiment = &toy,
                                 .mechanism = &mechanisms[1],
                                 .level = "feature",
                                 .options = &options,
                                 .aux_share = 0.75,
                                 .trials = 1,
                                 .draws = 1,
                                 .folder = folder};
    const struct experiment_fit fit = {8, 1, 1};
    struct experiment_outcome outcome = {0};
    char text[EXPERIMENT_SETTING_SIZE], hash[EXPERIMENT_HASH_SIZE];
    struct trial *trial = NULL;
    (void)state;
    trial_setting(&run, 8, text);
    assert_non_null(strstr(text, "privunit2 of the record"));
    assert_non_null(strstr(text, "lambda=0.7"));
    assert_null(strchr(text, '"'));
    run.mechanism = &mechanisms[2];
    trial_setting(&run, 8, text);
    assert_non_null(strstr(text, "piecewise of z"));
    assert_int_equal(trial_open(&run, &trial, hash, &err), SOTTO_STATUS_OK);
    assert_int_equal(trial_run(trial, &run, &fit, &outcome, &err),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "no feature level"));
    trial_close(trial);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_clouds, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_setting, setup, scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
