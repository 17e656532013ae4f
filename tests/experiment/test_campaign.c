/*
 * test_campaign.c: simulated campaigns: what is learnt from a table made here,
 * that a run is the same again, who answers and who lies, which columns tell of
 * the label, and the fit without privacy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/campaign.h"
#include "random/seeded.h"

#define ROWS 600u

static struct sotto_error err;
static struct sotto_table *table;

/* A number of rows: "close" tells the label, "weak" a little of it, "noise"
   nothing. */
static struct sotto_table *
make_table(size_t rows, uint64_t seed)
{
    double close[ROWS], weak[ROWS], noise[ROWS];
    const char *label[ROWS], *shade[ROWS];
    struct sotto_table *made = NULL;
    struct seeded seeded;
    seeded_init(&seeded, seed, 0);
    for (size_t i = 0; i < rows; i++) {
        double u = random_u32(&seeded.random) / 4294967296.0;
        bool yes = random_u32(&seeded.random) % 5 < 2;
        close[i] = (yes ? 1 : 0) + u;
        weak[i] = (yes ? 0.3 : 0) + random_u32(&seeded.random) / 4294967296.0;
        noise[i] = random_u32(&seeded.random) / 4294967296.0;
        label[i] = yes ? "yes" : "no";
        shade[i] = random_u32(&seeded.random) % 2 > 0 ? "dark" : "light";
    }
    assert_int_equal(sotto_table_new(rows, &made, &err), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_add_numbers(made, "noise", noise, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_add_texts(made, "shade", shade, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_add_numbers(made, "weak", weak, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_add_texts(made, "label", label, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_add_numbers(made, "close", close, &err),
                     SOTTO_STATUS_OK);
    return made;
}

static int
setup(void **state)
{
    (void)state;
    table = make_table(ROWS, 1);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    sotto_table_free(table);
    return 0;
}

static const char *const left_out[] = {"noise", "shade", "weak"};

static struct sotto_campaign *
open_campaign(void)
{
    const struct sotto_campaign_options options = {.kind = "direct",
                                                   .label = "label",
                                                   .drop = left_out,
                                                   .drops = 3,
                                                   .threads = 1};
    struct sotto_campaign *campaign = NULL;
    assert_int_equal(sotto_campaign_new(table, &options, &campaign, &err),
                     SOTTO_STATUS_OK);
    return campaign;
}

static struct sotto_campaign_outcome
simulate(struct sotto_campaign *campaign, const struct sotto_campaign_run *run)
{
    struct sotto_campaign_outcome outcome;
    assert_int_equal(sotto_campaign_simulate(campaign, table, table, run,
                                             &outcome, NULL, NULL, &err),
                     SOTTO_STATUS_OK);
    return outcome;
}

/* Much noise teaches less than little, and the same run is the same again,
   whatever came in between. */
static void
test_learns(void **state)
{
    struct sotto_campaign *campaign = open_campaign();
    struct sotto_campaign_run run = {.eps = "8", .seed = 3};
    struct sotto_campaign_run other = {.eps = "0.05", .seed = 4};
    struct sotto_campaign_outcome first = simulate(campaign, &run);
    struct sotto_campaign_outcome noisy = simulate(campaign, &other);
    struct sotto_campaign_outcome again = simulate(campaign, &run);
    (void)state;
    assert_true(first.score.accuracy > 0.95);
    assert_true(first.score.auc > 0.97);
    assert_true(noisy.score.auc < first.score.auc - 0.1);
    assert_int_equal(first.asked, ROWS);
    assert_int_equal(first.reports, ROWS);
    assert_true(first.score.accuracy == again.score.accuracy);
    assert_true(first.score.log_p == again.score.log_p);
    sotto_campaign_free(campaign);
}

/* A mechanism and a model come out, for the caller to free. */
static void
test_hands_out(void **state)
{
    struct sotto_campaign *campaign = open_campaign();
    const struct sotto_campaign_run run = {.eps = "8", .people = 50};
    struct sotto_campaign_outcome outcome;
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_model *model = NULL;
    struct sotto_mechanism_info info;
    (void)state;
    assert_int_equal(sotto_campaign_simulate(campaign, table, table, &run,
                                             &outcome, &model, &mechanism,
                                             &err),
                     SOTTO_STATUS_OK);
    sotto_campaign_free(campaign);
    sotto_mechanism_info(mechanism, &info);
    assert_string_equal(info.eps_text, "8");
    assert_int_equal(sotto_model_classes(model), 2);
    assert_int_equal(outcome.reports, 50);
    sotto_model_free(model);
    sotto_mechanism_free(mechanism);
}

/* ---- Who answers -----------------------------------------------------------
 */

static struct sotto_table *
take(const struct sotto_campaign_run *run, size_t *ret_asked)
{
    struct sotto_table *answers = NULL;
    assert_int_equal(
        campaign_people_take(table, "label", run, &answers, ret_asked, &err),
        SOTTO_STATUS_OK);
    return answers;
}

/* Rows whose label is not the one that "close" shows. */
static size_t
count_lies(const struct sotto_table *answers)
{
    size_t lies = 0, close = sotto_table_find(answers, "close");
    size_t label = sotto_table_find(answers, "label");
    for (size_t i = 0; i < sotto_table_rows(answers); i++) {
        bool yes = sotto_table_cell(answers, i, close).number >= 1;
        lies += (sotto_table_cell(answers, i, label).size == 3) != yes ? 1 : 0;
    }
    return lies;
}

static void
test_answers(void **state)
{
    struct sotto_campaign_run run = {.eps = "1", .people = 300, .seed = 2};
    size_t asked = 0;
    struct sotto_table *answers = take(&run, &asked);
    (void)state;
    assert_int_equal(asked, 300);
    assert_int_equal(sotto_table_rows(answers), 300);
    assert_int_equal(count_lies(answers), 0);
    sotto_table_free(answers);
    run.silent = 1.0 / 3;
    answers = take(&run, &asked);
    assert_int_equal(asked, 300);
    assert_int_equal(sotto_table_rows(answers), 200);
    sotto_table_free(answers);
    run.people = 2000; /* more than there are: some are asked twice */
    run.silent = 0;
    answers = take(&run, &asked);
    assert_int_equal(sotto_table_rows(answers), 2000);
    assert_int_equal(count_lies(answers), 0);
    sotto_table_free(answers);
}

static void
test_lies(void **state)
{
    struct sotto_campaign_run run = {.eps = "1",
                                     .people = 500,
                                     .lying = 0.1,
                                     .lie = SOTTO_CAMPAIGN_LIE_SWAP,
                                     .seed = 2};
    size_t asked = 0, lies;
    struct sotto_table *answers = take(&run, &asked);
    (void)state;
    assert_int_equal(count_lies(answers), 50); /* each tells the other class */
    sotto_table_free(answers);
    run.lie = SOTTO_CAMPAIGN_LIE_RANDOM;
    answers = take(&run, &asked);
    lies = count_lies(answers); /* Binomial(50, 0.48): 5 deviations */
    assert_in_range(lies, 7, 42);
    sotto_table_free(answers);
}

/* Everybody who swaps the label turns the model around. */
static void
test_liars_harm(void **state)
{
    struct sotto_campaign *campaign = open_campaign();
    const struct sotto_campaign_run run = {
        .eps = "8", .lying = 1, .lie = SOTTO_CAMPAIGN_LIE_SWAP};
    (void)state;
    assert_true(simulate(campaign, &run).score.accuracy < 0.1);
    sotto_campaign_free(campaign);
}

static void
test_refuses(void **state)
{
    const struct sotto_campaign_options options = {.kind = "direct",
                                                   .label = "nowhere"};
    const struct sotto_campaign_run wrong[] = {{.eps = "1", .silent = 1},
                                               {.eps = "1", .lying = 1.5},
                                               {.eps = "1", .silent = NAN}};
    struct sotto_campaign *campaign = NULL;
    struct sotto_campaign_outcome outcome;
    (void)state;
    assert_int_equal(sotto_campaign_new(table, &options, &campaign, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "\"nowhere\""));
    assert_int_equal(
        campaign_classes(table, sotto_table_find(table, "noise"), &err),
        SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "\"noise\""));
    campaign = open_campaign();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(sotto_campaign_simulate(campaign, table, table,
                                                 &wrong[i], &outcome, NULL,
                                                 NULL, &err),
                         SOTTO_STATUS_USAGE);
    }
    sotto_campaign_free(campaign);
}

/* ---- Columns, and without privacy -----------------------------------------
 */

static void
test_columns(void **state)
{
    static const char *const drop[] = {"close"};
    size_t column[SOTTO_CAMPAIGN_COLUMNS_MAX], count = 0;
    double gain[SOTTO_CAMPAIGN_COLUMNS_MAX];
    (void)state;
    assert_int_equal(sotto_campaign_rank_columns(table, "label", NULL, 0, 1,
                                                 column, gain, &count, &err),
                     SOTTO_STATUS_OK);
    assert_in_range(count, 1, 3);
    assert_true(count < 2 ||
                gain[1] < gain[0] / 4); /* the others add little to it */
    assert_string_equal(sotto_table_name(table, column[0]), "close");
    assert_true(gain[0] > 0.4); /* of 0.67 nats in all */
    assert_int_equal(sotto_campaign_rank_columns(table, "label", drop, 1, 1,
                                                 column, gain, &count, &err),
                     SOTTO_STATUS_OK);
    assert_true(count >= 1);
    assert_string_equal(sotto_table_name(table, column[0]), "weak");
}

static void
test_clean(void **state)
{
    static const char *const drop[] = {"close"};
    struct sotto_campaign_options options = {.label = "label", .threads = 1};
    struct sotto_campaign_score all, less;
    (void)state;
    assert_int_equal(sotto_campaign_fit_clean(table, &options,
                                              SOTTO_CAMPAIGN_LINEAR, table,
                                              table, &all, &err),
                     SOTTO_STATUS_OK);
    options.drop = drop;
    options.drops = 1;
    assert_int_equal(sotto_campaign_fit_clean(table, &options,
                                              SOTTO_CAMPAIGN_NETWORK, table,
                                              table, &less, &err),
                     SOTTO_STATUS_OK);
    assert_true(all.accuracy > 0.93);
    assert_true(less.accuracy < 0.85);
    assert_true(less.accuracy > less.share);
}

/* ---- A number as the label --------------------------------------------------
 */

/* Of "close" the class explains 0.24 / (0.24 + 1/12) = 0.74, and nothing else
   anything. */
static void
test_number(void **state)
{
    static const char *const drop[] = {"noise", "shade", "weak"};
    struct sotto_campaign_options options = {.kind = "direct",
                                             .label = "close",
                                             .drop = drop,
                                             .drops = 3,
                                             .threads = 1};
    struct sotto_campaign_run run = {.eps = "16", .seed = 3};
    size_t column[SOTTO_CAMPAIGN_COLUMNS_MAX], count = 0;
    struct sotto_campaign_number line;
    struct sotto_campaign *campaign = NULL;
    struct sotto_campaign_outcome near, far;
    (void)state;
    assert_int_equal(sotto_campaign_rank_columns(table, "close", NULL, 0, 1,
                                                 column, NULL, &count, &err),
                     SOTTO_STATUS_OK);
    assert_true(count >= 1);
    assert_string_equal(sotto_table_name(table, column[0]), "label");
    assert_int_equal(sotto_campaign_fit_clean_number(table, &options, table,
                                                     table, &line, &err),
                     SOTTO_STATUS_OK);
    assert_true(line.rows == ROWS && fabs(line.r2 - 0.74) < 0.04);
    assert_true(
        fabs(1 -
             line.rmse * line.rmse / (line.rmse_constant * line.rmse_constant) -
             line.r2) < 1e-9);
    assert_int_equal(sotto_campaign_new(table, &options, &campaign, &err),
                     SOTTO_STATUS_OK);
    near = simulate(campaign, &run);
    run.eps = "0.05";
    far = simulate(campaign, &run);
    assert_int_equal(near.score.rows, 0);
    assert_true(near.number.r2 > 0.6 && near.number.r2 < line.r2 + 1e-6);
    assert_true(near.number.r2_error > 0 && near.number.r2_error < 0.1);
    assert_true(far.number.r2 < near.number.r2 - 0.3);
    run.lying = 0.5;
    run.lie = SOTTO_CAMPAIGN_LIE_SWAP;
    assert_int_equal(sotto_campaign_simulate(campaign, table, table, &run, &far,
                                             NULL, NULL, &err),
                     SOTTO_STATUS_USAGE);
    sotto_campaign_free(campaign);
}

/* ---- Codebooks --------------------------------------------------------------
 */

/* The encoder is trained once, and serves another epsilon. */
static void
test_codebook(void **state)
{
    const struct sotto_setting set[] = {{"candidates", "pca:d=2"}};
    const struct sotto_campaign_options options = {.kind = "codebook",
                                                   .label = "label",
                                                   .drop = left_out,
                                                   .drops = 2,
                                                   .set = set,
                                                   .sets = 1,
                                                   .threads = 1};
    struct sotto_campaign *campaign = NULL;
    struct sotto_campaign_run run = {.eps = "8", .people = 400};
    struct sotto_campaign_outcome outcome;
    (void)state;
    assert_int_equal(sotto_campaign_new(table, &options, &campaign, &err),
                     SOTTO_STATUS_OK);
    outcome = simulate(campaign, &run);
    assert_true(outcome.score.accuracy > 0.8);
    assert_true(outcome.k >= 2);
    assert_string_equal(outcome.channel, "subset");
    run.eps = "1";
    outcome = simulate(campaign, &run);
    assert_int_equal(outcome.books, 3);
    sotto_campaign_free(campaign);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns),     cmocka_unit_test(test_hands_out),
        cmocka_unit_test(test_answers),    cmocka_unit_test(test_lies),
        cmocka_unit_test(test_liars_harm), cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_columns),    cmocka_unit_test(test_clean),
        cmocka_unit_test(test_number),     cmocka_unit_test(test_codebook),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
