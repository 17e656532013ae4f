/*
 * record_net.c: a network on the record, trained by Eq. 12.
 *
 * Every batch is of distorted images where x is one: at small epsilon a network
 * would learn the labels' noise by heart otherwise. A share of the reports only
 * scores; the weights with the best score are kept.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/augment.h"
#include "encoder/contrastive.h"
#include "host/error.h"
#include "host/wipe.h"
#include "learn/objective.h"
#include "learn/record/record.h"
#include "learn/supervision.h"
#include "nn/train.h"

#define SIDE_LEAST 8u /* pixels of an image for convolutions */
#define BLOCK 512u    /* rows that go through without a gradient at a time */
#define HIDDEN 50u
#define WARMUP 0.05

/* ---- Its layers ---------------------------------------------------------- */

static enum sotto_status
add_layer(struct record_net *net, struct layer layer, struct sotto_error *err)
{
    if (net->layers == RECORD_LAYERS_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "the network has more than %u layers",
                         RECORD_LAYERS_MAX);
    }
    net->layer[net->layers++] = layer;
    return SOTTO_STATUS_OK;
}

enum sotto_status
record_net_add_head(struct record_net *net, size_t classes,
                    struct sotto_error *err)
{
    enum sotto_status status = add_layer(
        net, (struct layer){.out = RECORD_HEAD, .activation = ACTIVATION_RELU},
        err);
    return HOST_THEN(
        status, add_layer(net, (struct layer){.out = (uint32_t)classes}, err));
}

/* The layers of a contrastive encoder, whose weights are to be learnt. */
static enum sotto_status
plan_images(struct record_net *net, const struct record_data *data,
            struct sotto_error *err)
{
    struct contrastive_settings set = {.network = "cnn"};
    struct layer layer[CONTRASTIVE_LAYERS_ROOM];
    size_t layers;
    enum sotto_status status = SOTTO_STATUS_OK;
    settings_init(contrastive_settings, &set);
    set.network = "cnn";
    layers = contrastive_layers(&set, data->image, set.common.d, layer);
    for (size_t i = 0; i < layers && status == SOTTO_STATUS_OK; i++) {
        status = add_layer(net, layer[i], err);
    }
    return HOST_THEN(status,
                     record_net_add_head(net, data->labels->classes, err));
}

enum sotto_status
record_net_plan(struct record_net *net, const struct record_data *data,
                const struct learn_options *options, struct sotto_error *err)
{
    static const uint32_t usual[] = {HIDDEN};
    const uint32_t *hidden = options->hiddens > 0 ? options->hidden : usual;
    size_t hiddens = options->hiddens > 0 ? options->hiddens
                                          : (size_t)(options->linear ? 0 : 1);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (data->image.height >= SIDE_LEAST && data->image.width >= SIDE_LEAST) {
        return plan_images(net, data, err);
    }
    for (size_t i = 0; i < hiddens && status == SOTTO_STATUS_OK; i++) {
        status = add_layer(
            net,
            (struct layer){.out = hidden[i], .activation = ACTIVATION_RELU},
            err);
    }
    return HOST_THEN(
        status,
        add_layer(net, (struct layer){.out = (uint32_t)data->labels->classes},
                  err));
}

void
record_net_clear(struct record_net *net)
{
    free(net->room);
    net->room = NULL;
}

/* ---- One training -------------------------------------------------------- */

struct training {
    const struct record_data *data;
    const struct record_plan *plan;
    struct nn_arena arena;
    struct nn_graph graph;
    bool distorts;
    struct data_augment augment;
    uint32_t *row, *held; /* that train, and that only score */
    size_t rows, helds;
    float *x, *p, *dp; /* of a batch or block */
    uint32_t *group;
    size_t room; /* rows of each */
};

/* Sets the distortions: those that encoders are trained with, weaker. */
static enum sotto_status
plan_views(struct training *training, struct sotto_error *err)
{
    const struct sotto_image *image = &training->data->image;
    double share = training->plan->views;
    struct data_augment *augment = &training->augment;
    training->distorts = share > 0 && image->height > 1 && image->width > 1;
    if (!training->distorts) {
        return SOTTO_STATUS_OK;
    }
    *augment = image->channels == 3
                   ? data_augment_photo()
                   : data_augment_line(image->height, image->width);
    augment->rotate *= share;
    augment->scale *= share;
    augment->shear *= share;
    augment->shift *= share;
    augment->thickness *= share;
    augment->gamma *= share;
    augment->noise *= share;
    augment->brightness *= share;
    augment->contrast *= share;
    augment->saturation *= share;
    augment->hue *= share;
    augment->grey *= share;
    augment->crop = 1 - share * (1 - augment->crop);
    return data_augment_check(augment, image->height, image->width,
                              image->channels, err);
}

