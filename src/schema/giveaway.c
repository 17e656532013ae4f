/*
 * giveaway.c: how well one column alone tells the label.
 *
 *     rows --> a bin of the column for each --> half of them say what a bin
 *     means, the other half how often that is right
 *
 * A column that alone tells the label nearly always was, as a rule, made from
 * it, or written down after it.
 */
#include "schema/giveaway.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/sort.h"
#include "host/wipe.h"

#define ROWS_MOST ((size_t)20000)
#define ROWS_LEAST ((size_t)100)
#define CLASSES_MOST ((size_t)64)
#define BINS 24u      /* of numbers */
#define PURE 0.98     /* of a bin's rows, in both halves */
#define PURE_ROWS 10u /* in such bins, of the half that fits */

/* ---- The label ----------------------------------------------------------- */

static bool
is_text(const struct sotto_value *value, const char *text)
{
    size_t size = strlen(text);
    return value->data != NULL && value->size == size &&
           memcmp(value->data, text, size) == 0;
}

/* The place of a value among a column's; count: it is none of them. */
static size_t
find_value(const struct sotto_schema_column *column,
           const struct sotto_value *value)
{
    size_t i = 0;
    while (i < column->count && !is_text(value, column->values[i])) {
        i++;
    }
    return i;
}

static void
take_label(struct giveaway *giveaway, const struct sotto_schema_column *label,
           size_t row, const struct sotto_value *value)
{
    size_t n = giveaway->rows;
    if (value->kind == SOTTO_VALUE_MISSING) {
        return;
    }
    if (giveaway->symbol != NULL) {
        size_t symbol = find_value(label, value);
        giveaway->symbol[n] = (int)symbol;
        giveaway->rows += symbol < label->count ? 1 : 0;
    } else {
        giveaway->goal[n] = fmin(fmax(value->number, label->low), label->high);
        giveaway->rows += isfinite(value->number) ? 1 : 0;
    }
    giveaway->row[n] = row;
}

enum sotto_status
giveaway_init(struct giveaway *giveaway, const struct sotto_table *table,
              const struct sotto_schema_column *label, struct sotto_error *err)
{
    size_t rows = sotto_table_rows(table), stride = rows / ROWS_MOST + 1;
    size_t column = sotto_table_find(table, label->name);
    bool classes = sotto_schema_is_category(label->type);
    *giveaway = (struct giveaway){
        .table = table,
        .row = calloc(rows + 1, sizeof *giveaway->row),
        .symbol = classes ? calloc(rows + 1, sizeof *giveaway->symbol) : NULL,
        .goal = classes ? NULL : calloc(rows + 1, sizeof *giveaway->goal),
        .classes = classes ? label->count : 0};
    if (giveaway->row == NULL ||
        (giveaway->symbol == NULL && giveaway->goal == NULL)) {
        return host_fail_memory(err);
    }
    for (size_t row = 0; row < rows && label->count <= CLASSES_MOST;
         row += stride) {
        struct sotto_value value = sotto_table_cell(table, row, column);
        take_label(giveaway, label, row, &value);
    }
    return SOTTO_STATUS_OK;
}

void
giveaway_clear(struct giveaway *giveaway)
{
    size_t rows =
        giveaway->table != NULL ? sotto_table_rows(giveaway->table) + 1 : 0;
    free(giveaway->row);
    host_wipe_free(giveaway->symbol, rows * sizeof *giveaway->symbol);
    host_wipe_free(giveaway->goal, rows * sizeof *giveaway->goal);
    *giveaway = (struct giveaway){0};
}

/* ---- Bins ---------------------------------------------------------------- */

/* The bin of every row; those of a number end at `edge`, the last bin is for
   what is missing. */
struct bins {
    int *of;
    size_t count;
    double edge[BINS];
    bool sharp; /* the column holds categories, or one number nearly always */
};

/* Whether a row says what bins mean; the others try it. */
static bool
is_fitted(size_t row)
{
    return ((uint32_t)row * UINT32_C(2654435761) >> 17 & 1) != 0;
}

/* The ends of the bins, each a quantile; equal ones are one. */
static size_t
find_edges(double *value, size_t count, double *ret_edge)
{
    size_t edges = 0;
    host_sort_doubles(value, count);
    for (size_t i = 1; i < BINS && count > 0; i++) {
        double edge = value[i * count / BINS];
        if (edges == 0 || edge > ret_edge[edges - 1]) {
            ret_edge[edges++] = edge;
        }
    }
    return edges;
}

