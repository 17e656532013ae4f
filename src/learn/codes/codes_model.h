/*
 * codes_model.h: the learner for reports about codes of a codebook and labels
 * (docs/codebook.md): what is its own in a model.
 */
#ifndef SOTTO_LEARN_CODES_MODEL_H
#define SOTTO_LEARN_CODES_MODEL_H

#include "learn/codes/classifier.h"
#include "learn/codes/expected.h"
#include "learn/learner.h"

extern const struct learner learner_codes;

struct codes_model {
    struct codes_shape shape; /* the mechanism's */
    uint32_t layers;          /* of its encoder, that give z */
    size_t in;                /* entries of z */
    struct classifier *classifier;
    struct sotto_mechanism *last; /* whose encoder is a network on the record
                                     itself, its outputs the logits:
                                     codes_last.h; NULL: none */
};

static inline struct codes_model *
codes_of(const struct sotto_model *model)
{
    return model->own;
}

/*
 * Makes the model's own from its mechanism, without a classifier; `other` says
 * whether "(other)" is a class. Statuses: INPUT, USAGE (a level that is not for
 * codebooks), MEMORY.
 */
SOTTO_CHECKED enum sotto_status codes_model_new(struct sotto_model *model,
                                                bool other,
                                                enum sotto_level level,
                                                struct sotto_error *err);
/* Returns what its cells tell of classes; not to be cleared. */
struct expected_cells codes_model_cells(const struct sotto_model *model);

/* codes_fit.c */
bool codes_tallies(const struct sotto_mechanism *mechanism);
SOTTO_CHECKED enum sotto_status
codes_check(const struct sotto_mechanism *mechanism,
            const struct learn_job *job, struct sotto_error *err);
SOTTO_CHECKED enum sotto_status codes_fit(struct sotto_model *model,
                                          const struct learn_job *job,
                                          struct sotto_fit_info *ret_info,
                                          struct sotto_error *err);
SOTTO_CHECKED enum sotto_status codes_fit_clean(struct sotto_model *model,
                                                const struct learn_job *job,
                                                struct sotto_fit_info *ret_info,
                                                struct sotto_error *err);

/* codes_file.c */
void codes_write(const struct sotto_model *model, struct model_tensors *to);
SOTTO_CHECKED enum sotto_status codes_read(struct sotto_model *model,
                                           const struct safetensors *file,
                                           struct sotto_error *err);

/* codes_send.c: the encoder up to z, and a network behind it. */
SOTTO_CHECKED enum sotto_status codes_device(const struct sotto_model *model,
                                             size_t network,
                                             struct device_net *ret_net,
                                             struct sotto_error *err);
/* Whether reports of a mechanism are about the class that the
   model's network gives: sotto_model_mechanism_class made it. */
bool codes_sends_class(const struct sotto_model *model,
                       const struct sotto_mechanism *mechanism);
/* Sets pi and tau for such reports: a cell for each class, with the share that
   the cells have it in; the network is taken at its word. expected_cells_clear
   frees them. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
codes_class_cells(const struct sotto_model *model,
                  struct expected_cells *ret_cells, struct sotto_error *err);

#endif
