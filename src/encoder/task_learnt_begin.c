/*
 * task_learnt_begin.c: where a task net begins.
 *
 * Near a record the task's loss is a square: with J the derivatives of f and H
 * the curvature of the loss in y^ (2 for a squared error, diag(p) - pp' for a
 * cross-entropy),
 *
 *     loss(f(x^), f(x)) ~ 1/2 (x^ - x)' J'HJ (x^ - x),    G = mean of J'HJ / 2
 *
 * So the mean is the paper's linear task with K'K = G, and with C the records'
 * covariance
 *
 *     K C K' = U diag(lambda) U',  v_i = u_i' K (x - mean) / sqrt(lambda_i)
 *
 * are the directions it needs, the first ones most. A code begins with them, at
 * scales as lambda^(1/4): what water-filling tends to as noise grows
 * (Proposition 4).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/task_learnt.h"
#include "host/error.h"
#include "host/wipe.h"
#include "tensor/symmetric.h"

#define ROWS_MOST ((size_t)4096) /* that are looked at: in an order by lot */
#define INSIDE 0.5               /* of the radius: where codes begin */
#define NOTHING 1e-9 /* of the largest eigenvalue: what is a direction */
#define IDLE 0.1F    /* what is left of codes that no direction is left for */
#define RIDGE 1e-6   /* of the largest eigenvalue */
#define DRAW (UINT32_MAX / 2) /* of noise: neither training's nor a score's */

struct beginning {
    struct task_net *net;
    const struct task_data *data;
    size_t n, width; /* rows looked at, entries of x */
    double *mean;
    float *gram, *covariance, *root, *product; /* width x width */
    double *matrix, *value; /* likewise, and its eigenvalues */
    size_t directions;
};

/* ---- Sums over rows -------------------------------------------------------
 */

/* Adds `scale` times the sum of rows' squares to a matrix. */
static void
add_squares(struct beginning *at, const float *row, size_t n, double scale,
            float *matrix)
{
    struct tensor_backend *backend = at->net->backend;
    backend->ops->multiply(backend, true, false, at->width, at->width, n,
                           (float)(scale / (double)at->n), row, row, 1, matrix);
}

/* Sets the gradient of y^ whose square is what output k of a block adds to the
   curvature; `answer` is f(x) of n rows. */
static void
set_slope(const struct task_net *net, const struct task_block *block, size_t k,
          const float *answer, size_t n, float *dy)
{
    size_t out = net->shape.out, count = block->count;
    memset(dy, 0, n * out * sizeof *dy);
    for (size_t i = 0; i < n; i++) {
        const float *a = answer + i * out + block->from;
        float *to = dy + i * out + block->from;
        double most = (double)a[0], sum = 0, p;
        if (block->likelihood == ANALYST_GAUSSIAN) {
            to[k] = (float)sqrt(block->weight);
            continue;
        }
        if (block->likelihood == ANALYST_BERNOULLI) {
            p = 1 / (1 + exp(-(double)a[k]));
            to[k] = (float)sqrt(block->weight / 2 * p * (1 - p));
            continue;
        }
        for (size_t j = 0; j < count; j++) {
            most = (double)a[j] > most ? (double)a[j] : most;
        }
        for (size_t j = 0; j < count; j++) {
            sum += exp((double)a[j] - most);
        }
        p = sqrt(block->weight / 2 * exp((double)a[k] - most) / sum);
        for (size_t j = 0; j < count; j++) {
            double mean = exp((double)a[j] - most) / sum;
            to[j] = (float)(p * ((j == k ? 1 : 0) - mean));
        }
    }
}

/* Adds what n rows in net->x say of G. */
static void
add_gram(struct beginning *at, size_t n)
{
    struct task_net *net = at->net;
    const struct task_shape *shape = &net->shape;
    const float *answer =
        nn_graph_forward(&net->function, net->backend, net->x, n, true);
    float *dy = nn_graph_dy(&net->function);
    for (size_t i = 0; i < shape->blocks; i++) {
        for (size_t k = 0; k < shape->block[i].count; k++) {
            set_slope(net, &shape->block[i], k, answer, n, dy);
            nn_graph_backward(&net->function, net->backend, net->x, n, dy,
                              net->dx);
            add_squares(at, net->dx, n, 1, at->gram);
        }
    }
}

static void
add_diagonal(struct beginning *at, const struct task_block *block,
             size_t blocks)
{
    for (size_t i = 0; i < blocks; i++) {
        for (size_t j = 0; j < block[i].count; j++) {
            at->gram[(block[i].from + j) * (at->width + 1)] +=
                (float)block[i].weight;
        }
    }
}

static void
find_mean(struct beginning *at)
{
    for (size_t i = 0; i < at->n; i++) {
        const float *x = at->data->x + (size_t)at->data->row[i] * at->width;
        for (size_t j = 0; j < at->width; j++) {
            at->mean[j] += (double)x[j] / (double)at->n;
        }
    }
}

