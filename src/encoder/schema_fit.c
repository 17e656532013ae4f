/*
 * schema_fit.c: which columns of a table a mechanism takes, and what is fitted
 * to their values.
 */
#include "encoder/schema_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"
#include "table/table.h"

#define CATEGORIES_MOST ((size_t)1024)

/* A category as it stands in the table. */
struct word {
    const uint8_t *data;
    size_t size;
};

/* ---- Names of columns ---------------------------------------------------- */

enum sotto_status
schema_fit_fail(enum sotto_status status, const char *before, const char *name,
                const char *after, struct sotto_error *err)
{
    struct host_text shown;
    host_text_init(&shown, 1024);
    host_printable_add(&shown, name, 60);
    (void)host_fail(err, status, 0, "%s\"%s\"%s", before,
                    shown.data != NULL ? shown.data : "", after);
    host_text_clear(&shown);
    return status;
}

/* The same for a name no column has: says which there are. */
static enum sotto_status
fail_unknown(const struct sotto_table *table, const char *what,
             const char *name, struct sotto_error *err)
{
    size_t columns = sotto_table_columns(table);
    struct host_text shown, there;
    host_text_init(&shown, 1024);
    host_text_init(&there, 1024);
    host_printable_add(&shown, name, 60);
    for (size_t i = 0; i < columns && there.size < 200; i++) {
        host_text_print(&there, "%s", i > 0 ? ", " : "");
        host_printable_add(&there, sotto_table_name(table, i), 30);
        if (there.size >= 200 && i + 1 < columns) {
            host_text_print(&there, " and %zu more", columns - i - 1);
        }
    }
    (void)host_fail(err, SOTTO_STATUS_USAGE, 0,
                    "%s: there is no column \"%s\"; the columns are %s", what,
                    shown.data != NULL ? shown.data : "",
                    there.data != NULL ? there.data : "");
    host_text_clear(&shown);
    host_text_clear(&there);
    return host_about(SOTTO_STATUS_USAGE, err, what);
}

enum sotto_status
schema_fit_find(const struct sotto_table *table, const char *what,
                const char *name, size_t *ret_column, struct sotto_error *err)
{
    size_t column = sotto_table_find(table, name);
    if (column == SIZE_MAX) {
        return fail_unknown(table, what, name, err);
    }
    *ret_column = column;
    return SOTTO_STATUS_OK;
}

enum sotto_status
schema_fit_missing(const struct sotto_table *table, size_t column,
                   struct sotto_error *err)
{
    return schema_fit_fail(
        SOTTO_STATUS_INPUT, "column ", sotto_table_name(table, column),
        " has no value in any row: leave it out with --drop", err);
}

/* ---- The choice ---------------------------------------------------------- */

static bool
is_kept(const struct schema_choice *choice, size_t column)
{
    for (size_t i = 0; i < choice->columns; i++) {
        if (choice->kept[i] == column) {
            return true;
        }
    }
    return false;
}

static enum sotto_status
choose_columns(const struct sotto_table *table, const char *const *drop,
               size_t drops, struct schema_choice *choice,
               struct sotto_error *err)
{
    size_t columns = sotto_table_columns(table);
    enum sotto_status status = SOTTO_STATUS_OK;
    bool *dropped = calloc(columns, sizeof *dropped);
    choice->kept = calloc(columns, sizeof *choice->kept);
    if (dropped == NULL || choice->kept == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < drops; i++) {
        size_t column;
        status = schema_fit_find(table, "drop", drop[i], &column, err);
        if (status != SOTTO_STATUS_OK) {
            goto done;
        }
        dropped[column] = true;
    }
    for (size_t i = 0; i < columns; i++) {
        if (!dropped[i]) {
            choice->kept[choice->columns++] = i;
        }
    }
    if (choice->columns == 0) {
        status = host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "every column is dropped: keep at least one");
    }
done:
    free(dropped);
    return status;
}

static enum sotto_status
choose_label(const struct sotto_table *table, const char *label,
             struct schema_choice *choice, struct sotto_error *err)
{
    enum sotto_status status;
    if (label == NULL) {
        return SOTTO_STATUS_OK;
    }
    status = schema_fit_find(table, "label", label, &choice->label, err);
    if (status == SOTTO_STATUS_OK && !is_kept(choice, choice->label)) {
        status = schema_fit_fail(SOTTO_STATUS_USAGE, "column ", label,
                                 " cannot be both the label and dropped", err);
    }
    return status;
}

enum sotto_status
schema_fit_choose(const struct sotto_table *table, const char *const *drop,
                  size_t drops, const char *label, struct schema_choice *ret,
                  struct sotto_error *err)
{
    struct schema_choice choice = {.label = SIZE_MAX};
    enum sotto_status status = choose_columns(table, drop, drops, &choice, err);
    if (status == SOTTO_STATUS_OK) {
        status = choose_label(table, label, &choice, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret = choice;
    } else {
        schema_fit_choice_clear(&choice);
    }
    return status;
}

void
schema_fit_choice_clear(struct schema_choice *choice)
{
    free(choice->kept);
    choice->kept = NULL;
}

/* ---- Categories ---------------------------------------------------------- */

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
    size_t count = 0, declared = 0;
    const uint8_t *bytes = NULL;
    const struct table_cell *words =
        table_words(table, column, &declared, &bytes);
    for (; words != NULL && count < declared; count++) {
        ret_words[count] =
            (struct word){bytes + words[count].start, words[count].size};
    }
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

enum sotto_status
schema_fit_category(const struct sotto_table *table, size_t column,
                    struct compose_column *ret, struct sotto_error *err)
{
    const uint8_t *bytes;
    size_t count, declared = 0, rows = sotto_table_rows(table);
    enum sotto_status status = SOTTO_STATUS_OK;
    (void)table_words(table, column, &declared, &bytes);
    struct word *words = calloc(rows + declared, sizeof *words);
    if (words == NULL) {
        return host_fail_memory(err);
    }
    count = sort_words(words, gather_words(table, column, words));
    if (count == 0) {
        status = schema_fit_missing(table, column, err);
    } else if (count > CATEGORIES_MOST) {
        status = schema_fit_fail(
            SOTTO_STATUS_INPUT, "column ", sotto_table_name(table, column),
            " has more than 1024 different values: leave it "
            "out with --drop, or group its values",
            err);
    } else {
        ret->values = copy_words(words, count);
        ret->count = count + 1;
        if (ret->values == NULL) {
            status = host_fail_memory(err);
        }
    }
    free(words);
    return status;
}

/* ---- Numbers ------------------------------------------------------------- */

/* Welford's running mean and sum of squares: no cancellation. */
enum sotto_status
schema_fit_standard(const struct sotto_table *table, size_t column,
                    struct compose_column *ret, struct sotto_error *err)
{
    double mean = 0, squares = 0, deviation;
    size_t count = 0;
    for (size_t row = 0; row < sotto_table_rows(table); row++) {
        struct sotto_value value = sotto_table_cell(table, row, column);
        if (value.kind == SOTTO_VALUE_NUMBER) {
            double from = value.number - mean;
            mean += from / (double)++count;
            squares += from * (value.number - mean);
        }
    }
    if (count == 0) {
        return schema_fit_missing(table, column, err);
    }
    deviation = sqrt(squares / (double)count);
    /* A constant, or numbers further apart than a double can say. */
    ret->scale =
        isfinite(deviation) && isfinite(1 / deviation) ? 1 / deviation : 0;
    ret->shift = isfinite(mean) ? mean : 0;
    return SOTTO_STATUS_OK;
}
