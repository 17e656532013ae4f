/*
 * sotto/fitting.h: learning from reports: fitting classifiers, predicting,
 * choosing and evaluating.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one.
 */
#ifndef SOTTO_FITTING_H
#define SOTTO_FITTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"
#include "sotto/reports.h"
#include "sotto/scores.h"
#include "sotto/training.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a learner's setting "objective", and of "level". */
enum sotto_objective {
    SOTTO_OBJECTIVE_MARGINAL = 0, /* P0 Eq. 11: over record and label noise */
    SOTTO_OBJECTIVE_LABEL = 1,    /* P0 Eq. 12: over label noise only */
    SOTTO_OBJECTIVE_PLAIN = 2     /* as if reports were the truth */
};
enum sotto_level {
    SOTTO_LEVEL_LATENT = 0, /* the classifier sees representations */
    SOTTO_LEVEL_FEATURE = 1 /* it sees records, or what reports decode to */
};

struct sotto_fit_options {
    const char *learner; /* by name; NULL: the first that takes the mechanism,
                            "codes" for a codebook's and "lattice" otherwise */
    const struct sotto_setting *set; /* what the learner has settings for; those
                                        not here stand at their defaults */
    size_t sets;
    unsigned threads; /* 0: all cores; the result does not depend on it */
    struct sotto_watch watch;
};

/* What there is to choose from, for programs that ask. */
struct sotto_fit_learner {
    const char *name;
    const char *about; /* a few lines */
};
/* Sets the i-th learner; false: there are fewer. */
bool sotto_fit_learner_at(size_t i, struct sotto_fit_learner *ret_learner);
/* Sets the i-th setting of a learner; false: there are fewer, or no such
   learner. */
bool sotto_fit_setting_at(const char *learner, size_t i,
                          struct sotto_setting_info *ret_setting);
/* Checks what can be checked without reports: that there is a learner for the
   mechanism, and its settings. Statuses: USAGE, INPUT. */
SOTTO_CHECKED enum sotto_status
sotto_fit_check(const struct sotto_mechanism *mechanism,
                const struct sotto_fit_options *options,
                struct sotto_error *err);

struct sotto_fit_info {
    size_t reports;    /* learnt from, validation included */
    size_t points;     /* of the prior */
    double kept;       /* mean share of prior points kept for a report */
    double truncated;  /* the most posterior mass that was cut from one */
    double log_p;      /* mean log-likelihood of the training reports */
    double validation; /* of the validation reports */
    uint64_t epochs;
    double memory; /* bytes of posterior weights */
    double gap;    /* codebooks whose labels were learnt by leaves: how far the
                      likelihood is from its second order, in nats; above 1 the
                      answer is rough (docs/codebook.md); 0 otherwise */
    double right;  /* likewise: the share of people, of those with one of the
                      classes, for whom the model should be right, from the
                      reports (docs/codebook.md says how far to trust it). 0
                      otherwise, where the gap is above 1, where reports are too
                      few to be asked, and where high and low are more than 0.20
                      apart */
    double right_low, right_high; /* between them five times in six, on
                                     tables that were not used before */
    uint64_t last; /* epochs of a last fit, on the auxiliary records; 0: none */
    double explained; /* of a label that is a number: the share of its variance
                         that the record explains, as the reports have it; 0
                         otherwise */
    double known;  /* likewise, by a regression: how many of the model's terms
                      the reports determine; below 0.5 next to nothing; 0
                      where none was computed */
    double labels; /* as many labels in the clear would tell as much of how
                      frequent classes are: the most that the reports can teach
                      of them. 0: not known (clean records; no classes) */
    double within; /* likewise: a class's frequency is known to within so much,
                      in 19 of 20 cases; from 0.5 on nothing can be learnt */
    double reports_needed; /* likewise: for SOTTO_FIT_WITHIN */
};
/* A frequency that is known no better than that is little to learn from. */
#define SOTTO_FIT_WITHIN 0.1

/* A classifier, with the mechanism whose records it takes. */
struct sotto_model;

