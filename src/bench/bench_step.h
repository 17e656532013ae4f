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
#include "nn/arena.h"
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
};

/* What is run in place of a step. */
struct bench_step_limit {
    size_t splits; /* how its threads can share the work */
    enum sotto_status (*make)(void *own, size_t n, void **ret_limit,
                              struct sotto_error *err);
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

    /* The peer: its script stands between BENCH_STEP_HEAD and _TAIL; it begins
       with the floats of `give` (NULL: only counts them), and `numbers` are its
       arguments. */
    const char *script;
    double agreed; /* how far off its loss may be, as a share */
    size_t (*give)(const void *own, float *to);
    size_t (*number)(double number[BENCH_STEP_NUMBERS_MAX]);

    struct bench_step_limit limit;

    /* What training does before a step, in a row of its own; or NULL. */
    void (*prepare)(void *own, size_t n);
    const char *prepare_name, *prepare_setting; /* %zu records, %u threads */
    size_t prepared;                            /* of these for each record */
};

extern const struct bench_step bench_step_vlm, bench_step_clm;

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

/* Before a method's script: `given` is what it begins with, `numbers` are its
   arguments. It defines `records`, `first`, the arguments of a loss for the
   records that are tried, `patience`, seconds, and a class Way(number) with
   loss(*first), step(*first) and draw(n), a step over n records. */
#define BENCH_STEP_HEAD                                                        \
    "import math, sys, time\n"                                                 \
    "import numpy as np\n"                                                     \
    "import torch\n"                                                           \
    "import torch.nn.functional as F\n"                                        \
    "torch.set_num_threads(int(sys.argv[2]))\n"                                \
    "torch.manual_seed(0)\n"                                                   \
    "numbers = list(map(float, sys.argv[3:]))\n"                               \
    "given = torch.from_numpy(np.fromfile(sys.argv[1], np.float32))\n"
#define BENCH_STEP_TAIL                                                        \
    "ways, values = [Way(0), Way(1)], []\n"                                    \
    "for way in ways:\n"                                                       \
    "    way.step(*first)\n"                                                   \
    "    values.append(float(way.loss(*first)))\n"                             \
    "for line in sys.stdin:\n"                                                 \
    "    number, n, steps = map(int, line.split())\n"                          \
    "    way = ways[number]\n"                                                 \
    "    if steps == 0:\n"                                                     \
    "        answer(0, values[number])\n"                                      \
    "        continue\n"                                                       \
    "    way.draw(n)\n"                                                        \
    "    start, done, past = time.perf_counter(), 0, 0\n"                      \
    "    while done < steps and past < patience:\n"                            \
    "        way.draw(n)\n"                                                    \
    "        done, past = done + 1, time.perf_counter() - start\n"             \
    "    answer(past / done, 0)\n"

#endif
