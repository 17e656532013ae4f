/*
 * variational_net.c: encoder and decoder, and what one batch does to them.
 *
 *     h = encoder(x)                          dense layers, ReLU between
 *     mu = nu(h) = h min(1, l / |h|_1)        P0 Eq. 4
 *     z = mu + b noise                        noise ~ Laplace(0, 1)
 *
 * or the clip and the noise of another channel (learnt_channel.h).
 *     decoder(z): parameters of p(x | z)
 */
#include <math.h>
#include <stdlib.h>

#include "encoder/variational.h"
#include "host/error.h"
#include "host/wipe.h"

#define B_START_SHARE 0.1       /* of l, where b is learnt: eps_pre 20 */
#define RUN_LEAST ((size_t)256) /* rows that scoring takes at a time */

double
variational_net_b(const struct variational_net *net)
{
    return net->b_fixed > 0
               ? net->b_fixed
               : exp((double)*nn_arena_value(&net->arena, net->log_b));
}

/* ---- Life ---------------------------------------------------------------- */

/* The encoder's layers are the hidden ones and z; the decoder's the hidden
   ones backwards and x. */
static enum sotto_status
plan(struct variational_net *net, const struct variational_settings *set,
     struct sotto_error *err)
{
    struct layer up[LEARNT_LAYERS_MAX] = {{0}}, down[LEARNT_LAYERS_MAX] = {{0}};
    size_t hiddens = set->hidden.count;
    enum sotto_status status;
    for (size_t i = 0; i < hiddens; i++) {
        up[i].out = set->hidden.value[i];
        up[i].activation = ACTIVATION_RELU;
        down[i].out = set->hidden.value[hiddens - 1 - i];
        down[i].activation = ACTIVATION_RELU;
    }
    up[hiddens].out = (uint32_t)net->d;
    down[hiddens].out = (uint32_t)net->width;
    status = nn_graph_plan(&net->encoder, &net->arena, "encoder", net->width,
                           up, hiddens + 1, err);
    status =
        HOST_THEN(status, nn_graph_plan(&net->decoder, &net->arena, "decoder",
                                        net->d, down, hiddens + 1, err));
    if (status == SOTTO_STATUS_OK) {
        net->log_b = nn_arena_add(&net->arena, "log_b", 1, 0, net->b_fixed > 0);
        status = net->log_b == SIZE_MAX ? host_fail_memory(err)
                                        : nn_arena_allocate(&net->arena, err);
    }
    return status;
}

