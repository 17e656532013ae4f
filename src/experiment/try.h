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
/* About `people` people; 0: all that are left. By classes, unless the label is
   a number. Statuses: INPUT (too few rows), MEMORY, USAGE. Clear it in any
   case.
 */
SOTTO_CHECKED enum sotto_status try_split_init(struct try_split *split,
                                               const struct sotto_table *table,
                                               size_t label, size_t people,
                                               uint64_t seed,
                                               struct sotto_error *err);
void try_split_clear(struct try_split *split);

/* What is tried, and with what. */
struct try_job {
    const struct sotto_try_options *options;
    struct sotto_try *result;
    struct try_split split;
    struct sotto_schema *inferred;     /* of the auxiliary rows; or NULL */
    const struct sotto_schema *schema; /* that, or the owner's */
    const char **drop;                 /* columns left out of all */
    size_t drops;
    struct sotto_campaign *codebook;
    struct sotto_campaign *direct[SOTTO_TRY_COLUMNS_MAX]; /* of the first i + 1
                                                             columns */
    const char **narrow[SOTTO_TRY_COLUMNS_MAX]; /* what each leaves out */
    size_t done, total;                         /* campaigns */
    bool number;                                /* the label is one */
};

/* try_leave.c: says what the auxiliary rows' columns are; leaves out what the
   owner names, what nothing can be made of and what may give the answer away;
   takes warnings. Statuses: those of sotto_schema_infer. */
SOTTO_CHECKED enum sotto_status try_leave_out(struct try_job *job,
                                              struct sotto_error *err);
bool try_is_among(const char *name, const char *const *list, size_t count);

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
/* The same of a run whose label is a number. */
void try_mean_add_number(struct sotto_try_mean *mean,
                         const struct sotto_campaign_number *number);
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
