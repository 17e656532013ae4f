/*
 * bins.c: columns of a number of which a report tells the range it lies in.
 *
 *     ... e_1 ) [ e_1 ... e_2 ) [ e_2 ...        symbols 0, 1, 2
 *
 * The last symbol is of anything else. Edges are quantiles of the auxiliary
 * values, so that ranges hold about equally many, of 20 values on average at
 * least, and are rounded to a grid: an edge may be what somebody's value is,
 * too, but no value alone decides where it lies.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode/flush.h"
#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"
#include "host/wipe.h"
#include "schema/column.h"
#include "schema/robust.h"

#define GRID 8.0 /* steps of the grid in two neighbouring ranges, at most */
#define NAME_SIZE 64u              /* "%.10g to %.10g" */
#define LETTERS_SHOWN ((size_t)40) /* of a name */
#define RANGE_ROWS ((size_t)20)    /* auxiliary values in a range, on average */

/* ---- Fitting ------------------------------------------------------------- */

/* Ends, and what lies between them: `edges` of at most bins - 1. */
struct ranges {
    double low, high;
    double *edge;
    size_t edges;
};

static bool
are_whole(const double *value, size_t count)
{
    size_t i = 0;
    while (i < count && value[i] == nearbyint(value[i])) {
        i++;
    }
    return i == count;
}

/* Quantile j of `bins`, between the ends; where it is the lower end, which many
   have, the next value above it. */
static double
quantile(const double *value, size_t count, size_t j, size_t bins,
         const struct ranges *ranges)
{
    size_t i = (size_t)((double)count * (double)j / (double)bins);
    while (i + 1 < count && value[i] <= ranges->low) {
        i++;
    }
    return fmin(fmax(value[i], ranges->low), ranges->high);
}

/* Leaves out an edge at which no value would change sides. */
static void
add_edge(struct ranges *ranges, double edge)
{
    double before =
        ranges->edges > 0 ? ranges->edge[ranges->edges - 1] : ranges->low;
    if (edge > before && edge < ranges->high) {
        ranges->edge[ranges->edges++] = edge;
    }
}

static void
cut_ranges(const double *value, size_t count, size_t bins,
           struct ranges *ranges)
{
    bool whole = are_whole(value, count);
    for (size_t j = 1; j < bins; j++) {
        double before =
            j > 1 ? quantile(value, count, j - 1, bins, ranges) : ranges->low;
        double after = j + 1 < bins
                           ? quantile(value, count, j + 1, bins, ranges)
                           : ranges->high;
        double at = quantile(value, count, j, bins, ranges);
        if (after > before) {
            add_edge(ranges, robust_round(at, (after - before) / GRID, whole));
        }
    }
    if (ranges->edges == 0) {
        add_edge(ranges, ranges->low / 2 + ranges->high / 2);
    }
}

/* The edges and the names of the ranges, in one block. */
static enum sotto_status
set_names(const struct ranges *ranges, struct schema_column *ret,
          struct sotto_error *err)
{
    size_t bins = ranges->edges + 1;
    size_t head = bins * sizeof(char *) + ranges->edges * sizeof(double);
    double *edge = malloc(head + bins * NAME_SIZE);
    if (edge == NULL) {
        return host_fail_memory(err);
    }
    const char **block = (const char **)(void *)(edge + ranges->edges);
    char *name = (char *)edge + head;
    memcpy(edge, ranges->edge, ranges->edges * sizeof *edge);
    for (size_t i = 0; i < bins; i++, name += NAME_SIZE) {
        block[i] = name;
        if (i == 0) {
            (void)snprintf(name, NAME_SIZE, "below %.10g", edge[0]);
        } else if (i + 1 == bins) {
            (void)snprintf(name, NAME_SIZE, "%.10g or more", edge[i - 1]);
        } else {
            (void)snprintf(name, NAME_SIZE, "%.10g to %.10g", edge[i - 1],
                           edge[i]);
        }
    }
    ret->values = block;
    ret->edges = edge;
    ret->count = bins + 1;
    return SOTTO_STATUS_OK;
}

