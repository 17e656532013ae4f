/*
 * learner.h: what a way of learning from reports does: a row of the table in
 * registry.c.
 *
 *     takes             whether it can learn from reports of a mechanism
 *     fit, fit_clean    fill a model that has its mechanism: own, classes and
 *                       column
 *     predict           p(class | record)
 *     predict_private   p(class | report)
 *     write, read       what is its own in a model's file
 *
 * A learner is a folder of learn/ and one row. It knows nothing of the others.
 */
#ifndef SOTTO_LEARN_LEARNER_H
#define SOTTO_LEARN_LEARNER_H

#include "learn/model.h"
#include "learn/options.h"
#include "learn/sending.h"
#include "mechanism/payloads.h"
#include "mechanism/tally.h"

/* What there is to learn from. */
struct learn_job {
    const struct sotto_report_reader *reader; /* NULL: what is in `payloads`;
                                                 or clean records */
    const struct payloads *payloads; /* for a learner that is `counted`; NULL:
                                        too many, and counted in */
    const struct tally *tally;
    const struct sotto_table *labels; /* of the reports, in the clear; NULL: in
                                         the reports */
    const char *column;               /* of the labels */
    const struct sotto_analyst *analyst; /* may be NULL */
    const struct sotto_table *table;     /* auxiliary records, or NULL; for
                                            fit_clean the records */
    /* Label only: the table is the records that the reports are about. */
    const struct sotto_table *keys; /* ids of reports beside keys of records;
                                       NULL: they have one order */
    const struct sotto_mechanism *from; /* whose encoder it begins with; NULL */
    const struct learn_options *options;
};

/* The reports there are; 0: clean records. */
size_t learn_job_reports(const struct learn_job *job);

struct learner {
    const char *name, *about;
    const struct setting *settings; /* of a struct learn_options */
    bool (*takes)(const struct sotto_mechanism *mechanism);

    /* Checks what can be without a report: that there is a prior, and of which
       records. NULL: nothing. Statuses: USAGE, INPUT. */
    enum sotto_status (*check)(const struct sotto_mechanism *mechanism,
                               const struct learn_job *job,
                               struct sotto_error *err);
    bool counted; /* `fit` takes payloads: it needs neither order nor ids */
    /* Whether it takes a tally in place of more of these than can be kept;
       NULL: never. */
    bool (*tallies)(const struct sotto_mechanism *mechanism);

    /* Statuses: those of sotto_fit. The model has its pool and its back-end,
       and is freed on failure. */
    enum sotto_status (*fit)(struct sotto_model *model,
                             const struct learn_job *job,
                             struct sotto_fit_info *ret_info,
                             struct sotto_error *err);
    enum sotto_status (*fit_clean)(struct sotto_model *model,
                                   const struct learn_job *job,
                                   struct sotto_fit_info *ret_info,
                                   struct sotto_error *err);

    enum sotto_status (*predict)(struct sotto_model *model,
                                 const struct sotto_table *table, double *ret_p,
                                 struct sotto_error *err);
    /* The reports are valid ones of `mechanism`, model->mechanism or
       another, of which `check_reports` said that its reports can be
       classified; that may be NULL: none are. Statuses: INPUT. */
    enum sotto_status (*check_reports)(const struct sotto_model *model,
                                       const struct sotto_mechanism *mechanism,
                                       struct sotto_error *err);
    enum sotto_status (*predict_private)(
        struct sotto_model *model, const struct sotto_mechanism *mechanism,
        const uint8_t *reports, size_t n, double *ret_p,
        struct sotto_error *err);

    /* Candidates to choose from (choose.c); NULL: it has none. `keep` drops
       all but one, or none on failure; `check_keep` says whether it could, and
       may be NULL: it can.
       Statuses: USAGE, and for keep MEMORY, LIMIT, IO. */
    struct networks *(*networks)(const struct sotto_model *model);
    enum sotto_status (*check_keep)(const struct sotto_model *model,
                                    struct sotto_error *err);
    enum sotto_status (*keep)(struct sotto_model *model, size_t network,
                              struct sotto_error *err);

    /* Makes the layers by which a device finds the class that one network
       gives a record; clear them in any case. Statuses: USAGE (a device cannot
       compute what goes into the network), MEMORY. */
    enum sotto_status (*device)(const struct sotto_model *model, size_t network,
                                struct device_net *ret_net,
                                struct sotto_error *err);

    /* Row y, column y': the probability that what is called y should be called
       y'; NULL, or a NULL function: it does not say. */
    const double *(*exchanged)(const struct sotto_model *model);

    void (*write)(const struct sotto_model *model, struct model_tensors *to);
    /* Fills a model that has its mechanism. Statuses: any; it is told as
       FORMAT, but for MEMORY. */
    enum sotto_status (*read)(struct sotto_model *model,
                              const struct safetensors *file,
                              struct sotto_error *err);
    void (*free)(void *own);
};

/* registry.c: all of them, with NULL at the end. The first that takes a
   mechanism learns from its reports, unless the caller names another. */
extern const struct learner *const learner_table[];

/* fit.c: finds a learner by name, or the first that takes the mechanism if
   `name` is NULL; NULL if there is none. */
const struct learner *learner_find(const char *name,
                                   const struct sotto_mechanism *mechanism);

/* As sotto_fit_stream, of a job without reports: keeps at most so many payloads
   that differ, if the learner takes a tally beyond that. */
#define LEARN_PAYLOADS_MOST ((size_t)1 << 23)
SOTTO_CHECKED enum sotto_status
learn_fit_stream(const struct sotto_mechanism *mechanism,
                 struct sotto_report_stream *stream, struct learn_job *job,
                 size_t most, struct sotto_model **ret_model,
                 struct sotto_fit_info *ret_info, struct sotto_error *err);

/* As sotto_fit, sotto_fit_clean and sotto_fit_labelled, by what the job has.
   `ret_info` may be NULL. Statuses: theirs. */
SOTTO_CHECKED enum sotto_status
learn_fit(const struct sotto_mechanism *mechanism, const struct learn_job *job,
          struct sotto_model **ret_model, struct sotto_fit_info *ret_info,
          struct sotto_error *err);

#endif
