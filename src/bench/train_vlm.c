/*
 * train_vlm.c: how fast the variational encoder's networks learn.
 *
 * The limit is what OpenBLAS alone needs for the products of a step, each cut
 * into one part for each core, with no waiting between them and nothing else
 * done. The two take turns, so that what else the machine does hits both, and
 * medians are compared.
 */
#include "bench/train_vlm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cblas.h>

#include "bench/torch.h"
#include "host/error.h"
#include "host/pool.h"
#include "nn/optimiser.h"
#include "nn/stack.h"
#include "random/seeded.h"

#define WIDTH ((size_t)784)
#define RECORDS 2000u
#define LAYERS 8u
#define ROUNDS 21u
#define CHECKED_BATCH ((size_t)8)
#define LARGEST_BATCH ((size_t)1024)

static const struct nn_layer encoder_layers[] = {
    {400, TENSOR_ACTIVATION_RELU, false},
    {150, TENSOR_ACTIVATION_RELU, false},
    {50, TENSOR_ACTIVATION_RELU, false},
    {8, TENSOR_ACTIVATION_NONE, false}};
static const struct nn_layer decoder_layers[] = {
    {50, TENSOR_ACTIVATION_RELU, false},
    {150, TENSOR_ACTIVATION_RELU, false},
    {400, TENSOR_ACTIVATION_RELU, false},
    {784, TENSOR_ACTIVATION_NONE, false}};
static const size_t sizes[LAYERS + 1] = {784, 400, 150, 50, 8,
                                         50,  150, 400, 784};

struct training {
    struct nn_arena arena;
    struct nn_stack encoder, decoder;
    float *data; /* RECORDS rows */
    float *x;    /* a batch */
    struct seeded seeded;
};

/* ---- The step ----------------------------------------------------------- */

static void
training_clear(struct training *training)
{
    free(training->x);
    free(training->data);
    nn_stack_clear(&training->decoder);
    nn_stack_clear(&training->encoder);
    nn_arena_clear(&training->arena);
}

static void
fill_data(struct training *training)
{
    for (size_t i = 0; i < RECORDS * WIDTH; i++) {
        training->data[i] = (float)(random_u32(&training->seeded.random) >> 31);
    }
    nn_stack_init(&training->encoder, 1, 1);
    nn_stack_init(&training->decoder, 1, 2);
}

static enum sotto_status
training_init(struct training *training, struct sotto_error *err)
{
    memset(training, 0, sizeof *training);
    seeded_init(&training->seeded, 1, 3);
    nn_arena_init(&training->arena);
    enum sotto_status status =
        nn_stack_plan(&training->encoder, &training->arena, "encoder", WIDTH,
                      encoder_layers, 4, err);
    if (status == SOTTO_STATUS_OK) {
        status = nn_stack_plan(&training->decoder, &training->arena, "decoder",
                               8, decoder_layers, 4, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = nn_arena_allocate(&training->arena, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = nn_stack_reserve(&training->encoder, LARGEST_BATCH, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = nn_stack_reserve(&training->decoder, LARGEST_BATCH, err);
    }
    training->data = malloc(RECORDS * WIDTH * sizeof *training->data);
    training->x = malloc(LARGEST_BATCH * WIDTH * sizeof *training->x);
    if (status == SOTTO_STATUS_OK &&
        (training->data == NULL || training->x == NULL)) {
        status = host_fail_memory(err);
    }
    if (status == SOTTO_STATUS_OK) {
        fill_data(training);
    }
    return status;
}

/* Gradients of the mean loss of the batch in x. */
static double
gradients(struct training *training, struct tensor_backend *backend, size_t n)
{
    float *dy = nn_stack_dy(&training->decoder);
    float *dz = nn_stack_dy(&training->encoder);
    const float *z =
        nn_stack_forward(&training->encoder, backend, training->x, n, true);
    const float *y = nn_stack_forward(&training->decoder, backend, z, n, true);
    double loss = backend->ops->bernoulli(backend, n, WIDTH, y, training->x,
                                          1 / (float)n, dy);
    nn_stack_backward(&training->decoder, backend, z, n, dy, dz);
    nn_stack_backward(&training->encoder, backend, training->x, n, dz, NULL);
    return loss;
}

static void
step(struct training *training, struct tensor_backend *backend, size_t n)
{
    static const struct nn_optimiser adam = {.rate = 1e-3F};
    uint32_t rows[LARGEST_BATCH];
    for (size_t i = 0; i < n; i++) {
        rows[i] = random_u32(&training->seeded.random) % RECORDS;
    }
    backend->ops->gather(backend, n, WIDTH, training->data, rows, training->x);
    (void)gradients(training, backend, n);
    nn_step(&adam, backend, &training->arena);
}

/* ---- The answer --------------------------------------------------------- */

/* Loss and gradients of one batch, by plain loops too. */
static enum sotto_status
check(struct training *training, struct tensor_backend *backend,
      struct sotto_error *err)
{
    struct tensor_backend *plain = NULL;
    size_t size = training->arena.moved;
    double worst = 0;
    float *expected = malloc(size * sizeof *expected);
    enum sotto_status status = expected == NULL ? host_fail_memory(err)
                                                : tensor_plain_new(&plain, err);
    if (plain == NULL) {
        goto done;
    }
    memcpy(training->x, training->data,
           CHECKED_BATCH * WIDTH * sizeof *training->x);
    double slow = gradients(training, plain, CHECKED_BATCH);
    memcpy(expected, training->arena.gradient, size * sizeof *expected);
    double fast = gradients(training, backend, CHECKED_BATCH);
    for (size_t i = 0; i < size; i++) {
        worst = fmax(worst, fabs((double)training->arena.gradient[i] -
                                 (double)expected[i]));
    }
    if (!(fabs(fast - slow) <= 1e-5 * slow && worst <= 1e-4)) {
        status = host_fail(err, SOTTO_STATUS_REFUSED, 0,
                           "a training step is wrong: a loss of %.9g, not "
                           "%.9g, and gradients off by %.3g",
                           fast, slow, worst);
    }
done:
    tensor_backend_free(plain);
    free(expected);
    return status;
}

/* ---- The limit ---------------------------------------------------------- */

struct products {
    size_t n, threads;
    float *a, *b, *c; /* of c, `room` for each thread */
    size_t room;
};

/* Thread i's part of every product of a step. */
static void
multiply_part(void *context, size_t i, unsigned worker)
{
    const struct products *p = context;
    float *c = p->c + i * p->room;
    int n = (int)p->n;
    int rows = (int)(p->n / p->threads);
    (void)worker;
    for (size_t l = 0; l < LAYERS; l++) {
        int in = (int)sizes[l];
        int out = (int)sizes[l + 1];
        int part = (int)((sizes[l + 1] + p->threads - 1) / p->threads);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, out, in, 1,
                    p->a, in, p->b, in, 0, c, out);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, part, in, n, 1,
                    p->a, out, p->b, in, 0, c, in);
        if (l > 0) {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, in,
                        out, 1, p->a, out, p->b, in, 0, c, in);
        }
    }
}

