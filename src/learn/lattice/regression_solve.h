/*
 * regression_solve.h: the most likely line through what reports say of points
 * and of a number (docs/regression.md).
 *
 *     mu_m  = theta . phi_m                          theta_0: of phi_m0 = 1
 *     p_mg  ~ exp(-(c_g - mu_m)^2 / 2 sigma^2)       over the cells g
 *     s_n   = sum_m w_nm sum_g t_n(g) p_mg           Eq. 11
 *
 * maximises sum_n log s_n - 1/2 sum_i Lambda_i (theta_i - centre_i)^2. Lambda
 * of a kind of terms is chosen by the evidence: by the reports alone.
 */
#ifndef SOTTO_LEARN_REGRESSION_SOLVE_H
#define SOTTO_LEARN_REGRESSION_SOLVE_H

#include "learn/lattice/posterior.h"

#define REGRESSION_CELLS 64u
#define REGRESSION_KINDS 2u
#define REGRESSION_TERMS_MOST 1025u

struct host_pool;

struct regression_problem {
    const struct posterior *posterior; /* NULL: row n is point n */
    size_t rows, points, cells, terms;
    size_t linear;         /* terms of the first kind, phi_0 with them */
    const uint32_t *group; /* of every row, ascending */
    const double *t;       /* groups rows of cells */
    const double *log_t;   /* of every group: what t was divided by */
    const double *cell;    /* c_g */
    const float *phi;      /* points rows of terms */
    double centre, spread; /* of the labels, before any report is seen */
    struct host_pool *pool;
    const struct sotto_watch *watch;
};

struct regression_answer {
    double *theta;      /* terms, then ln sigma */
    double *covariance; /* terms x terms: of theta, given the reports */
    double known;       /* how many of the terms the reports determine */
    double log_p;       /* mean over rows */
    uint64_t passes;
};

/*
 * `ret` has room for theta and covariance. Statuses: MEMORY, STOPPED.
 */
SOTTO_CHECKED enum sotto_status
regression_solve(const struct regression_problem *problem,
                 struct regression_answer *ret, struct sotto_error *err);

/* Sets p of the cells for a mean and a deviation; and their first and second
   moments, unless NULL. */
void regression_cells(const double *cell, size_t cells, double mu, double sigma,
                      double *ret_p);

#endif
