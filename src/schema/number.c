/*
 * number.c: columns of numbers.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/maths.h"
#include "host/error.h"
#include "host/sort.h"
#include "host/text.h"
#include "host/wipe.h"
#include "random/random.h"
#include "schema/column.h"

#define BULK 2.33 /* deviations from the mean, between which 98 of 100 lie */
#define TAIL 100u /* one value of so many lies below the range, and above */

/* One stray word makes a column text, and the numbers around it are numbers
   still. */
static struct sotto_value
read_number(struct sotto_value value)
{
    if (value.kind == SOTTO_VALUE_TEXT && isfinite(value.number)) {
        value.kind = SOTTO_VALUE_NUMBER;
    }
    return value;
}

/* Whether a number's logarithm is taken: a schema asks for it, and the range
   is not what is sent. direct sends numbers, whose means are to be told. */
static bool
takes_log(const struct schema_aim *aim)
{
    return !aim->range && aim->as != NULL && aim->as->log;
}

/* A field as a device reads it: within the range of `as`, if there is one, so
   that no outlier moves what is fitted. */
static struct sotto_value
number_at(const struct sotto_table *table, size_t row, size_t column,
          const struct sotto_schema_column *as)
{
    struct sotto_value value =
        read_number(sotto_table_cell(table, row, column));
    if (as != NULL && as->low < as->high) {
        value.number = fmin(fmax(value.number, as->low), as->high);
    }
    return value;
}

/* Mean 0 and variance 1 over the values there are, by Welford's running mean
   and sum of squares: no cancellation. A constant becomes 0. */
static enum sotto_status
fit_standard(const struct sotto_table *table, size_t column,
             const struct schema_aim *aim, struct schema_column *ret,
             struct sotto_error *err)
{
    double mean = 0, squares = 0, deviation;
    size_t count = 0;
    for (size_t row = 0; row < sotto_table_rows(table); row++) {
        struct sotto_value value = number_at(table, row, column, aim->as);
        if (value.kind == SOTTO_VALUE_NUMBER) {
            double y = ret->log ? maths_log_signed(value.number) : value.number;
            double from = y - mean;
            mean += from / (double)++count;
            squares += from * (y - mean);
        }
    }
    if (count == 0) {
        return schema_column_missing(table, column, err);
    }
    deviation = sqrt(squares / (double)count);
    /* A constant, or numbers further apart than a double can say. */
    ret->scale =
        isfinite(deviation) && isfinite(1 / deviation) ? 1 / deviation : 0;
    ret->shift = isfinite(mean) ? mean : 0;
    return SOTTO_STATUS_OK;
}

/* The smallest and largest value there is; false if all are missing. */
static bool
find_range(const struct sotto_table *table, size_t column, double *ret_low,
           double *ret_high)
{
    bool found = false;
    for (size_t row = 0; row < sotto_table_rows(table); row++) {
        struct sotto_value value = number_at(table, row, column, NULL);
        if (value.kind != SOTTO_VALUE_NUMBER) {
            continue;
        }
        *ret_low = found ? fmin(*ret_low, value.number) : value.number;
        *ret_high = found ? fmax(*ret_high, value.number) : value.number;
        found = true;
    }
    return found;
}

enum sotto_status
schema_sort_numbers(const struct sotto_table *table, size_t column,
                    double **ret_value, size_t *ret_count,
                    struct sotto_error *err)
{
    size_t rows = sotto_table_rows(table), count = 0;
    double *value = calloc(rows + 1, sizeof *value);
    if (value == NULL) {
        return host_fail_memory(err);
    }
    for (size_t row = 0; row < rows; row++) {
        struct sotto_value cell = number_at(table, row, column, NULL);
        if (cell.kind == SOTTO_VALUE_NUMBER) {
            value[count++] = cell.number;
        }
    }
    host_sort_doubles(value, count);
    *ret_value = value;
    *ret_count = count;
    return SOTTO_STATUS_OK;
}

/* From the 1% quantile to the 99% quantile, and from the smallest to the
   largest value where these are one: then hardly any record has another value.
   No value, however large, moves the range of the others by more than its rank.
 */
static enum sotto_status
find_bulk(const struct sotto_table *table, size_t column, double *ret_low,
          double *ret_high, struct sotto_error *err)
{
    double *value = NULL;
    size_t count = 0, tail;
    enum sotto_status status =
        schema_sort_numbers(table, column, &value, &count, err);
    if (status == SOTTO_STATUS_OK && count == 0) {
        status = schema_column_missing(table, column, err);
    }
    if (status == SOTTO_STATUS_OK && value != NULL) {
        tail = count / TAIL;
        if (value[tail] >= value[count - 1 - tail]) {
            tail = 0;
        }
        *ret_low = value[tail];
        *ret_high = value[count - 1 - tail];
    }
    host_wipe_free(value, (sotto_table_rows(table) + 1) * sizeof *value);
    return status;
}

