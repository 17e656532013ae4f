/*
 * rowwise.c: what is done to each row of a batch for itself: softmax, the
 * clipping to an L1 ball, and the gathering of rows.
 *
 * Rows are short here (classes, latent dimensions), and the sums along them
 * are in double precision, in the order of the indices.
 */
#include <math.h>
#include <string.h>

#include "tensor/cpu/cpu.h"
#include "tensor/cpu/curves.h"

#define ELEMENTS_MIN ((size_t)4096)

struct row_job {
    void (*row)(const struct row_job *job, size_t r);
    size_t n, width;
    float l;
    const float *x, *dy;
    const uint32_t *index;
    float *y;
};

static void
row_span(void *context, size_t i, size_t begin, size_t end)
{
    const struct row_job *job = context;
    (void)i;
    for (size_t r = begin; r < end; r++) {
        job->row(job, r);
    }
}

static void
run_rows(struct tensor_backend *self, struct row_job *job)
{
    cpu_run_spans(self, job->n, 1, 1 + ELEMENTS_MIN / (job->width + 1),
                  row_span, job);
}

/* ---- Softmax ------------------------------------------------------------ */

static void
softmax_row(const struct row_job *job, size_t r)
{
    const float *a = job->x + r * job->width;
    float *p = job->y + r * job->width;
    float most = a[0];
    double sum = 0;
    for (size_t i = 1; i < job->width; i++) {
        most = a[i] > most ? a[i] : most;
    }
    for (size_t i = 0; i < job->width; i++) {
        p[i] = curve_exp(a[i] - most);
        sum += (double)p[i];
    }
    for (size_t i = 0; i < job->width; i++) {
        p[i] = (float)((double)p[i] / sum);
    }
}

void
cpu_softmax(struct tensor_backend *self, size_t n, size_t k,
            const float *logits, float *p)
{
    struct row_job job = {.row = softmax_row, .n = n, .width = k, .x = logits};
    job.y = p;
    run_rows(self, &job);
}

static void
softmax_back_row(const struct row_job *job, size_t r)
{
    const float *p = job->x + r * job->width;
    const float *dp = job->dy + r * job->width;
    float *da = job->y + r * job->width;
    double sum = 0;
    for (size_t i = 0; i < job->width; i++) {
        sum += (double)p[i] * (double)dp[i];
    }
    for (size_t i = 0; i < job->width; i++) {
        da[i] = (float)((double)p[i] * ((double)dp[i] - sum));
    }
}

void
cpu_softmax_back(struct tensor_backend *self, size_t n, size_t k,
                 const float *p, const float *dp, float *dlogits)
{
    struct row_job job = {
        .row = softmax_back_row, .n = n, .width = k, .x = p, .dy = dp};
    job.y = dlogits;
    run_rows(self, &job);
}

/* ---- Clipping: plain.c has the equations -------------------------------- */

static double
size_l1(size_t d, const float *h)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        sum += fabs((double)h[i]);
    }
    return sum;
}

static void
clip_row(const struct row_job *job, size_t r)
{
    const float *h = job->x + r * job->width;
    float *z = job->y + r * job->width;
    double l = job->l;
    double s = size_l1(job->width, h);
    double factor = s > l ? l / s : 1;
    for (size_t i = 0; i < job->width; i++) {
        z[i] = (float)((double)h[i] * factor);
    }
}

void
cpu_clip_l1(struct tensor_backend *self, size_t n, size_t d, float l,
            const float *h, float *z)
{
    struct row_job job = {.row = clip_row, .n = n, .width = d, .l = l, .x = h};
    job.y = z;
    run_rows(self, &job);
}

static void
clip_back_row(const struct row_job *job, size_t r)
{
    const float *h = job->x + r * job->width;
    const float *dz = job->dy + r * job->width;
    float *dh = job->y + r * job->width;
    double l = job->l;
    double s = size_l1(job->width, h);
    double along = 0;
    if (!(s > l)) {
        memmove(dh, dz, job->width * sizeof *dh);
        return;
    }
    for (size_t i = 0; i < job->width; i++) {
        along += (double)dz[i] * (double)h[i] / s;
    }
    for (size_t i = 0; i < job->width; i++) {
        double sign = h[i] > 0 ? 1 : h[i] < 0 ? -1 : 0;
        dh[i] = (float)(l / s * ((double)dz[i] - sign * along));
    }
}

void
cpu_clip_l1_back(struct tensor_backend *self, size_t n, size_t d, float l,
                 const float *h, const float *dz, float *dh)
{
    struct row_job job = {
        .row = clip_back_row, .n = n, .width = d, .l = l, .x = h, .dy = dz};
    job.y = dh;
    run_rows(self, &job);
}

/* ---- Gathering ---------------------------------------------------------- */

static void
gather_row(const struct row_job *job, size_t r)
{
    memcpy(job->y + r * job->width, job->x + job->index[r] * job->width,
           job->width * sizeof *job->y);
}

void
cpu_gather(struct tensor_backend *self, size_t n, size_t width, const float *x,
           const uint32_t *row, float *y)
{
    struct row_job job = {
        .row = gather_row, .n = n, .width = width, .x = x, .index = row};
    job.y = y;
    run_rows(self, &job);
}
