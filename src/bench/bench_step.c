/*
 * bench_step.c: how fast a method learns.
 */
#include "bench/bench_step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/clock.h"
#include "host/error.h"
#include "host/sort.h"
#include "host/text.h"

#define CLOSE_LOSS 1e-5 /* of the loss */
#define CLOSE_GRADIENT 1e-4
#define SCRIPT_MOST ((size_t)1 << 16)
#define TRIALS 3u /* of a peer's setting, before it is given up */

/* Seconds a step, of every round. */
struct times {
    double ours[BENCH_STEP_ROUNDS_MAX];
    double before[BENCH_STEP_ROUNDS_MAX];
    double limit[BENCH_STEP_SPLITS_MAX][BENCH_STEP_ROUNDS_MAX];
    double peer[PEERS_WAYS][BENCH_STEP_ROUNDS_MAX];
    size_t rounds;
};

/* One batch being measured. */
struct measuring {
    struct bench_step_job job;
    size_t n, steps;
    void *limit;
    struct peers *peer;
    const char *missing; /* of the peer */
    double memory;       /* the peer's, at its most */
    struct times times;
};

/* ---- Life ---------------------------------------------------------------- */

enum sotto_status
bench_step_open(struct bench_step_job *job, size_t n, struct sotto_error *err)
{
    enum sotto_status status =
        host_pool_new(BENCH_STEP_THREADS, &job->pool, err);
    status =
        HOST_THEN(status, tensor_new("cpu", job->pool, &job->backend, err));
    if (status == SOTTO_STATUS_OK) {
        job->own = calloc(1, job->step->own_size);
        status = job->own != NULL ? job->step->init(job->own, job->pool,
                                                    job->backend, n, err)
                                  : host_fail_memory(err);
    }
    return status;
}

void
bench_step_close(struct bench_step_job *job)
{
    if (job->own != NULL) {
        job->step->clear(job->own);
    }
    free(job->own);
    tensor_backend_free(job->backend);
    host_pool_free(job->pool);
}

/* ---- The answer ---------------------------------------------------------- */

static void
move_weights(const struct bench_step_job *job)
{
    struct bench_step_net net = job->step->net(job->own);
    nn_step(&job->step->adam, *net.backend, net.arena);
}

double
bench_step_try(struct bench_step_job *job)
{
    (void)job->step->lose(job->own);
    move_weights(job);
    return job->step->lose(job->own);
}

static double
largest_difference(const float *a, const float *b, size_t size)
{
    double most = 0;
    for (size_t i = 0; i < size; i++) {
        double away = fabs((double)a[i] - (double)b[i]);
        most = away <= most ? most : away; /* and a NaN stays */
    }
    return most;
}

enum sotto_status
bench_step_check(struct bench_step_job *job, struct sotto_error *err)
{
    struct bench_step_net net = job->step->net(job->own);
    struct tensor_backend *fast_one = *net.backend, *plain = NULL;
    size_t size = net.arena->moved;
    float *expected = malloc(size * sizeof *expected);
    enum sotto_status status = expected == NULL
                                   ? host_fail_memory(err)
                                   : tensor_new("plain", NULL, &plain, err);
    double slow, fast, worst;
    if (expected == NULL || plain == NULL) {
        goto done;
    }
    *net.backend = plain;
    slow = job->step->lose(job->own);
    memcpy(expected, net.arena->gradient, size * sizeof *expected);
    *net.backend = fast_one;
    fast = job->step->lose(job->own);
    worst = largest_difference(net.arena->gradient, expected, size);
    if (!(fabs(fast - slow) <= CLOSE_LOSS * slow && worst <= CLOSE_GRADIENT)) {
        status = host_fail(err, SOTTO_STATUS_CHECK, 0,
                           "a training step is wrong: a loss of %.9g, not "
                           "%.9g, and gradients off by %.3g",
                           fast, slow, worst);
    }
done:
    tensor_backend_free(plain);
    free(expected);
    return status;
}

/* ---- The peer ------------------------------------------------------------ */

static enum sotto_status
write_start(const struct bench_step_job *job, struct peer_file *ret_file,
            struct sotto_error *err)
{
    size_t count = job->step->give(job->own, NULL);
    float *given = malloc(count * sizeof *given);
    enum sotto_status status;
    if (given == NULL) {
        return host_fail_memory(err);
    }
    (void)job->step->give(job->own, given);
    status = peer_file_write(ret_file, given, count * sizeof *given, err);
    free(given);
    return status;
}

