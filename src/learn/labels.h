/*
 * labels.h: what label reports say of the classes.
 *
 *     t_n(y) = p(label report of n | y)
 *
 * Reports whose label reports are the same have the same t, so t is kept once
 * a group: K groups for flip. For subset they are sets, C(k, w) of them, which
 * with many classes are as good as all different; there are never more groups
 * than reports, so t has at most (reports + 1) K doubles, and what is done once
 * a group is done at most once a report.
 */
#ifndef SOTTO_LEARN_LABELS_H
#define SOTTO_LEARN_LABELS_H

#include "likelihood/likelihood.h"
#include "sotto/sotto.h"

/* Where a report has its label. */
struct labels_part {
    const struct likelihood_instance *likelihood;
    size_t offset;  /* in a report */
    size_t classes; /* that are told apart: the first symbols */
};

struct labels {
    size_t classes, reports, groups;
    uint32_t *group; /* of every report */
    double *t;       /* groups rows of classes; the largest of a row is 1 */
    double *log_t;   /* of every group: ln of what its row was divided by */
    double *share;   /* of the classes, as the reports estimate it: no share
                        below LABELS_LEAST / classes, the sum 1 */
};

#define LABELS_LEAST 0.1

/* `plain` takes the likeliest class for the truth (all of them, if they are
   several); `smoothing` mixes that share of the mean of t into t. Statuses:
   MEMORY. */
SOTTO_CHECKED enum sotto_status
labels_init(struct labels *labels, const struct labels_part *part,
            const uint8_t *const *report, size_t reports, bool plain,
            double smoothing, struct sotto_error *err);
/* The same from true classes; SIZE_MAX is none: any class. */
SOTTO_CHECKED enum sotto_status
labels_init_clean(struct labels *labels, size_t classes, const size_t *truth,
                  size_t reports, double smoothing, struct sotto_error *err);
void labels_clear(struct labels *labels);
/* Gives every class the same share; the last, if it is a column's "(other)",
   hardly any, unless it is one of two. */
void labels_balance(size_t classes, bool other, double *ret_share);

/*
 * The order in which reports are taken: shuffled, cut into `batches` batches
 * and, behind them, the validation reports; in a batch by group; and a batch's
 * groups cut into chunks.
 */
struct plan {
    size_t rows, batches;
    uint32_t *order; /* the report of every row */
    uint32_t *group; /* of every row */
    size_t *batch;   /* first row of batch i; [batches]: of the validation;
                        [batches + 1]: rows */
    size_t *chunk;   /* first row of every chunk; [chunks]: rows */
    size_t chunks;
    size_t *batch_chunk; /* first chunk of batch i, and so on */
};
/* Statuses: MEMORY, INPUT (too few reports for a batch each). */
SOTTO_CHECKED enum sotto_status plan_init(struct plan *plan,
                                          const struct labels *labels,
                                          size_t batches, double validation,
                                          size_t chunk_most, uint64_t seed,
                                          struct sotto_error *err);
void plan_clear(struct plan *plan);

#endif
