/*
 * targets.c: what a network is to say of records.
 */
#include "learn/codes/targets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"

#define ROUNDS 30u
#define P_LEAST 1e-6F /* no class of a record counts as less likely */

/* Sets the targets of a record, from p and what its code's labels weigh. */
static void
weigh_row(const float *p, const double *r, size_t classes, double *ret_t)
{
    double sum = 0;
    for (size_t y = 0; y < classes; y++) {
        ret_t[y] = (double)fmaxf(p[y], P_LEAST) * r[y];
        sum += ret_t[y];
    }
    for (size_t y = 0; y < classes; y++) {
        ret_t[y] = sum > 0 ? ret_t[y] / sum : 1 / (double)classes;
    }
}

/* Puts the targets in the place of p; `t` is room for those of a record. */
static void
weigh_rows(const double *r, size_t classes, const uint32_t *code, size_t n,
           float *p, double *t)
{
    for (size_t m = 0; m < n; m++) {
        weigh_row(p + m * classes, r + code[m] * classes, classes, t);
        for (size_t y = 0; y < classes; y++) {
            p[m * classes + y] = (float)t[y];
        }
    }
}

/* One round of Sinkhorn's: weighs a code's labels by what its records lack. */
static void
scale_round(const double *tau, size_t cells, size_t classes,
            const uint32_t *code, size_t n, const float *p, double *r,
            double *sum, double *t)
{
    double *count = sum + cells * classes;
    memset(sum, 0, cells * (classes + 1) * sizeof *sum);
    for (size_t m = 0; m < n; m++) {
        size_t c = code[m];
        weigh_row(p + m * classes, r + c * classes, classes, t);
        for (size_t y = 0; y < classes; y++) {
            sum[c * classes + y] += t[y];
        }
        count[c]++;
    }
    for (size_t i = 0; i < cells * classes; i++) {
        r[i] *= sum[i] > 0 ? tau[i] * count[i / classes] / sum[i] : 1;
    }
}

enum sotto_status
targets_scale(const struct classifier *classifier, const uint32_t *code,
              size_t n, float *p, struct sotto_error *err)
{
    size_t cells = classifier->cells, classes = classifier->classes;
    size_t pairs = cells * classes;
    double *r = malloc((2 * pairs + cells + classes) * sizeof *r);
    double *sum = r + pairs, *t = sum + pairs + cells;
    if (r == NULL) {
        return host_fail_memory(err);
    }
    memcpy(r, classifier->tau, pairs * sizeof *r);
    for (size_t i = 0; i < ROUNDS; i++) {
        scale_round(classifier->tau, cells, classes, code, n, p, r, sum, t);
    }
    weigh_rows(r, classes, code, n, p, t);
    free(r);
    return SOTTO_STATUS_OK;
}

enum sotto_status
targets_weigh(const struct classifier *classifier, struct codes *codes,
              const uint32_t *code, size_t n, float *p, struct sotto_error *err)
{
    size_t cells = classifier->cells, classes = classifier->classes;
    size_t pairs = cells * classes;
    const struct classifier_aux aux = {.code = code, .n = n};
    double *j = malloc((2 * pairs + cells + classes) * sizeof *j);
    double *g = j + pairs, *t = g + pairs + cells;
    if (j == NULL) {
        return host_fail_memory(err);
    }
    classifier_means(&aux, cells, classes, classifier->tau, p, j, g);
    for (size_t i = 0; i < pairs; i++) {
        j[i] *= classifier->pi[i / classes];
    }
    (void)codes_pass(codes, j, g);
    weigh_rows(g, classes, code, n, p, t);
    free(j);
    return SOTTO_STATUS_OK;
}
