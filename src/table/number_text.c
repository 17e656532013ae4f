/*
 * number_text.c: a number as people write it into a table.
 *
 *     "(", sign, currency, digits in groups, fraction, exponent, "%",
 *     currency, ")"  -->  sign digits fraction exponent  -->  decimal_text.c
 *
 * Nearly all numbers are plain, and decimal_text.c takes them at once. The
 * others are copied without what is not part of the number, and read again.
 */
#include "table/number_text.h"

#include <string.h>

#include "table/decimal_text.h"

#define TEXT_MOST ((size_t)64)
#define GROUP ((size_t)3) /* digits between two separators */

struct written {
    const char *at;
    const char *end;
    char plain[TEXT_MOST + 2]; /* what decimal_text.c gets */
    size_t size;
    bool sign, currency, grouped, percent;
};

/* Takes one of several words; returns which, or NULL. */
static const char *
take_word(struct written *w, const char *const *words)
{
    for (; *words != NULL; words++) {
        size_t size = strlen(*words);
        if ((size_t)(w->end - w->at) >= size &&
            memcmp(w->at, *words, size) == 0) {
            w->at += size;
            return *words;
        }
    }
    return NULL;
}

static void
skip_blanks(struct written *w)
{
    /* A blank, a tab, and the blanks that do not break. */
    static const char *const blanks[] = {" ", "\t", "\xc2\xa0", "\xe2\x80\xaf",
                                         NULL};
    while (take_word(w, blanks) != NULL) {
    }
}

static bool
at_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

static void
put(struct written *w, char c)
{
    w->plain[w->size++] = c;
}

/* Takes one sign at most, of all that stand before the number. */
static bool
take_sign(struct written *w)
{
    static const char *const signs[] = {"-", "+", "\xe2\x88\x92", NULL};
    const char *sign = take_word(w, signs);
    if (sign == NULL) {
        return true;
    }
    if (w->sign) {
        return false;
    }
    w->sign = true;
    if (*sign != '+') {
        put(w, '-');
    }
    return true;
}

/* Takes one currency sign at most, of all that stand around the number. */
static bool
take_currency(struct written *w)
{
    static const char *const signs[] = {"$", "\xe2\x82\xac", "\xc2\xa3",
                                        "\xc2\xa5", NULL};
    skip_blanks(w);
    if (take_word(w, signs) == NULL) {
        return true;
    }
    if (w->currency) {
        return false;
    }
    w->currency = true;
    skip_blanks(w);
    return true;
}

static size_t
take_digits(struct written *w)
{
    size_t count = 0;
    for (; at_digit(w->at, w->end); count++) {
        put(w, *w->at++);
    }
    return count;
}

/* Takes a separator if exactly three digits follow it, and returns which. */
static const char *
take_separator(struct written *w)
{
    static const char *const separators[] = {
        ",", "'", " ", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x99", NULL};
    const char *before = w->at, *separator = take_word(w, separators);
    size_t digits = 0;
    while (separator != NULL && at_digit(w->at + digits, w->end)) {
        digits++;
    }
    if (digits != GROUP) {
        w->at = before;
        return NULL;
    }
    return separator;
}

/* Takes the digits before the point, in groups that are parted alike. */
static bool
take_whole(struct written *w)
{
    const char *first = NULL, *separator;
    size_t digits = take_digits(w);
    while (digits > 0 && (separator = take_separator(w)) != NULL) {
        if (digits > GROUP || (first != NULL && first != separator)) {
            return false;
        }
        first = separator;
        w->grouped = true;
        digits = take_digits(w);
    }
    return digits > 0;
}

static bool
take_number(struct written *w)
{
    bool whole = take_whole(w), fraction = false;
    if (w->at < w->end && *w->at == '.') {
        put(w, *w->at++);
        fraction = take_digits(w) > 0;
    }
    if (w->at < w->end && (*w->at == 'e' || *w->at == 'E')) {
        put(w, *w->at++);
        if (w->at < w->end && (*w->at == '-' || *w->at == '+')) {
            put(w, *w->at++);
        }
        return (whole || fraction) && take_digits(w) > 0;
    }
    return whole || fraction;
}

static bool
take_percent(struct written *w)
{
    static const char *const signs[] = {"%", NULL};
    skip_blanks(w);
    w->percent = take_word(w, signs) != NULL;
    return true;
}

/* Takes what stands between two parentheses, or all of the text. */
static bool
take_amount(struct written *w)
{
    return take_sign(w) && take_currency(w) && take_sign(w) && take_number(w) &&
           take_percent(w) && take_currency(w) && !(w->percent && w->currency);
}

static bool
take_text(struct written *w)
{
    bool open = w->at < w->end && *w->at == '(';
    if (!open) {
        return take_amount(w) && w->at == w->end;
    }
    w->at++;
    put(w, '-');
    w->sign = true;
    return take_amount(w) && (w->grouped || w->currency) &&
           w->end - w->at == 1 && *w->at == ')';
}

bool
number_text_parse(const void *text, size_t size, double *ret_number)
{
    if (decimal_text_clamp(text, size, ret_number)) {
        return true;
    }
    if (size == 0 || size > TEXT_MOST) {
        return false;
    }
    struct written w = {.at = text, .end = (const char *)text + size};
    skip_blanks(&w);
    while (w.end > w.at && (w.end[-1] == ' ' || w.end[-1] == '\t')) {
        w.end--;
    }
    return take_text(&w) && decimal_text_clamp(w.plain, w.size, ret_number);
}
