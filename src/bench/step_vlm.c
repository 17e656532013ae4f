/*
 * step_vlm.c: the training step of the variational mechanism, on made-up
 * records: an encoder 784-400-150-50-8 and its mirrored decoder. Its limit is
 * OpenBLAS alone doing the same products.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/bench_step.h"
#include "encoder/noise.h"
#include "encoder/variational.h"
#include "host/error.h"
#include "random/seeded.h"

#define RECORDS ((size_t)2000)
#define L 5.0  /* radius of the ball */
#define B 1.25 /* scale of the noise: epsilon 8 */
#define RATE 1e-3
#define SEED 1u
#define AGREED 1e-4

struct vlm_step {
    struct variational_net net;
    struct analyst_block block; /* of x: all one Bernoulli */
    float *data;                /* RECORDS rows, 0 or 1 */
    uint32_t *row;              /* a batch's */
    struct seeded seeded;
};

/* ---- The step ------------------------------------------------------------ */

static enum sotto_status
init_vlm(void *own, struct host_pool *pool, struct tensor_backend *backend,
         size_t n, struct sotto_error *err)
{
    struct vlm_step *step = own;
    const struct variational_settings set = {.hidden = {{400, 150, 50}, 3},
                                             .l = L,
                                             .eps_pre = 2 * L / B,
                                             .batch = (uint32_t)n,
                                             .seed = SEED};
    size_t width = vlm_sizes[0];
    struct learnt learnt = {.set = {.d = 8},
                            .channel =
                                channel_find(channel_exact, "laplace", 7),
                            .block = &step->block,
                            .blocks = 1,
                            .width = width};
    (void)pool;
    step->block = (struct analyst_block){ANALYST_BERNOULLI, 0, width};
    seeded_init(&step->seeded, SEED, 3);
    step->data = malloc(RECORDS * width * sizeof *step->data);
    step->row =
        calloc(n > BENCH_STEP_TRIED ? n : BENCH_STEP_TRIED, sizeof *step->row);
    if (step->data == NULL || step->row == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < RECORDS * width; i++) {
        step->data[i] = (float)(random_u32(&step->seeded.random) >> 31);
    }
    return variational_net_init(&step->net, &learnt, &set, backend, err);
}

static void
clear_vlm(void *own)
{
    struct vlm_step *step = own;
    variational_net_clear(&step->net);
    free(step->data);
    free(step->row);
}

static struct bench_step_net
net_of_vlm(void *own)
{
    struct vlm_step *step = own;
    return (struct bench_step_net){&step->net.backend, &step->net.arena,
                                   &step->net.encoder};
}

static void
run_vlm(void *own, size_t n)
{
    struct vlm_step *step = own;
    struct variational_sums sums = {0};
    for (size_t i = 0; i < n; i++) {
        step->row[i] = random_u32(&step->seeded.random) % RECORDS;
    }
    variational_net_run(&step->net, step->data, step->row, n,
                        (uint32_t)step->net.arena.step, true, &sums);
}

/* With the noise of epoch 0. */
static double
lose_vlm(void *own)
{
    struct vlm_step *step = own;
    struct variational_sums sums = {0};
    for (uint32_t i = 0; i < BENCH_STEP_TRIED; i++) {
        step->row[i] = i;
    }
    variational_net_run(&step->net, step->data, step->row, BENCH_STEP_TRIED, 0,
                        true, &sums);
    return variational_objective(&step->net, &sums);
}

/* ---- The peer ------------------------------------------------------------ */

static size_t
give_vlm(const void *own, float *to)
{
    const struct vlm_step *step = own;
    const struct variational_net *net = &step->net;
    size_t records = RECORDS * net->width;
    size_t count = peer_give_graph(&net->encoder, to);
    count += peer_give_graph(&net->decoder, to != NULL ? to + count : NULL);
    if (to != NULL) {
        memcpy(to + count, step->data, records * sizeof *to);
        for (uint32_t i = 0; i < BENCH_STEP_TRIED; i++) {
            noise_laplace(net->seed, 0, i, net->d,
                          to + count + records + i * net->d);
        }
    }
    return count + records + BENCH_STEP_TRIED * net->d;
}

static size_t
number_vlm(double number[BENCH_STEP_NUMBERS_MAX])
{
    const double first[] = {L, B, RATE, (double)RECORDS,
                            (double)BENCH_STEP_TRIED};
    size_t count = sizeof first / sizeof *first;
    memcpy(number, first, sizeof first);
    for (size_t i = 0; i <= VLM_LAYERS; i++) {
        number[count++] = (double)vlm_sizes[i];
    }
    return count;
}

const struct bench_step bench_step_vlm = {
    .name = "train-vlm",
    .about = "times training steps on two threads, beside OpenBLAS's products\n"
             "alone and beside PyTorch (Debian's python3-torch), in turns:\n"
             "seconds a step, how many times as long the peer takes, and what\n"
             "share of a step its products are.",
    .setting = "784-400-150-50-8, %u threads",
    .full = {{64, 1024}, 15, 4096, PEER_SETTINGS, PEER_PYTHON},
    .adam = {.rate = (float)RATE},
    .own_size = sizeof(struct vlm_step),
    .init = init_vlm,
    .clear = clear_vlm,
    .net = net_of_vlm,
    .run = run_vlm,
    .lose = lose_vlm,
    .script = "train-vlm.py",
    .agreed = AGREED,
    .give = give_vlm,
    .number = number_vlm,
    .limit = &vlm_limit,
};