/* Whether half of the values, in order, are one. */
static bool
has_spike(const double *value, size_t count)
{
    size_t same = 0;
    for (size_t i = 0; i < count; i++) {
        same += value[i] == value[count / 2] ? 1 : 0;
    }
    return same * 2 >= count;
}

static int
number_bin(const struct bins *bins, double number)
{
    size_t i = 0;
    while (i + 2 < bins->count && number >= bins->edge[i]) {
        i++;
    }
    return (int)i;
}

static enum sotto_status
cut_numbers(const struct giveaway *g, size_t column, struct bins *bins,
            struct sotto_error *err)
{
    double *value = calloc(g->rows + 1, sizeof *value);
    size_t count = 0;
    if (value == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < g->rows; i++) {
        struct sotto_value cell = sotto_table_cell(g->table, g->row[i], column);
        if (cell.kind != SOTTO_VALUE_MISSING && isfinite(cell.number) &&
            is_fitted(g->row[i])) {
            value[count++] = cell.number;
        }
    }
    bins->count = find_edges(value, count, bins->edge) + 2;
    bins->sharp = has_spike(value, count);
    host_wipe_free(value, (g->rows + 1) * sizeof *value);
    for (size_t i = 0; i < g->rows; i++) {
        struct sotto_value cell = sotto_table_cell(g->table, g->row[i], column);
        bins->of[i] = cell.kind != SOTTO_VALUE_MISSING && isfinite(cell.number)
                          ? number_bin(bins, cell.number)
                          : (int)bins->count - 1;
    }
    return SOTTO_STATUS_OK;
}

static void
cut_categories(const struct giveaway *g, size_t column,
               const struct sotto_schema_column *as, struct bins *bins)
{
    bins->count = as->count + 2;
    bins->sharp = true;
    for (size_t i = 0; i < g->rows; i++) {
        struct sotto_value cell = sotto_table_cell(g->table, g->row[i], column);
        bins->of[i] = cell.kind == SOTTO_VALUE_MISSING
                          ? (int)bins->count - 1
                          : (int)find_value(as, &cell);
    }
}

/* ---- Classes ------------------------------------------------------------- */

static size_t
largest(const size_t *count, size_t classes)
{
    size_t best = 0;
    for (size_t k = 1; k < classes; k++) {
        best = count[k] > count[best] ? k : best;
    }
    return best;
}

/* Rows of each class in each bin, of the half that fits (0) and the other (1);
   behind the last bin those of all together. */
struct counts {
    size_t *of[2];
    size_t bins, classes;
};

static size_t *
count_at(const struct counts *counts, size_t half, size_t bin)
{
    return counts->of[half] + bin * counts->classes;
}

static size_t
sum(const size_t *count, size_t classes)
{
    size_t all = 0;
    for (size_t k = 0; k < classes; k++) {
        all += count[k];
    }
    return all;
}

/* Share of the mistakes of the largest class alone that bins mend. */
static double
share_mended(const struct counts *counts)
{
    size_t classes = counts->classes;
    const size_t *all = count_at(counts, 0, counts->bins);
    const size_t *tried = count_at(counts, 1, counts->bins);
    size_t rows = sum(tried, classes);
    size_t plain = rows - tried[largest(all, classes)], wrong = rows;
    for (size_t bin = 0; bin < counts->bins; bin++) {
        const size_t *fitted = count_at(counts, 0, bin);
        size_t class = sum(fitted, classes) > 0 ? largest(fitted, classes)
                                                : largest(all, classes);
        wrong -= count_at(counts, 1, bin)[class];
    }
    return plain >= 10 ? 1 - (double)wrong / (double)plain : 0;
}

/* Rows of smaller classes in bins that the largest class is hardly ever in:
   each in the half that fits, all together in the other. A number that merely
   grows with the label has such bins at its ends: so numbers count only where
   one of them is nearly always there, and another one tells. */
static void
find_without(const struct counts *counts, bool sharp,
             struct giveaway_found *ret)
{
    size_t classes = counts->classes, rows = 0, rest = 0, mistaken = 0;
    const size_t *tried = count_at(counts, 1, counts->bins);
    size_t main_class = largest(count_at(counts, 0, counts->bins), classes);
    size_t others = sum(tried, classes) - tried[main_class];
    for (size_t bin = 0; bin < counts->bins && sharp; bin++) {
        const size_t *fitted = count_at(counts, 0, bin);
        const size_t *seen = count_at(counts, 1, bin);
        size_t all = sum(fitted, classes);
        if ((double)fitted[main_class] <= (1 - PURE) * (double)all) {
            rows += all;
            rest += sum(seen, classes);
            mistaken += seen[main_class];
        }
    }
    bool pure = rows >= PURE_ROWS && others > 0 &&
                (double)mistaken <= (1 - PURE) * (double)rest;
    ret->without = pure ? (double)(rest - mistaken) / (double)others : 0;
    ret->main_class = main_class;
}

