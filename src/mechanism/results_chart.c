/*
 * results_chart.c: the page's two charts, as paths of SVG.
 */
#include <math.h>
#include <stdio.h>

#include "host/values.h"
#include "mechanism/results.h"

/* The field of both charts in the template. */
#define LEFT 0.0
#define RIGHT 720.0
#define TOP 36.0
#define RELEASED_BOTTOM 194.0
#define ACCURACY_BOTTOM 210.0
#define ABOVE 6.0 /* a line is its name */
#define DOT 6.0   /* of a curve, and some room */

/* Places of a chart's field. */
static double
place(double value, double low, double high, double from, double to)
{
    return high > low ? from + (to - from) * (value - low) / (high - low)
                      : (from + to) / 2;
}

/* A line across the field, and its name above it. */
static void
set_tick(json_t *ticks, json_t *names, size_t i, double y)
{
    host_values_text(json_array_get(ticks, i), "y", "%.1f", y);
    host_values_text(json_array_get(names, i), "y", "%.1f", y - ABOVE);
}

/* ---- Released reports ---------------------------------------------------- */

/* A round number that is no less, and whose half is whole. */
static double
round_up(double value)
{
    static const double rounds[] = {1, 2, 3, 4, 6, 8, 10};
    double ten = pow(10, floor(log10(fmax(value, 10))));
    size_t i = 0;
    while (i + 1 < sizeof rounds / sizeof *rounds && rounds[i] * ten < value) {
        i++;
    }
    return rounds[i] * ten;
}

/* A step for each equal part of the batches. */
static void
add_steps(struct host_text *line, const struct sotto_results_campaign *campaign,
          double high)
{
    double last = RELEASED_BOTTOM;
    host_text_print(line, "M%.0f %.1f", LEFT, last);
    for (size_t i = 0; i < campaign->steps; i++) {
        double x =
            place((double)i + 1, 0, (double)campaign->steps, LEFT, RIGHT);
        last = place((double)campaign->step[i], 0, high, RELEASED_BOTTOM, TOP);
        host_text_print(line, "V%.1fH%.1f", last, x);
    }
}

void
results_chart_released(json_t *values,
                       const struct sotto_results_campaign *campaign)
{
    bool drawn = campaign->steps > 0;
    json_t *chart =
        json_array_get(host_values_list(values, "charts", drawn ? 1 : 0), 0);
    if (!drawn) {
        return;
    }
    double high = round_up((double)campaign->released);
    char count[RESULTS_COUNT_SIZE], batches[RESULTS_COUNT_SIZE];
    json_t *ticks = host_values_list(chart, "ticks", 2);
    json_t *names = host_values_list(chart, "names", 2);
    struct host_text line;
    for (size_t i = 0; i < 2; i++) {
        set_tick(ticks, names, i,
                 place((double)i + 1, 0, 2, RELEASED_BOTTOM, TOP));
        results_set_count(json_array_get(names, i), "text",
                          (uint64_t)llround(high * ((double)i + 1) / 2));
    }
    host_text_init(&line, RESULTS_TEXT_MOST);
    add_steps(&line, campaign, high);
    host_values_text(chart, "area", "%sV%.0fz",
                     line.data != NULL ? line.data : "", RELEASED_BOTTOM);
    host_values_take(chart, "line", &line);
    host_values_text(chart, "label",
                     "Released reports, batch by batch: %s in %s batches",
                     results_count(campaign->released, count),
                     results_count(campaign->batches, batches));
    host_values_text(chart, "last", "%s", batches);
}

/* ---- Expected accuracy --------------------------------------------------- */

/* People lie on a logarithmic axis, accuracies between multiples of 10%. */
struct field {
    double first, last; /* people */
    double low, high;   /* shares */
};

static double
x_of(const struct field *field, double people)
{
    double at = fmin(fmax(people, field->first), field->last);
    return place(log(at), log(field->first), log(field->last), LEFT + DOT,
                 RIGHT - DOT);
}

static double
y_of(const struct field *field, double share)
{
    return place(share, field->low, field->high, ACCURACY_BOTTOM, TOP);
}

static struct field
find_field(const struct sotto_results_campaign *campaign)
{
    const struct sotto_results_accuracy *at = campaign->accuracy;
    struct field field = {at[0].people, at[campaign->accuracies - 1].people, 1,
                          0};
    for (size_t i = 0; i < campaign->accuracies; i++) {
        field.low = fmin(field.low, fmin(at[i].accuracy, at[i].low));
        field.high = fmax(field.high, fmax(at[i].accuracy, at[i].high));
    }
    field.low = fmax(0, floor(field.low * 10 - 1e-9) / 10);
    field.high = fmin(1, ceil(field.high * 10 + 1e-9) / 10);
    return field;
}

