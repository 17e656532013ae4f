/*
 * campaign_clean.c: the fit that privacy is measured against: to clean records
 * with clean labels, of all columns.
 *
 * It is the learner of records with a private label, at an epsilon so large
 * that no label changes: a report is another class than the true one with a
 * probability below (classes) e^-32.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/campaign.h"
#include "experiment/population.h"
#include "host/error.h"

#define CLEAN_EPS "32"
#define LINEAR_RATE "0.03" /* at which 100 epochs suffice */

/* A copy without the columns that are left out, to free. */
static enum sotto_status
take_columns(const struct sotto_table *table,
             const struct sotto_campaign_options *options,
             struct sotto_table **ret_table, struct sotto_error *err)
{
    size_t rows = sotto_table_rows(table);
    size_t *row = calloc(rows + 1, sizeof *row);
    struct sotto_table *copy = NULL;
    enum sotto_status status;
    if (row == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < rows; i++) {
        row[i] = i;
    }
    status = sotto_table_select(table, row, rows, &copy, err);
    for (size_t i = 0; i < options->drops && status == SOTTO_STATUS_OK; i++) {
        size_t column = sotto_table_find(copy, options->drop[i]);
        status = column != SIZE_MAX ? sotto_table_drop(copy, column, err)
                                    : SOTTO_STATUS_OK;
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_table = copy;
    } else {
        sotto_table_free(copy);
    }
    free(row);
    return status;
}

/* A mechanism for the label alone. */
static enum sotto_status
make_label_only(const struct sotto_table *aux,
                const struct sotto_campaign_options *options,
                struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    const struct sotto_setting set[] = {{"label-only", NULL}};
    const struct sotto_train_options train = {.eps = CLEAN_EPS,
                                              .label = options->label,
                                              .set = set,
                                              .sets = 1,
                                              .threads = options->threads};
    return sotto_train(aux, "direct", &train, NULL, NULL, NULL, ret_mechanism,
                       err);
}

static enum sotto_status
fit(struct sotto_mechanism *mechanism, const struct sotto_table *records,
    const struct sotto_campaign_options *options, enum sotto_campaign_clean how,
    struct sotto_model **ret_model, struct sotto_error *err)
{
    char seed[24];
    const struct sotto_setting set[] = {
        {"seed", seed}, {"linear", NULL}, {"rate", LINEAR_RATE}};
    const struct sotto_fit_options with = {
        .set = set,
        .sets = how == SOTTO_CAMPAIGN_LINEAR ? 3 : 1,
        .threads = options->threads,
        .watch = options->watch};
    struct sotto_report_reader *reader = NULL;
    enum sotto_status status =
        population_report(mechanism, records, options->seed, false,
                          options->threads, NULL, &reader, err);
    (void)snprintf(seed, sizeof seed, "%ju", (uintmax_t)options->seed);
    status =
        HOST_THEN(status, sotto_fit_records(mechanism, reader, records, NULL,
                                            NULL, &with, ret_model, NULL, err));
    sotto_report_reader_free(reader);
    return status;
}

enum sotto_status
sotto_campaign_fit_clean(const struct sotto_table *aux,
                         const struct sotto_campaign_options *options,
                         enum sotto_campaign_clean how,
                         const struct sotto_table *records,
                         const struct sotto_table *test,
                         struct sotto_campaign_score *ret_score,
                         struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_table *narrow = NULL;
    struct sotto_model *model = NULL;
    enum sotto_status status = make_label_only(aux, options, &mechanism, err);
    status = HOST_THEN(status, take_columns(records, options, &narrow, err));
    status =
        HOST_THEN(status, fit(mechanism, narrow, options, how, &model, err));
    status =
        HOST_THEN(status, sotto_campaign_score(model, test, ret_score, err));
    sotto_model_free(model);
    sotto_table_free(narrow);
    sotto_mechanism_free(mechanism);
    return status;
}

/* ---- A number ------------------------------------------------------------ */

/* A mechanism of all columns and the label, which says what their scales are;
   no report is made. */
static enum sotto_status
make_scales(const struct sotto_table *aux,
            const struct sotto_campaign_options *options,
            struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    const struct sotto_train_options train = {.eps = CLEAN_EPS,
                                              .label = options->label,
                                              .drop = options->drop,
                                              .drops = options->drops,
                                              .schema = options->schema,
                                              .threads = options->threads};
    return sotto_train(aux, "direct", &train, NULL, NULL, NULL, ret_mechanism,
                       err);
}

enum sotto_status
sotto_campaign_fit_clean_number(const struct sotto_table *aux,
                                const struct sotto_campaign_options *options,
                                const struct sotto_table *records,
                                const struct sotto_table *test,
                                struct sotto_campaign_number *ret_number,
                                struct sotto_error *err)
{
    const struct sotto_fit_options with = {.threads = options->threads,
                                           .watch = options->watch};
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_model *model = NULL;
    enum sotto_status status = make_scales(aux, options, &mechanism, err);
    status = HOST_THEN(
        status, sotto_fit_clean(mechanism, records, &with, &model, NULL, err));
    status = HOST_THEN(
        status, sotto_campaign_score_number(model, test, ret_number, err));
    sotto_model_free(model);
    sotto_mechanism_free(mechanism);
    return status;
}
