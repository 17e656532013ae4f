/*
 * campaign_columns.c: which columns tell most of the label, in auxiliary
 * records alone.
 *
 * Forward: the first column is the one that tells most by itself, the next one
 * tells most beside it, and so on. Every column is cut into a few bins; the
 * bins of the columns chosen make cells, and within a cell s of the longer list
 * that lies in cell r of the shorter one
 *
 *     p(y | s) = (n_sy + W p(y | r)) / (n_s + W),
 *
 * with counts of one half of the records. What a column tells is the mean of
 * ln p(y | s) - ln p(y | r) over the other half; and the same with the halves
 * exchanged.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/campaign.h"
#include "host/error.h"
#include "random/permute.h"

#define BINS 8u           /* of numbers, by quantiles */
#define CATEGORIES 24u    /* more than these: the rarest are one */
#define WEIGHT 4.0        /* W above */
#define GAIN_LEAST 0.0005 /* nats a record; less is chance */

/* Every record's class, cell, and half. */
struct study {
    const struct sotto_table *table;
    size_t rows, classes, label;
    size_t *class, *cell, *half;
    size_t cells;
    double *p;    /* of each half, cell and class: learnt from that half */
    size_t *bin;  /* of the column looked at */
    double *room; /* counts of cells x bins x classes */
};

/* ---- Bins ---------------------------------------------------------------- */

struct entry {
    struct sotto_value value;
    size_t row;
};

static int
compare_texts(const void *a, const void *b)
{
    const struct sotto_value *x = &((const struct entry *)a)->value;
    const struct sotto_value *y = &((const struct entry *)b)->value;
    size_t size = x->size < y->size ? x->size : y->size;
    int order = size > 0 ? memcmp(x->data, y->data, size) : 0;
    return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

static int
compare_numbers(const void *a, const void *b)
{
    double x = ((const struct entry *)a)->value.number;
    double y = ((const struct entry *)b)->value.number;
    return (x > y) - (x < y);
}

/* Numbers by quantiles: equal ones share a bin. */
static size_t
bin_numbers(const struct entry *entry, size_t count, size_t *bin)
{
    size_t last = 0, next = 0;
    for (size_t i = 0; i < count; i++) {
        size_t wanted = i * BINS / count;
        if (i > 0 && wanted > last &&
            entry[i].value.number > entry[i - 1].value.number) {
            last = wanted;
            next++;
        }
        bin[entry[i].row] = next;
    }
    return next + 1;
}

/* Texts: each has its own bin if it has one record in CATEGORIES at least, or
   they are few. */
static size_t
bin_texts(const struct entry *entry, size_t count, size_t *bin)
{
    size_t next = 1, different = 0;
    for (size_t i = 0; i < count; i++) {
        different +=
            i == 0 || compare_texts(&entry[i], &entry[i - 1]) != 0 ? 1 : 0;
    }
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from;
             to < count && compare_texts(&entry[to], &entry[from]) == 0; to++) {
        }
        bool own = different < CATEGORIES || (to - from) * CATEGORIES >= count;
        for (size_t i = from; i < to; i++) {
            bin[entry[i].row] = own ? next : 0;
        }
        next += own ? 1 : 0;
    }
    return next;
}

/* Cuts a column into bins; missing ones share the last. Returns how many; 0 for
   lack of memory. */
static size_t
cut_column(const struct sotto_table *table, size_t column, size_t *bin)
{
    size_t rows = sotto_table_rows(table), count = 0, bins;
    bool numbers = sotto_table_kind(table, column) == SOTTO_COLUMN_NUMBER;
    struct entry *entry = calloc(rows + 1, sizeof *entry);
    if (entry == NULL) {
        return 0;
    }
    for (size_t i = 0; i < rows; i++) {
        struct sotto_value value = sotto_table_cell(table, i, column);
        bin[i] = SIZE_MAX;
        if (value.kind != SOTTO_VALUE_MISSING) {
            entry[count].value = value;
            entry[count++].row = i;
        }
    }
    qsort(entry, count, sizeof *entry,
          numbers ? compare_numbers : compare_texts);
    bins =
        numbers ? bin_numbers(entry, count, bin) : bin_texts(entry, count, bin);
    for (size_t i = 0; i < rows; i++) {
        bin[i] = bin[i] == SIZE_MAX ? bins : bin[i];
    }
    free(entry);
    return bins + 1;
}

