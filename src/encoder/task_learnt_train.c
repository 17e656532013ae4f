/*
 * task_learnt_train.c: the epochs of a task net: Algorithm 1 of the paper, with
 * the clip and fresh noise in place of a measured sensitivity.
 *
 *     batch after batch: the gradients under the noise of (seed, draw, row),
 *     one step of Adam; after an epoch the rows that only score, always under
 *     the same noises; then the checkpoint
 *
 * Everything is a function of (seed, epoch, row) and of the step, b included:
 * it is a row of the arena. So a checkpoint is all there is to go on from.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/task_learnt.h"
#include "host/error.h"
#include "host/wipe.h"

#define FLOOR 0.1F         /* of the rate, at the end of the cosine */
#define SCORING UINT32_MAX /* the first draw of every score; others precede */

struct run {
    struct task_net *net;
    const struct task_data *data;
    const struct task_plan *plan;
    bool failed; /* no memory to measure */
};

/* ---- Distances ----------------------------------------------------------- */

enum sotto_status
task_net_distance(struct task_net *net, const float *x, const uint32_t *row,
                  size_t rows, double *ret_distance, struct sotto_error *err)
{
    size_t d = net->shape.d, width = net->shape.width;
    float *h = calloc(rows + 1, d * sizeof *h);
    double most = 0;
    if (h == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < rows; i += net->reserved) {
        size_t n = rows - i < net->reserved ? rows - i : net->reserved;
        net->backend->ops->gather(net->backend, n, width, x, row + i, net->x);
        memcpy(h + i * d,
               nn_graph_forward(&net->encoder, net->backend, net->x, n, false),
               n * d * sizeof *h);
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < i; j++) {
            double distance = 0;
            for (size_t k = 0; k < d; k++) {
                distance += fabs((double)h[i * d + k] - (double)h[j * d + k]);
            }
            most = distance > most ? distance : most;
        }
    }
    host_wipe_free(h, (rows + 1) * d * sizeof *h);
    *ret_distance = most;
    return SOTTO_STATUS_OK;
}

/* Sets b from the codes of the rows that train. */
static void
measure_noise(struct run *run)
{
    double distance = 0;
    struct sotto_error err;
    if (task_net_distance(run->net, run->data->x, run->data->row,
                          run->data->rows, &distance,
                          &err) == SOTTO_STATUS_OK) {
        task_net_set_b(run->net, run->plan->measured * distance);
    } else {
        run->failed = true;
    }
}

/* ---- A step -------------------------------------------------------------- */

/* Adds the gradient of eta |theta_e|^2 to the encoder's, or takes all of it
   away. */
static void
change_encoder(struct run *run)
{
    struct nn_arena *arena = &run->net->arena;
    for (size_t i = 0; i < run->net->decoder_at; i++) {
        arena->gradient[i] =
            run->plan->frozen
                ? 0
                : (float)((double)arena->gradient[i] +
                          2 * run->plan->eta * (double)arena->value[i]);
    }
}

/* Whether b is to be measured before this step: what does not move is measured
   once. */
static bool
is_measured(const struct run *run, uint64_t at)
{
    const struct task_plan *plan = run->plan;
    return plan->measured > 0 &&
           (plan->frozen ? at == 0
                         : plan->period == 0 || at % plan->period == 0);
}

static double
step(void *context, const uint32_t *row, size_t n, uint64_t epoch)
{
    struct run *run = context;
    struct task_sums sums = {0};
    uint64_t at = run->net->arena.step, period = run->plan->period;
    uint64_t draw = period > 0 ? at / period : epoch;
    if (is_measured(run, at)) {
        measure_noise(run);
    }
    task_net_run(run->net, run->data->x, run->data->y, row, n, (uint32_t)draw,
                 true, &sums);
    if (run->plan->frozen || run->plan->eta > 0) {
        change_encoder(run);
    }
    return run->failed ? NAN : sums.loss / (double)n;
}

