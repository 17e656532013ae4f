/*
 * codes_send.c: mechanisms for private inference, made from a model of a
 * codebook: what a device sends about the record alone, to have it classified.
 *
 *     code     encoder, scores            part: the code, by flip or subset
 *     class    encoder, the network       part: the class, by flip
 *
 * Both take the columns that the encoder takes, and no label.
 */
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "host/error.h"
#include "learn/codes/codes_model.h"
#include "learn/sending.h"
#include "mechanism/same.h"

static enum sotto_status
check_model(const struct sotto_model *model, struct sotto_error *err)
{
    return model->learner == &learner_codes
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "codes and classes are sent with the model of a "
                           "codebook, and this one has none");
}

/* The one that is asked for, or more is expected of. */
static enum sotto_status
choose_channel(const struct sotto_model *model, uint64_t eps,
               const char **channel, struct sotto_error *err)
{
    struct expected_cells cells = codes_model_cells(model);
    if (*channel == NULL) {
        return expected_choose_channel(&cells, eps, channel, err);
    }
    return strcmp(*channel, "flip") == 0 || strcmp(*channel, "subset") == 0
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "\"%.40s\" is no channel for a code alone: take "
                           "flip or subset",
                           *channel);
}

enum sotto_status
sotto_model_mechanism_code(const struct sotto_model *model, const char *eps,
                           const char *channel, const char *path,
                           struct sotto_mechanism **ret_mechanism,
                           struct sotto_error *err)
{
    struct compose_part part = {
        .covers = "features", .channel = channel, .blocks = 1, .factors = 1};
    enum sotto_status status = check_model(model, err);
    if (status == SOTTO_STATUS_OK && model->mechanism->shape.columns) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a code of this model's mechanism is of one column, "
                         "which says little of a record: send its class, or "
                         "cut the records anew");
    }
    status =
        HOST_THEN(status, decimal_read_eps(eps, strlen(eps), &part.eps, err));
    status =
        HOST_THEN(status, choose_channel(model, part.eps, &part.channel, err));
    if (status == SOTTO_STATUS_OK) {
        part.factor[0] = (struct compose_factor){
            .at = (uint32_t)codes_of(model)->shape.at,
            .k = (uint32_t)codes_of(model)->shape.cells};
        status = sending_write(
            model,
            &(struct sending_plan){.name = "code", .part = &part, .path = path},
            ret_mechanism, err);
    }
    return status;
}

enum sotto_status
codes_device(const struct sotto_model *model, size_t network,
             struct device_net *ret_net, struct sotto_error *err)
{
    const struct codes_model *own = codes_of(model);
    const struct nn_graph *stack =
        &own->classifier->networks.net[network].stack;
    size_t last = own->last != NULL ? own->last->shape.layers : 0;
    enum sotto_status status =
        device_net_init(ret_net, last + own->layers + stack->layers, 0, err);
    if (status == SOTTO_STATUS_OK && last > 0) {
        device_net_add_encoder(ret_net, own->last, last);
    } else if (status == SOTTO_STATUS_OK) {
        device_net_add_encoder(ret_net, model->mechanism, own->layers);
        device_net_add_stack(ret_net, stack);
    }
    return status;
}

enum sotto_status
sotto_model_mechanism_class(const struct sotto_model *model, const char *eps,
                            const char *path,
                            struct sotto_mechanism **ret_mechanism,
                            struct sotto_error *err)
{
    struct compose_part part = {.covers = "features",
                                .channel = "flip",
                                .blocks = 1,
                                .factor = {{.k = (uint32_t)model->classes}},
                                .factors = 1};
    struct device_net net = {0};
    enum sotto_status status = check_model(model, err);
    if (status == SOTTO_STATUS_OK && sotto_model_networks(model) > 1) {
        status = host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "the model is the mean of %zu networks, and a "
                           "device has room for one: fit it with one",
                           sotto_model_networks(model));
    }
    status =
        HOST_THEN(status, decimal_read_eps(eps, strlen(eps), &part.eps, err));
    status = HOST_THEN(status, codes_device(model, 0, &net, err));
    if (status == SOTTO_STATUS_OK) {
        status = sending_write(
            model,
            &(struct sending_plan){
                .name = "class", .net = &net, .part = &part, .path = path},
            ret_mechanism, err);
    }
    device_net_clear(&net);
    return status;
}

