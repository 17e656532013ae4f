/*
 * trainer.h: training one network on an objective, in batches.
 */
#ifndef SOTTO_LEARN_TRAINER_H
#define SOTTO_LEARN_TRAINER_H

#include "learn/networks.h"
#include "learn/objective.h"
#include "learn/options.h"

/*
 * Returns the sum of weight_n log s_n over the reports of a batch, from what
 * the network says of all of x, and adds to `dp`, unless it is NULL, the
 * gradient of -scale times that. `weight` is of every row of the plan; NULL:
 * 1 each.
 */
typedef double trainer_pass(void *context, size_t batch, const float *weight,
                            const float *p, double scale, float *dp);

/*
 * What there is to learn from. With `pass`, x are the points of a prior (Eq.
 * 11), all of them in every batch; without, x are the reports' own, in the
 * order of the plan (Eq. 12).
 */
struct trainer {
    struct tensor_backend *backend;
    const struct labels *labels;
    const struct plan *plan;
    const struct learn_options *options; /* settled */
    trainer_pass *pass;                  /* NULL: Eq. 12 */
    void *context;
    const float *weight; /* of the reports, in a bootstrap; else NULL */
    const float *x;
    size_t rows, in; /* of x */
    float *p, *dp;   /* of as many rows as go through the network at a time */
    size_t room;     /* that many */
};

/* Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status trainer_init(struct trainer *trainer,
                                             struct sotto_error *err);
void trainer_clear(struct trainer *trainer);

/* The sum of log s over a batch (or, for the last, the validation reports).
   With `gradient`, that of the mean of -log s goes to the network's arena. */
double trainer_batch(const struct trainer *trainer, struct nn_graph *stack,
                     size_t batch, bool gradient);

/*
 * The Bayesian bootstrap: what each row of the plan weighs for the network of a
 * stream. The weights have mean 1 and none is below 0; for stream 0, and
 * without `bootstrap`, all are 1.
 */
void trainer_weights(const struct trainer *trainer, uint64_t stream,
                     float *ret_weight);

struct trainer_result {
    uint64_t epochs;
    double log_p, validation; /* means over reports */
};
/*
 * Trains a network from (seed, stream), and leaves the weights with the best
 * validation score in it. Statuses: MEMORY, LIMIT, STOPPED.
 */
SOTTO_CHECKED enum sotto_status trainer_run(struct trainer *trainer,
                                            struct network *net,
                                            uint64_t stream, uint64_t streams,
                                            struct trainer_result *ret_result,
                                            struct sotto_error *err);

/* Shift and scale of every entry of x, so that they have mean 0 and a
   deviation of about 1; applied to x; and undone in a network's first layer,
   which then takes x as it was. */
void inputs_moments(const float *x, size_t rows, size_t in, float *ret_shift,
                    float *ret_scale);
void inputs_apply(float *x, size_t rows, size_t in, const float *shift,
                  const float *scale);
void inputs_fold(struct nn_graph *stack, const float *shift,
                 const float *scale);

#endif
