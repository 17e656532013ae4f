/*
 * sotto/trying.h: what a campaign would come to on one's own table: split,
 * simulated at several epsilons with the kinds that suit a table, beside the
 * fit without privacy and the largest class.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one. docs/try.md says what is done and why.
 */
#ifndef SOTTO_TRYING_H
#define SOTTO_TRYING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/simulating.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SOTTO_TRY_EPS_MAX 16u
#define SOTTO_TRY_COLUMNS_MAX 4u /* that direct is tried with */

struct sotto_try_options {
    const char *label;       /* its column, of categories or of numbers */
    const char *const *eps;  /* decimal texts, in the order of the answer */
    size_t eps_count;        /* 1 to SOTTO_TRY_EPS_MAX */
    const char *const *drop; /* columns to leave out */
    size_t drops;
    const char *const *keep; /* columns to use, and no others; none: all */
    size_t keeps;
    const struct sotto_schema *schema; /* what the columns are; NULL: inferred
                                          from the auxiliary rows */
    uint32_t draws;                    /* collections at every epsilon; 0: 3 */
    size_t people;    /* about so many, for time's sake; 0: all */
    uint64_t seed;    /* of split, encoder and collections */
    unsigned threads; /* 0: all cores; results do not depend on it */
    struct sotto_watch watch;
};

/* The kinds that are tried. */
enum sotto_try_kind {
    SOTTO_TRY_CODEBOOK = 0,
    SOTTO_TRY_DIRECT =
        1, /* a few columns, learnt from by the lattice learner */
    SOTTO_TRY_KINDS = 2
};

/* What can be learnt, the best first. */
enum sotto_try_verdict {
    SOTTO_TRY_LEARNS = 0, /* more often right than the largest class is, by
                             more than two standard errors of one collection;
                             of a number: R2 is above 0 by as much */
    SOTTO_TRY_RANKS = 1,  /* not so, but it tells who is likelier to have a
                             class: its AUC is above 1/2 by more than two */
    SOTTO_TRY_NOTHING = 2 /* neither: name the largest class */
};

/* Several collections of one kind at one epsilon. Of a number as the label the
   accuracy is R2, its gain over the best constant, which has 0, is R2 itself,
   and there is nothing balanced and no AUC. */
struct sotto_try_mean {
    size_t runs;                    /* 0: it was not tried */
    double accuracy, balanced, auc; /* means; rows of a class that the model
                                       does not know count as wrong in the
                                       first, and not at all in the others */
    double rmse;       /* of a number: the mean of root mean squared errors */
    double deviation;  /* of the accuracy, between collections; NAN: one */
    double low, high;  /* its worst and best */
    double gain;       /* over the largest class, mean */
    double gain_error; /* its standard error: chance in the reports and in the
                          test rows */
    double gain_once;  /* the same for one collection more: a campaign is run
                          once, and the verdict goes by this */
    double auc_deviation, auc_error, auc_once; /* of the AUC, likewise */
    enum sotto_try_verdict verdict;
};

struct sotto_try_cell {
    struct sotto_try_mean before; /* in the auxiliary rows alone */
    struct sotto_try_mean after;  /* people and test rows */
    size_t columns;               /* of direct: the first of the list */
    size_t k, books;              /* of a codebook */
    char channel[16];
    char why[256]; /* it was not tried; "" */
};

struct sotto_try_at {
    char eps[40];
    struct sotto_try_cell kind[SOTTO_TRY_KINDS];
    enum sotto_try_kind best;      /* that the auxiliary rows prefer */
    enum sotto_try_verdict before; /* its verdict there: known before anybody
                                      is asked */
    enum sotto_try_verdict after;  /* and on the test rows */
};

struct sotto_try {
    size_t aux, people, test; /* rows */
    size_t left;              /* rows without a label, left out */
    size_t classes;           /* 0: the label is a number */
    char largest[128];        /* the largest class of the auxiliary rows */
    double share;             /* the test rows' share of it */
    /* Of a number: the test rows' mean, which is the best constant, the error
       of that, and a line without privacy through the people's rows and through
       the auxiliary ones; rows is 0 where it failed. */
    double constant, constant_rmse;
    struct sotto_campaign_number line, aux_line;
    struct sotto_try_at *at;
    size_t count;
    /* Fits without privacy: to the people's clean rows, and to the auxiliary
       rows with their labels. rows is 0 where one failed. */
    struct sotto_campaign_score linear, network, aux_linear, aux_network;
    /* Columns of direct, by name, best first, and what each adds (nats). */
    char **column;
    double gain[SOTTO_TRY_COLUMNS_MAX];
    size_t columns;
    /* Columns left out because nothing can be made of them, or because they may
       give the answer away and neither `keep` nor `schema` names them; and
       why. */
    char **out, **why;
    size_t outs;
    size_t answers; /* of them, for the second reason */
    char **warning; /* what the owner should look at first: sentences */
    size_t warnings;
    size_t advised; /* of `at`: the smallest epsilon with LEARNS before, or
                       SIZE_MAX: none has it */
    double seconds;
};

/*
 * Splits the table, by classes where it has them: 40% auxiliary rows (4,000 at
 * most), 20% test rows (4,000 at most), the others people, or so many of them;
 * chooses settings on auxiliary rows alone; simulates. The caller frees it.
 * Nothing here is private, and nothing is written. Statuses: USAGE, INPUT (no
 * such label; fewer than 100 rows or than two classes; nearly as many classes
 * as rows), those of training and fitting for what no kind can do without,
 * MEMORY, STOPPED.
 */
SOTTO_CHECKED enum sotto_status
sotto_try_new(const struct sotto_table *table,
              const struct sotto_try_options *options,
              struct sotto_try **ret_try, struct sotto_error *err);
void sotto_try_free(struct sotto_try *result);

#ifdef __cplusplus
}
#endif

#endif
