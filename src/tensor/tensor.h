/*
 * tensor.h: single-precision operations behind a table.
 *
 * A back-end is one struct tensor_ops. Layers (src/nn) call nothing else, so
 * that another back-end is a new folder beside cpu/ and a row of tensor.c.
 * Matrices are row-major without gaps; shapes are n (rows of a batch), `in` and
 * `out`. Results do not depend on the number of threads: work is cut into tiles
 * whose shape depends on the shapes alone, and partial sums are added in a
 * fixed order.
 */
#ifndef SOTTO_TENSOR_TENSOR_H
#define SOTTO_TENSOR_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encode/layer.h"
#include "sotto/sotto.h"

struct host_pool;
struct tensor_backend;

enum tensor_pool { TENSOR_POOL_MAX = 0, TENSOR_POOL_MEAN = 1 };

/*
 * What a convolution or a pool does to images of height * width * channels
 * (row-major: y, x, channel). Kernel, stride and padding are square. Around an
 * image are zeros for a convolution; a pool does not count what is outside, and
 * its pad is below its kernel, so that no window is empty.
 */
struct tensor_window {
    size_t height, width, channels;
    size_t filters; /* channels that come out; a pool's are `channels` */
    size_t kernel, stride, pad;
};

/* floor((side + 2 pad - kernel) / stride) + 1: a side of what comes out. */
static inline size_t
tensor_window_side(const struct tensor_window *window, size_t side)
{
    return (side + 2 * window->pad - window->kernel) / window->stride + 1;
}

/* Positions in an image that comes out. */
static inline size_t
tensor_window_places(const struct tensor_window *window)
{
    return tensor_window_side(window, window->height) *
           tensor_window_side(window, window->width);
}

struct tensor_adam {
    float rate, beta1, beta2, epsilon;
    float decay;   /* decoupled weight decay, times the rate */
    uint64_t step; /* from 1: for the bias correction */
};

/* ---- Operations --------------------------------------------------------- */

/* c = alpha op(a) op(b) + beta c; op is the transpose where asked for; c
   is m rows of n, and k is summed over. */
typedef void tensor_multiply_op(struct tensor_backend *self, bool transpose_a,
                                bool transpose_b, size_t m, size_t n, size_t k,
                                float alpha, const float *a, const float *b,
                                float beta, float *c);

/* y = activation(x weight^T + bias); weight is out rows of in. A NULL bias
   is 0, and then dbias is NULL too. */
typedef void tensor_dense_op(struct tensor_backend *self, size_t n, size_t in,
                             size_t out, const float *x, const float *weight,
                             const float *bias, enum activation activation,
                             float *y);
/* dy is overwritten with the gradient before the activation. dweight and
   dbias are set, not added to; dx too, unless it is NULL. */
typedef void tensor_dense_back_op(struct tensor_backend *self, size_t n,
                                  size_t in, size_t out, const float *x,
                                  const float *weight, const float *y,
                                  enum activation activation, float *dy,
                                  float *dweight, float *dbias, float *dx);

/*
 * y = activation(x * weight + bias) on n images; weight is filters, kernel,
 * kernel, channels. Gradients and NULLs as for dense. A norm over channels
 * is `norm` with n times the window's places for rows.
 */
typedef void tensor_conv_op(struct tensor_backend *self, size_t n,
                            const struct tensor_window *window, const float *x,
                            const float *weight, const float *bias,
                            enum activation activation, float *y);
typedef void tensor_conv_back_op(struct tensor_backend *self, size_t n,
                                 const struct tensor_window *window,
                                 const float *x, const float *weight,
                                 const float *y, enum activation activation,
                                 float *dy, float *dweight, float *dbias,
                                 float *dx);

/* The largest or the mean of each channel in each window. dx is set; of
   equal entries the first of the window gets the largest's gradient. */
typedef void tensor_pool_op(struct tensor_backend *self, size_t n,
                            const struct tensor_window *window,
                            enum tensor_pool of, const float *x, float *y);
typedef void tensor_pool_back_op(struct tensor_backend *self, size_t n,
                                 const struct tensor_window *window,
                                 enum tensor_pool of, const float *x,
                                 const float *y, const float *dy, float *dx);

/* y = activation(y + a). */
typedef void tensor_add_op(struct tensor_backend *self, size_t size,
                           const float *a, enum activation activation,
                           float *y);

/* Batch norm over n rows, then the activation. Training: the batch's own
   moments go to mean and inverse (1/sqrt(variance + 1e-5)), and into the
   running ones with weight `momentum` (the unbiased variance there); else
   the running ones are used, and mean and inverse set from them. The
   gradient is that of training; dx may be dy, which is otherwise left as
   the gradient before the activation. */
