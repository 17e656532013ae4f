/*
 * likelihood.c: negative log-likelihoods and their gradients in one pass.
 *
 * A part's sum is kept in double precision, in one lane for each place within
 * a cache line; lanes are added in order, and then the parts.
 */
#include <math.h>
#include <string.h>

#include "tensor/cpu/cpu.h"
#include "tensor/cpu/curves.h"

#define LONG_ROW ((size_t)128) /* from where lanes are worth it */
#define ELEMENTS_MIN ((size_t)4096)
#define BLOCK ((size_t)256)

enum element { ELEMENT_BERNOULLI, ELEMENT_GAUSSIAN };

struct loss_job {
    enum element element; /* where the loss is a sum over elements */
    size_t k;
    const float *a, *target;
    float scale;
    float *da;
    double sum[CPU_PARTS_MAX];
};

/* Adds in the order of the parts. */
static double
run_job(struct tensor_backend *self, struct loss_job *job, size_t size,
        size_t unit, size_t least,
        void (*span)(void *context, size_t i, size_t begin, size_t end))
{
    double sum = 0;
    cpu_run_spans(self, size, unit, least, span, job);
    for (size_t i = 0; i < cpu_parts(size, least); i++) {
        sum += job->sum[i];
    }
    return sum;
}

/* Adds to the lanes; what is left over beyond whole lines to the first ones. */
CPU_BODY
add_block_body(size_t size, const float *loss, double *lane)
{
    size_t whole = size - size % CPU_LANES;
    for (size_t i = 0; i < whole; i += CPU_LANES) {
        for (size_t l = 0; l < CPU_LANES; l++) {
            lane[l] += (double)loss[i + l];
        }
    }
    for (size_t i = whole; i < size; i++) {
        lane[i - whole] += (double)loss[i];
    }
}

static double
add_lanes(const double *lane)
{
    double sum = 0;
    for (size_t l = 0; l < CPU_LANES; l++) {
        sum += lane[l];
    }
    return sum;
}

/* ---- Bernoulli: log(1 + e^a) - t a, gradient sigmoid(a) - t ------------- */

/* e = e^-|a| serves both, and below e^-40 is nothing beside 1. */
CPU_BODY
bernoulli_block_body(size_t size, const float *restrict a,
                     const float *restrict target, float scale,
                     float *restrict loss, float *restrict slope)
{
    for (size_t i = 0; i < size; i++) {
        float away = fabsf(a[i]);
        float e = curve_exp(40.0F < away ? -40.0F : -away);
        float above = 0.0F > a[i] ? 0.0F : a[i];
        float p = (a[i] < 0.0F ? e : 1.0F) / (1.0F + e);
        loss[i] = above - a[i] * target[i] + curve_log1p(e);
        slope[i] = scale * (p - target[i]);
    }
}

/* ---- Gaussian: (a - t)^2 / 2, gradient a - t ---------------------------- */

CPU_BODY
gaussian_block_body(size_t size, const float *restrict a,
                    const float *restrict target, float scale,
                    float *restrict loss, float *restrict slope)
{
    for (size_t i = 0; i < size; i++) {
        float away = a[i] - target[i];
        loss[i] = 0.5F * away * away;
        slope[i] = scale * away;
    }
}

/* ---- Both of them, element by element ----------------------------------- */

/* Block by block, since da may be a. */
CPU_SPAN(element_span)
{
    struct loss_job *job = context;
    double lane[CPU_LANES] = {0};
    float loss[BLOCK];
    float slope[BLOCK];
    for (size_t at = begin; at < end; at += BLOCK) {
        size_t some = end - at < BLOCK ? end - at : BLOCK;
        if (job->element == ELEMENT_BERNOULLI) {
            bernoulli_block_body(some, job->a + at, job->target + at,
                                 job->scale, loss, slope);
        } else {
            gaussian_block_body(some, job->a + at, job->target + at, job->scale,
                                loss, slope);
        }
        add_block_body(some, loss, lane);
        if (job->da != NULL) {
            memcpy(job->da + at, slope, some * sizeof slope[0]);
        }
    }
    job->sum[i] = add_lanes(lane);
}

static double
run_elements(struct tensor_backend *self, enum element element, size_t size,
             const float *a, const float *target, float scale, float *da)
{
    struct loss_job job = {
        .element = element, .a = a, .target = target, .scale = scale};
    job.da = da;
    return run_job(self, &job, size, CPU_LANES, ELEMENTS_MIN, element_span);
}

