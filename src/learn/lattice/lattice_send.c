/*
 * lattice_send.c: a lattice's classifier as layers that a device runs.
 *
 * A network f takes nu(z) = z / s, s = max(1, |z|_1) (P0 Eq. 4), and a device's
 * layers do not divide. But f has dense layers with ReLU between them: with
 * every bias times s,
 *
 *     relu(W_1 z + s b_1) = s relu(W_1 nu(z) + b_1),
 *
 * and so on to s f(nu(z)), whose largest entry is f's. With s = 1 + t:
 *
 *     z -> (z+, z-)              z+ = relu(z), z- = relu(-z)
 *       -> (z+, z-, t)           t = relu(|z+|_1 + |z-|_1 - 1)
 *       -> (h, t) ...            h = relu(W_1 (z+ - z-) + b_1 t + b_1)
 *       -> W_n h + b_n t + b_n
 *
 * The rounding of nu(z) to steps of 1/l is left out.
 */
#include <string.h>

#include "host/error.h"
#include "learn/lattice/lattice.h"

/* The part of the mechanism that is the network's input, if it is one block of
   the lattice; else NULL. */
static const struct shape_part *
find_block(const struct sotto_model *model)
{
    const struct prior_shape *prior = &lattice_of(model)->shape;
    const struct shape *shape = &model->mechanism->shape;
    if (prior->blocks != 1 ||
        prior->block[0].likelihood->instance->channel->domain !=
            CHANNEL_DOMAIN_LATTICE) {
        return NULL;
    }
    for (size_t i = 0; i < shape->parts; i++) {
        if (shape->part[i].instance == prior->block[0].likelihood->instance) {
            return &shape->part[i];
        }
    }
    return NULL;
}

/* Takes room for a dense layer, whose weights are all 0. */
static float *
add_dense(struct device_net *net, float **room, size_t in, size_t out,
          enum activation activation)
{
    float *weight = *room;
    net->layer[net->layers++] = (struct layer){.in = (uint32_t)in,
                                               .out = (uint32_t)out,
                                               .activation = activation,
                                               .weight = weight,
                                               .bias = weight + in * out};
    *room += (in + 1) * out;
    return weight;
}

/* Adds z -> (z+, z-) -> (z+, z-, t), of d entries of z. */
static void
add_norm(struct device_net *net, float **room, size_t z, size_t from, size_t d)
{
    size_t both = 2 * d;
    float *weight = add_dense(net, room, z, both, ACTIVATION_RELU);
    for (size_t i = 0; i < d; i++) {
        weight[i * z + from + i] = 1;
        weight[(d + i) * z + from + i] = -1;
    }
    weight = add_dense(net, room, both, both + 1, ACTIVATION_RELU);
    for (size_t i = 0; i < both; i++) {
        weight[i * both + i] = 1;
        weight[both * both + i] = 1;
    }
    weight[both * (both + 1) + both] = -1; /* the bias of t */
}

/* Adds a layer of the network. The first one takes (z+, z-, t), the others
   (h, t); all but the last hand t on. */
static void
add_scaled(struct device_net *net, float **room, const struct layer *own,
           bool first, bool last)
{
    size_t in = own->in * (first ? 2u : 1u) + 1, out = own->out + !last;
    float *weight = add_dense(net, room, in, out, own->activation);
    for (size_t i = 0; i < own->out; i++) {
        float *row = weight + i * in;
        for (size_t j = 0; j < own->in; j++) {
            row[j] = own->weight[i * own->in + j];
            if (first) {
                row[own->in + j] = -row[j];
            }
        }
        row[in - 1] = own->bias[i];
        weight[in * out + i] = own->bias[i];
    }
    if (!last) {
        weight[own->out * in + in - 1] = 1;
    }
}

/* Counts the weights and biases of the layers behind z. */
static size_t
count_floats(const struct nn_graph *stack, size_t z, size_t d)
{
    size_t floats = (z + 1) * 2 * d + (2 * d + 1) * (2 * d + 1);
    for (size_t i = 0; i < stack->layers; i++) {
        const struct nn_place *place = &stack->layer[i];
        floats += (2 * place->in + 2) * (place->out + 1);
    }
    return floats;
}

static enum sotto_status
join_latent(const struct sotto_model *model, const struct nn_graph *stack,
            struct device_net *ret_net, struct sotto_error *err)
{
    const struct shape *shape = &model->mechanism->shape;
    const struct shape_part *block = find_block(model);
    enum sotto_status status;
    float *room;
    if (block == NULL) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a device cannot compute what the model classifies: "
                         "only numbers that go together through laplace, "
                         "records themselves and codes");
    }
    status = device_net_init(ret_net, shape->layers + 2 + stack->layers,
                             count_floats(stack, shape->z, block->width), err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    room = ret_net->room;
    device_net_add_encoder(ret_net, model->mechanism, shape->layers);
    add_norm(ret_net, &room, shape->z, block->from, block->width);
    for (size_t i = 0; i < stack->layers; i++) {
        struct layer own = device_net_layer(stack, i);
        add_scaled(ret_net, &room, &own, i == 0, i + 1 == stack->layers);
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
lattice_device(const struct sotto_model *model, size_t network,
               struct device_net *ret_net, struct sotto_error *err)
{
    const struct networks *networks = &lattice_of(model)->networks;
    const struct nn_graph *stack = &networks->net[network].stack;
    enum sotto_status status;
    if (networks->plan.level == SOTTO_LEVEL_LATENT) {
        return join_latent(model, stack, ret_net, err);
    }
    status = device_net_init(ret_net, stack->layers, 0, err);
    if (status == SOTTO_STATUS_OK) {
        device_net_add_stack(ret_net, stack);
    }
    return status;
}