typedef void tensor_norm_op(struct tensor_backend *self, size_t n, size_t width,
                            bool training, float momentum, const float *x,
                            const float *gain, const float *shift,
                            float *running_mean, float *running_variance,
                            enum activation activation, float *mean,
                            float *inverse, float *y);
typedef void tensor_norm_back_op(struct tensor_backend *self, size_t n,
                                 size_t width, const float *x,
                                 const float *gain, const float *mean,
                                 const float *inverse, const float *y,
                                 enum activation activation, float *dy,
                                 float *dgain, float *dshift, float *dx);

/* Rows of k: p = softmax(logits); and dlogits from p and dp. */
typedef void tensor_softmax_op(struct tensor_backend *self, size_t n, size_t k,
                               const float *logits, float *p);
typedef void tensor_softmax_back_op(struct tensor_backend *self, size_t n,
                                    size_t k, const float *p, const float *dp,
                                    float *dlogits);

/*
 * Negative log-likelihoods, summed over all n * width entries, and the
 * gradient of scale times that: set, not added to; not wanted if NULL, and
 * it may take the logits' own place.
 *   bernoulli    logits against targets in [0, 1]
 *   gaussian     (a - x)^2 / 2 for unit variance, without the constant
 * and per row of k
 *   categorical  logits against a one-hot (or any distribution) of k
 */
typedef double tensor_bernoulli_op(struct tensor_backend *self, size_t n,
                                   size_t width, const float *logits,
                                   const float *target, float scale,
                                   float *dlogits);
typedef double tensor_gaussian_op(struct tensor_backend *self, size_t n,
                                  size_t width, const float *a,
                                  const float *target, float scale, float *da);
typedef double tensor_categorical_op(struct tensor_backend *self, size_t n,
                                     size_t k, const float *logits,
                                     const float *target, float scale,
                                     float *dlogits);

/* P0 Eq. 4: nu(h) = h min(1, l / |h|_1), rows of d; and its gradient. */
typedef void tensor_clip_l1_op(struct tensor_backend *self, size_t n, size_t d,
                               float l, const float *h, float *z);
typedef void tensor_clip_l1_back_op(struct tensor_backend *self, size_t n,
                                    size_t d, float l, const float *h,
                                    const float *dz, float *dh);

/* Rows of x in the order of `row`. */
typedef void tensor_gather_op(struct tensor_backend *self, size_t n,
                              size_t width, const float *x, const uint32_t *row,
                              float *y);

typedef void tensor_adam_op(struct tensor_backend *self, size_t size,
                            const struct tensor_adam *adam, float *value,
                            const float *gradient, float *first, float *second);
/* first = momentum first + gradient; value -= rate (first + decay value) */
typedef void tensor_sgd_op(struct tensor_backend *self, size_t size, float rate,
                           float momentum, float decay, float *value,
                           const float *gradient, float *first);

/* clang-format off */
/* The operations above by their names: a back-end has them all. */
#define TENSOR_OPS(OP)                                                         \
    OP(multiply) OP(dense) OP(dense_back) OP(conv) OP(conv_back)               \
    OP(pool) OP(pool_back) OP(add) OP(norm) OP(norm_back)                      \
    OP(softmax) OP(softmax_back) OP(bernoulli) OP(gaussian) OP(categorical)    \
    OP(clip_l1) OP(clip_l1_back) OP(gather) OP(adam) OP(sgd)
/* clang-format on */

struct tensor_ops {
    const char *name;
#define TENSOR_OP(op) tensor_##op##_op *(op);
    TENSOR_OPS(TENSOR_OP)
#undef TENSOR_OP
    void (*free)(struct tensor_backend *self);
};

/* What every back-end begins with. */
struct tensor_backend {
    const struct tensor_ops *ops;
};

/*
 * Makes a back-end by its name:
 *   "cpu"    OpenBLAS on tiles, oneDNN on slices of the batch, the rest in
 *            vector instructions; numbers too small to be normal are 0 to it
 *   "plain"  the plain loops, one thread: what every other is tested against
 * The pool is borrowed, outlives the back-end, and may run the caller's own
 * work between its operations. Calls from one thread at a time. Statuses:
 * MEMORY, USAGE (no back-end of this name).
 */
SOTTO_CHECKED enum sotto_status tensor_new(const char *name,
                                           struct host_pool *pool,
                                           struct tensor_backend **ret,
                                           struct sotto_error *err);
/* The name of back-end i; NULL behind the last. */
const char *tensor_name_at(size_t i);
void tensor_backend_free(struct tensor_backend *backend);

#endif
