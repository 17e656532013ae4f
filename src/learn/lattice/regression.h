/*
 * regression.h: the learner for reports beside a label that is one number:
 * what is its own in a model (docs/regression.md).
 *
 *     y in cells g of [-1, 1], the label's range: the classes of the model
 *     p(g | mu) ~ exp(-(c_g - mu)^2 / 2 sigma^2)
 *     mu(x) = theta . phi(x),    phi = 1, (x - shift) scale, tanh(W phi + b)
 *
 * C is how well the reports know theta: a prediction is the mean over mu with
 * the variance phi' C phi, so as wide as they leave it.
 */
#ifndef SOTTO_LEARN_REGRESSION_H
#define SOTTO_LEARN_REGRESSION_H

#include "learn/lattice/prior.h"
#include "learn/lattice/regression_solve.h"
#include "learn/learner.h"

extern const struct learner learner_regression;

struct regression {
    struct prior_shape shape; /* the mechanism's */
    size_t in;                /* entries of an input */
    size_t hidden;            /* terms that are a tanh of a random line */
    size_t terms;             /* 1 + in + hidden */
    float *shift, *scale;     /* in of each */
    float *line;              /* hidden rows of 1 + in: b, then W */
    double *theta;            /* terms, and ln sigma */
    double *covariance;       /* C: terms x terms */
    double *cell;             /* c_g: of model->classes cells */
    size_t points;            /* of the prior; 0: learnt from clean records */
    int32_t *point;           /* points rows of shape.width */
};

static inline struct regression *
regression_of(const struct sotto_model *model)
{
    return model->own;
}

/* regression.c: makes the model's own from its mechanism, and its cells. The
   weights are not set. Statuses: INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status regression_new(struct sotto_model *model,
                                               size_t hidden,
                                               struct sotto_error *err);
/* Sets phi of an input. */
void regression_terms(const struct regression *regression, const float *input,
                      float *ret_phi);

/* regression_fit.c */
SOTTO_CHECKED enum sotto_status regression_fit(struct sotto_model *model,
                                               const struct learn_job *job,
                                               struct sotto_fit_info *ret_info,
                                               struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
regression_fit_clean(struct sotto_model *model, const struct learn_job *job,
                     struct sotto_fit_info *ret_info, struct sotto_error *err);

/* regression_predict.c */
SOTTO_CHECKED enum sotto_status
regression_predict(struct sotto_model *model, const struct sotto_table *table,
                   double *ret_p, struct sotto_error *err);
SOTTO_CHECKED enum sotto_status regression_predict_private(
    struct sotto_model *model, const struct sotto_mechanism *mechanism,
    const uint8_t *reports, size_t n, double *ret_p, struct sotto_error *err);

/* regression_file.c */
void regression_write(const struct sotto_model *model,
                      struct model_tensors *to);
SOTTO_CHECKED enum sotto_status regression_read(struct sotto_model *model,
                                                const struct safetensors *file,
                                                struct sotto_error *err);

#endif