/* Halves first: low and high may lie further apart than a double can say. */
static enum sotto_status
fit_number(const struct sotto_table *table, size_t column,
           const struct schema_aim *aim, struct schema_column *ret,
           struct sotto_error *err)
{
    double low = aim->low, high = aim->high, half;
    bool given = aim->given;
    ret->missing = aim->missing;
    ret->log = takes_log(aim);
    if (!given && aim->as != NULL) {
        low = aim->as->low;
        high = aim->as->high;
        given = true;
    }
    if (aim->robust && ret->log) {
        enum sotto_status status = fit_standard(table, column, aim, ret, err);
        ret->scale /= BULK;
        return status;
    }
    if (aim->robust) {
        enum sotto_status status =
            given ? SOTTO_STATUS_OK
                  : find_bulk(table, column, &low, &high, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        ret->clip = true;
    } else if (!aim->range) {
        return fit_standard(table, column, aim, ret, err);
    } else if (!given && !find_range(table, column, &low, &high)) {
        return schema_column_missing(table, column, err);
    }
    half = high / 2 - low / 2;
    ret->shift = low / 2 + high / 2;
    ret->scale = isfinite(1 / half) ? 1 / half : 0; /* 0: a constant */
    return SOTTO_STATUS_OK;
}

static size_t
count_inputs(const struct schema_column *column)
{
    return column->missing ? 2 : 1;
}

static void
write_number(const struct schema_column *column, struct host_text *text)
{
    host_text_print(text, "%s%s",
                    column->clip  ? ",\\\"transform\\\":\\\"clip\\\""
                    : column->log ? ",\\\"transform\\\":\\\"log\\\""
                                  : "",
                    column->missing ? ",\\\"missing\\\":1" : "");
}

static void
describe_number(const struct schema_column *column,
                const struct schema_range *range, struct host_text *text)
{
    const char *missing = column->missing ? "a missing one is told apart"
                          : range->cut    ? "a missing one as the middle"
                                       : "a missing one counts as the middle";
    if (!schema_range_usable(range)) {
        host_text_print(text, "a number with an unusable range");
        return;
    }
    if (column->log) {
        host_text_print(text,
                        "a number, whose logarithm is scaled by a range from "
                        "%.6g to %.6g; %s",
                        range->low, range->high, missing);
        return;
    }
    host_text_print(text,
                    range->cut
                        ? "a number from %.6g to %.6g; one beyond counts as "
                          "the nearer end, %s"
                        : "a number, scaled by a range from %.6g to %.6g; %s",
                    range->low, range->high, missing);
}

/* `at` and `kind` alternate between two ends. */
static struct sotto_value
make_hostile(const struct schema_field *field, uint32_t kind)
{
    double low = field->low, high = field->high, width = high - low;
    double table[SCHEMA_HOSTILE] = {low,         high,      low / 2 + high / 2,
                                    INFINITY,    -INFINITY, (double)NAN,
                                    DBL_MAX,     -DBL_MAX,  DBL_TRUE_MIN,
                                    -0.0,        1e30,      -1e30,
                                    low,         high,      high + width,
                                    low - width, DBL_MIN,   low + width / 3,
                                    high,        0};
    struct sotto_value value = {.kind = SOTTO_VALUE_NUMBER};
    value.number = table[kind];
    if (kind == 12 || kind == 13) { /* alternating */
        value.number = (field->at + kind) % 2 == 0 ? low : high;
    }
    if (kind == 18) { /* one at an end, the others in the middle */
        value.number = field->at == 0 ? high : low / 2 + high / 2;
    }
    if (kind == 19) {
        value.kind = SOTTO_VALUE_MISSING;
    }
    return value;
}

static struct sotto_value
draw_number(const struct schema_field *field, struct random *random)
{
    double share = (double)random_u32(random) / 4294967296.0;
    return (struct sotto_value){.kind = SOTTO_VALUE_NUMBER,
                                .number = field->low +
                                          share * (field->high - field->low)};
}

const struct schema_kind schema_number = {
    .name = "number",
    .device = ENCODE_COLUMN_NUMBER,
    .ranged = true,
    .inputs = count_inputs,
    .fit = fit_number,
    .read = read_number,
    .write = write_number,
    .describe = describe_number,
    .hostile = make_hostile,
    .draw = draw_number,
};
