/*
 * descent.c: the optimisers' steps, one pass over the arena.
 *
 * Bound by memory: seven floats go to or come from it for each parameter.
 */
#include <math.h>

#include "tensor/cpu/cpu.h"

#define ELEMENTS_MIN ((size_t)8192)

/* ---- Adam --------------------------------------------------------------- */

/* m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon), with the rate and
   the corrections in `step` and `root`. */
struct adam_job {
    float keep1, add1, keep2, add2;
    float step; /* rate / (1 - beta1^t) */
    float root; /* 1 / sqrt(1 - beta2^t) */
    float epsilon;
    float shrink; /* 1 - rate decay */
    float *value;
    const float *gradient;
    float *first, *second;
};

CPU_SPAN(adam_span)
{
    const struct adam_job job = *(const struct adam_job *)context;
    float *restrict value = job.value, *restrict first = job.first;
    float *restrict second = job.second;
    const float *restrict gradient = job.gradient;
    (void)i;
    for (size_t at = begin; at < end; at++) {
        float g = gradient[at];
        float m = job.keep1 * first[at] + job.add1 * g;
        float v = job.keep2 * second[at] + job.add2 * (g * g);
        float step = job.step * m / (sqrtf(v) * job.root + job.epsilon);
        value[at] = job.shrink * value[at] - step;
        first[at] = m;
        second[at] = v;
    }
}

void
cpu_adam(struct tensor_backend *self, size_t size,
         const struct tensor_adam *adam, float *value, const float *gradient,
         float *first, float *second)
{
    double t = (double)adam->step;
    double rate = adam->rate;
    struct adam_job job = {.keep1 = adam->beta1,
                           .add1 = (float)(1 - (double)adam->beta1),
                           .keep2 = adam->beta2,
                           .add2 = (float)(1 - (double)adam->beta2),
                           .step = (float)(rate / (1 - pow(adam->beta1, t))),
                           .root = (float)(1 / sqrt(1 - pow(adam->beta2, t))),
                           .epsilon = adam->epsilon,
                           .shrink = (float)(1 - rate * adam->decay),
                           .gradient = gradient};
    job.value = value;
    job.first = first;
    job.second = second;
    cpu_run_spans(self, size, CPU_LANES, ELEMENTS_MIN, adam_span, &job);
}

/* ---- SGD with momentum -------------------------------------------------- */

struct sgd_job {
    float rate, momentum, shrink;
    float *value;
    const float *gradient;
    float *first;
};

CPU_SPAN(sgd_span)
{
    const struct sgd_job job = *(const struct sgd_job *)context;
    float *restrict value = job.value, *restrict first = job.first;
    const float *restrict gradient = job.gradient;
    (void)i;
    for (size_t at = begin; at < end; at++) {
        float m = job.momentum * first[at] + gradient[at];
        value[at] = job.shrink * value[at] - job.rate * m;
        first[at] = m;
    }
}

void
cpu_sgd(struct tensor_backend *self, size_t size, float rate, float momentum,
        float decay, float *value, const float *gradient, float *first)
{
    struct sgd_job job = {.rate = rate,
                          .momentum = momentum,
                          .shrink = (float)(1 - (double)rate * (double)decay),
                          .gradient = gradient};
    job.value = value;
    job.first = first;
    cpu_run_spans(self, size, CPU_LANES, ELEMENTS_MIN, sgd_span, &job);
}