/* Takes a schema's range, or one that no single value decides; false if there
   is none, or none that a device could tell from 0. */
static bool
find_ends(const struct sotto_schema_column *as, const double *value,
          size_t count, struct ranges *ranges)
{
    if (as != NULL && as->low < as->high) {
        ranges->low = as->low;
        ranges->high = as->high;
    } else if (!robust_range(value, count, are_whole(value, count), 0,
                             &ranges->low, &ranges->high)) {
        return false;
    }
    return fmax(fabs(ranges->low), fabs(ranges->high)) >= FLUSH_COLUMN_LEAST;
}

static size_t
limit_bins(size_t bins, size_t count)
{
    size_t most = count / RANGE_ROWS > 2 ? count / RANGE_ROWS : 2;
    return bins < most ? bins : most;
}

static enum sotto_status
fit_bins(const struct sotto_table *table, size_t column,
         const struct schema_aim *aim, struct schema_column *ret,
         struct sotto_error *err)
{
    struct ranges ranges = {.edge = calloc(aim->bins, sizeof(double))};
    double *value = NULL;
    size_t count = 0, room = sotto_table_rows(table) + 1;
    enum sotto_status status;
    if (ranges.edge == NULL) {
        return host_fail_memory(err);
    }
    status = schema_sort_numbers(table, column, &value, &count, err);
    if (status == SOTTO_STATUS_OK && count == 0) {
        status = schema_column_missing(table, column, err);
    } else if (status == SOTTO_STATUS_OK &&
               !find_ends(aim->as, value, count, &ranges)) {
        status = schema_column_fail(SOTTO_STATUS_INPUT, "column ",
                                    sotto_table_name(table, column),
                                    " has hardly more than one value: there "
                                    "is nothing to tell apart",
                                    err);
    }
    if (status == SOTTO_STATUS_OK) {
        cut_ranges(value, count, limit_bins(aim->bins, count), &ranges);
        ret->shift = ranges.low / 2 + ranges.high / 2;
        ret->scale = 2 / (ranges.high - ranges.low);
        status = set_names(&ranges, ret, err);
    }
    host_wipe_free(value, room * sizeof *value);
    free(ranges.edge);
    return status;
}

/* ---- The rest of the row ------------------------------------------------- */

static size_t
count_inputs(const struct schema_column *column)
{
    (void)column;
    return 0;
}

static struct sotto_value
read_bins(struct sotto_value value)
{
    return schema_number.read(value);
}

static void
write_bins(const struct schema_column *column, struct host_text *text)
{
    host_text_print(text, ",\\\"count\\\":%zu", column->count);
}

/* Says it by the edges, which are what a device goes by: names may lie. */
static void
describe_bins(const struct schema_column *column,
              const struct schema_range *range, struct host_text *text)
{
    (void)range;
    host_text_print(text, "a number, of which is told how many of %zu edge%s ",
                    column->count - 2, column->count > 3 ? "s" : "");
    host_text_print(text, "it reaches:");
    for (size_t i = 0; i + 2 < column->count; i++) {
        host_text_print(text, "%s %.10g", i > 0 ? "," : "", column->edges[i]);
    }
    host_text_print(text, " (the ranges are called ");
    for (size_t i = 0; i + 1 < column->count; i++) {
        host_text_print(text, "%s", i > 0 ? ", " : "");
        host_printable_add(text, column->values[i], LETTERS_SHOWN);
    }
    host_text_print(text, "); anything else counts as (other)");
}

static struct sotto_value
make_hostile(const struct schema_field *field, uint32_t kind)
{
    return schema_number.hostile(field, kind);
}

static struct sotto_value
draw_bins(const struct schema_field *field, struct random *random)
{
    return schema_number.draw(field, random);
}

const struct schema_kind schema_bins = {
    .name = "bins",
    .device = ENCODE_COLUMN_BINS,
    .symbols = true,
    .ranged = true,
    .inputs = count_inputs,
    .fit = fit_bins,
    .read = read_bins,
    .write = write_bins,
    .describe = describe_bins,
    .hostile = make_hostile,
    .draw = draw_bins,
};
