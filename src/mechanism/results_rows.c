/*
 * results_rows.c: the page's tables of estimates, each row with a bar.
 *
 * Shares of one column stand together under its name, in percent; numbers share
 * a table, with the share of those who have none. What is about combinations is
 * folded where their margins stand above.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/values.h"
#include "mechanism/results.h"

#define BAR 300.0       /* units of a bar's length */
#define NAME_MOST 60u   /* characters */
#define FORGED 2u       /* shares of liars: 1% and 5% */
#define DECIMALS_MOST 6 /* behind the point */

static const double liars[FORGED] = {0.01, 0.05};

/* All rows, of margins first. */
struct list {
    const struct sotto_results_campaign *campaign;
    double z;
    size_t margins, count;
    size_t most; /* of a table */
    size_t left; /* out of all tables */
};

struct item {
    struct sotto_estimate_row row;
    struct sotto_reach reach[FORGED];
    bool number; /* it stands in the table of numbers */
};

static void
read_item(const struct list *list, size_t i, struct item *ret_item)
{
    const struct sotto_results_campaign *campaign = list->campaign;
    bool margin = i < list->margins;
    size_t at = margin ? i : i - list->margins;
    if (margin) {
        sotto_margins_row(campaign->margins, at, list->z, &ret_item->row);
    } else {
        sotto_estimate_row(campaign->estimate, at, list->z, &ret_item->row);
    }
    for (size_t j = 0; j < FORGED; j++) {
        if (margin) {
            sotto_margins_reach(campaign->margins, at, liars[j],
                                &ret_item->reach[j]);
        } else {
            sotto_estimate_reach(campaign->estimate, at, liars[j],
                                 &ret_item->reach[j]);
        }
    }
    ret_item->number = ret_item->row.category == NULL ||
                       ret_item->row.missing == SOTTO_MISSING_TOLD;
}

/* ---- A bar --------------------------------------------------------------- */

/* What a bar spans: of shares 0 to 1 at least where much is not known, and else
   some intervals around what was found. */
struct span {
    double low, high;
};

static struct span
find_span(const struct item *item)
{
    const struct sotto_estimate_row *row = &item->row;
    double half = fmax(row->high - row->value, row->value - row->low);
    double reach = fmin(item->reach[FORGED - 1].forged, 12 * half);
    double wide = 1.1 * fmax(half, reach);
    return (struct span){row->value - wide, row->value + wide};
}

static double
place(const struct span *span, double value)
{
    double at = BAR * (value - span->low) / (span->high - span->low);
    return fmin(fmax(at, 0), BAR);
}

/* Appends a box from one value to another. */
static void
set_box(json_t *values, const char *name, const struct span *span, double low,
        double high, double thick)
{
    host_values_text(values, name, "M%.1f %.1fH%.1fV%.1fH%.1fz",
                     place(span, low), 7 - thick, place(span, high), 7 + thick,
                     place(span, low));
}

static void
set_bands(json_t *bar, const struct item *item, const struct span *span)
{
    static const char *const names[FORGED] = {"one", "five"};
    for (size_t i = 0; i < FORGED; i++) {
        double reach = fmin(item->reach[i].forged, span->high - span->low);
        json_t *list = host_values_list(bar, names[i], 1);
        set_box(json_array_get(list, 0), "d", span, item->row.value - reach,
                item->row.value + reach, 4);
    }
}

static void
set_bar(json_t *values, const struct item *item, const struct span *span)
{
    bool drawn = span->high > span->low && isfinite(span->high - span->low);
    json_t *list = host_values_list(values, "bars", drawn ? 1 : 0);
    json_t *bar = json_array_get(list, 0);
    if (drawn) {
        double thin = (span->high - span->low) / 200;
        set_bands(bar, item, span);
        set_box(bar, "ci", span, item->row.low, item->row.high, 2.5);
        set_box(bar, "pt", span, item->row.value - thin, item->row.value + thin,
                6);
    }
}

/* ---- A row --------------------------------------------------------------- */

/* How many digits behind the point say something beside such a width. */
static int
find_decimals(double half)
{
    double digits = half > 0 && isfinite(half) ? 1 - floor(log10(half)) : 2;
    return (int)fmin(fmax(digits, 0), DECIMALS_MOST);
}

