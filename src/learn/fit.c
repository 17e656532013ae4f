/*
 * fit.c: a model from reports, or from clean records, by the learner that takes
 * the mechanism.
 *
 * All of it is on the collector's side of the noise: what is done to reports
 * costs no privacy (post-processing).
 */
#include <inttypes.h>
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

size_t
learn_job_reports(const struct learn_job *job)
{
    return job->payloads != NULL ? (size_t)payloads_all(job->payloads)
           : job->tally != NULL  ? (size_t)tally_all(job->tally)
           : job->reader != NULL ? sotto_report_reader_count(job->reader)
                                 : 0;
}

static bool
is_clean(const struct learn_job *job)
{
    return job->reader == NULL && job->payloads == NULL && job->tally == NULL;
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
        model->clean = is_clean(job) || job->labels != NULL;
        status = model_backend(model, err);
    }
    status = HOST_THEN(
        status, !is_clean(job) ? learner->fit(model, job, &info, err)
                               : learner->fit_clean(model, job, &info, err));
    if (status != SOTTO_STATUS_OK) {
        sotto_model_free(model);
        return status;
    }
    if (!is_clean(job)) {
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
    if (is_clean(job)) {
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

/* ---- From a stream ------------------------------------------------------- */

/* Checks what can be before a report is read. */
static enum sotto_status
check_job(const struct sotto_mechanism *mechanism,
          const struct learner *learner, const struct learn_job *job,
          struct sotto_error *err)
{
    enum sotto_status status = learn_options_check(job->options, err);
    if (job->analyst != NULL) {
        status = HOST_THEN(status,
                           sotto_analyst_check(job->analyst, mechanism, err));
    }
    return status == SOTTO_STATUS_OK && learner->check != NULL
               ? learner->check(mechanism, job, err)
               : status;
}

static enum sotto_status
check_kinds(const struct sotto_report_stream *stream, struct sotto_error *err)
{
    struct sotto_report_seen seen;
    sotto_report_stream_seen(stream, &seen);
    return seen.simulated == 0 || seen.simulated == seen.reports
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "the reports mix %" PRIu64 " simulated with %" PRIu64
                           " real ones: separate them",
                           seen.simulated, seen.reports - seen.simulated);
}

/* What is read of a stream: payloads, or the tally of them if these are too
   many; or whole reports. */
struct reading {
    struct payloads *payloads;
    struct tally *tally;
    struct sotto_report_reader *reader;
};

static void
reading_clear(struct reading *reading)
{
    payloads_free(reading->payloads);
    tally_free(reading->tally);
    sotto_report_reader_free(reading->reader);
}

/* Both, until payloads are more than `most`: then they are dropped. */
static enum sotto_status
count_reports(struct reading *reading, struct sotto_report_stream *stream,
              size_t most, struct sotto_error *err)
{
    struct sotto_report_block block = {.count = 1};
    enum sotto_status status = SOTTO_STATUS_OK;
    while (status == SOTTO_STATUS_OK && block.count > 0) {
        status = sotto_report_stream_next(stream, &block, err);
        if (status == SOTTO_STATUS_OK && reading->tally != NULL) {
            tally_add(reading->tally, block.reports, block.count);
        }
        if (status == SOTTO_STATUS_OK && reading->payloads != NULL) {
            status = payloads_add(reading->payloads, &block, err);
        }
        if (reading->tally != NULL && reading->payloads != NULL &&
            payloads_distinct(reading->payloads) > most) {
            payloads_free(reading->payloads);
            reading->payloads = NULL;
        }
    }
    if (status == SOTTO_STATUS_OK && reading->payloads != NULL) {
        status = payloads_sort(reading->payloads, err);
    }
    return status;
}

static enum sotto_status
read_reports(const struct sotto_mechanism *mechanism,
             const struct learner *learner, struct sotto_report_stream *stream,
             size_t most, struct reading *reading, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    if (!learner->counted) {
        return sotto_report_stream_collect(stream, true, &reading->reader, err);
    }
    status = payloads_new(mechanism, &reading->payloads, err);
    if (learner->tallies != NULL && learner->tallies(mechanism)) {
        status = HOST_THEN(status, tally_new(mechanism, &reading->tally, err));
    }
    return HOST_THEN(status, count_reports(reading, stream, most, err));
}

enum sotto_status
learn_fit_stream(const struct sotto_mechanism *mechanism,
                 struct sotto_report_stream *stream, struct learn_job *job,
                 size_t most, struct sotto_model **ret_model,
                 struct sotto_fit_info *ret_info, struct sotto_error *err)
{
    const struct learner *learner = NULL;
    struct reading reading = {0};
    enum sotto_status status =
        take_learner(job->options->learner, mechanism, &learner, err);
    status = HOST_THEN(status, check_job(mechanism, learner, job, err));
    status = HOST_THEN(
        status, read_reports(mechanism, learner, stream, most, &reading, err));
    status = HOST_THEN(status, check_kinds(stream, err));
    job->payloads = reading.payloads;
    job->tally = reading.payloads == NULL ? reading.tally : NULL;
    job->reader = reading.reader;
    status =
        HOST_THEN(status, learn_fit(mechanism, job, ret_model, ret_info, err));
    reading_clear(&reading);
    return status;
}

enum sotto_status
sotto_fit_stream(struct sotto_mechanism *mechanism,
                 struct sotto_report_stream *stream,
                 const struct sotto_analyst *analyst,
                 const struct sotto_table *aux,
                 const struct sotto_fit_options *options,
                 struct sotto_model **ret_model,
                 struct sotto_fit_info *ret_info, struct sotto_error *err)
{
    struct learn_options own;
    struct learn_job job = {.analyst = analyst, .table = aux, .options = &own};
    enum sotto_status status = read_options(mechanism, options, &own, err);
    return HOST_THEN(status, learn_fit_stream(mechanism, stream, &job,
                                              LEARN_PAYLOADS_MOST, ret_model,
                                              ret_info, err));
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
