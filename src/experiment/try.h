/*
 * try.h: a table's rows as auxiliary ones, people and test, and its classes:
 * for the files that try a table.
 */
#ifndef SOTTO_EXPERIMENT_TRY_H
#define SOTTO_EXPERIMENT_TRY_H

#include "sotto/trying.h"

/* try_split.c: the rows with a label, by what they are for. */
struct try_split {
    struct sotto_table *aux, *people, *test;
    struct sotto_table *half[2]; /* of the auxiliary rows */
    size_t left;                 /* rows without a label */
};
/* About `people` people; 0: all that are left. Statuses: INPUT (too few
   rows), MEMORY, USAGE. Clear it in any case. */
SOTTO_CHECKED enum sotto_status try_split_init(struct try_split *split,
                                               const struct sotto_table *table,
                                               size_t label, size_t people,
                                               uint64_t seed,
                                               struct sotto_error *err);
void try_split_clear(struct try_split *split);

/* try_columns.c: the largest class of a column of categories, its rows, and how
   many classes there are. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
try_column_largest(const struct sotto_table *table, size_t column,
                   struct sotto_value *ret_largest, size_t *ret_rows,
                   size_t *ret_classes, struct sotto_error *err);

/* try_mean.c: the mean of several runs. Begin it, add runs, end it: errors and
   verdict are there then. The runs are tested on `tests` sets of rows that have
   none in common. */
void try_mean_begin(struct sotto_try_mean *mean);
void try_mean_add(struct sotto_try_mean *mean,
                  const struct sotto_campaign_score *score);
void try_mean_end(struct sotto_try_mean *mean, double tests);
/* Whether a is to be preferred: by its verdict, which is what one campaign is
   good for; then by accuracy if both beat the largest class, else by AUC. */
bool try_mean_is_better(const struct sotto_try_mean *a,
                        const struct sotto_try_mean *b);
/* Counts test rows of classes that the model does not know as wrong: of the
   model, and of the largest class, which they are not. */
void try_score_count_unknown(struct sotto_campaign_score *score,
                             const struct sotto_table *test);

#endif