static enum sotto_status
start_child(const struct bench_step_job *job, struct peers *peer,
            size_t setting, struct sotto_error *err)
{
    const struct peer_threads *threads = &peer_settings[setting];
    double number[1 + BENCH_STEP_NUMBERS_MAX] = {threads->own};
    char text[1 + BENCH_STEP_NUMBERS_MAX][24];
    const char *args[PEER_ARGS_MAX] = {peer->start.path};
    size_t count = 1 + job->step->number(number + 1);
    struct host_text script;
    enum sotto_status status;
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(text[i], sizeof text[i], "%.10g", number[i]);
        args[i + 1] = text[i];
    }
    host_text_init(&script, SCRIPT_MOST);
    host_text_print(&script, "%s%s%s", peer_script_text("step.py"),
                    peer_script_text(job->step->script),
                    peer_script_text("step-end.py"));
    status = script.failed ? host_fail_memory(err)
                           : peer_start(script.data, args, threads,
                                        &peer->child[setting], err);
    host_text_clear(&script);
    return status;
}

enum sotto_status
bench_step_peer(const struct bench_step_job *job, size_t settings,
                struct peers *peer, struct sotto_error *err)
{
    enum sotto_status status;
    *peer = (struct peers){.settings = settings,
                           .ways = 2 * settings,
                           .agreed = job->step->agreed};
    status = write_start(job, &peer->start, err);
    for (size_t i = 0; i < settings && status == SOTTO_STATUS_OK; i++) {
        status = start_child(job, peer, i, err);
    }
    return status;
}

/* ---- Timing -------------------------------------------------------------- */

static double
median(double *times, size_t count)
{
    host_sort_doubles(times, count);
    return times[count / 2];
}

static double
least(const double *times, size_t count)
{
    double low = times[0];
    for (size_t i = 1; i < count; i++) {
        low = times[i] < low ? times[i] : low;
    }
    return low;
}

static void
take_step(struct measuring *m)
{
    m->job.step->run(m->job.own, m->n);
    move_weights(&m->job);
}

static double
time_step(struct measuring *m)
{
    double start;
    take_step(m);
    start = host_seconds();
    for (size_t i = 0; i < m->steps; i++) {
        take_step(m);
    }
    return (host_seconds() - start) / (double)m->steps;
}

static double
time_before(struct measuring *m)
{
    double start;
    m->job.step->prepare(m->job.own, m->n);
    start = host_seconds();
    for (size_t i = 0; i < m->steps; i++) {
        m->job.step->prepare(m->job.own, m->n);
    }
    return (host_seconds() - start) / (double)m->steps;
}

static enum sotto_status
time_limit(struct measuring *m, size_t split, double *ret_seconds,
           struct sotto_error *err)
{
    const struct bench_step_limit *limit = m->job.step->limit;
    enum sotto_status status = limit->run(m->limit, m->job.pool, split, err);
    double start = host_seconds();
    for (size_t i = 0; i < m->steps && status == SOTTO_STATUS_OK; i++) {
        status = limit->run(m->limit, m->job.pool, split, err);
    }
    *ret_seconds = (host_seconds() - start) / (double)m->steps;
    return status;
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

/* A round of the peer, in all of its ways. */
static enum sotto_status
time_peer(struct measuring *m, size_t round, struct sotto_error *err)
{
    struct times *times = &m->times;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < m->peer->ways && status == SOTTO_STATUS_OK; i++) {
        struct peer_result result = {0, 0, 0};
        if (is_hopeless(times, m->peer->ways, i, round)) {
            result.seconds = least(times->peer[i], round);
        } else {
            status = peers_run(m->peer, i, m->n, m->steps, &result, err);
        }
        times->peer[i][round] = result.seconds;
        m->memory = result.memory > m->memory ? result.memory : m->memory;
    }
    return status;
}

/* Everything in turns. */
static enum sotto_status
run_rounds(struct measuring *m, struct sotto_error *err)
{
    struct times *times = &m->times;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t r = 0; r < times->rounds && status == SOTTO_STATUS_OK; r++) {
        times->ours[r] = time_step(m);
        if (m->job.step->prepare != NULL) {
            times->before[r] = time_before(m);
        }
        for (size_t i = 0;
             i < m->job.step->limit->splits && status == SOTTO_STATUS_OK; i++) {
            status = time_limit(m, i, &times->limit[i][r], err);
        }
        if (status == SOTTO_STATUS_OK && m->missing == NULL) {
            status = time_peer(m, r, err);
        }
    }
    return status;
}

/* ---- Rows ---------------------------------------------------------------- */

