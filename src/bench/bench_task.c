/*
 * bench_task.c: the closed form of a linear task beside the same in NumPy.
 *
 * Made-up records whose columns hang together and a task of random weights.
 * Both sides find directions, v of every record, the water-filling and its loss
 * (Eq. 13), and must come to the same loss. The peer gets the best of its
 * thread settings and of three runs, we the best of as many. The limit is the
 * one product that nobody is spared, of the records with K.
 */
#include "bench/bench_task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/peer.h"
#include "encoder/task_basis.h"
#include "encoder/task_code.h"
#include "encoder/task_design.h"
#include "encoder/task_water.h"
#include "host/clock.h"
#include "host/error.h"
#include "random/seeded.h"
#include "tensor/dense.h"

#define TIMES 3
#define RADIUS 3.0
#define EPS 10.0
#define AGREED 1e-6 /* of the loss */

const struct bench_task_size bench_task_full = {10000, 1000, 100};

struct job {
    const struct bench_task_size *size;
    double *x, *K; /* one block, x first */
    double *v;
    double loss;
    struct task_basis basis;
};

static enum sotto_status
job_init(struct job *job, const struct bench_task_size *size,
         struct sotto_error *err)
{
    size_t x = size->rows * size->inputs, K = size->outputs * size->inputs;
    struct seeded seeded;
    *job = (struct job){.size = size};
    job->x = malloc((x + K) * sizeof *job->x);
    job->v = calloc(size->rows, size->outputs * sizeof *job->v);
    if (job->x == NULL || job->v == NULL) {
        return host_fail_memory(err);
    }
    job->K = job->x + x;
    seeded_init(&seeded, 1, 0);
    for (size_t i = 0; i < x + K; i++) {
        double number = random_u32(&seeded.random) / 0x1p32 - 0.5;
        bool first = i >= x || i % size->inputs == 0;
        job->x[i] = number + (first ? 0 : 0.5 * job->x[i - 1]);
    }
    return SOTTO_STATUS_OK;
}

static void
job_clear(struct job *job)
{
    task_basis_clear(&job->basis);
    free(job->x);
    free(job->v);
}

/* ---- Ours ---------------------------------------------------------------- */

static enum sotto_status
run_ours(struct job *job, double *ret_seconds, struct sotto_error *err)
{
    const struct bench_task_size *size = job->size;
    double c = task_water_noise(RADIUS, EPS);
    enum sotto_status status = SOTTO_STATUS_OK;
    *ret_seconds = INFINITY;
    for (int i = 0; i < TIMES && status == SOTTO_STATUS_OK; i++) {
        double start = host_seconds();
        task_basis_clear(&job->basis);
        status = task_basis_init(&job->basis, job->x, size->rows, size->inputs,
                                 job->K, size->outputs, err);
        status =
            HOST_THEN(status, task_basis_apply(&job->basis, job->x, size->rows,
                                               job->basis.rank, job->v, err));
        if (status == SOTTO_STATUS_OK) {
            job->loss = task_water_loss(job->basis.lambda, job->basis.rank, c);
            *ret_seconds = fmin(*ret_seconds, host_seconds() - start);
        }
    }
    return status;
}

static enum sotto_status
run_limit(const struct job *job, double *ret_seconds, struct sotto_error *err)
{
    const struct bench_task_size *size = job->size;
    double *y = calloc(size->rows, size->outputs * sizeof *y);
    if (y == NULL) {
        return host_fail_memory(err);
    }
    *ret_seconds = INFINITY;
    for (int i = 0; i < TIMES; i++) {
        double start = host_seconds();
        tensor_dense_multiply(false, true, size->rows, size->outputs,
                              size->inputs, 1, job->x, job->K, 0, y);
        *ret_seconds = fmin(*ret_seconds, host_seconds() - start);
    }
    free(y);
    return SOTTO_STATUS_OK;
}

/* ---- The peer ------------------------------------------------------------ */

