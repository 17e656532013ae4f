/*
 * step_clm.c: the training step of the contrastive mechanism, on made-up images
 * of 28x28, and their distortion before it. Its limit is oneDNN alone doing the
 * same convolutions.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/bench_step.h"
#include "encoder/contrastive.h"
#include "host/error.h"
#include "random/seeded.h"

#define SIDE 28u
#define RECORDS ((size_t)1024)
#define RATE 3e-3
#define DECAY 1e-5
#define SEED 1u
#define AGREED 1e-3

struct clm_step {
    struct sotto_table *table;
    struct learnt learnt;
    struct sotto_train_options options;
    struct encoder_job job;
    struct contrastive_settings set;
    struct contrastive_net net;
    struct contrastive_views views;
    uint32_t *row; /* of the views: 2 n */
    struct seeded seeded;
};

/* ---- The step ------------------------------------------------------------ */

/* Images of noise. */
static enum sotto_status
make_table(struct clm_step *step, struct sotto_error *err)
{
    const struct sotto_image image = {SIDE, SIDE, 1};
    size_t size = RECORDS * SIDE * SIDE;
    uint8_t *noise = malloc(size);
    enum sotto_status status = sotto_table_new(RECORDS, &step->table, err);
    for (size_t i = 0; noise != NULL && i < size; i++) {
        noise[i] = (uint8_t)(random_u32(&step->seeded.random) >> 24);
    }
    status = HOST_THEN(status, noise != NULL
                                   ? sotto_table_add_bytes(step->table, "image",
                                                           noise, &image, err)
                                   : host_fail_memory(err));
    free(noise);
    return status;
}

static enum sotto_status
begin_clm(struct clm_step *step, struct sotto_error *err)
{
    enum sotto_status status = make_table(step, err);
    step->job = (struct encoder_job){.encoder = &encoder_clm,
                                     .table = step->table,
                                     .options = &step->options};
    status = HOST_THEN(status, learnt_begin(&step->learnt, &step->job,
                                            &step->set.common, err));
    status = HOST_THEN(
        status, contrastive_settings_suit(&step->set, &step->learnt, err));
    status =
        HOST_THEN(status, contrastive_views_init(&step->views, &step->learnt,
                                                 &step->set, err));
    return status;
}

static enum sotto_status
init_clm(void *own, struct host_pool *pool, struct tensor_backend *backend,
         size_t n, struct sotto_error *err)
{
    struct clm_step *step = own;
    enum sotto_status status;
    step->options = (struct sotto_train_options){.eps = "1"};
    settings_init(contrastive_settings, &step->set);
    step->set.batch = (uint32_t)n;
    step->set.seed = SEED;
    seeded_init(&step->seeded, SEED, 3);
    status = begin_clm(step, err);
    if (status == SOTTO_STATUS_OK) {
        step->row = calloc(2 * n, sizeof *step->row);
        status = step->row == NULL
                     ? host_fail_memory(err)
                     : contrastive_net_init(&step->net, &step->learnt,
                                            &step->set, pool, backend, err);
    }
    return status;
}

static void
clear_clm(void *own)
{
    struct clm_step *step = own;
    contrastive_net_clear(&step->net);
    learnt_clear(&step->learnt);
    sotto_table_free(step->table);
    free(step->row);
}

static struct bench_step_net
net_of_clm(void *own)
{
    struct clm_step *step = own;
    return (struct bench_step_net){&step->net.backend, &step->net.arena,
                                   &step->net.encoder};
}

static double
run_rows(struct clm_step *step)
{
    struct contrastive_net *net = &step->net;
    net->backend->ops->gather(net->backend, 2 * net->batch, net->width,
                              step->learnt.x, step->row, net->x);
    return contrastive_net_run(net, step->row, 0);
}

/* Records stand for the views. */
static void
run_clm(void *own, size_t n)
{
    struct clm_step *step = own;
    for (size_t i = 0; i < 2 * n; i++) {
        step->row[i] = random_u32(&step->seeded.random) % RECORDS;
    }
    (void)run_rows(step);
}

static double
lose_clm(void *own)
{
    struct clm_step *step = own;
    for (uint32_t i = 0; i < 2 * step->net.batch; i++) {
        step->row[i] = i;
    }
    return run_rows(step);
}

/* Makes 2 n views, as training does before a step. */
static void
distort_clm(void *own, size_t n)
{
    struct clm_step *step = own;
    struct contrastive_net *net = &step->net;
    for (uint32_t view = 0; view < 2; view++) {
        contrastive_views_make(&step->views, net->pool, step->row, n, 0, view,
                               net->x + view * n * net->width);
    }
}

/* ---- The peer ------------------------------------------------------------ */

static size_t
give_clm(const void *own, float *to)
{
    const struct clm_step *step = own;
    const struct contrastive_net *net = &step->net;
    size_t records = RECORDS * net->width;
    size_t count = peer_give_graph(&net->encoder, to);
    count += peer_give_graph(&net->head, to != NULL ? to + count : NULL);
    if (to != NULL) {
        memcpy(to + count, step->learnt.x, records * sizeof *to);
    }
    return count + records;
}

static size_t
number_clm(double number[BENCH_STEP_NUMBERS_MAX])
{
    const double all[] = {RATE, DECAY, (double)RECORDS,
                          (double)BENCH_STEP_TRIED, SIDE};
    memcpy(number, all, sizeof all);
    return sizeof all / sizeof *all;
}

const struct bench_step bench_step_clm = {
    .name = "train-clm",
    .about = "the same with convolutions, beside oneDNN's alone.",
    .setting = "28x28, 3 convolutions, %u threads",
    .full = {{256, 0}, 15, 2048, PEER_SETTINGS, PEER_PYTHON},
    .adam = {.rate = (float)RATE, .decay = (float)DECAY},
    .own_size = sizeof(struct clm_step),
    .init = init_clm,
    .clear = clear_clm,
    .net = net_of_clm,
    .run = run_clm,
    .lose = lose_clm,
    .script = "train-clm.py",
    .agreed = AGREED,
    .give = give_clm,
    .number = number_clm,
    .limit = &clm_limit,
    .prepare = distort_clm,
    .prepare_name = "train-clm views",
    .prepare_setting = "%zu of 28x28, %u threads",
    .prepared = 2,
};