/* The lowest of `count` medians. */
static double
best(double (*times)[BENCH_STEP_ROUNDS_MAX], size_t count, size_t rounds)
{
    double low = median(times[0], rounds);
    for (size_t i = 1; i < count; i++) {
        double next = median(times[i], rounds);
        low = next < low ? next : low;
    }
    return low;
}

static void
fill_row(struct measuring *m, struct sotto_bench_row *row)
{
    struct times *times = &m->times;
    row->ours = median(times->ours, times->rounds);
    row->limit = best(times->limit, m->job.step->limit->splits, times->rounds);
    row->ratio_limit = row->limit / row->ours;
    if (m->missing == NULL) {
        row->peer = best(times->peer, m->peer->ways, times->rounds);
        row->ratio_peer = row->ratio = row->peer / row->ours;
    }
    row->microseconds = 1e6 * row->ours;
    row->rate = 1 / row->ours;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void
tell_rows(struct measuring *m, double memory,
          void (*row)(void *context, const struct sotto_bench_row *row),
          void *context)
{
    const struct bench_step *step = m->job.step;
    char setting[64];
    struct sotto_bench_row result = {.name = step->name,
                                     .setting = setting,
                                     .against = "PyTorch",
                                     .batch = m->n,
                                     .missing = m->missing,
                                     .memory_ours = memory,
                                     .memory_peer = m->memory};
    fill_row(m, &result);
    (void)snprintf(setting, sizeof setting, step->setting, BENCH_STEP_THREADS);
    row(context, &result);
    if (step->prepare != NULL) {
        double seconds = median(m->times.before, m->times.rounds);
        const struct sotto_bench_row before = {.name = step->prepare_name,
                                               .setting = setting,
                                               .against = "a step",
                                               .microseconds = 1e6 * seconds,
                                               .rate = 1 / seconds,
                                               .ratio = seconds / result.ours};
        (void)snprintf(setting, sizeof setting, step->prepare_setting,
                       step->prepared * m->n, BENCH_STEP_THREADS);
        row(context, &before);
    }
}
#pragma GCC diagnostic pop

/* ---- All of it ----------------------------------------------------------- */

static enum sotto_status
run_batch(const struct bench_step *step, const struct bench_step_size *size,
          size_t n, struct peers *peer, const char *missing,
          void (*row)(void *context, const struct sotto_bench_row *row),
          void *context, struct sotto_error *err)
{
    struct measuring m = {.job = {.step = step, .size = size},
                          .n = n,
                          .steps = (size->records + n - 1) / n,
                          .peer = peer,
                          .missing = missing};
    double memory = 0;
    enum sotto_status status = bench_step_open(&m.job, n, err);
    m.times.rounds = size->rounds < BENCH_STEP_ROUNDS_MAX
                         ? size->rounds
                         : BENCH_STEP_ROUNDS_MAX;
    if (status == SOTTO_STATUS_OK) {
        take_step(&m); /* touches what a batch needs */
        memory = peer_own_memory();
        status =
            step->limit->make(step->net(m.job.own).encoder, n, &m.limit, err);
    }
    status = HOST_THEN(status, run_rounds(&m, err));
    if (status == SOTTO_STATUS_OK) {
        tell_rows(&m, memory, row, context);
    }
    step->limit->free(m.limit);
    bench_step_close(&m.job);
    return status;
}

/* Both answers, on few records, before any time. */
static enum sotto_status
check_answers(const struct bench_step *step, const struct bench_step_size *size,
              struct peers *peer, bool missing, struct sotto_error *err)
{
    struct bench_step_job job = {.step = step, .size = size};
    enum sotto_status status = bench_step_open(&job, BENCH_STEP_TRIED, err);
    status = HOST_THEN(status, bench_step_check(&job, err));
    if (status == SOTTO_STATUS_OK && !missing) {
        status = bench_step_peer(&job, size->settings, peer, err);
    }
    if (status == SOTTO_STATUS_OK && !missing) {
        status = peers_check(peer, bench_step_try(&job), err);
    }
    bench_step_close(&job);
    return status;
}

enum sotto_status
bench_step_run(const struct bench_step *step,
               const struct bench_step_size *size,
               void (*row)(void *context, const struct sotto_bench_row *row),
               void *context, struct sotto_error *err)
{
    struct peers peer = {0};
    const char *missing = peer_missing(size->python, "torch");
    enum sotto_status status =
        check_answers(step, size, &peer, missing != NULL, err);
    for (size_t i = 0; i < BENCH_STEP_BATCHES_MAX && size->batch[i] > 0 &&
                       status == SOTTO_STATUS_OK;
         i++) {
        status = run_batch(step, size, size->batch[i], &peer, missing, row,
                           context, err);
    }
    peers_stop(&peer);
    return status;
}
