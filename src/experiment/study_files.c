/*
 * study_files.c: the rows of an experiment that measures a loss, as a CSV file,
 * tables with the gains, and a picture for each panel.
 *
 * What is written depends on the rows and on the options alone, not on which
 * rows were there before.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/study.h"
#include "host/csv_field.h"
#include "host/error.h"
#include "host/file.h"
#include "host/plot.h"
#include "host/text.h"

#define TEXT_MOST ((size_t)1 << 28)

bool
study_has(const struct study_panel *panel, const char *method)
{
    size_t size = strlen(method);
    for (const char *at = panel->methods; at != NULL && *at != '\0';) {
        size_t word = strcspn(at, " ");
        if (word == size && memcmp(at, method, size) == 0) {
            return true;
        }
        at += word;
        at += strspn(at, " ");
    }
    return panel->methods == NULL;
}

/* ---- Finding means ------------------------------------------------------- */

struct means {
    const struct sotto_experiment_row *row;
    size_t count;
};

static const struct sotto_experiment_row *
find_mean(const struct means *means, const struct study_panel *panel,
          const char *method, double x)
{
    for (size_t i = 0; i < means->count; i++) {
        const struct sotto_experiment_row *row = &means->row[i];
        if (row->mean && row->x == x && strcmp(row->level, panel->name) == 0 &&
            strcmp(row->mechanism, method) == 0) {
            return row;
        }
    }
    return NULL;
}

