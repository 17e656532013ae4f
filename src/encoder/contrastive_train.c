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
#include "encoder/contrastive.h"
#include "host/error.h"
#include "nn/train.h"

#define DECAY 1e-5F
#define WARMUP 0.05 /* of all steps */
#define STREAM_EPOCH (UINT64_C(2) << 32)

struct run {
    struct contrastive_net *net;
    struct contrastive_views views;
};

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
                  const struct contrastive_settings *set,
                  struct contrastive_info *ret_info, struct sotto_error *err)
{
    struct run run = {.net = net};
    struct nn_trained trained = {0};
    char key[LEARNT_KEY_SIZE];
    enum sotto_status status =
        contrastive_views_init(&run.views, learnt, set, err);
    status = HOST_THEN(status, learnt_key(learnt, set, CONTRASTIVE_ALGORITHM,
                                          SOTTO_VERSION, key, err));
    if (status == SOTTO_STATUS_OK) {
        struct nn_task task = {
            .rows = learnt->n, .step = step, .context = &run};
        struct nn_plan plan = {.optimiser = {.rate = (float)set->rate,
                                             .decay = DECAY,
                                             .schedule = NN_SCHEDULE_COSINE},
                               .warmup = WARMUP,
                               .batch = net->batch,
                               .batches = NN_BATCHES_WHOLE,
                               .epochs = set->epochs,
                               .seed = set->seed,
                               .stream = STREAM_EPOCH,
                               .way = PERMUTE_UP,
                               .checkpoint = learnt->job->options->checkpoint,
                               .key = key,
                               .what = "training",
                               .watch = &learnt->job->options->watch};
        status =
            nn_train(&task, &plan, &net->arena, net->backend, &trained, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_info = (struct contrastive_info){.epochs = trained.epochs,
                                              .loss = trained.loss,
                                              .resumed = trained.resumed};
    }
    return status;
}
