/*
 * plan_plot.c: sotto plan: pictures.
 */
#include "verb/plan_plot.h"

#include <math.h>
#include <stdlib.h>

#include "cli/output_file.h"
#include "host/confidence.h"
#include "host/plot.h"
#include "host/text.h"

#define SVG_MOST ((size_t)1 << 20)
#define QUESTIONS_MOST 4u
#define LINES_MOST PLAN_LIST_MOST

const char *
plan_plot_colour(size_t i)
{
    static const char *const colours[] = {"#1f77b4", "#d62728", "#2ca02c",
                                          "#9467bd", "#8c564b", "#e377c2"};
    return colours[i % (sizeof colours / sizeof *colours)];
}

int
plan_plot_write(const struct plot *plot, const char *path)
{
    struct host_text text;
    struct output_file file;
    host_text_init(&text, SVG_MOST);
    plot_svg(&text, plot);
    bool good = !text.failed && output_file_open(&file, path);
    if (good) {
        (void)fwrite(text.data, 1, text.size, file.stream);
        good = output_file_commit(&file);
    }
    host_text_clear(&text);
    return good ? CLI_EXIT_DONE : CLI_EXIT_FAILED;
}

/* ---- Half widths --------------------------------------------------------- */

void
plan_widths_clear(struct plan_widths *widths)
{
    free(widths->half);
    free(widths->name);
}

static double *
half_at(const struct plan_widths *widths, const struct plan_job *job,
        size_t eps, size_t people, size_t row)
{
    return &widths
                ->half[(eps * job->people_count + people) * widths->rows + row];
}

/* Makes room when the first epsilon is taken. */
static int
make_room(struct plan_widths *widths, const struct plan_job *job,
          const struct sotto_precision *precision)
{
    if (widths->half != NULL) {
        return CLI_EXIT_DONE;
    }
    widths->rows = sotto_precision_rows(precision);
    widths->half = calloc(PLAN_LIST_MOST * job->people_count * widths->rows + 1,
                          sizeof *widths->half);
    widths->name = calloc(widths->rows + 1, sizeof *widths->name);
    return widths->half != NULL && widths->name != NULL ? CLI_EXIT_DONE
                                                        : cli_no_memory();
}

int
plan_widths_take(struct plan_widths *widths, const struct plan_job *job,
                 size_t eps, const struct sotto_precision *precision)
{
    int status = make_room(widths, job, precision);
    for (size_t p = 0; status == CLI_EXIT_DONE && p < job->people_count; p++) {
        const struct sotto_precision_case when = {
            job->people[p], confidence_z(job->confidence), 0};
        for (size_t i = 0; i < widths->rows; i++) {
            struct sotto_precision_row row;
            sotto_precision_row(precision, i, &when, &row);
            double half = 100 * row.half / (row.high - row.low);
            *half_at(widths, job, eps, p, i) = half <= 100 ? half : NAN;
            (void)snprintf(
                widths->name[i], sizeof widths->name[i], "%.24s%s", row.name,
                row.missing ? ", missing"
                            : (row.categories > 0 ? ", shares" : ""));
        }
    }
    return status;
}

/* ---- Lines --------------------------------------------------------------- */

/* What is drawn; a line has a y for each epsilon. */
struct lines {
    double y[LINES_MOST][PLAN_LIST_MOST];
    char name[LINES_MOST][PLAN_PLOT_NAME];
    size_t count;
};

/* The widest question at an epsilon, NAN if all are above 100. */
static double
find_widest(const struct plan_widths *widths, const struct plan_job *job,
            size_t eps, size_t people)
{
    double widest = NAN;
    for (size_t i = 0; i < widths->rows; i++) {
        double half = *half_at(widths, job, eps, people, i);
        if (isnan(half)) {
            return NAN;
        }
        widest = fmax(widest, half);
    }
    return widest;
}

static void
line_people(struct lines *lines, const struct plan_widths *widths,
            const struct plan_job *job, size_t count)
{
    lines->count = job->people_count;
    for (size_t p = 0; p < lines->count; p++) {
        (void)snprintf(lines->name[p], sizeof lines->name[p], "%s people",
                       plan_count(job->people[p]));
        for (size_t e = 0; e < count; e++) {
            lines->y[p][e] = find_widest(widths, job, e, p);
        }
    }
}

/* Questions from the widest at the last epsilon on. */
static void
line_questions(struct lines *lines, const struct plan_widths *widths,
               const struct plan_job *job, size_t count)
{
    bool taken[1024] = {false};
    size_t rows = widths->rows < 1024 ? widths->rows : 1024;
    while (lines->count < QUESTIONS_MOST && lines->count < rows) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < rows; i++) {
            if (!taken[i] && (best == SIZE_MAX ||
                              *half_at(widths, job, count - 1, 0, i) >
                                  *half_at(widths, job, count - 1, 0, best))) {
                best = i;
            }
        }
        taken[best] = true;
        (void)snprintf(lines->name[lines->count], PLAN_PLOT_NAME, "%s",
                       widths->name[best]);
        for (size_t e = 0; e < count; e++) {
            lines->y[lines->count][e] = *half_at(widths, job, e, 0, best);
        }
        lines->count++;
    }
}

/* A top of the y axis that all of them fit under. */
static double
find_top(const struct lines *lines, size_t count)
{
    static const double tops[] = {1, 2, 5, 10, 20, 50};
    double most = 0;
    for (size_t i = 0; i < lines->count; i++) {
        for (size_t e = 0; e < count; e++) {
            most = isnan(lines->y[i][e]) ? 100 : fmax(most, lines->y[i][e]);
        }
    }
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
        if (most <= tops[i]) {
            return tops[i];
        }
    }
    return 100;
}

int
plan_widths_draw(const struct plan_widths *widths, const struct plan_job *job,
                 const char *path)
{
    struct plot_series series[LINES_MOST];
    struct lines lines = {.count = 0};
    size_t count = job->eps_count;
    char subtitle[160], people[48];
    (void)snprintf(people, sizeof people, "%s people",
                   plan_count(job->people[0]));
    if (job->people_count > 1) {
        line_people(&lines, widths, job, count);
    } else {
        line_questions(&lines, widths, job, count);
    }
    for (size_t i = 0; i < lines.count; i++) {
        series[i] = (struct plot_series){lines.name[i], PLOT_LINE,
                                         plan_plot_colour(i), lines.y[i], NULL};
    }
    (void)snprintf(subtitle, sizeof subtitle,
                   "%g%% intervals%s%s, by formula; shares in points, means in "
                   "%% of their range",
                   100 * job->confidence,
                   job->people_count > 1 ? " of the widest question" : " of ",
                   job->people_count > 1 ? "" : people);
    const struct plot plot = {.title = "Errors to expect",
                              .subtitle = subtitle,
                              .y_name = "half the interval, %",
                              .x = job->eps_number,
                              .points = count,
                              .series = series,
                              .count = lines.count,
                              .high = find_top(&lines, count)};
    return plan_plot_write(&plot, path);
}
