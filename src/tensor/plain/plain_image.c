/*
 * plain_image.c: convolutions, pools and sums of images as plain loops.
 *
 * Sums are in double precision and rounded once. Of an image, i and j are a row
 * and a column of what comes out, u and v of the kernel, c a channel; the entry
 * of x that meets (u, v) is in row i stride + u - pad, and outside where that
 * is none of x's rows.
 */
#include "tensor/plain/plain.h"

#include <math.h>
#include <string.h>

/* The row or column of x; above any, if it is outside. */
static size_t
find_side(size_t at, size_t step, size_t side,
          const struct tensor_window *window)
{
    size_t from = at * window->stride + step;
    return from < window->pad || from - window->pad >= side
               ? SIZE_MAX
               : from - window->pad;
}

/* Where the channels of x at (i, j), (u, v) begin; SIZE_MAX: outside. */
static size_t
find_entry(const struct tensor_window *w, size_t i, size_t j, size_t u,
           size_t v)
{
    size_t row = find_side(i, u, w->height, w);
    size_t column = find_side(j, v, w->width, w);
    return row == SIZE_MAX || column == SIZE_MAX
               ? SIZE_MAX
               : (row * w->width + column) * w->channels;
}

/* ---- Convolutions ------------------------------------------------------- */

/* sum over u, v, c of x weight, for the filter whose weights these are. */
static double
apply_filter(const struct tensor_window *w, const float *x, const float *weight,
             size_t i, size_t j)
{
    double sum = 0;
    for (size_t u = 0; u < w->kernel; u++) {
        for (size_t v = 0; v < w->kernel; v++) {
            size_t at = find_entry(w, i, j, u, v);
            const float *row = weight + (u * w->kernel + v) * w->channels;
            for (size_t c = 0; at != SIZE_MAX && c < w->channels; c++) {
                sum += (double)x[at + c] * row[c];
            }
        }
    }
    return sum;
}

void
plain_conv(struct tensor_backend *self, size_t n,
           const struct tensor_window *window, const float *x,
           const float *weight, const float *bias, enum activation activation,
           float *y)
{
    size_t columns = tensor_window_side(window, window->width);
    size_t places = tensor_window_places(window);
    size_t image = window->height * window->width * window->channels;
    size_t size = window->kernel * window->kernel * window->channels;
    (void)self;
    for (size_t r = 0; r < n * places; r++) {
        for (size_t f = 0; f < window->filters; f++) {
            double a =
                apply_filter(window, x + r / places * image, weight + f * size,
                             r % places / columns, r % columns);
            a += bias == NULL ? 0 : bias[f];
            y[r * window->filters + f] = (float)plain_activate(activation, a);
        }
    }
}

/* dW at (f, u, v, c) = sum over images and places of dy x. */
static double
weight_slope(size_t n, const struct tensor_window *w, const float *x,
             const float *dy, size_t f, size_t weight)
{
    size_t columns = tensor_window_side(w, w->width);
    size_t places = tensor_window_places(w);
    size_t image = w->height * w->width * w->channels;
    size_t u = weight / w->channels / w->kernel;
    size_t v = weight / w->channels % w->kernel;
    double sum = 0;
    for (size_t r = 0; r < n * places; r++) {
        size_t at = find_entry(w, r % places / columns, r % columns, u, v);
        if (at != SIZE_MAX) {
            sum += (double)dy[r * w->filters + f] *
                   x[r / places * image + at + weight % w->channels];
        }
    }
    return sum;
}

/* The place out whose kernel's row u meets row `at` of x; SIZE_MAX: none. */
static size_t
find_place(const struct tensor_window *w, size_t at, size_t u, size_t side)
{
    size_t from = at + w->pad;
    size_t place = from < u ? SIZE_MAX : (from - u) / w->stride;
    return from < u || (from - u) % w->stride != 0 ||
                   place >= tensor_window_side(w, side)
               ? SIZE_MAX
               : place;
}

/* dx at (row, column, c) = sum over the places it went to of dy weight. */
static double
input_slope(const struct tensor_window *w, const float *weight, const float *dy,
            size_t row, size_t column, size_t c)
{
    size_t size = w->kernel * w->kernel * w->channels;
    size_t columns = tensor_window_side(w, w->width);
    double sum = 0;
    for (size_t u = 0; u < w->kernel; u++) {
        for (size_t v = 0; v < w->kernel; v++) {
            size_t i = find_place(w, row, u, w->height);
            size_t j = find_place(w, column, v, w->width);
            if (i == SIZE_MAX || j == SIZE_MAX) {
                continue;
            }
            const float *from = dy + (i * columns + j) * w->filters;
            size_t at = (u * w->kernel + v) * w->channels + c;
            for (size_t f = 0; f < w->filters; f++) {
                sum += (double)from[f] * weight[f * size + at];
            }
        }
    }
    return sum;
}

