/*
 * cells_table.c: the likeliest table of codes and labels, and the likeliest
 * shares of codes.
 *
 *     x <- scaled(x g^eta),   g = gradient / reports
 *
 * is EM for eta = 1; eta grows while the objective does (docs/codebook.md).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "learn/codes/cells.h"

#define STEPS 300u
#define ETA_MOST 100.0
#define ETA_LEAST 0.02
#define GAIN_LEAST 0.01 /* nats */
#define SCALINGS 20u
#define X_LEAST 1e-12

/* What is climbed: a concave function of positive numbers. */
struct climb {
    struct codes *codes;
    const double *pi, *share, *tau;
    bool columns;
    double *j, *g;    /* pairs */
    double *sum;      /* classes */
    size_t size;      /* of x */
    double *x, *dx;   /* and the gradient */
    double *x2, *dx2; /* a step on */
    double (*value)(struct climb *climb, const double *x, double *ret_dx);
    void (*scale)(const struct climb *climb, double *x);
};

/* False: no memory. */
static bool
climb_init(struct climb *climb, size_t size)
{
    size_t pairs = climb->codes->pairs, classes = climb->codes->classes;
    climb->size = size;
    climb->j = malloc((2 * pairs + classes + 4 * size) * sizeof *climb->j);
    if (climb->j == NULL) {
        return false;
    }
    climb->g = climb->j + pairs;
    climb->sum = climb->g + pairs;
    climb->x = climb->sum + classes;
    climb->dx = climb->x + size;
    climb->x2 = climb->dx + size;
    climb->dx2 = climb->x2 + size;
    return true;
}

