/*
 * networks.h: the classifiers inside a model: networks of one shape, whose
 * probabilities are averaged. Every learner of ours has some.
 */
#ifndef SOTTO_LEARN_NETWORKS_H
#define SOTTO_LEARN_NETWORKS_H

#include "host/safetensors.h"
#include "learn/options.h"
#include "nn/graph.h"
#include "sotto/sotto.h"
#include "tensor/tensor.h"

struct model_tensors;

#define NETWORKS_MAX 32u
#define NETWORKS_HIDDEN_MAX 8u
#define NETWORKS_WIDTH_MAX 65536u

struct network {
    struct nn_arena arena;
    struct nn_graph stack;
};

/* How they were fitted, and their layers: what a model's file says of them. */
struct networks_plan {
    enum sotto_objective objective;
    enum sotto_level level;
    bool other; /* what is none of the label's categories is a class */
    uint32_t hidden[NETWORKS_HIDDEN_MAX];
    size_t hiddens;
    size_t count; /* networks */
};

struct networks {
    struct networks_plan plan;
    size_t in, classes;
    struct network *net;
    size_t count; /* those that are left of the plan's */
};

/* Takes objective, level, other and the hidden layers from the options: one
   layer of 50, if they name none and do not say linear. Statuses: LIMIT. */
SOTTO_CHECKED enum sotto_status
networks_plan_init(struct networks_plan *plan,
                   const struct learn_options *options, size_t count,
                   struct sotto_error *err);

/* Plans the networks and makes room for their weights, which are not set.
   Statuses: INPUT (inputs of no entries), MEMORY, LIMIT; there is nothing to
   clear then. */
SOTTO_CHECKED enum sotto_status networks_init(struct networks *networks,
                                              const struct networks_plan *plan,
                                              size_t in, size_t classes,
                                              struct sotto_error *err);
void networks_clear(struct networks *networks);

/* Sets the mean probabilities of n inputs (rows of in) in `ret_p` (rows of
   classes). Statuses: MEMORY, LIMIT. */
SOTTO_CHECKED enum sotto_status
networks_forward(const struct networks *networks,
                 struct tensor_backend *backend, const float *input, size_t n,
                 float *ret_p, struct sotto_error *err);

/* Swaps two networks, and drops all but the first. */
void networks_swap(struct networks *networks, size_t i, size_t j);
void networks_drop(struct networks *networks);

/* networks_file.c: writes "netN.L.weight" and "netN.L.bias", and the plan as
   metadata. */
void networks_write(const struct networks *networks, struct model_tensors *to);
/* Reads the plan. Statuses: FORMAT. */
SOTTO_CHECKED enum sotto_status
networks_plan_read(const json_t *metadata, struct networks_plan *ret_plan,
                   struct sotto_error *err);
/* Checks that the file has the networks it speaks of, and `others` tensors
   besides, before room is made for them: so a small file cannot ask for much
   memory. Statuses: FORMAT. */
SOTTO_CHECKED enum sotto_status networks_check(const struct safetensors *file,
                                               const struct networks_plan *plan,
                                               size_t in, size_t classes,
                                               size_t others,
                                               struct sotto_error *err);
/* Reads the weights. Statuses: FORMAT. */
SOTTO_CHECKED enum sotto_status networks_read(const struct safetensors *file,
                                              const struct networks *networks,
                                              struct sotto_error *err);
/* Reads a tensor of finite floats; a vector, if rank is 1. Statuses: FORMAT. */
SOTTO_CHECKED enum sotto_status
networks_read_floats(const struct safetensors *file, const char *name,
                     size_t rank, size_t rows, size_t columns, float *ret,
                     struct sotto_error *err);

#endif
