/*
 * codebook_head.c: training the codebook's layer on the tree's parts.
 */
#include "encoder/codebook_head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "nn/graph.h"
#include "nn/train.h"

#define EPOCHS 6u
#define BATCH ((size_t)256)
#define RATE 5e-3F
#define CHUNK ((size_t)2048)
#define STREAM (UINT64_C(0x68656164) << 32) /* of the seed */

struct training {
    struct tensor_backend *backend;
    const float *z;
    const uint32_t *part; /* of every row */
    size_t n, d, k;
    bool bias;
    float unit; /* z is multiplied by it, to be of size 1 */
    struct nn_arena arena;
    struct nn_graph stack;
    float *batch, *target;
};

/* ---- Before the first step ----------------------------------------------- */

static void
measure_head(struct training *training)
{
    size_t size = training->n * training->d;
    double sum = 0;
    for (size_t i = 0; i < size; i++) {
        sum += (double)training->z[i] * (double)training->z[i];
    }
    training->unit = sum > 0 ? (float)sqrt((double)size / sum) : 1;
}

/* The nearest mean, as scores of the scaled z. */
static enum sotto_status
begin_head(struct training *training, struct sotto_error *err)
{
    size_t n = training->n, d = training->d, k = training->k;
    float *weight =
        nn_arena_value(&training->arena, training->stack.layer[0].weight);
    float *bias =
        nn_arena_value(&training->arena, training->stack.layer[0].bias);
    double *mean = calloc(k * d + k, sizeof *mean), *count, within = 0;
    double unit = (double)training->unit;
    if (mean == NULL) {
        return host_fail_memory(err);
    }
    count = mean + k * d;
    for (size_t i = 0; i < n; i++) {
        count[training->part[i]]++;
        for (size_t j = 0; j < d; j++) {
            mean[training->part[i] * d + j] +=
                unit * (double)training->z[i * d + j];
        }
    }
    for (size_t i = 0; i < k * d; i++) {
        mean[i] /= count[i / d] > 0 ? count[i / d] : 1;
    }
    for (size_t i = 0; i < n * d; i++) {
        double from = unit * (double)training->z[i] -
                      mean[training->part[i / d] * d + i % d];
        within += from * from;
    }
    within = within > 0 ? within / (double)(n * d) : 1;
    for (size_t c = 0; c < k; c++) {
        double square = 0;
        for (size_t j = 0; j < d; j++) {
            square += mean[c * d + j] * mean[c * d + j];
            weight[c * d + j] = (float)(mean[c * d + j] / within);
        }
        bias[c] = training->bias ? (float)(-square / (2 * within)) : 0;
    }
    host_wipe_free(mean, (k * d + k) * sizeof *mean);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
prepare(struct training *training, struct sotto_error *err)
{
    const struct layer layer = {.out = (uint32_t)training->k};
    enum sotto_status status;
    training->batch = malloc(BATCH * training->d * sizeof(float));
    training->target = malloc(BATCH * training->k * sizeof(float));
    if (training->batch == NULL || training->target == NULL) {
        return host_fail_memory(err);
    }
    measure_head(training);
    status = nn_graph_plan(&training->stack, &training->arena, "head",
                           training->d, &layer, 1, err);
    status = HOST_THEN(status, nn_arena_allocate(&training->arena, err));
    status = HOST_THEN(status, nn_graph_reserve(&training->stack, BATCH, err));
    return HOST_THEN(status, begin_head(training, err));
}

/* ---- Steps --------------------------------------------------------------- */

static double
step(void *context, const uint32_t *row, size_t n, uint64_t epoch)
{
    struct training *training = context;
    struct tensor_backend *backend = training->backend;
    const float *logits;
    double loss;
    (void)epoch;
    memset(training->target, 0, n * training->k * sizeof *training->target);
    for (size_t i = 0; i < n; i++) {
        const float *z = training->z + row[i] * training->d;
        for (size_t j = 0; j < training->d; j++) {
            training->batch[i * training->d + j] = training->unit * z[j];
        }
        training->target[i * training->k + training->part[row[i]]] = 1;
    }
    logits =
        nn_graph_forward(&training->stack, backend, training->batch, n, true);
    loss = backend->ops->categorical(backend, n, training->k, logits,
                                     training->target, 1 / (float)n,
                                     nn_graph_dy(&training->stack));
    nn_graph_backward(&training->stack, backend, training->batch, n,
                      nn_graph_dy(&training->stack), NULL);
    if (!training->bias) { /* it stays 0, where it began */
        memset(
            nn_arena_gradient(&training->arena, training->stack.layer[0].bias),
            0, training->k * sizeof(float));
    }
    return loss;
}

static enum sotto_status
train(struct training *training, uint64_t seed, const struct sotto_watch *watch,
      struct sotto_error *err)
{
    struct nn_task task = {
        .rows = training->n, .step = step, .context = training};
    struct nn_plan plan = {.optimiser = {.rate = RATE,
                                         .schedule = NN_SCHEDULE_COSINE,
                                         .floor = 0.01F},
                           .batch = BATCH,
                           .epochs = EPOCHS,
                           .seed = seed,
                           .stream = STREAM,
                           .way = PERMUTE_UP,
                           .what = "codebook",
                           .watch = watch};
    struct nn_trained trained;
    return nn_train(&task, &plan, &training->arena, training->backend, &trained,
                    err);
}

/* ---- Interface ----------------------------------------------------------- */

/* The trained layer, for z as it is. */
static enum sotto_status
keep(const struct training *training, struct codebook_head *head,
     struct sotto_error *err)
{
    size_t size = training->k * training->d;
    const float *weight =
        nn_arena_value(&training->arena, training->stack.layer[0].weight);
    head->weight = malloc(size * sizeof *head->weight);
    head->bias = malloc(training->k * sizeof *head->bias);
    if (head->weight == NULL || head->bias == NULL) {
        codebook_head_clear(head);
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < size; i++) {
        head->weight[i] = training->unit * weight[i];
    }
    memcpy(head->bias,
           nn_arena_value(&training->arena, training->stack.layer[0].bias),
           training->k * sizeof *head->bias);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
find_parts(const struct clustering *clustering, size_t k,
           struct host_pool *pool, struct tensor_backend *backend,
           const float *ground, size_t n, uint32_t *ret_part,
           struct sotto_error *err)
{
    uint32_t *part = malloc(clustering->cells * sizeof *part);
    enum sotto_status status;
    if (part == NULL) {
        return host_fail_memory(err);
    }
    status = clustering_cut(clustering, k, part, err);
    status = HOST_THEN(status, clustering_assign(clustering, pool, backend,
                                                 ground, n, ret_part, err));
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < n; i++) {
        ret_part[i] = part[ret_part[i]];
    }
    free(part);
    return status;
}

enum sotto_status
codebook_head_check(size_t k, size_t cells, struct sotto_error *err)
{
    return k >= 2 && k <= cells
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "%zu codes cannot be had: from 2 to %zu, the cells "
                           "that the records fill",
                           k, cells);
}

