/*
 * convolution.c: convolutions on slices of the batch.
 *
 * The images are cut into slices by shapes alone; a slice is one call of oneDNN
 * by one thread, and what follows (bias, activation) is done while it is in
 * cache.
 *
 *     forward    y  of a slice of images
 *     backward   dx of a slice of images; dW and dbias of a larger slice, as
 *                partial sums, added in the order of the slices afterwards
 *
 * Where there is no memory for oneDNN's means, the plain loops do it, slowly.
 */
#include <stdatomic.h>
#include <string.h>

#include "tensor/cpu/cpu.h"
#include "tensor/cpu/primitive.h"
#include "tensor/plain/plain.h"

#define SLICE_MAX ((size_t)16)       /* images */
#define SLICE_FLOATS ((size_t)65536) /* of images in and out: half a cache */
#define SLICES_MIN ((size_t)8)
#define PARTIALS ((size_t)16) /* sums of dW */
#define ELEMENTS_MIN ((size_t)4096)

/* n images, `each` at a time, the last time what is left. */
struct slices {
    size_t n, each, count;
    struct primitive *whole, *last;
};

/* One way of a convolution. */
struct conv_job {
    size_t in, out, filters; /* floats of an image; channels that come out */
    struct slices images;    /* forward, and dx */
    struct slices weights;   /* dW */
    const float *x, *bias;
    enum activation activation;
    float *y, *dy, *dx;
    float *partial, *partial_bias;
    size_t size; /* of dW as oneDNN has it */
    atomic_bool failed;
};

/* ---- Slices ------------------------------------------------------------- */

