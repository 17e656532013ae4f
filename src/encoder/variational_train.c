/*
 * variational_train.c: the epochs of the variational mechanism.
 *
 *     rows --(seed)--> validation | training
 *     epoch e: training rows in an order of (seed, e); batch after batch, one
 *     step of Adam each; then the validation rows, always with the same noise;
 *     then the checkpoint
 *
 * Order, noise and rate are functions of (seed, epoch, row) and of the step, so
 * a checkpoint of the weights and moments after an epoch is all there is to go
 * on from.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "encoder/variational.h"
#include "host/error.h"
#include "host/text.h"
#include "nn/checkpoint.h"
#include "random/draw.h"
#include "random/seeded.h"

/* Goes up with every change here, or in what is called, after which the same
   options give other weights. */
#define ALGORITHM 3u
#define FLOOR 0.1f /* of the rate, at the end of the cosine */
#define STREAM_SPLIT (UINT64_C(1) << 32)
#define STREAM_EPOCH (UINT64_C(2) << 32)

struct run {
    struct variational_net *net;
    const struct learnt *learnt;
    const struct sotto_vlm_options *options;
    uint32_t *row;      /* validation rows first; all of them twice */
    uint32_t *order;    /* an epoch's, behind them */
    size_t held, train; /* how many of each */
    struct nn_optimiser optimiser;
    struct nn_stopping stopping;
    struct nn_progress progress;
    char key[VARIATIONAL_KEY_SIZE];
};

/* Fisher and Yates. */
static void
shuffle(uint32_t *row, size_t n, uint64_t seed, uint64_t stream)
{
    struct seeded seeded;
    seeded_init(&seeded, seed, stream);
    for (size_t i = n; i > 1; i--) {
        size_t j = draw_below(&seeded.random, (uint32_t)i);
        uint32_t spare = row[j];
        row[j] = row[i - 1];
        row[i - 1] = spare;
    }
}

/* ---- What is being trained ------------------------------------------------
 */

enum sotto_status
variational_key(const struct learnt *learnt,
                const struct sotto_vlm_options *options, const char *version,
                char ret_key[VARIATIONAL_KEY_SIZE], struct sotto_error *err)
{
    crypto_generichash_state state;
    struct host_text text;
    uint8_t hash[32];
    host_text_init(&text, (size_t)1 << 20);
    host_text_print(
        &text, "vlm %u %s %zu %zu %zu %.17g %.17g %.17g %u %u %.17g", ALGORITHM,
        version, learnt->n, learnt->width, learnt->options.d, options->l,
        options->eps_pre, options->autogen, options->epochs, options->batch,
        options->rate);
    host_text_print(&text, " %u %.17g %llu", options->patience,
                    options->validation, (unsigned long long)options->seed);
    for (size_t i = 0; i < options->hiddens; i++) {
        host_text_print(&text, " h%u", options->hidden[i]);
    }
    for (size_t i = 0; i < learnt->blocks; i++) {
        host_text_print(&text, " b%d.%zu", (int)learnt->block[i].likelihood,
                        learnt->block[i].count);
    }
    if (text.failed) {
        host_text_clear(&text);
        return host_fail_memory(err);
    }
    (void)crypto_generichash_init(&state, NULL, 0, sizeof hash);
    (void)crypto_generichash_update(&state, (const uint8_t *)text.data,
                                    text.size);
    (void)crypto_generichash_update(&state, (const uint8_t *)learnt->x,
                                    learnt->n * learnt->width *
                                        sizeof *learnt->x);
    (void)crypto_generichash_final(&state, hash, sizeof hash);
    (void)sodium_bin2hex(ret_key, VARIATIONAL_KEY_SIZE, hash, sizeof hash);
    host_text_clear(&text);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
begin(struct run *run, struct sotto_error *err)
{
    const struct sotto_vlm_options *options = run->options;
    size_t n = run->learnt->n, batches;
    run->row = calloc(n, 2 * sizeof *run->row);
    if (run->row == NULL) {
        return host_fail_memory(err);
    }
    run->order = run->row + n;
    for (size_t i = 0; i < n; i++) {
        run->row[i] = (uint32_t)i;
    }
    shuffle(run->row, n, options->seed, STREAM_SPLIT);
    run->held = (size_t)floor(options->validation * (double)n + 0.5);
    run->held = run->held < n ? run->held : n - 1;
    run->train = n - run->held;
    batches = (run->train + options->batch - 1) / options->batch;
    run->optimiser = (struct nn_optimiser){
        .method = NN_METHOD_ADAM,
        .rate = (float)options->rate,
        .schedule = NN_SCHEDULE_COSINE,
        .floor = FLOOR,
        .steps = (uint64_t)batches * options->epochs,
    };
    return nn_stopping_init(&run->stopping, &run->net->arena, options->patience,
                            err);
}

/* ---- Epochs ---------------------------------------------------------------
 */

static enum sotto_status
stopped(struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_STOPPED, 0,
                     "training was stopped before its end");
}

