/*
 * model.c: a classifier in memory.
 */
#include "learn/model.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/pool.h"
#include "host/wipe.h"

#define BLOCK 1024u /* inputs that go through the networks at a time */

static enum sotto_status
plan_net(const struct sotto_model *model, struct model_net *net,
         struct sotto_error *err)
{
    struct nn_layer layer[MODEL_HIDDEN_MAX + 1];
    enum sotto_status status;
    memset(layer, 0, sizeof layer);
    for (size_t i = 0; i < model->hiddens; i++) {
        layer[i].out = model->hidden[i];
        layer[i].activation = TENSOR_ACTIVATION_RELU;
    }
    layer[model->hiddens].out = model->classes;
    nn_arena_init(&net->arena);
    status = nn_graph_plan(&net->stack, &net->arena, "net", model->in, layer,
                           model->hiddens + 1, err);
    if (status == SOTTO_STATUS_OK) {
        status = nn_arena_allocate(&net->arena, err);
    }
    return status;
}

static enum sotto_status
check_hidden(const uint32_t *hidden, size_t hiddens, struct sotto_error *err)
{
    if (hiddens > MODEL_HIDDEN_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, hiddens,
                         "%zu hidden layers are too many: at most %u are "
                         "possible",
                         hiddens, MODEL_HIDDEN_MAX);
    }
    for (size_t i = 0; i < hiddens; i++) {
        if (hidden[i] == 0 || hidden[i] > MODEL_WIDTH_MAX) {
            return host_fail(err, SOTTO_STATUS_LIMIT, i,
                             "a hidden layer has 1 to %u units, not %u",
                             MODEL_WIDTH_MAX, hidden[i]);
        }
    }
    return SOTTO_STATUS_OK;
}

/* ---- What it takes and tells ----------------------------------------------
 */

static enum sotto_status
shape_codes(struct sotto_model *model, const struct sotto_mechanism *mechanism,
            struct sotto_error *err)
{
    enum sotto_status status =
        codes_shape_init(&model->codes, mechanism, model->other, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (model->codes.symbols < 2) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the mechanism has no label: nothing to learn to "
                         "tell from its reports");
    }
    if (model->level != SOTTO_LEVEL_LATENT) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a codebook's classifier sees representations, not "
                         "records: use the level latent");
    }
    model->layers = (uint32_t)mechanism->shape.z_layers;
    model->in = mechanism->shape.width[model->layers];
    model->classes = model->codes.classes;
    return SOTTO_STATUS_OK;
}

/* Sets shape or codes, in and classes, from level and other. */
static enum sotto_status
set_shape(struct sotto_model *model, const struct sotto_mechanism *mechanism,
          struct sotto_error *err)
{
    enum sotto_status status;
    if (mechanism->shape.code != SIZE_MAX) {
        status = shape_codes(model, mechanism, err);
    } else {
        status = prior_shape_init(&model->shape, mechanism, model->other, err);
        model->classes = model->shape.classes;
        model->in = model->level == SOTTO_LEVEL_LATENT ? model->shape.inputs
                                                       : mechanism->shape.x;
    }
    if (status == SOTTO_STATUS_OK && model->in == 0) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "the mechanism has no features to learn from");
    }
    return status;
}

enum sotto_status
model_measure(const struct sotto_mechanism *mechanism, enum sotto_level level,
              bool other, size_t *ret_in, size_t *ret_classes,
              struct sotto_error *err)
{
    struct sotto_model model = {.level = level, .other = other};
    enum sotto_status status = set_shape(&model, mechanism, err);
    prior_shape_clear(&model.shape);
    if (status == SOTTO_STATUS_OK) {
        *ret_in = model.in;
        *ret_classes = model.classes;
    }
    return status;
}

/* ---- Making and freeing ---------------------------------------------------
 */

static enum sotto_status
allocate_tables(struct sotto_model *model, struct sotto_error *err)
{
    size_t cells = model->codes.cells, pairs = cells * model->classes;
    if (cells == 0) {
        return SOTTO_STATUS_OK;
    }
    model->pi = calloc(cells, sizeof *model->pi);
    model->tau = calloc(pairs, sizeof *model->tau);
    model->tau_bar = calloc(pairs, sizeof *model->tau_bar);
    return model->pi != NULL && model->tau != NULL && model->tau_bar != NULL
               ? SOTTO_STATUS_OK
               : host_fail_memory(err);
}

