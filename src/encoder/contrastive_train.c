/*
 * contrastive_train.c: the epochs of the contrastive mechanism.
 *
 *     epoch e: the rows in an order of (seed, e); batch after batch, two views
 *     of every row, one step of Adam; what is left over beyond whole batches
 *     waits for another epoch; then the checkpoint
 *
 * Order, views, noise and rate are functions of (seed, epoch, row) and of the
 * step, so a checkpoint of the weights and moments after an epoch is all there
 * is to go on from.
 */
#include <math.h>
#include <stdlib.h>

#include <sodium.h>

#include "encoder/contrastive.h"
#include "host/error.h"
#include "host/text.h"
#include "nn/checkpoint.h"
#include "random/draw.h"
#include "random/seeded.h"

/* Goes up with every change here, or in what is called, after which the same
   options give other weights. */
#define ALGORITHM 1u
#define DECAY 1e-5F
#define WARMUP 0.05 /* of all steps */
#define STREAM_EPOCH (UINT64_C(2) << 32)

struct run {
    struct contrastive_net *net;
    const struct learnt *learnt;
    const struct sotto_clm_options *options;
    struct contrastive_views views;
    uint32_t *order; /* an epoch's */
    struct nn_optimiser optimiser;
    struct nn_progress progress;
    char key[CONTRASTIVE_KEY_SIZE];
};

/* ---- What is being trained ------------------------------------------------
 */

/* The layers say what network and widths came to. */
static void
print_layers(struct host_text *text, const struct nn_graph *stack)
{
    for (size_t i = 0; i < stack->layers; i++) {
        const struct nn_place *place = &stack->layer[i];
        host_text_print(text, " %d.%zu.%zu.%zu.%zu", (int)place->kind,
                        place->in, place->out, place->fan,
                        (size_t)place->from[1]);
    }
}

enum sotto_status
contrastive_key(const struct contrastive_net *net, const struct learnt *learnt,
                const struct sotto_clm_options *options, const char *version,
                char ret_key[CONTRASTIVE_KEY_SIZE], struct sotto_error *err)
{
    crypto_generichash_state state;
    struct host_text text;
    uint8_t hash[32];
    host_text_init(&text, (size_t)1 << 20);
    host_text_print(&text, "clm %u %s %zu %zu %s %.17g %.17g %.17g %u %u %.17g",
                    ALGORITHM, version, learnt->n, learnt->width,
                    options->augment, options->temperature, options->l,
                    options->eps_pre, options->epochs, options->batch,
                    options->rate);
    host_text_print(&text, " %llu", (unsigned long long)options->seed);
    print_layers(&text, &net->encoder);
    for (size_t i = 0; i < learnt->choice.columns; i++) {
        host_text_print(&text, " c%d.%zu.%d", (int)learnt->column[i].kind,
                        learnt->column[i].count, i == learnt->label ? 1 : 0);
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
    (void)sodium_bin2hex(ret_key, CONTRASTIVE_KEY_SIZE, hash, sizeof hash);
    host_text_clear(&text);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
begin(struct run *run, struct sotto_error *err)
{
    const struct sotto_clm_options *options = run->options;
    size_t n = run->learnt->n;
    uint64_t steps = (uint64_t)(n / run->net->batch) * options->epochs;
    enum sotto_status status =
        contrastive_views_init(&run->views, run->learnt, options, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    run->order = calloc(n, sizeof *run->order);
    if (run->order == NULL) {
        return host_fail_memory(err);
    }
    run->optimiser = (struct nn_optimiser){
        .method = NN_METHOD_ADAM,
        .rate = (float)options->rate,
        .decay = DECAY,
        .schedule = NN_SCHEDULE_COSINE,
        .warmup = (uint64_t)floor(WARMUP * (double)steps),
        .steps = steps,
    };
    return contrastive_key(run->net, run->learnt, options, SOTTO_VERSION,
                           run->key, err);
}

/* ---- Epochs ---------------------------------------------------------------
 */

/* All rows, in the order of this epoch (Fisher and Yates). */
static void
shuffle(struct run *run)
{
    struct seeded seeded;
    size_t n = run->learnt->n;
    seeded_init(&seeded, run->options->seed,
                STREAM_EPOCH + run->progress.epoch);
    for (size_t i = 0; i < n; i++) {
        size_t j = draw_below(&seeded.random, (uint32_t)(i + 1));
        run->order[i] = run->order[j];
        run->order[j] = (uint32_t)i;
    }
}

static bool
tick(const struct run *run)
{
    const struct sotto_watch *watch = &run->options->watch;
    return watch->tick == NULL ||
           watch->tick(watch->context, "training", run->net->arena.step,
                       run->optimiser.steps);
}

/* All whole batches once; the mean loss. */
static enum sotto_status
run_epoch(struct run *run, double *ret_loss, struct sotto_error *err)
{
    struct contrastive_net *net = run->net;
    struct host_pool *pool = net->pool;
    uint32_t epoch = (uint32_t)run->progress.epoch;
    size_t batches = run->learnt->n / net->batch;
    double loss = 0;
    shuffle(run);
    for (size_t i = 0; i < batches; i++) {
        const uint32_t *row = run->order + i * net->batch;
        if (!tick(run)) {
            return host_fail(err, SOTTO_STATUS_STOPPED, 0,
                             "training was stopped before its end");
        }
        for (uint32_t view = 0; view < 2; view++) {
            contrastive_views_make(&run->views, pool, row, net->batch, epoch,
                                   view,
                                   net->x + view * net->batch * net->width);
        }
        loss += contrastive_net_run(net, row, epoch);
        nn_step(&run->optimiser, net->backend, &net->arena);
    }
    *ret_loss = loss / (double)batches;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
run_epochs(struct run *run, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    while (status == SOTTO_STATUS_OK &&
           run->progress.epoch < run->options->epochs) {
        status = run_epoch(run, &run->progress.loss, err);
        if (status != SOTTO_STATUS_OK) {
            break;
        }
        run->progress.epoch++;
        if (!isfinite(run->progress.loss)) {
            return host_fail(err, SOTTO_STATUS_INPUT, 0,
                             "training diverged in epoch %llu: lower --rate",
                             (unsigned long long)run->progress.epoch);
        }
        if (run->options->checkpoint != NULL) {
            status = nn_checkpoint_write(run->options->checkpoint, run->key,
                                         &run->net->arena, NULL, &run->progress,
                                         err);
        }
    }
    return status;
}

enum sotto_status
contrastive_train(struct contrastive_net *net, const struct learnt *learnt,
                  const struct sotto_clm_options *options,
                  struct sotto_clm_info *ret_info, struct sotto_error *err)
{
    struct run run = {.net = net, .learnt = learnt, .options = options};
    bool found = false;
    enum sotto_status status = begin(&run, err);
    if (status == SOTTO_STATUS_OK && options->checkpoint != NULL) {
        status = nn_checkpoint_read(options->checkpoint, run.key, &net->arena,
                                    NULL, &run.progress, &found, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = run_epochs(&run, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_info = (struct sotto_clm_info){.epochs = run.progress.epoch,
                                            .loss = run.progress.loss,
                                            .resumed = found};
    }
    free(run.order);
    return status;
}