/* Fills G and C. */
static void
find_moments(struct beginning *at)
{
    struct task_net *net = at->net;
    const struct task_shape *shape = &net->shape;
    find_mean(at);
    for (size_t i = 0; i < at->n; i += net->reserved) {
        size_t n = at->n - i < net->reserved ? at->n - i : net->reserved;
        net->backend->ops->gather(net->backend, n, at->width, at->data->x,
                                  at->data->row + i, net->x);
        if (shape->functions > 0) {
            add_gram(at, n);
        }
        for (size_t j = 0; j < n; j++) {
            float *x = net->x + j * at->width;
            for (size_t k = 0; k < at->width; k++) {
                x[k] = (float)((double)x[k] - at->mean[k]);
            }
        }
        add_squares(at, net->x, n, 1, at->covariance);
    }
    if (shape->functions == 0) {
        add_diagonal(at, shape->block, shape->blocks);
    }
    add_diagonal(at, shape->rebuilt, shape->rebuilts);
}

/* ---- Directions ------------------------------------------------------------
 */

/* Eigenvectors of a symmetric matrix into at->matrix, one a row; returns how
   many there are above nothing. */
static enum sotto_status
find_vectors(struct beginning *at, const float *matrix, size_t *ret_count,
             struct sotto_error *err)
{
    enum sotto_status status;
    size_t count = 0;
    for (size_t i = 0; i < at->width * at->width; i++) {
        at->matrix[i] = (double)matrix[i];
    }
    status = tensor_symmetric(at->width, at->matrix, at->value, err);
    while (status == SOTTO_STATUS_OK && count < at->width &&
           at->value[count] > NOTHING * at->value[0]) {
        count++;
    }
    *ret_count = count;
    return status;
}

/* K, a root of G, into at->root; then K C K' into at->product. */
static enum sotto_status
find_root(struct beginning *at, struct sotto_error *err)
{
    const struct tensor_ops *ops = at->net->backend->ops;
    size_t w = at->width, count;
    enum sotto_status status = find_vectors(at, at->gram, &count, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < w; i++) {
        double root = i < count ? sqrt(at->value[i]) : 0;
        for (size_t j = 0; j < w; j++) {
            at->root[i * w + j] = (float)(root * at->matrix[i * w + j]);
        }
    }
    ops->multiply(at->net->backend, false, false, w, w, w, 1, at->root,
                  at->covariance, 0, at->gram);
    ops->multiply(at->net->backend, false, true, w, w, w, 1, at->gram, at->root,
                  0, at->product);
    return SOTTO_STATUS_OK;
}

/* Puts the first directions into the encoder's one layer. */
static void
put_directions(struct beginning *at)
{
    struct task_net *net = at->net;
    const struct nn_place *place = &net->encoder.layer[0];
    float *weight = nn_arena_value(&net->arena, place->weight);
    float *bias = nn_arena_value(&net->arena, place->bias);
    for (size_t i = 0; i < net->shape.d; i++) {
        float *row = weight + i * at->width;
        double offset = 0, lambda = i < at->directions ? at->value[i] : 0;
        double scale =
            lambda > 0 ? pow(lambda / at->value[0], 0.25) / sqrt(lambda) : 0;
        for (size_t j = 0; j < at->width; j++) {
            double sum = 0;
            for (size_t k = 0; lambda > 0 && k < at->width; k++) {
                sum += at->matrix[i * at->width + k] *
                       (double)at->root[k * at->width + j];
            }
            row[j] = lambda > 0 ? (float)(scale * sum) : IDLE * row[j];
            offset -= (double)row[j] * at->mean[j];
        }
        bias[i] = (float)offset;
    }
}

static enum sotto_status
begin_encoder(struct beginning *at, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    find_moments(at);
    status = find_root(at, err);
    status =
        HOST_THEN(status, find_vectors(at, at->product, &at->directions, err));
    if (status == SOTTO_STATUS_OK && at->value[0] > 0) {
        put_directions(at);
    }
    return status;
}

/* ---- The way back ----------------------------------------------------------
 */

/* Sums for a least squares from features f to x. */
struct squares {
    size_t fan, width;
    double *f_mean, *x_mean, *value;
    double *ff;  /* fan x fan; then its eigenvectors */
    double *xf;  /* width x fan */
    double *row; /* fan */
};

static void
add_row(struct squares *sums, const float *f, const float *x, double n)
{
    for (size_t i = 0; i < sums->fan; i++) {
        sums->f_mean[i] += (double)f[i] / n;
        for (size_t j = 0; j < sums->fan; j++) {
            sums->ff[i * sums->fan + j] += (double)f[i] * (double)f[j] / n;
        }
    }
    for (size_t i = 0; i < sums->width; i++) {
        sums->x_mean[i] += (double)x[i] / n;
        for (size_t j = 0; j < sums->fan; j++) {
            sums->xf[i * sums->fan + j] += (double)x[i] * (double)f[j] / n;
        }
    }
}

