/*
 * record_net.h: a network on the record itself, trained on what is known of
 * the records' labels. Learners that hold records share it.
 *
 *     x --layers--> logits --softmax--> p(y | x)
 *
 * What is known of a label is what a report says of it (Eq. 12), or a
 * distribution over the classes:
 *
 *     labels    sum_i ln sum_y t_i(y) p(y | x_i)
 *     target    sum_i sum_y t_i(y) ln p(y | x_i)
 */
#ifndef SOTTO_LEARN_RECORD_NET_H
#define SOTTO_LEARN_RECORD_NET_H

#include "encode/layer.h"
#include "learn/labels.h"
#include "sotto/sotto.h"
#include "tensor/tensor.h"

struct host_pool;

#define RECORD_LAYERS_MAX 24u

/* What it is fitted to. */
struct record_data {
    float *x; /* n rows of width; scaled and put back where that helps */
    size_t n, width, classes;
    struct sotto_image image;    /* all 0: x is none */
    const struct labels *labels; /* of the rows; NULL: their target */
    const float *target;         /* n rows of classes, each with sum 1 */
    uint64_t seed;
    double validation; /* share of the rows that only score */
};

/* How it is trained. */
struct record_plan {
    double rate, decay;
    double views; /* strength of the images' distortions; 0: none */
    uint32_t epochs, batch;
    uint64_t stream; /* of the rows' order and the first weights */
    bool even;       /* the inputs are made even first; of dense layers alone */
    struct host_pool *pool;
    struct tensor_backend *backend;
    const struct sotto_watch *watch;
    const char *what;
};

/* Layers as a device runs them, weights in `room`. */
struct record_net {
    struct layer layer[RECORD_LAYERS_MAX];
    size_t layers;
    float *room;
};

struct record_fitted {
    uint64_t epochs;
    double log_p, validation; /* means over rows; validation 0: none */
};

/* Adds a layer. Statuses: LIMIT. */
SOTTO_CHECKED enum sotto_status record_net_add(struct record_net *net,
                                               struct layer layer,
                                               struct sotto_error *err);
/* Trains the layers from the weights they have, or by lot where they have
   none; then they have those found. Clear the net in any case. Statuses:
   MEMORY, LIMIT, STOPPED, INPUT. */
SOTTO_CHECKED enum sotto_status
record_net_train(struct record_net *net, const struct record_data *data,
                 const struct record_plan *plan,
                 struct record_fitted *ret_fitted, struct sotto_error *err);
/* What layers make of x, n rows of the last one's outputs. Statuses: MEMORY,
   LIMIT. */
SOTTO_CHECKED enum sotto_status
record_net_run(const struct layer *layer, size_t layers, const float *x,
               size_t n, size_t width, struct tensor_backend *backend,
               float *ret_z, struct sotto_error *err);
void record_net_clear(struct record_net *net);

/* The image that a column of the table is, where x of that width is it alone;
   else all 0. */
struct sotto_image record_net_image(const struct sotto_table *table,
                                    const char *column, size_t width);

#endif
