/*
 * train.c: the one training loop.
 */
#include "nn/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "nn/checkpoint.h"

struct run {
    const struct nn_task *task;
    const struct nn_plan *plan;
    struct nn_arena *arena;
    struct tensor_backend *backend;
    struct nn_optimiser optimiser;
    struct nn_stopping stopping; /* without a score: nothing is kept */
    struct nn_progress progress;
    uint32_t *order;
};

/* ---- Batches and their order --------------------------------------------- */

static size_t
count_batches(const struct nn_plan *plan, size_t rows)
{
    return plan->batches == NN_BATCHES_WHOLE
               ? rows / plan->batch
               : (rows + plan->batch - 1) / plan->batch;
}

uint64_t
nn_plan_steps(const struct nn_plan *plan, size_t rows)
{
    return plan->epochs * count_batches(plan, rows);
}

/* Where batch b of an epoch begins; that of the next one is where it ends. */
static size_t
find_batch(const struct run *run, size_t b)
{
    size_t rows = run->task->rows, at = b * run->plan->batch;
    if (run->plan->batches == NN_BATCHES_EVEN) {
        return rows * b / count_batches(run->plan, rows);
    }
    return at < rows ? at : rows;
}

static void
reset_order(struct run *run)
{
    for (size_t i = 0; i < run->task->rows; i++) {
        run->order[i] =
            run->task->row != NULL ? run->task->row[i] : (uint32_t)i;
    }
}

static void
order_rows(struct run *run, uint64_t epoch)
{
    const struct nn_plan *plan = run->plan;
    if (!plan->goes_on) {
        reset_order(run);
    }
    permute(run->order, sizeof *run->order, run->task->rows, plan->way,
            plan->seed, plan->stream + epoch);
}

/* ---- Epochs -------------------------------------------------------------- */

enum sotto_status
nn_fail_diverged(const char *what, uint64_t epoch, struct sotto_error *err)
{
    return host_about(host_fail(err, SOTTO_STATUS_INPUT, 0,
                                "rate is too high: %s diverged in epoch %llu",
                                what, (unsigned long long)epoch),
                      err, SOTTO_ABOUT_SETTING, "rate");
}

static bool
tell_watch(const struct run *run, uint64_t step)
{
    const struct nn_plan *plan = run->plan;
    const struct sotto_watch *watch = plan->watch;
    uint64_t total = plan->total > 0 ? plan->total : run->optimiser.steps;
    return watch == NULL || watch->tick == NULL ||
           watch->tick(watch->context, plan->what, plan->done + step, total);
}

/* Moves the weights by the gradients of a batch; returns its loss before. */
static double
step_batch(struct run *run, const uint32_t *row, size_t n)
{
    const struct nn_task *task = run->task;
    uint64_t epoch = run->progress.epoch;
    double loss = task->step(task->context, row, n, epoch);
    if (run->plan->turn > 0) {
        nn_step_part(&run->optimiser, run->backend, run->arena, 0,
                     run->plan->turn);
        (void)task->step(task->context, row, n, epoch);
        nn_step_part(&run->optimiser, run->backend, run->arena, run->plan->turn,
                     run->arena->moved);
        run->arena->step++;
    } else {
        nn_step(&run->optimiser, run->backend, run->arena);
    }
    return loss;
}

/* Takes a step a batch; sets the mean loss. */
static enum sotto_status
run_epoch(struct run *run, struct sotto_error *err)
{
    const struct nn_task *task = run->task;
    size_t batches = count_batches(run->plan, task->rows);
    uint64_t epoch = run->progress.epoch;
    double sum = 0;
    order_rows(run, epoch);
    for (size_t b = 0; b < batches; b++) {
        size_t from = find_batch(run, b), end = find_batch(run, b + 1);
        if (!tell_watch(run, epoch * batches + b)) {
            return host_fail(err, SOTTO_STATUS_STOPPED, 0,
                             "%s was stopped before its end", run->plan->what);
        }
        sum += step_batch(run, run->order + from, end - from);
    }
    run->progress.epoch++;
    run->progress.loss = sum / (double)batches;
    return isfinite(sum)
               ? SOTTO_STATUS_OK
               : nn_fail_diverged(run->plan->what, run->progress.epoch, err);
}

static void
score_model(struct run *run)
{
    const struct nn_task *task = run->task;
    if (task->score != NULL) {
        (void)nn_stopping_score(&run->stopping, run->arena,
                                task->score(task->context));
    }
}

static bool
is_over(const struct run *run)
{
    return run->progress.epoch >= run->plan->epochs ||
           (run->plan->patience > 0 &&
            run->stopping.since >= run->plan->patience);
}

static enum sotto_status
run_epochs(struct run *run, struct sotto_error *err)
{
    const struct nn_plan *plan = run->plan;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (plan->score_first && run->progress.epoch == 0) {
        score_model(run);
    }
    while (status == SOTTO_STATUS_OK && !is_over(run)) {
        status = run_epoch(run, err);
        if (status == SOTTO_STATUS_OK) {
            score_model(run);
        }
        if (status == SOTTO_STATUS_OK && plan->checkpoint != NULL) {
            status =
                nn_checkpoint_write(plan->checkpoint, plan->key, run->arena,
                                    &run->stopping, &run->progress, err);
        }
    }
    return status;
}

/* ---- All of it ----------------------------------------------------------- */

/* Makes room, and goes back to where a checkpoint was written. */
static enum sotto_status
begin_training(struct run *run, bool *ret_resumed, struct sotto_error *err)
{
    const struct nn_plan *plan = run->plan;
    enum sotto_status status = SOTTO_STATUS_OK;
    run->optimiser = plan->optimiser;
    run->optimiser.steps = nn_plan_steps(plan, run->task->rows);
    run->optimiser.warmup =
        (uint64_t)floor(plan->warmup * (double)run->optimiser.steps);
    run->order = malloc((run->task->rows + 1) * sizeof *run->order);
    if (run->order == NULL) {
        return host_fail_memory(err);
    }
    reset_order(run);
    if (run->task->score != NULL) {
        status =
            nn_stopping_init(&run->stopping, run->arena, plan->patience, err);
    }
    if (status == SOTTO_STATUS_OK && plan->checkpoint != NULL) {
        status = nn_checkpoint_read(plan->checkpoint, plan->key, run->arena,
                                    &run->stopping, &run->progress, ret_resumed,
                                    err);
    }
    for (uint64_t e = 0; plan->goes_on && e < run->progress.epoch; e++) {
        order_rows(run, e);
    }
    return status;
}

enum sotto_status
nn_train(const struct nn_task *task, const struct nn_plan *plan,
         struct nn_arena *arena, struct tensor_backend *backend,
         struct nn_trained *ret_trained, struct sotto_error *err)
{
    struct run run = {.task = task,
                      .plan = plan,
                      .arena = arena,
                      .backend = backend,
                      .stopping = {.best = INFINITY}};
    bool resumed = false;
    enum sotto_status status = begin_training(&run, &resumed, err);
    status = HOST_THEN(status, run_epochs(&run, err));
    if (status == SOTTO_STATUS_OK) {
        nn_stopping_restore(&run.stopping, arena);
        *ret_trained =
            (struct nn_trained){.epochs = run.progress.epoch,
                                .best = run.progress.epoch - run.stopping.since,
                                .loss = run.progress.loss,
                                .resumed = resumed};
    }
    nn_stopping_clear(&run.stopping);
    free(run.order);
    return status;
}
