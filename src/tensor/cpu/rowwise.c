/*
 * rowwise.c: what is done to each row of a batch for itself: softmax, the
 * clipping to an L1 ball, and the gathering of rows.
 *
 * Rows are short here (classes, latent dimensions), and the sums along them
 * are in double precision, in the order of the indices. Where no exponential
 * is to be quick, the plain loops do it, some rows a thread.
 */
#include "tensor/cpu/cpu.h"
#include "tensor/cpu/curves.h"
#include "tensor/plain/plain.h"

#define ELEMENTS_MIN ((size_t)4096)

/* `rows` does n rows, which begin at these places. */
struct row_job {
    void (*rows)(const struct row_job *job, size_t n);
    size_t n, width;
    float l;
    const float *x, *dy;
    const uint32_t *index;
    float *y;
};

static void
row_span(void *context, size_t i, size_t begin, size_t end)
{
    struct row_job part = *(const struct row_job *)context;
    size_t at = begin * part.width;
    (void)i;
    if (part.dy != NULL) {
        part.dy += at;
    }
    if (part.index != NULL) {
        part.index += begin;
    } else {
        part.x += at;
    }
    part.y += at;
    part.rows(&part, end - begin);
}

static void
run_rows(struct tensor_backend *self, struct row_job *job)
{
    cpu_run_spans(self, job->n, 1, 1 + ELEMENTS_MIN / (job->width + 1),
                  row_span, job);
}

/* ---- Softmax ------------------------------------------------------------ */

static void
softmax_row(size_t width, const float *a, float *p)
{
    float most = a[0];
    double sum = 0;
    for (size_t i = 1; i < width; i++) {
        most = a[i] > most ? a[i] : most;
    }
    for (size_t i = 0; i < width; i++) {
        p[i] = curve_exp(a[i] - most);
        sum += (double)p[i];
    }
    for (size_t i = 0; i < width; i++) {
        p[i] = (float)((double)p[i] / sum);
    }
}

static void
softmax_rows(const struct row_job *job, size_t n)
{
    for (size_t r = 0; r < n; r++) {
        softmax_row(job->width, job->x + r * job->width,
                    job->y + r * job->width);
    }
}

void
cpu_softmax(struct tensor_backend *self, size_t n, size_t k,
            const float *logits, float *p)
{
    struct row_job job = {
        .rows = softmax_rows, .n = n, .width = k, .x = logits};
    job.y = p;
    run_rows(self, &job);
}

static void
softmax_back_rows(const struct row_job *job, size_t n)
{
    plain_softmax_back(NULL, n, job->width, job->x, job->dy, job->y);
}

void
cpu_softmax_back(struct tensor_backend *self, size_t n, size_t k,
                 const float *p, const float *dp, float *dlogits)
{
    struct row_job job = {
        .rows = softmax_back_rows, .n = n, .width = k, .x = p, .dy = dp};
    job.y = dlogits;
    run_rows(self, &job);
}

/* ---- Clipping: plain.c has the equations -------------------------------- */

static void
clip_rows(const struct row_job *job, size_t n)
{
    plain_clip_l1(NULL, n, job->width, job->l, job->x, job->y);
}

void
cpu_clip_l1(struct tensor_backend *self, size_t n, size_t d, float l,
            const float *h, float *z)
{
    struct row_job job = {
        .rows = clip_rows, .n = n, .width = d, .l = l, .x = h};
    job.y = z;
    run_rows(self, &job);
}

static void
clip_back_rows(const struct row_job *job, size_t n)
{
    plain_clip_l1_back(NULL, n, job->width, job->l, job->x, job->dy, job->y);
}

void
cpu_clip_l1_back(struct tensor_backend *self, size_t n, size_t d, float l,
                 const float *h, const float *dz, float *dh)
{
    struct row_job job = {
        .rows = clip_back_rows, .n = n, .width = d, .l = l, .x = h, .dy = dz};
    job.y = dh;
    run_rows(self, &job);
}

/* ---- Gathering ---------------------------------------------------------- */

static void
gather_rows(const struct row_job *job, size_t n)
{
    plain_gather(NULL, n, job->width, job->x, job->index, job->y);
}

void
cpu_gather(struct tensor_backend *self, size_t n, size_t width, const float *x,
           const uint32_t *row, float *y)
{
    struct row_job job = {
        .rows = gather_rows, .n = n, .width = width, .x = x, .index = row};
    job.y = y;
    run_rows(self, &job);
}
