/*
 * batch_norm.c: batch norm and its gradient, a cache line of columns at a time.
 *
 * Sums over the batch are in double precision, in the order of the rows. The
 * equations are in plain.c.
 */
#include <math.h>

#include "tensor/cpu/cpu.h"

#define NORM_EPSILON 1e-5
#define ELEMENTS_MIN ((size_t)4096)

/* Columns from j on: at most CPU_LANES. */
static size_t
lanes_at(const struct norm_job *job, size_t j)
{
    return job->width - j < CPU_LANES ? job->width - j : CPU_LANES;
}

static void
run_columns(struct tensor_backend *self, struct norm_job *job,
            void (*span)(void *context, size_t i, size_t begin, size_t end))
{
    cpu_run_spans(self, job->width, CPU_LANES, 1 + ELEMENTS_MIN / (job->n + 1),
                  span, job);
}

/* ---- Kernels on up to CPU_LANES columns, `stride` floats between rows ---- */

/* Means, and sums of squared distances from them. */
CPU_KERNEL(cpu_moments,
           (size_t n, size_t lanes, size_t stride, const float *x, double *mean,
            double *squares),
           (n, lanes, stride, x, mean, squares))
{
    double sum[CPU_LANES] = {0};
    double square[CPU_LANES] = {0};
    for (size_t r = 0; r < n; r++) {
        for (size_t l = 0; l < lanes; l++) {
            sum[l] += (double)x[r * stride + l];
        }
    }
    for (size_t l = 0; l < lanes; l++) {
        sum[l] /= (double)n;
    }
    for (size_t r = 0; r < n; r++) {
        for (size_t l = 0; l < lanes; l++) {
            double away = (double)x[r * stride + l] - sum[l];
            square[l] += away * away;
        }
    }
    for (size_t l = 0; l < lanes; l++) {
        mean[l] = sum[l];
        squares[l] = square[l];
    }
}

CPU_KERNEL(cpu_norm_apply,
           (size_t n, size_t lanes, size_t stride, const float *x,
            const float *mean, const float *inverse, const float *gain,
            const float *shift, float *y),
           (n, lanes, stride, x, mean, inverse, gain, shift, y))
{
    for (size_t r = 0; r < n; r++) {
        const float *restrict from = x + r * stride;
        float *restrict to = y + r * stride;
        for (size_t l = 0; l < lanes; l++) {
            float unit = (from[l] - mean[l]) * inverse[l];
            to[l] = unit * gain[l] + shift[l];
        }
    }
}

CPU_KERNEL(cpu_norm_slopes,
           (size_t n, size_t lanes, size_t stride, const float *x,
            const float *mean, const float *inverse, const float *gain,
            const float *dy, float *dgain, float *dshift, float *dx),
           (n, lanes, stride, x, mean, inverse, gain, dy, dgain, dshift, dx))
{
    double sum[CPU_LANES] = {0};
    double along[CPU_LANES] = {0};
    for (size_t r = 0; r < n; r++) {
        for (size_t l = 0; l < lanes; l++) {
            size_t at = r * stride + l;
            float unit = (x[at] - mean[l]) * inverse[l];
            sum[l] += (double)dy[at];
            along[l] += (double)dy[at] * (double)unit;
        }
    }
    for (size_t r = 0; r < n; r++) {
        for (size_t l = 0; l < lanes; l++) {
            size_t at = r * stride + l;
            double unit = (double)((x[at] - mean[l]) * inverse[l]);
            double away =
                (double)dy[at] - (sum[l] + unit * along[l]) / (double)n;
            dx[at] = (float)((double)gain[l] * (double)inverse[l] * away);
        }
    }
    for (size_t l = 0; l < lanes; l++) {
        dshift[l] = (float)sum[l];
        dgain[l] = (float)along[l];
    }
}

/* ---- Forward ------------------------------------------------------------ */

void
cpu_norm_moments(const struct norm_job *job, size_t j, double mean,
                 double squares)
{
    double n = (double)job->n;
    double keep = 1 - job->momentum;
    float *past = &job->running_mean[j];
    float *spread = &job->running_variance[j];
    double variance = (double)*spread;
    job->mean[j] = *past;
    if (job->training) {
        double unbiased = n > 1 ? squares / (n - 1) : 0;
        variance = squares / n;
        job->mean[j] = (float)mean;
        *past = (float)(keep * (double)*past + job->momentum * mean);
        *spread = (float)(keep * (double)*spread + job->momentum * unbiased);
    }
    job->inverse[j] = (float)(1 / sqrt(variance + NORM_EPSILON));
}

static void
norm_span(void *context, size_t i, size_t begin, size_t end)
{
    const struct norm_job *job = context;
    (void)i;
    for (size_t j = begin; j < end; j += CPU_LANES) {
        size_t lanes = lanes_at(job, j);
        double mean[CPU_LANES] = {0};
        double squares[CPU_LANES] = {0};
        if (job->training) {
            cpu_moments(job->n, lanes, job->width, job->x + j, mean, squares);
        }
        for (size_t l = 0; l < lanes; l++) {
            cpu_norm_moments(job, j + l, mean[l], squares[l]);
        }
        cpu_norm_apply(job->n, lanes, job->width, job->x + j, job->centre + j,
                       job->factor + j, job->gain + j, job->shift + j,
                       job->out + j);
        cpu_activate(job->n, lanes, job->width, NULL, job->activation,
                     job->out + j);
    }
}

void
cpu_norm(struct tensor_backend *self, size_t n, size_t width, bool training,
         float momentum, const float *x, const float *gain, const float *shift,
         float *running_mean, float *running_variance,
         enum activation activation, float *mean, float *inverse, float *y)
{
    struct norm_job job = {.n = n,
                           .width = width,
                           .training = training,
                           .momentum = (double)momentum,
                           .activation = activation,
                           .x = x,
                           .gain = gain,
                           .shift = shift,
                           .centre = mean,
                           .factor = inverse};
    job.running_mean = running_mean;
    job.running_variance = running_variance;
    job.mean = mean;
    job.inverse = inverse;
    job.out = y;
    if (!cpu_channels(n, width) || !cpu_channel_norm(self, job)) {
        run_columns(self, &job, norm_span);
    }
}

/* ---- Back --------------------------------------------------------------- */

static void
norm_back_span(void *context, size_t i, size_t begin, size_t end)
{
    const struct norm_job *job = context;
    (void)i;
    for (size_t j = begin; j < end; j += CPU_LANES) {
        size_t lanes = lanes_at(job, j);
        for (size_t r = 0; r < job->n; r++) {
            cpu_activation_back(lanes, job->activation,
                                job->y + r * job->width + j,
                                job->dy + r * job->width + j);
        }
        cpu_norm_slopes(job->n, lanes, job->width, job->x + j, job->centre + j,
                        job->factor + j, job->gain + j, job->dy + j,
                        job->dgain + j, job->dshift + j, job->out + j);
    }
}

void
cpu_norm_back(struct tensor_backend *self, size_t n, size_t width,
              const float *x, const float *gain, const float *mean,
              const float *inverse, const float *y, enum activation activation,
              float *dy, float *dgain, float *dshift, float *dx)
{
    struct norm_job job = {.n = n,
                           .width = width,
                           .activation = activation,
                           .x = x,
                           .gain = gain,
                           .centre = mean,
                           .factor = inverse,
                           .y = y};
    job.dy = dy;
    job.dgain = dgain;
    job.dshift = dshift;
    job.out = dx;
    if (!cpu_channels(n, width) || !cpu_channel_norm_back(self, job)) {
        run_columns(self, &job, norm_back_span);
    }
}