static enum sotto_status
look_classes(const struct giveaway *g, const struct bins *bins,
             struct giveaway_found *ret, struct sotto_error *err)
{
    size_t room = (bins->count + 1) * g->classes;
    struct counts counts = {
        .of = {calloc(room, sizeof(size_t)), calloc(room, sizeof(size_t))},
        .bins = bins->count,
        .classes = g->classes};
    struct counts missing = {.bins = 2, .classes = g->classes};
    size_t *few = calloc(6 * g->classes, sizeof *few);
    if (counts.of[0] == NULL || counts.of[1] == NULL || few == NULL) {
        free(counts.of[0]);
        free(counts.of[1]);
        free(few);
        return host_fail_memory(err);
    }
    missing.of[0] = few;
    missing.of[1] = few + 3 * g->classes;
    for (size_t i = 0; i < g->rows; i++) {
        size_t half = is_fitted(g->row[i]) ? 0 : 1, bin = (size_t)bins->of[i];
        size_t class = (size_t)g->symbol[i], none = bin + 1 == bins->count;
        count_at(&counts, half, bin)[class]++;
        count_at(&counts, half, bins->count)[class]++;
        count_at(&missing, half, none)[class]++;
        count_at(&missing, half, 2)[class]++;
    }
    ret->share = share_mended(&counts);
    ret->missing = share_mended(&missing);
    find_without(&counts, bins->sharp, ret);
    free(counts.of[0]);
    free(counts.of[1]);
    free(few);
    return SOTTO_STATUS_OK;
}

/* ---- Numbers ------------------------------------------------------------- */

static enum sotto_status
look_numbers(const struct giveaway *g, const struct bins *bins,
             struct giveaway_found *ret, struct sotto_error *err)
{
    double *total = calloc(2 * bins->count + 1, sizeof *total);
    double *count = total != NULL ? total + bins->count : NULL, all = 0, n = 0;
    double plain = 0, wrong = 0;
    if (total == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < g->rows; i++) {
        if (is_fitted(g->row[i])) {
            total[bins->of[i]] += g->goal[i];
            count[bins->of[i]] += 1;
            all += g->goal[i];
            n += 1;
        }
    }
    double mean = n > 0 ? all / n : 0;
    for (size_t i = 0; i < g->rows; i++) {
        size_t bin = (size_t)bins->of[i];
        double said = count[bin] > 0 ? total[bin] / count[bin] : mean;
        if (!is_fitted(g->row[i])) {
            plain += (g->goal[i] - mean) * (g->goal[i] - mean);
            wrong += (g->goal[i] - said) * (g->goal[i] - said);
        }
    }
    ret->share = plain > 0 ? 1 - wrong / plain : 0;
    free(total);
    return SOTTO_STATUS_OK;
}

/* ---- All of it ------------------------------------------------------------
 */

enum sotto_status
giveaway_look(const struct giveaway *giveaway,
              const struct sotto_schema_column *column,
              struct giveaway_found *ret, struct sotto_error *err)
{
    size_t at = sotto_table_find(giveaway->table, column->name);
    *ret = (struct giveaway_found){0};
    if (giveaway->rows < ROWS_LEAST || column->type == SOTTO_SCHEMA_IMAGE) {
        return SOTTO_STATUS_OK;
    }
    struct bins bins = {.of = calloc(giveaway->rows, sizeof *bins.of)};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (bins.of == NULL) {
        return host_fail_memory(err);
    }
    if (sotto_schema_is_number(column->type)) {
        status = cut_numbers(giveaway, at, &bins, err);
    } else {
        cut_categories(giveaway, at, column, &bins);
    }
    if (status == SOTTO_STATUS_OK) {
        status = giveaway->symbol != NULL
                     ? look_classes(giveaway, &bins, ret, err)
                     : look_numbers(giveaway, &bins, ret, err);
    }
    host_wipe_free(bins.of, giveaway->rows * sizeof *bins.of);
    return status;
}