/*
 * Learns from the reports in `reader`. The prior comes from `aux`, a table of
 * auxiliary records, if it is not NULL, else from `analyst`; MARGINAL needs one
 * of them, a feature level needs `aux` for MARGINAL and `analyst` otherwise.
 * The mechanism must have a label part of symbols. Statuses: USAGE, INPUT,
 * MEMORY, STOPPED.
 *
 * For a codebook's mechanism the objective is MARGINAL, the level LATENT, and
 * the network one; docs/codebook.md says what is done. Of the info `epochs` are
 * those on what is known of codes then. With `aux` of images, and reports that
 * tell enough, a network on the record itself is fitted last (setting "last").
 */
SOTTO_CHECKED enum sotto_status sotto_fit(
    struct sotto_mechanism *mechanism, const struct sotto_report_reader *reader,
    const struct sotto_analyst *analyst, const struct sotto_table *aux,
    const struct sotto_fit_options *options, struct sotto_model **ret_model,
    struct sotto_fit_info *ret_info, struct sotto_error *err);
/*
 * The same from a stream, of which nothing is read before all has been checked
 * that can be: a prior that is missing is told at once. A codebook's learner
 * keeps what reports say, each once, with how often it came
 * (docs/codebook.md); others keep the reports, in the order of what they say.
 * So the same reports give the same model, whatever batches they came in.
 */
SOTTO_CHECKED enum sotto_status sotto_fit_stream(
    struct sotto_mechanism *mechanism, struct sotto_report_stream *stream,
    const struct sotto_analyst *analyst, const struct sotto_table *aux,
    const struct sotto_fit_options *options, struct sotto_model **ret_model,
    struct sotto_fit_info *ret_info, struct sotto_error *err);
/* The same from clean records and labels: what privacy costs is measured
   against it. The model tells of these records, with no guarantee, and so do
   mechanisms that are made from it. */
SOTTO_CHECKED enum sotto_status sotto_fit_clean(
    struct sotto_mechanism *mechanism, const struct sotto_table *table,
    const struct sotto_fit_options *options, struct sotto_model **ret_model,
    struct sotto_fit_info *ret_info, struct sotto_error *err);

/*
 * The same from reports without a label, whose labels are known: they are in
 * the column of that name. A table with a column "id" has those of the reports
 * with these ids (32 hexadecimal digits, as sotto_report_json writes them), and
 * reports whose ids are not there are left out; without one, row i has the
 * label of report i. A label that is known is not private at all: the
 * classifier tells of it, and so may the model. Statuses: those of sotto_fit;
 * INPUT about "labels" (not as many labels as reports, no id of a report, an id
 * twice; in order although copies of reports were dropped); INPUT (the
 * mechanism has a label).
 */
SOTTO_CHECKED enum sotto_status sotto_fit_labelled(
    struct sotto_mechanism *mechanism, const struct sotto_report_reader *reader,
    const struct sotto_table *labels, const char *column,
    const struct sotto_analyst *analyst, const struct sotto_table *aux,
    const struct sotto_fit_options *options, struct sotto_model **ret_model,
    struct sotto_fit_info *ret_info, struct sotto_error *err);

/*
 * The same from reports about the label alone (a mechanism for the label only),
 * beside the records that they are about, in the clear: a network on the record
 * itself. `keys` has the columns "id", of the reports, and one that the records
 * have too; NULL: row i is report i's. `from`, unless NULL, is a mechanism
 * whose encoder it begins with. The records are not protected, and the model
 * tells of them. Statuses: those of sotto_fit; INPUT about "records" or "keys"
 * (no record for a report, or two reports for one); USAGE (another mechanism).
 */
SOTTO_CHECKED enum sotto_status sotto_fit_records(
    struct sotto_mechanism *mechanism, const struct sotto_report_reader *reader,
    const struct sotto_table *records, const struct sotto_table *keys,
    const struct sotto_mechanism *from, const struct sotto_fit_options *options,
    struct sotto_model **ret_model, struct sotto_fit_info *ret_info,
    struct sotto_error *err);

/* One safetensors file with all it needs. Statuses: IO, MEMORY; FORMAT. */
SOTTO_CHECKED enum sotto_status
sotto_model_write(const struct sotto_model *model, const char *path,
                  struct sotto_error *err);
