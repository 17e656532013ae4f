/*
 * task_learnt_net.c: encoder, decoder and task function, and what one batch
 * does to the first two.
 *
 *     h = encoder(x)
 *     phi = nu(h) = h min(1, l / |h|_1)       P0 Eq. 4, as the device's lattice
 *     z = phi + b noise                       noise ~ Laplace(0, 1)
 *             or the clip and the noise of another channel (learnt_channel.h)
 *     x^ = decoder(z),  y^ = f(x^)
 *     loss = sum over blocks of weight loss(y^, y), and of weight loss(x^, x)
 *
 * phi lies in the domain of radius l whatever x is, so that b, in the L1 ball
 * 2l / eps, is the mechanism's for any two records (invariant 1): no
 * sensitivity is measured, and no weight need be kept small for it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/task_learnt.h"
#include "host/error.h"
#include "host/wipe.h"

#define RUN_LEAST ((size_t)256) /* rows that scoring takes at a time */

double
task_net_b(const struct task_net *net)
{
    return (double)*nn_arena_value(&net->arena, net->b);
}

void
task_net_set_b(struct task_net *net, double b)
{
    *nn_arena_value(&net->arena, net->b) = (float)b;
}

void
task_net_set_l(struct task_net *net, double l)
{
    net->shape.l = l;
}

/* ---- Life ---------------------------------------------------------------- */

void
task_take_weights(const struct nn_graph *graph, const struct layer *layer)
{
    for (size_t i = 0; i < graph->layers; i++) {
        const struct nn_place *place = &graph->layer[i];
        size_t biases = place->fan > 0 ? place->width : 0;
        if (layer[i].weight == NULL || biases == 0) {
            continue;
        }
        memcpy(nn_arena_value(graph->arena, place->weight), layer[i].weight,
               biases * place->fan * sizeof(float));
        memcpy(nn_arena_value(graph->arena, place->bias), layer[i].bias,
               biases * sizeof(float));
    }
}

/* Where the floats of a graph begin that was planned behind `earlier` rows. */
static size_t
find_offset(const struct nn_arena *arena, size_t earlier)
{
    return earlier < arena->count ? arena->row[earlier].offset : arena->moved;
}

static enum sotto_status
plan_networks(struct task_net *net, struct sotto_error *err)
{
    const struct task_shape *shape = &net->shape;
    size_t rows;
    enum sotto_status status =
        nn_graph_plan(&net->encoder, &net->arena, "encoder", shape->width,
                      shape->encoder, shape->encoders, err);
    rows = net->arena.count;
    status = HOST_THEN(
        status, nn_graph_plan(&net->decoder, &net->arena, "decoder", shape->d,
                              shape->decoder, shape->decoders, err));
    if (status == SOTTO_STATUS_OK && shape->functions > 0) {
        status =
            nn_graph_plan(&net->function, &net->function_arena, "function",
                          shape->width, shape->function, shape->functions, err);
    }
    if (status == SOTTO_STATUS_OK) {
        net->b = nn_arena_add(&net->arena, "b", 1, 0, true);
        status = net->b == SIZE_MAX ? host_fail_memory(err)
                                    : nn_arena_allocate(&net->arena, err);
    }
    if (status == SOTTO_STATUS_OK && shape->functions > 0) {
        status = nn_arena_allocate(&net->function_arena, err);
    }
    if (status == SOTTO_STATUS_OK) {
        net->decoder_at = find_offset(&net->arena, rows);
    }
    return status;
}

static enum sotto_status
check_widths(const struct task_net *net, struct sotto_error *err)
{
    const struct task_shape *shape = &net->shape;
    size_t out = shape->functions > 0 ? net->function.out : net->decoder.out;
    if (net->encoder.out != shape->d || net->decoder.out != shape->width ||
        out != shape->out) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the networks of a task do not fit together: %zu, "
                         "%zu and %zu outputs for %zu, %zu and %zu",
                         net->encoder.out, net->decoder.out, out, shape->d,
                         shape->width, shape->out);
    }
    return SOTTO_STATUS_OK;
}

