/*
 * direct_columns.c: a column of the data becomes a column of the mechanism.
 *
 *     numbers      [low, high] becomes [-1, 1]; given, or the data's own range
 *     samples      [0, 255] becomes [-1, 1]
 *     categories   the data's own, sorted; "other" the last symbol
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/direct.h"
#include "host/error.h"

#define CATEGORIES_MOST ((size_t)1024)

/* A category as it stands in the table. */
struct word {
    const uint8_t *data;
    size_t size;
};

static const struct sotto_range *
range_of(const struct direct *direct, size_t column)
{
    const struct sotto_direct_options *options = direct->options;
    for (size_t i = 0; i < options->range_count; i++) {
        if (strcmp(options->ranges[i].column, direct_name(direct, column)) ==
            0) {
            return &options->ranges[i];
        }
    }
    return NULL;
}

/* The smallest and largest value there is; false if all are missing. */
static bool
find_range(const struct sotto_table *table, size_t column, double *ret_low,
           double *ret_high)
{
    bool found = false;
    for (size_t row = 0; row < sotto_table_rows(table); row++) {
        struct sotto_value value = sotto_table_cell(table, row, column);
        if (value.kind != SOTTO_VALUE_NUMBER) {
            continue;
        }
        *ret_low = found ? fmin(*ret_low, value.number) : value.number;
        *ret_high = found ? fmax(*ret_high, value.number) : value.number;
        found = true;
    }
    return found;
}

static enum sotto_status
fail_missing(const struct direct *direct, size_t column,
             struct sotto_error *err)
{
    return direct_fail_column(
        SOTTO_STATUS_INPUT, "column ", direct_name(direct, column),
        " has no value in any row: leave it out with --drop", err);
}

/* Halves first: low and high may lie further apart than a double can say. */
static enum sotto_status
fit_number(struct direct *direct, size_t column, struct compose_column *ret,
           struct sotto_error *err)
{
    const struct sotto_range *range = range_of(direct, column);
    double low = 0, high = 0, half;
    if (range != NULL) {
        low = range->low;
        high = range->high;
    } else if (find_range(direct->table, column, &low, &high)) {
        direct->ranges_fitted = true;
    } else {
        return fail_missing(direct, column, err);
    }
    half = high / 2 - low / 2;
    ret->shift = low / 2 + high / 2;
    ret->scale = isfinite(1 / half) ? 1 / half : 0; /* 0: a constant */
    return SOTTO_STATUS_OK;
}

static int
compare_words(const void *a, const void *b)
{
    const struct word *x = a, *y = b;
    size_t least = x->size < y->size ? x->size : y->size;
    int order = least > 0 ? memcmp(x->data, y->data, least) : 0;
    return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

/* Sorts the words bytewise and keeps one of each; returns how many. */
static size_t
sort_words(struct word *words, size_t count)
{
    size_t distinct = 0;
    qsort(words, count, sizeof *words, compare_words);
    for (size_t i = 0; i < count; i++) {
        if (distinct == 0 ||
            compare_words(&words[distinct - 1], &words[i]) != 0) {
            words[distinct++] = words[i];
        }
    }
    return distinct;
}

static size_t
gather_words(const struct sotto_table *table, size_t column,
             struct word *ret_words)
{
    size_t count = 0;
    for (size_t row = 0; row < sotto_table_rows(table); row++) {
        struct sotto_value value = sotto_table_cell(table, row, column);
        if (value.kind == SOTTO_VALUE_TEXT) {
            ret_words[count++] =
                (struct word){(const uint8_t *)value.data, value.size};
        }
    }
    return count;
}

/*
 * The words as strings: one block that starts with the pointers, so that one
 * free() suffices.
 */
static const char **
copy_words(const struct word *words, size_t count)
{
    size_t size = count * sizeof(char *);
    const char **strings;
    char *at;
    for (size_t i = 0; i < count; i++) {
        size += words[i].size + 1;
    }
    strings = malloc(size);
    if (strings == NULL) {
        return NULL;
    }
    at = (char *)(strings + count);
    for (size_t i = 0; i < count; i++) {
        strings[i] = at;
        memcpy(at, words[i].data, words[i].size);
        at[words[i].size] = '\0';
        at += words[i].size + 1;
    }
    return strings;
}

static enum sotto_status
fit_category(struct direct *direct, size_t column, struct compose_column *ret,
             struct sotto_error *err)
{
    size_t count, rows = sotto_table_rows(direct->table);
    enum sotto_status status = SOTTO_STATUS_OK;
    struct word *words = calloc(rows, sizeof *words);
    if (words == NULL) {
        return host_fail_memory(err);
    }
    count = sort_words(words, gather_words(direct->table, column, words));
    if (count == 0) {
        status = fail_missing(direct, column, err);
    } else if (count > CATEGORIES_MOST) {
        status = direct_fail_column(
            SOTTO_STATUS_INPUT, "column ", direct_name(direct, column),
            " has more than 1024 different values: leave it "
            "out with --drop, or group its values",
            err);
    } else {
        ret->values = copy_words(words, count);
        ret->count = count + 1;
        direct->categories_fitted = true;
        if (ret->values == NULL) {
            status = host_fail_memory(err);
        }
    }
    free(words);
    return status;
}

enum sotto_status
direct_fit_column(struct direct *direct, size_t column,
                  struct compose_column *ret, struct sotto_error *err)
{
    ret->name = direct_name(direct, column);
    ret->kind = sotto_table_kind(direct->table, column);
    ret->count = 1;
    switch (ret->kind) {
    case SOTTO_COLUMN_CATEGORY:
        return fit_category(direct, column, ret, err);
    case SOTTO_COLUMN_BYTES:
        ret->count = direct_entries(direct, column);
        ret->shift = 127.5;
        ret->scale = 1 / 127.5;
        return SOTTO_STATUS_OK;
    default:
        return fit_number(direct, column, ret, err);
    }
}
