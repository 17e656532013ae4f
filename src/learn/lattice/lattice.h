/*
 * lattice.h: the learner for reports about numbers and symbols beside a label
 * (P0 Eq. 11 and 12): what is its own in a model.
 */
#ifndef SOTTO_LEARN_LATTICE_H
#define SOTTO_LEARN_LATTICE_H

#include "learn/lattice/posterior.h"
#include "learn/learner.h"

extern const struct learner learner_lattice;

struct lattice {
    struct prior_shape shape; /* the mechanism's */
    struct networks networks;
    size_t points;  /* of the prior, with MARGINAL */
    int32_t *point; /* points rows of shape.width */
    float *p;       /* points rows of classes: what the networks say of them */
};

static inline struct lattice *
lattice_of(const struct sotto_model *model)
{
    return model->own;
}

/*
 * Makes the model's own from its mechanism: the shape; `other` says whether
 * "(other)" is a class. Statuses: INPUT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
lattice_new(struct sotto_model *model, bool other, struct sotto_error *err);
/* Returns the entries that a network takes at a level. */
size_t lattice_inputs(const struct sotto_model *model, enum sotto_level level);

/* lattice_fit.c */
SOTTO_CHECKED enum sotto_status
lattice_check(const struct sotto_mechanism *mechanism,
              const struct learn_job *job, struct sotto_error *err);
SOTTO_CHECKED enum sotto_status lattice_fit(struct sotto_model *model,
                                            const struct learn_job *job,
                                            struct sotto_fit_info *ret_info,
                                            struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
lattice_fit_clean(struct sotto_model *model, const struct learn_job *job,
                  struct sotto_fit_info *ret_info, struct sotto_error *err);

/* lattice_predict.c: `room` is for a point: shape.width numbers of int32_t. */
void lattice_input(const struct sotto_model *model, struct rows *rows,
                   size_t row, void *room, float *ret_input);
SOTTO_CHECKED enum sotto_status lattice_predict(struct sotto_model *model,
                                                const struct sotto_table *table,
                                                double *ret_p,
                                                struct sotto_error *err);
SOTTO_CHECKED enum sotto_status lattice_predict_private(
    struct sotto_model *model, const struct sotto_mechanism *mechanism,
    const uint8_t *reports, size_t n, double *ret_p, struct sotto_error *err);

/* lattice_send.c */
SOTTO_CHECKED enum sotto_status lattice_device(const struct sotto_model *model,
                                               size_t network,
                                               struct device_net *ret_net,
                                               struct sotto_error *err);

/* lattice_file.c */
void lattice_write(const struct sotto_model *model, struct model_tensors *to);
SOTTO_CHECKED enum sotto_status lattice_read(struct sotto_model *model,
                                             const struct safetensors *file,
                                             struct sotto_error *err);

#endif
