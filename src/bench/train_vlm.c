/*
 * train_vlm.c: how fast the variational mechanism learns.
 *
 * The step, OpenBLAS's products alone in two splits, and the peer in each of
 * its settings take turns, so that what else the machine does hits all alike.
 * Medians over the rounds are compared, and of the peer's settings, as of the
 * splits, the best counts.
 */
#include "bench/train_vlm.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/vlm_limit.h"
#include "bench/vlm_peer.h"
#include "bench/vlm_step.h"
#include "host/clock.h"
#include "host/pool.h"
#include "host/sort.h"

#define THREADS 2u
#define TRIALS 3u /* of a setting, before it is given up */
#define LARGEST ((size_t)1024)

static const size_t batches[] = {64, LARGEST};

const struct train_vlm_size train_vlm_full = {15, 4096, PEER_SETTINGS,
                                              PEER_PYTHON};

/* Seconds a step, of every round. */
struct times {
    double ours[TRAIN_VLM_ROUNDS_MAX];
    double limit[VLM_SPLITS][TRAIN_VLM_ROUNDS_MAX];
    double peer[PEERS_WAYS][TRAIN_VLM_ROUNDS_MAX];
    size_t rounds;
};

struct job {
    const struct train_vlm_size *size;
    struct host_pool *pool;
    struct tensor_backend *backend;
    struct vlm_step step;
    struct peers peer;
    const char *missing; /* of the peer */
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
time_step(struct job *job, size_t n, size_t steps)
{
    double start;
    vlm_step_run(&job->step, n);
    start = host_seconds();
    for (size_t i = 0; i < steps; i++) {
        vlm_step_run(&job->step, n);
    }
    return (host_seconds() - start) / (double)steps;
}

static double
time_limit(struct job *job, struct vlm_limit *limit, enum vlm_split split,
           size_t steps)
{
    struct host_pool *pool = job->pool;
    double start;
    vlm_limit_run(limit, pool, split);
    start = host_seconds();
    for (size_t i = 0; i < steps; i++) {
        vlm_limit_run(limit, pool, split);
    }
    return (host_seconds() - start) / (double)steps;
}

/* ---- A batch ------------------------------------------------------------- */

static double
least(const double *times, size_t count)
{
    double low = times[0];
    for (size_t i = 1; i < count; i++) {
        low = times[i] < low ? times[i] : low;
    }
    return low;
}

/* Threads that wait for one another starve where cores are not theirs alone: a
   setting that never came within twice another's time is not asked again. */
static bool
is_hopeless(const struct times *times, size_t ways, size_t way, size_t rounds)
{
    double mine;
    if (rounds < TRIALS) {
        return false;
    }
    mine = least(times->peer[way], rounds);
    for (size_t i = 0; i < ways; i++) {
        if (mine > 2 * least(times->peer[i], rounds)) {
            return true;
        }
    }
    return false;
}

/* A round of the peer; `memory` rises to the most that any setting had. */
static enum sotto_status
run_peer(struct job *job, size_t n, size_t steps, size_t round, double *memory,
         struct sotto_error *err)
{
    struct times *times = &job->times;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < job->peer.ways && status == SOTTO_STATUS_OK; i++) {
        struct peer_result result = {0, 0, 0};
        if (is_hopeless(times, job->peer.ways, i, round)) {
            result.seconds = least(times->peer[i], round);
        } else {
            status = peers_run(&job->peer, i, n, steps, &result, err);
        }
        times->peer[i][round] = result.seconds;
        *memory = result.memory > *memory ? result.memory : *memory;
    }
    return status;
}

/* Everything in turns. */
static enum sotto_status
run_rounds(struct job *job, struct vlm_limit *limit, size_t n,
           double *ret_memory, struct sotto_error *err)
{
    struct times *times = &job->times;
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t steps = (job->size->steps + n - 1) / n;
    double memory = 0;
    for (size_t r = 0; r < times->rounds && status == SOTTO_STATUS_OK; r++) {
        times->ours[r] = time_step(job, n, steps);
        for (size_t i = 0; i < VLM_SPLITS; i++) {
            times->limit[i][r] =
                time_limit(job, limit, (enum vlm_split)i, steps);
        }
        if (job->missing == NULL) {
            status = run_peer(job, n, steps, r, &memory, err);
        }
    }
    *ret_memory = memory;
    return status;
}

