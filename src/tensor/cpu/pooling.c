/*
 * pooling.c: pools, and sums, of images: channels are the vectors.
 */
#include <string.h>

#include "tensor/cpu/cpu.h"

#define ELEMENTS_MIN ((size_t)16384)

/* The compiler makes scalars of a loop over 16 maxima; not of these. */
#define EIGHTS (CPU_LANES / 8)
typedef float eight_floats __attribute__((vector_size(8 * sizeof(float))));
typedef int32_t eight_masks __attribute__((vector_size(8 * sizeof(int32_t))));

/* ---- Windows ------------------------------------------------------------ */

/* What of the window of a place is inside of the image. */
struct span {
    size_t top, bottom, left, right;
};

static inline void
clamp_span(const struct tensor_window *w, size_t at, size_t side,
           size_t *ret_begin, size_t *ret_end)
{
    size_t begin = at * w->stride;
    size_t end = begin + w->kernel;
    *ret_begin = begin < w->pad ? 0 : begin - w->pad;
    *ret_end = end - w->pad < side ? end - w->pad : side;
}

static inline struct span
span_of(const struct tensor_window *w, size_t i, size_t j)
{
    struct span span;
    clamp_span(w, i, w->height, &span.top, &span.bottom);
    clamp_span(w, j, w->width, &span.left, &span.right);
    return span;
}

/* Whether every entry is in one window, and no more. */
static inline bool
is_tiled(const struct tensor_window *w)
{
    return w->stride == w->kernel &&
           tensor_window_side(w, w->height) * w->stride >= w->height + w->pad &&
           tensor_window_side(w, w->width) * w->stride >= w->width + w->pad;
}

/* ---- Kernels on the window of one place, `lanes` channels ---------------- */

CPU_BODY
pool_lanes_body(const struct tensor_window *w, enum tensor_pool of,
                const struct span *span, size_t lanes, const float *x, float *y)
{
    size_t count = (span->bottom - span->top) * (span->right - span->left);
    float divisor = of == TENSOR_POOL_MEAN ? (float)count : 1.0F;
    size_t first = (span->top * w->width + span->left) * w->channels;
    for (size_t l = 0; l < lanes; l++) {
        float value = of == TENSOR_POOL_MAX ? x[first + l] : 0.0F;
        for (size_t i = span->top; i < span->bottom; i++) {
            for (size_t j = span->left; j < span->right; j++) {
                float entry = x[(i * w->width + j) * w->channels + l];
                value = of == TENSOR_POOL_MEAN ? value + entry
                        : value >= entry || value != value
                            ? value /* NaN stays */
                            : entry;
            }
        }
        y[l] = value / divisor;
    }
}

/* The same for CPU_LANES channels, in registers. */
CPU_BODY
pool_whole_body(const struct tensor_window *w, enum tensor_pool of,
                const struct span *span, const float *x, float *y)
{
    size_t count = (span->bottom - span->top) * (span->right - span->left);
    size_t first = (span->top * w->width + span->left) * w->channels;
    eight_floats value[EIGHTS] = {{0}};
    for (size_t k = 0; k < EIGHTS && of == TENSOR_POOL_MAX; k++) {
        memcpy(&value[k], x + first + 8 * k, sizeof value[k]);
    }
    for (size_t i = span->top; i < span->bottom; i++) {
        for (size_t j = span->left; j < span->right; j++) {
            const float *from = x + (i * w->width + j) * w->channels;
            for (size_t k = 0; k < EIGHTS; k++) {
                eight_floats entry;
                memcpy(&entry, from + 8 * k, sizeof entry);
                eight_floats most = value[k];
                eight_masks stays = (most >= entry) | (most != value[k]);
                value[k] = of == TENSOR_POOL_MEAN
                               ? value[k] + entry
                               : (eight_floats)(((eight_masks)most & stays) |
                                                ((eight_masks)entry & ~stays));
            }
        }
    }
    for (size_t k = 0; k < EIGHTS && of == TENSOR_POOL_MEAN; k++) {
        value[k] /= (float)count;
    }
    for (size_t k = 0; k < EIGHTS; k++) {
        memcpy(y + 8 * k, &value[k], sizeof value[k]);
    }
}

