/*
 * plain.c: the operations as plain loops, one thread: what every fast kernel
 * is tested against.
 *
 * Written to be read beside the equations. Sums are in double precision, in
 * the order of the indices, and rounded once.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "tensor/plain/plain.h"
#include "tensor/tensor.h"

#define NORM_EPSILON 1e-5

/* ---- Activations -------------------------------------------------------- */

static double
sigmoid(double a)
{
    return 1 / (1 + exp(-a));
}

/* log(1 + e^a), without overflow. */
static double
softplus(double a)
{
    return (a > 0 ? a : 0) + log1p(exp(-fabs(a)));
}

double
plain_activate(enum activation activation, double a)
{
    switch (activation) {
    case ACTIVATION_RELU:
        return a < 0 ? 0 : a; /* NaN stays */
    case ACTIVATION_SIGMOID:
        return sigmoid(a);
    case ACTIVATION_TANH:
        return tanh(a);
    case ACTIVATION_NONE:
    default:
        return a;
    }
}

/* The derivative, by the activation's value. */
static double
activation_slope(enum activation activation, double y)
{
    switch (activation) {
    case ACTIVATION_RELU:
        return y > 0 ? 1 : 0;
    case ACTIVATION_SIGMOID:
        return y * (1 - y);
    case ACTIVATION_TANH:
        return 1 - y * y;
    case ACTIVATION_NONE:
    default:
        return 1;
    }
}

/* dy becomes the gradient before the activation. */
void
plain_activation_back(size_t size, enum activation activation, const float *y,
                      float *dy)
{
    for (size_t i = 0; i < size; i++) {
        dy[i] = (float)(dy[i] * activation_slope(activation, y[i]));
    }
}

/* ---- Products ----------------------------------------------------------- */

/* c_ij = alpha sum_l a_il b_lj + beta c_ij; c is not read if beta is 0. */
void
plain_multiply(struct tensor_backend *self, bool transpose_a, bool transpose_b,
               size_t m, size_t n, size_t k, float alpha, const float *a,
               const float *b, float beta, float *c)
{
    (void)self;
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t l = 0; l < k; l++) {
                double left = transpose_a ? a[l * m + i] : a[i * k + l];
                double right = transpose_b ? b[j * k + l] : b[l * n + j];
                sum += left * right;
            }
            double kept = beta == 0 ? 0 : (double)beta * c[i * n + j];
            c[i * n + j] = (float)(alpha * sum + kept);
        }
    }
}

void
plain_dense(struct tensor_backend *self, size_t n, size_t in, size_t out,
            const float *x, const float *weight, const float *bias,
            enum activation activation, float *y)
{
    (void)self;
    for (size_t r = 0; r < n; r++) {
        for (size_t j = 0; j < out; j++) {
            double a = bias == NULL ? 0 : bias[j];
            for (size_t i = 0; i < in; i++) {
                a += (double)x[r * in + i] * weight[j * in + i];
            }
            y[r * out + j] = (float)plain_activate(activation, a);
        }
    }
}

/* dW = dy^T x, db = sum of dy's rows, dx = dy W. */
void
plain_dense_back(struct tensor_backend *self, size_t n, size_t in, size_t out,
                 const float *x, const float *weight, const float *y,
                 enum activation activation, float *dy, float *dweight,
                 float *dbias, float *dx)
{
    plain_activation_back(n * out, activation, y, dy);
    plain_multiply(self, true, false, out, in, n, 1, dy, x, 0, dweight);
    for (size_t j = 0; dbias != NULL && j < out; j++) {
        double sum = 0;
        for (size_t r = 0; r < n; r++) {
            sum += dy[r * out + j];
        }
        dbias[j] = (float)sum;
    }
    if (dx != NULL) {
        plain_multiply(self, false, false, n, in, out, 1, dy, weight, 0, dx);
    }
}

/* ---- Batch norm --------------------------------------------------------- */

/* The batch's moments of column j, into the running ones too. */
static void
take_moments(size_t n, size_t width, size_t j, float momentum, const float *x,
             float *running_mean, float *running_variance, float *mean,
             float *inverse)
{
    double sum = 0;
    double squares = 0;
    for (size_t r = 0; r < n; r++) {
        sum += x[r * width + j];
    }
    double centre = sum / (double)n;
    for (size_t r = 0; r < n; r++) {
        double away = x[r * width + j] - centre;
        squares += away * away;
    }
    double unbiased = n > 1 ? squares / (double)(n - 1) : 0;
    double keep = 1 - (double)momentum;
    mean[j] = (float)centre;
    inverse[j] = (float)(1 / sqrt(squares / (double)n + NORM_EPSILON));
    running_mean[j] = (float)(keep * running_mean[j] + momentum * centre);
    running_variance[j] =
        (float)(keep * running_variance[j] + momentum * unbiased);
}

