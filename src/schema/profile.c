/*
 * profile.c: what the fields of one column look like.
 */
#include "schema/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/error.h"
#include "host/sort.h"
#include "host/wipe.h"
#include "schema/date_text.h"

/* Whether a text that is no number says among numbers that there is none. In a
   column of categories it is one: many a question has the answer "none". */
static bool
says_none(const char *text, size_t size)
{
    static const char *const words[] = {
        "none",    "nil",     "missing", "unknown", "--",  "---",  "...",
        "#DIV/0!", "#VALUE!", "#REF!",   "#NUM!",   "inf", "-inf", "n/k",
        "(blank)", "blank",   "*",       "**",      "x"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i]) == size &&
            strncasecmp(text, words[i], size) == 0) {
            return true;
        }
    }
    return false;
}

static int
compare_words(const void *a, const void *b)
{
    const struct profile_word *x = a, *y = b;
    size_t least = x->size < y->size ? x->size : y->size;
    int order = least > 0 ? memcmp(x->data, y->data, least) : 0;
    return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

/* Sorts the words and keeps one of each, with its rows. */
static void
count_words(struct profile *profile, size_t count)
{
    struct profile_word *word = profile->word;
    size_t distinct = 0;
    if (count > 1) {
        qsort(word, count, sizeof *word, compare_words);
    }
    for (size_t i = 0; i < count; i++) {
        if (distinct > 0 && compare_words(&word[distinct - 1], &word[i]) == 0) {
            word[distinct - 1].rows++;
        } else {
            word[distinct++] = word[i];
        }
    }
    profile->distinct = distinct;
}

static void
count_numbers(struct profile *profile)
{
    host_sort_doubles(profile->number, profile->numbers);
    for (size_t i = 0; i < profile->numbers; i++) {
        profile->distinct_numbers +=
            i == 0 || profile->number[i] != profile->number[i - 1] ? 1 : 0;
    }
}

static void
take_number(struct profile *profile, double number)
{
    size_t n = profile->numbers++;
    profile->number[n] = number;
    profile->whole = profile->whole && number == floor(number);
    profile->increasing =
        profile->increasing && (n == 0 || number > profile->number[n - 1]);
}

static void
take_text(struct profile *profile, const struct sotto_value *value, bool number)
{
    const char *text = value->data;
    profile->bytes += value->size;
    for (size_t i = 0; i < value->size; i++) {
        profile->blanks += text[i] == ' ' ? 1 : 0;
    }
    if (number) {
        return;
    }
    profile->dates += date_text_is(text, value->size) ? 1 : 0;
    if (says_none(text, value->size)) {
        profile->absent++;
    } else {
        profile->words++;
    }
}

enum sotto_status
profile_fill(const struct sotto_table *table, size_t column,
             struct profile *ret, struct sotto_error *err)
{
    size_t rows = sotto_table_rows(table), words = 0;
    *ret = (struct profile){.rows = rows, .whole = true, .increasing = true};
    ret->number = calloc(rows + 1, sizeof *ret->number);
    ret->word = calloc(rows + 1, sizeof *ret->word);
    if (ret->number == NULL || ret->word == NULL) {
        return host_fail_memory(err);
    }
    for (size_t row = 0; row < rows; row++) {
        struct sotto_value value = sotto_table_cell(table, row, column);
        bool number =
            value.kind != SOTTO_VALUE_MISSING && isfinite(value.number);
        if (value.kind == SOTTO_VALUE_MISSING) {
            ret->missing++;
            continue;
        }
        if (number) {
            take_number(ret, value.number);
        }
        if (value.data != NULL) {
            ret->texts = true;
            ret->word[words++] =
                (struct profile_word){value.data, value.size, 1};
            take_text(ret, &value, number);
        }
    }
    count_numbers(ret);
    count_words(ret, words);
    return SOTTO_STATUS_OK;
}

void
profile_clear(struct profile *profile)
{
    host_wipe_free(profile->number,
                   (profile->rows + 1) * sizeof *profile->number);
    host_wipe_free(profile->word, (profile->rows + 1) * sizeof *profile->word);
    *profile = (struct profile){0};
}