/* ---- Scores -------------------------------------------------------------- */

static void
add_scores(struct task_net *net, const struct task_data *data,
           const uint32_t *row, size_t rows, uint32_t draws,
           struct task_sums *sums)
{
    for (uint32_t draw = 0; draw < draws; draw++) {
        for (size_t i = 0; i < rows; i += net->reserved) {
            task_net_run(net, data->x, data->y, row + i,
                         rows - i < net->reserved ? rows - i : net->reserved,
                         SCORING - draw, false, sums);
        }
    }
}

double
task_net_loss(struct task_net *net, const struct task_data *data,
              const uint32_t *row, size_t rows, uint32_t draws)
{
    struct task_sums sums = {0};
    add_scores(net, data, row, rows, draws, &sums);
    return sums.rows > 0 ? sums.loss / sums.rows : 0;
}

static uint32_t
count_draws(const struct task_plan *plan)
{
    return plan->draws > 0 ? plan->draws : 1;
}

static double
score(void *context)
{
    struct run *run = context;
    return task_net_loss(run->net, run->data, run->data->held, run->data->helds,
                         count_draws(run->plan));
}

/* ---- All of it ----------------------------------------------------------- */

struct nn_plan
task_plan_nn(const struct task_plan *plan, uint64_t seed)
{
    return (struct nn_plan){.optimiser = {.rate = (float)plan->rate,
                                          .schedule = plan->schedule,
                                          .floor = FLOOR},
                            .batch = plan->batch,
                            .epochs = plan->epochs,
                            .seed = seed,
                            .stream = plan->stream,
                            .patience = plan->patience,
                            .checkpoint = plan->checkpoint,
                            .key = plan->key,
                            .what = plan->what,
                            .watch = plan->watch,
                            .done = plan->done,
                            .total = plan->total};
}

static void
fill_trained(struct run *run, const struct nn_trained *trained,
             struct task_trained *ret_trained)
{
    const struct task_data *data = run->data;
    struct task_sums sums = {0}, held = {0};
    uint32_t draws = count_draws(run->plan);
    add_scores(run->net, data, data->row, data->rows, draws, &sums);
    add_scores(run->net, data, data->held, data->helds, draws, &held);
    *ret_trained = (struct task_trained){
        .epochs = trained->epochs,
        .loss = sums.loss / sums.rows,
        .held = data->helds > 0 ? held.loss / held.rows : sums.loss / sums.rows,
        .clipped = (sums.clipped + held.clipped) / (sums.rows + held.rows),
        .resumed = trained->resumed,
    };
}

static void
forget_moments(struct nn_arena *arena)
{
    memset(arena->first, 0, arena->size * sizeof *arena->first);
    memset(arena->second, 0, arena->size * sizeof *arena->second);
    arena->step = 0;
}

enum sotto_status
task_net_train(struct task_net *net, const struct task_data *data,
               const struct task_plan *plan, struct task_trained *ret_trained,
               struct sotto_error *err)
{
    struct run run = {.net = net, .data = data, .plan = plan};
    struct nn_task task = {
        .rows = data->rows,
        .row = data->row,
        .step = step,
        .score = plan->patience > 0 && data->helds > 0 ? score : NULL,
        .context = &run};
    struct nn_plan how = task_plan_nn(plan, net->shape.seed);
    struct nn_trained trained = {0};
    enum sotto_status status;
    how.turn = plan->turns ? net->decoder_at : 0;
    forget_moments(&net->arena);
    status = nn_train(&task, &how, &net->arena, net->backend, &trained, err);
    if (run.failed) {
        return host_fail_memory(err);
    }
    if (status == SOTTO_STATUS_OK) {
        fill_trained(&run, &trained, ret_trained);
        if (!isfinite(ret_trained->loss) || !isfinite(ret_trained->held)) {
            status = nn_fail_diverged(plan->what, trained.epochs, err);
        }
    }
    return status;
}