void
plain_norm(struct tensor_backend *self, size_t n, size_t width, bool training,
           float momentum, const float *x, const float *gain,
           const float *shift, float *running_mean, float *running_variance,
           enum activation activation, float *mean, float *inverse, float *y)
{
    (void)self;
    for (size_t j = 0; j < width; j++) {
        if (training) {
            take_moments(n, width, j, momentum, x, running_mean,
                         running_variance, mean, inverse);
        } else {
            mean[j] = running_mean[j];
            inverse[j] =
                (float)(1 / sqrt((double)running_variance[j] + NORM_EPSILON));
        }
        for (size_t r = 0; r < n; r++) {
            double unit = ((double)x[r * width + j] - mean[j]) * inverse[j];
            y[r * width + j] =
                (float)plain_activate(activation, unit * gain[j] + shift[j]);
        }
    }
}

/*
 * With u = (x - mean) inverse and g the gradient before the activation:
 * dshift = sum g, dgain = sum g u,
 * dx = gain inverse (g - dshift / n - u dgain / n).
 */
void
plain_norm_back(struct tensor_backend *self, size_t n, size_t width,
                const float *x, const float *gain, const float *mean,
                const float *inverse, const float *y,
                enum activation activation, float *dy, float *dgain,
                float *dshift, float *dx)
{
    (void)self;
    plain_activation_back(n * width, activation, y, dy);
    for (size_t j = 0; j < width; j++) {
        double sum = 0;
        double along = 0;
        for (size_t r = 0; r < n; r++) {
            double unit = ((double)x[r * width + j] - mean[j]) * inverse[j];
            sum += dy[r * width + j];
            along += dy[r * width + j] * unit;
        }
        for (size_t r = 0; r < n; r++) {
            double unit = ((double)x[r * width + j] - mean[j]) * inverse[j];
            double away = dy[r * width + j] - (sum + unit * along) / (double)n;
            dx[r * width + j] = (float)((double)gain[j] * inverse[j] * away);
        }
        dshift[j] = (float)sum;
        dgain[j] = (float)along;
    }
}

/* ---- Softmax ------------------------------------------------------------ */

static double
find_largest(size_t k, const float *a)
{
    double most = a[0];
    for (size_t i = 1; i < k; i++) {
        most = a[i] > most ? a[i] : most;
    }
    return most;
}

void
plain_softmax(struct tensor_backend *self, size_t n, size_t k,
              const float *logits, float *p)
{
    (void)self;
    for (size_t r = 0; r < n; r++) {
        const float *a = logits + r * k;
        double most = find_largest(k, a);
        double sum = 0;
        for (size_t i = 0; i < k; i++) {
            sum += exp(a[i] - most);
        }
        for (size_t i = 0; i < k; i++) {
            p[r * k + i] = (float)(exp(a[i] - most) / sum);
        }
    }
}

/* da_i = p_i (dp_i - sum_j p_j dp_j). */
void
plain_softmax_back(struct tensor_backend *self, size_t n, size_t k,
                   const float *p, const float *dp, float *dlogits)
{
    (void)self;
    for (size_t r = 0; r < n; r++) {
        double sum = 0;
        for (size_t i = 0; i < k; i++) {
            sum += (double)p[r * k + i] * dp[r * k + i];
        }
        for (size_t i = 0; i < k; i++) {
            dlogits[r * k + i] = (float)(p[r * k + i] * (dp[r * k + i] - sum));
        }
    }
}

/* ---- Losses ------------------------------------------------------------- */

double
plain_bernoulli(struct tensor_backend *self, size_t n, size_t width,
                const float *logits, const float *target, float scale,
                float *dlogits)
{
    (void)self;
    double loss = 0;
    for (size_t i = 0; i < n * width; i++) {
        double a = logits[i];
        double t = target[i];
        loss += softplus(a) - a * t;
        if (dlogits != NULL) {
            dlogits[i] = (float)(scale * (sigmoid(a) - t));
        }
    }
    return loss;
}

double
plain_gaussian(struct tensor_backend *self, size_t n, size_t width,
               const float *a, const float *target, float scale, float *da)
{
    (void)self;
    double loss = 0;
    for (size_t i = 0; i < n * width; i++) {
        double away = (double)a[i] - target[i];
        loss += away * away / 2;
        if (da != NULL) {
            da[i] = (float)(scale * away);
        }
    }
    return loss;
}

