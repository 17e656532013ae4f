/*
 * try_page.c: the page of sotto try, and its plot. Words and style are a
 * template, data/try-page.html; here are the values that fill it.
 *
 * The page needs nothing from anywhere: no scripts, no fonts, no pictures but
 * the one drawn in it. Its y axis spans what was seen, not 0 to 100.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/output_file.h"
#include "host/embedded.h"
#include "host/plot.h"
#include "host/template.h"
#include "host/text.h"
#include "host/values.h"
#include "verb/try_tell.h"

extern const struct embedded try_template[]; /* try-page.html */

#define TEXT_MOST (4u << 20)

/* The plot's field in the template. */
#define LEFT 62.0
#define RIGHT 736.0
#define TOP 16.0
#define BOTTOM 400.0

/* Percent at the ends of the y axis. */
struct span {
    double low, high;
};

static double
deviation_of(const struct sotto_try_mean *mean)
{
    return isnan(mean->deviation) ? 0 : mean->deviation;
}

static double
clean_of(const struct sotto_try *result)
{
    return try_is_number(result)
               ? result->line.r2
               : fmax(result->linear.accuracy, result->network.accuracy);
}

static const char *
base_of(const struct sotto_try *result)
{
    return try_is_number(result) ? "the best constant" : "the largest class";
}

/* Widens `span` by the bars of the kind that is preferred at an epsilon, or of
   the others: these no lower than `least`. */
static void
widen(struct span *span, const struct sotto_try_at *at, bool preferred,
      double least)
{
    for (size_t k = 0; k < SOTTO_TRY_KINDS; k++) {
        const struct sotto_try_mean *mean = &at->kind[k].after;
        double two = 2 * deviation_of(mean);
        if (mean->runs > 0 && ((size_t)at->best == k) == preferred) {
            span->low = fmin(span->low, fmax(least, mean->accuracy - two));
            span->high = fmax(span->high, mean->accuracy + two);
        }
    }
}

/* The best constant, the fit without privacy, and all kinds with their bars, to
   multiples of 5. What lies more than 20 points below the kinds that are
   preferred is cut off, so that these have room. */
static struct span
find_span(const struct sotto_try *result)
{
    struct span span = {result->share, fmax(result->share, clean_of(result))};
    for (size_t i = 0; i < result->count; i++) {
        widen(&span, &result->at[i], true, 0);
    }
    double least_of_others = span.low - 0.2;
    for (size_t i = 0; i < result->count; i++) {
        widen(&span, &result->at[i], false, least_of_others);
    }
    return (struct span){fmax(0, 5 * floor(20 * span.low - 0.2)),
                         fmin(100, 5 * ceil(20 * span.high + 0.2))};
}

/* ---- The plot of the page -------------------------------------------------
 */

static double
x_of(const struct sotto_try *result, double eps)
{
    double low = eps, high = eps;
    for (size_t i = 0; i < result->count; i++) {
        low = fmin(low, strtod(result->at[i].eps, NULL));
        high = fmax(high, strtod(result->at[i].eps, NULL));
    }
    low /= 1.25;
    high *= 1.25;
    return LEFT + (RIGHT - LEFT) * log(eps / low) / log(high / low);
}

static double
y_of(const struct span *span, double share)
{
    double inside = fmin(fmax(100 * share, span->low), span->high);
    return BOTTOM -
           (BOTTOM - TOP) * (inside - span->low) / (span->high - span->low);
}

static void
set_ticks(json_t *values, const struct span *span)
{
    double range = span->high - span->low;
    double step = range > 50 ? 20 : range > 20 ? 10 : 5;
    double first = step * ceil(span->low / step);
    size_t count = (size_t)((span->high - first) / step) + 1;
    json_t *ticks = host_values_list(values, "ticks", count);
    for (size_t i = 0; i < count; i++) {
        double percent = first + step * (double)i;
        json_t *tick = json_array_get(ticks, i);
        double y = y_of(span, percent / 100);
        host_values_text(tick, "y", "%.1f", y);
        host_values_text(tick, "text", "%.1f", y + 5);
        host_values_text(tick, "percent", "%.0f", percent);
    }
}

/* A dashed line; its name stands away from the other one, which may be near. */
static void
set_limit(json_t *limit, const struct span *span, double share, double other,
          const char *what)
{
    double y = y_of(span, share);
    host_values_text(limit, "y", "%.1f", y);
    host_values_text(limit, "text", "%.1f", share < other ? y + 17 : y - 6);
    host_values_text(limit, "what", "%s", what);
}