SOTTO_CHECKED enum sotto_status sotto_model_read(const char *path,
                                                 struct sotto_model **ret_model,
                                                 struct sotto_error *err);
void sotto_model_free(struct sotto_model *model);
size_t sotto_model_classes(const struct sotto_model *model);
/* A class's text: the mechanism's own. */
const char *sotto_model_class(const struct sotto_model *model, size_t i);
/*
 * The probability, given the reports it was learnt from, that what the model
 * calls class y should be called `other`: where reports say little, two classes
 * may have each other's place. NAN: its learner does not say.
 */
double sotto_model_exchanged(const struct sotto_model *model, size_t y,
                             size_t other);
/* The mechanism it holds. */
struct sotto_mechanism *sotto_model_mechanism(const struct sotto_model *model);

/* Probabilities of each class for every row of clean records. `ret_p` has room
   for rows * classes. Statuses: INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_model_predict(struct sotto_model *model, const struct sotto_table *table,
                    double *ret_p, struct sotto_error *err);
/*
 * The same for privatised records: n reports one after another, the label part
 * of each ignored. With MARGINAL the posterior over the prior is averaged over,
 * p(y | report) = sum_m p(m | report) p(y | q_m); with the others the report's
 * estimate is classified. With a codebook it is sum_c p(c | report) p(y | c)
 * over codes, always.
 */
SOTTO_CHECKED enum sotto_status
sotto_model_predict_private(struct sotto_model *model, const uint8_t *reports,
                            size_t n, double *ret_p, struct sotto_error *err);

/*
 * The same for reports of another mechanism, with the same encoder and codebook
 * at any budget: about the code alone, say; or about the class, if the model
 * made it (sotto_model_mechanism_class). Of a model that learnt from labels in
 * the clear, the mechanism that it learnt from. NULL: the model's own.
 * Statuses: INPUT (another encoder or codebook; no codebook at all, unless it
 * is the model's own mechanism; reports of another mechanism), MEMORY.
 */
SOTTO_CHECKED enum sotto_status sotto_model_predict_private_with(
    struct sotto_model *model, const struct sotto_mechanism *mechanism,
    const uint8_t *reports, size_t n, double *ret_p, struct sotto_error *err);

