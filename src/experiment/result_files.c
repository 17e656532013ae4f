/*
 * result_files.c: an experiment's rows as a CSV file, a table and a plot.
 *
 * What is written depends on the rows and on the run's options alone, not on
 * which rows were there before: a run that finds everything done writes the
 * same files again.
 */
#include "experiment/result_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/row_store.h"
#include "experiment/trial_learn.h"
#include "host/csv_field.h"
#include "host/error.h"
#include "host/file.h"
#include "host/plot.h"
#include "host/text.h"

#define TEXT_MOST ((size_t)1 << 28)

char *
result_files_path(const struct experiment_run *run)
{
    struct host_text path;
    const char *folder = run->options->results;
    host_text_init(&path, 65536);
    host_text_print(&path, "%s/%s-%s", folder != NULL ? folder : ".",
                    run->experiment->name, run->mechanism->name);
    if (strcmp(run->level, "latent") != 0) {
        host_text_print(&path, "-%s", run->level);
    }
    if (run->aux_share != run->experiment->aux_share) {
        host_text_print(&path, "-%.10g", run->aux_share);
    }
    if (path.failed) {
        host_text_clear(&path);
    }
    return path.data;
}

static const char *
plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- CSV ---------------------------------------------------------------- */

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

static void
add_csv_row(struct host_text *text, const struct sotto_experiment_row *row)
{
    char eps[EXPERIMENT_EPS_SIZE];
    experiment_eps_text(row->eps, eps);
    add_field(text, row->experiment);
    add_field(text, row->mechanism);
    add_field(text, row->level);
    add_number(text, row->aux_share);
    host_text_print(text, "%s,%s,", eps, row->mean ? "mean" : "fit");
    if (row->mean) {
        host_text_print(text, ",,%zu,", row->runs);
    } else {
        host_text_print(text, "%ju,%ju,1,", (uintmax_t)row->trial,
                        (uintmax_t)row->draw);
    }
    host_text_print(text, "%ju,", (uintmax_t)row->seed);
    add_number(text, row->accuracy);
    add_number(text, row->deviation);
    add_number(text, row->deviation_draws);
    add_number(text, row->paper);
    add_number(text, row->paper_deviation);
    add_number(text, row->reach);
    add_number(text, row->seconds);
    add_field(text, row->setting);
    add_field(text, row->data);
    add_field(text, row->version);
    add_field(text, row->command);
    add_field(text, row->commit);
    csv_field_add(text, row->note != NULL ? row->note : "");
    host_text_print(text, "\n");
}

void
result_files_csv(struct host_text *text,
                 const struct sotto_experiment_row *rows, size_t count)
{
    host_text_print(text,
                    "experiment,mechanism,level,aux_share,eps,kind,trial,draw,"
                    "runs,seed,accuracy,deviation,deviation_draws,paper,"
                    "paper_deviation,reach,seconds,setting,data,version,"
                    "command,commit,note\n");
    for (size_t i = 0; i < count; i++) {
        add_csv_row(text, &rows[i]);
    }
}

/* ---- Markdown ----------------------------------------------------------- */

/* "86.1 ± 1.0", in percent; a dash for nothing. */
static void
add_cell(struct host_text *text, double value, double deviation)
{
    if (!isfinite(value)) {
        host_text_print(text, " – |");
    } else if (!isfinite(deviation)) {
        host_text_print(text, " %.1f |", 100 * value);
    } else {
        host_text_print(text, " %.1f ± %.1f |", 100 * value, 100 * deviation);
    }
}

/* Whether a classifier was chosen by answers that were drawn for people, not
   sent by devices: trial_settings.c says so. */
static bool
simulates_choice(const struct sotto_experiment_row *row)
{
    return row->setting != NULL && strstr(row->setting, " candidates=") != NULL;
}

