/*
 * test_result_files.c: an experiment's rows as CSV, table and plot.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "experiment/result_files.h"
#include "fail_alloc.h"
#include "host/text.h"
#include "scratch.h"

static struct sotto_error err;

static struct sotto_experiment_options options = {
    .seed = 7, .command = "sotto experiment x, y", .commit = "c0ffee"};
static const struct experiment_mechanism vlm = {.name = "vlm"};
static struct experiment_run run = {.experiment = &experiment_mnist_collection,
                                    .mechanism = &vlm,
                                    .level = "latent",
                                    .options = &options,
                                    .aux_share = 0.75,
                                    .trials = 1,
                                    .draws = 1};

static const struct sotto_experiment_row rows[] = {
    {.experiment = "mnist-collection",
     .mechanism = "vlm",
     .level = "latent",
     .eps = 10,
     .aux_share = 0.75,
     .trial = 1,
     .draw = 2,
     .seed = 7,
     .accuracy = 0.875,
     .deviation = NAN,
     .deviation_draws = NAN,
     .runs = 1,
     .paper = 0.861,
     .paper_deviation = 0.01,
     .reach = 0.86,
     .seconds = 1.5,
     .setting = "l=5",
     .data = "abcd",
     .version = "0.1.0",
     .command = "sotto experiment x, y",
     .commit = "c0ffee",
     .note = "k=9, flip"},
    {.experiment = "mnist-collection",
     .mechanism = "vlm",
     .level = "latent",
     .eps = 10,
     .aux_share = 0.75,
     .mean = true,
     .seed = 7,
     .accuracy = 0.875,
     .deviation = 0.0125,
     .deviation_draws = 0.002,
     .runs = 6,
     .paper = 0.861,
     .paper_deviation = 0.01,
     .reach = 0.86,
     .seconds = 9,
     .setting = "l=5",
     .data = "abcd",
     .version = "0.1.0"},
    {.experiment = "mnist-collection",
     .mechanism = "vlm",
     .level = "latent",
     .eps = INFINITY,
     .aux_share = 0.75,
     .mean = true,
     .seed = 7,
     .accuracy = 0.9,
     .deviation = NAN,
     .deviation_draws = NAN,
     .runs = 1,
     .paper = 0.949,
     .paper_deviation = 0.002,
     .reach = 0.95,
     .seconds = 9,
     .setting = "l=10",
     .data = "abcd",
     .version = "0.1.0"},
};
#define ROWS (sizeof rows / sizeof *rows)

static void
test_csv(void **state)
{
    struct host_text text;
    (void)state;
    host_text_init(&text, 1 << 20);
    result_files_csv(&text, rows, ROWS);
    assert_string_equal(
        text.data,
        "experiment,mechanism,level,aux_share,eps,kind,trial,draw,runs,seed,"
        "accuracy,deviation,deviation_draws,paper,paper_deviation,reach,"
        "seconds,setting,data,version,command,commit,note\n"
        "mnist-collection,vlm,latent,0.75,10,fit,1,2,1,7,0.875,,,0.861,0.01,"
        "0.86,1.5,l=5,abcd,0.1.0,\"sotto experiment x, y\",c0ffee,"
        "\"k=9, flip\"\n"
        "mnist-collection,vlm,latent,0.75,10,mean,,,6,7,0.875,0.0125,0.002,"
        "0.861,0.01,0.86,9,l=5,abcd,0.1.0,,,\n"
        "mnist-collection,vlm,latent,0.75,none,mean,,,1,7,0.9,,,0.949,0.002,"
        "0.95,9,l=10,abcd,0.1.0,,,\n");
    host_text_clear(&text);
}

static void
test_markdown(void **state)
{
    static const char *const wanted[] = {
        "\n| 10 | 87.5 ± 1.2 | 0.2 | 6 | 86.1 ± 1.0 | 86.0 | reached |\n",
        "\n| none | 90.0 | – | 1 | 94.9 ± 0.2 | 95.0 | missed |\n",
        "V-RLM, P0 Table 1",
        "| PrivUnit (P0 Table 1) | 38.2 ± 4.6 |",
        "| 10 | `l=5` |  |",
        "`abcd`",
        "commit c0ffee",
        "Seed 7;",
        "\n    sotto experiment x, y\n"};
    struct host_text text;
    (void)state;
    host_text_init(&text, 1 << 20);
    result_files_markdown(&text, &run, rows, ROWS);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (strstr(text.data, wanted[i]) == NULL) {
            fail_msg("no '%s' in:\n%s", wanted[i], text.data);
        }
    }
    host_text_clear(&text);
}

/* Rows whose classifier was chosen without devices say so, others do not. */
static void
test_simulated(void **state)
{
    struct sotto_experiment_row row = rows[1];
    struct host_text text;
    (void)state;
    row.setting = "vlm l=5; fit eq11 candidates=16 bootstrap=1";
    host_text_init(&text, 1 << 20);
    result_files_markdown(&text, &run, rows, ROWS);
    assert_null(strstr(text.data, "imulated protocol"));
    host_text_clear(&text);
    host_text_init(&text, 1 << 20);
    result_files_markdown(&text, &run, &row, 1);
    assert_non_null(strstr(text.data, "| reached, simulated protocol |\n"));
    assert_non_null(strstr(text.data, "\nSimulated protocol: one of several"));
    row.reach = NAN;
    result_files_markdown(&text, &run, &row, 1);
    assert_non_null(strstr(text.data, "| simulated protocol |\n"));
    host_text_clear(&text);
}

