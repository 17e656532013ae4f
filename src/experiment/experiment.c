/*
 * experiment.c: runs experiments: decides options, finds or makes each row,
 * takes means, keeps the result files up to date.
 */
#include "experiment/experiment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/result_files.h"
#include "experiment/row_store.h"
#include "experiment/study.h"
#include "experiment/trial.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/text.h"

#define TRIALS 3u
#define DRAWS 3u
#define MEAN_NOTE_SIZE ((size_t)4 * EXPERIMENT_NOTE_SIZE)
#define REPEATS_MOST 1000u /* of trials, and of draws */

/* All that a run needs. `eps` are those asked for, then the papers' others,
   whose rows go into the result files if they are there. */
struct runner {
    struct experiment_run run;
    double eps[EXPERIMENT_EPS_MOST + PAPERS_COLUMNS + PAPERS_SMALL];
    size_t asked, known;
    char (*setting)[EXPERIMENT_SETTING_SIZE]; /* one for each eps */
    char (*note)[MEAN_NOTE_SIZE];             /* likewise: of its mean */
    char data[EXPERIMENT_HASH_SIZE];
    struct row_store *store;
    struct trial *trial;
    int lock;
    void (*row)(void *context, const struct sotto_experiment_row *);
    void *context;
    /* What is being done, for whoever watches; the last text and the one
       before it, since the watcher may compare them. */
    char doing[96], said[2][160];
    unsigned turn;
    size_t done, total;
};

/* ---- Options ------------------------------------------------------------ */

static enum sotto_status
take_names(struct runner *runner, struct sotto_error *err)
{
    const struct sotto_experiment_options *options = runner->run.options;
    const char *name = options->name != NULL ? options->name : "";
    const struct experiment *found = experiment_find(name);
    if (found == NULL) {
        return experiment_fail_name(NULL, name, err);
    }
    runner->run.experiment = found;
    runner->run.mechanism =
        options->mechanism != NULL
            ? experiment_mechanism_find(found, options->mechanism)
            : found->mechanisms;
    if (runner->run.mechanism == NULL) {
        return experiment_fail_name(found, options->mechanism, err);
    }
    return SOTTO_STATUS_OK;
}

static bool
known_eps(const struct runner *runner, double eps)
{
    for (size_t i = 0; i < runner->known; i++) {
        if (runner->eps[i] == eps) {
            return true;
        }
    }
    return false;
}

/* Those asked for, the papers' and, where there is something to reach, smaller
   ones. */
static enum sotto_status
take_eps(struct runner *runner, struct sotto_error *err)
{
    const struct sotto_experiment_options *options = runner->run.options;
    if (options->eps_count > EXPERIMENT_EPS_MOST) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "at most %u epsilons in one run", EXPERIMENT_EPS_MOST);
    }
    for (size_t i = 0; i < options->eps_count; i++) {
        double eps = options->eps[i];
        if (!(eps >= 0.000001 && (eps <= 32 || isinf(eps)))) {
            return host_fail(
                err, SOTTO_STATUS_USAGE, 0,
                "an epsilon is 0.000001 to 32, or none, and not '%g'", eps);
        }
        if (!known_eps(runner, eps)) {
            runner->eps[runner->known++] = eps;
        }
    }
    runner->asked = runner->known;
    for (size_t i = 0; i < PAPERS_COLUMNS; i++) {
        if (!known_eps(runner, papers_eps[i])) {
            runner->eps[runner->known++] = papers_eps[i];
        }
    }
    for (size_t i = 0; i < PAPERS_SMALL; i++) {
        if (!known_eps(runner, papers_small[i]) &&
            isfinite(papers_reach(&runner->run, papers_small[i]))) {
            runner->eps[runner->known++] = papers_small[i];
        }
    }
    runner->asked = options->eps_count > 0 ? runner->asked : runner->known;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