static void
add_verdict(struct host_text *text, const struct sotto_experiment_row *row)
{
    bool judged = isfinite(row->reach) && isfinite(row->accuracy),
         simulated = simulates_choice(row);
    host_text_print(text, " %s%s%s |\n",
                    !judged                       ? ""
                    : row->accuracy >= row->reach ? "reached"
                                                  : "missed",
                    judged && simulated ? ", " : "",
                    simulated ? "simulated protocol" : "");
}

void
result_files_means(struct host_text *text,
                   const struct sotto_experiment_row *rows, size_t count)
{
    bool simulated = false;
    host_text_print(text,
                    "| epsilon | sotto | within a trial | fits | the papers | "
                    "must reach | |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        const struct sotto_experiment_row *row = &rows[i];
        char eps[EXPERIMENT_EPS_SIZE];
        if (!row->mean) {
            continue;
        }
        experiment_eps_text(row->eps, eps);
        host_text_print(text, "| %s |", eps);
        if (row->runs == 0) {
            host_text_print(text, " not run |");
        } else {
            add_cell(text, row->accuracy, row->deviation);
        }
        add_cell(text, row->deviation_draws, NAN);
        host_text_print(text, " %zu |", row->runs);
        add_cell(text, row->paper, row->paper_deviation);
        add_cell(text, row->reach, NAN);
        add_verdict(text, row);
        simulated = simulated || simulates_choice(row);
    }
    if (simulated) {
        host_text_print(
            text, "\nSimulated protocol: one of several classifiers was "
                  "chosen by private answers that sotto drew for people whose "
                  "records it held (sotto_model_choose). Devices can give "
                  "such answers (sotto train right, sotto choose); these rows "
                  "were not run that way.\n");
    }
}

/* ---- What can be told at most -------------------------------------------- */

enum limit { LIMIT_VERTICES, LIMIT_ANY, LIMITS };

static const char *const limit_names[LIMITS] = {
    [LIMIT_VERTICES] = "P0 Eq. 13, computed",
    [LIMIT_ANY] = "the most of any channel",
};

/* Whether classes are told from private test records, so that there is one. */
static bool
has_limit(const struct experiment_run *run)
{
    return run->experiment->protocol != NULL &&
           run->experiment->protocol->told_share > 0;
}

/* In [0, 1], where people spend `eps` and classes are as frequent. */
static double
limit_at(const struct experiment_run *run, enum limit limit, double eps)
{
    double told = run->experiment->protocol->told_share * eps;
    size_t classes = run->experiment->classes;
    if (isinf(eps)) {
        return 1;
    }
    return limit == LIMIT_ANY ? sotto_accuracy_most(classes, told, 0)
                              : sotto_accuracy_vertices(classes, told);
}

static void
add_limits(struct host_text *text, const struct experiment_run *run)
{
    for (enum limit limit = 0; limit < LIMITS && has_limit(run); limit++) {
        host_text_print(text, "| %s |", limit_names[limit]);
        for (size_t j = 0; j < PAPERS_COLUMNS; j++) {
            add_cell(text, limit_at(run, limit, papers_eps[j]), NAN);
        }
        host_text_print(text, "\n");
    }
}

void
result_files_others(struct host_text *text, const struct experiment_run *run)
{
    host_text_print(text, "\nThe papers' mechanisms without an encoder:\n\n"
                          "| | 10 | 8 | 6 | 4 | 2 | 1 | none |\n"
                          "|---|---|---|---|---|---|---|---|\n");
    for (const struct papers_row *row = run->experiment->papers;
         row->name != NULL; row++) {
        if (!papers_compared(run, row)) {
            continue;
        }
        host_text_print(text, "| %s (%s) |", row->name, row->table);
        for (size_t j = 0; j < PAPERS_COLUMNS; j++) {
            add_cell(text, row->accuracy[j] / 100, row->deviation[j] / 100);
        }
        host_text_print(text, "\n");
    }
    add_limits(text, run);
}