/* ---- What a column tells ------------------------------------------------- */

/* Counts of one half, by cell, bin and class. */
static void
count_half(const struct study *study, size_t half, size_t bins)
{
    size_t k = study->classes;
    memset(study->room, 0, study->cells * bins * k * sizeof *study->room);
    for (size_t i = 0; i < study->rows; i++) {
        if (study->half[i] == half && study->class[i] != SIZE_MAX) {
            size_t cell = study->cell[i] * bins + study->bin[i];
            study->room[cell * k + study->class[i]]++;
        }
    }
}

/* p(y | s) in place of the counts. */
static void
smooth_counts(const struct study *study, size_t half, size_t bins)
{
    size_t k = study->classes;
    for (size_t cell = 0; cell < study->cells * bins; cell++) {
        double *at = study->room + cell * k, sum = 0;
        const double *before =
            study->p + (half * study->rows + cell / bins) * k;
        for (size_t y = 0; y < k; y++) {
            sum += at[y];
        }
        for (size_t y = 0; y < k; y++) {
            at[y] = (at[y] + WEIGHT * before[y]) / (sum + WEIGHT);
        }
    }
}

/* What the bins tell beside the cells, in nats a record. */
static double
find_gain(const struct study *study, size_t bins)
{
    size_t k = study->classes, n = 0;
    double gain = 0;
    for (size_t half = 0; half < 2; half++) {
        count_half(study, half, bins);
        smooth_counts(study, half, bins);
        for (size_t i = 0; i < study->rows; i++) {
            size_t y = study->class[i], cell = study->cell[i];
            if (study->half[i] == half || y == SIZE_MAX) {
                continue;
            }
            gain += log(study->room[(cell * bins + study->bin[i]) * k + y]) -
                    log(study->p[(half * study->rows + cell) * k + y]);
            n++;
        }
    }
    return n > 0 ? gain / (double)n : 0;
}

/* Makes the bins part of the cells. Cells without records are left out. */
static void
refine(struct study *study, size_t bins, size_t *place)
{
    size_t k = study->classes, cells = 0;
    double *next = study->room;
    for (size_t i = 0; i < study->cells * bins; i++) {
        place[i] = SIZE_MAX;
    }
    for (size_t i = 0; i < study->rows; i++) {
        size_t *at = &place[study->cell[i] * bins + study->bin[i]];
        *at = *at == SIZE_MAX ? cells++ : *at;
    }
    double *p = calloc(2 * study->rows * k, sizeof *p);
    for (size_t half = 0; p != NULL && half < 2; half++) {
        count_half(study, half, bins);
        smooth_counts(study, half, bins);
        for (size_t i = 0; i < study->cells * bins; i++) {
            if (place[i] != SIZE_MAX) {
                memcpy(p + (half * study->rows + place[i]) * k, next + i * k,
                       k * sizeof *p);
            }
        }
    }
    for (size_t i = 0; p != NULL && i < study->rows; i++) {
        study->cell[i] = place[study->cell[i] * bins + study->bin[i]];
    }
    if (p != NULL) {
        memcpy(study->p, p, 2 * study->rows * k * sizeof *p);
        study->cells = cells;
    }
    free(p);
}

/* ---- The list ------------------------------------------------------------ */

/* One cell of all; p is the classes' shares, none of them 0. */
static void
begin(struct study *study, uint64_t seed)
{
    size_t k = study->classes;
    for (size_t i = 0; i < study->rows; i++) {
        study->half[i] = i % 2;
        study->cell[i] = 0;
    }
    permute(study->half, sizeof *study->half, study->rows, PERMUTE_UP, seed,
            CAMPAIGN_STREAM_FOLDS);
    study->cells = 1;
    for (size_t half = 0; half < 2; half++) {
        double *p = study->p + half * study->rows * k, sum = 0;
        for (size_t y = 0; y < k; y++) {
            p[y] = 0.5;
        }
        for (size_t i = 0; i < study->rows; i++) {
            if (study->half[i] == half && study->class[i] != SIZE_MAX) {
                p[study->class[i]]++;
            }
        }
        for (size_t y = 0; y < k; y++) {
            sum += p[y];
        }
        for (size_t y = 0; y < k; y++) {
            p[y] /= sum;
        }
    }
}