/* Epsilons from the smallest to the largest. */
static void
sort_eps(const struct sotto_try *result, size_t order[SOTTO_TRY_EPS_MAX])
{
    for (size_t i = 0; i < result->count; i++) {
        size_t j = i;
        double eps = strtod(result->at[i].eps, NULL);
        for (; j > 0 && strtod(result->at[order[j - 1]].eps, NULL) > eps; j--) {
            order[j] = order[j - 1];
        }
        order[j] = i;
    }
}

static void
set_curve(json_t *curve, const struct sotto_try *result,
          const struct span *span, size_t kind)
{
    size_t order[SOTTO_TRY_EPS_MAX], dots_there = 0;
    struct host_text points;
    json_t *dots;
    for (size_t i = 0; i < result->count; i++) {
        dots_there += result->at[i].kind[kind].after.runs > 0 ? 1 : 0;
    }
    dots = host_values_list(curve, "dots", dots_there);
    host_values_size(curve, "kind", kind);
    host_text_init(&points, TEXT_MOST);
    host_text_add(&points, "", 0);
    sort_eps(result, order);
    for (size_t i = 0, dot = 0; i < result->count; i++) {
        const struct sotto_try_at *at = &result->at[order[i]];
        const struct sotto_try_mean *mean = &at->kind[kind].after;
        if (mean->runs == 0) {
            continue;
        }
        json_t *to = json_array_get(dots, dot++);
        /* beside the other kind's, so that neither bar hides the other */
        double x = x_of(result, strtod(at->eps, NULL)) + (kind == 0 ? -5 : 5);
        double y = y_of(span, mean->accuracy), two = 2 * deviation_of(mean);
        host_text_print(&points, "%s%.1f,%.1f", dot > 1 ? " " : "", x, y);
        host_values_text(to, "x", "%.1f", x);
        host_values_text(to, "y", "%.1f", y);
        host_values_text(to, "up", "%.1f", y_of(span, mean->accuracy + two));
        host_values_text(to, "down", "%.1f", y_of(span, mean->accuracy - two));
    }
    host_values_take(curve, "points", &points);
}

static void
set_plot(json_t *values, const struct sotto_try *result)
{
    struct span span = find_span(result);
    json_t *limits = host_values_list(values, "limits", 2);
    json_t *curves = host_values_list(values, "curves", SOTTO_TRY_KINDS);
    json_t *marks = host_values_list(values, "marks", result->count);
    set_ticks(values, &span);
    set_limit(json_array_get(limits, 0), &span, result->share, clean_of(result),
              base_of(result));
    set_limit(json_array_get(limits, 1), &span, clean_of(result), result->share,
              "without privacy");
    for (size_t k = 0; k < SOTTO_TRY_KINDS; k++) {
        set_curve(json_array_get(curves, k), result, &span, k);
    }
    for (size_t i = 0; i < result->count; i++) {
        json_t *mark = json_array_get(marks, i);
        host_values_text(mark, "eps", "%s", result->at[i].eps);
        host_values_text(mark, "x", "%.1f",
                         x_of(result, strtod(result->at[i].eps, NULL)));
    }
}

/* ---- Tables ---------------------------------------------------------------
 */

/* The second score of a row: the AUC, or the error of a number. */
static void
set_second(json_t *row, const struct sotto_try *result, double auc, double rmse)
{
    if (try_is_number(result)) {
        host_values_text(row, "auc", "%.6g", rmse);
    } else {
        host_values_text(row, "auc", "%.2f", auc);
    }
}

static void
set_rows(json_t *values, const struct sotto_try *result)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < result->count * SOTTO_TRY_KINDS; i++) {
        const struct sotto_try_at *at = &result->at[i / SOTTO_TRY_KINDS];
        size_t kind = i % SOTTO_TRY_KINDS;
        const struct sotto_try_cell *cell = &at->kind[kind];
        json_t *row = json_object();
        if (cell->after.runs == 0) {
            json_decref(row);
            continue;
        }
        host_values_text(row, "eps", "%s", at->eps);
        host_values_text(row, "kind", "%s",
                         try_kind_name((enum sotto_try_kind)kind));
        host_values_bool(row, "preferred", (size_t)at->best == kind);
        host_values_text(row, "accuracy", "%.1f", 100 * cell->after.accuracy);
        host_values_text(row, "deviation", "%.1f",
                         100 * deviation_of(&cell->after));
        host_values_text(row, "balanced", "%.1f", 100 * cell->after.balanced);
        set_second(row, result, cell->after.auc, cell->after.rmse);
        (void)json_array_append_new(rows, row);
    }
    (void)json_object_set_new(values, "rows", rows);
}

