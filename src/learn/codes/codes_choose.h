/*
 * codes_choose.h: how many codes, and by which channel: simulated collections
 * from auxiliary records, with labels that are made up (docs/codebook.md).
 */
#ifndef SOTTO_LEARN_CODES_CHOOSE_H
#define SOTTO_LEARN_CODES_CHOOSE_H

#include "encoder/codebook.h"
#include "learn/codes/cells.h"

#define CODES_CHOOSE_PEOPLE_MAX ((size_t)40000) /* more are not simulated */
#define CODES_CHOOSE_K_DEFAULT ((size_t)32)     /* without a label */

/* One collection to simulate. */
struct codes_trial {
    const int32_t *code;   /* of every record, below k */
    const uint32_t *label; /* likewise, below classes */
    size_t n, k, classes;
    size_t people;
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
