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
#include <sodium.h>

#include "encoder/contrastive.h"
#include "host/error.h"
#include "host/text.h"
#include "nn/train.h"

/* Goes up with every change here, or in what is called, after which the same
   options give other weights. */
#define ALGORITHM 1u
#define DECAY 1e-5F
#define WARMUP 0.05 /* of all steps */
#define STREAM_EPOCH (UINT64_C(2) << 32)

struct run {
    struct contrastive_net *net;
    struct contrastive_views views;
};

/* ---- What is being trained ------------------------------------------------
 */

/* The layers say what network and widths came to. */
static void
print_layers(struct host_text *text, const struct nn_graph *stack)
{
    for (size_t i = 0; i < stack->layers; i++) {
        const struct nn_place *place = &stack->layer[i];
        host_text_print(text, " %d.%zu.%zu.%zu.%zu", (int)place->layer.kind,
                        place->in, place->out, place->fan,
                        (size_t)place->layer.from[1]);
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

/* ---- The task ------------------------------------------------------------ */

static double
step(void *context, const uint32_t *row, size_t n, uint64_t epoch)
{
    struct run *run = context;
    struct contrastive_net *net = run->net;
    for (uint32_t view = 0; view < 2; view++) {
        contrastive_views_make(&run->views, net->pool, row, n, (uint32_t)epoch,
                               view, net->x + view * n * net->width);
    }
    return contrastive_net_run(net, row, (uint32_t)epoch);
}

enum sotto_status
contrastive_train(struct contrastive_net *net, const struct learnt *learnt,
                  const struct sotto_clm_options *options,
                  struct sotto_clm_info *ret_info, struct sotto_error *err)
{
    struct run run = {.net = net};
    struct nn_trained trained = {0};
    char key[CONTRASTIVE_KEY_SIZE];
    enum sotto_status status =
        contrastive_views_init(&run.views, learnt, options, err);
    if (status == SOTTO_STATUS_OK) {
        status = contrastive_key(net, learnt, options, SOTTO_VERSION, key, err);
    }
    if (status == SOTTO_STATUS_OK) {
        struct nn_task task = {
            .rows = learnt->n, .step = step, .context = &run};
        struct nn_plan plan = {.optimiser = {.rate = (float)options->rate,
                                             .decay = DECAY,
                                             .schedule = NN_SCHEDULE_COSINE},
                               .warmup = WARMUP,
                               .batch = net->batch,
                               .batches = NN_BATCHES_WHOLE,
                               .epochs = options->epochs,
                               .seed = options->seed,
                               .stream = STREAM_EPOCH,
                               .way = PERMUTE_UP,
                               .checkpoint = options->checkpoint,
                               .key = key,
                               .what = "training",
                               .watch = &options->watch};
        status =
            nn_train(&task, &plan, &net->arena, net->backend, &trained, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_info = (struct sotto_clm_info){.epochs = trained.epochs,
                                            .loss = trained.loss,
                                            .resumed = trained.resumed};
    }
    return status;
}