double
cpu_bernoulli(struct tensor_backend *self, size_t n, size_t width,
              const float *logits, const float *target, float scale,
              float *dlogits)
{
    return run_elements(self, ELEMENT_BERNOULLI, n * width, logits, target,
                        scale, dlogits);
}

double
cpu_gaussian(struct tensor_backend *self, size_t n, size_t width,
             const float *a, const float *target, float scale, float *da)
{
    return run_elements(self, ELEMENT_GAUSSIAN, n * width, a, target, scale,
                        da);
}

/* ---- Categorical: sum_i t_i (log sum_j e^(a_j) - a_i) ------------------- */

static double
categorical_row(size_t k, const float *a, const float *t, float scale,
                float *da)
{
    float most = a[0];
    double sum = 0;
    double mass = 0;
    double loss = 0;
    for (size_t i = 1; i < k; i++) {
        most = a[i] > most ? a[i] : most;
    }
    for (size_t i = 0; i < k; i++) {
        sum += (double)curve_exp(a[i] - most);
        mass += (double)t[i];
    }
    double level = (double)most + log(sum);
    for (size_t i = 0; i < k; i++) {
        double p = (double)curve_exp(a[i] - most) / sum;
        loss += (double)t[i] * (level - (double)a[i]);
        if (da != NULL) { /* which may be a */
            da[i] = (float)((double)scale * (mass * p - (double)t[i]));
        }
    }
    return loss;
}

/* The same for a long row, lane by lane. */
CPU_KERNEL(cpu_categorical_long,
           (size_t k, const float *a, const float *t, float scale, float *da,
            double *ret_loss),
           (k, a, t, scale, da, ret_loss))
{
    size_t whole = k - k % CPU_LANES;
    float most[CPU_LANES];
    double sums[CPU_LANES] = {0};
    double masses[CPU_LANES] = {0};
    double dots[CPU_LANES] = {0};
    for (size_t l = 0; l < CPU_LANES; l++) {
        most[l] = a[k - 1 - l];
    }
    for (size_t i = 0; i < whole; i += CPU_LANES) {
        for (size_t l = 0; l < CPU_LANES; l++) {
            most[l] = a[i + l] > most[l] ? a[i + l] : most[l];
        }
    }
    for (size_t l = 1; l < CPU_LANES; l++) {
        most[0] = most[l] > most[0] ? most[l] : most[0];
    }
    for (size_t i = 0; i < whole; i += CPU_LANES) {
        float e[CPU_LANES];
        for (size_t l = 0; l < CPU_LANES; l++) {
            e[l] = curve_exp(a[i + l] - most[0]);
            sums[l] += (double)e[l];
            masses[l] += (double)t[i + l];
            dots[l] += (double)t[i + l] * (double)a[i + l];
        }
        for (size_t l = 0; da != NULL && l < CPU_LANES; l++) {
            da[i + l] = e[l];
        }
    }
    for (size_t i = whole; i < k; i++) {
        float e = curve_exp(a[i] - most[0]);
        sums[0] += (double)e;
        masses[0] += (double)t[i];
        dots[0] += (double)t[i] * (double)a[i];
        if (da != NULL) { /* which may be a */
            da[i] = e;
        }
    }
    double sum = add_lanes(sums);
    double mass = add_lanes(masses);
    float share = (float)(mass / sum);
    for (size_t i = 0; da != NULL && i < k; i++) {
        da[i] = scale * (share * da[i] - t[i]);
    }
    *ret_loss = mass * ((double)most[0] + log(sum)) - add_lanes(dots);
}

static void
categorical_span(void *context, size_t i, size_t begin, size_t end)
{
    struct loss_job *job = context;
    size_t k = job->k;
    double sum = 0;
    for (size_t r = begin; r < end; r++) {
        const float *a = job->a + r * k;
        const float *target = job->target + r * k;
        float *da = job->da == NULL ? NULL : job->da + r * k;
        if (k >= LONG_ROW) {
            double loss;
            cpu_categorical_long(k, a, target, job->scale, da, &loss);
            sum += loss;
        } else {
            sum += categorical_row(k, a, target, job->scale, da);
        }
    }
    job->sum[i] = sum;
}

double
cpu_categorical(struct tensor_backend *self, size_t n, size_t k,
                const float *logits, const float *target, float scale,
                float *dlogits)
{
    struct loss_job job = {
        .k = k, .a = logits, .target = target, .scale = scale};
    job.da = dlogits;
    return run_job(self, &job, n, 1, 1 + ELEMENTS_MIN / 8 / (k + 1),
                   categorical_span);
}
