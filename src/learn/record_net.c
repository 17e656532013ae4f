/*
 * record_net.c: a network on the record, trained on what is known of labels.
 *
 * Every batch is of distorted images where x is one: at small epsilon a network
 * would learn the labels' noise by heart otherwise. A share of the rows only
 * scores; the weights with the best score are kept.
 */
#include "learn/record_net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/augment.h"
#include "host/error.h"
#include "host/wipe.h"
#include "learn/objective.h"
#include "learn/supervision.h"
#include "nn/train.h"

#define BLOCK 512u /* rows that go through without a gradient at a time */
#define WARMUP 0.05

enum sotto_status
record_net_add(struct record_net *net, struct layer layer,
               struct sotto_error *err)
{
    if (net->layers == RECORD_LAYERS_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "the network has more than %u layers",
                         RECORD_LAYERS_MAX);
    }
    net->layer[net->layers++] = layer;
    return SOTTO_STATUS_OK;
}

void
record_net_clear(struct record_net *net)
{
    free(net->room);
    net->room = NULL;
}

struct sotto_image
record_net_image(const struct sotto_table *table, const char *column,
                 size_t width)
{
    size_t at = sotto_table_find(table, column);
    struct sotto_image image = {0, 0, 0};
    if (at != SIZE_MAX) {
        image = sotto_table_image(table, at);
    }
    return (size_t)image.height * image.width * image.channels == width
               ? image
               : (struct sotto_image){0, 0, 0};
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
    float *x;        /* of a batch or block, likewise below */
    float *p, *dp;   /* with labels */
    uint32_t *group; /* likewise */
    float *target;   /* without */
    size_t room;     /* rows of each */
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

static void
scale_all(float *at, size_t count, double by)
{
    for (size_t i = 0; i < count; i++) {
        at[i] = (float)(by * (double)at[i]);
    }
}

/* Whether a layer's outputs are a dense layer's inputs as they are. */
static bool
is_plain_pair(const struct layer *layer, const struct layer *next)
{
    return layer->kind == LAYER_DENSE && next->kind == LAYER_DENSE &&
           layer->activation == ACTIVATION_NONE && layer_back(next) == 1 &&
           layer->weight != NULL && next->weight != NULL;
}

/* Gives outputs between two dense layers, which may have any scale, that for
   which the second one's weights are of the usual size, 1 / sqrt(fan). What the
   network says stays; but an optimiser's steps are of one size, and an encoder
   whose representation is small would be lost with the first of them. */
static void
even_scales(struct training *training, const struct record_net *net)
{
    for (size_t i = 0; i + 1 < net->layers; i++) {
        const struct layer *layer = &net->layer[i], *next = layer + 1;
        const struct nn_place *place = &training->graph.layer[i];
        struct nn_arena *arena = &training->arena;
        size_t fan = layer_fan(next), count = fan * layer_biases(next);
        float *weight;
        double sum = 0;
        if (!is_plain_pair(layer, next)) {
            continue;
        }
        weight = nn_arena_value(arena, place[1].weight);
        for (size_t j = 0; j < count; j++) {
            sum += (double)weight[j] * (double)weight[j];
        }
        sum = sqrt(sum / (double)count * (double)fan);
        if (isfinite(sum) && sum > 0) {
            scale_all(weight, count, 1 / sum);
            scale_all(nn_arena_value(arena, place->weight),
                      (size_t)layer_biases(layer) * layer_fan(layer), sum);
            scale_all(nn_arena_value(arena, place->bias), layer_biases(layer),
                      sum);
        }
    }
}

static enum sotto_status
init_training(struct training *training, const struct record_net *net,
              struct sotto_error *err)
{
    const struct record_data *data = training->data;
    size_t batch = training->plan->batch, classes = data->classes;
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
    training->target = calloc(training->room * classes + 1, sizeof(float));
    if (training->x == NULL || training->p == NULL || training->dp == NULL ||
        training->group == NULL || training->target == NULL) {
        return host_fail_memory(err);
    }
    set_weights(training, net);
    even_scales(training, net);
    return SOTTO_STATUS_OK;
}

static void
clear_training(struct training *training)
{
    nn_graph_clear(&training->graph);
    nn_arena_clear(&training->arena);
    host_wipe_free(training->x, (training->room * training->data->width + 1) *
                                    sizeof *training->x);
    host_wipe_free(training->p, (training->room * training->data->classes + 1) *
                                    sizeof *training->p);
    host_wipe_free(training->dp,
                   (training->room * training->data->classes + 1) *
                       sizeof *training->dp);
    free(training->group);
    host_wipe_free(training->target,
                   (training->room * training->data->classes + 1) *
                       sizeof *training->target);
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
        if (data->labels != NULL) {
            training->group[i] = data->labels->group[row[i]];
        } else {
            memcpy(training->target + i * data->classes,
                   data->target + (size_t)row[i] * data->classes,
                   data->classes * sizeof *data->target);
        }
    }
}

/* The log-likelihood of what the reports of n rows say; and with `dlogits` the
   gradient of minus its mean. */
static double
pass_labels(struct training *training, const float *logits, size_t n,
            float *dlogits)
{
    const struct record_data *data = training->data;
    struct tensor_backend *backend = training->plan->backend;
    double sum;
    backend->ops->softmax(backend, n, data->classes, logits, training->p);
    sum =
        conditional_pass(data->labels, training->group, n, training->p,
                         1 / (double)n, dlogits != NULL ? training->dp : NULL);
    if (dlogits != NULL) {
        backend->ops->softmax_back(backend, n, data->classes, training->p,
                                   training->dp, dlogits);
    }
    return sum;
}

/* The same of targets: minus the cross-entropy. */
static double
pass_targets(struct training *training, const float *logits, size_t n,
             float *dlogits)
{
    struct tensor_backend *backend = training->plan->backend;
    return -backend->ops->categorical(backend, n, training->data->classes,
                                      logits, training->target, 1 / (float)n,
                                      dlogits);
}

static double
pass_rows(struct training *training, size_t n, bool trains)
{
    const float *logits = nn_graph_forward(
        &training->graph, training->plan->backend, training->x, n, trains);
    float *dlogits = trains ? nn_graph_dy(&training->graph) : NULL;
    return training->data->labels != NULL
               ? pass_labels(training, logits, n, dlogits)
               : pass_targets(training, logits, n, dlogits);
}

static double
step_rows(void *context, const uint32_t *row, size_t n, uint64_t epoch)
{
    struct training *training = context;
    const struct record_data *data = training->data;
    const struct sotto_image *image = &data->image;
    double sum;
    gather_rows(training, row, n);
    if (training->distorts) {
        data_augment_rows(training->plan->pool, &training->augment,
                          image->height, image->width, image->channels, data->x,
                          row, n, data->seed, (uint32_t)epoch, 0, training->x);
    }
    sum = pass_rows(training, n, true);
    nn_graph_backward(&training->graph, training->plan->backend, training->x, n,
                      nn_graph_dy(&training->graph), NULL);
    return -sum / (double)n;
}

/* The mean log-likelihood of what is known of some rows. */
static double
score_rows(struct training *training, const uint32_t *row, size_t rows)
{
    double sum = 0;
    for (size_t i = 0; i < rows; i += BLOCK) {
        size_t n = rows - i < BLOCK ? rows - i : BLOCK;
        gather_rows(training, row + i, n);
        sum += pass_rows(training, n, false);
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
