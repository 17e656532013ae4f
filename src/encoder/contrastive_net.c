/*
 * contrastive_net.c: encoder and head, and what one batch does to them.
 *
 * The encoder of images halves their sides until about 4 pixels are left:
 *
 *     conv 5x5/2 | conv 3x3, pool 2x2 | conv 3x3, pool 2x2 | ... | dense d
 *     width 16   | 32                 | 64                 | 128 |
 *
 * with a norm after every product and ReLU after all but the last, and with
 * `residual` two more convolutions under a skip after each pool. Others go
 * through dense layers. The norms take both views together.
 */
#include <stdlib.h>
#include <string.h>

#include "encoder/contrastive.h"
#include "host/error.h"
#include "host/wipe.h"

#define SIDE_ENOUGH 5u
#define MATRICES 3u /* of d: z, relu, dz */

/* ---- Layers -------------------------------------------------------------- */

/* Layers as they are put one behind the other, and the image that comes out of
   the last. */
struct plan {
    struct layer layer[CONTRASTIVE_LAYERS_ROOM];
    size_t layers;
    struct sotto_image image;
};

static uint32_t
half(uint32_t side)
{
    return (side + 1) / 2;
}

static void
add_conv(struct plan *plan, uint32_t filters, uint32_t kernel, uint32_t stride,
         uint32_t skip)
{
    struct sotto_image *image = &plan->image;
    plan->layer[plan->layers++] = (struct layer){.activation = ACTIVATION_RELU,
                                                 .norm = true,
                                                 .kind = LAYER_CONV,
                                                 .height = image->height,
                                                 .width = image->width,
                                                 .channels = image->channels,
                                                 .filters = filters,
                                                 .kernel = kernel,
                                                 .stride = stride,
                                                 .pad = kernel / 2,
                                                 .from = {0, (uint16_t)skip}};
    image->channels = filters;
    if (stride == 2) {
        image->height = half(image->height);
        image->width = half(image->width);
    }
}

static void
add_pool(struct plan *plan)
{
    struct sotto_image *image = &plan->image;
    uint32_t pad = (image->height | image->width) & 1;
    plan->layer[plan->layers++] = (struct layer){.kind = LAYER_POOL_MAX,
                                                 .height = image->height,
                                                 .width = image->width,
                                                 .channels = image->channels,
                                                 .kernel = 2,
                                                 .stride = 2,
                                                 .pad = pad};
    image->height = (image->height + 2 * pad - 2) / 2 + 1;
    image->width = (image->width + 2 * pad - 2) / 2 + 1;
}

/* Room is left for the last layer; what does not fit into the rest has more
   than LEARNT_LAYERS_MAX layers, which plan_graphs refuses. */
static void
plan_images(struct plan *plan, const struct contrastive_settings *set)
{
    size_t level = 0;
    add_conv(plan, set->widths.value[0], 5, 2, 0);
    do {
        bool pools =
            plan->image.height > SIDE_ENOUGH || plan->image.width > SIDE_ENOUGH;
        level += level + 1 < set->widths.count ? 1 : 0;
        add_conv(plan, set->widths.value[level], 3, 1, 0);
        if (pools) {
            add_pool(plan);
        }
        if (set->residual && plan->layers + 2 < LEARNT_LAYERS_MAX) {
            add_conv(plan, set->widths.value[level], 3, 1, 0);
            add_conv(plan, set->widths.value[level], 3, 1, 2);
        }
    } while (
        plan->layers < LEARNT_LAYERS_MAX &&
        (plan->image.height > SIDE_ENOUGH || plan->image.width > SIDE_ENOUGH));
}

size_t
contrastive_layers(const struct contrastive_settings *set,
                   struct sotto_image image, size_t d,
                   struct layer ret_layer[CONTRASTIVE_LAYERS_ROOM])
{
    struct plan plan = {.image = image};
    if (strcmp(set->network, "cnn") == 0) {
        plan_images(&plan, set);
    } else {
        for (size_t i = 0; i < set->hidden.count; i++) {
            plan.layer[plan.layers++] =
                (struct layer){.out = set->hidden.value[i],
                               .activation = ACTIVATION_RELU,
                               .norm = true};
        }
    }
    plan.layer[plan.layers++] =
        (struct layer){.out = (uint32_t)d, .norm = true};
    memcpy(ret_layer, plan.layer, plan.layers * sizeof *ret_layer);
    return plan.layers;
}

static enum sotto_status
plan_graphs(struct contrastive_net *net, const struct learnt *learnt,
            const struct contrastive_settings *set, struct sotto_error *err)
{
    static const struct layer head[] = {
        {.out = CONTRASTIVE_HEAD, .activation = ACTIVATION_RELU},
        {.out = CONTRASTIVE_OUT}};
    struct layer layer[CONTRASTIVE_LAYERS_ROOM];
    size_t layers =
        contrastive_layers(set, contrastive_image(learnt), net->d, layer);
    enum sotto_status status;
    if (layers > LEARNT_LAYERS_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "'encoder' has %zu layers: from 1 to %u are possible",
                         layers, LEARNT_LAYERS_MAX);
    }
    status = nn_graph_plan(&net->encoder, &net->arena, "encoder", net->width,
                           layer, layers, err);
    status = HOST_THEN(status, nn_graph_plan(&net->head, &net->arena, "head",
                                             net->d, head, 2, err));
    return HOST_THEN(status, nn_arena_allocate(&net->arena, err));
}