/* ---- Recognising one ------------------------------------------------------
 */

/* Whether the mechanism has one part, and that is about a code. */
static bool
sends_one(const struct sotto_mechanism *mechanism)
{
    const struct shape *shape = &mechanism->shape;
    return shape->parts == 1 && shape->part[0].role == SHAPE_CODE;
}

/* Whether the encoder of a mechanism is the model's, and the network behind. */
static bool
has_network(const struct sotto_model *model,
            const struct sotto_mechanism *mechanism)
{
    const struct codes_model *own = codes_of(model);
    const struct nn_graph *stack = &own->classifier->networks.net[0].stack;
    bool same = mechanism->shape.layers == own->layers + stack->layers &&
                same_layers(model->mechanism, mechanism, own->layers);
    for (size_t i = 0; same && i < stack->layers; i++) {
        struct layer x = device_net_layer(stack, i);
        struct layer y = decompose_layer(mechanism, own->layers + i);
        same = same_layer(&x, &y);
    }
    return same;
}

bool
codes_sends_class(const struct sotto_model *model,
                  const struct sotto_mechanism *mechanism)
{
    const struct sotto_mechanism *last = codes_of(model)->last;
    const struct shape *shape = &mechanism->shape;
    return sends_one(mechanism) && shape->part[0].from == 0 &&
           shape->part[0].cells == model->classes &&
           (last != NULL ? shape->layers == last->shape.layers &&
                               same_layers(last, mechanism, shape->layers)
                         : has_network(model, mechanism));
}

/* ---- What to expect ------------------------------------------------------ */

enum sotto_status
codes_class_cells(const struct sotto_model *model,
                  struct expected_cells *ret_cells, struct sotto_error *err)
{
    const struct expected_cells known = codes_model_cells(model);
    size_t classes = model->classes;
    struct expected_cells cells = {
        .cells = classes,
        .classes = classes,
        .pi = calloc(classes, sizeof *cells.pi),
        .tau = calloc(classes, classes * sizeof *cells.tau)};
    if (cells.pi == NULL || cells.tau == NULL) {
        expected_cells_clear(&cells);
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < known.cells * classes; i++) {
        cells.pi[i % classes] += known.pi[i / classes] * known.tau[i];
    }
    for (size_t y = 0; y < classes; y++) {
        cells.tau[y * classes + y] = 1;
    }
    *ret_cells = cells;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
expect_classes(const struct sotto_model *model, double eps,
               double *ret_accuracy, struct sotto_error *err)
{
    struct expected_cells cells;
    enum sotto_status status = codes_class_cells(model, &cells, err);
    if (status == SOTTO_STATUS_OK) {
        status = expected_flip(&cells, eps, ret_accuracy, err);
        expected_cells_clear(&cells);
    }
    return status;
}

enum sotto_status
sotto_model_expect(const struct sotto_model *model,
                   const struct sotto_mechanism *mechanism,
                   double *ret_accuracy, struct sotto_error *err)
{
    const struct channel_instance *instance = mechanism->shape.part[0].instance;
    double eps = (double)instance->eps / (double)SOTTO_UNIT, error;
    struct expected_cells cells;
    bool codes = model->learner == &learner_codes;
    if (codes && codes_sends_class(model, mechanism)) {
        return expect_classes(model, eps, ret_accuracy, err);
    }
    if (!codes || !sends_one(mechanism) ||
        !same_code(model->mechanism, mechanism)) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the mechanism's reports are not about the model's "
                         "code or class alone");
    }
    cells = codes_model_cells(model);
    return strcmp(instance->channel->name, "flip") == 0
               ? expected_flip(&cells, eps, ret_accuracy, err)
               : expected_channel(&cells, &mechanism->likelihood[0],
                                  ret_accuracy, &error, err);
}