/* The commit that made all fits; "several", see the CSV; NULL: not known. */
static const char *
commit_of(const struct sotto_experiment_row *rows, size_t count)
{
    const char *commit = NULL;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].mean || rows[i].commit == NULL) {
            continue;
        }
        if (commit != NULL && strcmp(rows[i].commit, commit) != 0) {
            return "several (see the .csv)";
        }
        commit = rows[i].commit;
    }
    return commit;
}

static void
add_settings(struct host_text *text, const struct sotto_experiment_row *rows,
             size_t count)
{
    host_text_print(text, "\n| epsilon | settings | found |\n|---|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        if (rows[i].mean) {
            char eps[EXPERIMENT_EPS_SIZE];
            experiment_eps_text(rows[i].eps, eps);
            host_text_print(text, "| %s | `%s` | %s |\n", eps, rows[i].setting,
                            rows[i].note != NULL ? rows[i].note : "");
        }
    }
}

void
result_files_level(struct host_text *text, const struct experiment_run *run)
{
    const struct papers_row *paper = papers_find(run);
    host_text_print(text,
                    "Level: %s. Auxiliary share: %.10g. Accuracy in percent, "
                    "mean and standard deviation over %ju trial%s (each the "
                    "mean of %ju draw%s of the noise); \"within a trial\" is "
                    "the deviation over draws.",
                    run->level, run->aux_share, (uintmax_t)run->trials,
                    plural(run->trials), (uintmax_t)run->draws,
                    plural(run->draws));
    if (paper != NULL) {
        host_text_print(text,
                        " The papers: %s, %s, three trials; the same epsilon "
                        "for record and label together and the same share of "
                        "unlabelled auxiliary records.",
                        paper->name, paper->table);
    }
    host_text_print(text, "\n\n");
    if (run->mechanism->beside != NULL) {
        host_text_print(text, "%s\n\n", run->mechanism->beside);
    }
}

void
result_files_markdown(struct host_text *text, const struct experiment_run *run,
                      const struct sotto_experiment_row *rows, size_t count)
{
    const struct sotto_experiment_options *options = run->options;
    host_text_print(text, "# %s, %s\n\n%s\n\n", run->experiment->name,
                    run->mechanism->name, run->experiment->about);
    result_files_level(text, run);
    result_files_means(text, rows, count);
    result_files_others(text, run);
    add_settings(text, rows, count);
    if (count > 0) {
        const char *commit = commit_of(rows, count);
        host_text_print(
            text, "\nSeed %ju; hash of the data `%s`; sotto %s%s%s.\n",
            (uintmax_t)options->seed, rows[0].data, SOTTO_VERSION,
            commit != NULL ? ", commit " : "", commit != NULL ? commit : "");
    }
    if (options->command != NULL) {
        host_text_print(text, "\n    %s\n", options->command);
    }
}

/* ---- The plot ----------------------------------------------------------- */

/* The means' columns, in percent. */
struct columns {
    double eps[PLOT_POINTS_MOST];
    double ours[PLOT_POINTS_MOST], ours_deviation[PLOT_POINTS_MOST];
    double paper[PLOT_POINTS_MOST], paper_deviation[PLOT_POINTS_MOST];
    double reach[PLOT_POINTS_MOST];
    double limit[LIMITS][PLOT_POINTS_MOST];
    size_t count;
    bool reaches;
};

static void
take_columns(const struct experiment_run *run,
             const struct sotto_experiment_row *rows, size_t count,
             struct columns *ret)
{
    memset(ret, 0, sizeof *ret);
    for (size_t i = 0; i < count && ret->count < PLOT_POINTS_MOST; i++) {
        if (rows[i].mean) {
            size_t at = ret->count++;
            ret->eps[at] = rows[i].eps;
            ret->ours[at] = 100 * rows[i].accuracy;
            ret->ours_deviation[at] = 100 * rows[i].deviation;
            ret->paper[at] = 100 * rows[i].paper;
            ret->paper_deviation[at] = 100 * rows[i].paper_deviation;
            ret->reach[at] = 100 * rows[i].reach;
            ret->reaches = ret->reaches || isfinite(rows[i].reach);
            for (enum limit l = 0; l < LIMITS && has_limit(run); l++) {
                ret->limit[l][at] = 100 * limit_at(run, l, rows[i].eps);
            }
        }
    }
}