/* Of the largest, the first that equals y takes what is left of dy. */
CPU_BODY
pool_back_lanes_body(const struct tensor_window *w, enum tensor_pool of,
                     const struct span *span, size_t lanes,
                     const float *restrict x, const float *restrict y,
                     const float *restrict dy, float *restrict dx)
{
    float left[CPU_LANES];
    size_t count = (span->bottom - span->top) * (span->right - span->left);
    float divisor = of == TENSOR_POOL_MEAN ? (float)count : 1.0F;
    for (size_t l = 0; l < lanes; l++) {
        left[l] = dy[l] / divisor;
    }
    for (size_t i = span->top; i < span->bottom; i++) {
        for (size_t j = span->left; j < span->right; j++) {
            size_t at = (i * w->width + j) * w->channels;
            for (size_t l = 0; l < lanes; l++) {
                bool takes = of == TENSOR_POOL_MEAN || x[at + l] == y[l];
                dx[at + l] += takes ? left[l] : 0.0F;
                left[l] = takes && of == TENSOR_POOL_MAX ? 0.0F : left[l];
            }
        }
    }
}

/* The same for CPU_LANES channels of the largest, in registers, where no other
   window has these entries: they are set, not added to. */
CPU_BODY
pool_back_alone_body(const struct tensor_window *w, const struct span *span,
                     const float *x, const float *y, const float *dy, float *dx)
{
    eight_floats largest[EIGHTS];
    eight_masks left[EIGHTS];
    memcpy(largest, y, sizeof largest);
    memcpy(left, dy, sizeof left);
    for (size_t i = span->top; i < span->bottom; i++) {
        for (size_t j = span->left; j < span->right; j++) {
            size_t at = (i * w->width + j) * w->channels;
            for (size_t k = 0; k < EIGHTS; k++) {
                eight_floats entry;
                memcpy(&entry, x + at + 8 * k, sizeof entry);
                eight_masks takes = entry == largest[k];
                eight_masks slope = left[k] & takes;
                memcpy(dx + at + 8 * k, &slope, sizeof slope);
                left[k] &= ~takes;
            }
        }
    }
}

/* ---- Kernels on images -------------------------------------------------- */

CPU_BODY
pool_image_body(const struct tensor_window *w, enum tensor_pool of,
                const float *x, float *y)
{
    size_t columns = tensor_window_side(w, w->width);
    size_t places = tensor_window_places(w);
    size_t whole = w->channels - w->channels % CPU_LANES;
    for (size_t r = 0; r < places; r++) {
        struct span span = span_of(w, r / columns, r % columns);
        float *to = y + r * w->channels;
        for (size_t c = 0; c < whole; c += CPU_LANES) {
            pool_whole_body(w, of, &span, x + c, to + c);
        }
        if (whole < w->channels) {
            pool_lanes_body(w, of, &span, w->channels - whole, x + whole,
                            to + whole);
        }
    }
}

/* Each kind by itself, so that the innermost loop does not choose. */
CPU_KERNEL(cpu_pool_image,
           (const struct tensor_window *w, enum tensor_pool of, const float *x,
            float *y),
           (w, of, x, y))
{
    if (of == TENSOR_POOL_MAX) {
        pool_image_body(w, TENSOR_POOL_MAX, x, y);
    } else {
        pool_image_body(w, TENSOR_POOL_MEAN, x, y);
    }
}

