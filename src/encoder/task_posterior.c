/*
 * task_posterior.c: what a report that names one of k codes says of a record.
 */
#include "encoder/task_posterior.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "likelihood/likelihood.h"

/* By what the channel's estimator makes of a symbol that is named, and of one
   that is not: (1 - other) / gap and -other / gap. */
enum sotto_status
task_response_find(struct task_response *response, size_t k, uint64_t eps,
                   struct sotto_error *err)
{
    const struct channel *channel = channel_find(channel_exact, "flip", 4);
    struct channel_instance instance;
    struct likelihood_instance likelihood;
    void *own = malloc(channel->own_size);
    enum sotto_status status;
    if (own == NULL) {
        return host_fail_memory(err);
    }
    status = channel_init(&instance, channel, (uint32_t)k, 0, 0, eps, 0, own);
    if (status == SOTTO_STATUS_OK) {
        likelihood_bind(&likelihood, likelihood_find(channel->name), &instance);
        response->gap = 1 / (likelihood.high - likelihood.low);
        response->other = -likelihood.low * response->gap;
    } else {
        (void)host_fail(err, status, 0, "the channel takes no such budget");
    }
    free(own);
    return status;
}

void
task_posterior_fit(const struct task_response *response, size_t k,
                   const struct task_rows *rows, const int32_t *code,
                   const float *y, size_t d, double *share, double *ret_answer)
{
    double unit = 1 / (double)rows->count;
    memset(share, 0, k * sizeof *share);
    memset(ret_answer, 0, k * d * sizeof *ret_answer);
    for (size_t i = 0; i < rows->count; i++) {
        size_t row = rows->row[i], c = (size_t)code[row];
        share[c] += unit;
        for (size_t j = 0; j < d; j++) {
            ret_answer[c * d + j] += unit * (double)y[row * d + j];
        }
    }
    for (size_t j = 0; j < d; j++) {
        double mean = 0;
        for (size_t c = 0; c < k; c++) {
            mean += ret_answer[c * d + j];
        }
        for (size_t c = 0; c < k; c++) {
            double *at = &ret_answer[c * d + j];
            *at = (response->other * mean + response->gap * *at) /
                  (response->other + response->gap * share[c]);
        }
    }
}

static double
squared(const float *y, const double *answer, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        double off = (double)y[j] - answer[j];
        sum += off * off;
    }
    return sum;
}

double
task_posterior_loss(const struct task_response *response, size_t k,
                    const struct task_rows *rows, const int32_t *code,
                    const float *y, size_t d, const double *answer)
{
    double loss = 0;
    for (size_t i = 0; i < rows->count; i++) {
        size_t row = rows->row[i];
        const float *at = y + row * d;
        double all = 0;
        for (size_t r = 0; r < k; r++) {
            all += squared(at, answer + r * d, d);
        }
        loss += response->other * all +
                response->gap * squared(at, answer + (size_t)code[row] * d, d);
    }
    return loss;
}