static void
set_figures(json_t *values, const struct item *item)
{
    static const char *const names[FORGED] = {"forged1", "forged5"};
    const struct sotto_estimate_row *row = &item->row;
    bool share = row->category != NULL;
    double unit = share ? 100 : 1, half = unit * (row->high - row->low) / 2;
    int decimals = find_decimals(half);
    const char *percent = share ? "%" : "";
    if (row->unbounded || !isfinite(half)) {
        host_values_text(values, "value", "%s", "unknown");
        host_values_text(values, "interval", "%s", "nothing is ruled out");
    } else {
        host_values_text(values, "value", "%.*f%s", decimals, unit * row->value,
                         percent);
        host_values_text(values, "interval", "%.*f to %.*f%s", decimals,
                         unit * row->low, decimals, unit * row->high, percent);
    }
    for (size_t i = 0; i < FORGED; i++) {
        double reach = unit * item->reach[i].forged;
        if (isfinite(reach)) {
            host_values_text(values, names[i], "\u00b1%.*f",
                             find_decimals(reach), reach);
        } else {
            host_values_text(values, names[i], "%s", "anything");
        }
    }
}

/* The row's title: a category, or a column where numbers stand together. */
static void
set_name(json_t *values, const struct item *item)
{
    const struct sotto_estimate_row *row = &item->row;
    char name[4 * NAME_MOST + 64];
    if (!item->number) {
        results_shown(values, "name", row->category, NAME_MOST);
        return;
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)(4 * NAME_MOST), row->name);
    if (row->category != NULL) {
        (void)snprintf(name, sizeof name, "No value in %.*s",
                       (int)(4 * NAME_MOST), row->name);
    } else if (row->missing == SOTTO_MISSING_TOLD) {
        (void)snprintf(name, sizeof name, "%.*s, of those who have a value",
                       (int)(4 * NAME_MOST), row->name);
    }
    results_shown(values, "name", name, NAME_MOST + 32);
}

/* ---- A table ------------------------------------------------------------- */

/* Whether row i belongs into the table that begins with row `first`. */
static bool
goes_along(const struct list *list, const struct item *first, size_t i)
{
    struct item item;
    if (i == list->count || i == list->margins) {
        return false;
    }
    read_item(list, i, &item);
    return first->number
               ? item.number
               : !item.number && strcmp(item.row.name, first->row.name) == 0;
}

static void
fill_rows(json_t *rows, const struct list *list, size_t first, size_t count,
          const struct span *span)
{
    for (size_t i = 0; i < count; i++) {
        json_t *values = json_array_get(rows, i);
        struct item item;
        read_item(list, first + i, &item);
        struct span own = find_span(&item);
        set_name(values, &item);
        set_figures(values, &item);
        set_bar(values, &item, item.number ? &own : span);
    }
}

/* Shares of one thing are drawn on one scale. */
static struct span
join_spans(const struct list *list, size_t first, size_t count)
{
    struct span all = {INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++) {
        struct item item;
        read_item(list, first + i, &item);
        struct span own = find_span(&item);
        if (isfinite(own.low) && isfinite(own.high)) {
            all.low = fmin(all.low, own.low);
            all.high = fmax(all.high, own.high);
        }
    }
    return all;
}

static bool
is_folded(const struct list *list, const struct item *first, size_t at)
{
    return at >= list->margins && list->margins > 0 && !first->number &&
           strstr(first->row.name, " x ") != NULL;
}

/* Adds the table that begins with row `first`; returns how many rows it has. */
static size_t
add_table(json_t *groups, struct list *list, size_t first)
{
    json_t *values = results_append(groups);
    struct item item;
    size_t count = 1, shown;
    read_item(list, first, &item);
    while (goes_along(list, &item, first + count)) {
        count++;
    }
    shown = count < list->most ? count : list->most;
    list->left += count - shown;
    struct span span = join_spans(list, first, shown);
    results_shown(values, "title", item.number ? "Numbers" : item.row.name,
                  NAME_MOST);
    host_values_text(values, "what", "%s",
                     item.number ? "Mean of" : "Share of people");
    host_values_bool(values, "folded", is_folded(list, &item, first));
    fill_rows(host_values_list(values, "rows", shown), list, first, shown,
              &span);
    return count;
}

void
results_rows(json_t *values, const struct sotto_results_campaign *campaign,
             double z, size_t most)
{
    struct list list = {.campaign = campaign, .z = z, .most = most};
    json_t *groups = json_array();
    size_t tables = 0;
    char left[RESULTS_COUNT_SIZE];
    if (campaign->estimate != NULL && campaign->counted > 0) {
        list.margins = campaign->margins != NULL
                           ? sotto_margins_rows(campaign->margins)
                           : 0;
        list.count = list.margins + sotto_estimate_rows(campaign->estimate);
    }
    for (size_t i = 0; i < list.count;) {
        if (tables < most) {
            i += add_table(groups, &list, i);
            tables++;
        } else {
            list.left += list.count - i;
            i = list.count;
        }
    }
    results_set_list(values, "groups", groups, tables);
    json_t *lefts = host_values_list(values, "lefts", list.left > 0 ? 1 : 0);
    if (list.left > 0) {
        host_values_text(json_array_get(lefts, 0), "text",
                         "%s more rows are not on this page: sotto decode "
                         "prints all of them.",
                         results_count(list.left, left));
    }
}