static bool
is_left_out(const struct sotto_table *table, size_t column,
            const char *const *drop, size_t drops)
{
    bool out = sotto_table_kind(table, column) == SOTTO_COLUMN_BYTES;
    for (size_t i = 0; !out && i < drops; i++) {
        out = strcmp(sotto_table_name(table, column), drop[i]) == 0;
    }
    return out;
}

static bool
is_chosen(const size_t *chosen, size_t count, size_t column)
{
    bool found = false;
    for (size_t i = 0; i < count && !found; i++) {
        found = chosen[i] == column;
    }
    return found;
}

/* Finds the column that tells most beside those chosen; SIZE_MAX: none tells
   anything. */
static size_t
find_best(struct study *study, const char *const *drop, size_t drops,
          const size_t *chosen, size_t count, double *ret_gain)
{
    size_t best = SIZE_MAX;
    *ret_gain = GAIN_LEAST;
    for (size_t j = 0; j < sotto_table_columns(study->table); j++) {
        if (j == study->label || is_chosen(chosen, count, j) ||
            is_left_out(study->table, j, drop, drops)) {
            continue;
        }
        size_t bins = cut_column(study->table, j, study->bin);
        double gain = bins > 0 ? find_gain(study, bins) : 0;
        if (gain > *ret_gain) {
            *ret_gain = gain;
            best = j;
        }
    }
    return best;
}

#define BINS_MOST (CATEGORIES + CATEGORIES + 2)

static enum sotto_status
study_init(struct study *study, const struct sotto_table *table, size_t label,
           struct sotto_error *err)
{
    size_t rows = sotto_table_rows(table);
    *study = (struct study){.table = table,
                            .rows = rows,
                            .label = label,
                            .class = calloc(4 * rows + 1, sizeof(size_t))};
    if (study->class == NULL) {
        return host_fail_memory(err);
    }
    study->cell = study->class + rows;
    study->half = study->class + 2 * rows;
    study->bin = study->class + 3 * rows;
    study->classes = cut_column(table, label, study->class);
    study->p = calloc(2 * rows * study->classes + 1, sizeof *study->p);
    study->room =
        calloc(rows * study->classes * BINS_MOST + 1, sizeof *study->room);
    if (study->classes == 0 || study->p == NULL || study->room == NULL) {
        return host_fail_memory(err);
    }
    bool number = sotto_table_kind(table, label) == SOTTO_COLUMN_NUMBER;
    for (size_t i = 0; i < rows; i++) { /* missing, and rare classes */
        if (study->class[i] + 1 == study->classes ||
            (study->class[i] == 0 && !number)) {
            study->class[i] = SIZE_MAX;
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
sotto_campaign_rank_columns(const struct sotto_table *aux, const char *label,
                            const char *const *drop, size_t drops,
                            uint64_t seed,
                            size_t ret_columns[SOTTO_CAMPAIGN_COLUMNS_MAX],
                            double ret_gain[SOTTO_CAMPAIGN_COLUMNS_MAX],
                            size_t *ret_count, struct sotto_error *err)
{
    struct study study = {.rows = 0};
    size_t column = 0, count = 0, *place = NULL;
    enum sotto_status status = campaign_label(aux, label, &column, err);
    status = HOST_THEN(status, study_init(&study, aux, column, err));
    if (status == SOTTO_STATUS_OK) {
        place = calloc(study.rows * BINS_MOST + 1, sizeof *place);
        status = place != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
    }
    if (status == SOTTO_STATUS_OK) {
        begin(&study, seed);
    }
    while (status == SOTTO_STATUS_OK && place != NULL &&
           count < SOTTO_CAMPAIGN_COLUMNS_MAX) {
        double gain = 0;
        size_t best = find_best(&study, drop, drops, ret_columns, count, &gain);
        if (best == SIZE_MAX) {
            break;
        }
        ret_columns[count] = best;
        if (ret_gain != NULL) {
            ret_gain[count] = gain;
        }
        count++;
        refine(&study, cut_column(aux, best, study.bin), place);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_count = count;
    }
    free(place);
    free(study.class);
    free(study.p);
    free(study.room);
    return status;
}
