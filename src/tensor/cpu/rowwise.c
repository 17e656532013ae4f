/*
 * rowwise.c: what is done to each row of a batch for itself: softmax, the
 * clipping to an L1 ball, and the gathering of rows.
 *
 * Rows are short here (classes, latent dimensions), and the sums along them
 * are in double precision, in the order of the indices. Softmax turns a block
 * of short rows, so that each row has a lane of the vectors:
 *
 *     row 0   a b c        a d . .
 *     row 1   d e f   ->   b e . .
 *     ...                  c f . .
 *
 * A lane does what a loop over its row would, in the same order: the result is
 * the same to the bit. Where no exponential is to be quick, the plain loops do
 * it, some rows a thread.
 */
#include "tensor/cpu/cpu.h"
#include "tensor/cpu/curves.h"
#include "tensor/plain/plain.h"

#define ELEMENTS_MIN ((size_t)4096)
#define TURNED_MAX ((size_t)64) /* entries of a row that is turned */

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

/* Turns CPU_LANES rows of `width` into `width` rows of lanes. */
CPU_BODY
turn_rows_body(size_t width, const float *restrict rows,
               float *restrict ret_lanes)
{
    for (size_t i = 0; i < width; i++) {
        for (size_t l = 0; l < CPU_LANES; l++) {
            ret_lanes[i * CPU_LANES + l] = rows[l * width + i];
        }
    }
}

CPU_BODY
turn_back_body(size_t width, const float *restrict lanes,
               float *restrict ret_rows)
{
    for (size_t l = 0; l < CPU_LANES; l++) {
        for (size_t i = 0; i < width; i++) {
            ret_rows[l * width + i] = lanes[i * CPU_LANES + l];
        }
    }
}

/* softmax_row of CPU_LANES rows at a time. */
CPU_KERNEL(softmax_block, (size_t width, const float *a, float *p),
           (width, a, p))
{
    float lanes[TURNED_MAX * CPU_LANES], most[CPU_LANES];
    double sum[CPU_LANES] = {0};
    turn_rows_body(width, a, lanes);
    for (size_t l = 0; l < CPU_LANES; l++) {
        most[l] = a[l * width];
    }
    for (size_t i = CPU_LANES; i < width * CPU_LANES; i += CPU_LANES) {
        for (size_t l = 0; l < CPU_LANES; l++) {
            most[l] = lanes[i + l] > most[l] ? lanes[i + l] : most[l];
        }
    }
    for (size_t i = 0; i < width * CPU_LANES; i += CPU_LANES) {
        for (size_t l = 0; l < CPU_LANES; l++) {
            lanes[i + l] = curve_exp(lanes[i + l] - most[l]);
            sum[l] += (double)lanes[i + l];
        }
    }
    for (size_t i = 0; i < width * CPU_LANES; i += CPU_LANES) {
        for (size_t l = 0; l < CPU_LANES; l++) {
            lanes[i + l] = (float)((double)lanes[i + l] / sum[l]);
        }
    }
    turn_back_body(width, lanes, p);
}

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

/* How many of n rows make whole blocks. */
static size_t
count_turned(size_t n, size_t width)
{
    return width > 0 && width <= TURNED_MAX ? n - n % CPU_LANES : 0;
}

static void
softmax_rows(const struct row_job *job, size_t n)
{
    size_t width = job->width, turned = count_turned(n, width);
    for (size_t r = 0; r < turned; r += CPU_LANES) {
        softmax_block(width, job->x + r * width, job->y + r * width);
    }
    for (size_t r = turned; r < n; r++) {
        softmax_row(width, job->x + r * width, job->y + r * width);
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

/* plain_softmax_back of CPU_LANES rows at a time. */
CPU_KERNEL(softmax_back_block,
           (size_t width, const float *p, const float *dp, float *da),
           (width, p, dp, da))
{
    float lanes[TURNED_MAX * CPU_LANES], slopes[TURNED_MAX * CPU_LANES];
    double sum[CPU_LANES] = {0};
    turn_rows_body(width, p, lanes);
    turn_rows_body(width, dp, slopes);
    for (size_t i = 0; i < width * CPU_LANES; i += CPU_LANES) {
        for (size_t l = 0; l < CPU_LANES; l++) {
            sum[l] += (double)lanes[i + l] * (double)slopes[i + l];
        }
    }
    for (size_t i = 0; i < width * CPU_LANES; i += CPU_LANES) {
        for (size_t l = 0; l < CPU_LANES; l++) {
            lanes[i + l] = (float)((double)lanes[i + l] *
                                   ((double)slopes[i + l] - sum[l]));
        }
    }
    turn_back_body(width, lanes, da);
}

static void
softmax_back_rows(const struct row_job *job, size_t n)
{
    size_t width = job->width, turned = count_turned(n, width);
    size_t at = turned * width;
    for (size_t i = 0; i < at; i += CPU_LANES * width) {
        softmax_back_block(width, job->x + i, job->dy + i, job->y + i);
    }
    plain_softmax_back(NULL, n - turned, width, job->x + at, job->dy + at,
                       job->y + at);
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