static void
set_baseline(json_t *list, const struct sotto_try *result, const char *what,
             double accuracy, double auc, double rmse)
{
    json_t *row = json_object();
    host_values_text(row, "what", "%s", what);
    host_values_text(row, "accuracy", "%.1f", 100 * accuracy);
    set_second(row, result, auc, rmse);
    (void)json_array_append_new(list, row);
}

/* Lines through clean rows, of a number as the label. */
static void
set_lines(json_t *list, const struct sotto_try *result)
{
    const struct sotto_campaign_number *lines[] = {&result->line,
                                                   &result->aux_line};
    static const char *const what[] = {"a line through the people's clean rows",
                                       "a line through the auxiliary rows"};
    set_baseline(list, result, "the best constant", 0, 0,
                 result->constant_rmse);
    for (size_t i = 0; i < 2; i++) {
        if (lines[i]->rows > 0) {
            set_baseline(list, result, what[i], lines[i]->r2, 0,
                         lines[i]->rmse);
        }
    }
}

static void
set_fits(json_t *list, const struct sotto_try *result)
{
    const struct {
        const char *what;
        const struct sotto_campaign_score *score;
    } fits[] = {
        {"logistic regression on the people's clean rows", &result->linear},
        {"a network on the people's clean rows", &result->network},
        {"logistic regression on the auxiliary rows", &result->aux_linear},
        {"a network on the auxiliary rows", &result->aux_network}};
    set_baseline(list, result, "the largest class for everybody", result->share,
                 0.5, 0);
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
        if (fits[i].score->rows > 0) {
            set_baseline(list, result, fits[i].what, fits[i].score->accuracy,
                         fits[i].score->auc, 0);
        }
    }
}

static void
set_baselines(json_t *values, const struct sotto_try *result)
{
    json_t *list = json_array();
    if (try_is_number(result)) {
        set_lines(list, result);
    } else {
        set_fits(list, result);
    }
    (void)json_object_set_new(values, "baselines", list);
}

static void
set_verdicts(json_t *values, const struct tried *tried)
{
    const struct sotto_try *result = tried->result;
    json_t *list = host_values_list(values, "verdicts", result->count);
    struct host_text text;
    for (size_t i = 0; i < result->count; i++) {
        json_t *to = json_array_get(list, i);
        host_text_init(&text, TEXT_MOST);
        try_say_verdict(&text, tried, &result->at[i]);
        host_values_text(to, "eps", "%s", result->at[i].eps);
        host_values_take(to, "verdict", &text);
    }
}

/* ---- All of it ------------------------------------------------------------
 */

/* Words that differ between a class and a number. */
static void
set_words(json_t *values, const struct sotto_try *result)
{
    bool number = try_is_number(result);
    host_values_bool(values, "number", number);
    host_values_text(values, "what", "%s",
                     number ? "of how it varies is explained" : "are right");
    host_values_text(values, "base", "%s", base_of(result));
    host_values_text(values, "measure", "%s",
                     number ? "What is explained" : "Accuracy");
    host_values_text(values, "short", "%s", number ? "explained" : "right");
    host_values_text(values, "second", "%s", number ? "RMSE" : "AUC");
    host_values_text(values, "way", "%s", number ? "lot" : "classes");
    host_values_text(values, "constant", "%.6g", result->constant);
    host_values_text(values, "constant_rmse", "%.6g", result->constant_rmse);
}

static void
set_facts(json_t *values, const struct tried *tried)
{
    const struct sotto_try *result = tried->result;
    bool learns = result->advised != SIZE_MAX;
    json_t *advised = host_values_list(values, "advised", learns ? 1 : 0);
    json_t *outs = host_values_list(values, "outs", result->outs);
    json_t *warnings = host_values_list(values, "warnings", result->warnings);
    host_values_text(values, "file", "%s", cli_shown(tried->file));
    host_values_text(values, "label", "%s", cli_shown(tried->label));
    host_values_text(values, "largest", "%s", cli_shown(result->largest));
    host_values_text(values, "version", "%s", SOTTO_VERSION);
    host_values_size(values, "aux", result->aux);
    host_values_size(values, "people", result->people);
    host_values_size(values, "test", result->test);
    host_values_text(values, "majority", "%.1f", 100 * result->share);
    host_values_text(values, "clean", "%.1f", 100 * clean_of(result));
    host_values_bool(values, "learns", learns);
    host_values_bool(values, "some_out", result->outs > 0);
    host_values_text(values, "answers", "%s",
                     result->answers > 0 ? TRY_ANSWERS : "");
    host_values_bool(values, "warned", result->warnings > 0);
    if (learns) {
        const struct sotto_try_at *at = &result->at[result->advised];
        json_t *to = json_array_get(advised, 0);
        host_values_text(to, "eps", "%s", at->eps);
        host_values_text(to, "accuracy", "%.1f",
                         100 * at->kind[at->best].after.accuracy);
    }
    for (size_t i = 0; i < result->warnings; i++) {
        host_values_text(json_array_get(warnings, i), "text", "%s",
                         cli_shown(result->warning[i]));
    }
    for (size_t i = 0; i < result->outs; i++) {
        json_t *to = json_array_get(outs, i);
        host_values_text(to, "name", "%s", cli_shown(result->out[i]));
        host_values_text(to, "why", "%s", result->why[i]);
    }
}