/* One block for a batch's matrices: four of n d, two of n width, one of
   n out, and four of the widest for losses. */
static enum sotto_status
reserve_rows(struct task_net *net, size_t n, struct sotto_error *err)
{
    size_t small = n * net->shape.d, wide = n * net->shape.width;
    size_t out = n * net->shape.out, most = wide > out ? wide : out;
    enum sotto_status status = nn_graph_reserve(&net->encoder, n, err);
    status = HOST_THEN(status, nn_graph_reserve(&net->decoder, n, err));
    if (status == SOTTO_STATUS_OK && net->shape.functions > 0) {
        status = nn_graph_reserve(&net->function, n, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    net->floats = 4 * small + 2 * wide + out + 4 * most;
    net->memory = calloc(net->floats + 1, sizeof(float));
    if (net->memory == NULL) {
        return host_fail_memory(err);
    }
    net->reserved = n;
    net->x = net->memory;
    net->dx = net->x + wide;
    net->y = net->dx + wide;
    net->scratch = net->y + out;
    net->phi = net->scratch + 4 * most;
    net->noise = net->phi + small;
    net->z = net->noise + small;
    net->dz = net->z + small;
    return SOTTO_STATUS_OK;
}

enum sotto_status
task_net_init(struct task_net *net, const struct task_shape *shape,
              struct tensor_backend *backend, struct sotto_error *err)
{
    size_t rows = shape->batch > RUN_LEAST ? shape->batch : RUN_LEAST;
    enum sotto_status status;
    *net = (struct task_net){.backend = backend, .shape = *shape};
    nn_arena_init(&net->arena);
    nn_arena_init(&net->function_arena);
    status = plan_networks(net, err);
    status = HOST_THEN(status, check_widths(net, err));
    if (status == SOTTO_STATUS_OK) {
        nn_graph_init(&net->encoder, shape->seed, 0);
        nn_graph_init(&net->decoder, shape->seed, 1);
        task_take_weights(&net->encoder, shape->encoder);
        task_take_weights(&net->decoder, shape->decoder);
        if (shape->functions > 0) {
            task_take_weights(&net->function, shape->function);
        }
        task_net_set_b(net, shape->b);
        net->shape.encoder = net->shape.decoder = net->shape.function = NULL;
        status = reserve_rows(net, rows, err);
    }
    return status;
}

void
task_net_clear(struct task_net *net)
{
    nn_graph_clear(&net->encoder);
    nn_graph_clear(&net->decoder);
    nn_graph_clear(&net->function);
    nn_arena_clear(&net->arena);
    nn_arena_clear(&net->function_arena);
    host_wipe_free(net->memory, net->floats * sizeof(float));
    net->memory = NULL;
}

/* ---- Losses -------------------------------------------------------------- */

/* Columns [from, from + count) of n rows of width, as a matrix of their own. */
static void
take_columns(const float *all, size_t n, size_t width,
             const struct task_block *block, float *ret)
{
    for (size_t i = 0; i < n; i++) {
        memcpy(ret + i * block->count, all + i * width + block->from,
               block->count * sizeof *ret);
    }
}

static double
lose_block(struct tensor_backend *backend, const struct task_block *block,
           size_t n, const float *a, const float *y, double scale, float *da)
{
    switch (block->likelihood) {
    case ANALYST_BERNOULLI:
        return backend->ops->bernoulli(backend, n, block->count, a, y,
                                       (float)scale, da);
    case ANALYST_CATEGORICAL:
        return backend->ops->categorical(backend, n, block->count, a, y,
                                         (float)scale, da);
    case ANALYST_GAUSSIAN: /* of (a - y)^2 the operation takes half */
    default:
        return 2 * backend->ops->gaussian(backend, n, block->count, a, y,
                                          (float)(2 * scale), da);
    }
}

double
task_loss(struct tensor_backend *backend, const struct task_block *block,
          size_t blocks, size_t n, size_t width, const float *a, const float *y,
          double scale, float *scratch, float *da)
{
    float *own = scratch, *own_y = own + n * width, *own_da = own_y + n * width;
    double loss = 0;
    memset(da, 0, n * width * sizeof *da);
    for (size_t i = 0; i < blocks; i++) {
        size_t count = block[i].count;
        take_columns(a, n, width, &block[i], own);
        take_columns(y, n, width, &block[i], own_y);
        loss += block[i].weight * lose_block(backend, &block[i], n, own, own_y,
                                             block[i].weight * scale, own_da);
        for (size_t row = 0; row < n; row++) {
            memcpy(da + row * width + block[i].from, own_da + row * count,
                   count * sizeof *da);
        }
    }
    return loss;
}

/* ---- Forward ------------------------------------------------------------- */

static size_t
count_clipped(const struct task_net *net, const float *h, size_t n)
{
    const struct task_shape *shape = &net->shape;
    size_t clipped = 0;
    for (size_t i = 0; shape->l > 0 && i < n; i++) {
        clipped +=
            learnt_norm(shape->domain, h + i * shape->d, shape->d) > shape->l;
    }
    return clipped;
}

/* The rows in net->x to phi and z; returns h. */
static const float *
encode_rows(struct task_net *net, const uint32_t *row, size_t n, uint32_t draw,
            bool training)
{
    size_t d = net->shape.d;
    double b = task_net_b(net);
    const float *h =
        nn_graph_forward(&net->encoder, net->backend, net->x, n, training);
    if (net->shape.l > 0) {
        learnt_clip(net->shape.domain, net->backend, n, d, net->shape.l, h,
                    net->phi);
    } else {
        memcpy(net->phi, h, n * d * sizeof *h);
    }
    for (size_t i = 0; i < n; i++) {
        learnt_noise(net->shape.domain, net->shape.seed, draw, row[i], d,
                     net->noise + i * d);
    }
    for (size_t i = 0; i < n * d; i++) {
        net->z[i] = (float)(net->phi[i] + b * net->noise[i]);
    }
    return h;
}

static const float *
answer_rows(struct task_net *net, const float *decoded, size_t n, bool training)
{
    return net->shape.functions > 0
               ? nn_graph_forward(&net->function, net->backend, decoded, n,
                                  training)
               : decoded;
}

void
task_net_codes(struct task_net *net, const float *x, size_t n, float *ret_h)
{
    size_t d = net->shape.d;
    for (size_t i = 0; i < n; i += net->reserved) {
        size_t rows = n - i < net->reserved ? n - i : net->reserved;
        const float *h = nn_graph_forward(
            &net->encoder, net->backend, x + i * net->shape.width, rows, false);
        memcpy(ret_h + i * d, h, rows * d * sizeof *h);
    }
}

void
task_net_answers(struct task_net *net, const float *all, const uint32_t *row,
                 size_t n, uint32_t draw, float *ret_y)
{
    size_t out = net->shape.out;
    for (size_t i = 0; i < n; i += net->reserved) {
        size_t rows = n - i < net->reserved ? n - i : net->reserved;
        const float *decoded;
        net->backend->ops->gather(net->backend, rows, net->shape.width, all,
                                  row + i, net->x);
        (void)encode_rows(net, row + i, rows, draw, false);
        decoded =
            nn_graph_forward(&net->decoder, net->backend, net->z, rows, false);
        memcpy(ret_y + i * out, answer_rows(net, decoded, rows, false),
               rows * out * sizeof *ret_y);
    }
}

const float *
task_net_features(struct task_net *net, const float *all, const uint32_t *row,
                  size_t n, uint32_t draw, size_t *ret_width)
{
    size_t layers = net->decoder.layers;
    net->backend->ops->gather(net->backend, n, net->shape.width, all, row,
                              net->x);
    (void)encode_rows(net, row, n, draw, false);
    (void)nn_graph_forward(&net->decoder, net->backend, net->z, n, false);
    *ret_width = net->decoder.layer[layers - 1].in;
    return layers > 1 ? net->decoder.layer[layers - 2].y : net->z;
}

void
task_net_center(struct task_net *net, const float *all, const uint32_t *row,
                size_t n, double share)
{
    const struct nn_place *last = &net->encoder.layer[net->encoder.layers - 1];
    size_t d = net->shape.d, weights = last->fan * last->width;
    double sum = 0, factor;
    for (size_t i = 0; i < n; i += net->reserved) {
        size_t rows = n - i < net->reserved ? n - i : net->reserved;
        const float *h;
        net->backend->ops->gather(net->backend, rows, net->shape.width, all,
                                  row + i, net->x);
        h = nn_graph_forward(&net->encoder, net->backend, net->x, rows, false);
        for (size_t j = 0; j < rows; j++) {
            sum += learnt_norm(net->shape.domain, h + j * d, d);
        }
    }
    factor = share * net->shape.l * (double)n / sum;
    if (!isfinite(factor) || !(factor > 0)) {
        return;
    }
    for (size_t i = 0; i < weights; i++) {
        float *weight = nn_arena_value(&net->arena, last->weight);
        weight[i] = (float)(factor * (double)weight[i]);
    }
    for (size_t i = 0; i < last->width; i++) {
        float *bias = nn_arena_value(&net->arena, last->bias);
        bias[i] = (float)(factor * (double)bias[i]);
    }
}

/* ---- One batch ----------------------------------------------------------- */

/* The loss of n rows; sets net->dx to `scale` times its gradient by x^. */
static double
lose_rows(struct task_net *net, const float *decoded, size_t n, double scale,
          bool training)
{
    const struct task_shape *shape = &net->shape;
    size_t entries = n * shape->width;
    const float *answers = answer_rows(net, decoded, n, training);
    float *dy = shape->functions > 0 ? nn_graph_dy(&net->function) : net->dx;
    size_t most = shape->width > shape->out ? shape->width : shape->out;
    float *rebuilt = net->scratch + 3 * n * most;
    double loss =
        task_loss(net->backend, shape->block, shape->blocks, n, shape->out,
                  answers, net->y, scale, net->scratch, dy);
    if (training && shape->functions > 0) {
        nn_graph_backward(&net->function, net->backend, decoded, n, dy,
                          net->dx);
    }
    if (shape->rebuilts > 0) {
        loss += task_loss(net->backend, shape->rebuilt, shape->rebuilts, n,
                          shape->width, decoded, net->x, scale, net->scratch,
                          rebuilt);
        for (size_t i = 0; i < entries; i++) {
            net->dx[i] += rebuilt[i];
        }
    }
    return loss;
}

/* Sets the gradients of decoder and encoder from net->dx and h. */
static void
go_back(struct task_net *net, const float *h, size_t n)
{
    struct tensor_backend *backend = net->backend;
    float *dh = nn_graph_dy(&net->encoder);
    nn_graph_backward(&net->decoder, backend, net->z, n, net->dx, net->dz);
    if (net->shape.l > 0) { /* dz / dphi = 1: the noise is phi's own */
        learnt_clip_back(net->shape.domain, backend, n, net->shape.d,
                         net->shape.l, h, net->dz, dh);
    } else {
        memcpy(dh, net->dz, n * net->shape.d * sizeof *dh);
    }
    nn_graph_backward(&net->encoder, backend, net->x, n, dh, NULL);
}

void
task_net_run(struct task_net *net, const float *x, const float *y,
             const uint32_t *row, size_t n, uint32_t draw, bool training,
             struct task_sums *sums)
{
    struct tensor_backend *backend = net->backend;
    const float *h, *decoded;
    backend->ops->gather(backend, n, net->shape.width, x, row, net->x);
    backend->ops->gather(backend, n, net->shape.out, y, row, net->y);
    h = encode_rows(net, row, n, draw, training);
    sums->clipped += (double)count_clipped(net, h, n);
    decoded = nn_graph_forward(&net->decoder, backend, net->z, n, training);
    sums->loss += lose_rows(net, decoded, n, 1 / (double)n, training);
    sums->rows += (double)n;
    if (training) {
        go_back(net, h, n);
    }
}
