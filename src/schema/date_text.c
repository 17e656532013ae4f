/*
 * date_text.c: whether a text is a date.
 *
 *     text --> up to three parts, each digits or a month's name, one kind of
 *              separator between them --> one is a year, the others fit
 */
#include "schema/date_text.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define PARTS 3u

struct parts {
    unsigned number[PARTS];
    size_t digits[PARTS]; /* 0: a month's name */
    size_t count;
};

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool
is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Takes a month's name, three letters of it or all. */
static bool
take_month(const char **at, const char *end)
{
    static const char *const months[] = {
        "january", "february", "march",     "april",   "may",      "june",
        "july",    "august",   "september", "october", "november", "december"};
    size_t size = 0;
    while (*at + size < end && is_letter((*at)[size])) {
        size++;
    }
    for (size_t i = 0; i < 12 && size >= 3; i++) {
        if ((size == 3 || size == strlen(months[i])) &&
            strncasecmp(*at, months[i], size) == 0) {
            *at += size;
            return true;
        }
    }
    return false;
}

static bool
take_part(const char **at, const char *end, struct parts *parts)
{
    size_t size = 0;
    unsigned number = 0;
    while (*at + size < end && size < 5 && is_digit((*at)[size])) {
        number = number * 10 + (unsigned)((*at)[size++] - '0');
    }
    if (size > 4 || (size == 0 && !take_month(at, end))) {
        return false;
    }
    *at += size;
    parts->number[parts->count] = number;
    parts->digits[parts->count++] = size;
    return true;
}

static bool
is_year(const struct parts *parts, size_t i)
{
    return i < parts->count && parts->digits[i] == 4 &&
           parts->number[i] >= 1800 && parts->number[i] < 2200;
}

static bool
is_day(const struct parts *parts, size_t i)
{
    return parts->digits[i] <= 2 &&
           (parts->digits[i] == 0 ||
            (parts->number[i] >= 1 && parts->number[i] <= 31));
}

/* One year, first or last; of the others one at most is a name, and at least
   one can be a month. */
static bool
is_date(const struct parts *parts)
{
    size_t names = 0, months = 0;
    bool first = is_year(parts, 0), last = is_year(parts, parts->count - 1);
    if (parts->count < 2 || first == last) {
        return false;
    }
    for (size_t i = first ? 1 : 0; i + (last ? 1 : 0) < parts->count; i++) {
        if (!is_day(parts, i)) {
            return false;
        }
        names += parts->digits[i] == 0 ? 1 : 0;
        months += parts->digits[i] == 0 || parts->number[i] <= 12 ? 1 : 0;
    }
    return names <= 1 && months > 0;
}

/* Whether what follows is the end, or a time. */
static bool
ends(const char *at, const char *end)
{
    if (at == end) {
        return true;
    }
    return (*at == ' ' || *at == 'T') && end - at >= 5 &&
           (is_digit(at[1]) && (at[2] == ':' || at[3] == ':'));
}

bool
date_text_is(const void *text, size_t size)
{
    struct parts parts = {.count = 0};
    const char *at = text, *end = size > 0 ? at + size : at;
    if (size < 6 || size > 40) {
        return false;
    }
    while (parts.count < PARTS && take_part(&at, end, &parts)) {
        if (ends(at, end) && parts.count > 1 && is_date(&parts)) {
            return true;
        }
        if (at < end && *at == ',') {
            at++;
        }
        if (at == end || strchr("-/. ", *at) == NULL) {
            break;
        }
        at++;
    }
    return at == end && is_date(&parts);
}

bool
date_text_is_number(double number)
{
    if (number != floor(number) || number < 18000101 || number > 21991231) {
        return false;
    }
    unsigned whole = (unsigned)number;
    unsigned month = whole / 100 % 100, day = whole % 100;
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}
