/*
 * task_learnt_function.c: the task function: trained on clean auxiliary
 * records, without noise, then fixed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/task_learnt.h"
#include "host/error.h"
#include "host/wipe.h"

#define RUN_LEAST ((size_t)256) /* rows that scoring takes at a time */

/* A function in training, or at work. */
struct run {
    struct tensor_backend *backend;
    const struct task_function_shape *shape;
    const struct task_data *data;
    struct nn_arena arena;
    struct nn_graph graph;
    size_t reserved, floats;
    float *x, *y, *scratch, *dy; /* of a batch */
    void *memory;
};

static enum sotto_status
run_init(struct run *run, size_t batch, struct sotto_error *err)
{
    const struct task_function_shape *shape = run->shape;
    size_t n = batch > RUN_LEAST ? batch : RUN_LEAST;
    enum sotto_status status;
    nn_arena_init(&run->arena);
    status = nn_graph_plan(&run->graph, &run->arena, "function", shape->width,
                           shape->layer, shape->layers, err);
    status = HOST_THEN(status, nn_arena_allocate(&run->arena, err));
    status = HOST_THEN(status, nn_graph_reserve(&run->graph, n, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (run->graph.out != shape->out) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "a task function has %zu outputs for %zu",
                         run->graph.out, shape->out);
    }
    run->floats = n * (shape->width + 5 * shape->out) + 1;
    run->memory = calloc(run->floats, sizeof(float));
    if (run->memory == NULL) {
        return host_fail_memory(err);
    }
    run->reserved = n;
    run->x = run->memory;
    run->y = run->x + n * shape->width;
    run->dy = run->y + n * shape->out;
    run->scratch = run->dy + n * shape->out;
    nn_graph_init(&run->graph, shape->seed, 2);
    task_take_weights(&run->graph, shape->layer);
    return SOTTO_STATUS_OK;
}

static void
run_clear(struct run *run)
{
    nn_graph_clear(&run->graph);
    nn_arena_clear(&run->arena);
    host_wipe_free(run->memory, run->floats * sizeof(float));
}

/* ---- Training ------------------------------------------------------------ */

/* The loss of n rows, at most those reserved; with `training` sets the
   gradients of its mean. */
static double
lose_rows(struct run *run, const uint32_t *row, size_t n, bool training)
{
    const struct task_function_shape *shape = run->shape;
    struct tensor_backend *backend = run->backend;
    const float *answers;
    double loss;
    backend->ops->gather(backend, n, shape->width, run->data->x, row, run->x);
    backend->ops->gather(backend, n, shape->out, run->data->y, row, run->y);
    answers = nn_graph_forward(&run->graph, backend, run->x, n, training);
    loss = task_loss(backend, shape->block, shape->blocks, n, shape->out,
                     answers, run->y, 1 / (double)n, run->scratch, run->dy);
    if (training) {
        nn_graph_backward(&run->graph, backend, run->x, n, run->dy, NULL);
    }
    return loss;
}

static double
step(void *context, const uint32_t *row, size_t n, uint64_t epoch)
{
    (void)epoch;
    return lose_rows(context, row, n, true) / (double)n;
}

static double
score_rows(struct run *run, const uint32_t *row, size_t rows)
{
    double loss = 0;
    for (size_t i = 0; i < rows; i += run->reserved) {
        loss += lose_rows(run, row + i,
                          rows - i < run->reserved ? rows - i : run->reserved,
                          false);
    }
    return rows > 0 ? loss / (double)rows : 0;
}

static double
score(void *context)
{
    struct run *run = context;
    return score_rows(run, run->data->held, run->data->helds);
}

