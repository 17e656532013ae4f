/*
 * bench_step.h: how fast a method learns: its training step, timed beside
 * PyTorch and beside what no step of ours could beat.
 *
 * A method is one struct bench_step in its step_<method>.c; everything else is
 * the same for all: the step's answer against plain loops, the peer's against
 * ours, then ours, the limit and the peer in each of its settings in turns, so
 * that what else the machine does hits all alike. Medians over the rounds are
 * compared, and of the peer's settings, as of the limit's splits, the best
 * counts.
 */
#ifndef SOTTO_BENCH_BENCH_STEP_H
#define SOTTO_BENCH_BENCH_STEP_H

#include "bench/peers.h"
#include "host/pool.h"
#include "nn/graph.h"
#include "nn/optimiser.h"
#include "tensor/tensor.h"

#define BENCH_STEP_TRIED ((size_t)8) /* records whose answer is checked */
#define BENCH_STEP_ROUNDS_MAX 64u
#define BENCH_STEP_SPLITS_MAX 2u
#define BENCH_STEP_BATCHES_MAX 2u
#define BENCH_STEP_NUMBERS_MAX 16u
#define BENCH_STEP_THREADS 2u

/* How much is measured. */
struct bench_step_size {
    size_t batch[BENCH_STEP_BATCHES_MAX]; /* records; 0: no more */
    size_t rounds;   /* of everything in turns, at most BENCH_STEP_ROUNDS_MAX */
    size_t records;  /* in a round: as many steps as take so many */
    size_t settings; /* of the peer's threads: up to PEER_SETTINGS */
    const char *python;
};

/* A step that was made: what bench_step.c needs to know of it. */
struct bench_step_net {
    struct tensor_backend **backend;
    struct nn_arena *arena;
    const struct nn_graph *encoder;
};

/* What is run in place of a step: <method>_limit.c. */
struct bench_step_limit {
    size_t splits; /* how its threads can share the work */
    /* Makes it for a step's encoder and batches of n. Statuses: MEMORY, LIMIT.
     */
    enum sotto_status (*make)(const struct nn_graph *encoder, size_t n,
                              void **ret_limit, struct sotto_error *err);
    enum sotto_status (*run)(void *limit, struct host_pool *pool, size_t split,
                             struct sotto_error *err);
    void (*free)(void *limit);
};

struct bench_step {
    const char *name;    /* of its row */
    const char *about;   /* for the help, a line or more */
    const char *setting; /* of its row, with %u for the threads */
    struct bench_step_size full;
    struct nn_optimiser adam;
    size_t own_size;

    /* Makes a step at batches of n, the weights the same whatever n is; clear
       is called in any case. Statuses: MEMORY, LIMIT. */
    enum sotto_status (*init)(void *own, struct host_pool *pool,
                              struct tensor_backend *backend, size_t n,
                              struct sotto_error *err);
    void (*clear)(void *own);
    struct bench_step_net (*net)(void *own);
    /* Draws n records; sets the arena's gradients. */
    void (*run)(void *own, size_t n);
    /* The loss of the first BENCH_STEP_TRIED records, with the same noise each
       time; sets the gradients, too. */
    double (*lose)(void *own);

    /* The peer: its script stands between step.py and step-end.py; it begins
       with the floats of `give` (NULL: only counts them), and `numbers` are its
       arguments. */
    const char *script;
    double agreed; /* how far off its loss may be, as a share */
    size_t (*give)(const void *own, float *to);
    size_t (*number)(double number[BENCH_STEP_NUMBERS_MAX]);

    const struct bench_step_limit *limit;

    /* What training does before a step, in a row of its own; or NULL. */
    void (*prepare)(void *own, size_t n);
    const char *prepare_name, *prepare_setting; /* %zu records, %u threads */
    size_t prepared;                            /* of these for each record */
};

extern const struct bench_step bench_step_vlm, bench_step_clm;
extern const struct bench_step_limit vlm_limit, clm_limit;

/* Units of the variational step, from x to z and back to x; the layers are
   between them. */
#define VLM_LAYERS 8u
extern const size_t vlm_sizes[VLM_LAYERS + 1];

/*
 * A row for each batch, and one for what comes before a step. Statuses: MEMORY,
 * IO, CHECK (a wrong answer), LIMIT.
 */
SOTTO_CHECKED enum sotto_status
bench_step_run(const struct bench_step *step,
               const struct bench_step_size *size,
               void (*row)(void *context, const struct sotto_bench_row *row),
               void *context, struct sotto_error *err);

/* ---- Its parts, for tests ------------------------------------------------ */

/* A step that was made, and what it was made with. */
struct bench_step_job {
    const struct bench_step *step;
    const struct bench_step_size *size;
    struct host_pool *pool;
    struct tensor_backend *backend;
    void *own;
};

SOTTO_CHECKED enum sotto_status
bench_step_open(struct bench_step_job *job, size_t n, struct sotto_error *err);
void bench_step_close(struct bench_step_job *job);
/* Compares loss and gradients of the first records with those by plain loops.
   Statuses: CHECK (they differ), MEMORY. */
SOTTO_CHECKED enum sotto_status bench_step_check(struct bench_step_job *job,
                                                 struct sotto_error *err);
/* Takes a step over the first records; their loss after it. */
double bench_step_try(struct bench_step_job *job);
/* Starts a child for each of the first `settings`, with the step's weights and
   records as they are. Stop it in any case. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
bench_step_peer(const struct bench_step_job *job, size_t settings,
                struct peers *peer, struct sotto_error *err);

#endif
