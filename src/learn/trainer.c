/*
 * trainer.c: training one network on an objective, in batches.
 *
 * A batch is a fixed set of reports; the order of the batches is drawn anew
 * every epoch from (seed, stream, epoch). Adam takes a step a batch. After an
 * epoch the validation reports are scored, and the best weights are kept.
 */
#include "learn/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "nn/train.h"
#include "random/seeded.h"

#define BLOCK 1024u /* reports that go through the network at a time */
#define EPOCH_STREAM (UINT64_C(1) << 32)

/* ---- One batch ---------------------------------------------------------- */

enum sotto_status
trainer_init(struct trainer *trainer, struct sotto_error *err)
{
    const struct plan *plan = trainer->plan;
    size_t classes = trainer->labels->classes;
    trainer->room = trainer->rows;
    if (trainer->pass == NULL) {
        trainer->room = BLOCK;
        for (size_t b = 0; b < plan->batches; b++) {
            size_t rows = plan->batch[b + 1] - plan->batch[b];
            trainer->room = rows > trainer->room ? rows : trainer->room;
        }
    }
    trainer->p = malloc(trainer->room * classes * sizeof(float));
    trainer->dp = malloc(trainer->room * classes * sizeof(float));
    if (trainer->p == NULL || trainer->dp == NULL) {
        trainer_clear(trainer);
        return host_fail_memory(err);
    }
    return SOTTO_STATUS_OK;
}

void
trainer_clear(struct trainer *trainer)
{
    free(trainer->p);
    free(trainer->dp);
    trainer->p = NULL;
    trainer->dp = NULL;
}

static void
forward_rows(const struct trainer *trainer, struct nn_graph *stack,
             const float *x, size_t n)
{
    const struct tensor_ops *ops = trainer->backend->ops;
    const float *logits = nn_graph_forward(stack, trainer->backend, x, n, true);
    ops->softmax(trainer->backend, n, trainer->labels->classes, logits,
                 trainer->p);
}

static void
backward_rows(const struct trainer *trainer, struct nn_graph *stack,
              const float *x, size_t n)
{
    const struct tensor_ops *ops = trainer->backend->ops;
    ops->softmax_back(trainer->backend, n, trainer->labels->classes, trainer->p,
                      trainer->dp, nn_graph_dy(stack));
    nn_graph_backward(stack, trainer->backend, x, n, nn_graph_dy(stack), NULL);
}

static double
batch_whole(const struct trainer *trainer, struct nn_graph *stack, size_t batch,
            bool gradient)
{
    const struct plan *plan = trainer->plan;
    size_t classes = trainer->labels->classes;
    size_t rows = plan->batch[batch + 1] - plan->batch[batch];
    double scale = rows > 0 ? 1 / (double)rows : 0, sum;
    forward_rows(trainer, stack, trainer->x, trainer->rows);
    if (gradient) {
        memset(trainer->dp, 0, trainer->rows * classes * sizeof(float));
    }
    sum = trainer->pass(trainer->context, batch, trainer->weight, trainer->p,
                        scale, gradient ? trainer->dp : NULL);
    if (gradient) {
        if (trainer->options->marginal > 0) {
            (void)share_pass(trainer->labels, trainer->options->marginal,
                             trainer->p, trainer->rows, trainer->dp);
        }
        if (trainer->options->entropy > 0) {
            (void)entropy_pass(classes, trainer->options->entropy, trainer->p,
                               trainer->rows, trainer->dp);
        }
        backward_rows(trainer, stack, trainer->x, trainer->rows);
    }
    return sum;
}

static double
batch_conditional(const struct trainer *trainer, struct nn_graph *stack,
                  size_t batch, bool gradient)
{
    const struct plan *plan = trainer->plan;
    size_t first = plan->batch[batch], end = plan->batch[batch + 1];
    double sum = 0;
    while (first < end) {
        size_t rows = end - first;
        const float *x = trainer->x + first * trainer->in;
        rows = rows < trainer->room ? rows : trainer->room;
        forward_rows(trainer, stack, x, rows);
        sum += conditional_pass(trainer->labels, plan->group + first, rows,
                                trainer->p, 1 / (double)rows,
                                gradient ? trainer->dp : NULL);
        if (gradient) { /* of a training batch, which fits */
            if (trainer->options->marginal > 0) {
                (void)share_pass(trainer->labels, trainer->options->marginal,
                                 trainer->p, rows, trainer->dp);
            }
            backward_rows(trainer, stack, x, rows);
        }
        first += rows;
    }
    return sum;
}

