/*
 * lattice_fit.h: what a fit has at hand, and how its inputs are made.
 *
 *     reports -> labels, plan        fit_take_reports
 *     prior   -> points, x           fit_take_prior       MARGINAL
 *     reports -> posterior           fit_weigh_reports    MARGINAL
 *     reports -> x                   fit_take_estimates   otherwise
 *     records -> labels, plan, x     fit_take_table       clean ones
 *
 * Each leaves what it made in the struct also where it fails; fit.c clears it.
 */
#ifndef SOTTO_LEARN_LATTICE_FIT_H
#define SOTTO_LEARN_LATTICE_FIT_H

#include "learn/trainer.h"
#include "mechanism/crew.h"

struct fit {
    struct sotto_mechanism *mechanism;
    const struct sotto_fit_options *options;
    struct prior_shape shape;
    struct learn_setting setting;
    struct host_pool *pool;
    struct tensor_backend *backend;
    const uint8_t **report; /* in the order of the plan */
    size_t reports;
    struct labels labels;
    struct plan plan;
    struct prior prior;
    int32_t *point;
    size_t points;
    struct posterior *posterior;
    struct marginal marginal;
    float *x; /* rows of in */
    size_t rows, in;
    struct sotto_model *model;
    struct sotto_fit_info info;
};

/* What each report says of its class, and their order. Statuses: MEMORY and
   those of labels_init and plan_init. */
SOTTO_CHECKED enum sotto_status
fit_take_reports(struct fit *fit, const struct sotto_report_reader *reader,
                 struct sotto_error *err);

/* Where records may be: points from `aux` if it is not NULL, else from
   `analyst`. After fit_take_reports. Statuses: USAGE, INPUT, MEMORY,
   STOPPED. */
SOTTO_CHECKED enum sotto_status
fit_take_prior(struct fit *fit, const struct sotto_analyst *analyst,
               const struct sotto_table *aux, struct sotto_error *err);

/* Where each report's record may be. After fit_take_prior. Statuses: MEMORY,
   STOPPED and those of posterior_new. */
SOTTO_CHECKED enum sotto_status fit_weigh_reports(struct fit *fit,
                                                  struct sotto_error *err);

/* z~ / l of every report, decoded for the feature level. After
   fit_take_reports. Statuses: USAGE, INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status
fit_take_estimates(struct fit *fit, const struct sotto_analyst *analyst,
                   struct sotto_error *err);

/* Rows with a known class, as they are; of a codebook's model also its tables.
   Statuses: MEMORY, STOPPED and those of
   labels_init_clean and plan_init. */
SOTTO_CHECKED enum sotto_status
fit_take_table(struct fit *fit, struct crew *crew, struct sotto_error *err);

/* Calls task with every number below n, a thousand at a time, and tells of it
   as "encoding". Statuses: STOPPED. */
SOTTO_CHECKED enum sotto_status fit_encode(struct crew *crew, size_t n,
                                           const struct sotto_watch *watch,
                                           crew_task *task, void *context,
                                           struct sotto_error *err);
/* `used` of `count` numbers by lot, ascending. */
void fit_draw(uint64_t seed, size_t count, size_t used, size_t *ret_row);

/* fit.c: what every way of fitting begins with. Statuses: USAGE, MEMORY, LIMIT,
 * INPUT. */
SOTTO_CHECKED enum sotto_status
fit_init(struct fit *fit, struct sotto_mechanism *mechanism,
         const struct sotto_fit_options *options, bool clean,
         struct sotto_error *err);
/* Hands the model over if all went well, and clears the rest. */
enum sotto_status fit_end(struct fit *fit, enum sotto_status status,
                          struct sotto_model **ret_model,
                          struct sotto_fit_info *ret_info);

/* codes_fit.c: sotto_fit for a codebook's mechanism. */
SOTTO_CHECKED enum sotto_status fit_codes(
    struct sotto_mechanism *mechanism, const struct sotto_report_reader *reader,
    const struct sotto_analyst *analyst, const struct sotto_table *aux,
    const struct sotto_fit_options *options, struct sotto_model **ret_model,
    struct sotto_fit_info *ret_info, struct sotto_error *err);
/* z and the device's own code of a row. `scores` has room for the outputs. */
uint32_t fit_encode_code(const struct sotto_model *model, struct rows *rows,
                         size_t row, float *scores, float *ret_z);
/* The tables of a codebook's model from codes and classes of n clean records.
   Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status fit_count_codes(struct sotto_model *model,
                                                const uint32_t *code,
                                                const size_t *truth, size_t n,
                                                struct sotto_error *err);

#endif
