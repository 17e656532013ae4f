/*
 * channel_norm.c: batch norm of few columns over very many rows, as channels of
 * images have it: the rows are cut, not the columns.
 *
 * Each part of the rows gives sums in double precision; they are added in the
 * order of the parts. Within a part, rows are taken in blocks that stay in
 * cache while several things are done to them. The equations are in plain.c.
 */
#include <stdlib.h>
#include <string.h>

#include "tensor/cpu/cpu.h"

#define ROWS_MIN ((size_t)8192) /* below that, batch_norm.c */
#define PART_MIN ((size_t)16384)
#define BLOCK ((size_t)4096) /* floats */

/* The compiler makes scalars of a loop over 16 sums; not of these. */
#define FOURS (CPU_LANES / 4)
typedef float four_floats __attribute__((vector_size(4 * sizeof(float))));
typedef double four_doubles __attribute__((vector_size(4 * sizeof(double))));
#define TO_DOUBLES(floats) __builtin_convertvector(floats, four_doubles)

/* ---- Kernels on blocks of rows, up to CPU_LANES columns ------------------ */

/* Adds x - pivot and its square to the sums. */
CPU_BODY
moment_lanes_body(size_t n, size_t lanes, size_t width, const float *restrict x,
                  const float *restrict pivot, double *restrict sums)
{
    for (size_t r = 0; r < n; r++) {
        for (size_t l = 0; l < lanes; l++) {
            double away = (double)x[r * width + l] - (double)pivot[l];
            sums[l] += away;
            sums[width + l] += away * away;
        }
    }
}

/* Adds CPU_LANES first and second sums. */
CPU_BODY
keep_sums_body(size_t width, const four_doubles *first,
               const four_doubles *second, double *sums)
{
    for (size_t k = 0; k < FOURS; k++) {
        for (size_t l = 0; l < 4; l++) {
            sums[4 * k + l] += first[k][l];
            sums[width + 4 * k + l] += second[k][l];
        }
    }
}

/* The same for CPU_LANES columns, in registers. */
CPU_BODY
moment_whole_body(size_t n, size_t width, const float *x, const float *pivot,
                  double *sums)
{
    four_doubles first[FOURS] = {{0}};
    four_doubles second[FOURS] = {{0}};
    four_floats from[FOURS];
    memcpy(from, pivot, sizeof from);
    for (size_t r = 0; r < n; r++) {
        for (size_t k = 0; k < FOURS; k++) {
            four_floats at;
            memcpy(&at, x + r * width + 4 * k, sizeof at);
            four_doubles away = TO_DOUBLES(at) - TO_DOUBLES(from[k]);
            first[k] += away;
            second[k] += away * away;
        }
    }
    keep_sums_body(width, first, second, sums);
}

CPU_KERNEL(cpu_channel_moments,
           (size_t n, size_t width, const float *x, const float *pivot,
            double *sums),
           (n, width, x, pivot, sums))
{
    size_t whole = width - width % CPU_LANES;
    for (size_t j = 0; j < whole; j += CPU_LANES) {
        moment_whole_body(n, width, x + j, pivot + j, sums + j);
    }
    if (whole < width) {
        moment_lanes_body(n, width - whole, width, x + whole, pivot + whole,
                          sums + whole);
    }
}

/* Adds g and g u, with u = (x - mean) inverse, to the sums. */
CPU_BODY
add_lanes_body(size_t n, size_t lanes, size_t width, const float *restrict g,
               const float *restrict x, const float *restrict mean,
               const float *restrict inverse, double *restrict sums)
{
    for (size_t r = 0; r < n; r++) {
        for (size_t l = 0; l < lanes; l++) {
            double slope = (double)g[r * width + l];
            float unit = (x[r * width + l] - mean[l]) * inverse[l];
            sums[l] += slope;
            sums[width + l] += slope * (double)unit;
        }
    }
}

