/*
 * model.h: a classifier in memory: the learner that made it, what is the
 * learner's own, and the mechanism whose records it takes.
 */
#ifndef SOTTO_LEARN_MODEL_H
#define SOTTO_LEARN_MODEL_H

#include "learn/networks.h"
#include "sotto/sotto.h"
#include "tensor/tensor.h"

struct host_pool;
struct learner;
struct rows;

struct sotto_model {
    const struct learner *learner;
    void *own; /* the learner's */
    struct sotto_mechanism *mechanism;
    size_t classes;
    size_t column;    /* the label's; SIZE_MAX: it is combined of several */
    bool clean;       /* fitted to clean records or labels: it tells of them */
    unsigned threads; /* of the pool; 0: all cores */
    struct host_pool *pool;         /* made when first needed */
    struct tensor_backend *backend; /* likewise */
    struct sotto_scores *scores;    /* of the last evaluation; NULL: none */
    double *value;   /* of a label that is a number: what each class stands for;
                        NULL: the classes are names */
    size_t features; /* likewise: the setting */
    double *edge;    /* likewise: class y is from edge[y] to edge[y + 1] */
};

/* Makes an empty model, for the learner to fill. It copies the mechanism.
   Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
model_new(const struct learner *learner,
          const struct sotto_mechanism *mechanism,
          struct sotto_model **ret_model, struct sotto_error *err);

/* Makes the pool and the back-end if there are none yet. Statuses: MEMORY,
 * LIMIT, IO. */
SOTTO_CHECKED enum sotto_status model_backend(struct sotto_model *model,
                                              struct sotto_error *err);

/* predict.c: writes what the networks take of a row. */
typedef void model_input(const struct sotto_model *model, struct rows *rows,
                         size_t row, void *room, float *ret_input);
/* Predicts every row of a table by networks whose inputs these are; `room`
   numbers are a thread's own. Statuses: INPUT, MEMORY, LIMIT, IO. */
SOTTO_CHECKED enum sotto_status
model_predict_rows(struct sotto_model *model, const struct networks *networks,
                   model_input *input, size_t room,
                   const struct sotto_table *table, double *ret_p,
                   struct sotto_error *err);
/* Predicts every row of a table by a mechanism's encoder, whose outputs are the
   logits of the classes. Statuses: INPUT, MEMORY, LIMIT, IO. */
SOTTO_CHECKED enum sotto_status model_predict_logits(
    struct sotto_model *model, struct sotto_mechanism *mechanism,
    const struct sotto_table *table, double *ret_p, struct sotto_error *err);
/* Finds the class of every row (rows_class), which is none of the model's
   where it is not below model->classes. Statuses: INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status model_truth(struct sotto_model *model,
                                            const struct sotto_table *table,
                                            size_t *ret_truth,
                                            struct sotto_error *err);
/* Sets the mean answer to every row of a table: to simulated reports of
   `mechanism`, or, if it is NULL, to the records. Statuses: INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status
model_predict_table(struct sotto_model *model,
                    struct sotto_mechanism *mechanism,
                    const struct sotto_table *table, uint64_t seed,
                    double *ret_p, struct sotto_error *err);
/* Returns the first of the largest. */
size_t model_likeliest(const double *p, size_t classes);

/* ---- A number for the label (model_number.c) ------------------------------
 */

/* Makes the classes of a model ranges of a column's numbers, for its learner to
   fill `value` and `edge`. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status model_number(struct sotto_model *model,
                                             size_t column, size_t classes,
                                             struct sotto_error *err);
/* Returns a row's own number; NAN: it has none. */
double model_number_truth(const struct sotto_model *model,
                          const struct rows *rows, size_t row);
/* Returns the class whose range a number lies in: beyond all, the nearest. */
size_t model_number_class(const struct sotto_model *model, double number);

/* ---- Files (model_file.c) ------------------------------------------------ */

#define MODEL_NAME_SIZE                                                        \
    64u /* "net", ".", ".bias", two numbers of 20 digits                       \
         */

/* What goes into a model's file; a learner adds its own. */
struct model_tensors {
    json_t *metadata;
    struct safetensors_entry *entry;
    char (*name)[MODEL_NAME_SIZE];
    size_t count, room;
    bool failed; /* no memory */
};
/* Adds a tensor: a matrix, or a vector if columns is 0. `data` must outlive the
   struct. */
void model_tensors_add(struct model_tensors *tensors, const char *name,
                       enum safetensors_type type, size_t rows, size_t columns,
                       const void *data);
/* Adds a field of the metadata, whose value it takes over. */
void model_tensors_say(struct model_tensors *tensors, const char *name,
                       json_t *value);

/* Returns how many fields the metadata has besides a learner's own. */
size_t model_fields(const json_t *metadata);

/* Reads a model from bytes; `name` stands in messages for the file's path.
   Statuses: FORMAT, MEMORY, LIMIT. */
SOTTO_CHECKED enum sotto_status model_parse(const void *data, size_t size,
                                            const char *name,
                                            struct sotto_model **ret_model,
                                            struct sotto_error *err);

#endif
