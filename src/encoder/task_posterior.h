/*
 * task_posterior.h: what a report that names one of k codes says of a record:
 * the mean of those who may have sent it.
 *
 *     P(r | c) = gap [r = c] + other
 *     D(r) = (other m + gap pi_r m_r) / (other + gap pi_r),   m = sum pi_c m_c
 *
 * pi_c is the share of rows with the code c, m_c the mean of their y.
 */
#ifndef SOTTO_ENCODER_TASK_POSTERIOR_H
#define SOTTO_ENCODER_TASK_POSTERIOR_H

#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"

/* What flip does with a code: it says each other one with chance `other`, and
   the true one with `gap` more. */
struct task_response {
    double gap, other;
};

/* Some of the rows, by their numbers. */
struct task_rows {
    size_t *row;
    size_t count;
};

/* The chances of k-ary response at eps, in units of 10^-12, as devices draw it.
   Statuses: BUDGET, LIMIT, MEMORY. */
SOTTO_CHECKED enum sotto_status
task_response_find(struct task_response *response, size_t k, uint64_t eps,
                   struct sotto_error *err);

/* D of every report, k rows of d, by these rows of y and their codes, both of
   all rows. `share`: room for k. */
void task_posterior_fit(const struct task_response *response, size_t k,
                        const struct task_rows *rows, const int32_t *code,
                        const float *y, size_t d, double *share,
                        double *ret_answer);
/* The sum over these rows of sum_r P(r | c) |y - D(r)|^2. */
double task_posterior_loss(const struct task_response *response, size_t k,
                           const struct task_rows *rows, const int32_t *code,
                           const float *y, size_t d, const double *answer);

#endif