static enum sotto_status
climb_run(struct climb *climb, const struct sotto_watch *watch,
          struct sotto_error *err)
{
    double eta = 1, reports = (double)climb->codes->reports;
    double best = climb->value(climb, climb->x, climb->dx);
    for (size_t step = 0; step < STEPS && eta > ETA_LEAST; step++) {
        double value, gain;
        enum sotto_status status = cells_tick(watch, step, STEPS, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        for (size_t i = 0; i < climb->size; i++) {
            climb->x2[i] = climb->x[i] * pow(climb->dx[i] / reports, eta);
            climb->x2[i] = climb->x2[i] > X_LEAST ? climb->x2[i] : X_LEAST;
        }
        climb->scale(climb, climb->x2);
        value = climb->value(climb, climb->x2, climb->dx2);
        gain = value - best;
        if (gain > 0) {
            memcpy(climb->x, climb->x2, climb->size * sizeof *climb->x);
            memcpy(climb->dx, climb->dx2, climb->size * sizeof *climb->dx);
            best = value;
            eta = eta < ETA_MOST ? eta * 1.5 : eta;
        } else {
            eta /= 3;
        }
        if (gain > 0 && gain < GAIN_LEAST && eta >= 1) {
            break;
        }
    }
    return SOTTO_STATUS_OK;
}

/* ---- The table ----------------------------------------------------------- */

/* x is J. log p + sum_cy K f_y ln tau_cy, pi a constant. */
static double
table_value(struct climb *climb, const double *x, double *ret_dx)
{
    size_t pairs = climb->codes->pairs, classes = climb->codes->classes;
    double sum = codes_pass(climb->codes, x, ret_dx);
    for (size_t p = 0; p < pairs; p++) {
        double count = (double)classes * climb->share[p % classes];
        sum += count * log(x[p]);
        ret_dx[p] += count / x[p];
    }
    return sum;
}

static void
scale_columns(const struct climb *climb, double *x)
{
    size_t cells = climb->codes->cells, classes = climb->codes->classes;
    memset(climb->sum, 0, classes * sizeof *climb->sum);
    for (size_t p = 0; p < cells * classes; p++) {
        climb->sum[p % classes] += x[p];
    }
    for (size_t p = 0; p < cells * classes; p++) {
        x[p] *= climb->share[p % classes] / climb->sum[p % classes];
    }
}

static void
scale_rows(const struct climb *climb, double *x)
{
    size_t cells = climb->codes->cells, classes = climb->codes->classes;
    for (size_t c = 0; c < cells; c++) {
        double sum = 0;
        for (size_t y = 0; y < classes; y++) {
            sum += x[c * classes + y];
        }
        for (size_t y = 0; y < classes; y++) {
            x[c * classes + y] *= climb->pi[c] / sum;
        }
    }
}

/* Sinkhorn: by turns, rows last. */
static void
table_scale(const struct climb *climb, double *x)
{
    for (size_t i = 0; climb->columns && i < SCALINGS; i++) {
        scale_rows(climb, x);
        scale_columns(climb, x);
    }
    scale_rows(climb, x);
}

enum sotto_status
cells_table(struct codes *codes, const double *pi, const double *share,
            bool columns, const struct sotto_watch *watch, double *ret_tau,
            struct sotto_error *err)
{
    struct climb climb = {.codes = codes,
                          .pi = pi,
                          .share = share,
                          .columns = columns,
                          .value = table_value,
                          .scale = table_scale};
    size_t classes = codes->classes;
    if (!climb_init(&climb, codes->pairs)) {
        return host_fail_memory(err);
    }
    for (size_t p = 0; p < codes->pairs; p++) {
        climb.x[p] = pi[p / classes] * share[p % classes];
        climb.x[p] = climb.x[p] > X_LEAST ? climb.x[p] : X_LEAST;
    }
    enum sotto_status status = climb_run(&climb, watch, err);
    for (size_t c = 0; c < codes->cells && status == SOTTO_STATUS_OK; c++) {
        double sum = 0;
        for (size_t y = 0; y < classes; y++) {
            sum += climb.x[c * classes + y];
        }
        for (size_t y = 0; y < classes; y++) {
            ret_tau[c * classes + y] = climb.x[c * classes + y] / sum;
        }
    }
    free(climb.j);
    return status;
}

/* ---- The shares of cells ------------------------------------------------- */

/* x is pi. log p + sum_c k pi0_c ln pi_c */
static double
shares_value(struct climb *climb, const double *x, double *ret_dx)
{
    size_t cells = climb->codes->cells, classes = climb->codes->classes;
    double sum;
    for (size_t p = 0; p < cells * classes; p++) {
        climb->j[p] = x[p / classes] * climb->tau[p];
    }
    sum = codes_pass(climb->codes, climb->j, climb->g);
    for (size_t c = 0; c < cells; c++) {
        double count = (double)cells * climb->pi[c];
        ret_dx[c] = count / x[c];
        sum += count * log(x[c]);
        for (size_t y = 0; y < classes; y++) {
            ret_dx[c] +=
                climb->tau[c * classes + y] * climb->g[c * classes + y];
        }
    }
    return sum;
}

static void
shares_scale(const struct climb *climb, double *x)
{
    double sum = 0;
    for (size_t c = 0; c < climb->size; c++) {
        sum += x[c];
    }
    for (size_t c = 0; c < climb->size; c++) {
        x[c] /= sum;
    }
}

enum sotto_status
cells_shares(struct codes *codes, const double *tau, const double *pi,
             const struct sotto_watch *watch, double *ret_pi,
             struct sotto_error *err)
{
    struct climb climb = {.codes = codes,
                          .tau = tau,
                          .pi = pi,
                          .value = shares_value,
                          .scale = shares_scale};
    if (!climb_init(&climb, codes->cells)) {
        return host_fail_memory(err);
    }
    for (size_t c = 0; c < codes->cells; c++) {
        climb.x[c] = pi[c] > X_LEAST ? pi[c] : X_LEAST;
    }
    enum sotto_status status = climb_run(&climb, watch, err);
    if (status == SOTTO_STATUS_OK) {
        memcpy(ret_pi, climb.x, codes->cells * sizeof *ret_pi);
    }
    free(climb.j);
    return status;
}
