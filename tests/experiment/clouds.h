/*
 * clouds.h: a toy experiment: two clouds of points in a plane, as CSV files.
 */
#ifndef SOTTO_TESTS_CLOUDS_H
#define SOTTO_TESTS_CLOUDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "experiment/trial_learn.h"
#include "random/seeded.h"
#include "scratch.h"

static struct sotto_error err;

/* ---- The toy: two clouds of points in a plane -----------------------------
 */

static inline enum sotto_status
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
    {.eps = 8,
     .level = SOTTO_LEVEL_FEATURE,
     .decay = -1,
     .marginal = -1,
     .entropy = -1},
    {.eps = INFINITY, .decay = -1, .marginal = -1, .entropy = -1},
    {.eps = 0}};
static const struct data_set toy_set = {.name = "toy",
                                        .files = files,
                                        .form = "two tables",
                                        .read = read_toy,
                                        .encoders = encoders,
                                        .fits = fits};
static const struct papers_row papers[] = {{.name = NULL}};

/* The toy with these mechanisms. */
#define CLOUDS_EXPERIMENT(these)                                               \
    {                                                                          \
        .name = "toy-collection", .data = &toy_set,                            \
        .protocol = &protocol_collection, .classes = 2, .mechanisms = (these), \
        .aux_share = 0.75, .aux_share_most = 0.75, .papers = papers            \
    }

static inline int
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

static inline int
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

/* Of the toy with its own mechanisms; the folder is the test's. */
static inline double
run_clouds(const struct experiment *toy, const char *mechanism, double eps,
           struct experiment_outcome *outcome)
{
    const struct sotto_experiment_options options = {
        .data = folder, .level = SOTTO_LEVEL_LATENT, .threads = 1};
    const struct experiment_run run = {
        .experiment = toy,
        .mechanism = experiment_mechanism_find(toy, mechanism),
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

#endif
