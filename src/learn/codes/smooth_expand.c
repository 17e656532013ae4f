/*
 * smooth_expand.c: the log-likelihood of a table to second order.
 *
 *     sum_i ln s_i(J),  s_i = sum_p J_p L_ip
 *     G_p  = sum_i L_ip / s_i
 *     H_pq = sum_i (L_ip / s_i - 1) (L_iq / s_i - 1)
 *
 * The sum of a table is 1, so the -1 changes nothing, and keeps numbers small.
 * For the same reason the mean of a row of G may be taken off: rows of J keep
 * their sums. Beyond SMOOTH_DENSE pairs only the diagonal is kept. Through one
 * channel on pairs any two of these have nearly the same covariance, and a
 * constant off the diagonal adds nothing, since J - at adds up to 0. Code and
 * label in parts of their own have no such symmetry: the gap shows what it
 * costs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "learn/codes/cells.h"
#include "learn/codes/smooth.h"

#define S_LEAST 1e-9F

enum sotto_status
smooth_expansion_init(struct smooth_expansion *expansion,
                      const struct codes *codes, struct sotto_error *err)
{
    size_t pairs = codes->pairs;
    *expansion = (struct smooth_expansion){.dense = pairs <= SMOOTH_DENSE};
    expansion->at = calloc(pairs, sizeof *expansion->at);
    expansion->g = calloc(pairs, sizeof *expansion->g);
    expansion->h =
        calloc(expansion->dense ? pairs * pairs : pairs, sizeof *expansion->h);
    if (expansion->at == NULL || expansion->g == NULL || expansion->h == NULL) {
        smooth_expansion_clear(expansion);
        return host_fail_memory(err);
    }
    return SOTTO_STATUS_OK;
}

void
smooth_expansion_clear(struct smooth_expansion *expansion)
{
    free(expansion->at);
    free(expansion->g);
    free(expansion->h);
    memset(expansion, 0, sizeof *expansion);
}

/* v = L / s - 1 of a block, a row for each pair; 0 beyond the last report. */
static void
set_block(const struct codes *codes, size_t block, const double *at, float *v)
{
    size_t left = codes->rows - block * CODES_BLOCK;
    size_t rows = left < CODES_BLOCK ? left : CODES_BLOCK;
    float s[CODES_BLOCK] = {0};
    for (size_t p = 0; p < codes->pairs; p++) {
        float *to = v + p * CODES_BLOCK, j = (float)at[p];
        for (size_t i = 0; i < CODES_BLOCK; i++) {
            to[i] = (float)codes->lo;
        }
        codes_add(codes, codes_column(codes, block, p), codes->step, to);
        for (size_t i = 0; i < CODES_BLOCK; i++) {
            s[i] += j * to[i];
        }
    }
    for (size_t i = 0; i < CODES_BLOCK; i++) {
        s[i] = i < rows ? 1 / (s[i] > S_LEAST ? s[i] : S_LEAST) : 0;
    }
    for (size_t p = 0; p < codes->pairs; p++) {
        float *to = v + p * CODES_BLOCK;
        for (size_t i = 0; i < rows; i++) {
            to[i] = to[i] * s[i] - 1;
        }
        for (size_t i = rows; i < CODES_BLOCK; i++) {
            to[i] = 0;
        }
    }
}

/* Multiplies by the roots of weights: products then have the weights. */
static void
weigh_block(const struct codes *codes, size_t block, float *v)
{
    float root[CODES_BLOCK] = {0};
    if (codes->times == NULL) {
        return;
    }
    for (size_t i = 0; i < CODES_BLOCK; i++) {
        root[i] = (float)sqrt(codes_weight(codes, block * CODES_BLOCK + i));
    }
    for (size_t p = 0; p < codes->pairs; p++) {
        for (size_t i = 0; i < CODES_BLOCK; i++) {
            v[p * CODES_BLOCK + i] *= root[i];
        }
    }
}

