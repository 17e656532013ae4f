/*
 * sotto/simulating.h: whole campaigns, simulated on tables in memory: a
 * mechanism from auxiliary records, reports of people, a model learnt from
 * them, and how it does on test records.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one. Nothing here is private, and nothing is written: it shows what a
 * campaign would come to.
 */
#ifndef SOTTO_SIMULATING_H
#define SOTTO_SIMULATING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"
#include "sotto/fitting.h"
#include "sotto/mechanisms.h"
#include "sotto/tables.h"
#include "sotto/training.h"
#include "sotto/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- A campaign ---------------------------------------------------------- */

/*
 * A kind of mechanism with its auxiliary records. What does not depend on
 * epsilon (the encoder of a codebook, its cells) is made when it is first
 * needed, and serves every run.
 *
 *     struct sotto_campaign_options options = {
 *         .kind = "codebook", .label = "status", .seed = 1};
 *     sotto_campaign_new(aux, &options, &campaign, &err);
 *     struct sotto_campaign_run run = {.eps = "2", .people = 5000, .seed = 1};
 *     sotto_campaign_simulate(campaign, people, test, &run, &outcome, &err);
 *     sotto_campaign_free(campaign);
 */
struct sotto_campaign;

struct sotto_campaign_options {
    const char *kind;        /* as sotto_train has it: "codebook", "direct" or
                                any that takes a label */
    const char *label;       /* the label's column, which must hold categories
                                in every table, or numbers in every one */
    const char *const *drop; /* columns to leave out */
    size_t drops;
    const struct sotto_schema *schema; /* what the columns are, as sotto_train
                                          takes it; NULL: none */
    const struct sotto_setting *set;   /* of the kind, but for "people" and
                                          "seed", which are set here */
    size_t sets;
    const struct sotto_setting *fit; /* of the learner, but for "seed" */
    size_t fits;
    uint64_t seed;    /* of the encoder and its cells */
    unsigned threads; /* 0: all cores; results do not depend on it */
    struct sotto_watch watch;
};

/* The table and the options' texts must outlive the campaign. Trains nothing
   yet. Statuses: USAGE, BUDGET, FORMAT, INPUT (no such label, or it does not
   hold categories), MEMORY. */
SOTTO_CHECKED enum sotto_status sotto_campaign_new(
    const struct sotto_table *aux, const struct sotto_campaign_options *options,
    struct sotto_campaign **ret_campaign, struct sotto_error *err);
void sotto_campaign_free(struct sotto_campaign *campaign);

/* How somebody who does not tell the truth reports. A report is made of the
   lie by the mechanism itself: the device's noise cannot be left out. Whoever
   writes reports by hand does more harm than this. */
enum sotto_campaign_lie {
    SOTTO_CAMPAIGN_LIE_RANDOM = 0, /* somebody else's record, with the label of
                                      yet another */
    SOTTO_CAMPAIGN_LIE_SWAP = 1    /* the own record, with the next class's
                                      label: all liars agree on what to say */
};

/* One collection. */
struct sotto_campaign_run {
    const char *eps; /* per report, decimal text */
    size_t people;   /* who are asked: drawn from the table of people by lot,
                        without replacement as long as it has enough; 0: all of
                        it */
    double silent;   /* the share of those asked who do not answer, by lot */
    double lying;    /* the share of those who answer and lie, by lot */
    enum sotto_campaign_lie lie;
    uint64_t seed; /* of who is asked, of the noise and of the fit */
};

/* How a model does on test records, in short: sotto_model_evaluate has all of
   it. */
struct sotto_campaign_score {
    size_t rows; /* whose label is one of the model's classes */
    double accuracy;
    double share;      /* of the largest class: the best constant's accuracy */
    double gain_error; /* standard error of accuracy less share: of the test
                          rows alone */
    double balanced, auc; /* as struct sotto_scores has them */
    double auc_error;     /* likewise */
    double log_p;         /* mean log-probability of the true class */
    size_t named;         /* classes that the model gives to anybody */
};

/* The same of a model that tells a number: sotto_model_evaluate_number has all
   of it. */
struct sotto_campaign_number {
    size_t rows;      /* with a number for the label; 0: it is no number */
    double r2;        /* 1 less the squared errors' sum over that of the best
                         constant, which is the mean of these rows */
    double r2_error;  /* its standard error: of the test rows alone */
    double rmse, mae; /* root mean squared and mean absolute error */
    double mean, rmse_constant; /* the best constant, and its error */
};