double
trainer_batch(const struct trainer *trainer, struct nn_graph *stack,
              size_t batch, bool gradient)
{
    return trainer->pass != NULL
               ? batch_whole(trainer, stack, batch, gradient)
               : batch_conditional(trainer, stack, batch, gradient);
}

/* ---- Epochs ------------------------------------------------------------- */

struct run {
    const struct trainer *trainer;
    struct network *net;
};

/* Mean log s of some batches. */
static double
mean_log_s(const struct run *run, size_t first, size_t end)
{
    const struct plan *plan = run->trainer->plan;
    size_t rows = plan->batch[end] - plan->batch[first];
    double sum = 0;
    for (size_t b = first; b < end; b++) {
        sum += trainer_batch(run->trainer, &run->net->stack, b, false);
    }
    return rows > 0 ? sum / (double)rows : 0;
}

/*
 * The Bayesian bootstrap: every report weighs e = -ln u, u uniform in (0, 1].
 * The classifiers of many such draws vary as if the people had been drawn anew.
 * With a weight of 1 + c (e - 1) they vary c times as much.
 */
void
trainer_weights(const struct trainer *trainer, uint64_t stream,
                float *ret_weight)
{
    double c = stream > 0 ? trainer->options->bootstrap : 0;
    struct seeded seeded;
    seeded_init(&seeded, trainer->options->seed,
                (stream + 1) * EPOCH_STREAM - 1);
    for (size_t n = 0; n < trainer->plan->rows; n++) {
        double u = ((double)random_u32(&seeded.random) + 1) / 4294967296.0;
        ret_weight[n] = (float)(1 + c * (-log(u) - 1));
    }
}

/* Draws the network's weights of reports: NULL without a bootstrap. */
static enum sotto_status
draw_weights(const struct trainer *trainer, uint64_t stream, float **ret_weight,
             struct sotto_error *err)
{
    float *weight;
    if (trainer->pass == NULL || !(trainer->options->bootstrap > 0) ||
        stream == 0) {
        return SOTTO_STATUS_OK;
    }
    weight = malloc((trainer->plan->rows + 1) * sizeof *weight);
    if (weight == NULL) {
        return host_fail_memory(err);
    }
    trainer_weights(trainer, stream, weight);
    *ret_weight = weight;
    return SOTTO_STATUS_OK;
}

/* A task's row is a batch of the plan. */
static double
step_batch(void *context, const uint32_t *row, size_t n, uint64_t epoch)
{
    struct run *run = context;
    (void)n;
    (void)epoch;
    return trainer_batch(run->trainer, &run->net->stack, *row, true);
}

static double
score_held(void *context)
{
    struct run *run = context;
    size_t batches = run->trainer->plan->batches;
    return -mean_log_s(run, batches, batches + 1);
}

static enum sotto_status
run_epochs(struct run *run, uint64_t stream, uint64_t streams,
           uint64_t *ret_epochs, struct sotto_error *err)
{
    const struct trainer *trainer = run->trainer;
    const struct learn_options *options = trainer->options;
    const size_t *batch = trainer->plan->batch;
    size_t batches = trainer->plan->batches;
    bool scored = batch[batches + 1] > batch[batches];
    struct nn_task task = {.rows = batches,
                           .step = step_batch,
                           .score = scored ? score_held : NULL,
                           .context = run};
    struct nn_plan plan = {.optimiser = {.rate = (float)options->rate,
                                         .decay = (float)options->decay,
                                         .schedule = NN_SCHEDULE_COSINE,
                                         .floor = (float)options->floor},
                           .batch = 1,
                           .epochs = options->epochs,
                           .seed = options->seed,
                           .stream = (stream + 1) * EPOCH_STREAM,
                           .goes_on = true,
                           .patience = options->patience,
                           .what = "learning",
                           .watch = &options->watch,
                           .done = stream * options->epochs * batches,
                           .total = streams * options->epochs * batches};
    struct nn_trained trained = {0};
    enum sotto_status status = nn_train(&task, &plan, &run->net->arena,
                                        trainer->backend, &trained, err);
    *ret_epochs = trained.epochs;
    return status;
}