CPU_BODY
add_whole_body(size_t n, size_t width, const float *g, const float *x,
               const float *mean, const float *inverse, double *sums)
{
    four_doubles first[FOURS] = {{0}};
    four_doubles second[FOURS] = {{0}};
    four_floats centre[FOURS];
    four_floats factor[FOURS];
    memcpy(centre, mean, sizeof centre);
    memcpy(factor, inverse, sizeof factor);
    for (size_t r = 0; r < n; r++) {
        for (size_t k = 0; k < FOURS; k++) {
            four_floats at;
            four_floats slope;
            memcpy(&at, x + r * width + 4 * k, sizeof at);
            memcpy(&slope, g + r * width + 4 * k, sizeof slope);
            four_floats unit = (at - centre[k]) * factor[k];
            first[k] += TO_DOUBLES(slope);
            second[k] += TO_DOUBLES(slope) * TO_DOUBLES(unit);
        }
    }
    keep_sums_body(width, first, second, sums);
}

CPU_KERNEL(cpu_channel_sums,
           (size_t n, size_t width, const float *g, const float *x,
            const float *mean, const float *inverse, double *sums),
           (n, width, g, x, mean, inverse, sums))
{
    size_t whole = width - width % CPU_LANES;
    for (size_t j = 0; j < whole; j += CPU_LANES) {
        add_whole_body(n, width, g + j, x + j, mean + j, inverse + j, sums + j);
    }
    if (whole < width) {
        add_lanes_body(n, width - whole, width, g + whole, x + whole,
                       mean + whole, inverse + whole, sums + whole);
    }
}

CPU_BODY
apply_lanes_body(size_t n, size_t lanes, size_t width, const float *restrict x,
                 const float *restrict mean, const float *restrict inverse,
                 const float *restrict gain, const float *restrict shift,
                 float *restrict y)
{
    for (size_t r = 0; r < n; r++) {
        for (size_t l = 0; l < lanes; l++) {
            float unit = (x[r * width + l] - mean[l]) * inverse[l];
            y[r * width + l] = unit * gain[l] + shift[l];
        }
    }
}

CPU_KERNEL(cpu_channel_apply,
           (size_t n, size_t width, const float *x, const float *mean,
            const float *inverse, const float *gain, const float *shift,
            float *y),
           (n, width, x, mean, inverse, gain, shift, y))
{
    size_t whole = width - width % CPU_LANES;
    for (size_t j = 0; j < whole; j += CPU_LANES) {
        apply_lanes_body(n, CPU_LANES, width, x + j, mean + j, inverse + j,
                         gain + j, shift + j, y + j);
    }
    if (whole < width) {
        apply_lanes_body(n, width - whole, width, x + whole, mean + whole,
                         inverse + whole, gain + whole, shift + whole,
                         y + whole);
    }
}

/* dx = gain inverse (g - level - u tilt), where level and tilt are the means of
   g and of g u over all rows; dx may be g. */
CPU_BODY
slope_lanes_body(const struct norm_job *job, size_t n, size_t lanes, size_t j,
                 const float *x, const float *g, float *dx)
{
    float factor[CPU_LANES];
    float level[CPU_LANES];
    float tilt[CPU_LANES];
    float mean[CPU_LANES];
    float inverse[CPU_LANES];
    for (size_t l = 0; l < lanes; l++) {
        factor[l] = job->gain[j + l] * job->factor[j + l];
        level[l] = (float)job->sums[j + l];
        tilt[l] = (float)job->sums[job->width + j + l];
        mean[l] = job->centre[j + l];
        inverse[l] = job->factor[j + l];
    }
    for (size_t r = 0; r < n; r++) {
        const float *from = x + r * job->width;
        const float *slope = g + r * job->width;
        float got[CPU_LANES];
        for (size_t l = 0; l < lanes; l++) {
            float unit = (from[l] - mean[l]) * inverse[l];
            got[l] = factor[l] * (slope[l] - level[l] - unit * tilt[l]);
        }
        for (size_t l = 0; l < lanes; l++) {
            dx[r * job->width + l] = got[l];
        }
    }
}

CPU_KERNEL(cpu_channel_slopes,
           (const struct norm_job *job, size_t n, const float *x,
            const float *g, float *dx),
           (job, n, x, g, dx))
{
    size_t whole = job->width - job->width % CPU_LANES;
    for (size_t j = 0; j < whole; j += CPU_LANES) {
        slope_lanes_body(job, n, CPU_LANES, j, x + j, g + j, dx + j);
    }
    if (whole < job->width) {
        slope_lanes_body(job, n, job->width - whole, whole, x + whole,
                         g + whole, dx + whole);
    }
}

