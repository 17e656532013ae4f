/*
 * smooth_expected.c: how often the answer will be right, as the posterior has
 * it.
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
 */
#include <stdlib.h>

#include "host/error.h"
#include "learn/codes/smooth.h"

#define BELOW 0.05 /* of the particles, and as many above */

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

static int
compare_numbers(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

enum sotto_status
smooth_expected(const float *tau, const double *pi, size_t leaves,
                size_t particles, size_t classes,
                struct smooth_expectation *ret_expectation,
                struct sotto_error *err)
{
    double *right = calloc(particles + 1, sizeof *right);
    size_t half = particles / 2;
    size_t below = (size_t)(BELOW * (double)particles);
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
    qsort(right, particles, sizeof *right, compare_numbers);
    ret_expectation->median = right[half];
    ret_expectation->low = right[below];
    ret_expectation->high = right[particles - 1 - below];
    free(right);
    return SOTTO_STATUS_OK;
}