static enum sotto_status
products_init(struct products *p, unsigned threads, struct sotto_error *err)
{
    size_t room = LARGEST_BATCH * WIDTH;
    p->threads = threads;
    p->room = room;
    p->a = malloc(room * sizeof *p->a);
    p->b = malloc(room * sizeof *p->b);
    p->c = calloc(room * threads, sizeof *p->c);
    if (p->a == NULL || p->b == NULL || p->c == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < room; i++) {
        p->a[i] = p->b[i] = (float)(i % 7) - 3;
    }
    return SOTTO_STATUS_OK;
}

static void
products_clear(struct products *p)
{
    free(p->a);
    free(p->b);
    free(p->c);
}

/* ---- Timing ------------------------------------------------------------- */

static double
now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int
compare(const void *left, const void *right)
{
    const double *a = left;
    const double *b = right;
    return *a < *b ? -1 : *a > *b;
}

static double
median(double *times)
{
    qsort(times, ROUNDS, sizeof *times, compare);
    return times[ROUNDS / 2];
}

/* Seconds a step, and seconds of its products, in turns. */
static void
measure(struct training *training, struct tensor_backend *backend,
        struct products *products, double *ret_step, double *ret_limit)
{
    double steps[ROUNDS];
    double limits[ROUNDS];
    size_t times = 2048 / products->n;
    for (size_t r = 0; r < ROUNDS; r++) {
        double start = now();
        for (size_t i = 0; i < times; i++) {
            step(training, backend, products->n);
        }
        steps[r] = (now() - start) / (double)times;
        start = now();
        for (size_t i = 0; i < times; i++) {
            host_pool_run(backend->pool, products->threads, multiply_part,
                          products);
        }
        limits[r] = (now() - start) / (double)times;
    }
    *ret_step = median(steps);
    *ret_limit = median(limits);
}

static void
emit_rows(void (*row)(void *context, const struct sotto_bench_row *row),
          void *context, size_t n, unsigned threads, double seconds,
          double limit)
{
    char setting[40];
    (void)snprintf(setting, sizeof setting, "batch %zu, threads %u", n,
                   threads);
    struct sotto_bench_row bench_row = {.name = "train-vlm",
                                        .setting = setting,
                                        .rate = (double)n / seconds,
                                        .microseconds =
                                            1e6 * seconds / (double)n,
                                        .ratio = limit / seconds,
                                        .against = "OpenBLAS's products alone"};
    row(context, &bench_row);
    double peer = torch_rate(n, threads);
    if (peer > 0) {
        bench_row.ratio = bench_row.rate / peer;
        bench_row.against = "PyTorch";
        row(context, &bench_row);
    }
}

enum sotto_status
train_vlm_run(void (*row)(void *context, const struct sotto_bench_row *row),
              void *context, struct sotto_error *err)
{
    static const size_t batches[] = {64, 1024};
    struct training training;
    struct products products = {0};
    struct tensor_backend *backend = NULL;
    enum sotto_status status = training_init(&training, err);
    if (status == SOTTO_STATUS_OK) {
        status = tensor_cpu_new(0, &backend, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status =
            products_init(&products, host_pool_threads(backend->pool), err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = check(&training, backend, err);
    }
    for (size_t i = 0; i < 2 && status == SOTTO_STATUS_OK; i++) {
        double seconds = 0;
        double limit = 0;
        products.n = batches[i];
        measure(&training, backend, &products, &seconds, &limit);
        emit_rows(row, context, products.n, host_pool_threads(backend->pool),
                  seconds, limit);
    }
    products_clear(&products);
    tensor_backend_free(backend);
    training_clear(&training);
    return status;
}