/* ---- Parts of the rows -------------------------------------------------- */

/* Calls the job's `block` for the rows of part i, some at a time. */
static void
block_task(void *context, size_t i, unsigned worker)
{
    const struct norm_job *job = context;
    size_t step = 1 + BLOCK / job->width;
    size_t end = cpu_part(job->n, 1, job->parts, i + 1);
    (void)worker;
    for (size_t r = cpu_part(job->n, 1, job->parts, i); r < end; r += step) {
        job->block(job, i, end - r < step ? end - r : step, r * job->width);
    }
}

static void
run_blocks(struct tensor_backend *self, struct norm_job *job,
           void (*block)(const struct norm_job *job, size_t i, size_t n,
                         size_t at))
{
    job->block = block;
    cpu_run(self, job->parts, block_task, job);
}

/* Sums by `block`, two for each column, for each part of the rows; then adds
   them up, in the order of the parts, in those of the first. False: no memory;
   the caller frees the sums. */
static bool
sum_parts(struct tensor_backend *self, struct norm_job *job,
          void (*block)(const struct norm_job *job, size_t i, size_t n,
                        size_t at))
{
    job->sums = calloc(job->parts * 2 * job->width, sizeof *job->sums);
    if (job->sums == NULL) {
        return false;
    }
    run_blocks(self, job, block);
    for (size_t i = 1; i < job->parts; i++) {
        for (size_t j = 0; j < 2 * job->width; j++) {
            job->sums[j] += job->sums[i * 2 * job->width + j];
        }
    }
    return true;
}

static void
sum_block(const struct norm_job *job, size_t i, size_t n, size_t at)
{
    cpu_channel_moments(n, job->width, job->x + at, job->x,
                        job->sums + i * 2 * job->width);
}

static void
apply_block(const struct norm_job *job, size_t i, size_t n, size_t at)
{
    (void)i;
    cpu_channel_apply(n, job->width, job->x + at, job->centre, job->factor,
                      job->gain, job->shift, job->out + at);
    cpu_activate(1, n * job->width, n * job->width, NULL, job->activation,
                 job->out + at);
}

static void
sum_slopes_block(const struct norm_job *job, size_t i, size_t n, size_t at)
{
    cpu_activation_back(n * job->width, job->activation, job->y + at,
                        job->dy + at);
    cpu_channel_sums(n, job->width, job->dy + at, job->x + at, job->centre,
                     job->factor, job->sums + i * 2 * job->width);
}

static void
slope_block(const struct norm_job *job, size_t i, size_t n, size_t at)
{
    (void)i;
    cpu_channel_slopes(job, n, job->x + at, job->dy + at, job->out + at);
}

/* ---- The operations ----------------------------------------------------- */

bool
cpu_channels(size_t n, size_t width)
{
    return n >= ROWS_MIN && width > 0 && n / 64 >= width;
}

/* The first row is what distances are taken from: squares of numbers that lie
   far from 0, and close together, would leave nothing. */
bool
cpu_channel_norm(struct tensor_backend *self, struct norm_job job)
{
    double n = (double)job.n;
    job.parts = cpu_parts(job.n * job.width, PART_MIN);
    if (job.training && !sum_parts(self, &job, sum_block)) {
        return false;
    }
    for (size_t j = 0; j < job.width; j++) {
        double away = job.training ? job.sums[j] / n : 0;
        double squares =
            job.training ? job.sums[job.width + j] - n * away * away : 0;
        cpu_norm_moments(&job, j, (double)job.x[j] + away,
                         squares < 0 ? 0 : squares);
    }
    free(job.sums);
    run_blocks(self, &job, apply_block);
    return true;
}

bool
cpu_channel_norm_back(struct tensor_backend *self, struct norm_job job)
{
    job.parts = cpu_parts(job.n * job.width, PART_MIN);
    if (!sum_parts(self, &job, sum_slopes_block)) {
        return false;
    }
    for (size_t j = 0; j < job.width; j++) {
        job.dshift[j] = (float)job.sums[j];
        job.dgain[j] = (float)job.sums[job.width + j];
        job.sums[j] /= (double)job.n;
        job.sums[job.width + j] /= (double)job.n;
    }
    run_blocks(self, &job, slope_block);
    free(job.sums);
    return true;
}
