/*
 * outlook.c: the accuracy to expect of a campaign, from simulated ones.
 *
 * The mechanism is made from all auxiliary records, as the real one will be: no
 * kind looks at their labels for it. So one encoder serves all splits, and has
 * seen the test records without their labels; the real test records it will
 * not have seen (docs/plan.md says what that is worth).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/campaign.h"
#include "host/error.h"
#include "sotto/planning.h"

#define PEOPLE_SHARE 0.6 /* of the labelled records; the others test */
#define LABELLED_LEAST 20u
#define ERRORS 2.0 /* standard errors that a verdict takes */

struct sotto_outlook {
    struct sotto_campaign *campaign;
    struct sotto_table *labelled; /* the rows that have a label */
    size_t column;                /* its place */
    size_t campaigns;
    size_t classes;
    double majority;
    uint64_t seed;
};

/* ---- Records with a label ------------------------------------------------ */

static enum sotto_status
select_labelled(const struct sotto_table *aux, size_t column,
                struct sotto_outlook *outlook, struct sotto_error *err)
{
    size_t rows = sotto_table_rows(aux), count = 0;
    size_t *row = calloc(rows + 1, sizeof *row);
    enum sotto_status status;
    if (row == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < rows; i++) {
        if (sotto_table_cell(aux, i, column).kind != SOTTO_VALUE_MISSING) {
            row[count++] = i;
        }
    }
    status = count >= LABELLED_LEAST
                 ? sotto_table_select(aux, row, count, &outlook->labelled, err)
                 : host_fail(err, SOTTO_STATUS_INPUT, count,
                             "%zu of %zu auxiliary records have a label in "
                             "\"%.80s\": simulated campaigns need at least %u",
                             count, rows, sotto_table_name(aux, column),
                             LABELLED_LEAST);
    free(row);
    return status;
}

struct text {
    const void *data;
    size_t size;
};

static int
compare_texts(const void *a, const void *b)
{
    const struct text *left = a, *right = b;
    size_t size = left->size < right->size ? left->size : right->size;
    int order = size > 0 ? memcmp(left->data, right->data, size) : 0;
    return order != 0 ? order
                      : (left->size > right->size) - (left->size < right->size);
}

static enum sotto_status
count_classes(struct sotto_outlook *outlook, struct sotto_error *err)
{
    size_t rows = sotto_table_rows(outlook->labelled), run = 0, most = 0;
    struct text *text = calloc(rows, sizeof *text);
    if (text == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < rows; i++) {
        struct sotto_value value =
            sotto_table_cell(outlook->labelled, i, outlook->column);
        text[i] = (struct text){value.data, value.size};
    }
    qsort(text, rows, sizeof *text, compare_texts);
    for (size_t i = 0; i < rows; i++) {
        bool same = i > 0 && compare_texts(&text[i - 1], &text[i]) == 0;
        run = same ? run + 1 : 1;
        most = run > most ? run : most;
        outlook->classes += same ? 0 : 1;
    }
    outlook->majority = (double)most / (double)rows;
    free(text);
    return outlook->classes > 1
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "all auxiliary records have the same label: there "
                           "is nothing to learn from them");
}

