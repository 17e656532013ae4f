/*
 * sending.c: mechanisms made from a model.
 */
#include "learn/sending.h"

#include <stdlib.h>

#include "host/error.h"
#include "mechanism/decompose.h"

/* ---- A classifier as layers ---------------------------------------------- */

enum sotto_status
device_net_init(struct device_net *net, size_t layers, size_t floats,
                struct sotto_error *err)
{
    net->layers = 0;
    net->layer = calloc(layers + 1, sizeof *net->layer);
    net->room = calloc(floats + 1, sizeof *net->room);
    return net->layer != NULL && net->room != NULL ? SOTTO_STATUS_OK
                                                   : host_fail_memory(err);
}

void
device_net_clear(struct device_net *net)
{
    free(net->layer);
    free(net->room);
}

void
device_net_add_encoder(struct device_net *net,
                       const struct sotto_mechanism *mechanism, size_t layers)
{
    for (size_t i = 0; i < layers; i++) {
        net->layer[net->layers++] = decompose_layer(mechanism, i);
    }
}

struct layer
device_net_layer(const struct nn_graph *stack, size_t i)
{
    const struct nn_place *place = &stack->layer[i];
    return (struct layer){.in = (uint32_t)place->in,
                          .out = (uint32_t)place->out,
                          .activation = place->layer.activation,
                          .weight = nn_arena_value(stack->arena, place->weight),
                          .bias = nn_arena_value(stack->arena, place->bias)};
}

void
device_net_add_stack(struct device_net *net, const struct nn_graph *stack)
{
    for (size_t i = 0; i < stack->layers; i++) {
        net->layer[net->layers++] = device_net_layer(stack, i);
    }
}

/* ---- A mechanism --------------------------------------------------------- */

/* Leaves the columns out that nobody asks for. Returns the label's new
   number. */
static size_t
keep_columns(const struct sotto_model *model, const struct sending_plan *plan,
             struct decompose *copy)
{
    const struct schema *schema = &model->mechanism->shape.schema;
    size_t kept = 0, label = SIZE_MAX;
    for (size_t i = 0; i < schema->columns; i++) {
        bool compared = plan->compares && i == model->column;
        if (compared || schema->column[i].inputs > 0) {
            label = compared ? kept : label;
            copy->column[kept++] = copy->column[i];
        }
    }
    copy->spec.columns = kept;
    if (label != SIZE_MAX && plan->label != NULL) {
        copy->column[label].name = plan->label;
    }
    return label;
}

/* What protects the people whose records, or labels, a network was fitted to.
   At most 120 characters. */
static const char from_clean[] =
    "none: the network was fitted to clean records or labels and tells of "
    "them; the encoder was learnt from auxiliary data";

enum sotto_status
sending_write(const struct sotto_model *model, const struct sending_plan *plan,
              struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    struct compose_part part = *plan->part;
    struct sotto_mechanism *mechanism = NULL;
    struct decompose copy = {0};
    enum sotto_status status = decompose_init(&copy, model->mechanism, err);
    if (status == SOTTO_STATUS_OK) {
        part.factor[0].column = (uint32_t)keep_columns(model, plan, &copy);
        copy.spec.name = plan->name;
        copy.spec.label_only = false; /* it stays on the device from here on */
        copy.spec.eps = part.eps;
        copy.spec.part = &part;
        copy.spec.parts = 1;
        if (plan->net != NULL) {
            copy.spec.layer = plan->net->layer;
            copy.spec.layers = plan->net->layers;
            copy.spec.auxiliary =
                model->clean ? from_clean : copy.spec.auxiliary;
        }
        status = compose_open(&copy.spec, &mechanism, err);
    }
    status = HOST_THEN(
        status, mechanism_publish(mechanism, plan->path, ret_mechanism, err));
    decompose_clear(&copy);
    return status;
}
