/*
 * category.c: columns of which a value is one of several.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"
#include "random/random.h"
#include "schema/column.h"
#include "table/table.h"

#define CATEGORIES_MOST ((size_t)1024)
#define CATEGORIES_SHOWN ((size_t)12)
#define LETTERS_SHOWN ((size_t)40) /* of one */

/* A category as it stands in the table. */
struct word {
    const uint8_t *data;
    size_t size;
};

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

/* Puts the symbol of a missing value behind the others; one that the data calls
   so is the same. Returns how many there are then. */
static size_t
add_missing(struct word *words, size_t count)
{
    static const struct word missing = {(const uint8_t *)SCHEMA_MISSING,
                                        sizeof SCHEMA_MISSING - 1};
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (compare_words(&words[i], &missing) != 0) {
            words[kept++] = words[i];
        }
    }
    words[kept++] = missing;
    return kept;
}

/* Fills a column with these categories, for one more of which there is room. */
static enum sotto_status
set_values(struct word *words, size_t count, bool missing,
           struct schema_column *ret, struct sotto_error *err)
{
    count = missing ? add_missing(words, count) : count;
    ret->missing = missing;
    ret->values = copy_words(words, count);
    ret->count = count + 1;
    return ret->values != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
}

/* The categories of a schema, in its order. */
static enum sotto_status
take_values(const struct sotto_schema_column *as, bool missing,
            struct schema_column *ret, struct sotto_error *err)
{
    struct word *words = calloc(as->count + 1, sizeof *words);
    enum sotto_status status;
    if (words == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < as->count; i++) {
        words[i] = (struct word){(const uint8_t *)as->values[i],
                                 strlen(as->values[i])};
    }
    status = set_values(words, as->count, missing, ret, err);
    free(words);
    return status;
}

/* A schema's categories, or the data's own, sorted bytewise; behind them
   "missing", where it is told, and "other", the last symbol. */
static enum sotto_status
fit_category(const struct sotto_table *table, size_t column,
             const struct schema_aim *aim, struct schema_column *ret,
             struct sotto_error *err)
{
    const uint8_t *bytes;
    size_t count, declared = 0, rows = sotto_table_rows(table);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (aim->as != NULL) {
        return take_values(aim->as, aim->missing, ret, err);
    }
    (void)table_words(table, column, &declared, &bytes);
    struct word *words = calloc(rows + declared + 1, sizeof *words);
    if (words == NULL) {
        return host_fail_memory(err);
    }
    count = sort_words(words, gather_words(table, column, words));
    if (count == 0) {
        status = schema_column_missing(table, column, err);
    } else if (count > CATEGORIES_MOST) {
        status = host_remedy(
            schema_column_fail(SOTTO_STATUS_INPUT, "column ",
                               sotto_table_name(table, column),
                               " has more than 1024 different values: group "
                               "them, or leave it out",
                               err),
            err, "drop");
    } else {
        status = set_values(words, count, aim->missing, ret, err);
    }
    free(words);
    return status;
}

static size_t
count_inputs(const struct schema_column *column)
{
    return column->input ? column->count : 0;
}

/* A class may be named by a number. */
static struct sotto_value
read_category(struct sotto_value value)
{
    if (value.kind == SOTTO_VALUE_NUMBER && value.data != NULL) {
        value.kind = SOTTO_VALUE_TEXT;
    }
    return value;
}

static void
write_category(const struct schema_column *column, struct host_text *text)
{
    host_text_print(text, ",\\\"count\\\":%zu,\\\"input\\\":%d%s",
                    column->count, column->input ? 1 : 0,
                    column->missing ? ",\\\"missing\\\":1" : "");
}

static void
describe_category(const struct schema_column *column,
                  const struct schema_range *range, struct host_text *text)
{
    size_t count = column->count - (column->missing ? 2 : 1);
    (void)range;
    host_text_print(text, "one of %zu categories: ", count);
    for (size_t i = 0; i < count && i < CATEGORIES_SHOWN; i++) {
        host_text_print(text, "%s", i > 0 ? ", " : "");
        host_printable_add(text, column->values[i], LETTERS_SHOWN);
    }
    if (count > CATEGORIES_SHOWN) {
        host_text_print(text, " and %zu more", count - CATEGORIES_SHOWN);
    }
    if (column->missing) {
        host_text_print(text, "; a missing one is told apart, as ");
        host_printable_add(text, column->values[count], LETTERS_SHOWN);
    }
    host_text_print(text, column->missing
                              ? ", and anything else counts as (other)"
                              : "; anything else counts as (other)");
}

static struct sotto_value
make_hostile(const struct schema_field *field, uint32_t kind)
{
    size_t at = kind == 12 || kind == 13 ? field->at : 0;
    size_t symbol = (kind + at) % field->count;
    struct sotto_value value = {.kind = SOTTO_VALUE_TEXT};
    if (kind == 19) {
        value.kind = SOTTO_VALUE_MISSING;
    } else if (kind == 5) {
        value.size = 7; /* a length without a text */
    } else if (symbol + 1 == field->count) {
        value.data = "\xff unheard of";
        value.size = 12;
    } else {
        value.data = field->values[symbol];
        value.size = strlen(value.data);
    }
    return value;
}

static struct sotto_value
draw_category(const struct schema_field *field, struct random *random)
{
    return make_hostile(field, random_u32(random) % (uint32_t)field->count);
}

const struct schema_kind schema_category = {
    .name = "category",
    .device = ENCODE_COLUMN_CATEGORY,
    .symbols = true,
    .inputs = count_inputs,
    .fit = fit_category,
    .read = read_category,
    .write = write_category,
    .describe = describe_category,
    .hostile = make_hostile,
    .draw = draw_category,
};
