/*
 * scores_auc.c: the area under the curve, by DeLong, DeLong and Clarke-Pearson
 * (1988).
 *
 * Of class k with n_k rows, let V_k(i) be
 *
 *     i has k        the share of other rows that k is less likely for
 *     i has another  the share of rows of k that k is likelier for
 *
 * (ties count half). A_k is the mean of V_k over the rows of k, and the mean
 * over the others is the same number. The mean A of the classes present, K of
 * them, is a sum over rows of
 *
 *     w_i = 1/K sum_k V_k(i) / (n_k if i has k, n - n_k otherwise)
 *
 * up to a constant; within a class the w_i are as good as independent, so that
 *
 *     S = sum_c n_c / (n_c - 1) sum_{i has c} (w_i - mean of c)^2
 *
 * estimates the variance of A given the classes' numbers of rows. For K = 2 it
 * is DeLong's own, s_10^2 / n_1 + s_01^2 / n_0. Of a class with one row the
 * variance of w is unknown: it is at most a quarter of the squared range.
 *
 * The interval is symmetric in ln(A / (1 - A)), so it stays between 0 and 1.
 * Where S is 0 or A is 0 or 1 the rows show no spread: then Newcombe's (2006)
 * score form of Hanley and McNeil (1982) holds, of the smallest class present
 * against the rest: the A' with (A - A')^2 <= z^2 V(A').
 */
#include <math.h>
#include <stdlib.h>

#include "host/error.h"
#include "host/wipe.h"
#include "learn/scores_parts.h"

struct ranked {
    double score;
    size_t row;
};

static int
compare_ranked(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;
    return (left->score > right->score) - (left->score < right->score);
}

/* The classes present, and what one row of one class adds. */
struct curve {
    const struct scored *scored;
    size_t present, first, second; /* two of them, if there are two */
    size_t smallest;               /* class present with fewest rows */
    struct ranked *ranked;
    double *w; /* of every row */
};

static void
find_present(struct curve *curve)
{
    const struct scored *scored = curve->scored;
    for (size_t k = 0; k < scored->classes; k++) {
        if (scored->has[k] == 0) {
            continue;
        }
        if (curve->present == 0) {
            curve->first = curve->smallest = k;
        } else if (curve->present == 1) {
            curve->second = k;
        }
        if (scored->has[k] < scored->has[curve->smallest]) {
            curve->smallest = k;
        }
        curve->present++;
    }
}

/* How likely class k is for a row; of two classes present, beside the other
   alone, so that both have one order. */
static double
score_row(const struct curve *curve, size_t row, size_t k)
{
    double own = scored_p(curve->scored, row, k), first, second, odds;
    if (curve->present != 2) {
        return own;
    }
    first = scored_p(curve->scored, row, curve->first);
    second = scored_p(curve->scored, row, curve->second);
    odds = first + second > 0 ? first / (first + second) : 0.5;
    return k == curve->first ? odds : -odds;
}

/* Adds V_k of the rows [from, to), which are tied, to w; returns the sum of V_k
   over those that have k. `below` counts rows before them: of others, of k. */
static double
add_tied(const struct curve *curve, size_t k, size_t from, size_t to,
         size_t below[2])
{
    const struct scored *scored = curve->scored;
    double own = (double)scored->has[k];
    double others = (double)(scored->rows - scored->has[k]), sum = 0;
    size_t tied[2] = {0, 0};
    for (size_t i = from; i < to; i++) {
        tied[scored->truth[curve->ranked[i].row] == k]++;
    }
    for (size_t i = from; i < to; i++) {
        size_t row = curve->ranked[i].row;
        double v;
        if (scored->truth[row] == k) {
            v = ((double)below[0] + (double)tied[0] / 2) / others;
            curve->w[row] += v / own / (double)curve->present;
            sum += v;
        } else {
            v = (own - (double)below[1] - (double)tied[1] / 2) / own;
            curve->w[row] += v / others / (double)curve->present;
        }
    }
    below[0] += tied[0];
    below[1] += tied[1];
    return sum;
}