/* sum_i t_i (log sum_j e^(a_j) - a_i); gradient |t| softmax(a)_i - t_i. */
double
plain_categorical(struct tensor_backend *self, size_t n, size_t k,
                  const float *logits, const float *target, float scale,
                  float *dlogits)
{
    (void)self;
    double loss = 0;
    for (size_t r = 0; r < n; r++) {
        const float *a = logits + r * k;
        const float *t = target + r * k;
        double most = find_largest(k, a);
        double sum = 0;
        double mass = 0;
        for (size_t i = 0; i < k; i++) {
            sum += exp(a[i] - most);
            mass += t[i];
        }
        double level = most + log(sum);
        for (size_t i = 0; i < k; i++) {
            double p = exp(a[i] - most) / sum;
            loss += t[i] * (level - a[i]);
            if (dlogits != NULL) {
                dlogits[r * k + i] = (float)(scale * (mass * p - t[i]));
            }
        }
    }
    return loss;
}

/* ---- Clipping ----------------------------------------------------------- */

static double
size_l1(size_t d, const float *h)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        sum += fabs((double)h[i]);
    }
    return sum;
}

void
plain_clip_l1(struct tensor_backend *self, size_t n, size_t d, float l,
              const float *h, float *z)
{
    (void)self;
    for (size_t r = 0; r < n; r++) {
        double s = size_l1(d, h + r * d);
        double factor = s > l ? l / s : 1;
        for (size_t i = 0; i < d; i++) {
            z[r * d + i] = (float)(h[r * d + i] * factor);
        }
    }
}

/*
 * Inside the ball dh = dz. Outside, z_i = l h_i / s with s = |h|_1:
 * dh_i = (l / s) (dz_i - sign(h_i) sum_j dz_j h_j / s).
 */
void
plain_clip_l1_back(struct tensor_backend *self, size_t n, size_t d, float l,
                   const float *h, const float *dz, float *dh)
{
    (void)self;
    for (size_t r = 0; r < n; r++) {
        const float *at = h + r * d;
        double s = size_l1(d, at);
        double along = 0;
        for (size_t i = 0; i < d && s > l; i++) {
            along += (double)dz[r * d + i] * at[i] / s;
        }
        for (size_t i = 0; i < d; i++) {
            double sign = at[i] > 0 ? 1 : at[i] < 0 ? -1 : 0;
            double inside = dz[r * d + i];
            dh[r * d + i] =
                (float)(s > l ? l / s * (inside - sign * along) : inside);
        }
    }
}

void
plain_gather(struct tensor_backend *self, size_t n, size_t width,
             const float *x, const uint32_t *row, float *y)
{
    (void)self;
    for (size_t r = 0; r < n; r++) {
        memcpy(y + r * width, x + row[r] * width, width * sizeof *y);
    }
}

/* ---- Optimisers --------------------------------------------------------- */

/*
 * m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2,
 * value -= rate (m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon)
 *                + decay value).
 */
void
plain_adam(struct tensor_backend *self, size_t size,
           const struct tensor_adam *how, float *value, const float *gradient,
           float *first, float *second)
{
    (void)self;
    double t = (double)how->step;
    double correct1 = 1 - pow(how->beta1, t);
    double correct2 = 1 - pow(how->beta2, t);
    for (size_t i = 0; i < size; i++) {
        double g = gradient[i];
        double m = how->beta1 * first[i] + (1 - (double)how->beta1) * g;
        double v = how->beta2 * second[i] + (1 - (double)how->beta2) * g * g;
        double step = m / correct1 / (sqrt(v / correct2) + how->epsilon);
        value[i] = (float)(value[i] -
                           how->rate * (step + (double)how->decay * value[i]));
        first[i] = (float)m;
        second[i] = (float)v;
    }
}

void
plain_sgd(struct tensor_backend *self, size_t size, float rate, float momentum,
          float decay, float *value, const float *gradient, float *first)
{
    (void)self;
    for (size_t i = 0; i < size; i++) {
        double m = (double)momentum * first[i] + gradient[i];
        value[i] = (float)(value[i] - rate * (m + (double)decay * value[i]));
        first[i] = (float)m;
    }
}

/* ---- The table ---------------------------------------------------------- */

static void
free_plain(struct tensor_backend *self)
{
    free(self);
}

static const struct tensor_ops plain = {
    .name = "plain",
#define PLAIN_OP(op) .op = plain_##op,
    TENSOR_OPS(PLAIN_OP)
#undef PLAIN_OP
        .free = free_plain,
};

enum sotto_status
plain_new(struct host_pool *pool, struct tensor_backend **ret,
          struct sotto_error *err)
{
    (void)pool;
    struct tensor_backend *backend = calloc(1, sizeof *backend);
    if (backend == NULL) {
        return host_fail_memory(err);
    }
    backend->ops = &plain;
    *ret = backend;
    return SOTTO_STATUS_OK;
}