/* ---- Life ---------------------------------------------------------------- */

/* One block for a batch's matrices. */
static enum sotto_status
reserve(struct contrastive_net *net, struct sotto_error *err)
{
    size_t rows = 2 * net->batch, small = rows * net->d;
    size_t size = rows * net->width + MATRICES * small +
                  contrastive_loss_room(net->batch, CONTRASTIVE_OUT);
    enum sotto_status status = nn_graph_reserve(&net->encoder, rows, err);
    status = HOST_THEN(status, nn_graph_reserve(&net->head, rows, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    net->memory = calloc(size, sizeof(float));
    if (net->memory == NULL) {
        return host_fail_memory(err);
    }
    net->size = size * sizeof(float);
    net->x = net->memory;
    net->z = net->x + rows * net->width;
    net->relu = net->z + small;
    net->dz = net->relu + small;
    net->scratch = net->dz + small;
    return SOTTO_STATUS_OK;
}

enum sotto_status
contrastive_net_init(struct contrastive_net *net, const struct learnt *learnt,
                     const struct contrastive_settings *set,
                     struct host_pool *pool, struct tensor_backend *backend,
                     struct sotto_error *err)
{
    double b = 0;
    enum sotto_status status =
        set->eps_pre > 0 ? learnt_noise_scale(learnt, set->common.d, set->l,
                                              set->eps_pre, &b, err)
                         : SOTTO_STATUS_OK;
    *net = (struct contrastive_net){
        .pool = pool,
        .backend = backend,
        .width = learnt->width,
        .d = set->common.d,
        .batch = set->batch < learnt->n ? set->batch : learnt->n,
        .temperature = set->temperature,
        .domain = learnt->channel->domain,
        .l = set->l,
        .b = b,
        .seed = set->seed,
    };
    nn_arena_init(&net->arena);
    status = HOST_THEN(status, plan_graphs(net, learnt, set, err));
    if (status == SOTTO_STATUS_OK) {
        nn_graph_init(&net->encoder, set->seed, 0);
        nn_graph_init(&net->head, set->seed, 1);
        status = reserve(net, err);
    }
    return status;
}

void
contrastive_net_clear(struct contrastive_net *net)
{
    nn_graph_clear(&net->encoder);
    nn_graph_clear(&net->head);
    nn_arena_clear(&net->arena);
    host_wipe_free(net->memory, net->size);
    net->memory = NULL;
}

/* ---- One batch ----------------------------------------------------------- */

/* z = nu(h) + b noise, of either view its own. */
static void
add_noise(struct contrastive_net *net, const float *h, const uint32_t *row,
          uint32_t epoch)
{
    size_t n = net->batch, d = net->d;
    float *noise = net->relu; /* not filled yet */
    learnt_clip(net->domain, net->backend, 2 * n, d, net->l, h, net->z);
    for (size_t i = 0; i < n; i++) {
        for (uint32_t view = 0; view < 2; view++) {
            learnt_noise(net->domain, net->seed, 2 * epoch + view, row[i], d,
                         noise + (view * n + i) * d);
        }
    }
    for (size_t i = 0; i < 2 * n * d; i++) {
        net->z[i] = (float)(net->z[i] + net->b * noise[i]);
    }
}

double
contrastive_net_run(struct contrastive_net *net, const uint32_t *row,
                    uint32_t epoch)
{
    struct tensor_backend *backend = net->backend;
    size_t rows = 2 * net->batch, small = rows * net->d;
    float *dh = nn_graph_dy(&net->encoder), *dp = nn_graph_dy(&net->head);
    const float *h =
        nn_graph_forward(&net->encoder, backend, net->x, rows, true);
    const float *z = h, *p;
    double loss;
    if (net->b > 0) {
        add_noise(net, h, row, epoch);
        z = net->z;
    }
    for (size_t i = 0; i < small; i++) {
        net->relu[i] = z[i] > 0 ? z[i] : 0;
    }
    p = nn_graph_forward(&net->head, backend, net->relu, rows, true);
    loss = contrastive_loss(backend, net->batch, CONTRASTIVE_OUT,
                            net->temperature, p, net->scratch, dp);
    nn_graph_backward(&net->head, backend, net->relu, rows, dp, net->dz);
    for (size_t i = 0; i < small; i++) {
        net->dz[i] = z[i] > 0 ? net->dz[i] : 0;
    }
    if (net->b > 0) {
        learnt_clip_back(net->domain, backend, rows, net->d, net->l, h, net->dz,
                         dh);
    } else {
        memcpy(dh, net->dz, small * sizeof *dh);
    }
    nn_graph_backward(&net->encoder, backend, net->x, rows, dh, NULL);
    return loss;
}

void
contrastive_encode(struct contrastive_net *net, const float *x, size_t n,
                   float *ret_z)
{
    size_t rows = 2 * net->batch;
    for (size_t i = 0; i < n; i += rows) {
        size_t count = n - i < rows ? n - i : rows;
        const float *h = nn_graph_forward(&net->encoder, net->backend,
                                          x + i * net->width, count, false);
        memcpy(ret_z + i * net->d, h, count * net->d * sizeof *ret_z);
    }
}