enum sotto_status
sotto_outlook_new(const struct sotto_table *aux,
                  const struct sotto_campaign_options *options,
                  size_t campaigns, struct sotto_outlook **ret_outlook,
                  struct sotto_error *err)
{
    struct sotto_outlook *outlook = calloc(1, sizeof *outlook);
    enum sotto_status status;
    if (outlook == NULL) {
        return host_fail_memory(err);
    }
    outlook->campaigns = campaigns;
    outlook->seed = options->seed;
    status = campaigns >= 2 && campaigns <= 1000
                 ? sotto_campaign_new(aux, options, &outlook->campaign, err)
                 : host_fail(err, SOTTO_STATUS_USAGE, 0,
                             "simulated campaigns are 2 to 1,000");
    if (status == SOTTO_STATUS_OK) {
        outlook->column = sotto_table_find(aux, options->label);
        status = campaign_classes(aux, outlook->column, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = select_labelled(aux, outlook->column, outlook, err);
    }
    status = HOST_THEN(status, count_classes(outlook, err));
    if (status != SOTTO_STATUS_OK) {
        sotto_outlook_free(outlook);
        return status;
    }
    *ret_outlook = outlook;
    return status;
}

void
sotto_outlook_free(struct sotto_outlook *outlook)
{
    if (outlook != NULL) {
        sotto_campaign_free(outlook->campaign);
        sotto_table_free(outlook->labelled);
    }
    free(outlook);
}

size_t
sotto_outlook_labelled(const struct sotto_outlook *outlook)
{
    return sotto_table_rows(outlook->labelled);
}

size_t
sotto_outlook_classes(const struct sotto_outlook *outlook)
{
    return outlook->classes;
}

double
sotto_outlook_majority(const struct sotto_outlook *outlook)
{
    return outlook->majority;
}

/* ---- Campaigns ----------------------------------------------------------- */

/* Splits the labelled records in a way of its own, by class. */
static enum sotto_status
split(const struct sotto_outlook *outlook, uint64_t seed,
      struct sotto_table **ret_people, struct sotto_table **ret_test,
      struct sotto_error *err)
{
    static const double share[] = {PEOPLE_SHARE, 1 - PEOPLE_SHARE};
    const struct sotto_table *table = outlook->labelled;
    size_t sizes[2], *row = calloc(sotto_table_rows(table), sizeof *row);
    enum sotto_status status;
    if (row == NULL) {
        return host_fail_memory(err);
    }
    status = sotto_split_classes(table, outlook->column, share, 2, seed, row,
                                 sizes, err);
    status = HOST_THEN(
        status, sotto_table_select(table, row, sizes[0], ret_people, err));
    status = HOST_THEN(status, sotto_table_select(table, row + sizes[0],
                                                  sizes[1], ret_test, err));
    free(row);
    return status;
}

static enum sotto_status
simulate_one(struct sotto_outlook *outlook,
             const struct sotto_campaign_run *wanted, size_t number,
             struct sotto_campaign_outcome *ret_outcome,
             struct sotto_error *err)
{
    struct sotto_table *people = NULL, *test = NULL;
    struct sotto_campaign_run run = *wanted;
    enum sotto_status status;
    run.seed = wanted->seed * UINT64_C(0x9e3779b97f4a7c15) + number + 1;
    status = split(outlook, run.seed, &people, &test, err);
    status = HOST_THEN(
        status, sotto_campaign_simulate(outlook->campaign, people, test, &run,
                                        ret_outcome, NULL, NULL, err));
    sotto_table_free(people);
    sotto_table_free(test);
    return status;
}

/* Mean and deviation, one more value at a time (Welford 1962). */
static void
add_value(double value, size_t n, double *mean, double *squares)
{
    double off = value - *mean;
    *mean += off / (double)n;
    *squares += off * (value - *mean);
}

/* Adds campaign `number`; deviations hold sums of squares until the end. */
static void
add_outcome(struct sotto_outlook_point *point, size_t number,
            const struct sotto_campaign_outcome *outcome)
{
    double accuracy = outcome->score.accuracy;
    add_value(accuracy, number + 1, &point->accuracy, &point->deviation);
    add_value(outcome->score.auc, number + 1, &point->auc,
              &point->auc_deviation);
    point->least = number == 0 ? accuracy : fmin(point->least, accuracy);
    point->most = number == 0 ? accuracy : fmax(point->most, accuracy);
    point->asked = outcome->asked;
    point->reports = outcome->reports;
    point->tested = outcome->score.rows;
    point->k = outcome->k;
    point->books = outcome->books;
    memcpy(point->channel, outcome->channel, sizeof point->channel);
}

static void
end_point(const struct sotto_outlook *outlook, const double *accuracy,
          double confidence, struct sotto_outlook_point *point)
{
    const struct sotto_outlook_draws draws = {
        .accuracy = accuracy,
        .count = point->campaigns,
        .tested = point->tested,
        .labelled = sotto_outlook_labelled(outlook)};
    double others = (double)(point->campaigns - 1);
    point->deviation = sqrt(point->deviation / others);
    point->auc_deviation = sqrt(point->auc_deviation / others);
    sotto_outlook_interval(&draws, confidence, &point->low, &point->high);
    point->told = point->high - point->low <= SOTTO_OUTLOOK_WIDEST;
}

/* Whether one more campaign, seen from the mean of these, will tell who is
   likelier to have a class: by the rule of try_mean.c. False where an AUC is
   NAN. */
static bool
is_ranking(const struct sotto_outlook_point *point, double auc_error)
{
    double once = point->auc_deviation * sqrt(1 + 1 / (double)point->campaigns);
    return point->auc > 0.5 + ERRORS * hypot(auc_error, once);
}

enum sotto_status
sotto_outlook_simulate(struct sotto_outlook *outlook,
                       const struct sotto_campaign_run *run, double confidence,
                       struct sotto_outlook_point *ret_point,
                       struct sotto_error *err)
{
    struct sotto_outlook_point point = {.campaigns = outlook->campaigns};
    double auc_error = 0; /* of the test records, mean */
    double *accuracy = calloc(point.campaigns, sizeof *accuracy);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (accuracy == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < point.campaigns; i++) {
        struct sotto_campaign_outcome outcome;
        status = simulate_one(outlook, run, i, &outcome, err);
        if (status == SOTTO_STATUS_OK) {
            accuracy[i] = outcome.score.accuracy;
            auc_error += outcome.score.auc_error / (double)point.campaigns;
            add_outcome(&point, i, &outcome);
        }
    }
    if (status == SOTTO_STATUS_OK) {
        end_point(outlook, accuracy, confidence, &point);
        point.ranks = is_ranking(&point, auc_error);
        *ret_point = point;
    }
    free(accuracy);
    return status;
}
