/*
 * test_trial_codebook.c: the experiments with codebooks, whole, on small
 * pictures: what is reached, what is noted, what is kept.
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
#include "scratch.h"
#include "sotto/sotto.h"

#define SEEN_MOST 16u

static struct sotto_error err;

struct seen {
    struct sotto_experiment_row row[SEEN_MOST];
    char note[SEEN_MOST][400];
    size_t count, made;
};

static void
take(void *context, const struct sotto_experiment_row *row)
{
    struct seen *seen = context;
    assert_true(seen->count < SEEN_MOST);
    (void)snprintf(seen->note[seen->count], sizeof seen->note[0], "%s",
                   row->note != NULL ? row->note : "");
    seen->row[seen->count++] = *row;
    seen->made += row->cached || row->mean ? 0 : 1;
}

static int
setup(void **state)
{
    (void)state;
    return scratch_make() != 0 ? -1 : blobs_write(folder, 600, 80);
}

static const double eps[] = {8, INFINITY};

static struct sotto_experiment_options
options_of(const char *name, const char *mechanism)
{
    static char cache[128], results[128];
    (void)snprintf(cache, sizeof cache, "%s", in_folder("cache"));
    (void)snprintf(results, sizeof results, "%s", in_folder("results"));
    return (struct sotto_experiment_options){.name = name,
                                             .mechanism = mechanism,
                                             .eps = eps,
                                             .eps_count = 2,
                                             .trials = 1,
                                             .draws = 1,
                                             .epochs = 1,
                                             .threads = 2,
                                             .data = folder,
                                             .folder = cache,
                                             .results = results};
}

static struct seen
run(const struct sotto_experiment_options *options)
{
    struct seen seen = {0};
    if (sotto_experiment_run(options, take, &seen, &err) != SOTTO_STATUS_OK) {
        fail_msg("%s %s: %s", options->name, options->mechanism, err.message);
    }
    return seen;
}

static size_t
encoders(const char *pattern)
{
    glob_t found;
    size_t count = 0;
    if (glob(in_folder(pattern), 0, NULL, &found) == 0) {
        count = found.gl_pathc;
    }
    globfree(&found);
    return count;
}

/* Discs are told apart by their components: k is found, and noted. */
static void
test_collection(void **state)
{
    struct sotto_experiment_options options =
        options_of("mnist-collection", "pca-codebook");
    (void)state;
    struct seen seen = run(&options);
    assert_int_equal(seen.made, 2);
    assert_true(seen.row[0].accuracy > 0.6);
    assert_true(seen.row[2].accuracy > 0.9);
    assert_non_null(strstr(seen.note[0], "k="));
    assert_string_equal(seen.note[0], seen.note[1]); /* the mean's */
    assert_string_equal(seen.note[2], "");
    /* an encoder and a codebook for each epsilon */
    assert_int_equal(encoders("cache/encoders/*.sotto"), 3);
    assert_int_equal(encoders("cache/encoders/*.analyst"), 3);
    struct seen again = run(&options);
    assert_int_equal(again.made, 0);
    assert_string_equal(again.note[1], seen.note[1]);
    assert_true(again.row[0].accuracy == seen.row[0].accuracy);
    /* another draw is of the same codebook */
    options.draws = 2;
    again = run(&options);
    assert_int_equal(again.made, 2);
    assert_string_equal(again.note[1], again.note[0]);
    assert_int_equal(encoders("cache/encoders/*.sotto"), 3);
    /* the number of threads changes nothing */
    options.draws = 1;
    options.threads = 1;
    options.folder = in_folder("other");
    again = run(&options);
    assert_int_equal(again.made, 2);
    assert_true(again.row[0].accuracy == seen.row[0].accuracy);
    assert_string_equal(again.note[0], seen.note[0]);
}

/* The contrastive encoder, little trained, is used all the same. */
static void
test_contrastive(void **state)
{
    struct sotto_experiment_options options =
        options_of("mnist-collection", "codebook");
    (void)state;
    assert_int_equal(blobs_write(folder, 320, 80), 0);
    struct seen seen = run(&options);
    assert_int_equal(seen.made, 2);
    assert_true(seen.row[1].reach == 0.975 && seen.row[3].paper == 0.949);
    assert_non_null(strstr(seen.note[0], "k="));
    options.mechanism = "clm";
    options.eps_count = 1;
    assert_int_equal(run(&options).made, 1);
}

static void
test_private(void **state)
{
    struct sotto_experiment_options options =
        options_of("mnist-private", "codebook");
    (void)state;
    assert_int_equal(blobs_write(folder, 320, 80), 0);
    struct seen seen = run(&options);
    assert_non_null(strstr(seen.note[0], "eps_test=5.6 k="));
    assert_non_null(strstr(seen.note[0], " flip"));
    assert_int_equal(access(in_folder("cache/budget.sotto"), F_OK), -1);
    options.mechanism = "class-flip";
    struct seen flip = run(&options);
    assert_string_equal(flip.note[0], "eps_test=5.6 class by flip");
    /* at none both are the classifier itself */
    assert_true(flip.row[2].accuracy == seen.row[2].accuracy);
    options.mechanism = "vlm";
    assert_int_equal(run(&options).made, 2);
}

/* Codes and lattice, with the label in the clear and from everyone. */
static void
test_novel(void **state)
{
    static const char *const mechanisms[] = {"vlm", "codebook", "vlm-label",
                                             "codebook-label"};
    (void)state;
    assert_int_equal(blobs_write(folder, 700, 80), 0);
    for (size_t i = 0; i < 4; i++) {
        struct sotto_experiment_options options =
            options_of("mnist-novel", mechanisms[i]);
        options.eps_count = 1;
        struct seen seen = run(&options);
        bool clear = strstr(seen.note[0], "label epsilon: unbounded") != NULL;
        assert_int_equal(clear, i < 2);
        assert_int_equal(strstr(seen.note[0], "k=") != NULL, i % 2 == 1);
        assert_int_equal(isnan(seen.row[0].paper), i >= 2);
        assert_true(seen.row[0].accuracy > 0.3);
    }
}

/* A level that codes do not have. */
static void
test_level(void **state)
{
    struct sotto_experiment_options options =
        options_of("mnist-collection", "pca-codebook");
    (void)state;
    assert_int_equal(blobs_write(folder, 320, 80), 0);
    options.level = SOTTO_LEVEL_FEATURE;
    assert_int_equal(sotto_experiment_run(&options, NULL, NULL, &err),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "latent"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_collection, setup,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_contrastive, setup,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_private, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_novel, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_level, setup, scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
