/*
 * cells.c: which way cells are labelled.
 */
#include "learn/codes/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"

#define SHARE_LEAST 0.1 /* of an even share */
#define WEIGHED 16.0    /* as costly is a row that stands for several */

enum sotto_status
cells_tick(const struct sotto_watch *watch, size_t done, size_t total,
           struct sotto_error *err)
{
    return watch == NULL || watch->tick == NULL ||
                   watch->tick(watch->context, "labelling cells", done, total)
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_STOPPED, 0, "stopped");
}

/* The columns of the likeliest table, none below SHARE_LEAST / K. */
static enum sotto_status
estimate_share(struct codes *codes, const double *pi,
               const struct sotto_watch *watch, double *ret_share,
               struct sotto_error *err)
{
    size_t classes = codes->classes;
    double *tau = calloc(codes->pairs, sizeof *tau), sum = 0;
    enum sotto_status status;
    if (tau == NULL) {
        return host_fail_memory(err);
    }
    for (size_t y = 0; y < classes; y++) {
        ret_share[y] = 1 / (double)classes;
    }
    status = cells_table(codes, pi, ret_share, false, watch, tau, err);
    for (size_t y = 0; y < classes && status == SOTTO_STATUS_OK; y++) {
        double least = SHARE_LEAST / (double)classes, share = 0;
        for (size_t c = 0; c < codes->cells; c++) {
            share += pi[c] * tau[c * classes + y];
        }
        ret_share[y] = share > least ? share : least;
        sum += ret_share[y];
    }
    for (size_t y = 0; y < classes && status == SOTTO_STATUS_OK; y++) {
        ret_share[y] /= sum;
    }
    free(tau);
    return status;
}

/* Rows times proposals is what sampling adds up, at most. */
static double
cost_of(const struct codes *codes, const struct cells_options *options)
{
    double chains = options->chains > 0 ? options->chains : CELLS_CHAINS;
    double sweeps = options->sweeps > 0 ? options->sweeps : CELLS_SWEEPS;
    double rows = (double)codes->rows * (codes->times != NULL ? WEIGHED : 1);
    return rows * (double)codes->pairs * chains * sweeps;
}

static enum cells_method
choose_method(const struct codes *codes, const struct cells_options *options,
              double error)
{
    if (codes->classes < 2 || codes->cells < 2) {
        return CELLS_METHOD_TABLE;
    }
    if (options->method != CELLS_METHOD_CHOSEN) {
        return options->method;
    }
    if (error < CELLS_ERROR_TABLE) {
        return CELLS_METHOD_TABLE;
    }
    if (cost_of(codes, options) <= CELLS_COST_MOST) {
        return CELLS_METHOD_SAMPLE;
    }
    return error < CELLS_ERROR_FIELD ? CELLS_METHOD_TABLE : CELLS_METHOD_FIELD;
}

static enum sotto_status
label_cells(struct codes *codes, const double *pi,
            const struct cells_options *options, bool columns, double *ret_tau,
            struct cells_info *info, struct sotto_error *err)
{
    switch (info->method) {
    case CELLS_METHOD_SAMPLE:
        return cells_sample(codes, pi, options, ret_tau, info, err);
    case CELLS_METHOD_FIELD:
        return cells_field(codes, pi, options, ret_tau, info, err);
    case CELLS_METHOD_CHOSEN:
    case CELLS_METHOD_TABLE:
    default:
        return cells_table(codes, pi, options->share, columns, options->watch,
                           ret_tau, err);
    }
}

static double
log_p_of(struct codes *codes, const double *pi, const double *tau, double *j)
{
    for (size_t p = 0; p < codes->pairs; p++) {
        j[p] = pi[p / codes->classes] * tau[p];
    }
    return codes_pass(codes, j, NULL);
}

enum sotto_status
cells_fit(struct codes *codes, const double *pi,
          const struct cells_options *options, double *ret_tau,
          double *ret_share, struct cells_info *ret_info,
          struct sotto_error *err)
{
    size_t pairs = codes->pairs, classes = codes->classes;
    double *tau = calloc(2 * pairs + classes, sizeof *tau);
    double *share = NULL;
    struct cells_options own = *options;
    struct cells_info info = {0};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (tau == NULL) {
        return host_fail_memory(err);
    }
    share = tau + 2 * pairs;
    if (options->share != NULL) {
        memcpy(share, options->share, classes * sizeof *share);
    } else {
        status = estimate_share(codes, pi, options->watch, share, err);
    }
    own.share = share;
    if (!(own.width > 0)) {
        own.width =
            options->share != NULL ? CELLS_WIDTH : CELLS_WIDTH_ESTIMATED;
    }
    if (status == SOTTO_STATUS_OK) {
        codes_information(codes, pi, share, tau);
        info.error = codes_error(codes, tau);
        info.method = choose_method(codes, &own, info.error);
        status = label_cells(codes, pi, &own, options->share != NULL, tau,
                             &info, err);
    }
    if (status == SOTTO_STATUS_OK) {
        info.log_p = log_p_of(codes, pi, tau, tau + pairs);
        memcpy(ret_tau, tau, pairs * sizeof *tau);
        if (ret_share != NULL) {
            memcpy(ret_share, share, classes * sizeof *share);
        }
        *ret_info = info;
    }
    free(tau);
    return status;
}
