/*
 * smooth_expected.c: how often the answer will be right.
 *
 * The answer at leaf l is the label that the particles' mean has most of, a(l).
 * If particle t is true, it is right with probability
 *
 *     right_t = sum_l pi_l tau_t,l,a(l)
 *
 * so the particles' right_t are about draws of the posterior of the accuracy. A
 * particle that had a part in the mean agrees with it more than the truth does:
 * so each half of the particles is asked about the other half's answer.
 * Particles that were drawn from one stand side by side, in one half.
 *
 * All of them may be deceived by their prior, which takes labels for nearly
 * pure at most leaves. The reports were asked, too (smooth_check.c): what is
 * told are quantiles of the product of both.
 */
#include <math.h>
#include <stdlib.h>

#include "host/error.h"
#include "learn/codes/smooth.h"

#define BELOW 0.05   /* of the distribution, and as much above */
#define NETWORK 0.02 /* by how much the network differs from the leaves */
#define GRID 1000u   /* shares that are weighed */

/* The label that particles [first, end) have most of, at a leaf. */
static size_t
find_answer(const float *tau, size_t classes, size_t first, size_t end)
{
    size_t answer = 0;
    double most = -1;
    for (size_t y = 0; y < classes; y++) {
        double sum = 0;
        for (size_t t = first; t < end; t++) {
            sum += (double)tau[t * classes + y];
        }
        answer = sum > most ? y : answer;
        most = sum > most ? sum : most;
    }
    return answer;
}

/* How likely the share is, up to a factor: near what a particle says, with
   heavy tails (Student's t of three degrees), and near the check. */
static double
weigh_share(double share, const double *right, size_t particles,
            const struct smooth_check *check)
{
    double sum = 0, off = (share - check->right) / hypot(check->error, NETWORK);
    for (size_t t = 0; t < particles; t++) {
        double far = (share - right[t]) / check->misfit;
        double tail = 1 + far * far / 3;
        sum += 1 / (tail * tail);
    }
    return sum * exp(-off * off / 2);
}

/* Quantiles of the share of people for whom the answer is right. */
static void
find_quantiles(const double *right, size_t particles,
               const struct smooth_check *check,
               struct smooth_expectation *ret_expectation)
{
    double weight[GRID], sum = 0, so_far = 0;
    double at[3] = {BELOW, 0.5, 1 - BELOW}, found[3] = {1, 1, 1};
    size_t next = 0;
    for (size_t i = 0; i < GRID; i++) {
        weight[i] =
            weigh_share(((double)i + 0.5) / GRID, right, particles, check);
        sum += weight[i];
    }
    for (size_t i = 0; i < GRID; i++) {
        so_far += weight[i] / sum;
        while (next < 3 && so_far >= at[next]) {
            found[next++] = ((double)i + 0.5) / GRID;
        }
    }
    *ret_expectation = (struct smooth_expectation){
        .low = found[0], .median = found[1], .high = found[2]};
}

enum sotto_status
smooth_expected(const float *tau, const double *pi, size_t leaves,
                size_t particles, size_t classes,
                const struct smooth_check *check,
                struct smooth_expectation *ret_expectation,
                struct sotto_error *err)
{
    double *right = calloc(particles + 1, sizeof *right);
    size_t half = particles / 2;
    if (right == NULL) {
        return host_fail_memory(err);
    }
    for (size_t l = 0; l < leaves; l++) {
        const float *at = tau + l * particles * classes;
        size_t early = find_answer(at, classes, 0, half);
        size_t late = find_answer(at, classes, half, particles);
        for (size_t t = 0; t < particles; t++) {
            size_t answer = t < half ? late : early;
            right[t] += pi[l] * (double)at[t * classes + answer];
        }
    }
    find_quantiles(right, particles, check, ret_expectation);
    free(right);
    return SOTTO_STATUS_OK;
}