static void
center_sums(struct squares *sums)
{
    for (size_t j = 0; j < sums->fan; j++) {
        for (size_t i = 0; i < sums->fan; i++) {
            sums->ff[i * sums->fan + j] -= sums->f_mean[i] * sums->f_mean[j];
        }
        for (size_t i = 0; i < sums->width; i++) {
            sums->xf[i * sums->fan + j] -= sums->x_mean[i] * sums->f_mean[j];
        }
    }
}

/* W = Cov(x, f) Cov(f)^-1, row by row, into a layer. */
static void
put_squares(struct squares *sums, float *weight, float *bias)
{
    size_t fan = sums->fan;
    for (size_t i = 0; i < sums->width; i++) {
        double offset = sums->x_mean[i];
        memset(sums->row, 0, fan * sizeof *sums->row);
        for (size_t k = 0; k < fan; k++) { /* along eigenvector k */
            const double *v = sums->ff + k * fan;
            double along = 0;
            for (size_t j = 0; j < fan; j++) {
                along += sums->xf[i * fan + j] * v[j];
            }
            along /= fmax(sums->value[k], RIDGE * sums->value[0]);
            for (size_t j = 0; j < fan; j++) {
                sums->row[j] += along * v[j];
            }
        }
        for (size_t j = 0; j < fan; j++) {
            weight[i * fan + j] = (float)sums->row[j];
            offset -= sums->row[j] * sums->f_mean[j];
        }
        bias[i] = (float)offset;
    }
}

static void
sum_rows(struct beginning *at, struct squares *sums)
{
    struct task_net *net = at->net;
    size_t fan;
    for (size_t i = 0; i < at->n; i += net->reserved) {
        size_t n = at->n - i < net->reserved ? at->n - i : net->reserved;
        const float *f = task_net_features(net, at->data->x, at->data->row + i,
                                           n, DRAW, &fan);
        for (size_t j = 0; j < n; j++) {
            add_row(sums, f + j * fan, net->x + j * at->width, (double)at->n);
        }
    }
    center_sums(sums);
}

static enum sotto_status
begin_decoder(struct beginning *at, struct sotto_error *err)
{
    struct task_net *net = at->net;
    const struct nn_place *last = &net->decoder.layer[net->decoder.layers - 1];
    size_t fan = last->in, width = at->width;
    struct squares sums = {.fan = fan, .width = width};
    size_t room = 3 * fan + width + fan * fan + width * fan;
    double *memory = calloc(room, sizeof *memory);
    enum sotto_status status;
    if (memory == NULL) {
        return host_fail_memory(err);
    }
    sums.f_mean = memory;
    sums.value = sums.f_mean + fan;
    sums.row = sums.value + fan;
    sums.x_mean = sums.row + fan;
    sums.ff = sums.x_mean + width;
    sums.xf = sums.ff + fan * fan;
    sum_rows(at, &sums);
    status = tensor_symmetric(fan, sums.ff, sums.value, err);
    if (status == SOTTO_STATUS_OK && sums.value[0] > 0) {
        put_squares(&sums, nn_arena_value(&net->arena, last->weight),
                    nn_arena_value(&net->arena, last->bias));
    }
    host_wipe_free(memory, room * sizeof *memory);
    return status;
}

/* ---- All of it -------------------------------------------------------------
 */

/* Begins with directions: room for a vector, eigenvalues and a matrix, and for
   four matrices of floats. */
static enum sotto_status
begin_directions(struct beginning *at, struct sotto_error *err)
{
    size_t width = at->width, square = width * width;
    double *doubles = calloc(2 * width + square, sizeof *doubles);
    float *floats = calloc(4 * square, sizeof *floats);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (doubles != NULL && floats != NULL) {
        at->mean = doubles;
        at->value = doubles + width;
        at->matrix = doubles + 2 * width;
        at->gram = floats;
        at->covariance = floats + square;
        at->root = floats + 2 * square;
        at->product = floats + 3 * square;
        status = begin_encoder(at, err);
    } else {
        status = host_fail_memory(err);
    }
    host_wipe_free(doubles, (2 * width + square) * sizeof *doubles);
    host_wipe_free(floats, 4 * square * sizeof *floats);
    return status;
}

enum sotto_status
task_net_begin(struct task_net *net, const struct task_data *data,
               struct sotto_error *err)
{
    struct beginning at = {.net = net,
                           .data = data,
                           .n = data->rows < ROWS_MOST ? data->rows : ROWS_MOST,
                           .width = net->shape.width};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (net->encoder.layers == 1 && at.width <= TASK_BEGIN_WIDTH_MAX) {
        status = begin_directions(&at, err);
    }
    if (status == SOTTO_STATUS_OK) {
        task_net_center(net, data->x, data->row, at.n, INSIDE);
        status = begin_decoder(&at, err);
    }
    return status;
}