static enum sotto_status
train_graph(struct run *run, const struct task_plan *plan,
            struct task_trained *ret_trained, struct sotto_error *err)
{
    const struct task_data *data = run->data;
    struct nn_task task = {
        .rows = data->rows,
        .row = data->row,
        .step = step,
        .score = plan->patience > 0 && data->helds > 0 ? score : NULL,
        .context = run};
    struct nn_plan how = task_plan_nn(plan, run->shape->seed);
    struct nn_trained trained = {0};
    enum sotto_status status =
        nn_train(&task, &how, &run->arena, run->backend, &trained, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    *ret_trained =
        (struct task_trained){.epochs = trained.epochs,
                              .loss = score_rows(run, data->row, data->rows),
                              .resumed = trained.resumed};
    ret_trained->held = data->helds > 0 ? score(run) : ret_trained->loss;
    return isfinite(ret_trained->loss) && isfinite(ret_trained->held)
               ? SOTTO_STATUS_OK
               : nn_fail_diverged(plan->what, trained.epochs, err);
}

static enum sotto_status
take_layers(const struct run *run, struct task_function *function,
            struct sotto_error *err)
{
    function->room =
        calloc(nn_graph_floats(&run->graph) + 1, sizeof *function->room);
    if (function->room == NULL) {
        return host_fail_memory(err);
    }
    nn_graph_export(&run->graph, function->room, function->layer);
    function->layers = run->graph.layers;
    return SOTTO_STATUS_OK;
}

enum sotto_status
task_function_train(struct task_function *function,
                    const struct task_function_shape *shape,
                    const struct task_data *data, const struct task_plan *plan,
                    struct tensor_backend *backend,
                    struct task_trained *ret_trained, struct sotto_error *err)
{
    struct run run = {.backend = backend, .shape = shape, .data = data};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (shape->layers > LEARNT_LAYERS_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "a task function has more than %u layers",
                         LEARNT_LAYERS_MAX);
    }
    status = run_init(&run, plan->batch, err);
    status = HOST_THEN(status, train_graph(&run, plan, ret_trained, err));
    status = HOST_THEN(status, take_layers(&run, function, err));
    run_clear(&run);
    return status;
}

void
task_function_clear(struct task_function *function)
{
    free(function->room);
    function->room = NULL;
    function->layers = 0;
}

/* ---- What it says -------------------------------------------------------- */

/* Makes probabilities of the logits of a block. */
static void
soften_block(struct run *run, const struct task_block *block, size_t n,
             float *answers)
{
    size_t out = run->shape->out, count = block->count;
    float *own = run->scratch, *p = own + n * count;
    for (size_t i = 0; i < n; i++) {
        memcpy(own + i * count, answers + i * out + block->from,
               count * sizeof *own);
    }
    if (block->likelihood == ANALYST_CATEGORICAL) {
        run->backend->ops->softmax(run->backend, n, count, own, p);
    }
    for (size_t i = 0; block->likelihood == ANALYST_BERNOULLI && i < n * count;
         i++) {
        p[i] = (float)(1 / (1 + exp(-(double)own[i])));
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(answers + i * out + block->from, p + i * count,
               count * sizeof *p);
    }
}

enum sotto_status
task_function_run(const struct task_function_shape *shape, const float *x,
                  size_t n, struct tensor_backend *backend, float *ret_y,
                  struct sotto_error *err)
{
    struct run run = {.backend = backend, .shape = shape};
    size_t out = shape->out;
    enum sotto_status status = run_init(&run, 1, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < n; i += run.reserved) {
        size_t rows = n - i < run.reserved ? n - i : run.reserved;
        memcpy(ret_y + i * out,
               nn_graph_forward(&run.graph, backend, x + i * shape->width, rows,
                                false),
               rows * out * sizeof *ret_y);
        for (size_t j = 0; j < shape->blocks; j++) {
            if (shape->block[j].likelihood != ANALYST_GAUSSIAN) {
                soften_block(&run, &shape->block[j], rows, ret_y + i * out);
            }
        }
    }
    run_clear(&run);
    return status;
}

enum sotto_status
task_function_loss(const struct task_function_shape *shape,
                   const struct task_data *data, struct tensor_backend *backend,
                   double *ret_loss, struct sotto_error *err)
{
    struct run run = {.backend = backend, .shape = shape, .data = data};
    enum sotto_status status = run_init(&run, 1, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_loss = score_rows(&run, data->row, data->rows);
    }
    run_clear(&run);
    return status;
}