void
result_files_plot(struct host_text *text, const struct experiment_run *run,
                  const struct sotto_experiment_row *rows, size_t count)
{
    struct columns columns;
    struct plot_series series[3 + LIMITS] = {{0}};
    size_t used = 0;
    char title[160], subtitle[160], paper_name[120];
    const struct papers_row *paper = papers_find(run);
    take_columns(run, rows, count, &columns);
    if (columns.reaches) {
        series[used++] = (struct plot_series){.name = "sotto must reach",
                                              .style = PLOT_MARKS,
                                              .colour = "#d9a514",
                                              .y = columns.reach};
    }
    if (paper != NULL) {
        (void)snprintf(paper_name, sizeof paper_name, "the papers' %s (%s)",
                       paper->name, paper->table);
        series[used++] =
            (struct plot_series){.name = paper_name,
                                 .style = PLOT_DASHED,
                                 .colour = "#7b8794",
                                 .y = columns.paper,
                                 .deviation = columns.paper_deviation};
    }
    for (enum limit l = 0; l < LIMITS && has_limit(run); l++) {
        static const char *const colours[LIMITS] = {"#b0483a", "#3a7d44"};
        series[used++] = (struct plot_series){.name = limit_names[l],
                                              .style = PLOT_DASHED,
                                              .colour = colours[l],
                                              .y = columns.limit[l]};
    }
    series[used++] = (struct plot_series){.name = "sotto",
                                          .style = PLOT_LINE,
                                          .colour = "#0b69a3",
                                          .y = columns.ours,
                                          .deviation = columns.ours_deviation};
    (void)snprintf(title, sizeof title, "%s, %s", run->experiment->name,
                   run->mechanism->name);
    (void)snprintf(subtitle, sizeof subtitle,
                   "%s level, auxiliary share %.4g, %ju trial%s of %ju draw%s; "
                   "bars: one standard deviation over trials",
                   run->level, run->aux_share, (uintmax_t)run->trials,
                   plural(run->trials), (uintmax_t)run->draws,
                   plural(run->draws));
    struct plot plot = {.title = title,
                        .subtitle = subtitle,
                        .x = columns.eps,
                        .points = columns.count,
                        .series = series,
                        .count = used};
    plot_svg(text, &plot);
}

/* ---- Files -------------------------------------------------------------- */

static enum sotto_status
write_text(struct host_text *text, const char *path, const char *ending,
           struct sotto_error *err)
{
    struct host_text name;
    enum sotto_status status;
    host_text_init(&name, 65536);
    host_text_print(&name, "%s%s", path, ending);
    if (text->failed || name.failed) {
        status = host_fail_memory(err);
    } else {
        status = host_file_write(name.data, 0666, false, text->data, text->size,
                                 err);
    }
    host_text_clear(&name);
    host_text_clear(text);
    return status;
}

enum sotto_status
result_files_write(const struct experiment_run *run,
                   const struct sotto_experiment_row *rows, size_t count,
                   struct sotto_error *err)
{
    struct host_text text;
    char *path = result_files_path(run);
    if (path == NULL) {
        return host_fail_memory(err);
    }
    host_text_init(&text, TEXT_MOST);
    enum sotto_status status =
        host_folder_make(run->options->results, 0777, err);
    if (status == SOTTO_STATUS_OK) {
        result_files_csv(&text, rows, count);
        status = write_text(&text, path, ".csv", err);
    }
    if (status == SOTTO_STATUS_OK) {
        result_files_markdown(&text, run, rows, count);
        status = write_text(&text, path, ".md", err);
    }
    if (status == SOTTO_STATUS_OK) {
        result_files_plot(&text, run, rows, count);
        status = write_text(&text, path, ".svg", err);
    }
    free(path);
    return status;
}
