/*
 * task_learned.c: records with a task that is a network: the task function, and
 * its answers. The methods' losses: task_learned_methods.c.
 */
#include "experiment/task_learned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/task_learned_problem.h"
#include "host/error.h"

#define FOLDS ((size_t)4)
#define STREAM_FUNCTION (UINT64_C(1) << 40)

/* ---- The task function --------------------------------------------------- */

static size_t
plan_function(const struct task_learned *learned, bool relu,
              struct layer layer[2])
{
    uint32_t hidden = learned->spec->function_hidden;
    size_t layers = 0;
    memset(layer, 0, 2 * sizeof *layer);
    if (hidden > 0) {
        layer[layers].out = hidden;
        layer[layers++].activation = ACTIVATION_RELU;
    }
    layer[layers].out = (uint32_t)learned->data.out;
    layer[layers++].activation = relu ? ACTIVATION_RELU : ACTIVATION_NONE;
    return layers;
}

/* Trains f to these rows of x. */
static enum sotto_status
train_function(const struct task_learned *learned, const float *x, bool relu,
               const uint32_t *row, size_t rows, uint64_t seed,
               struct task_function *ret_function, struct sotto_error *err)
{
    const struct task_learned_spec *spec = learned->spec;
    struct layer layer[2];
    struct task_function_shape shape = {.width = learned->data.width,
                                        .out = learned->data.out,
                                        .layer = layer,
                                        .layers =
                                            plan_function(learned, relu, layer),
                                        .block = &learned->block,
                                        .blocks = 1,
                                        .seed = seed};
    struct task_data data = {
        .x = x, .y = learned->data.y, .row = row, .rows = rows};
    struct task_plan plan = {.rate = TASK_LEARNED_RATE,
                             .schedule = NN_SCHEDULE_CONSTANT,
                             .epochs = spec->function_epochs,
                             .batch = spec->function_batch > 0
                                          ? spec->function_batch
                                          : (uint32_t)rows,
                             .stream = STREAM_FUNCTION,
                             .what = "learning the task"};
    struct task_trained trained;
    return task_function_train(ret_function, &shape, &data, &plan,
                               learned->backend, &trained, err);
}

static enum sotto_status
run_function(const struct task_learned *learned,
             const struct task_function *function, const float *x, size_t n,
             float *ret_y, struct sotto_error *err)
{
    struct task_function_shape shape = {.width = learned->data.width,
                                        .out = learned->data.out,
                                        .layer = function->layer,
                                        .layers = function->layers,
                                        .block = &learned->block,
                                        .blocks = 1};
    return task_function_run(&shape, x, n, learned->backend, ret_y, err);
}

/* Answers of a part's rows by a function of the others. */
static enum sotto_status
answer_part(struct task_learned *learned, size_t part, uint64_t seed,
            uint32_t *others, float *room, struct sotto_error *err)
{
    const struct task_learned_data *data = &learned->data;
    struct task_function function = {.layers = 0};
    size_t count = 0, out = data->out;
    for (size_t i = 0; i < data->aux; i++) {
        if (i % FOLDS != part) {
            others[count++] = (uint32_t)i;
        }
    }
    enum sotto_status status =
        train_function(learned, data->x, learned->spec->function_relu, others,
                       count, seed, &function, err);
    status = HOST_THEN(status, run_function(learned, &function, data->x,
                                            data->aux, room, err));
    for (size_t i = part; i < data->aux && status == SOTTO_STATUS_OK;
         i += FOLDS) {
        for (size_t j = 0; j < out; j++) {
            learned->honest[i * out + j] = (double)room[i * out + j];
        }
    }
    task_function_clear(&function);
    return status;
}

static enum sotto_status
find_answers(struct task_learned *learned, uint64_t seed,
             struct sotto_error *err)
{
    const struct task_learned_data *data = &learned->data;
    size_t out = data->out;
    uint32_t *others = calloc(data->aux, sizeof *others);
    float *room = calloc(data->rows, out * sizeof *room);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (others == NULL || room == NULL) {
        status = host_fail_memory(err);
    }
    status =
        HOST_THEN(status, run_function(learned, &learned->function, data->x,
                                       data->rows, learned->answer, err));
    for (size_t i = 0; i < data->rows * out; i++) {
        learned->truth[i] = (double)data->y[i];
        learned->honest[i] = (double)learned->answer[i];
    }
    for (size_t p = 0; p < FOLDS && status == SOTTO_STATUS_OK; p++) {
        status = answer_part(learned, p, seed, others, room, err);
    }
    free(others);
    free(room);
    return status;
}

