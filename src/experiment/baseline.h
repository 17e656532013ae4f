/*
 * baseline.h: what papers compare with: people send a vector itself, pixels or
 * a representation, through a channel of vectors, and their label beside it.
 *
 *     auxiliary records --ranges, or the largest length--> where vectors lie
 *     x --clipped to it--> q --channel at lambda eps--> report --> estimate x~
 *     label --flip at (1 - lambda) eps--> report --> t(y) = p(report | y)
 *     max sum_i ln sum_y t_i(y) p(y | x~_i)                     (P0 Eq. 12)
 *
 * The network is learnt from unbiased estimates of noised vectors, as the
 * papers do, and tested on clean ones. Its weights' decay is the one, of a few,
 * whose network likes best a tenth of the reports, which it did not learn from.
 * docs/experiments.md, docs/idealised.md.
 */
#ifndef SOTTO_EXPERIMENT_BASELINE_H
#define SOTTO_EXPERIMENT_BASELINE_H

#include "channel/channel.h"
#include "experiment/trial.h"

struct host_pool;

/* Vectors of a table's rows, and their classes. */
struct baseline_vectors {
    size_t rows, d;
    float *x;
    size_t *truth; /* SIZE_MAX: no class */
};

/* baseline_vectors.c: of a mechanism's encoder; or, `raw`, what goes into it.
   Clear them in any case. Statuses: INPUT, MEMORY, STOPPED. */
SOTTO_CHECKED enum sotto_status baseline_vectors_init(
    struct baseline_vectors *vectors, struct sotto_mechanism *mechanism,
    const struct sotto_table *table, bool raw, struct host_pool *pool,
    const struct sotto_watch *watch, struct sotto_error *err);
void baseline_vectors_clear(struct baseline_vectors *vectors);

/*
 * baseline_vectors.c: where vectors lie: of a cube each entry's range, and of a
 * ball the largest length, both over auxiliary records. A vector beyond is
 * clipped: to the range, or to the ball along its direction.
 */
struct baseline_frame {
    enum channel_domain domain; /* cube (or lattice, of one entry) or ball */
    size_t d;
    double *middle, *half; /* of a cube's entries */
    double radius;         /* of a ball */
};
SOTTO_CHECKED enum sotto_status
baseline_frame_init(struct baseline_frame *frame, enum channel_domain domain,
                    const struct baseline_vectors *aux,
                    struct sotto_error *err);
void baseline_frame_clear(struct baseline_frame *frame);
/* A vector as a point of radius l, and an estimate of that as a vector. */
void baseline_frame_place(const struct baseline_frame *frame, const float *x,
                          uint32_t l, int32_t *ret_q);
void baseline_frame_return(const struct baseline_frame *frame,
                           const double *estimate, uint32_t l, float *ret_x);

/* ---- baseline_reports.c ---------------------------------------------------
 */

/* The domain of a channel of vectors, exact or idealised. Statuses: USAGE
   (there is none of that name, or it takes symbols). */
SOTTO_CHECKED enum sotto_status baseline_domain(const char *channel,
                                                enum channel_domain *ret_domain,
                                                struct sotto_error *err);

/*
 * Puts in place of every vector the estimate that its report gives at eps. A
 * lattice's channel takes one entry at a time, at eps / d. Row i is drawn from
 * (seed, i), whatever the number of threads. Statuses: USAGE, BUDGET, LIMIT,
 * MEMORY, STOPPED.
 */
SOTTO_CHECKED enum sotto_status
baseline_report(struct baseline_vectors *vectors,
                const struct baseline_frame *frame, const char *channel,
                double eps, uint64_t seed, struct host_pool *pool,
                const struct sotto_watch *watch, struct sotto_error *err);

/* ---- baseline.c -----------------------------------------------------------
 */

#define BASELINE_LAMBDA 0.7 /* P0 Table 7 */

/* The text that decides a row. */
void baseline_setting(const struct experiment_run *run,
                      const struct trial_encoder *encoder,
                      char text[EXPERIMENT_SETTING_SIZE]);
/* One fit, as trial_run. */
SOTTO_CHECKED enum sotto_status
baseline_run(struct trial *trial, const struct experiment_run *run,
             const struct experiment_fit *fit,
             const struct trial_encoder *encoder,
             struct experiment_outcome *ret_outcome, struct sotto_error *err);

#endif