CPU_BODY
pool_back_image_body(const struct tensor_window *w, enum tensor_pool of,
                     const float *x, const float *y, const float *dy, float *dx)
{
    size_t columns = tensor_window_side(w, w->width);
    size_t places = tensor_window_places(w);
    size_t whole = w->channels - w->channels % CPU_LANES;
    bool alone = of == TENSOR_POOL_MAX && whole == w->channels && is_tiled(w);
    if (!alone) {
        memset(dx, 0, w->height * w->width * w->channels * sizeof *dx);
    }
    for (size_t r = 0; r < places; r++) {
        struct span span = span_of(w, r / columns, r % columns);
        size_t at = r * w->channels;
        for (size_t c = 0; c < whole; c += CPU_LANES) {
            if (alone) {
                pool_back_alone_body(w, &span, x + c, y + at + c, dy + at + c,
                                     dx + c);
            } else {
                pool_back_lanes_body(w, of, &span, CPU_LANES, x + c, y + at + c,
                                     dy + at + c, dx + c);
            }
        }
        if (whole < w->channels) {
            pool_back_lanes_body(w, of, &span, w->channels - whole, x + whole,
                                 y + at + whole, dy + at + whole, dx + whole);
        }
    }
}

CPU_KERNEL(cpu_pool_back_image,
           (const struct tensor_window *w, enum tensor_pool of, const float *x,
            const float *y, const float *dy, float *dx),
           (w, of, x, y, dy, dx))
{
    if (of == TENSOR_POOL_MAX) {
        pool_back_image_body(w, TENSOR_POOL_MAX, x, y, dy, dx);
    } else {
        pool_back_image_body(w, TENSOR_POOL_MEAN, x, y, dy, dx);
    }
}

/* ---- The operations ----------------------------------------------------- */

struct pool_job {
    size_t n, in, out;
    const struct tensor_window *window;
    enum tensor_pool of;
    const float *x, *forth, *dy; /* forth: y, on the way back */
    float *y, *dx;
};

static void
pool_span(void *context, size_t i, size_t begin, size_t end)
{
    const struct pool_job *job = context;
    (void)i;
    for (size_t r = begin; r < end; r++) {
        if (job->dx == NULL) {
            cpu_pool_image(job->window, job->of, job->x + r * job->in,
                           job->y + r * job->out);
        } else {
            cpu_pool_back_image(job->window, job->of, job->x + r * job->in,
                                job->forth + r * job->out,
                                job->dy + r * job->out, job->dx + r * job->in);
        }
    }
}

static void
run_pool(struct tensor_backend *self, struct pool_job *job)
{
    const struct tensor_window *w = job->window;
    job->in = w->height * w->width * w->channels;
    job->out = tensor_window_places(w) * w->channels;
    cpu_run_spans(self, job->n, 1, 1 + ELEMENTS_MIN / job->in, pool_span, job);
}

void
cpu_pool(struct tensor_backend *self, size_t n,
         const struct tensor_window *window, enum tensor_pool of,
         const float *x, float *y)
{
    struct pool_job job = {.n = n, .window = window, .of = of, .x = x};
    job.y = y;
    run_pool(self, &job);
}

void
cpu_pool_back(struct tensor_backend *self, size_t n,
              const struct tensor_window *window, enum tensor_pool of,
              const float *x, const float *y, const float *dy, float *dx)
{
    struct pool_job job = {
        .n = n, .window = window, .of = of, .x = x, .forth = y, .dy = dy};
    job.dx = dx;
    run_pool(self, &job);
}

struct add_job {
    const float *a;
    enum activation activation;
    float *y;
};

CPU_SPAN(add_span)
{
    const struct add_job *job = context;
    const float *restrict a = job->a;
    float *restrict y = job->y;
    (void)i;
    for (size_t at = begin; at < end; at++) {
        y[at] += a[at];
    }
    cpu_activate(1, end - begin, end - begin, NULL, job->activation, y + begin);
}

void
cpu_add(struct tensor_backend *self, size_t size, const float *a,
        enum activation activation, float *y)
{
    struct add_job job = {.a = a, .activation = activation};
    job.y = y;
    cpu_run_spans(self, size, CPU_LANES, ELEMENTS_MIN, add_span, &job);
}