/*
 * Mechanisms for private inference, made from the model of a codebook and
 * written to `path`: a report is about the record alone, with all of `eps`
 * (decimal text), and is to be classified by sotto_model_predict_private_with.
 *
 *     code    which of the k codes, by flip or subset: encoder and codebook are
 *             known before anything is learnt. `channel` NULL: the one that the
 *             model expects more of at `eps`
 *     class   which class the network gives, by flip: the network goes to the
 *             device
 *
 * They count in the campaign of the model's mechanism, and expire when it does
 * (sotto_mechanism_expire gives them another end). `ret_mechanism` may be NULL;
 * the caller frees it. Statuses: USAGE (no codebook), FORMAT, BUDGET,
 * LIMIT, IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_model_mechanism_code(const struct sotto_model *model, const char *eps,
                           const char *channel, const char *path,
                           struct sotto_mechanism **ret_mechanism,
                           struct sotto_error *err);
SOTTO_CHECKED enum sotto_status sotto_model_mechanism_class(
    const struct sotto_model *model, const char *eps, const char *path,
    struct sotto_mechanism **ret_mechanism, struct sotto_error *err);

/*
 * The share of records to which sotto_model_predict_private_with would give
 * their class as the likeliest, from reports of `mechanism` (one of these two):
 * what the model expects, taken at its word. No record is looked at. It is too
 * little where what was learnt from is little, so that tau is near the classes'
 * shares, and too much of a network that is too sure of itself. Simulated, to
 * 0.01 or so, or exact. Statuses:
 * INPUT (no such mechanism, or one whose reports have the label in them),
 * MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_model_expect(const struct sotto_model *model,
                   const struct sotto_mechanism *mechanism,
                   double *ret_accuracy, struct sotto_error *err);

/*
 * Private inference with another number of codes than was learnt from, of the
 * same encoder: `codebook` has its auxiliary records and no label. Of `count`
 * (ascending; NULL: 1 to 10 times the classes) that number is taken of which
 * the model expects most through k-ary response at `eps`. Makes the mechanism
 * that sends the code, writes it to `path` unless that is NULL, and makes a
 * model that takes its reports; the caller frees both. Statuses: USAGE (no
 * codebook's model), INPUT (the codebook has a label or other representations,
 * or fewer cells than the least number), FORMAT, BUDGET, LIMIT, IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_model_cut(struct sotto_model *model, struct sotto_codebook *codebook,
                const size_t *count, size_t counts, const char *eps,
                const char *path, struct sotto_mechanism **ret_mechanism,
                struct sotto_model **ret_model, struct sotto_error *err);

/*
 * A question about the model: "is network `network` (from 0) right about you?"
 * The device runs the network on the record, and reports whether its class is
 * the label, through flip on {no, yes} at `eps` (decimal text). Neighbours are
 * any two records with their labels: a report is eps-differentially private in
 * both together, by randomised response. It counts in the campaign of the
 * model's mechanism, and expires when that does. `label` is what devices call
 * the label's column; NULL: as the model's mechanism does. What a device leaves
 * out is rounding to the lattice. `path` and `ret_mechanism` may be NULL.
 * Statuses: USAGE (no such network; a model whose classes are not one column's,
 * or whose input is nothing that a device's layers can compute), FORMAT,
 * BUDGET, LIMIT, IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sotto_model_mechanism_right(
    const struct sotto_model *model, size_t network, const char *label,
    const char *eps, const char *path, struct sotto_mechanism **ret_mechanism,
    struct sotto_error *err);

/* What the answers say. */
struct sotto_right {
    size_t reports, simulated;
    size_t yes;       /* of them */
    double share;     /* of people about whom the model is right: unbiased, so
                         it may lie beyond 0 and 1 */
    double error;     /* its standard error, noise and sample together */
    double low, high; /* an exact interval of Clopper and Pearson, within 0 and
                         1: for the people of whom these are a sample */
};
/* Reads the share off reports of such a mechanism. The interval covers the true
   share with at least the probability that a normal lies within z standard
   errors, however few reports there are. Costs no privacy. Statuses: INPUT
   (another mechanism; no reports; simulated and other reports together). */
SOTTO_CHECKED enum sotto_status
sotto_right_estimate(const struct sotto_mechanism *mechanism,
                     const struct sotto_report_reader *reader, double z,
                     struct sotto_right *ret_right, struct sotto_error *err);
/*
 * The same of answers that are simulated, for planning: a curator's table has
 * the records and labels in the clear. `people` 0: every row answers once; else
 * so many, drawn from the rows by lot, with replacement. `seed` decides lot and
 * noise. `ret_clean`, unless NULL, is the share of rows about which the model
 * is right. Statuses: INPUT (another mechanism; no row), MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_right_simulate(struct sotto_mechanism *mechanism,
                     const struct sotto_table *table, size_t people,
                     uint64_t seed, double z, struct sotto_right *ret_right,
                     double *ret_clean, struct sotto_error *err);
/* Returns which of n > 0 has the largest share, the first of equals. What the
   winner's answers say of it is too much: it won (docs/learning.md). */
size_t sotto_right_best(const struct sotto_right *right, size_t n);
/* Keeps that network of the model which the mechanism asks about, and drops the
   others. On failure the model is as it was. `ret_network` may be NULL.
   Statuses: INPUT (it asks about none of them), USAGE (a MARGINAL model of
   records), MEMORY, LIMIT, IO. */
SOTTO_CHECKED enum sotto_status
sotto_model_keep_right(struct sotto_model *model,
                       const struct sotto_mechanism *mechanism,
                       size_t *ret_network, struct sotto_error *err);

/* Networks in it: those that restarts made. */
size_t sotto_model_networks(const struct sotto_model *model);