/* Draws the rows that only score. */
static enum sotto_status
draw_rows(struct training *training, struct sotto_error *err)
{
    size_t n = training->data->n, next = 0;
    size_t held = (size_t)(training->data->validation * (double)n);
    size_t *drawn = calloc(held + 1, sizeof *drawn);
    training->row = calloc(n + 1, sizeof *training->row);
    training->held = calloc(held + 1, sizeof *training->held);
    if (drawn == NULL || training->row == NULL || training->held == NULL) {
        free(drawn);
        return host_fail_memory(err);
    }
    supervision_draw(training->data->seed, n, held, drawn);
    for (size_t i = 0; i < n; i++) {
        if (next < held && drawn[next] == i) {
            training->held[next++] = (uint32_t)i;
        } else {
            training->row[training->rows++] = (uint32_t)i;
        }
    }
    training->helds = held;
    free(drawn);
    return SOTTO_STATUS_OK;
}

static void
set_weights(struct training *training, const struct record_net *net)
{
    nn_graph_init(&training->graph, training->data->seed,
                  training->plan->stream);
    for (size_t i = 0; i < net->layers; i++) {
        const struct nn_place *place = &training->graph.layer[i];
        const struct layer *layer = &net->layer[i];
        if (layer->weight != NULL && layer_biases(layer) > 0) {
            memcpy(
                nn_arena_value(&training->arena, place->weight), layer->weight,
                (size_t)layer_biases(layer) * layer_fan(layer) * sizeof(float));
            memcpy(nn_arena_value(&training->arena, place->bias), layer->bias,
                   layer_biases(layer) * sizeof(float));
        }
    }
}