struct sotto_campaign_outcome {
    struct sotto_campaign_score score;   /* of classes */
    struct sotto_campaign_number number; /* or of a number */
    size_t asked, reports;
    size_t k, books;                     /* of a codebook; else 0 */
    char channel[16];                    /* of its codes; else "" */
    double right, right_low, right_high; /* the forecast of the fit itself, from
                                            reports alone: as sotto_fit_info
                                            has them; 0: none is told */
    double seconds;                      /* of the fit, report and test */
};

/*
 * Simulates a collection: makes the mechanism for run->eps and as many people
 * as are asked, reports of (run->seed, row), a model from them, and tests it.
 * The same campaign, tables and run give the same outcome, whatever was
 * simulated before. The mechanism is the one that sotto_train makes from these
 * records, with the campaign's seed; a codebook's encoder is the one that it
 * trains for an epsilon of 2 and as many people as auxiliary records.
 * `ret_model` and `ret_mechanism` may be NULL; the caller frees both. Statuses:
 * those of sotto_train and sotto_fit; USAGE (a share that is none; nobody
 * answers; liars who agree on the next class, of a number).
 */
SOTTO_CHECKED enum sotto_status sotto_campaign_simulate(
    struct sotto_campaign *campaign, const struct sotto_table *people,
    const struct sotto_table *test, const struct sotto_campaign_run *run,
    struct sotto_campaign_outcome *ret_outcome, struct sotto_model **ret_model,
    struct sotto_mechanism **ret_mechanism, struct sotto_error *err);

/* Scores a model on clean records with labels. Statuses: as
   sotto_model_evaluate. */
SOTTO_CHECKED enum sotto_status
sotto_campaign_score(struct sotto_model *model, const struct sotto_table *test,
                     struct sotto_campaign_score *ret_score,
                     struct sotto_error *err);

/* The same of a model that tells a number. Statuses: as
   sotto_model_evaluate_number. */
SOTTO_CHECKED enum sotto_status sotto_campaign_score_number(
    struct sotto_model *model, const struct sotto_table *test,
    struct sotto_campaign_number *ret_number, struct sotto_error *err);

/* ---- Without privacy ----------------------------------------------------- */

/* What a fit to clean records is like. */
enum sotto_campaign_clean {
    SOTTO_CAMPAIGN_LINEAR = 0, /* logistic regression */
    SOTTO_CAMPAIGN_NETWORK = 1 /* a network with one hidden layer of 50 */
};
/* Fits to `records`, with labels, and tests: what privacy costs is measured
   against it. All columns of `aux` but those dropped are used, scaled as it
   says. Of the options label, drop, seed, threads and watch count. Statuses:
   those of sotto_train and sotto_fit_clean. */
SOTTO_CHECKED enum sotto_status sotto_campaign_fit_clean(
    const struct sotto_table *aux, const struct sotto_campaign_options *options,
    enum sotto_campaign_clean how, const struct sotto_table *records,
    const struct sotto_table *test, struct sotto_campaign_score *ret_score,
    struct sotto_error *err);

/* The same of a number as the label: a line through the clean records, by the
   learner of `direct`. Statuses: those of sotto_train and sotto_fit_clean. */
SOTTO_CHECKED enum sotto_status sotto_campaign_fit_clean_number(
    const struct sotto_table *aux, const struct sotto_campaign_options *options,
    const struct sotto_table *records, const struct sotto_table *test,
    struct sotto_campaign_number *ret_number, struct sotto_error *err);

/* ---- Which kinds --------------------------------------------------------- */

#define SOTTO_CAMPAIGN_COLUMNS_MAX 8u

/* Ranks columns by what each tells of the label by itself, in the auxiliary
   records alone: out-of-sample gain in log-probability over the classes'
   shares, in nats a record; a number is cut into eighths. Columns that tell
   nothing are not on the list.
   `ret_columns` are indices in the table, best first; `ret_gain` may be NULL.
   Statuses: INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status sotto_campaign_rank_columns(
    const struct sotto_table *aux, const char *label, const char *const *drop,
    size_t drops, uint64_t seed, size_t ret_columns[SOTTO_CAMPAIGN_COLUMNS_MAX],
    double ret_gain[SOTTO_CAMPAIGN_COLUMNS_MAX], size_t *ret_count,
    struct sotto_error *err);

#ifdef __cplusplus
}
#endif

#endif
