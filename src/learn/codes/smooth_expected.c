/*
 * smooth_expected.c: how often the answer will be right, as the posterior has
 * it.
 *
 * The answer at leaf l is the label that the mean of all particles has most of,
 * a(l). If particle t is true, it is right with probability
 *
 *     right_t = sum_l pi_l tau_t,l,a(l)
 *
 * so the particles' right_t are draws of the posterior of the accuracy.
 */
#include <stdlib.h>

#include "host/error.h"
#include "learn/codes/smooth.h"

#define BELOW 0.05 /* of the draws, and as many above */

static size_t
find_answer(const double *mean, size_t classes)
{
    size_t answer = 0;
    for (size_t y = 1; y < classes; y++) {
        answer = mean[y] > mean[answer] ? y : answer;
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
smooth_expected(const float *tau, const double *mean, const double *pi,
                size_t leaves, size_t particles, size_t classes,
                struct smooth_expectation *ret_expectation,
                struct sotto_error *err)
{
    double *right = calloc(particles, sizeof *right), sum = 0;
    size_t below = (size_t)(BELOW * (double)particles);
    if (right == NULL) {
        return host_fail_memory(err);
    }
    for (size_t l = 0; l < leaves; l++) {
        size_t answer = find_answer(mean + l * classes, classes);
        for (size_t t = 0; t < particles; t++) {
            right[t] +=
                pi[l] * (double)tau[(l * particles + t) * classes + answer];
        }
    }
    for (size_t t = 0; t < particles; t++) {
        sum += right[t];
    }
    qsort(right, particles, sizeof *right, compare_numbers);
    ret_expectation->mean = sum / (double)particles;
    ret_expectation->low = right[below];
    ret_expectation->high = right[particles - 1 - below];
    free(right);
    return SOTTO_STATUS_OK;
}
