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

#include "encoder/variational.h"
#include "host/error.h"
#include "nn/train.h"

#define FLOOR 0.1f /* of the rate, at the end of the cosine */
#define STREAM_SPLIT (UINT64_C(1) << 32)
#define STREAM_EPOCH (UINT64_C(2) << 32)

struct run {
    struct variational_net *net;
    const struct learnt *learnt;
    uint32_t *row;                /* validation rows first */
    size_t held, train;           /* how many of each */
    struct variational_sums sums; /* of the epoch, where nothing is held */
    uint64_t epoch;               /* that they are of */
};

/* Splits the rows, in an order of the seed. */
static enum sotto_status
split_rows(struct run *run, const struct variational_settings *set,
           struct sotto_error *err)
{
    size_t n = run->learnt->n;
    run->row = calloc(n, sizeof *run->row);
    if (run->row == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        run->row[i] = (uint32_t)i;
    }
    permute(run->row, sizeof *run->row, n, PERMUTE_DOWN, set->seed,
            STREAM_SPLIT);
    run->held = (size_t)floor(set->validation * (double)n + 0.5);
    run->held = run->held < n ? run->held : n - 1;
    run->train = n - run->held;
    return SOTTO_STATUS_OK;
}

/* ---- The task ------------------------------------------------------------ */

static double
step(void *context, const uint32_t *row, size_t n, uint64_t epoch)
{
    struct run *run = context;
    struct variational_sums sums = {0};
    if (epoch != run->epoch) {
        run->epoch = epoch;
        run->sums = sums;
    }
    variational_net_run(run->net, run->learnt->x, row, n, (uint32_t)epoch, true,
                        &run->sums);
    return variational_elbo(&run->sums);
}

static void
add_scores(struct run *run, const uint32_t *row, size_t n,
           struct variational_sums *sums)
{
    struct variational_net *net = run->net;
    for (size_t i = 0; i < n; i += net->reserved) {
        variational_net_run(net, run->learnt->x, row + i,
                            n - i < net->reserved ? n - i : net->reserved,
                            VARIATIONAL_SCORING, false, sums);
    }
}

static double
score(void *context)
{
    struct run *run = context;
    struct variational_sums held = {0};
    add_scores(run, run->row, run->held, &held);
    return variational_objective(run->net, run->held > 0 ? &held : &run->sums);
}

static void
fill_info(struct run *run, const struct nn_trained *trained,
          struct variational_info *ret_info)
{
    struct variational_sums held = {0}, all = {0};
    add_scores(run, run->row, run->held, &held);
    add_scores(run, run->row + run->held, run->train, &all);
    *ret_info = (struct variational_info){
        .epochs = trained->epochs,
        .loss = variational_elbo(&all),
        .validation =
            run->held > 0 ? variational_elbo(&held) : variational_elbo(&all),
        .kl = (all.kl + held.kl) / (all.rows + held.rows),
        .b = variational_net_b(run->net),
        .clipped = (all.clipped + held.clipped) / (all.rows + held.rows),
        .resumed = trained->resumed,
    };
}

enum sotto_status
variational_train(struct variational_net *net, const struct learnt *learnt,
                  const struct variational_settings *set,
                  struct variational_info *ret_info, struct sotto_error *err)
{
    struct run run = {.net = net, .learnt = learnt};
    struct nn_trained trained = {0};
    char key[LEARNT_KEY_SIZE];
    enum sotto_status status = split_rows(&run, set, err);
    status = HOST_THEN(status, learnt_key(learnt, set, VARIATIONAL_ALGORITHM,
                                          SOTTO_VERSION, key, err));
    if (status == SOTTO_STATUS_OK) {
        struct nn_task task = {.rows = run.train,
                               .row = run.row + run.held,
                               .step = step,
                               .score = set->patience > 0 ? score : NULL,
                               .context = &run};
        struct nn_plan plan = {.optimiser = {.rate = (float)set->rate,
                                             .schedule = NN_SCHEDULE_COSINE,
                                             .floor = FLOOR},
                               .batch = set->batch,
                               .epochs = set->epochs,
                               .seed = set->seed,
                               .stream = STREAM_EPOCH,
                               .patience = set->patience,
                               .checkpoint = learnt->job->options->checkpoint,
                               .key = key,
                               .what = "training",
                               .watch = &learnt->job->options->watch};
        status =
            nn_train(&task, &plan, &net->arena, net->backend, &trained, err);
    }
    if (status == SOTTO_STATUS_OK) {
        fill_info(&run, &trained, ret_info);
        if (!isfinite(ret_info->loss) || !isfinite(ret_info->validation)) {
            status = nn_fail_diverged("training", trained.epochs, err);
        }
    }
    free(run.row);
    return status;
}
