/*
 * marginal.h: the likelihood of reports under all points of the prior, and its
 * gradient.
 *
 *     P0 Eq. 11   log s_n = log sum_m w_nm sum_y t_n(y) p(y | q_m)
 *
 * p are a network's probabilities for every point of the prior; dp is the
 * gradient of scale times the sum of -log s_n.
 */
#ifndef SOTTO_LEARN_MARGINAL_H
#define SOTTO_LEARN_MARGINAL_H

#include "learn/labels.h"
#include "learn/lattice/posterior.h"

struct host_pool;

/* Eq. 11 over the chunks of a plan. */
struct marginal {
    const struct posterior *posterior;
    const struct labels *labels;
    const struct plan *plan;
    struct host_pool *pool;
    const float *weight; /* of every row of the plan; NULL: 1 each */
    float *v;            /* padded, one a worker */
    float *a;            /* padded, one a task of a wave */
    double *log_s;       /* one a task */
    float *turned; /* where groups are many: p, then dp, as rows of classes */
};

/* Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
marginal_init(struct marginal *marginal, const struct posterior *posterior,
              const struct labels *labels, const struct plan *plan,
              struct host_pool *pool, struct sotto_error *err);
void marginal_clear(struct marginal *marginal);
/*
 * Sum of weight_n log s_n over the chunks from `first` to before `end`; p is
 * points rows of classes. `dp`, unless NULL, is added to.
 */
double marginal_pass(struct marginal *marginal, size_t first, size_t end,
                     const float *p, double scale, float *dp);

/* The same over a batch of the plan, for a trainer (trainer_pass); `context` is
   the struct. */
double marginal_batch(void *context, size_t batch, const float *weight,
                      const float *p, double scale, float *dp);

#endif