/* Those of which an interval is told. */
static void
set_band(json_t *chart, const struct sotto_results_campaign *campaign,
         const struct field *field)
{
    const struct sotto_results_accuracy *at = campaign->accuracy;
    size_t count = campaign->accuracies, told = 0;
    struct host_text band;
    host_text_init(&band, RESULTS_TEXT_MOST);
    for (size_t i = 0; i < 2 * count; i++) {
        const struct sotto_results_accuracy *point =
            &at[i < count ? i : 2 * count - 1 - i];
        if (!isnan(point->low) && !isnan(point->high)) {
            host_text_print(&band, "%s%.1f %.1f", told++ > 0 ? "L" : "M",
                            x_of(field, point->people),
                            y_of(field, i < count ? point->high : point->low));
        }
    }
    json_t *list = host_values_list(chart, "band", told > 2 ? 1 : 0);
    if (told > 2) {
        host_values_take(json_array_get(list, 0), "d", &band);
    } else {
        host_text_clear(&band);
    }
}

static void
set_curve(json_t *chart, const struct sotto_results_campaign *campaign,
          const struct field *field)
{
    size_t count = campaign->accuracies;
    json_t *dots = host_values_list(chart, "dots", count);
    struct host_text line;
    host_text_init(&line, RESULTS_TEXT_MOST);
    for (size_t i = 0; i < count; i++) {
        const struct sotto_results_accuracy *point = &campaign->accuracy[i];
        double x = x_of(field, point->people);
        double y = y_of(field, point->accuracy);
        host_text_print(&line, "%s%.1f %.1f", i > 0 ? "L" : "M", x, y);
        host_values_text(json_array_get(dots, i), "x", "%.1f", x);
        host_values_text(json_array_get(dots, i), "y", "%.1f", y);
    }
    host_values_take(chart, "line", &line);
}

/* Where the campaign is now, if the field has a place for it. */
static void
set_here(json_t *chart, const struct sotto_results_campaign *campaign,
         const struct field *field)
{
    double now = (double)campaign->released;
    bool inside = now >= field->first && now <= field->last;
    json_t *here = host_values_list(chart, "here", inside ? 1 : 0);
    char count[RESULTS_COUNT_SIZE];
    (void)results_count(campaign->released, count);
    if (inside) {
        host_values_text(json_array_get(here, 0), "x", "%.1f",
                         x_of(field, now));
        host_values_text(chart, "now",
                         "The dashed line is at the %s reports "
                         "of now.",
                         count);
    } else {
        host_values_text(chart, "now", "Now there are %s reports, which is %s.",
                         count,
                         now < field->first ? "fewer than were looked at"
                                            : "more than were looked at");
    }
}

static void
set_words(json_t *chart, const struct sotto_results_campaign *campaign)
{
    const struct sotto_results_accuracy *last =
        &campaign->accuracy[campaign->accuracies - 1];
    char people[RESULTS_COUNT_SIZE];
    (void)results_count((uint64_t)llround(last->people), people);
    host_values_text(chart, "label",
                     "Expected accuracy by people: %.1f%% with %s",
                     100 * last->accuracy, people);
    host_values_text(chart, "last", "%s", people);
    host_values_text(chart, "words",
                     "As sotto plan foretold it from auxiliary records, and in "
                     "nine campaigns of ten within the band: %.1f%% with %s "
                     "people.",
                     100 * last->accuracy, people);
}

void
results_chart_accuracy(json_t *values,
                       const struct sotto_results_campaign *campaign)
{
    bool drawn = campaign->accuracies > 1;
    json_t *chart = json_array_get(
        host_values_list(values, "accuracies", drawn ? 1 : 0), 0);
    if (!drawn) {
        return;
    }
    struct field field = find_field(campaign);
    json_t *ticks = host_values_list(chart, "ticks", 3);
    json_t *names = host_values_list(chart, "names", 3);
    for (size_t i = 0; i < 3; i++) {
        double share = field.low + (field.high - field.low) * (double)i / 2;
        set_tick(ticks, names, i, y_of(&field, share));
        host_values_text(json_array_get(names, i), "text", "%.0f%%",
                         100 * share);
    }
    set_band(chart, campaign, &field);
    set_curve(chart, campaign, &field);
    set_here(chart, campaign, &field);
    results_set_count(chart, "first", (uint64_t)llround(field.first));
    set_words(chart, campaign);
}