/* A codebook's table says what makes the comparison one. */
static void
test_beside(void **state)
{
    struct experiment_run other = run;
    struct sotto_experiment_row row = rows[1];
    struct host_text text;
    (void)state;
    other.mechanism =
        experiment_mechanism_find(&experiment_mnist_collection, "codebook");
    row.mechanism = "codebook";
    row.note = "k=10 subset; k=12 subset";
    host_text_init(&text, 1 << 20);
    result_files_markdown(&text, &other, &row, 1);
    assert_non_null(strstr(text.data, "convolutional encoder"));
    assert_non_null(strstr(text.data, "little but the class"));
    assert_non_null(strstr(text.data, "`l=5` | k=10 subset; k=12 subset |"));
    host_text_clear(&text);
}

/* Where classes are told from private records, the limits are computed, beside
   what the papers print; elsewhere there are none. */
static void
test_limits(void **state)
{
    struct experiment_run private = run;
    struct sotto_experiment_row row = rows[1];
    struct host_text text;
    (void)state;
    private.experiment = &experiment_mnist_private;
    private.mechanism =
        experiment_mechanism_find(private.experiment, "codebook");
    host_text_init(&text, 1 << 20);
    result_files_markdown(&text, &private, &row, 1);
    assert_non_null(strstr(text.data,
                           "\n| their maximum, Eq. 13, as printed (P0 Table "
                           "4) | 80.7 | 69.3 | 53.8 | 36.0 | 20.0 | 14.2 | "
                           "100.0 |\n| P0 Eq. 13, computed | 80.7 | 69.3 | "
                           "53.8 | 36.0 | 20.0 | 14.2 | 100.0 |\n| the most "
                           "of any channel | 99.2 | 96.8 | 88.1 | 64.6 | 31.1 "
                           "| 18.3 | 100.0 |\n"));
    host_text_clear(&text);
    host_text_init(&text, 1 << 20);
    result_files_plot(&text, &private, &row, 1);
    assert_non_null(strstr(text.data, ">P0 Eq. 13, computed<"));
    assert_non_null(strstr(text.data, ">the most of any channel<"));
    host_text_clear(&text);
    host_text_init(&text, 1 << 20);
    result_files_markdown(&text, &run, rows, ROWS);
    result_files_plot(&text, &run, rows, ROWS);
    assert_null(strstr(text.data, "Eq. 13"));
    assert_null(strstr(text.data, "of any channel"));
    host_text_clear(&text);
}

static void
test_plot(void **state)
{
    struct host_text text;
    (void)state;
    host_text_init(&text, 1 << 20);
    result_files_plot(&text, &run, rows, ROWS);
    assert_non_null(strstr(text.data, ">sotto must reach<"));
    assert_non_null(strstr(text.data, ">the papers' V-RLM (P0 Table 1)<"));
    assert_non_null(strstr(text.data, ">sotto<"));
    host_text_clear(&text);
    /* where the papers have nothing, nothing is drawn of them */
    struct experiment_run other = run;
    struct sotto_experiment_row row = rows[1];
    other.aux_share = 0.3;
    row.paper = row.paper_deviation = row.reach = NAN;
    result_files_plot(&text, &other, &row, 1);
    assert_null(strstr(text.data, "papers"));
    assert_null(strstr(text.data, "reach"));
    host_text_clear(&text);
}

static void
test_path(void **state)
{
    static const struct {
        const char *mechanism, *level;
        double aux_share;
        const char *path;
    } cases[] = {
        {"vlm", "latent", 0.75, "r/mnist-collection-vlm"},
        {"pca", "latent", 0.75, "r/mnist-collection-pca"},
        {"vlm", "feature", 0.75, "r/mnist-collection-vlm-feature"},
        {"vlm", "latent", 0.1, "r/mnist-collection-vlm-0.1"},
        {"vlm", "feature", 0.25, "r/mnist-collection-vlm-feature-0.25"}};
    (void)state;
    options.results = "r";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct experiment_run other = run;
        other.mechanism = experiment_mechanism_find(
            &experiment_mnist_collection, cases[i].mechanism);
        other.level = cases[i].level;
        other.aux_share = cases[i].aux_share;
        char *path = result_files_path(&other);
        assert_string_equal(path, cases[i].path);
        free(path);
    }
}

/* The folder is made; without memory nothing half is left. */
static void
test_write(void **state)
{
    enum sotto_status status;
    long n = 0;
    (void)state;
    assert_int_equal(scratch_make(), 0);
    options.results = in_folder("a/b");
    do {
        fail_alloc_at(++n);
        status = result_files_write(&run, rows, ROWS, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    for (size_t i = 0; i < 3; i++) {
        static const char *const ending[] = {"csv", "md", "svg"};
        char name[80];
        (void)snprintf(name, sizeof name, "a/b/mnist-collection-vlm.%s",
                       ending[i]);
        FILE *file = fopen(in_folder(name), "r");
        assert_non_null(file);
        assert_int_equal(fclose(file), 0);
    }
    assert_int_equal(scratch_remove(), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),    cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_beside), cmocka_unit_test(test_simulated),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_plot),
        cmocka_unit_test(test_path),   cmocka_unit_test(test_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
