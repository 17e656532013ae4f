/*
 * codes_choose.h: how many codes, and by which channel; and simulated
 * collections from auxiliary records (docs/codebook.md).
 */
#ifndef SOTTO_LEARN_CODES_CHOOSE_H
#define SOTTO_LEARN_CODES_CHOOSE_H

#include "base/decimal.h"
#include "encoder/codebook.h"
#include "learn/codes/cells.h"

#define CODES_CHOOSE_SIGNAL 25.0 /* n g / k^2 of a code */
#define CODES_CHOOSE_STRETCH                                                   \
    ((size_t)3) /* codes for each that can be told apart, at most, for classes \
                 */
#define CODES_CHOOSE_RECORDS ((size_t)45) /* to a code, at least */
#define CODES_CHOOSE_EPS_SIGNS                                                 \
    (7 * (DECIMAL_UNIT / 10))               /* below, for even shares: signs */
#define CODES_CHOOSE_K_DEFAULT ((size_t)32) /* without a label */
#define CODES_CHOOSE_BOOKS ((size_t)8)      /* at most, for want of records */
/* n g / (B k^2) of a code of one of B columns, by which k is chosen; and n g /
   (B K^2), what columns have at least where they serve better than cells. */
#define CODES_CHOOSE_COLUMN_SIGNAL 100.0
#define CODES_CHOOSE_COLUMN_LEAST 8.0
#define CODES_CHOOSE_COLUMN_PEOPLE ((size_t)30) /* likewise, to a column */
#define CODES_CHOOSE_COLUMN_K ((size_t)8)       /* at most */

/* One collection to simulate. */
struct codes_trial {
    const int32_t *code;   /* of every record, below k */
    const uint32_t *label; /* likewise, below classes */
    size_t n, k, classes;
    size_t people;
    bool shares; /* the learner is told those of the labels */
    const struct channel *channel;
    uint64_t eps;
    uint64_t seed;
    uint32_t draw;      /* who is drawn */
    uint32_t candidate; /* which noise */
    struct host_pool *pool;
    const struct sotto_watch *watch;
};

/* Every CODES_TRIAL_KEPT-th record does not report, but scores. */
#define CODES_TRIAL_KEPT 5u

/*
 * Draws people from the records with replacement, simulates their reports of
 * the pairs, learns the labels of cells, and gives the share of the records
 * kept apart that are labelled rightly. Statuses: LIMIT, BUDGET, MEMORY,
 * STOPPED.
 */
SOTTO_CHECKED enum sotto_status codes_trial(const struct codes_trial *trial,
                                            double *ret_score,
                                            struct sotto_error *err);
/* The share if the cells' likeliest labels were known: the most to be had. */
SOTTO_CHECKED enum sotto_status
codes_trial_most(const struct codes_trial *trial, double *ret_score,
                 struct sotto_error *err);

#endif