take_counts(struct runner *runner, struct sotto_error *err)
{
    const struct sotto_experiment_options *options = runner->run.options;
    struct experiment_run *run = &runner->run;
    double most = run->experiment->aux_share_most;
    run->trials = options->trials > 0 ? options->trials : TRIALS;
    run->draws = options->draws > 0 ? options->draws : DRAWS;
    run->level = options->level == SOTTO_LEVEL_FEATURE ? "feature" : "latent";
    run->aux_share = options->aux_share != 0 ? options->aux_share
                                             : run->experiment->aux_share;
    if (run->trials > REPEATS_MOST || run->draws > REPEATS_MOST) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "at most %u trials and %u draws", REPEATS_MOST,
                         REPEATS_MOST);
    }
    if (!(run->aux_share > 0 && run->aux_share <= most)) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the auxiliary share is above 0 and at most %g: the "
                         "rest are the people; not %g",
                         most, run->aux_share);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
resolve(struct runner *runner, struct sotto_error *err)
{
    enum sotto_status status = take_names(runner, err);
    if (status != SOTTO_STATUS_OK || runner->run.experiment == NULL) {
        return status;
    }
    status = take_counts(runner, err);
    status = HOST_THEN(status, take_eps(runner, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    runner->setting = calloc(runner->known, sizeof *runner->setting);
    runner->note = calloc(runner->known, sizeof *runner->note);
    if (runner->setting == NULL || runner->note == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < runner->known; i++) {
        trial_setting(&runner->run, runner->eps[i], runner->setting[i]);
    }
    return SOTTO_STATUS_OK;
}

/* ---- Rows --------------------------------------------------------------- */

static struct row_key
key_of(const struct runner *runner, size_t eps, uint32_t trial, uint32_t draw)
{
    return (struct row_key){.experiment = runner->run.experiment->name,
                            .mechanism = runner->run.mechanism->name,
                            .level = runner->run.level,
                            .aux_share = runner->run.aux_share,
                            .eps = runner->eps[eps],
                            .trial = trial,
                            .draw = draw,
                            .seed = runner->run.options->seed,
                            .setting = runner->setting[eps],
                            .data = runner->data,
                            .version = SOTTO_VERSION};
}

/* A row of that epsilon with what the papers say, and nothing of ours. */
static struct sotto_experiment_row
empty_row(const struct runner *runner, size_t eps)
{
    const struct experiment_run *run = &runner->run;
    const struct papers_row *paper = papers_find(run);
    size_t column = papers_column(runner->eps[eps]);
    struct sotto_experiment_row row = {
        .experiment = run->experiment->name,
        .mechanism = run->mechanism->name,
        .level = run->level,
        .eps = runner->eps[eps],
        .aux_share = run->aux_share,
        .seed = run->options->seed,
        .accuracy = NAN,
        .x = NAN,
        .loss = NAN,
        .deviation = NAN,
        .deviation_draws = NAN,
        .paper = NAN,
        .paper_deviation = NAN,
        .reach = papers_reach(run, runner->eps[eps]),
        .setting = runner->setting[eps],
        .version = SOTTO_VERSION,
        .command = run->options->command,
        .commit = run->options->commit,
    };
    if (paper != NULL && column < PAPERS_COLUMNS) {
        row.paper = papers_fraction(paper->accuracy[column]);
        row.paper_deviation = papers_fraction(paper->deviation[column]);
        row.paper_table = paper->table;
    }
    return row;
}

/* NULL for "". */
static const char *
said(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static struct sotto_experiment_row
fit_row(const struct runner *runner, size_t eps, uint32_t trial, uint32_t draw,
        const struct row_value *value)
{
    struct sotto_experiment_row row = empty_row(runner, eps);
    row.trial = trial;
    row.draw = draw;
    row.accuracy = value->measured;
    row.seconds = value->seconds;
    row.runs = 1;
    row.data = runner->data;
    row.command = said(value->command);
    row.commit = said(value->commit);
    row.note = said(value->note);
    return row;
}

/* What fits noted, each text once, as far as there is room. */
static const char *
mean_note(const struct runner *runner, size_t eps,
          const struct sotto_experiment_row *fit, size_t count)
{
    char *note = runner->note[eps];
    size_t used = 0;
    note[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        bool again = fit[i].note == NULL;
        for (size_t j = 0; j < i && !again; j++) {
            again =
                fit[j].note != NULL && strcmp(fit[i].note, fit[j].note) == 0;
        }
        if (!again && used + strlen(fit[i].note) + 3 < MEAN_NOTE_SIZE) {
            used += (size_t)snprintf(note + used, MEAN_NOTE_SIZE - used, "%s%s",
                                     used > 0 ? "; " : "", fit[i].note);
        }
    }
    return said(note);
}

/*
 * The mean m of the trials' means m_t, and deviations with n - 1:
 *
 *     over trials  s^2 = sum_t (m_t - m)^2 / (T - 1)
 *     over draws   s^2 = sum_t sum_d (a_td - m_t)^2 / (T (D - 1))
 */
static struct sotto_experiment_row
mean_row(const struct runner *runner, size_t eps,
         const struct sotto_experiment_row *fit)
{
    struct sotto_experiment_row row = empty_row(runner, eps);
    uint32_t trials = runner->run.trials, draws = runner->run.draws;
    double mean = 0, between = 0, within = 0;
    size_t count = (size_t)trials * draws;
    row.seconds = 0;
    for (size_t i = 0; i < count; i++) {
        mean += fit[i].accuracy / (double)count;
        row.seconds += fit[i].seconds;
    }
    for (size_t t = 0; t < trials; t++) {
        double trial_mean = 0;
        for (size_t d = 0; d < draws; d++) {
            trial_mean += fit[t * draws + d].accuracy / draws;
        }
        for (size_t d = 0; d < draws; d++) {
            within += pow(fit[t * draws + d].accuracy - trial_mean, 2);
        }
        between += pow(trial_mean - mean, 2);
    }
    row.mean = true;
    row.commit = fit[0].commit;
    for (size_t i = 1; i < count; i++) {
        if (row.commit == NULL || fit[i].commit == NULL ||
            strcmp(row.commit, fit[i].commit) != 0) {
            row.commit = row.commit != NULL ? "several" : NULL;
        }
    }
    row.accuracy = mean;
    row.runs = count;
    row.note = mean_note(runner, eps, fit, count);
    row.data = runner->data;
    if (trials > 1) {
        row.deviation = sqrt(between / (trials - 1.0));
    }
    if (draws > 1) {
        row.deviation_draws = sqrt(within / (trials * (draws - 1.0)));
    }
    return row;
}

/* The fits of an epsilon and their mean, trials * draws + 1 rows; false if one
   is not there. */
static bool
collect(const struct runner *runner, size_t eps,
        struct sotto_experiment_row *ret_rows)
{
    size_t count = 0;
    for (uint32_t t = 1; t <= runner->run.trials; t++) {
        for (uint32_t d = 1; d <= runner->run.draws; d++) {
            struct row_key key = key_of(runner, eps, t, d);
            const struct row_value *value = row_store_find(runner->store, &key);
            if (value == NULL) {
                return false;
            }
            ret_rows[count++] = fit_row(runner, eps, t, d, value);
        }
    }
    ret_rows[count] = mean_row(runner, eps, ret_rows);
    return true;
}

/* ---- Results ------------------------------------------------------------ */

/* The largest epsilon first, as the papers print them, "none" the last. */
static int
compare_eps(const void *a, const void *b)
{
    const struct sotto_experiment_row *left = a, *right = b;
    double x = isinf(left->eps) ? 0 : left->eps;
    double y = isinf(right->eps) ? 0 : right->eps;
    if (x != y) {
        return x > y ? -1 : 1;
    }
    if (left->mean != right->mean) {
        return left->mean ? 1 : -1;
    }
    if (left->trial != right->trial) {
        return left->trial > right->trial ? 1 : -1;
    }
    return (left->draw > right->draw) - (left->draw < right->draw);
}

static enum sotto_status
write_results(const struct runner *runner, struct sotto_error *err)
{
    size_t each = (size_t)runner->run.trials * runner->run.draws + 1;
    size_t count = 0;
    struct sotto_experiment_row *rows =
        calloc(runner->known, each * sizeof *rows);
    if (rows == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < runner->known; i++) {
        count += collect(runner, i, rows + count) ? each : 0;
    }
    qsort(rows, count, sizeof *rows, compare_eps);
    enum sotto_status status =
        result_files_write(&runner->run, rows, count, err);
    free(rows);
    return status;
}

/* ---- Running ------------------------------------------------------------ */

/* Passes on what a fit says of itself, with the fit's name before it. */
static bool
tick(void *context, const char *what, uint64_t done, uint64_t total)
{
    struct runner *runner = context;
    const struct sotto_watch *watch = &runner->run.options->watch;
    char *text = runner->said[(runner->turn + 1) % 2];
    (void)snprintf(text, sizeof runner->said[0], "%s: %.60s", runner->doing,
                   what);
    if (strcmp(text, runner->said[runner->turn]) != 0) {
        runner->turn = (runner->turn + 1) % 2;
    }
    return watch->tick(watch->context, runner->said[runner->turn], done, total);
}

static enum sotto_status
make_fit(struct runner *runner, const struct row_key *key,
         const struct row_value **ret_value, struct sotto_error *err)
{
    const struct sotto_experiment_options *options = runner->run.options;
    struct experiment_fit fit = {key->eps, key->trial, key->draw};
    struct experiment_outcome outcome = {0};
    struct row_value value = {
        .command = options->command != NULL ? options->command : "",
        .commit = options->commit != NULL ? options->commit : "",
        .note = outcome.note};
    double started = host_seconds();
    enum sotto_status status =
        trial_run(runner->trial, &runner->run, &fit, &outcome, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    value.measured = outcome.accuracy;
    value.seconds = floor(1000 * (host_seconds() - started)) / 1000;
    return row_store_add(runner->store, key, &value, ret_value, err);
}

/* One row: found or made, and handed on. */
static enum sotto_status
run_fit(struct runner *runner, size_t eps, uint32_t trial, uint32_t draw,
        bool *all_cached, struct sotto_error *err)
{
    const struct sotto_watch *watch = &runner->run.options->watch;
    struct row_key key = key_of(runner, eps, trial, draw);
    const struct row_value *value = row_store_find(runner->store, &key);
    enum sotto_status status = SOTTO_STATUS_OK;
    char text[EXPERIMENT_EPS_SIZE];
    bool cached = value != NULL;
    experiment_eps_text(key.eps, text);
    (void)snprintf(runner->doing, sizeof runner->doing,
                   "eps %s trial %ju draw %ju", text, (uintmax_t)trial,
                   (uintmax_t)draw);
    if (watch->tick != NULL &&
        !tick(runner, "fit", runner->done, runner->total)) {
        return host_fail(err, SOTTO_STATUS_STOPPED, 0,
                         "stopped; the rows so far are kept, and the same "
                         "command goes on from here");
    }
    if (!cached) {
        status = make_fit(runner, &key, &value, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    struct sotto_experiment_row row = fit_row(runner, eps, trial, draw, value);
    row.cached = cached;
    *all_cached = *all_cached && cached;
    runner->done++;
    if (runner->row != NULL) {
        runner->row(runner->context, &row);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
run_eps(struct runner *runner, size_t eps, struct sotto_error *err)
{
    size_t each = (size_t)runner->run.trials * runner->run.draws + 1;
    struct sotto_experiment_row *rows = NULL;
    enum sotto_status status = SOTTO_STATUS_OK;
    bool cached = true;
    for (uint32_t t = 1; t <= runner->run.trials; t++) {
        for (uint32_t d = 1; d <= runner->run.draws; d++) {
            status = run_fit(runner, eps, t, d, &cached, err);
            if (status != SOTTO_STATUS_OK) {
                return status;
            }
        }
    }
    rows = calloc(each, sizeof *rows);
    if (rows == NULL || !collect(runner, eps, rows)) {
        free(rows);
        return host_fail_memory(err);
    }
    rows[each - 1].cached = cached;
    if (runner->run.options->results != NULL) {
        status = write_results(runner, err);
    }
    if (status == SOTTO_STATUS_OK && runner->row != NULL) {
        runner->row(runner->context, &rows[each - 1]);
    }
    free(rows);
    return status;
}

static void
runner_clear(struct runner *runner)
{
    trial_close(runner->trial);
    row_store_close(runner->store);
    if (runner->lock >= 0) {
        (void)close(runner->lock);
    }
    free(runner->setting);
    free(runner->note);
    free(runner->run.folder);
}

static enum sotto_status
runner_open(struct runner *runner, struct sotto_error *err)
{
    struct experiment_run *run = &runner->run;
    enum sotto_status status = resolve(runner, err);
    status = HOST_THEN(status, experiment_folder(runner->run.options->folder,
                                                 &run->folder, err));
    status =
        HOST_THEN(status, experiment_lock(run->folder, &runner->lock, err));
    status =
        HOST_THEN(status, row_store_open(run->folder, run->experiment->name,
                                         "accuracy", &runner->store, err));
    status =
        HOST_THEN(status, trial_open(run, &runner->trial, runner->data, err));
    return status;
}

/* The experiment that is asked for, if it is a study. */
static const struct experiment *
find_study(const struct sotto_experiment_options *options)
{
    const struct experiment *found =
        options->name != NULL ? experiment_find(options->name) : NULL;
    return found != NULL && found->study != NULL ? found : NULL;
}

enum sotto_status
sotto_experiment_run(const struct sotto_experiment_options *options,
                     void (*row)(void *context,
                                 const struct sotto_experiment_row *),
                     void *context, struct sotto_error *err)
{
    const struct experiment *study = find_study(options);
    if (study != NULL) {
        return study_run(study, options, row, context, err);
    }
    struct runner runner = {
        .run.options = options, .lock = -1, .row = row, .context = context};
    if (options->watch.tick != NULL) {
        runner.run.watch = (struct sotto_watch){tick, &runner};
    }
    enum sotto_status status = runner_open(&runner, err);
    runner.total = runner.asked * runner.run.trials * runner.run.draws;
    for (size_t i = 0; i < runner.asked && status == SOTTO_STATUS_OK; i++) {
        status = run_eps(&runner, i, err);
    }
    runner_clear(&runner);
    return status;
}

enum sotto_status
sotto_experiment_plan(const struct sotto_experiment_options *options,
                      void (*row)(void *context,
                                  const struct sotto_experiment_row *),
                      void *context, struct sotto_error *err)
{
    const struct experiment *study = find_study(options);
    if (study != NULL) {
        return study_plan(study, options, row, context, err);
    }
    struct runner runner = {.run.options = options, .lock = -1};
    enum sotto_status status = resolve(&runner, err);
    for (size_t i = 0; i < runner.asked && status == SOTTO_STATUS_OK; i++) {
        struct sotto_experiment_row planned = empty_row(&runner, i);
        planned.mean = true;
        planned.runs = (size_t)runner.run.trials * runner.run.draws;
        row(context, &planned);
    }
    runner_clear(&runner);
    return status;
}

enum sotto_status
sotto_experiment_path(const struct sotto_experiment_options *options,
                      char **ret_path, struct sotto_error *err)
{
    const struct experiment *study = find_study(options);
    if (study != NULL) {
        return study_path(study, options, ret_path, err);
    }
    struct runner runner = {.run.options = options, .lock = -1};
    enum sotto_status status = resolve(&runner, err);
    if (status == SOTTO_STATUS_OK) {
        char *path = result_files_path(&runner.run);
        if (path != NULL) {
            *ret_path = path;
        } else {
            status = host_fail_memory(err);
        }
    }
    runner_clear(&runner);
    return status;
}
