/*
 * test_papers.c: the papers' numbers are those that are printed there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "experiment/experiment.h"

#define COLLECTION &experiment_mnist_collection
#define NOVEL &experiment_mnist_novel
#define PRIVATE &experiment_mnist_private

static struct experiment_run
run_of(const struct experiment *experiment, const char *mechanism,
       const char *level, double aux_share)
{
    return (struct experiment_run){
        .experiment = experiment,
        .mechanism = experiment_mechanism_find(experiment, mechanism),
        .level = level,
        .aux_share = aux_share};
}

static const struct papers_row *
find(const struct experiment *experiment, const char *mechanism,
     const char *level, double aux_share)
{
    struct experiment_run run = run_of(experiment, mechanism, level, aux_share);
    return papers_find(&run);
}

static double
reach(const struct experiment *experiment, const char *mechanism,
      const char *level, double aux_share, double eps)
{
    struct experiment_run run = run_of(experiment, mechanism, level, aux_share);
    return papers_reach(&run, eps);
}

static void
test_columns(void **state)
{
    (void)state;
    assert_int_equal(papers_column(10), 0);
    assert_int_equal(papers_column(1), 5);
    assert_int_equal(papers_column(INFINITY), 6);
    assert_int_equal(papers_column(3), PAPERS_COLUMNS);
    assert_int_equal(papers_column(papers_small[0]), PAPERS_COLUMNS);
}

static void
check_row(const struct papers_row *row)
{
    assert_true(strncmp(row->table, "P0 Table ", 9) == 0 ||
                strncmp(row->table, "P1 Table ", 9) == 0);
    for (size_t i = 0; i < PAPERS_COLUMNS; i++) {
        bool said = !isnan(row->accuracy[i]);
        bool limit = strstr(row->name, "maximum") != NULL;
        assert_int_equal(said && !limit, !isnan(row->deviation[i]));
        assert_true(!said ||
                    (row->accuracy[i] >= 9 && row->accuracy[i] <= 100));
        assert_true(!said || limit ||
                    (row->deviation[i] >= 0.1 && row->deviation[i] < 11));
    }
}

/* Every number is a percentage, in every row. */
static void
test_rows(void **state)
{
    const struct experiment *const all[] = {COLLECTION, NOVEL, PRIVATE};
    size_t rows = 0;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (const struct papers_row *row = all[i]->papers; row->name != NULL;
             row++) {
            check_row(row);
            rows++;
        }
    }
    assert_int_equal(rows, 19);
}

static void
test_found(void **state)
{
    const struct papers_row *row = find(COLLECTION, "vlm", "latent", 0.75);
    (void)state;
    assert_non_null(row);
    assert_true(row->accuracy[0] == 86.1 && row->deviation[4] == 9.7);
    assert_string_equal(row->table, "P0 Table 1");
    row = find(COLLECTION, "vlm", "feature", 0.75);
    assert_true(row->accuracy[0] == 70.2 && row->accuracy[6] == 90.4);
    row = find(COLLECTION, "vlm-linear", "latent", 0.75);
    assert_true(row->accuracy[1] == 31.3 && row->deviation[3] == 3.2);
    row = find(COLLECTION, "pca", "latent", 0.75);
    assert_true(row->accuracy[5] == 15.7 && row->deviation[0] == 8.1);
    row = find(COLLECTION, "vlm", "latent", 0.25);
    assert_true(row->accuracy[4] == 44.8 && isnan(row->accuracy[6]));
    assert_null(find(COLLECTION, "vlm", "latent", 0.3));
    row = find(COLLECTION, "privunitg", "latent", 0.75);
    assert_true(row->accuracy[0] == 38.2 && row->accuracy[6] == 96.0);
    assert_string_equal(find(COLLECTION, "duchi", "latent", 0.75)->name,
                        "Duchi");
    assert_null(find(COLLECTION, "piecewise", "latent", 0.75));
    assert_null(find(COLLECTION, "vlm-linear", "feature", 0.75));
    row = find(NOVEL, "vlm", "latent", 8.0 / 9);
    assert_true(row->accuracy[1] == 80.9 && row->deviation[5] == 8.7);
    assert_null(find(NOVEL, "vlm-label", "latent", 8.0 / 9));
    row = find(PRIVATE, "codebook", "latent", 0.75);
    assert_true(row->accuracy[0] == 42.3 && row->deviation[2] == 1.2);
    assert_string_equal(row->table, "P0 Table 4");
}

static void
test_reach(void **state)
{
    (void)state;
    assert_true(reach(COLLECTION, "vlm", "latent", 0.75, 10) == 0.86);
    assert_true(reach(COLLECTION, "vlm", "latent", 0.75, 1) == 0.18);
    assert_true(reach(COLLECTION, "vlm", "latent", 0.75, INFINITY) == 0.95);
    assert_true(isnan(reach(COLLECTION, "vlm", "latent", 0.75, 3)));
    assert_true(isnan(reach(COLLECTION, "vlm", "latent", 0.5, 10)));
    assert_true(isnan(reach(COLLECTION, "pca", "latent", 0.75, 10)));
    assert_true(isnan(reach(COLLECTION, "vlm", "latent", 0.75, 0.5)));
    assert_true(reach(COLLECTION, "codebook", "latent", 0.75, 4) == 0.965);
    assert_true(reach(COLLECTION, "codebook", "latent", 0.75, 0.5) == 0.87);
    assert_true(reach(COLLECTION, "codebook", "latent", 0.75, 0.25) == 0.46);
    assert_true(isnan(reach(COLLECTION, "codebook", "latent", 0.75, 0.3)));
    assert_true(reach(PRIVATE, "codebook", "latent", 0.75, 1) == 0.173);
    assert_true(reach(PRIVATE, "class-flip", "latent", 0.75, 10) == 0.955);
}

/* A comparison is not printed without what makes it one. */
static void
test_beside(void **state)
{
    (void)state;
    assert_non_null(
        strstr(experiment_mechanism_find(COLLECTION, "codebook")->beside,
               "convolutional"));
    assert_non_null(
        strstr(experiment_mechanism_find(COLLECTION, "codebook")->beside,
               "share of unlabelled auxiliary images are the "
               "same"));
    assert_non_null(
        strstr(experiment_mechanism_find(COLLECTION, "codebook")->beside,
               "little but the class"));
    assert_non_null(strstr(
        experiment_mechanism_find(PRIVATE, "codebook")->beside, "Eq. 13"));
    assert_non_null(
        strstr(experiment_mechanism_find(NOVEL, "vlm")->beside, "unbounded"));
    assert_null(experiment_mechanism_find(COLLECTION, "vlm")->beside);
}

static void
test_fraction(void **state)
{
    (void)state;
    assert_true(papers_fraction(17.3) == 0.173);
    assert_true(papers_fraction(86.1) == 0.861);
    assert_true(papers_fraction(86) == 0.86);
    assert_true(isnan(papers_fraction(NAN)));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_found),   cmocka_unit_test(test_reach),
        cmocka_unit_test(test_beside),  cmocka_unit_test(test_fraction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