static enum sotto_status
init_training(struct training *training, const struct record_net *net,
              struct sotto_error *err)
{
    const struct record_data *data = training->data;
    size_t batch = training->plan->batch, classes = data->labels->classes;
    enum sotto_status status;
    training->room = batch > BLOCK ? batch : BLOCK;
    nn_arena_init(&training->arena);
    status = nn_graph_plan(&training->graph, &training->arena, "net",
                           data->width, net->layer, net->layers, err);
    status = HOST_THEN(status, nn_arena_allocate(&training->arena, err));
    status = HOST_THEN(status,
                       nn_graph_reserve(&training->graph, training->room, err));
    status = HOST_THEN(status, plan_views(training, err));
    status = HOST_THEN(status, draw_rows(training, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    training->x = calloc(training->room * data->width + 1, sizeof(float));
    training->p = calloc(training->room * classes + 1, sizeof(float));
    training->dp = calloc(training->room * classes + 1, sizeof(float));
    training->group = calloc(training->room + 1, sizeof *training->group);
    if (training->x == NULL || training->p == NULL || training->dp == NULL ||
        training->group == NULL) {
        return host_fail_memory(err);
    }
    set_weights(training, net);
    return SOTTO_STATUS_OK;
}

static void
clear_training(struct training *training)
{
    nn_graph_clear(&training->graph);
    nn_arena_clear(&training->arena);
    host_wipe_free(training->x, (training->room * training->data->width + 1) *
                                    sizeof *training->x);
    free(training->p);
    free(training->dp);
    free(training->group);
    free(training->row);
    free(training->held);
}

/* Sets the records of some rows, and what is known of their labels. */
static void
gather_rows(struct training *training, const uint32_t *row, size_t n)
{
    const struct record_data *data = training->data;
    for (size_t i = 0; i < n; i++) {
        memcpy(training->x + i * data->width,
               data->x + (size_t)row[i] * data->width,
               data->width * sizeof *data->x);
        training->group[i] = data->labels->group[row[i]];
    }
}

static void
forward_rows(struct training *training, size_t n, bool trains)
{
    struct tensor_backend *backend = training->plan->backend;
    const float *logits =
        nn_graph_forward(&training->graph, backend, training->x, n, trains);
    backend->ops->softmax(backend, n, training->data->labels->classes, logits,
                          training->p);
}

static double
step_rows(void *context, const uint32_t *row, size_t n, uint64_t epoch)
{
    struct training *training = context;
    const struct record_data *data = training->data;
    struct tensor_backend *backend = training->plan->backend;
    const struct sotto_image *image = &data->image;
    double sum;
    gather_rows(training, row, n);
    if (training->distorts) {
        data_augment_rows(training->plan->pool, &training->augment,
                          image->height, image->width, image->channels, data->x,
                          row, n, data->seed, (uint32_t)epoch, 0, training->x);
    }
    forward_rows(training, n, true);
    sum = conditional_pass(data->labels, training->group, n, training->p,
                           1 / (double)n, training->dp);
    backend->ops->softmax_back(backend, n, data->labels->classes, training->p,
                               training->dp, nn_graph_dy(&training->graph));
    nn_graph_backward(&training->graph, backend, training->x, n,
                      nn_graph_dy(&training->graph), NULL);
    return -sum / (double)n;
}

/* The mean log-likelihood of the reports of some rows. */
static double
score_rows(struct training *training, const uint32_t *row, size_t rows)
{
    double sum = 0;
    for (size_t i = 0; i < rows; i += BLOCK) {
        size_t n = rows - i < BLOCK ? rows - i : BLOCK;
        gather_rows(training, row + i, n);
        forward_rows(training, n, false);
        sum += conditional_pass(training->data->labels, training->group, n,
                                training->p, 1, NULL);
    }
    return rows > 0 ? sum / (double)rows : 0;
}

static double
score_held(void *context)
{
    struct training *training = context;
    return -score_rows(training, training->held, training->helds);
}

static enum sotto_status
run_training(struct training *training, struct record_fitted *fitted,
             struct sotto_error *err)
{
    const struct record_plan *plan = training->plan;
    struct nn_task task = {.rows = training->rows,
                           .row = training->row,
                           .step = step_rows,
                           .score = training->helds > 0 ? score_held : NULL,
                           .context = training};
    struct nn_plan how = {.optimiser = {.rate = (float)plan->rate,
                                        .decay = (float)plan->decay,
                                        .schedule = NN_SCHEDULE_COSINE},
                          .warmup = WARMUP,
                          .batch = plan->batch,
                          .batches = NN_BATCHES_EVEN,
                          .epochs = plan->epochs,
                          .seed = training->data->seed,
                          .stream = plan->stream << 32,
                          .what = plan->what,
                          .watch = plan->watch};
    struct nn_trained trained = {0};
    enum sotto_status status =
        nn_train(&task, &how, &training->arena, plan->backend, &trained, err);
    if (status == SOTTO_STATUS_OK) {
        fitted->epochs += trained.epochs;
        fitted->log_p = score_rows(training, training->row, training->rows);
        fitted->validation =
            score_rows(training, training->held, training->helds);
        if (!isfinite(fitted->log_p)) {
            status = nn_fail_diverged(plan->what, trained.epochs, err);
        }
    }
    return status;
}

/* Puts the weights found into layers as devices run them. */
static enum sotto_status
keep_weights(struct training *training, struct record_net *net,
             struct sotto_error *err)
{
    float *room = calloc(nn_graph_floats(&training->graph) + 1, sizeof *room);
    if (room == NULL) {
        return host_fail_memory(err);
    }
    nn_graph_export(&training->graph, room, net->layer);
    free(net->room);
    net->room = room;
    return SOTTO_STATUS_OK;
}

enum sotto_status
record_net_train(struct record_net *net, const struct record_data *data,
                 const struct record_plan *plan,
                 struct record_fitted *ret_fitted, struct sotto_error *err)
{
    struct training training = {.data = data, .plan = plan};
    float *shift = malloc((2 * data->width + 1) * sizeof *shift);
    float *scale = shift != NULL ? shift + data->width : NULL;
    enum sotto_status status = shift != NULL
                                   ? init_training(&training, net, err)
                                   : host_fail_memory(err);
    if (status != SOTTO_STATUS_OK || shift == NULL) {
        goto done;
    }
    if (plan->even) {
        inputs_moments(data->x, data->n, data->width, shift, scale);
        inputs_apply(data->x, data->n, data->width, shift, scale);
    }
    status = run_training(&training, ret_fitted, err);
    if (plan->even) {
        inputs_fold(&training.graph, shift, scale);
        for (size_t i = 0; i < data->width; i++) { /* x as it was */
            shift[i] = -shift[i] * scale[i];
            scale[i] = 1 / scale[i];
        }
        inputs_apply(data->x, data->n, data->width, shift, scale);
    }
    status = HOST_THEN(status, keep_weights(&training, net, err));
done:
    clear_training(&training);
    free(shift);
    return status;
}

/* ---- What it makes of x -------------------------------------------------- */

enum sotto_status
record_net_run(const struct layer *layer, size_t layers, const float *x,
               size_t n, size_t width, struct tensor_backend *backend,
               float *ret_z, struct sotto_error *err)
{
    struct record_net net = {.layers = layers};
    struct record_data data = {.seed = 0};
    struct record_plan plan = {.stream = 0};
    struct training training = {.data = &data, .plan = &plan};
    enum sotto_status status;
    memcpy(net.layer, layer, layers * sizeof *layer);
    nn_arena_init(&training.arena);
    status = nn_graph_plan(&training.graph, &training.arena, "net", width,
                           layer, layers, err);
    status = HOST_THEN(status, nn_arena_allocate(&training.arena, err));
    status = HOST_THEN(status, nn_graph_reserve(&training.graph, BLOCK, err));
    if (status == SOTTO_STATUS_OK) {
        set_weights(&training, &net);
        for (size_t i = 0; i < n; i += BLOCK) {
            size_t rows = n - i < BLOCK ? n - i : BLOCK;
            const float *z = nn_graph_forward(&training.graph, backend,
                                              x + i * width, rows, false);
            memcpy(ret_z + i * training.graph.out, z,
                   rows * training.graph.out * sizeof *z);
        }
    }
    nn_graph_clear(&training.graph);
    nn_arena_clear(&training.arena);
    return status;
}