/* What choosing found. */
struct sotto_choice {
    size_t network;  /* the one that is kept */
    size_t people;   /* who were asked, one question each */
    double accuracy; /* of the one kept, as their answers estimate it: biased
                        upward, since it won (docs/learning.md); NAN if
                        there was nothing to choose */
};
/*
 * Private validation (P0 appendix C), simulated: the networks are candidates,
 * and the table's people are asked, each about one of them, whether it is right
 * about their record. An answer goes through flip on {no, yes} at `eps`, which
 * is all that the person spends. Half of the candidates are dropped after each
 * round, the rest go on with new people; the last one alone stays in the model.
 * (seed, row) decide the noise. Of somebody without a known label no candidate
 * is right. On failure the model is as it was. Statuses: FORMAT, BUDGET, INPUT
 * (fewer people than one for each candidate of each round, about twice as many
 * as candidates), USAGE (a MARGINAL model of records), MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_model_choose(struct sotto_model *model, const struct sotto_table *people,
                   const char *eps, uint64_t seed,
                   struct sotto_choice *ret_choice, struct sotto_error *err);

struct sotto_evaluation {
    size_t rows; /* with a known label */
    double accuracy;
    double log_p;              /* mean log-probability of the true class */
    const uint64_t *confusion; /* classes x classes, true by predicted; in the
                                  model until the next evaluation */
    const struct sotto_scores *scores; /* all the others, with 95% intervals;
                                          likewise in the model */
};
/* Against true labels (the mechanism's label column). With `private`, every
   record is first privatised by a simulation of (seed, row). Statuses: INPUT
   (no column of labels; no row has a class of the model), MEMORY and those of
   sotto_model_predict. */
SOTTO_CHECKED enum sotto_status
sotto_model_evaluate(struct sotto_model *model, const struct sotto_table *table,
                     bool private_records, uint64_t seed,
                     struct sotto_evaluation *ret_evaluation,
                     struct sotto_error *err);
/* The same with records privatised by another mechanism, as
   sotto_model_predict_private_with takes it; NULL: the model's own. */
SOTTO_CHECKED enum sotto_status sotto_model_evaluate_private_with(
    struct sotto_model *model, struct sotto_mechanism *mechanism,
    const struct sotto_table *table, uint64_t seed,
    struct sotto_evaluation *ret_evaluation, struct sotto_error *err);

/* ---- A label that is a number (docs/regression.md) ------------------------
 */

/* Of a model whose classes are ranges of a number: bins, or the cells of a
   regression. The pointers are the model's. */
struct sotto_number {
    const char *name; /* of the label's column */
    size_t classes;
    const double *value; /* what each class stands for */
    const double *edge;  /* class y is from edge[y] to edge[y + 1] */
    bool lines;      /* a regression learnt it; else devices tell the range */
    size_t features; /* the regression's setting of that name */
};
/* Returns whether the model tells a number, and sets which. */
bool sotto_model_number(const struct sotto_model *model,
                        struct sotto_number *ret_number);
/* Returns the mean of the number under the probabilities of the classes; or
   the number below which a share of them lies, 0 < share < 1. */
double sotto_number_mean(const struct sotto_number *number, const double *p);
double sotto_number_quantile(const struct sotto_number *number, const double *p,
                             double share);

struct sotto_number_evaluation {
    size_t rows;   /* with a number for the label */
    size_t beyond; /* of these, the number is beyond the label's range */
    struct sotto_score rmse, mae, r2; /* R2: 1 less the squared errors' sum over
                                         that of the mean of these rows */
    double mean, median;              /* of the rows: the best constants */
    double rmse_constant, mae_constant; /* of these */
    double inside; /* share of rows between the 5% and the 95% quantile of what
                      the model says */
};
/* Scores a model that tells a number against true ones; `private_records`,
   `mechanism` and `seed` as sotto_model_evaluate_private_with has them, z as
   sotto_estimate_row. Intervals are by the delta method. Statuses: USAGE (a
   model of classes), INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status sotto_model_evaluate_number(
    struct sotto_model *model, bool private_records,
    struct sotto_mechanism *mechanism, const struct sotto_table *table,
    uint64_t seed, double z, struct sotto_number_evaluation *ret_evaluation,
    struct sotto_error *err);

#ifdef __cplusplus
}
#endif

#endif