static double
area_of(const struct curve *curve, size_t k)
{
    const struct scored *scored = curve->scored;
    struct ranked *ranked = curve->ranked;
    size_t below[2] = {0, 0}, from = 0;
    double sum = 0;
    for (size_t i = 0; i < scored->rows; i++) {
        ranked[i] = (struct ranked){score_row(curve, i, k), i};
    }
    qsort(ranked, scored->rows, sizeof *ranked, compare_ranked);
    while (from < scored->rows) {
        size_t to = from + 1;
        while (to < scored->rows && ranked[to].score == ranked[from].score) {
            to++;
        }
        sum += add_tied(curve, k, from, to, below);
        from = to;
    }
    return sum / (double)scored->has[k];
}

/* The most that w of a row of class c can be, squared, by four. */
static double
largest_variance(const struct curve *curve, size_t c)
{
    const struct scored *scored = curve->scored;
    double most = 0;
    for (size_t k = 0; k < scored->classes; k++) {
        size_t has = scored->has[k];
        if (has > 0) {
            most += 1 / (double)(k == c ? has : scored->rows - has);
        }
    }
    most /= (double)curve->present;
    return most * most / 4;
}

/* S above. */
static double
variance_of(const struct curve *curve, double *sum, double *squares)
{
    const struct scored *scored = curve->scored;
    double variance = 0;
    for (size_t i = 0; i < scored->rows; i++) {
        sum[scored->truth[i]] += curve->w[i];
    }
    for (size_t i = 0; i < scored->rows; i++) {
        size_t c = scored->truth[i];
        double off = curve->w[i] - sum[c] / (double)scored->has[c];
        squares[c] += off * off;
    }
    for (size_t c = 0; c < scored->classes; c++) {
        double has = (double)scored->has[c];
        if (scored->has[c] > 1) {
            variance += has / (has - 1) * squares[c];
        } else if (scored->has[c] == 1) {
            variance += largest_variance(curve, c);
        }
    }
    return variance;
}

/* Hanley and McNeil's variance at area a, with the mean of both numbers in
   place of each in the terms of Q1 and Q2. */
static double
hanley_mcneil(double a, double n1, double n0)
{
    double each = (n1 + n0) / 2 - 1;
    return a * (1 - a) * (1 + each * ((1 - a) / (2 - a) + a / (1 + a))) /
           (n1 * n0);
}

/* Where (a - x)^2 = z^2 V(x), between a and `end`. */
static double
solve_score(double a, double end, double n1, double n0, double z)
{
    double in = a, out = end;
    for (int i = 0; i < 60; i++) {
        double x = (in + out) / 2;
        if ((a - x) * (a - x) <= z * z * hanley_mcneil(x, n1, n0)) {
            in = x;
        } else {
            out = x;
        }
    }
    return out;
}

static struct sotto_score
interval_of(const struct curve *curve, double a, double variance, double z)
{
    double n1 = (double)curve->scored->has[curve->smallest];
    double n0 = (double)curve->scored->rows - n1;
    double logit = log(a) - log1p(-a), half;
    if (!(variance > 1e-20) || !(a > 0) || !(a < 1)) {
        return (struct sotto_score){a, solve_score(a, 0, n1, n0, z),
                                    solve_score(a, 1, n1, n0, z)};
    }
    half = z * sqrt(variance) / (a * (1 - a));
    return (struct sotto_score){a, 1 / (1 + exp(half - logit)),
                                1 / (1 + exp(-half - logit))};
}

enum sotto_status
scores_auc(const struct scored *scored, double z, struct sotto_class_score *of,
           struct sotto_score *ret_auc, struct sotto_error *err)
{
    struct curve curve = {.scored = scored};
    double *sums = calloc(2 * scored->classes, sizeof *sums), mean = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    find_present(&curve);
    curve.ranked = calloc(scored->rows, sizeof *curve.ranked);
    curve.w = calloc(scored->rows, sizeof *curve.w);
    if (sums == NULL || curve.ranked == NULL || curve.w == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    *ret_auc = (struct sotto_score){NAN, NAN, NAN};
    for (size_t k = 0; k < scored->classes; k++) {
        of[k].auc = NAN;
        if (scored->has[k] > 0 && curve.present > 1) {
            of[k].auc = area_of(&curve, k);
            mean += of[k].auc / (double)curve.present;
        }
    }
    if (curve.present > 1) {
        double variance = variance_of(&curve, sums, sums + scored->classes);
        *ret_auc = interval_of(&curve, mean, variance, z);
    }
done:
    free(sums);
    host_wipe_free(curve.ranked, scored->rows * sizeof *curve.ranked);
    host_wipe_free(curve.w, scored->rows * sizeof *curve.w);
    return status;
}