static size_t
ceiling(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

static size_t
slice_of(size_t n, size_t in, size_t out)
{
    size_t most = SLICE_FLOATS / (in + out);
    most = most < 1 ? 1 : most > SLICE_MAX ? SLICE_MAX : most;
    return most * SLICES_MIN <= n ? most : ceiling(n, SLICES_MIN);
}

/* False if there are no means. */
static bool
find_slices(struct cpu_backend *cpu, enum primitive_kind kind, size_t n,
            size_t each, const struct tensor_window *window, struct slices *ret)
{
    struct slices s = {.n = n, .each = each, .count = ceiling(n, each)};
    s.whole = primitive_find(cpu, kind, each, window, NULL);
    s.last = n % each == 0 || s.whole == NULL
                 ? s.whole
                 : primitive_find(cpu, kind, n % each, window, s.whole);
    *ret = s;
    return s.whole != NULL && s.last != NULL;
}

static const struct primitive *
slice_at(const struct slices *slices, size_t i, size_t *ret_n)
{
    bool last = (i + 1) * slices->each > slices->n;
    *ret_n = last ? slices->n % slices->each : slices->each;
    return last ? slices->last : slices->whole;
}

static void
note_result(struct conv_job *job, bool ok)
{
    if (!ok) {
        atomic_store(&job->failed, true);
    }
}

/* ---- Forward ------------------------------------------------------------ */

static void
conv_task(void *context, size_t i, unsigned worker)
{
    struct conv_job *job = context;
    size_t n;
    const struct primitive *primitive = slice_at(&job->images, i, &n);
    float *y = job->y + i * job->images.each * job->out;
    note_result(job, primitive_run(primitive, worker,
                                   job->x + i * job->images.each * job->in, y,
                                   NULL));
    if (job->bias != NULL || job->activation != ACTIVATION_NONE) {
        cpu_activate(n * job->out / job->filters, job->filters, job->filters,
                     job->bias, job->activation, y);
    }
}

static void
start_job(struct cpu_backend *cpu, const struct tensor_window *window,
          struct conv_job *job)
{
    primitive_tidy(cpu);
    job->in = window->height * window->width * window->channels;
    job->out = tensor_window_places(window) * window->filters;
    job->filters = window->filters;
    atomic_init(&job->failed, false);
}

void
cpu_conv(struct tensor_backend *self, size_t n,
         const struct tensor_window *window, const float *x,
         const float *weight, const float *bias, enum activation activation,
         float *y)
{
    struct cpu_backend *cpu = (struct cpu_backend *)self;
    struct conv_job job = {.x = x, .bias = bias, .activation = activation};
    job.y = y;
    start_job(cpu, window, &job);
    if (n == 0) {
        return;
    }
    if (find_slices(cpu, PRIMITIVE_FORWARD, n, slice_of(n, job.in, job.out),
                    window, &job.images) &&
        primitive_pack(job.images.whole, weight) &&
        primitive_pack(job.images.last, weight)) {
        cpu_run(self, job.images.count, conv_task, &job);
        if (!atomic_load(&job.failed)) {
            return;
        }
    }
    plain_conv(self, n, window, x, weight, bias, activation, y);
}

/* ---- Back --------------------------------------------------------------- */

static void
weight_task(struct conv_job *job, size_t i, unsigned worker)
{
    size_t n;
    const struct primitive *primitive = slice_at(&job->weights, i, &n);
    const float *dy = job->dy + i * job->weights.each * job->out;
    note_result(job, primitive_run(primitive, worker,
                                   job->x + i * job->weights.each * job->in, dy,
                                   job->partial + i * job->size));
    if (job->partial_bias != NULL) {
        cpu_column_sums(n * job->out / job->filters, job->filters, job->filters,
                        dy, job->partial_bias + i * job->filters);
    }
}

static void
conv_back_task(void *context, size_t i, unsigned worker)
{
    struct conv_job *job = context;
    if (i < job->weights.count) {
        weight_task(job, i, worker);
        return;
    }
    i -= job->weights.count;
    size_t n;
    const struct primitive *primitive = slice_at(&job->images, i, &n);
    note_result(job,
                primitive_run(primitive, worker,
                              job->dx + i * job->images.each * job->in,
                              job->dy + i * job->images.each * job->out, NULL));
}

struct sum_job {
    size_t size, partials;
    const float *partial;
    float *sum;
};

/* Partial sums added in their order. */
static void
sum_span(void *context, size_t i, size_t begin, size_t end)
{
    const struct sum_job *job = context;
    (void)i;
    for (size_t at = begin; at < end; at += CPU_LANES) {
        size_t lanes = end - at < CPU_LANES ? end - at : CPU_LANES;
        double sum[CPU_LANES] = {0};
        for (size_t p = 0; p < job->partials; p++) {
            const float *from = job->partial + p * job->size + at;
            for (size_t l = 0; l < lanes; l++) {
                sum[l] += (double)from[l];
            }
        }
        for (size_t l = 0; l < lanes; l++) {
            job->sum[at + l] = (float)sum[l];
        }
    }
}

static void
sum_partials(struct tensor_backend *self, size_t size, size_t partials,
             const float *partial, float *sum)
{
    struct sum_job job = {
        .size = size, .partials = partials, .partial = partial};
    job.sum = sum;
    cpu_run_spans(self, size, CPU_LANES, ELEMENTS_MIN, sum_span, &job);
}

/* Finds what is needed for the gradients; false if there are no means. */
static bool
prepare_back(struct cpu_backend *cpu, size_t n,
             const struct tensor_window *window, const float *weight,
             bool biased, struct conv_job *job)
{
    size_t each = slice_of(n, job->in, job->out);
    size_t larger = ceiling(n, PARTIALS);
    if (!find_slices(cpu, PRIMITIVE_WEIGHT, n, larger < each ? each : larger,
                     window, &job->weights)) {
        return false;
    }
    if (job->dx != NULL &&
        (!find_slices(cpu, PRIMITIVE_DATA, n, each, window, &job->images) ||
         !primitive_pack(job->images.whole, weight) ||
         !primitive_pack(job->images.last, weight))) {
        return false;
    }
    size_t whole = primitive_weights(job->weights.whole);
    job->size = (whole + CPU_LANES - 1) / CPU_LANES * CPU_LANES;
    job->partial =
        primitive_room(cpu, job->weights.count * (job->size + job->filters));
    if (job->partial == NULL) {
        return false;
    }
    /* What oneDNN's layout leaves over is added too, and must be numbers. */
    memset(job->partial, 0, job->weights.count * job->size * sizeof(float));
    job->partial_bias =
        biased ? job->partial + job->weights.count * job->size : NULL;
    return true;
}

static bool
run_back(struct tensor_backend *self, struct conv_job *job, float *dweight,
         float *dbias)
{
    const struct slices *weights = &job->weights;
    cpu_run(self, weights->count + job->images.count, conv_back_task, job);
    if (atomic_load(&job->failed)) {
        return false;
    }
    if (dbias != NULL) {
        sum_partials(self, job->filters, weights->count, job->partial_bias,
                     dbias);
    }
    sum_partials(self, job->size, weights->count, job->partial, job->partial);
    memcpy(primitive_packed(weights->whole), job->partial,
           primitive_weights(weights->whole) * sizeof(float));
    return primitive_unpack(weights->whole, dweight);
}

void
cpu_conv_back(struct tensor_backend *self, size_t n,
              const struct tensor_window *window, const float *x,
              const float *weight, const float *y, enum activation activation,
              float *dy, float *dweight, float *dbias, float *dx)
{
    struct cpu_backend *cpu = (struct cpu_backend *)self;
    struct conv_job job = {.x = x};
    job.dy = dy;
    job.dx = dx;
    start_job(cpu, window, &job);
    cpu_run_activation_back(self, n * job.out, ELEMENTS_MIN, activation, y, dy);
    if (n == 0 || !prepare_back(cpu, n, window, weight, dbias != NULL, &job) ||
        !run_back(self, &job, dweight, dbias)) {
        plain_conv_back(self, n, window, x, weight, y, ACTIVATION_NONE, dy,
                        dweight, dbias, dx);
    }
}