static void
set_sentences(json_t *values, const struct tried *tried)
{
    const struct sotto_try_at *at = &tried->result->at[0];
    struct host_text text;
    host_text_init(&text, TEXT_MOST);
    try_say_advice(&text, tried);
    host_values_take(values, "advice", &text);
    host_text_init(&text, TEXT_MOST);
    try_say_commands(&text, tried);
    host_values_take(values, "commands", &text);
    host_values_size(values, "draws", at->kind[at->best].after.runs);
}

static int
write_file(const char *folder, const char *name, const struct host_text *text)
{
    char *path = host_text_path("%s/%s", folder, name);
    struct output_file file;
    int status = CLI_EXIT_FAILED;
    if (path == NULL || text->failed) {
        free(path);
        return cli_no_memory();
    }
    if (output_file_open(&file, path)) {
        (void)fwrite(text->data, 1, text->size, file.stream);
        status = output_file_commit(&file) ? CLI_EXIT_DONE : CLI_EXIT_FAILED;
    }
    free(path);
    return status;
}

/* The plot by itself. */
static int
write_plot(const struct tried *tried, const char *folder)
{
    static const char *const colours[] = {"#b5522b", "#2b6f77", "#616e7c"};
    const struct sotto_try *result = tried->result;
    double x[SOTTO_TRY_EPS_MAX], y[3][SOTTO_TRY_EPS_MAX];
    double deviation[2][SOTTO_TRY_EPS_MAX];
    char title[200], subtitle[200];
    struct span span = find_span(result);
    const struct plot_series series[] = {
        {base_of(result) + strlen("the "), PLOT_MARKS, colours[2], y[2], NULL},
        {"codebook", PLOT_LINE, colours[0], y[0], deviation[0]},
        {"direct", PLOT_LINE, colours[1], y[1], deviation[1]}};
    const struct plot plot = {
        .title = title,
        .subtitle = subtitle,
        .y_name = try_is_number(result) ? "share explained (R2), %" : NULL,
        .x = x,
        .points = result->count,
        .series = series,
        .count = 3,
        .low = span.low,
        .high = span.high};
    struct host_text text;
    for (size_t i = 0; i < result->count; i++) {
        x[i] = strtod(result->at[i].eps, NULL);
        y[2][i] = 100 * result->share;
        for (size_t k = 0; k < SOTTO_TRY_KINDS; k++) {
            const struct sotto_try_mean *mean = &result->at[i].kind[k].after;
            y[k][i] = mean->runs > 0 ? 100 * mean->accuracy : NAN;
            deviation[k][i] = 200 * deviation_of(mean);
        }
    }
    (void)snprintf(title, sizeof title, "%.100s: what %zu reports teach",
                   tried->label, result->people);
    (void)snprintf(subtitle, sizeof subtitle,
                   "simulated; %.1f%% without privacy; bars: two deviations "
                   "between collections",
                   100 * clean_of(result));
    host_text_init(&text, TEXT_MOST);
    plot_svg(&text, &plot);
    int status = write_file(folder, "try.svg", &text);
    host_text_clear(&text);
    return status;
}

int
try_page_write(const struct tried *tried, const char *folder)
{
    json_t *values = json_object();
    struct host_text page;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        json_decref(values);
        cli_error("cannot make the folder '%.240s': %s", folder,
                  strerror(errno));
        return CLI_EXIT_FAILED;
    }
    host_text_init(&page, TEXT_MOST);
    set_words(values, tried->result);
    set_facts(values, tried);
    set_sentences(values, tried);
    set_plot(values, tried->result);
    set_rows(values, tried->result);
    set_baselines(values, tried->result);
    set_verdicts(values, tried);
    host_template_fill(&page, (const char *)try_template[0].bytes, values);
    int status = write_file(folder, "try.html", &page);
    status = CLI_THEN(status, write_plot(tried, folder));
    host_text_clear(&page);
    json_decref(values);
    return status;
}
