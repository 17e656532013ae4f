/*
 * sotto/planning.h: what a campaign will come to, before anybody is asked: the
 * error of shares and means by formula, the accuracy of a model by simulated
 * campaigns (docs/plan.md).
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one. Nothing here costs privacy, and nothing is written.
 */
#ifndef SOTTO_PLANNING_H
#define SOTTO_PLANNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"
#include "sotto/mechanisms.h"
#include "sotto/simulating.h"
#include "sotto/tables.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Shares and means, by formula ---------------------------------------- */

/*
 * The questions that a mechanism's reports answer without a model: the mean of
 * each number (of those who have one, where reports tell who has none, and then
 * the share that has none), the shares of each category, the label's shares of
 * a codebook.
 *
 *     sotto_precision_new(mechanism, NULL, &precision, &err);
 *     struct sotto_precision_case when = {.people = 5000, .z = 1.96};
 *     sotto_precision_row(precision, 0, &when, &row);
 */
struct sotto_precision;

/* `table`, unless NULL, says which shares and spreads to expect: columns are
   found by name, and one that is not there is taken at its worst. The mechanism
   must outlive it. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status sotto_precision_new(
    const struct sotto_mechanism *mechanism, const struct sotto_table *table,
    struct sotto_precision **ret_precision, struct sotto_error *err);
void sotto_precision_free(struct sotto_precision *precision);
/* Questions, and estimates in all: a category's question has one a symbol. */
size_t sotto_precision_rows(const struct sotto_precision *precision);
size_t sotto_precision_estimates(const struct sotto_precision *precision);

struct sotto_precision_case {
    double people; /* who report */
    double z;      /* of the intervals: 1.96 for 95% */
    double liars;  /* the share of people who lie, 0 to 1 */
};

/* What to expect of a question: of its widest estimate, where there are
   several. In the column's units for a mean. */
struct sotto_precision_row {
    const char *name;  /* the column's; the mechanism's own */
    size_t categories; /* symbols, "(other)" included; 0: a mean */
    bool missing;      /* of 0 categories: the question is not a mean, but the
                          share that has no value */
    double low, high;  /* the range of a mean; 0 to 1 for shares */
    double absent;     /* of a mean of those who have a value: the share that
                          has none, in the table; 0 where it is not known */
    bool known;        /* the table says which share or spread to expect;
                          else it is the worst there is */
    double value;      /* the share that is assumed; of a mean the spread */
    double deviation;  /* standard error, noise and sample; INFINITY: the
                          channel does not tell it */
    double half;       /* half the width of the interval that decode prints */
    double lied;       /* the most that false answers on honest devices move
                          the estimate */
    double forged;     /* the most that forged reports move it */
};
void sotto_precision_row(const struct sotto_precision *precision, size_t i,
                         const struct sotto_precision_case *when,
                         struct sotto_precision_row *ret_row);

/* The fewest people with whom half the width is at most `half`; INFINITY: no
   number is enough (rounding or the channel stands in the way). */
double sotto_precision_people(const struct sotto_precision *precision, size_t i,
                              double z, double half);

/*
 * Compares the formula with `draws` simulated collections of `people` drawn
 * from the table: sets the root of the mean square of (estimate - the table's
 * own value) / standard error, over all estimates of questions about one
 * column whose shares or spreads the table says: 1 if the formula is right.
 * 0: there is no such question. Statuses: INPUT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sotto_precision_simulate(
    const struct sotto_precision *precision, struct sotto_mechanism *mechanism,
    const struct sotto_table *table, size_t people, size_t draws, uint64_t seed,
    double *ret_ratio, struct sotto_error *err);

/* ---- Accuracy, by simulated campaigns ------------------------------------ */

/*
 * Campaigns on auxiliary records, some of which have a label. The mechanism is
 * made from all of them, as it will be; no kind looks at labels for that. Each
 * campaign splits those that have a label into people, who are drawn from their
 * part (again and again where it has too few), and test records.
 *
 *     struct sotto_campaign_options options = {
 *         .kind = "codebook", .label = "status", .seed = 1};
 *     sotto_outlook_new(aux, &options, 8, &outlook, &err);
 *     struct sotto_campaign_run run = {.eps = "2", .people = 5000, .seed = 1};
 *     sotto_outlook_simulate(outlook, &run, 0.9, &point, &err);
 */
struct sotto_outlook;

/* `campaigns` are simulated at every point, 2 to 1,000. The table and the
   options' texts must outlive it. Statuses: those of sotto_campaign_new; INPUT
   (fewer than 20 records have a label, or all have the same). */
SOTTO_CHECKED enum sotto_status
sotto_outlook_new(const struct sotto_table *aux,
                  const struct sotto_campaign_options *options,
                  size_t campaigns, struct sotto_outlook **ret_outlook,
                  struct sotto_error *err);
void sotto_outlook_free(struct sotto_outlook *outlook);
/* Auxiliary records that have a label; classes that they have; and the share
   of the largest. */
size_t sotto_outlook_labelled(const struct sotto_outlook *outlook);
size_t sotto_outlook_classes(const struct sotto_outlook *outlook);
double sotto_outlook_majority(const struct sotto_outlook *outlook);

#define SOTTO_OUTLOOK_WIDEST 0.20

/* What to expect of a campaign. */
struct sotto_outlook_point {
    double accuracy;    /* the mean of the simulated ones */
    double deviation;   /* their spread, between splits and draws */
    double least, most; /* the worst and the best of them */
    double low, high;   /* a campaign to come is between them as often as was
                           asked, on as many test records as were tested here */
    bool told;          /* they are at most SOTTO_OUTLOOK_WIDEST apart: else
                           campaigns differ too much for a forecast of use */
    double auc, auc_deviation; /* likewise; NAN: there is none */
    bool ranks; /* the AUC of one campaign is above 1/2 by more than two
                   standard errors: it tells who is likelier to have a class,
                   be it right more often than the largest class or not */
    size_t campaigns, asked, reports, tested;
    size_t k, books; /* of a codebook, in the last of them; else 0 */
    char channel[16];
};
/* Simulates the campaigns of one point; `run->seed` decides them all.
   Statuses: those of sotto_campaign_simulate. */
SOTTO_CHECKED enum sotto_status
sotto_outlook_simulate(struct sotto_outlook *outlook,
                       const struct sotto_campaign_run *run, double confidence,
                       struct sotto_outlook_point *ret_point,
                       struct sotto_error *err);

/* Simulated accuracies, and what they rest on. */
struct sotto_outlook_draws {
    const double *accuracy;
    size_t count;    /* of them, 2 at least */
    size_t tested;   /* records that each was tested on */
    size_t labelled; /* records that all were drawn from */
};
/* The shortest interval that one more campaign, tested on as many records, lies
   in with that confidence; outlook_interval.c has the formula. */
void sotto_outlook_interval(const struct sotto_outlook_draws *draws,
                            double confidence, double *ret_low,
                            double *ret_high);

/*
 * Replaces y, `rows` times `columns` numbers, row after row, by the nearest
 * ones, by least squares, that rise along every row and column. Statuses:
 * MEMORY.
 */
SOTTO_CHECKED enum sotto_status sotto_outlook_smooth(double *y, size_t rows,
                                                     size_t columns,
                                                     struct sotto_error *err);
/* Where a line through n points, both coordinates rising, reaches y, straight
   in log x between them: x[0] if it is there already, INFINITY if it does not
   get there. */
double sotto_outlook_reach(const double *x, const double *y, size_t n,
                           double wanted);

#ifdef __cplusplus
}
#endif

#endif