/* The last layer begins at 0: every class alike everywhere. What a network
   begins with stays in it where reports say little, and a guess drawn by lot is
   worse than none. */
static void
start_even(struct nn_graph *stack)
{
    const struct nn_place *last = &stack->layer[stack->layers - 1];
    memset(nn_arena_value(stack->arena, last->weight), 0,
           last->in * last->out * sizeof(float));
}

enum sotto_status
trainer_run(struct trainer *trainer, struct network *net, uint64_t stream,
            uint64_t streams, struct trainer_result *ret_result,
            struct sotto_error *err)
{
    size_t batches = trainer->plan->batches;
    struct run run = {.trainer = trainer, .net = net};
    struct trainer_result result = {0};
    float *weight = NULL;
    enum sotto_status status =
        nn_graph_reserve(&net->stack, trainer->room, err);
    status = HOST_THEN(status, draw_weights(trainer, stream, &weight, err));
    if (status == SOTTO_STATUS_OK) {
        nn_graph_init(&net->stack, trainer->options->seed, stream);
        start_even(&net->stack);
        trainer->weight = weight;
        status = run_epochs(&run, stream, streams, &result.epochs, err);
        trainer->weight = NULL;
    }
    if (status == SOTTO_STATUS_OK) {
        result.log_p = mean_log_s(&run, 0, batches);
        result.validation = mean_log_s(&run, batches, batches + 1);
        if (isfinite(result.log_p)) {
            *ret_result = result;
        } else { /* with its very last step */
            status = nn_fail_diverged("learning", result.epochs, err);
        }
    }
    nn_graph_release(&net->stack);
    free(weight);
    return status;
}

/* ---- Inputs ------------------------------------------------------------- */

/*
 * An entry that hardly varies (a corner pixel) is not blown up: no deviation
 * counts as less than half of what they have together.
 */
void
inputs_moments(const float *x, size_t rows, size_t in, float *ret_shift,
               float *ret_scale)
{
    double all = 0;
    for (size_t i = 0; i < in; i++) {
        double mean = 0, squares = 0;
        for (size_t n = 0; n < rows; n++) {
            mean += (double)x[n * in + i] / (double)rows;
        }
        for (size_t n = 0; n < rows; n++) {
            double gap = (double)x[n * in + i] - mean;
            squares += gap * gap / (double)rows;
        }
        ret_shift[i] = (float)mean;
        ret_scale[i] = (float)squares;
        all += squares / (double)in;
    }
    for (size_t i = 0; i < in; i++) {
        double variance = (double)ret_scale[i];
        variance = variance > all / 4 ? variance : all / 4;
        ret_scale[i] = variance > 0 ? (float)(1 / sqrt(variance)) : 1;
    }
}

void
inputs_apply(float *x, size_t rows, size_t in, const float *shift,
             const float *scale)
{
    for (size_t n = 0; n < rows; n++) {
        for (size_t i = 0; i < in; i++) {
            x[n * in + i] = (x[n * in + i] - shift[i]) * scale[i];
        }
    }
}

/* W (x - shift) scale + b = (W scale) x + (b - (W scale) shift) */
void
inputs_fold(struct nn_graph *stack, const float *shift, const float *scale)
{
    const struct nn_place *place = &stack->layer[0];
    float *weight = nn_arena_value(stack->arena, place->weight);
    float *bias = nn_arena_value(stack->arena, place->bias);
    for (size_t j = 0; j < place->out; j++) {
        double moved = 0;
        for (size_t i = 0; i < place->in; i++) {
            float *at = &weight[j * place->in + i];
            *at *= scale[i];
            moved += (double)*at * (double)shift[i];
        }
        bias[j] = (float)((double)bias[j] - moved);
    }
}
