/*
 * sotto/scores.h: how good probabilities of classes are, against the truth.
 *
 * Every score has an interval, and stands beside what needs no record: naming
 * the largest class for everybody, or saying the class shares for everybody.
 * docs/scores.md derives the intervals. A score that cannot be computed is NAN.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one.
 */
#ifndef SOTTO_SCORES_H
#define SOTTO_SCORES_H

#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An estimate and its interval: for all records that these are a random sample
   of. */
struct sotto_score {
    double value, low, high;
};

/* One class. */
struct sotto_class_score {
    size_t rows;                  /* that have it */
    size_t named;                 /* of which the model says it */
    size_t right;                 /* both */
    struct sotto_score recall;    /* right / rows; Wilson */
    struct sotto_score precision; /* right / named; Wilson */
    double auc; /* this class against the rest; NAN if it has no rows */
};

/* Rows whose likeliest class has a probability in [from, to); the last bin
   includes `to`. */
struct sotto_score_bin {
    double from, to;
    size_t rows;
    double said;              /* mean probability of the likeliest class */
    struct sotto_score right; /* how often it was the true one; Wilson */
};
#define SOTTO_SCORES_BINS 10u

/* What the rows say of the model beside naming the largest class always. */
enum sotto_scores_verdict {
    SOTTO_SCORES_BETTER = 0, /* more often right; chance does not explain it */
    SOTTO_SCORES_NO_BETTER = 1, /* chance explains the difference */
    SOTTO_SCORES_WORSE = 2,
    SOTTO_SCORES_SAME = 3 /* it names the largest class for every row */
};

struct sotto_scores {
    size_t rows;    /* with a known class */
    size_t classes; /* of the model */
    size_t present; /* classes that at least one row has */
    double z;       /* of the intervals: 1.96 for 95% */

    struct sotto_score accuracy; /* Wilson */
    size_t largest;              /* the class that most rows have */
    struct sotto_score share;    /* its share of rows: the accuracy of the best
                                    constant; Wilson */

    /* The model beside the best constant, on the same rows. */
    size_t only_model;       /* rows of which only the model is right */
    size_t only_constant;    /* rows of which only the constant is right */
    struct sotto_score gain; /* accuracy less share; Bonett and Price */
    double p;                /* exact McNemar test, two-sided */
    enum sotto_scores_verdict verdict;

    struct sotto_score balanced; /* mean recall of the classes present */
    struct sotto_score auc;      /* two classes present: the AUC; more: the mean
                                    of each class against the rest; DeLong */
    struct sotto_score log_loss; /* mean -ln p(true class) */
    double shares_loss;          /* the same, of the rows' class shares */
    struct sotto_score loss_gain; /* shares_loss less log_loss, row by row */

    /* Expected calibration error of the likeliest class's probability. */
    struct sotto_score calibration;
    double calibration_chance; /* what so many rows give a calibrated model, on
                                  average */
    size_t bins;               /* with rows */
    struct sotto_score_bin bin[SOTTO_SCORES_BINS];

    struct sotto_class_score *of; /* `classes` of them */
    uint64_t *confusion;          /* classes x classes, true by named */
};

/*
 * Scores the probabilities p, rows x classes, against the true class of each
 * row; a row whose truth is not below `classes` is left out. The model names
 * the first of the likeliest classes. Intervals are z standard errors wide to
 * either side, or what corresponds to it. Costs no privacy. The caller frees
 * `ret_scores`. Statuses: INPUT (no row has a class), MEMORY.
 *
 *     struct sotto_scores *scores;
 *     if (sotto_scores_new(p, truth, rows, classes, 1.96, &scores, &err) ==
 *         SOTTO_STATUS_OK) {
 *         printf("%g against %g\n", scores->accuracy.value,
 *                scores->share.value);
 *         sotto_scores_free(scores);
 *     }
 */
SOTTO_CHECKED enum sotto_status
sotto_scores_new(const double *p, const size_t *truth, size_t rows,
                 size_t classes, double z, struct sotto_scores **ret_scores,
                 struct sotto_error *err);
void sotto_scores_free(struct sotto_scores *scores);

#ifdef __cplusplus
}
#endif

#endif
