/*
 * model.h: a classifier in memory: networks whose probabilities are averaged,
 * and the mechanism whose records they take.
 */
#ifndef SOTTO_LEARN_MODEL_H
#define SOTTO_LEARN_MODEL_H

#include "learn/posterior.h"
#include "learn/prior.h"
#include "nn/stack.h"
#include "sotto/sotto.h"
#include "tensor/tensor.h"

#define MODEL_NETS_MAX 32u
#define MODEL_HIDDEN_MAX 8u
#define MODEL_WIDTH_MAX 65536u

struct model_net {
    struct nn_arena arena;
    struct nn_stack stack;
};

struct sotto_model {
    struct sotto_mechanism *mechanism;
    struct prior_shape shape; /* the mechanism's */
    enum sotto_objective objective;
    enum sotto_level level;
    bool other; /* what is none of the label's categories is a class */
    size_t in, classes;
    uint32_t hidden[MODEL_HIDDEN_MAX];
    size_t hiddens;
    struct model_net *net; /* all of one shape */
    size_t nets;
    size_t points;  /* of the prior, with MARGINAL */
    int32_t *point; /* points rows of shape.width */
    float *p;       /* points rows of classes: what the networks say of them */
    struct tensor_backend *backend; /* made when first needed */
    uint64_t *confusion;            /* made by the first evaluation */
};

/* Entries that a network takes at a level. */
size_t model_inputs(const struct prior_shape *shape,
                    const struct sotto_mechanism *mechanism,
                    enum sotto_level level);

/*
 * A model with networks that are planned and have no weights yet. `mechanism`
 * is copied. Statuses: MEMORY, LIMIT, INPUT (prior_shape_init's).
 */
SOTTO_CHECKED enum sotto_status
model_new(const struct sotto_mechanism *mechanism,
          enum sotto_objective objective, enum sotto_level level, bool other,
          const uint32_t *hidden, size_t hiddens, size_t nets,
          struct sotto_model **ret_model, struct sotto_error *err);

/*
 * Mean probabilities of n inputs (rows of model->in) into `ret_p` (rows of
 * classes). Statuses: MEMORY, LIMIT, IO.
 */
SOTTO_CHECKED enum sotto_status model_forward(struct sotto_model *model,
                                              const float *input, size_t n,
                                              float *ret_p,
                                              struct sotto_error *err);
/* The backend, made if there is none yet. Statuses: MEMORY, LIMIT, IO. */
SOTTO_CHECKED enum sotto_status model_backend(struct sotto_model *model,
                                              struct sotto_error *err);

/* Whether one network can stand for all: not where a prior was weighed whose
   records are not kept. Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status
model_check_keep(const struct sotto_model *model, struct sotto_error *err);
/*
 * Drops all networks but one, and what the others said of the prior; on
 * failure none. Statuses: MEMORY, LIMIT, IO, and those of model_check_keep.
 */
SOTTO_CHECKED enum sotto_status
model_keep(struct sotto_model *model, size_t network, struct sotto_error *err);

/* predict.c: the class of every row (rows_class), which is none of the model's
   where it is not below model->classes. Statuses:
   INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status model_truth(struct sotto_model *model,
                                            const struct sotto_table *table,
                                            size_t *ret_truth,
                                            struct sotto_error *err);
/* The first of the largest. */
size_t model_likeliest(const double *p, size_t classes);

/* model_file.c: from bytes; `name` stands in messages for the file's path.
   Statuses: FORMAT, MEMORY, LIMIT. */
SOTTO_CHECKED enum sotto_status model_parse(const void *data, size_t size,
                                            const char *name,
                                            struct sotto_model **ret_model,
                                            struct sotto_error *err);

#endif
