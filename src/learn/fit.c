/*
 * fit.c: a model from reports, or from clean records, by the learner that takes
 * the mechanism.
 *
 * All of it is on the collector's side of the noise: what is done to reports
 * costs no privacy (post-processing).
 */
#include <string.h>

#include "host/error.h"
#include "learn/labelled.h"
#include "learn/learner.h"
#include "learn/support.h"
#include "mechanism/mechanism.h"

const struct learner *
learner_find(const char *name, const struct sotto_mechanism *mechanism)
{
    for (size_t i = 0; learner_table[i] != NULL; i++) {
        const struct learner *learner = learner_table[i];
        if ((name == NULL || strcmp(learner->name, name) == 0) &&
            learner->takes(mechanism)) {
            return learner;
        }
    }
    return NULL;
}

static enum sotto_status
take_learner(const char *name, const struct sotto_mechanism *mechanism,
             const struct learner **ret_learner, struct sotto_error *err)
{
    *ret_learner = learner_find(name, mechanism);
    return *ret_learner != NULL
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "the mechanism's reports are none that %.40s could "
                           "learn from",
                           name != NULL ? name : "any learner");
}

/* Fits by the learner's fit, or by its fit_clean if the job has no reports. */
static enum sotto_status
run_job(const struct sotto_mechanism *mechanism, const struct learn_job *job,
        struct sotto_model **ret_model, struct sotto_fit_info *ret_info,
        struct sotto_error *err)
{
    const struct learn_options *options = job->options;
    const struct learner *learner = NULL;
    struct sotto_fit_info info = {0};
    struct sotto_model *model = NULL;
    enum sotto_status status =
        take_learner(options->learner, mechanism, &learner, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = model_new(learner, mechanism, &model, err);
    if (status == SOTTO_STATUS_OK) {
        model->threads = options->threads;
        model->clean = job->reader == NULL || job->labels != NULL;
        status = model_backend(model, err);
    }
    status =
        HOST_THEN(status, job->reader != NULL
                              ? learner->fit(model, job, &info, err)
                              : learner->fit_clean(model, job, &info, err));
    if (status != SOTTO_STATUS_OK) {
        sotto_model_free(model);
        return status;
    }
    if (job->reader != NULL) {
        support_find(model, &info);
    }
    *ret_model = model;
    if (ret_info != NULL) {
        *ret_info = info;
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
learn_fit(const struct sotto_mechanism *mechanism, const struct learn_job *job,
          struct sotto_model **ret_model, struct sotto_fit_info *ret_info,
          struct sotto_error *err)
{
    struct sotto_mechanism *labelled = NULL;
    struct sotto_report_reader *known = NULL;
    struct learn_options options = *job->options;
    struct learn_job own = *job;
    enum sotto_status status;
    own.options = &options;
    if (job->reader == NULL) {
        options.objective = SOTTO_OBJECTIVE_PLAIN;
    }
    status = learn_options_check(&options, err);
    if (job->analyst != NULL) {
        status = HOST_THEN(status,
                           sotto_analyst_check(job->analyst, mechanism, err));
    }
    if (job->labels != NULL) {
        status = HOST_THEN(
            status, labelled_new(mechanism, job, &labelled, &known, err));
        own.reader = known;
    }
    status = HOST_THEN(status, run_job(labelled != NULL ? labelled : mechanism,
                                       &own, ret_model, ret_info, err));
    sotto_report_reader_free(known);
    sotto_mechanism_free(labelled);
    return status;
}

/* ---- With settings to be read -------------------------------------------- */

static enum sotto_status
read_options(const struct sotto_mechanism *mechanism,
             const struct sotto_fit_options *options,
             struct learn_options *ret_options, struct sotto_error *err)
{
    const struct learner *learner = NULL;
    enum sotto_status status =
        take_learner(options->learner, mechanism, &learner, err);
    return HOST_THEN(status,
                     learn_options_read(learner, options, ret_options, err));
}

static enum sotto_status
read_and_fit(const struct sotto_mechanism *mechanism, struct learn_job job,
             const struct sotto_fit_options *options,
             struct sotto_model **ret_model, struct sotto_fit_info *ret_info,
             struct sotto_error *err)
{
    struct learn_options own;
    enum sotto_status status = read_options(mechanism, options, &own, err);
    job.options = &own;
    return HOST_THEN(status,
                     learn_fit(mechanism, &job, ret_model, ret_info, err));
}

enum sotto_status
sotto_fit_check(const struct sotto_mechanism *mechanism,
                const struct sotto_fit_options *options,
                struct sotto_error *err)
{
    struct learn_options own;
    return read_options(mechanism, options, &own, err);
}

enum sotto_status
sotto_fit(struct sotto_mechanism *mechanism,
          const struct sotto_report_reader *reader,
          const struct sotto_analyst *analyst, const struct sotto_table *aux,
          const struct sotto_fit_options *options,
          struct sotto_model **ret_model, struct sotto_fit_info *ret_info,
          struct sotto_error *err)
{
    struct learn_job job = {.reader = reader, .analyst = analyst, .table = aux};
    return read_and_fit(mechanism, job, options, ret_model, ret_info, err);
}

enum sotto_status
sotto_fit_clean(struct sotto_mechanism *mechanism,
                const struct sotto_table *table,
                const struct sotto_fit_options *options,
                struct sotto_model **ret_model, struct sotto_fit_info *ret_info,
                struct sotto_error *err)
{
    struct learn_job job = {.table = table};
    return read_and_fit(mechanism, job, options, ret_model, ret_info, err);
}

enum sotto_status
sotto_fit_records(struct sotto_mechanism *mechanism,
                  const struct sotto_report_reader *reader,
                  const struct sotto_table *records,
                  const struct sotto_table *keys,
                  const struct sotto_mechanism *from,
                  const struct sotto_fit_options *options,
                  struct sotto_model **ret_model,
                  struct sotto_fit_info *ret_info, struct sotto_error *err)
{
    struct learn_job job = {
        .reader = reader, .table = records, .keys = keys, .from = from};
    struct sotto_mechanism_info info;
    sotto_mechanism_info(mechanism, &info);
    if (!info.label_only) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "records go with a mechanism for the label only; "
                         "this one protects them");
    }
    return read_and_fit(mechanism, job, options, ret_model, ret_info, err);
}

enum sotto_status
sotto_fit_labelled(struct sotto_mechanism *mechanism,
                   const struct sotto_report_reader *reader,
                   const struct sotto_table *labels, const char *column,
                   const struct sotto_analyst *analyst,
                   const struct sotto_table *aux,
                   const struct sotto_fit_options *options,
                   struct sotto_model **ret_model,
                   struct sotto_fit_info *ret_info, struct sotto_error *err)
{
    struct learn_job job = {.reader = reader,
                            .labels = labels,
                            .column = column,
                            .analyst = analyst,
                            .table = aux};
    return read_and_fit(mechanism, job, options, ret_model, ret_info, err);
}