static enum sotto_status
fill(struct sotto_model *model, const struct sotto_mechanism *mechanism,
     struct sotto_error *err)
{
    enum sotto_status status =
        mechanism_copy(mechanism, &model->mechanism, err);
    if (status == SOTTO_STATUS_OK) {
        status = set_shape(model, model->mechanism, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = allocate_tables(model, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    model->net = calloc(model->nets, sizeof *model->net);
    if (model->net == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < model->nets && status == SOTTO_STATUS_OK; i++) {
        status = plan_net(model, &model->net[i], err);
    }
    return status;
}

enum sotto_status
model_new(const struct sotto_mechanism *mechanism,
          enum sotto_objective objective, enum sotto_level level, bool other,
          const uint32_t *hidden, size_t hiddens, size_t nets,
          struct sotto_model **ret_model, struct sotto_error *err)
{
    struct sotto_model *model = NULL;
    enum sotto_status status = check_hidden(hidden, hiddens, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    model = calloc(1, sizeof *model);
    if (model == NULL) {
        return host_fail_memory(err);
    }
    model->objective = objective;
    model->level = level;
    model->other = other;
    model->hiddens = hiddens;
    model->nets = nets;
    for (size_t i = 0; i < hiddens; i++) {
        model->hidden[i] = hidden[i];
    }
    status = fill(model, mechanism, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_model = model;
    } else {
        sotto_model_free(model);
    }
    return status;
}

void
sotto_model_free(struct sotto_model *model)
{
    if (model == NULL) {
        return;
    }
    for (size_t i = 0; model->net != NULL && i < model->nets; i++) {
        nn_graph_clear(&model->net[i].stack);
        nn_arena_clear(&model->net[i].arena);
    }
    free(model->net);
    free(model->point);
    free(model->p);
    free(model->pi);
    free(model->tau);
    free(model->tau_bar);
    free(model->confusion);
    tensor_backend_free(model->backend);
    host_pool_free(model->pool);
    prior_shape_clear(&model->shape);
    sotto_mechanism_free(model->mechanism);
    free(model);
}

size_t
sotto_model_classes(const struct sotto_model *model)
{
    return model->classes;
}

const char *
sotto_model_class(const struct sotto_model *model, size_t i)
{
    size_t column = model->codes.cells > 0
                        ? model->codes.column
                        : sotto_mechanism_part_column(
                              model->mechanism, model->shape.label_part, 0);
    if (column == SIZE_MAX) {
        return "(combined)";
    }
    return sotto_mechanism_category(model->mechanism, column, i);
}

struct sotto_mechanism *
sotto_model_mechanism(const struct sotto_model *model)
{
    return model->mechanism;
}

enum sotto_status
model_backend(struct sotto_model *model, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    if (model->pool == NULL) {
        status = host_pool_new(0, &model->pool, err);
    }
    if (status == SOTTO_STATUS_OK && model->backend == NULL) {
        status = tensor_new("cpu", model->pool, &model->backend, err);
    }
    return status;
}

/* Adds the probabilities of one network to the block's. */
static void
forward_block(const struct sotto_model *model, struct model_net *net,
              const float *input, size_t n, float *room, float *p)
{
    struct tensor_backend *backend = model->backend;
    const float *logits =
        nn_graph_forward(&net->stack, backend, input, n, false);
    float share = 1 / (float)model->nets;
    backend->ops->softmax(backend, n, model->classes, logits, room);
    for (size_t i = 0; i < n * model->classes; i++) {
        p[i] += share * room[i];
    }
}

enum sotto_status
model_forward(struct sotto_model *model, const float *input, size_t n,
              float *ret_p, struct sotto_error *err)
{
    size_t classes = model->classes;
    float *room = NULL;
    enum sotto_status status = model_backend(model, err);
    for (size_t i = 0; i < model->nets && status == SOTTO_STATUS_OK; i++) {
        if (model->net[i].stack.reserved < BLOCK) {
            status = nn_graph_reserve(&model->net[i].stack, BLOCK, err);
        }
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    room = malloc(BLOCK * classes * sizeof *room);
    if (room == NULL) {
        return host_fail_memory(err);
    }
    memset(ret_p, 0, n * classes * sizeof *ret_p);
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t rows = n - first < BLOCK ? n - first : BLOCK;
        for (size_t i = 0; i < model->nets; i++) {
            forward_block(model, &model->net[i], input + first * model->in,
                          rows, room, ret_p + first * classes);
        }
    }
    host_wipe_free(room, BLOCK * classes * sizeof *room);
    return SOTTO_STATUS_OK;
}

/* ---- One of several networks --------------------------------------------- */

/* What the networks say of the points of the prior. */
static enum sotto_status
weigh_points(struct sotto_model *model, float *ret_p, struct sotto_error *err)
{
    float *input = malloc((model->points * model->in + 1) * sizeof *input);
    enum sotto_status status;
    if (input == NULL) {
        return host_fail_memory(err);
    }
    for (size_t m = 0; m < model->points; m++) {
        prior_input(&model->shape, model->point + m * model->shape.width,
                    input + m * model->in);
    }
    status = model_forward(model, input, model->points, ret_p, err);
    free(input);
    return status;
}

static void
swap_nets(struct model_net *a, struct model_net *b)
{
    struct model_net held = *a;
    *a = *b;
    *b = held;
    a->stack.arena = &a->arena; /* each points to its own */
    b->stack.arena = &b->arena;
}

enum sotto_status
model_check_keep(const struct sotto_model *model, struct sotto_error *err)
{
    return model->p == NULL || model->level != SOTTO_LEVEL_FEATURE
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "candidates are chosen at the level of "
                           "representations");
}

enum sotto_status
model_keep(struct sotto_model *model, size_t network, struct sotto_error *err)
{
    size_t nets = model->nets;
    enum sotto_status status = model_check_keep(model, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    swap_nets(&model->net[0], &model->net[network]);
    model->nets = 1;
    if (model->p != NULL) {
        status = weigh_points(model, model->p, err);
    }
    if (status != SOTTO_STATUS_OK) { /* p is as it was */
        swap_nets(&model->net[0], &model->net[network]);
        model->nets = nets;
        return status;
    }
    for (size_t i = 1; i < nets; i++) {
        nn_graph_clear(&model->net[i].stack);
        nn_arena_clear(&model->net[i].arena);
    }
    return SOTTO_STATUS_OK;
}