static enum sotto_status
run_peer(const struct job *job, const struct peer_file *given, int way,
         struct peer_result *ret_result, struct sotto_error *err)
{
    const double number[] = {(double)job->size->rows, (double)job->size->inputs,
                             (double)job->size->outputs, way,
                             task_water_noise(RADIUS, EPS)};
    char text[5][24];
    const char *args[7] = {given->path};
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < 5; i++) {
        (void)snprintf(text[i], sizeof text[i], "%.17g", number[i]);
        args[i + 1] = text[i];
    }
    for (size_t s = 0; s < PEER_SETTINGS && status == SOTTO_STATUS_OK; s++) {
        struct peer_result result;
        status = peer_run(peer_script_text("task.py"), args, &peer_settings[s],
                          &result, err);
        if (status == SOTTO_STATUS_OK &&
            (s == 0 || result.seconds < ret_result->seconds)) {
            *ret_result = result;
        }
    }
    if (status == SOTTO_STATUS_OK &&
        !(fabs(ret_result->value - job->loss) <= AGREED * job->loss)) {
        status = host_fail(err, SOTTO_STATUS_CHECK, 0,
                           "the peer comes to a loss of %.9g, and sotto to "
                           "%.9g",
                           ret_result->value, job->loss);
    }
    return status;
}

/* ---- Rows ---------------------------------------------------------------- */

static void
finish_row(struct sotto_bench_row *row, const struct peer_result *peer)
{
    row->peer = peer->seconds;
    row->memory_peer = peer->memory;
    row->microseconds = 1e6 * row->ours;
    row->rate = 1 / row->ours;
    row->ratio_peer = row->peer / row->ours;
    row->ratio_limit = row->limit / row->ours;
    row->ratio = row->ratio_peer;
}

/* Both of the peer's ways. */
static enum sotto_status
measure_form(struct job *job, struct sotto_bench_row *row,
             void (*put)(void *context, const struct sotto_bench_row *),
             void *context, struct sotto_error *err)
{
    static const char *const ways[] = {"NumPy, n x n", "NumPy, m x m"};
    size_t numbers = (job->size->rows + job->size->outputs) * job->size->inputs;
    struct peer_file given = {.fd = -1};
    enum sotto_status status = run_ours(job, &row->ours, err);
    status = HOST_THEN(status, run_limit(job, &row->limit, err));
    row->memory_ours = peer_own_memory();
    row->missing = peer_missing(PEER_PYTHON, "numpy");
    if (status == SOTTO_STATUS_OK && row->missing == NULL) {
        status = peer_file_write(&given, job->x, numbers * sizeof *job->x, err);
    }
    for (int way = 0; way < 2 && status == SOTTO_STATUS_OK; way++) {
        struct peer_result peer = {0, 0, 0};
        if (row->missing == NULL) {
            status = run_peer(job, &given, way, &peer, err);
        }
        row->against = ways[way];
        finish_row(row, &peer);
        if (status == SOTTO_STATUS_OK) {
            put(context, row);
        }
    }
    if (given.path[0] != '\0') {
        peer_file_close(&given);
    }
    return status;
}

/* The search for a mechanism at the same epsilon. */
static enum sotto_status
measure_search(struct job *job, const char *setting,
               void (*put)(void *context, const struct sotto_bench_row *),
               void *context, struct sotto_error *err)
{
    struct task_design_wanted wanted = {.ball = TASK_BALL_L1,
                                        .ratio = task_laplace_ratio(EPS)};
    struct task_design design;
    double start = host_seconds(), spent;
    struct sotto_bench_row row = {
        .name = "task-linear search", .setting = setting, .against = ""};
    enum sotto_status status =
        task_design_find(&design, job->v, job->size->rows, job->basis.lambda,
                         job->basis.rank, &wanted, err);
    spent = host_seconds() - start;
    if (status == SOTTO_STATUS_OK) {
        row.rate = 1 / spent;
        row.microseconds = 1e6 * spent;
        put(context, &row);
    }
    task_design_clear(&design);
    return status;
}

enum sotto_status
bench_task_run(const struct bench_task_size *size,
               void (*row)(void *context, const struct sotto_bench_row *),
               void *context, struct sotto_error *err)
{
    struct job job;
    char setting[96];
    struct sotto_bench_row result = {
        .name = "task-linear", .setting = setting, .batch = size->rows};
    enum sotto_status status = job_init(&job, size, err);
    (void)snprintf(setting, sizeof setting, "%zu x %zu, %zu outputs",
                   size->rows, size->inputs, size->outputs);
    status = HOST_THEN(status, measure_form(&job, &result, row, context, err));
    status =
        HOST_THEN(status, measure_search(&job, setting, row, context, err));
    job_clear(&job);
    return status;
}
