/*
 * codebook_bins.c: how many ranges a label that is a number is cut into.
 *
 * With n people a group of 1 / k of all has the signal-to-noise ratio n g /
 * k^2, g = sinh^2(eps / 2) (docs/codebook.md). Who is in which of `bins` ranges
 * is to be told for different records, that is, for a third of them: k is three
 * times `bins`. Groups that cannot be told apart are noise; more than a few
 * ranges tell the number hardly better (docs/regression.md).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "encoder/codebook.h"
#include "host/error.h"
#include "host/settings.h"
#include "host/wipe.h"
#include "schema/schema_fit.h"

#define NAMES_MOST 10u /* values of a number that may be names of classes */
#define RATIO 15.0     /* n g / k^2 of a group */
#define GROUPS 3.0     /* of records, in which ranges are told apart */
#define BINS_LEAST 2u
#define BINS_MOST 8u

/* Counts the different numbers of a column, up to one more than NAMES_MOST. */
static enum sotto_status
count_values(const struct sotto_table *table, size_t column, size_t *ret_count,
             struct sotto_error *err)
{
    double *value = NULL;
    size_t count = 0, different = 0;
    enum sotto_status status =
        schema_sort_numbers(table, column, &value, &count, err);
    for (size_t i = 0; i < count && different <= NAMES_MOST; i++) {
        different += i == 0 || value[i] != value[i - 1];
    }
    host_wipe_free(value, (sotto_table_rows(table) + 1) * sizeof *value);
    *ret_count = different;
    return status;
}

/* As many as reports can tell apart. */
static size_t
informed_bins(double eps, size_t people)
{
    double half = sinh(eps / 2);
    double bins = sqrt((double)people * half * half / RATIO) / GROUPS;
    return bins < BINS_LEAST  ? BINS_LEAST
           : bins > BINS_MOST ? BINS_MOST
                              : (size_t)bins;
}

enum sotto_status
codebook_bins(const struct sotto_table *table,
              const struct sotto_train_options *options, size_t people,
              size_t given, size_t *ret_bins, struct sotto_error *err)
{
    size_t column = 0, values = 0;
    uint64_t eps = 0;
    enum sotto_status status;
    *ret_bins = 0;
    if (options->label == NULL) {
        return given == 0 ? SOTTO_STATUS_OK
                          : settings_fail(err, "bins",
                                          "are of a label: name it, or leave "
                                          "this out");
    }
    status = schema_fit_find(table, "label", options->label, &column, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (!schema_kind(
             schema_kind_of(schema_fit_as(options->schema, table, column),
                            table, column))
             ->ranged) {
        return given == 0 ? SOTTO_STATUS_OK
                          : settings_fail(err, "bins",
                                          "are ranges of a number, and the "
                                          "label is taken as categories: give "
                                          "it the type number in a schema, or "
                                          "leave this out");
    }
    if (given > 0) {
        *ret_bins = given;
        return SOTTO_STATUS_OK;
    }
    status = count_values(table, column, &values, err);
    status =
        HOST_THEN(status, decimal_read_eps(options->eps, strlen(options->eps),
                                           &eps, err));
    if (status == SOTTO_STATUS_OK && values > NAMES_MOST) {
        *ret_bins =
            informed_bins((double)eps / (double)DECIMAL_UNIT,
                          people > 0 ? people : sotto_table_rows(table));
    }
    return status;
}