void
plain_conv_back(struct tensor_backend *self, size_t n,
                const struct tensor_window *window, const float *x,
                const float *weight, const float *y, enum activation activation,
                float *dy, float *dweight, float *dbias, float *dx)
{
    const struct tensor_window *w = window;
    size_t places = tensor_window_places(w);
    size_t size = w->kernel * w->kernel * w->channels;
    size_t image = w->height * w->width * w->channels;
    (void)self;
    plain_activation_back(n * places * w->filters, activation, y, dy);
    for (size_t f = 0; f < w->filters; f++) {
        double sum = 0;
        for (size_t i = 0; i < size; i++) {
            dweight[f * size + i] = (float)weight_slope(n, w, x, dy, f, i);
        }
        for (size_t r = 0; dbias != NULL && r < n * places; r++) {
            sum += dy[r * w->filters + f];
        }
        if (dbias != NULL) {
            dbias[f] = (float)sum;
        }
    }
    for (size_t r = 0; dx != NULL && r < n * image; r++) {
        const float *from = dy + r / image * places * w->filters;
        size_t at = r % image / w->channels;
        dx[r] = (float)input_slope(w, weight, from, at / w->width,
                                   at % w->width, r % w->channels);
    }
}

/* ---- Pools -------------------------------------------------------------- */

/* One window of one channel: its result, where the first largest entry is, and
   how many are inside. */
struct pooled {
    double value;
    size_t at, count;
};

static struct pooled
pool_window(const struct tensor_window *w, enum tensor_pool of, const float *x,
            size_t i, size_t j, size_t c)
{
    struct pooled pooled = {of == TENSOR_POOL_MAX ? -INFINITY : 0, SIZE_MAX, 0};
    for (size_t u = 0; u < w->kernel; u++) {
        for (size_t v = 0; v < w->kernel; v++) {
            size_t at = find_entry(w, i, j, u, v);
            if (at == SIZE_MAX) {
                continue;
            }
            double entered = x[at + c];
            pooled.count++;
            if (of == TENSOR_POOL_MEAN) {
                pooled.value += entered;
            } else if (pooled.at == SIZE_MAX || entered > pooled.value ||
                       (entered != entered && pooled.value == pooled.value)) {
                pooled.value = entered; /* NaN stays */
                pooled.at = at + c;
            }
        }
    }
    if (of == TENSOR_POOL_MEAN) {
        pooled.value /= (double)pooled.count;
    }
    return pooled;
}

void
plain_pool(struct tensor_backend *self, size_t n,
           const struct tensor_window *window, enum tensor_pool of,
           const float *x, float *y)
{
    size_t channels = window->channels;
    size_t columns = tensor_window_side(window, window->width);
    size_t places = tensor_window_places(window);
    size_t image = window->height * window->width * channels;
    (void)self;
    for (size_t r = 0; r < n * places; r++) {
        for (size_t c = 0; c < channels; c++) {
            y[r * channels + c] =
                (float)pool_window(window, of, x + r / places * image,
                                   r % places / columns, r % columns, c)
                    .value;
        }
    }
}

void
plain_pool_back(struct tensor_backend *self, size_t n,
                const struct tensor_window *window, enum tensor_pool of,
                const float *x, const float *y, const float *dy, float *dx)
{
    const struct tensor_window *w = window;
    size_t columns = tensor_window_side(w, w->width);
    size_t places = tensor_window_places(w);
    size_t image = w->height * w->width * w->channels;
    (void)self;
    (void)y;
    memset(dx, 0, n * image * sizeof *dx);
    for (size_t r = 0; r < n * places * w->channels; r++) {
        size_t c = r % w->channels;
        size_t i = r / w->channels % places / columns;
        size_t j = r / w->channels % columns;
        size_t from = r / w->channels / places * image;
        struct pooled pooled = pool_window(w, of, x + from, i, j, c);
        if (of == TENSOR_POOL_MAX) {
            dx[from + pooled.at] += dy[r];
            continue;
        }
        for (size_t k = 0; k < w->kernel * w->kernel; k++) {
            size_t at = find_entry(w, i, j, k / w->kernel, k % w->kernel);
            if (at != SIZE_MAX) {
                dx[from + at + c] += dy[r] / (float)pooled.count;
            }
        }
    }
}

/* ---- Sums --------------------------------------------------------------- */

void
plain_add(struct tensor_backend *self, size_t size, const float *a,
          enum activation activation, float *y)
{
    (void)self;
    for (size_t i = 0; i < size; i++) {
        y[i] = (float)plain_activate(activation, (double)y[i] + a[i]);
    }
}