/* One block for a batch's matrices: four of n d, and four of n width. */
static enum sotto_status
reserve(struct variational_net *net, size_t n, struct sotto_error *err)
{
    size_t small = n * net->d, wide = n * net->width;
    enum sotto_status status = nn_graph_reserve(&net->encoder, n, err);
    status = HOST_THEN(status, nn_graph_reserve(&net->decoder, n, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    net->memory = calloc(5 * small + 4 * wide, sizeof(float));
    if (net->memory == NULL) {
        return host_fail_memory(err);
    }
    net->reserved = n;
    net->x = net->memory;
    net->scratch = net->x + wide;
    net->mu = net->scratch + 3 * wide;
    net->noise = net->mu + small;
    net->z = net->noise + small;
    net->dz = net->z + small;
    net->dmu = net->dz + small;
    return SOTTO_STATUS_OK;
}

enum sotto_status
variational_net_init(struct variational_net *net, const struct learnt *learnt,
                     const struct variational_settings *set,
                     struct tensor_backend *backend, struct sotto_error *err)
{
    size_t rows = set->batch > RUN_LEAST ? set->batch : RUN_LEAST;
    double b = 0;
    enum sotto_status status =
        set->eps_pre > 0 ? learnt_noise_scale(learnt, learnt->set.d, set->l,
                                              set->eps_pre, &b, err)
                         : SOTTO_STATUS_OK;
    *net = (struct variational_net){
        .backend = backend,
        .block = learnt->block,
        .blocks = learnt->blocks,
        .width = learnt->width,
        .d = learnt->set.d,
        .domain = learnt->channel->domain,
        .l = set->l,
        .b_fixed = b,
        .autogen = set->autogen,
        .seed = set->seed,
    };
    nn_arena_init(&net->arena);
    status = HOST_THEN(status, plan(net, set, err));
    if (status == SOTTO_STATUS_OK) {
        nn_graph_init(&net->encoder, set->seed, 0);
        nn_graph_init(&net->decoder, set->seed, 1);
        *nn_arena_value(&net->arena, net->log_b) =
            (float)log(B_START_SHARE * set->l);
        status = reserve(net, rows, err);
    }
    return status;
}

void
variational_net_clear(struct variational_net *net)
{
    nn_graph_clear(&net->encoder);
    nn_graph_clear(&net->decoder);
    nn_arena_clear(&net->arena);
    host_wipe_free(net->memory, sizeof(float) * net->reserved *
                                    (5 * net->d + 4 * net->width));
    net->memory = NULL;
}

/* ---- One batch ----------------------------------------------------------- */

static size_t
count_clipped(const struct variational_net *net, const float *h, size_t n)
{
    size_t clipped = 0;
    for (size_t i = 0; i < n; i++) {
        clipped +=
            learnt_norm(net->domain, h + i * net->d, net->d) > net->l ? 1 : 0;
    }
    return clipped;
}

/* x to z, in net->mu and net->z; returns h. */
static const float *
encode(struct variational_net *net, const uint32_t *row, size_t n,
       uint32_t epoch, bool training)
{
    double b = variational_net_b(net);
    const float *h =
        nn_graph_forward(&net->encoder, net->backend, net->x, n, training);
    learnt_clip(net->domain, net->backend, n, net->d, net->l, h, net->mu);
    for (size_t i = 0; i < n; i++) {
        learnt_noise(net->domain, net->seed, epoch, row[i], net->d,
                     net->noise + i * net->d);
    }
    for (size_t i = 0; i < n * net->d; i++) {
        net->z[i] = (float)(net->mu[i] + b * net->noise[i]);
    }
    return h;
}

/* The KL of n rows; with `back`, also dmu, from dz, and the gradient of ln b:
   z = mu + b noise, so that dz/db is the noise. */
static double
add_kl(struct variational_net *net, size_t n, bool back)
{
    double b = variational_net_b(net), total = 0, db = 0;
    bool laplace = net->domain == CHANNEL_DOMAIN_LATTICE;
    for (size_t i = 0; i < n * net->d; i++) {
        double mu = (double)net->mu[i];
        struct variational_kl kl =
            laplace ? variational_kl(mu, b) : variational_kl_normal(mu, b);
        total += kl.value;
        if (back) {
            net->dmu[i] = (float)(net->dz[i] + kl.dmu / (double)n);
            db += (double)net->dz[i] * net->noise[i] + kl.db / (double)n;
        }
    }
    if (back && net->b_fixed <= 0) {
        *nn_arena_gradient(&net->arena, net->log_b) = (float)(b * db);
    }
    return total;
}

void
variational_net_run(struct variational_net *net, const float *all,
                    const uint32_t *row, size_t n, uint32_t epoch,
                    bool training, struct variational_sums *sums)
{
    struct tensor_backend *backend = net->backend;
    float scale = (float)((1 + net->autogen) / (double)n);
    float *dlogits = nn_graph_dy(&net->decoder);
    float *dh = nn_graph_dy(&net->encoder);
    const float *h, *logits;
    backend->ops->gather(backend, n, net->width, all, row, net->x);
    h = encode(net, row, n, epoch, training);
    logits = nn_graph_forward(&net->decoder, backend, net->z, n, training);
    sums->likelihood +=
        variational_likelihood(backend, net->block, net->blocks, n, net->width,
                               logits, net->x, scale, net->scratch, dlogits);
    sums->rows += (double)n;
    sums->clipped += (double)count_clipped(net, h, n);
    if (!training) {
        sums->kl += add_kl(net, n, false);
        return;
    }
    nn_graph_backward(&net->decoder, backend, net->z, n, dlogits, net->dz);
    sums->kl += add_kl(net, n, true);
    learnt_clip_back(net->domain, backend, n, net->d, net->l, h, net->dmu, dh);
    nn_graph_backward(&net->encoder, backend, net->x, n, dh, NULL);
}

double
variational_objective(const struct variational_net *net,
                      const struct variational_sums *sums)
{
    return ((1 + net->autogen) * sums->likelihood + sums->kl) / sums->rows;
}

double
variational_elbo(const struct variational_sums *sums)
{
    return (sums->likelihood + sums->kl) / sums->rows;
}