static enum sotto_status
diverged(const struct run *run, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_INPUT, 0,
                     "training diverged in epoch %llu: lower --rate",
                     (unsigned long long)run->progress.epoch);
}

static bool
tick(const struct run *run)
{
    const struct sotto_watch *watch = &run->options->watch;
    return watch->tick == NULL ||
           watch->tick(watch->context, "training", run->net->arena.step,
                       run->optimiser.steps);
}

static void
score(struct run *run, const uint32_t *row, size_t n,
      struct variational_sums *sums)
{
    struct variational_net *net = run->net;
    for (size_t i = 0; i < n; i += net->reserved) {
        variational_net_run(net, run->learnt->x, row + i,
                            n - i < net->reserved ? n - i : net->reserved,
                            VARIATIONAL_SCORING, false, sums);
    }
}

/* All batches once. */
static enum sotto_status
run_epoch(struct run *run, struct variational_sums *sums,
          struct sotto_error *err)
{
    struct variational_net *net = run->net;
    size_t batch = run->options->batch;
    memcpy(run->order, run->row + run->held, run->train * sizeof *run->order);
    shuffle(run->order, run->train, run->options->seed,
            STREAM_EPOCH + run->progress.epoch);
    for (size_t i = 0; i < run->train; i += batch) {
        size_t n = run->train - i < batch ? run->train - i : batch;
        if (!tick(run)) {
            return stopped(err);
        }
        variational_net_run(net, run->learnt->x, run->order + i, n,
                            (uint32_t)run->progress.epoch, true, sums);
        nn_step(&run->optimiser, net->backend, &net->arena);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
write_checkpoint(const struct run *run, struct sotto_error *err)
{
    return run->options->checkpoint != NULL
               ? nn_checkpoint_write(run->options->checkpoint, run->key,
                                     &run->net->arena, &run->stopping,
                                     &run->progress, err)
               : SOTTO_STATUS_OK;
}

/* Whether early stopping had enough when the last epoch was scored. */
static bool
is_over(const struct run *run)
{
    return run->progress.epoch >= run->options->epochs ||
           (run->options->patience > 0 &&
            run->stopping.since >= run->options->patience);
}

static enum sotto_status
run_epochs(struct run *run, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    while (status == SOTTO_STATUS_OK && !is_over(run)) {
        struct variational_sums sums = {0}, held = {0};
        status = run_epoch(run, &sums, err);
        if (status != SOTTO_STATUS_OK) {
            break;
        }
        run->progress.epoch++;
        run->progress.loss = variational_elbo(&sums);
        if (!isfinite(run->progress.loss)) {
            status = diverged(run, err);
            break;
        }
        if (run->options->patience > 0) {
            score(run, run->row, run->held, &held);
            (void)nn_stopping_score(
                &run->stopping, &run->net->arena,
                variational_objective(run->net, run->held > 0 ? &held : &sums));
        }
        status = write_checkpoint(run, err);
    }
    return status;
}

static void
fill_info(struct run *run, bool resumed, struct sotto_train_info *ret_info)
{
    struct variational_sums held = {0}, all = {0};
    score(run, run->row, run->held, &held);
    score(run, run->row + run->held, run->train, &all);
    *ret_info = (struct sotto_train_info){
        .epochs = run->progress.epoch,
        .loss = variational_elbo(&all),
        .validation =
            run->held > 0 ? variational_elbo(&held) : variational_elbo(&all),
        .kl = (all.kl + held.kl) / (all.rows + held.rows),
        .b = variational_net_b(run->net),
        .clipped = (all.clipped + held.clipped) / (all.rows + held.rows),
        .resumed = resumed,
    };
}

enum sotto_status
variational_train(struct variational_net *net, const struct learnt *learnt,
                  const struct sotto_vlm_options *options,
                  struct sotto_train_info *ret_info, struct sotto_error *err)
{
    struct run run = {.net = net, .learnt = learnt, .options = options};
    bool found = false;
    enum sotto_status status = begin(&run, err);
    if (status == SOTTO_STATUS_OK) {
        status = variational_key(learnt, options, SOTTO_VERSION, run.key, err);
    }
    if (status == SOTTO_STATUS_OK && options->checkpoint != NULL) {
        status = nn_checkpoint_read(options->checkpoint, run.key, &net->arena,
                                    &run.stopping, &run.progress, &found, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = run_epochs(&run, err);
    }
    if (status == SOTTO_STATUS_OK) {
        if (options->patience > 0) {
            nn_stopping_restore(&run.stopping, &net->arena);
        }
        fill_info(&run, found, ret_info);
        if (!isfinite(ret_info->loss) || !isfinite(ret_info->validation)) {
            status = diverged(&run, err); /* with its very last step */
        }
    }
    nn_stopping_clear(&run.stopping);
    free(run.row);
    return status;
}
