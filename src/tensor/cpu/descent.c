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
struct adam_factors {
    float keep1, add1, keep2, add2;
    float step; /* rate / (1 - beta1^t) */
    float root; /* 1 / sqrt(1 - beta2^t) */
    float epsilon;
    float shrink; /* 1 - rate decay */
};

CPU_KERNEL(cpu_adam_span,
           (size_t size, const struct adam_factors *factors,
            float *restrict value, const float *restrict gradient,
            float *restrict first, float *restrict second),
           (size, factors, value, gradient, first, second))
{
    const struct adam_factors f = *factors;
    for (size_t i = 0; i < size; i++) {
        float g = gradient[i];
        float m = f.keep1 * first[i] + f.add1 * g;
        float v = f.keep2 * second[i] + f.add2 * (g * g);
        float step = f.step * m / (sqrtf(v) * f.root + f.epsilon);
        value[i] = f.shrink * value[i] - step;
        first[i] = m;
        second[i] = v;
    }
}

struct adam_job {
    struct adam_factors factors;
    float *value;
    const float *gradient;
    float *first, *second;
};

static void
adam_span(void *context, size_t i, size_t begin, size_t end)
{
    const struct adam_job *job = context;
    (void)i;
    cpu_adam_span(end - begin, &job->factors, job->value + begin,
                  job->gradient + begin, job->first + begin,
                  job->second + begin);
}

void
cpu_adam(struct tensor_backend *self, size_t size,
         const struct tensor_adam *adam, float *value, const float *gradient,
         float *first, float *second)
{
    double t = (double)adam->step;
    double rate = adam->rate;
    struct adam_job job = {
        .factors = {.keep1 = adam->beta1,
                    .add1 = (float)(1 - (double)adam->beta1),
                    .keep2 = adam->beta2,
                    .add2 = (float)(1 - (double)adam->beta2),
                    .step = (float)(rate / (1 - pow(adam->beta1, t))),
                    .root = (float)(1 / sqrt(1 - pow(adam->beta2, t))),
                    .epsilon = adam->epsilon,
                    .shrink = (float)(1 - rate * adam->decay)},
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

CPU_KERNEL(cpu_sgd_span,
           (size_t size, float rate, float momentum, float shrink,
            float *restrict value, const float *restrict gradient,
            float *restrict first),
           (size, rate, momentum, shrink, value, gradient, first))
{
    for (size_t i = 0; i < size; i++) {
        float m = momentum * first[i] + gradient[i];
        value[i] = shrink * value[i] - rate * m;
        first[i] = m;
    }
}

static void
sgd_span(void *context, size_t i, size_t begin, size_t end)
{
    const struct sgd_job *job = context;
    (void)i;
    cpu_sgd_span(end - begin, job->rate, job->momentum, job->shrink,
                 job->value + begin, job->gradient + begin, job->first + begin);
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