enum sotto_status
codebook_head_init(struct codebook_head *head,
                   const struct clustering *clustering, size_t k,
                   struct host_pool *pool, struct tensor_backend *backend,
                   const float *ground, const float *z, size_t n, size_t d,
                   bool bias, uint64_t seed, const struct sotto_watch *watch,
                   struct sotto_error *err)
{
    struct training training = {
        .backend = backend, .z = z, .n = n, .d = d, .k = k, .bias = bias};
    uint32_t *part;
    enum sotto_status status;
    *head = (struct codebook_head){.k = k, .d = d};
    status = codebook_head_check(k, clustering->cells, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    part = malloc(n * sizeof *part);
    if (part == NULL) {
        return host_fail_memory(err);
    }
    nn_arena_init(&training.arena);
    training.part = part;
    status = find_parts(clustering, k, pool, backend, ground, n, part, err);
    status = HOST_THEN(status, prepare(&training, err));
    status = HOST_THEN(status, train(&training, seed, watch, err));
    status = HOST_THEN(status, keep(&training, head, err));
    nn_graph_clear(&training.stack);
    nn_arena_clear(&training.arena);
    host_wipe_free(training.batch, BATCH * training.d * sizeof(float));
    host_wipe_free(training.target, BATCH * k * sizeof(float));
    host_wipe_free(part, n * sizeof *part);
    return status;
}

void
codebook_head_clear(struct codebook_head *head)
{
    free(head->weight);
    free(head->bias);
    *head = (struct codebook_head){0};
}