/* ---- The problem --------------------------------------------------------- */

void
task_learned_data_clear(struct task_learned_data *data)
{
    free(data->x);
    free(data->all);
    free(data->y);
    memset(data, 0, sizeof *data);
}

static enum sotto_status
prepare(struct task_learned *learned, uint64_t seed, struct sotto_error *err)
{
    const struct task_learned_data *data = &learned->data;
    size_t values = data->rows * data->out;
    enum sotto_status status = SOTTO_STATUS_OK;
    learned->row = calloc(data->rows, sizeof *learned->row);
    learned->honest = calloc(values, sizeof *learned->honest);
    learned->truth = calloc(values, sizeof *learned->truth);
    learned->answer = calloc(values, sizeof *learned->answer);
    if (learned->row == NULL || learned->honest == NULL ||
        learned->truth == NULL || learned->answer == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < data->rows; i++) {
        learned->row[i] = (uint32_t)i;
    }
    status = host_pool_new(1, &learned->pool, err);
    status = HOST_THEN(
        status, tensor_new("cpu", learned->pool, &learned->backend, err));
    status = HOST_THEN(status, train_function(learned, data->x,
                                              learned->spec->function_relu,
                                              learned->row, data->aux, seed,
                                              &learned->function, err));
    status = HOST_THEN(status,
                       train_function(learned, data->all,
                                      learned->spec->paper_relu, learned->row,
                                      data->aux, seed, &learned->paper, err));
    return HOST_THEN(status, find_answers(learned, seed, err));
}

enum sotto_status
task_learned_new(const struct task_learned_spec *spec,
                 struct task_learned_data *data, uint64_t seed,
                 struct task_learned **ret_learned, struct sotto_error *err)
{
    struct task_learned *learned = calloc(1, sizeof *learned);
    if (learned == NULL) {
        task_learned_data_clear(data);
        return host_fail_memory(err);
    }
    learned->spec = spec;
    learned->data = *data;
    memset(data, 0, sizeof *data);
    learned->block = (struct task_block){.likelihood = spec->likelihood,
                                         .from = 0,
                                         .count = learned->data.out,
                                         .weight = 1};
    enum sotto_status status = prepare(learned, seed, err);
    if (status != SOTTO_STATUS_OK) {
        task_learned_free(learned);
        return status;
    }
    *ret_learned = learned;
    return status;
}

void
task_learned_free(struct task_learned *learned)
{
    if (learned == NULL) {
        return;
    }
    task_function_clear(&learned->function);
    task_function_clear(&learned->paper);
    if (learned->backend != NULL) {
        tensor_backend_free(learned->backend);
    }
    host_pool_free(learned->pool);
    task_learned_data_clear(&learned->data);
    free(learned->row);
    free(learned->honest);
    free(learned->truth);
    free(learned->answer);
    free(learned);
}

void
task_learned_set_nets(struct task_learned *learned,
                      const struct task_learned_spec *spec)
{
    learned->spec = spec;
}

/* The loss of an answer to y. */
static double
loss_of(const struct task_learned *learned, const double *answer,
        const double *y)
{
    double loss = 0;
    for (size_t j = 0; j < learned->data.out; j++) {
        loss += learned->spec->likelihood == ANALYST_CATEGORICAL
                    ? -y[j] * log(fmax(answer[j], 1e-12))
                    : (answer[j] - y[j]) * (answer[j] - y[j]);
    }
    return loss;
}

void
task_learned_bounds(const struct task_learned *learned, double *ret_clear,
                    double *ret_constant)
{
    const struct task_learned_data *data = &learned->data;
    size_t out = data->out, test = data->rows - data->aux;
    double mean[STUDY_OUTPUTS_MOST] = {0}, clear = 0, constant = 0;
    for (size_t i = 0; i < data->aux * out; i++) {
        mean[i % out] += learned->truth[i] / (double)data->aux;
    }
    for (size_t i = data->aux; i < data->rows; i++) {
        const double *y = learned->truth + i * out;
        clear += loss_of(learned, learned->honest + i * out, y) / (double)test;
        constant += loss_of(learned, mean, y) / (double)test;
    }
    *ret_clear = clear;
    *ret_constant = constant;
}
