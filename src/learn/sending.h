/*
 * sending.h: mechanisms made from a model: what a device sends about the
 * model's code or class of its record.
 *
 *     columns   those that the encoder takes, and the label's if it is compared
 *     encoder   the model's mechanism's layers; or a device_net: layers up to a
 *               score for each class
 *     part      one, of symbols
 */
#ifndef SOTTO_LEARN_SENDING_H
#define SOTTO_LEARN_SENDING_H

#include "learn/model.h"
#include "mechanism/compose.h"

/* A classifier as a device runs it: the likeliest class of a record is the
   largest of the last layer's outputs. */
struct device_net {
    struct layer *layer; /* weights are the model's, or in `room` */
    size_t layers;
    float *room;
};

/* Makes room for layers and for the weights that are not the model's. Clear it
   in any case. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status device_net_init(struct device_net *net,
                                                size_t layers, size_t floats,
                                                struct sotto_error *err);
void device_net_clear(struct device_net *net);
/* Adds the first layers of a mechanism, and all layers of a network behind
   them. */
void device_net_add_encoder(struct device_net *net,
                            const struct sotto_mechanism *mechanism,
                            size_t layers);
void device_net_add_stack(struct device_net *net, const struct nn_graph *stack);
/* Returns layer i of a network. Its weights are the network's. */
struct layer device_net_layer(const struct nn_graph *stack, size_t i);

struct sending_plan {
    const char *name;
    const struct device_net *net; /* NULL: the layers of the mechanism */
    const struct compose_part *part;
    bool compares;     /* the part's factor is `equal`; sending_write sets its
                          column */
    const char *label; /* compares: what devices call the label's column; NULL:
                          as the model's mechanism does */
    const char *path;  /* NULL: no file is written */
};

/* Makes the mechanism, in the campaign of the model's, and writes it. Statuses:
   FORMAT, BUDGET, LIMIT, IO, USAGE (a name that no mechanism can hold),
   MEMORY. */
SOTTO_CHECKED enum sotto_status
sending_write(const struct sotto_model *model, const struct sending_plan *plan,
              struct sotto_mechanism **ret_mechanism, struct sotto_error *err);

#endif
