/*
 * model.h: a classifier in memory: networks whose probabilities are averaged,
 * and the mechanism whose records they take.
 */
#ifndef SOTTO_LEARN_MODEL_H
#define SOTTO_LEARN_MODEL_H

#include "learn/codes/codes.h"
#include "learn/lattice/posterior.h"
#include "learn/lattice/prior.h"
#include "nn/graph.h"
#include "sotto/sotto.h"
#include "tensor/tensor.h"

struct rows;

#define MODEL_NETS_MAX 32u
#define MODEL_HIDDEN_MAX 8u
#define MODEL_WIDTH_MAX 65536u

struct model_net {
    struct nn_arena arena;
    struct nn_graph stack;
};

struct sotto_model {
    struct sotto_mechanism *mechanism;
    struct prior_shape shape; /* the mechanism's; zeros for a codebook's */
    struct codes_shape codes; /* a codebook's; cells 0: it is none */
    uint32_t layers;          /* of its encoder, that give z: the input */
    enum sotto_objective objective;
    enum sotto_level level;
    bool other; /* what is none of the label's categories is a class */
    size_t in, classes;
    uint32_t hidden[MODEL_HIDDEN_MAX];
    size_t hiddens;
    struct model_net *net; /* all of one shape */
    size_t nets;
    size_t points;   /* of the prior, with MARGINAL */
    int32_t *point;  /* points rows of shape.width */
    float *p;        /* points rows of classes: what the networks say of them */
    double *pi;      /* codebooks: cells, their shares among the people */
    double *tau;     /* cells rows of classes: what reports say */
    double *tau_bar; /* likewise: what the network makes of it */
    struct host_pool *pool;         /* made when first needed */
    struct tensor_backend *backend; /* likewise */
    uint64_t *confusion;            /* made by the first evaluation */
};

/* Entries that a network takes at a level, and classes it tells apart.
   Statuses: MEMORY, INPUT (nothing to learn from), USAGE (a level that is not
   for codebooks). */
SOTTO_CHECKED enum sotto_status
model_measure(const struct sotto_mechanism *mechanism, enum sotto_level level,
              bool other, size_t *ret_in, size_t *ret_classes,
              struct sotto_error *err);
/* Layers of a codebook mechanism that give z: all but the last, which gives the
   scores. */

/*
 * A model with networks that are planned and have no weights yet, and tables
 * of zeros if it is a codebook's. `mechanism` is copied. Statuses: MEMORY,
 * LIMIT, and those of model_measure.
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

/* predict.c: what the networks take of a row; `point` has room for
   model_point_width numbers. */
size_t model_point_width(const struct sotto_model *model);
void model_input(const struct sotto_model *model, struct rows *rows, size_t row,
                 int32_t *point, float *ret_input);
/* The class of every row (rows_class), which is none of the model's
   where it is not below model->classes. Statuses:
   INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status model_truth(struct sotto_model *model,
                                            const struct sotto_table *table,
                                            size_t *ret_truth,
                                            struct sotto_error *err);
/* The first of the largest. */
size_t model_likeliest(const double *p, size_t classes);

/* codes_send.c: whether reports of a mechanism are about the class that the
   model's network gives: sotto_model_mechanism_class made it. */
bool model_sends_class(const struct sotto_model *model,
                       const struct sotto_mechanism *mechanism);
/* pi and tau for such reports: a cell for each class, with the share that the
   cells have it in; the network is taken at its word. The shares, then a row
   for each: to free. NULL: no memory. */
double *model_class_tables(const struct sotto_model *model);

/* model_file.c: from bytes; `name` stands in messages for the file's path.
   Statuses: FORMAT, MEMORY, LIMIT. */
SOTTO_CHECKED enum sotto_status model_parse(const void *data, size_t size,
                                            const char *name,
                                            struct sotto_model **ret_model,
                                            struct sotto_error *err);

#endif