static int
compare_numbers(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* The panel's x that have a mean, rising; at most PLOT_POINTS_MOST. */
static size_t
find_x(const struct means *means, const struct study_panel *panel,
       double ret_x[PLOT_POINTS_MOST])
{
    size_t count = 0;
    for (size_t i = 0; i < means->count && count < PLOT_POINTS_MOST; i++) {
        const struct sotto_experiment_row *row = &means->row[i];
        bool known = !row->mean || strcmp(row->level, panel->name) != 0;
        for (size_t j = 0; j < count && !known; j++) {
            known = ret_x[j] == row->x;
        }
        if (!known) {
            ret_x[count++] = row->x;
        }
    }
    qsort(ret_x, count, sizeof *ret_x, compare_numbers);
    return count;
}

/* Whether any mean of a method is in a panel. */
static bool
is_measured(const struct means *means, const struct study_panel *panel,
            const char *method)
{
    for (size_t i = 0; i < means->count; i++) {
        if (means->row[i].mean &&
            strcmp(means->row[i].level, panel->name) == 0 &&
            strcmp(means->row[i].mechanism, method) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- CSV ----------------------------------------------------------------- */

static void
add_number(struct host_text *text, double number)
{
    csv_field_number(text, number);
    host_text_print(text, ",");
}

static void
add_field(struct host_text *text, const char *field)
{
    csv_field_add(text, field != NULL ? field : "");
    host_text_print(text, ",");
}

void
study_csv(struct host_text *text, const struct sotto_experiment_row *rows,
          size_t count)
{
    host_text_print(text, "experiment,panel,x,eps,mechanism,kind,trial,runs,"
                          "seed,loss,deviation,seconds,setting,data,version,"
                          "command,commit,note\n");
    for (size_t i = 0; i < count; i++) {
        const struct sotto_experiment_row *row = &rows[i];
        add_field(text, row->experiment);
        add_field(text, row->level);
        add_number(text, row->x);
        add_number(text, row->eps);
        add_field(text, row->mechanism);
        add_field(text, row->mean ? "mean" : "fit");
        if (!row->mean) {
            host_text_print(text, "%ju", (uintmax_t)row->trial);
        }
        host_text_print(text, ",%zu,%ju,", row->runs, (uintmax_t)row->seed);
        add_number(text, row->loss);
        add_number(text, row->deviation);
        add_number(text, row->seconds);
        add_field(text, row->setting);
        add_field(text, row->data);
        add_field(text, row->version);
        add_field(text, row->command);
        add_field(text, row->commit);
        csv_field_add(text, row->note != NULL ? row->note : "");
        host_text_print(text, "\n");
    }
}

/* ---- Tables -------------------------------------------------------------- */

static const char *
axis_name(const struct study_panel *panel)
{
    static const char *const names[] = {
        [STUDY_EPS] = "epsilon",
        [STUDY_RATIO] = "r / epsilon",
        [STUDY_OUTPUT] = "output",
        [STUDY_SIZE] = "at most",
    };
    return panel->x_name != NULL ? panel->x_name : names[panel->axis];
}

static void
add_cell(struct host_text *text, const struct sotto_experiment_row *row)
{
    if (row == NULL) {
        host_text_print(text, " not run |");
    } else if (isfinite(row->deviation)) {
        host_text_print(text, " %.4f ± %.4f |", row->loss, row->deviation);
    } else {
        host_text_print(text, " %.4f |", row->loss);
    }
}

/* Whether the means at x are of an epsilon that no mechanism can have. */
static bool
is_beyond(const struct means *means, const struct study_panel *panel, double x)
{
    for (size_t i = 0; i < means->count; i++) {
        const struct sotto_experiment_row *row = &means->row[i];
        if (row->mean && row->x == x && strcmp(row->level, panel->name) == 0) {
            return row->eps > STUDY_EPS_FORMAT;
        }
    }
    return false;
}

bool
study_table(struct host_text *text, const struct experiment *experiment,
            const struct study_panel *panel,
            const struct sotto_experiment_row *rows, size_t row_count,
            const char *heading)
{
    const struct means all = {rows, row_count}, *means = &all;
    const struct experiment_mechanism *method;
    double x[PLOT_POINTS_MOST];
    size_t count = find_x(means, panel, x), columns = 0;
    if (count == 0) {
        return false;
    }
    host_text_print(text, "\n%s %s\n\n| %s |", heading, panel->title,
                    axis_name(panel));
    for (method = experiment->mechanisms; method->name != NULL; method++) {
        if (is_measured(means, panel, method->name)) {
            host_text_print(text, " %s |", method->name);
            columns++;
        }
    }
    host_text_print(text, "\n|---|");
    for (size_t i = 0; i < columns; i++) {
        host_text_print(text, "---|");
    }
    for (size_t i = 0; i < count; i++) {
        bool beyond = is_beyond(means, panel, x[i]);
        host_text_print(text, "\n| %.4g%s |", x[i], beyond ? " (*)" : "");
        for (method = experiment->mechanisms; method->name != NULL; method++) {
            if (is_measured(means, panel, method->name)) {
                add_cell(text, find_mean(means, panel, method->name, x[i]));
            }
        }
    }
    host_text_print(text, "\n");
    return true;
}

/* The largest gain over all epsilons of a panel; NAN: nothing to compare. */
static double
largest_gain(const struct means *means, const struct study_panel *panel,
             const struct study_gain *gain, double *ret_eps)
{
    double x[PLOT_POINTS_MOST], best = NAN;
    size_t count = find_x(means, panel, x);
    for (size_t i = 0; i < count; i++) {
        const struct sotto_experiment_row *ours =
            find_mean(means, panel, gain->method, x[i]);
        const struct sotto_experiment_row *other =
            find_mean(means, panel, gain->over, x[i]);
        double percent = ours != NULL && other != NULL
                             ? 100 * (1 - ours->loss / other->loss)
                             : NAN;
        if (isfinite(percent) && !(percent <= best)) {
            best = percent;
            *ret_eps = x[i];
        }
    }
    return best;
}

bool
study_gains(struct host_text *text, const struct study *study,
            const struct sotto_experiment_row *rows, size_t count,
            const char *before)
{
    const struct means means = {rows, count};
    bool any = false;
    for (const struct study_gain *gain = study->gains;
         gain != NULL && gain->method != NULL; gain++) {
        double eps = NAN,
               best = largest_gain(&means, study->panels, gain, &eps);
        if (!isfinite(best)) {
            continue;
        }
        any = true;
        host_text_print(text, "%s| %s | %s | %.1f | %g |", before, gain->method,
                        gain->over, best, eps);
        if (isfinite(gain->percent)) {
            host_text_print(text, " %.1f | %g |\n", gain->percent, gain->eps);
        } else {
            host_text_print(text, " – | – |\n");
        }
    }
    return any;
}

static void
add_gains(struct host_text *text, const struct study *study,
          const struct means *means, const char *heading)
{
    struct host_text gains;
    host_text_init(&gains, TEXT_MOST);
    if (study_gains(&gains, study, means->row, means->count, "")) {
        host_text_print(text,
                        "\n%s Largest gains\n\n| | over | %% | at "
                        "epsilon | the paper, %% | at epsilon |\n"
                        "|---|---|---|---|---|---|\n",
                        heading);
        host_text_add(text, gains.data, gains.size);
    }
    text->failed = text->failed || gains.failed;
    host_text_clear(&gains);
}

static void
add_methods(struct host_text *text, const struct experiment *experiment,
            const struct means *means, const char *heading)
{
    host_text_print(text, "\n%s Methods\n\n", heading);
    for (const struct experiment_mechanism *method = experiment->mechanisms;
         method->name != NULL; method++) {
        for (size_t i = 0; i < means->count; i++) {
            if (strcmp(means->row[i].mechanism, method->name) == 0) {
                host_text_print(text, "- `%s`: %s%s\n", method->name,
                                (method->how & STUDY_UNSOUND) != 0
                                    ? "**not private**: "
                                    : "",
                                method->beside);
                break;
            }
        }
    }
}

/* Who made the means: one commit, "several", or NULL. */
static const char *
commit_of(const struct means *means)
{
    const char *commit = NULL;
    for (size_t i = 0; i < means->count; i++) {
        const char *at = means->row[i].commit;
        if (at != NULL && commit != NULL && strcmp(at, commit) != 0) {
            return "several";
        }
        commit = at != NULL ? at : commit;
    }
    return commit;
}

static bool
has_methods(const struct means *means)
{
    for (size_t i = 1; i < means->count; i++) {
        if (strcmp(means->row[i].mechanism, means->row[0].mechanism) != 0) {
            return true;
        }
    }
    return false;
}

static bool
has_other_eps(const struct means *means,
              const struct sotto_experiment_options *options)
{
    for (size_t i = 0; i < means->count; i++) {
        bool asked = false;
        for (size_t j = 0; j < options->eps_count && !asked; j++) {
            asked = options->eps[j] == means->row[i].eps;
        }
        if (!asked) {
            return true;
        }
    }
    return false;
}

void
study_command(struct host_text *text,
              const struct sotto_experiment_options *options,
              const struct sotto_experiment_row *rows, size_t count)
{
    const struct means means = {rows, count};
    bool methods = has_methods(&means), eps = has_other_eps(&means, options);
    host_text_print(text, "\n   ");
    for (const char *at = options->command; *at != '\0';) {
        size_t size = strcspn(at, " ");
        bool left_out =
            (methods && size == strlen("--mechanism") &&
             strncmp(at, "--mechanism", size) == 0) ||
            (eps && size == strlen("--eps") && strncmp(at, "--eps", size) == 0);
        if (left_out) {
            at += size;
            at += strspn(at, " ");
            at += strcspn(at, " ");
        } else {
            host_text_print(text, " %.*s", (int)size, at);
            at += size;
        }
        at += strspn(at, " ");
    }
    host_text_print(text, "\n");
}

void
study_remarks(struct host_text *text, const struct experiment *experiment,
              const struct sotto_experiment_row *rows, size_t count,
              const char *heading)
{
    const struct means means = {rows, count};
    bool beyond = false;
    for (size_t i = 0; i < count; i++) {
        beyond = beyond || rows[i].eps > STUDY_EPS_FORMAT;
    }
    if (beyond) {
        host_text_print(text,
                        "\nAbove epsilon %g (*): beyond the format. The same "
                        "formulas in floats; no mechanism can have it.\n",
                        STUDY_EPS_FORMAT);
    }
    add_gains(text, experiment->study, &means, heading);
    add_methods(text, experiment, &means, heading);
}

void
study_markdown(struct host_text *text, const struct experiment *experiment,
               const struct sotto_experiment_options *options,
               const struct sotto_experiment_row *rows, size_t count)
{
    const struct means means = {rows, count};
    const struct study *study = experiment->study;
    const char *commit = commit_of(&means);
    host_text_print(text, "# %s\n\n%s\n", experiment->name, experiment->about);
    for (const struct study_panel *at = study->panels; at->x != NULL; at++) {
        (void)study_table(text, experiment, at, rows, count, "##");
    }
    study_remarks(text, experiment, rows, count, "##");
    host_text_print(text, "\nSeed %ju", (uintmax_t)options->seed);
    if (count > 0 && rows[0].data != NULL) {
        host_text_print(text, "; SHA-256 of the data `%s`", rows[0].data);
    }
    host_text_print(text, "; sotto %s%s%s.\n", SOTTO_VERSION,
                    commit != NULL ? ", commit " : "",
                    commit != NULL ? commit : "");
    if (options->command != NULL) {
        study_command(text, options, rows, count);
    }
}

/* ---- Pictures ------------------------------------------------------------ */

/* Of methods, in a row; unsound ones are dashed. */
static const char *const colours[] = {"#0b69a3", "#2f8132", "#c65d21",
                                      "#8719e0", "#7b8794", "#d9a514",
                                      "#ba2525", "#199473"};
#define COLOURS (sizeof colours / sizeof *colours)

/* 1, 2 or 5 times a power of ten, of which four to ten make the range. */
static double
nice_step(double range)
{
    double power = pow(10, floor(log10(range / 4)));
    return range / power >= 20  ? 5 * power
           : range / power >= 8 ? 2 * power
                                : power;
}

static void
fit_axis(struct plot *plot)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < plot->count; i++) {
        for (size_t j = 0; j < plot->points; j++) {
            double y = plot->series[i].y[j], by = plot->series[i].deviation[j];
            if (isfinite(y)) {
                low = fmin(low, y - (isfinite(by) ? by : 0));
                high = fmax(high, y + (isfinite(by) ? by : 0));
            }
        }
    }
    high = high > 0 ? high : 1;
    plot->step = nice_step(high - fmin(fmax(low, 0), high / 2));
    plot->low = low > high / 2 ? plot->step * floor(low / plot->step) : 0;
    plot->high = plot->step * ceil(high / plot->step);
}

void
study_plot(struct host_text *text, const struct experiment *experiment,
           const struct study_panel *panel,
           const struct sotto_experiment_row *rows, size_t count)
{
    const struct means means = {rows, count};
    const char *subtitle = "bars: one standard deviation over trials";
    struct plot_series series[STUDY_METHODS_MOST] = {{0}};
    double x[PLOT_POINTS_MOST], y[STUDY_METHODS_MOST][PLOT_POINTS_MOST];
    double deviation[STUDY_METHODS_MOST][PLOT_POINTS_MOST];
    size_t points = find_x(&means, panel, x), used = 0;
    char title[200];
    for (const struct experiment_mechanism *method = experiment->mechanisms;
         method->name != NULL && used < STUDY_METHODS_MOST; method++) {
        if (!is_measured(&means, panel, method->name)) {
            continue;
        }
        bool unsound = (method->how & STUDY_UNSOUND) != 0;
        subtitle = unsound ? "bars: one standard deviation over trials; "
                             "dashed: not private"
                           : subtitle;
        for (size_t i = 0; i < points; i++) {
            const struct sotto_experiment_row *row =
                find_mean(&means, panel, method->name, x[i]);
            y[used][i] = row != NULL ? row->loss : NAN;
            deviation[used][i] = row != NULL ? row->deviation : NAN;
        }
        series[used] =
            (struct plot_series){.name = method->name,
                                 .style = unsound ? PLOT_DASHED : PLOT_LINE,
                                 .colour = colours[used % COLOURS],
                                 .y = y[used],
                                 .deviation = deviation[used]};
        used++;
    }
    (void)snprintf(title, sizeof title, "%s: %s", experiment->name,
                   panel->title);
    struct plot plot = {.title = title,
                        .subtitle = subtitle,
                        .x = x,
                        .points = points,
                        .series = series,
                        .count = used,
                        .y_name = "task loss",
                        .x_name = axis_name(panel),
                        .linear = panel->axis == STUDY_OUTPUT ||
                                  panel->axis == STUDY_SIZE};
    fit_axis(&plot);
    plot_svg(text, &plot);
}

/* ---- Files --------------------------------------------------------------- */

static enum sotto_status
write_text(struct host_text *text, const char *path, const char *panel,
           const char *ending, struct sotto_error *err)
{
    enum sotto_status status;
    char *name = host_text_path("%s%s%s%s", path, panel[0] != '\0' ? "-" : "",
                                panel, ending);
    if (text->failed || name == NULL) {
        status = host_fail_memory(err);
    } else {
        status =
            host_file_write(name, 0666, false, text->data, text->size, err);
    }
    free(name);
    host_text_clear(text);
    return status;
}

enum sotto_status
study_files_write(const struct experiment *experiment,
                  const struct sotto_experiment_options *options,
                  const char *path, const struct sotto_experiment_row *rows,
                  size_t count, struct sotto_error *err)
{
    const struct means means = {rows, count};
    const struct study_panel *panel = experiment->study->panels;
    double x[PLOT_POINTS_MOST];
    struct host_text text;
    enum sotto_status status = host_folder_make(options->results, 0777, err);
    host_text_init(&text, TEXT_MOST);
    if (status == SOTTO_STATUS_OK) {
        study_csv(&text, rows, count);
        status = write_text(&text, path, "", ".csv", err);
    }
    if (status == SOTTO_STATUS_OK) {
        study_markdown(&text, experiment, options, rows, count);
        status = write_text(&text, path, "", ".md", err);
    }
    for (size_t i = 0; panel[i].x != NULL && status == SOTTO_STATUS_OK; i++) {
        if (find_x(&means, &panel[i], x) > 0) {
            study_plot(&text, experiment, &panel[i], rows, count);
            status = write_text(&text, path, i > 0 ? panel[i].name : "", ".svg",
                                err);
        }
    }
    return status;
}
