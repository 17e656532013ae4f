/*
 * train_clm.c: how fast the contrastive mechanism learns.
 *
 * As in train_vlm.c, all take turns, medians over the rounds are compared, and
 * of the peer's settings the best counts.
 */
#include "bench/train_clm.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/clm_limit.h"
#include "bench/clm_peer.h"
#include "bench/clm_step.h"
#include "host/clock.h"
#include "host/pool.h"
#include "host/sort.h"

#define THREADS 2u

const struct train_clm_size train_clm_full = {256, 15, 8, PEER_SETTINGS,
                                              PEER_PYTHON};

/* Seconds, of every round. */
struct times {
    double ours[TRAIN_CLM_ROUNDS_MAX];
    double views[TRAIN_CLM_ROUNDS_MAX];
    double limit[TRAIN_CLM_ROUNDS_MAX];
    double peer[PEERS_WAYS][TRAIN_CLM_ROUNDS_MAX];
    size_t rounds;
};

struct job {
    const struct train_clm_size *size;
    struct host_pool *pool;
    struct tensor_backend *backend;
    struct clm_step step;
    struct peers peer;
    struct clm_limit *limit;
    const char *missing; /* of the peer */
    double memory;       /* the peer's */
    struct times times;
};

/* ---- Timing -------------------------------------------------------------- */

static double
median(double *times, size_t count)
{
    host_sort_doubles(times, count);
    return times[count / 2];
}

static double
time_step(struct job *job, void (*what)(struct clm_step *step))
{
    double start;
    what(&job->step);
    start = host_seconds();
    for (size_t i = 0; i < job->size->steps; i++) {
        what(&job->step);
    }
    return (host_seconds() - start) / (double)job->size->steps;
}

static enum sotto_status
time_limit(struct job *job, double *ret_seconds, struct sotto_error *err)
{
    enum sotto_status status = clm_limit_run(job->limit, err);
    double start = host_seconds();
    for (size_t i = 0; i < job->size->steps && status == SOTTO_STATUS_OK; i++) {
        status = clm_limit_run(job->limit, err);
    }
    *ret_seconds = (host_seconds() - start) / (double)job->size->steps;
    return status;
}

static enum sotto_status
run_peer(struct job *job, size_t round, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < job->peer.ways && status == SOTTO_STATUS_OK; i++) {
        struct peer_result result = {0, 0, 0};
        status = peers_run(&job->peer, i, job->size->batch, job->size->steps,
                           &result, err);
        job->times.peer[i][round] = result.seconds;
        job->memory = result.memory > job->memory ? result.memory : job->memory;
    }
    return status;
}

/* Everything in turns. */
static enum sotto_status
run_rounds(struct job *job, struct sotto_error *err)
{
    struct times *times = &job->times;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t r = 0; r < times->rounds && status == SOTTO_STATUS_OK; r++) {
        times->ours[r] = time_step(job, clm_step_run);
        times->views[r] = time_step(job, clm_step_distort);
        status = time_limit(job, &times->limit[r], err);
        if (status == SOTTO_STATUS_OK && job->missing == NULL) {
            status = run_peer(job, r, err);
        }
    }
    return status;
}

/* ---- Rows ---------------------------------------------------------------- */

static void
tell(struct job *job,
     void (*row)(void *context, const struct sotto_bench_row *row),
     void *context, double memory)
{
    struct times *times = &job->times;
    char setting[64];
    double views = median(times->views, times->rounds);
    struct sotto_bench_row step = {.name = "train-clm",
                                   .setting = setting,
                                   .against = "PyTorch",
                                   .batch = job->size->batch,
                                   .missing = job->missing,
                                   .memory_ours = memory,
                                   .memory_peer = job->memory};
    struct sotto_bench_row before = {
        .name = "train-clm views", .setting = setting, .against = "a step"};
    step.ours = median(times->ours, times->rounds);
    step.limit = median(times->limit, times->rounds);
    step.ratio_limit = step.limit / step.ours;
    for (size_t i = 0; job->missing == NULL && i < job->peer.ways; i++) {
        double peer = median(times->peer[i], times->rounds);
        step.peer = i == 0 || peer < step.peer ? peer : step.peer;
    }
    step.ratio_peer = step.ratio = step.peer / step.ours;
    step.microseconds = 1e6 * step.ours;
    step.rate = 1 / step.ours;
    (void)snprintf(setting, sizeof setting, "%ux%u, 3 convolutions, %u threads",
                   CLM_SIDE, CLM_SIDE, THREADS);
    row(context, &step);
    before.microseconds = 1e6 * views;
    before.rate = 1 / views;
    before.ratio = views / step.ours;
    (void)snprintf(setting, sizeof setting, "%zu of %ux%u, %u threads",
                   2 * job->size->batch, CLM_SIDE, CLM_SIDE, THREADS);
    row(context, &before);
}

/* ---- All of it ----------------------------------------------------------- */

/* Both answers, on few records, before any time. */
static enum sotto_status
check_answers(struct job *job, struct sotto_error *err)
{
    struct clm_step few;
    enum sotto_status status =
        clm_step_init(&few, job->pool, job->backend, CLM_TRIED, err);
    if (status == SOTTO_STATUS_OK) {
        status = clm_step_check(&few, err);
    }
    if (status == SOTTO_STATUS_OK && job->missing == NULL) {
        status = clm_peer_start(&job->peer, &few, job->size->settings, err);
    }
    if (status == SOTTO_STATUS_OK && job->missing == NULL) {
        status = peers_check(&job->peer, clm_step_try(&few), err);
    }
    clm_step_clear(&few);
    return status;
}

static enum sotto_status
begin(struct job *job, struct sotto_error *err)
{
    enum sotto_status status = host_pool_new(THREADS, &job->pool, err);
    if (status == SOTTO_STATUS_OK) {
        status = tensor_new("cpu", job->pool, &job->backend, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = check_answers(job, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = clm_step_init(&job->step, job->pool, job->backend,
                               job->size->batch, err);
    }
    return status;
}

enum sotto_status
train_clm_run(const struct train_clm_size *size,
              void (*row)(void *context, const struct sotto_bench_row *row),
              void *context, struct sotto_error *err)
{
    struct job job = {.size = size, .missing = peer_missing(size->python)};
    double memory = 0;
    enum sotto_status status = begin(&job, err);
    job.times.rounds = size->rounds < TRAIN_CLM_ROUNDS_MAX
                           ? size->rounds
                           : TRAIN_CLM_ROUNDS_MAX;
    if (status == SOTTO_STATUS_OK) {
        (void)time_step(&job, clm_step_run); /* touches what a batch needs */
        memory = peer_own_memory();
        status = clm_limit_new(&job.step.net.encoder, 2 * size->batch, THREADS,
                               &job.limit, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = run_rounds(&job, err);
    }
    if (status == SOTTO_STATUS_OK) {
        tell(&job, row, context, memory);
    }
    clm_limit_free(job.limit);
    peers_stop(&job.peer);
    clm_step_clear(&job.step);
    tensor_backend_free(job.backend);
    host_pool_free(job.pool);
    return status;
}
