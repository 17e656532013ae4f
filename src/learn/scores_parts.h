/*
 * scores_parts.h: intervals, the area under the curve and calibration, which
 * scores.c puts together. docs/scores.md derives them.
 */
#ifndef SOTTO_LEARN_SCORES_PARTS_H
#define SOTTO_LEARN_SCORES_PARTS_H

#include "sotto/scores.h"

/* Rows and what is said of them, without those that have no class. */
struct scored {
    size_t rows, classes;
    const double *p;   /* of the table's rows */
    const size_t *at;  /* where in p the row stands */
    size_t *truth;     /* below `classes` */
    size_t *named;     /* likeliest class */
    const size_t *has; /* rows of each class */
};
double scored_p(const struct scored *scored, size_t row, size_t class_of);

/* ---- scores_interval.c -------------------------------------------------- */

/* k of n, by Wilson's score interval (1927); NAN for n = 0. */
struct sotto_score scores_wilson(size_t k, size_t n, double z);
/* Mean of n numbers with this sum and sum of squares, by the normal
   distribution. */
struct sotto_score scores_mean(double sum, double squares, size_t n, double z);
/* (more - fewer) / n of n paired rows, by Bonett and Price (2012). */
struct sotto_score scores_paired(size_t more, size_t fewer, size_t n, double z);
/* P(|X - m/2| >= |more - m/2|) for X ~ Binomial(m = more + fewer, 1/2): the
   exact McNemar test. */
double scores_mcnemar(size_t more, size_t fewer);

/* ---- scores_auc.c ------------------------------------------------------- */

/* Sets the AUC of each class present in `of`, and the mean with its interval.
   Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
scores_auc(const struct scored *scored, double z, struct sotto_class_score *of,
           struct sotto_score *ret_auc, struct sotto_error *err);

/* ---- scores_calibration.c ----------------------------------------------- */

/* Fills bins, error and chance. */
void scores_calibration(const struct scored *scored, double z,
                        struct sotto_scores *ret_scores);

#endif
