/*
 * number_verbs.h: what predict and evaluate do with a model that tells a
 * number.
 */
#ifndef SOTTO_VERB_NUMBER_VERBS_H
#define SOTTO_VERB_NUMBER_VERBS_H

#include <stdio.h>

#include "cli/cli.h"

/* evaluate_number.c: scores the model on --data and says it. */
int evaluate_number(const struct cli_args *args, struct sotto_model *model,
                    const struct sotto_table *table, uint64_t seed);

/* What predict found: probabilities of the classes of every row. */
struct predict_rows {
    const struct sotto_model *model;
    const double *p;
    size_t rows;
    bool reports;
};

#define PREDICT_QUANTILES_MOST 16u

/* Shares between 0 and 1, of --quantiles or the 5% and the 95% one. */
struct predict_shares {
    double share[PREDICT_QUANTILES_MOST];
    size_t count;
};

/* predict_number.c: reads --quantiles; says why not. */
int predict_number_shares(const struct cli_args *args,
                          const struct sotto_model *model,
                          struct predict_shares *ret_shares);
/* Writes a row for each: its mean and quantiles. */
void predict_number_csv(const struct predict_rows *rows,
                        const struct predict_shares *shares, FILE *to);
void predict_number_json(const struct predict_rows *rows,
                         const struct predict_shares *shares, FILE *to);
/* Says what the numbers are like, all together. */
void predict_number_tell(const struct predict_rows *rows, FILE *to);

#endif