/* The lowest of `count` medians. */
static double
best(double (*times)[TRAIN_VLM_ROUNDS_MAX], size_t count, size_t rounds)
{
    double low = median(times[0], rounds);
    for (size_t i = 1; i < count; i++) {
        double next = median(times[i], rounds);
        low = next < low ? next : low;
    }
    return low;
}

static void
fill_row(struct job *job, struct sotto_bench_row *row)
{
    struct times *times = &job->times;
    row->ours = median(times->ours, times->rounds);
    row->limit = best(times->limit, VLM_SPLITS, times->rounds);
    row->ratio_limit = row->limit / row->ours;
    if (job->missing == NULL) {
        row->peer = best(times->peer, job->peer.ways, times->rounds);
        row->ratio_peer = row->ratio = row->peer / row->ours;
    }
    row->microseconds = 1e6 * row->ours;
    row->rate = 1 / row->ours;
}

static enum sotto_status
run_batch(struct job *job, size_t n, struct sotto_bench_row *row,
          struct sotto_error *err)
{
    struct vlm_limit *limit = NULL;
    enum sotto_status status;
    (void)time_step(job, n, 1); /* touches what a batch needs */
    row->batch = n;
    row->memory_ours = peer_own_memory();
    row->missing = job->missing;
    status = vlm_limit_new(n, &limit, err);
    if (status == SOTTO_STATUS_OK) {
        status = run_rounds(job, limit, n, &row->memory_peer, err);
    }
    if (status == SOTTO_STATUS_OK) {
        fill_row(job, row);
    }
    vlm_limit_free(limit);
    return status;
}

/* ---- All of it ----------------------------------------------------------- */

/* Both answers before any time. */
static enum sotto_status
begin(struct job *job, struct sotto_error *err)
{
    enum sotto_status status = host_pool_new(THREADS, &job->pool, err);
    if (status == SOTTO_STATUS_OK) {
        status = tensor_new("cpu", job->pool, &job->backend, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = vlm_step_init(&job->step, job->backend, LARGEST, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = vlm_step_check(&job->step, err);
    }
    if (status == SOTTO_STATUS_OK && job->missing == NULL) {
        status =
            vlm_peer_start(&job->peer, &job->step, job->size->settings, err);
        if (status == SOTTO_STATUS_OK) {
            status = peers_check(&job->peer, vlm_step_try(&job->step), err);
        }
    }
    return status;
}

enum sotto_status
train_vlm_run(const struct train_vlm_size *size,
              void (*row)(void *context, const struct sotto_bench_row *row),
              void *context, struct sotto_error *err)
{
    struct job job = {.size = size, .missing = peer_missing(size->python)};
    char setting[48];
    enum sotto_status status;
    (void)snprintf(setting, sizeof setting, "784-400-150-50-8, %u threads",
                   THREADS);
    job.times.rounds = size->rounds < TRAIN_VLM_ROUNDS_MAX
                           ? size->rounds
                           : TRAIN_VLM_ROUNDS_MAX;
    status = begin(&job, err);
    for (size_t i = 0;
         i < sizeof batches / sizeof *batches && status == SOTTO_STATUS_OK;
         i++) {
        struct sotto_bench_row result = {
            .name = "train-vlm", .setting = setting, .against = "PyTorch"};
        status = run_batch(&job, batches[i], &result, err);
        if (status == SOTTO_STATUS_OK) {
            row(context, &result);
        }
    }
    peers_stop(&job.peer);
    vlm_step_clear(&job.step);
    tensor_backend_free(job.backend);
    host_pool_free(job.pool);
    return status;
}