static enum sotto_status
set_curvature(struct smooth_expansion *expansion, const struct codes *codes,
              struct tensor_backend *backend, const struct sotto_watch *watch,
              struct sotto_error *err)
{
    size_t pairs = codes->pairs;
    float *v = malloc(pairs * CODES_BLOCK * sizeof *v);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (v == NULL) {
        return host_fail_memory(err);
    }
    memset(expansion->h, 0,
           (expansion->dense ? pairs * pairs : pairs) * sizeof *v);
    for (size_t block = 0; block < codes->blocks; block++) {
        status = cells_tick(watch, block, codes->blocks, err);
        if (status != SOTTO_STATUS_OK) {
            break;
        }
        set_block(codes, block, expansion->at, v);
        weigh_block(codes, block, v);
        if (expansion->dense) {
            backend->ops->multiply(backend, false, true, pairs, pairs,
                                   CODES_BLOCK, 1, v, v, 1, expansion->h);
        }
        for (size_t p = 0; p < pairs && !expansion->dense; p++) {
            double sum = 0;
            for (size_t i = 0; i < CODES_BLOCK; i++) {
                double at = (double)v[p * CODES_BLOCK + i];
                sum += at * at;
            }
            expansion->h[p] += (float)sum;
        }
    }
    free(v);
    return status;
}

/* Adds the scores of a block's reports to those of their folds. */
static void
add_scores(const struct codes *codes, size_t block, const float *v,
           size_t folds, uint32_t *dealt, float *scores)
{
    size_t pairs = codes->pairs, left = codes->rows - block * CODES_BLOCK;
    size_t rows = left < CODES_BLOCK ? left : CODES_BLOCK;
    double own = codes->times != NULL ? codes->scale : 1;
    for (size_t i = 0; i < rows; i++) {
        size_t row = block * CODES_BLOCK + i;
        size_t first = codes->times == NULL ? row % folds : 0;
        size_t end = codes->times == NULL ? first + 1 : folds;
        if (codes->times == NULL) {
            dealt[first] = 1; /* their order is by lot already */
        } else {
            codes_deal(codes, row, folds, dealt);
        }
        for (size_t f = first; f < end; f++) {
            float by = (float)((double)dealt[f] * own);
            for (size_t p = 0; p < pairs && dealt[f] > 0; p++) {
                scores[f * pairs + p] += by * v[p * CODES_BLOCK + i];
            }
        }
    }
}

enum sotto_status
smooth_expansion_scores(const struct smooth_expansion *expansion,
                        const struct codes *codes, size_t folds,
                        float *ret_scores, struct sotto_error *err)
{
    size_t pairs = codes->pairs;
    float *v = malloc(pairs * CODES_BLOCK * sizeof *v);
    uint32_t *dealt = malloc(folds * sizeof *dealt);
    if (v == NULL || dealt == NULL) {
        free(v);
        free(dealt);
        return host_fail_memory(err);
    }
    memset(ret_scores, 0, folds * pairs * sizeof *ret_scores);
    for (size_t block = 0; block < codes->blocks; block++) {
        set_block(codes, block, expansion->at, v);
        add_scores(codes, block, v, folds, dealt, ret_scores);
    }
    free(dealt);
    free(v);
    return SOTTO_STATUS_OK;
}

enum sotto_status
smooth_expansion_set(struct smooth_expansion *expansion, struct codes *codes,
                     const double *at, bool curved,
                     struct tensor_backend *backend,
                     const struct sotto_watch *watch, struct sotto_error *err)
{
    size_t pairs = codes->pairs, classes = codes->classes;
    double *g = malloc(pairs * sizeof *g);
    if (g == NULL) {
        return host_fail_memory(err);
    }
    memcpy(expansion->at, at, pairs * sizeof *at);
    expansion->log_p = codes_pass(codes, at, g);
    for (size_t c = 0; c < codes->cells; c++) {
        double mean = 0;
        for (size_t y = 0; y < classes; y++) {
            mean += g[c * classes + y] / (double)classes;
        }
        for (size_t y = 0; y < classes; y++) {
            expansion->g[c * classes + y] = (float)(g[c * classes + y] - mean);
        }
    }
    free(g);
    return curved ? set_curvature(expansion, codes, backend, watch, err)
                  : SOTTO_STATUS_OK;
}
