/*
 * cells.h: which label a code has, from reports alone. A cell here is the
 * records of one code, not one of the small groups that codes are made from.
 *
 *     tau_cy = p(y | c)       cells rows of classes, each adding up to 1
 *
 * docs/codebook.md: where reports say little, the posterior mean over
 * assignments of one label to each cell, sampled, or with many cells from the
 * mean field; where they say much, the likeliest table.
 */
#ifndef SOTTO_LEARN_CELLS_H
#define SOTTO_LEARN_CELLS_H

#include "learn/codes/codes.h"

enum cells_method {
    CELLS_METHOD_CHOSEN = 0, /* by what reports say, and by cost */
    CELLS_METHOD_SAMPLE = 1,
    CELLS_METHOD_TABLE = 2,
    CELLS_METHOD_FIELD = 3
};

#define CELLS_CHAINS 4u
#define CELLS_SWEEPS 200u
#define CELLS_WIDTH 0.2           /* of a label's share, where it is known */
#define CELLS_WIDTH_ESTIMATED 0.5 /* where it is not */
#define CELLS_ERROR_TABLE 0.1     /* codes_error below which: the table */
#define CELLS_ERROR_FIELD 0.3     /* above which: the field, if not sampled */
#define CELLS_COST_MOST 2.5e9     /* additions above which: not sampled */

struct cells_options {
    enum cells_method method;
    const double *share; /* of the classes; NULL: estimated from the reports */
    double width;        /* 0: one of the two above */
    uint32_t chains;     /* 0: CELLS_CHAINS */
    uint32_t sweeps;     /* 0: CELLS_SWEEPS */
    uint64_t seed;
    const struct sotto_watch *watch; /* NULL: nobody */
};

struct cells_info {
    enum cells_method method; /* the one taken */
    double error;             /* codes_error */
    double log_p;             /* of the reports, at the result */
    double purity;            /* SAMPLE: posterior mean of p0 */
    size_t chains;            /* SAMPLE: those averaged over */
};

/*
 * `pi` are the shares of the cells. `ret_tau` has room for the pairs;
 * `ret_share`, unless NULL, for the classes: what was used. The same at any
 * number of threads. Statuses: MEMORY, STOPPED, LIMIT.
 */
SOTTO_CHECKED enum sotto_status cells_fit(struct codes *codes, const double *pi,
                                          const struct cells_options *options,
                                          double *ret_tau, double *ret_share,
                                          struct cells_info *ret_info,
                                          struct sotto_error *err);

/* How far it is; STOPPED, if it is to stop. `watch` may be NULL. */
SOTTO_CHECKED enum sotto_status cells_tick(const struct sotto_watch *watch,
                                           size_t done, size_t total,
                                           struct sotto_error *err);

/* cells_sample.c: the posterior mean. share and width must be given. */
SOTTO_CHECKED enum sotto_status
cells_sample(struct codes *codes, const double *pi,
             const struct cells_options *options, double *ret_tau,
             struct cells_info *ret_info, struct sotto_error *err);

/* cells_field.c: the same, each cell in the mean of the others: for many cells.
   Statuses: MEMORY, STOPPED. */
SOTTO_CHECKED enum sotto_status
cells_field(struct codes *codes, const double *pi,
            const struct cells_options *options, double *ret_tau,
            struct cells_info *ret_info, struct sotto_error *err);

/* cells_table.c: the likeliest table, from tau = share; `columns`: with the
   shares of the classes held to. Statuses: MEMORY, STOPPED. */
SOTTO_CHECKED enum sotto_status
cells_table(struct codes *codes, const double *pi, const double *share,
            bool columns, const struct sotto_watch *watch, double *ret_tau,
            struct sotto_error *err);
/* The likeliest shares of cells given tau, near `pi` (a pseudo-count a cell):
   the population may not be that of the auxiliary records. `ret_pi` may be
   `pi`. Statuses: MEMORY, STOPPED. */
SOTTO_CHECKED enum sotto_status
cells_shares(struct codes *codes, const double *tau, const double *pi,
             const struct sotto_watch *watch, double *ret_pi,
             struct sotto_error *err);

/*
 * cells_assign.c: a label for every cell, with a large sum of score (cells rows
 * of classes): the largest with a label each, if there are as many; else
 * greedily, as far as the labels' shares go. Statuses: MEMORY.
 */
SOTTO_CHECKED enum sotto_status
cells_assign(const double *score, const double *pi, const double *share,
             size_t cells, size_t classes, uint32_t *ret_label,
             struct sotto_error *err);

#endif
