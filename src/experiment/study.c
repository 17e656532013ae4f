/*
 * study.c: runs experiments that measure a loss: decides what is measured,
 * finds or makes each row, takes means, keeps the result files up to date.
 */
#include "experiment/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/row_store.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/text.h"

#define TRIALS 5u
#define TRIALS_MOST 1000u
#define EPS_LEAST 0.000001
#define EPS_MOST 1000.0
#define BEYOND "beyond the format"

/* One x of a panel. */
struct place {
    const struct study_panel *panel;
    double x, eps;
    bool asked; /* measured in this run; files have the others' rows too */
    char setting[32]; /* what decides a row besides panel and epsilon */
};

/* All that a run needs. */
struct runner {
    const struct experiment *experiment;
    const struct study *study;
    const struct sotto_experiment_options *options;
    struct place *place;
    size_t places;
    uint32_t trials;
    char data[EXPERIMENT_HASH_SIZE];
    char *folder, *path;
    struct row_store *store;
    void *state;
    int lock;
    void (*row)(void *context, const struct sotto_experiment_row *);
    void *context;
    uint64_t done, total; /* fits */
};

/* ---- What is measured ---------------------------------------------------- */

static size_t
count_x(const struct study_panel *panel)
{
    size_t count = 0;
    while (panel->x[count] > 0) {
        count++;
    }
    return count;
}

static bool
is_asked(const struct sotto_experiment_options *options, double eps)
{
    for (size_t i = 0; i < options->eps_count; i++) {
        if (options->eps[i] == eps) {
            return true;
        }
    }
    return options->eps_count == 0;
}

static bool
is_known(const struct runner *runner, const struct study_panel *panel, double x)
{
    for (size_t i = 0; i < runner->places; i++) {
        if (runner->place[i].panel == panel && runner->place[i].x == x) {
            return true;
        }
    }
    return false;
}

static void
add_place(struct runner *runner, const struct study_panel *panel, double x)
{
    struct place *place = &runner->place[runner->places];
    double eps = panel->axis == STUDY_EPS     ? x
                 : panel->axis == STUDY_RATIO ? panel->fixed / x
                                              : panel->fixed;
    if (is_known(runner, panel, x)) {
        return;
    }
    *place = (struct place){.panel = panel,
                            .x = x,
                            .eps = eps,
                            .asked = panel->axis == STUDY_RATIO ||
                                     is_asked(runner->options, eps)};
    if (panel->axis == STUDY_OUTPUT || panel->axis == STUDY_SIZE) {
        (void)snprintf(place->setting, sizeof place->setting, "%s=%g",
                       panel->axis == STUDY_SIZE ? "most" : "output", x);
    }
    runner->places++;
}

/* The panels' own x, all of them, and the epsilons asked for. */
static enum sotto_status
take_places(struct runner *runner, struct sotto_error *err)
{
    const struct sotto_experiment_options *options = runner->options;
    size_t room = 0;
    for (size_t i = 0; i < options->eps_count; i++) {
        double eps = options->eps[i];
        if (!(eps >= EPS_LEAST && eps <= EPS_MOST)) {
            char found[32] = "none";
            if (!isinf(eps)) {
                (void)snprintf(found, sizeof found, "%.15g", eps);
            }
            return host_fail(err, SOTTO_STATUS_USAGE, 0,
                             "an epsilon of %s is %.6f to %g; not %s",
                             runner->experiment->name, EPS_LEAST, EPS_MOST,
                             found);
        }
    }
    for (const struct study_panel *at = runner->study->panels; at->x != NULL;
         at++) {
        room += count_x(at) + options->eps_count;
    }
    runner->place = calloc(room + 1, sizeof *runner->place);
    if (runner->place == NULL) {
        return host_fail_memory(err);
    }
    for (const struct study_panel *at = runner->study->panels; at->x != NULL;
         at++) {
        for (size_t i = 0; i < count_x(at); i++) {
            add_place(runner, at, at->x[i]);
        }
        for (size_t i = 0; at->axis == STUDY_EPS && i < options->eps_count;
             i++) {
            add_place(runner, at, options->eps[i]);
        }
    }
    return SOTTO_STATUS_OK;
}

/* Refuses what only campaigns have. */
static enum sotto_status
check_options(const struct runner *runner, struct sotto_error *err)
{
    const struct sotto_experiment_options *options = runner->options;
    if (options->mechanism != NULL &&
        experiment_mechanism_find(runner->experiment, options->mechanism) ==
            NULL) {
        return experiment_fail_name(runner->experiment, options->mechanism,
                                    err);
    }
    if (options->draws > 1 || options->level != SOTTO_LEVEL_LATENT ||
        options->aux_share != 0 || options->epochs != 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "%s has no draws, level, auxiliary share or epochs: "
                         "give trials, epsilons and a mechanism",
                         runner->experiment->name);
    }
    if (options->trials > TRIALS_MOST) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0, "at most %u trials",
                         TRIALS_MOST);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
resolve(struct runner *runner, struct sotto_error *err)
{
    const struct sotto_experiment_options *options = runner->options;
    enum sotto_status status = check_options(runner, err);
    uint32_t usual = runner->study->trials > 0 ? runner->study->trials : TRIALS;
    runner->trials = options->trials > 0 ? options->trials : usual;
    status = HOST_THEN(status, take_places(runner, err));
    if (status == SOTTO_STATUS_OK) {
        runner->path = host_text_path(
            "%s/%s", options->results != NULL ? options->results : ".",
            runner->experiment->name);
        status = runner->path != NULL ? status : host_fail_memory(err);
    }
    return status;
}

static uint32_t
trials_of(const struct runner *runner, const struct experiment_mechanism *of)
{
    return (of->how & STUDY_RANDOM) != 0 ? runner->trials : 1;
}

/* Whether this run measures a method at a place. */
static bool
is_wanted(const struct runner *runner, const struct place *place,
          const struct experiment_mechanism *method)
{
    const char *only = runner->options->mechanism;
    return place->asked && study_has(place->panel, method->name) &&
           (only == NULL || strcmp(only, method->name) == 0);
}

/* ---- Rows ---------------------------------------------------------------- */

static struct row_key
key_of(const struct runner *runner, const struct place *place,
       const struct experiment_mechanism *method, uint32_t trial)
{
    return (struct row_key){.experiment = runner->experiment->name,
                            .mechanism = method->name,
                            .level = place->panel->name,
                            .aux_share = runner->experiment->aux_share,
                            .eps = place->eps,
                            .trial = trial,
                            .seed = runner->options->seed,
                            .setting = place->setting,
                            .data = runner->data,
                            .version = SOTTO_VERSION};
}

static struct sotto_experiment_row
empty_row(const struct runner *runner, const struct place *place,
          const struct experiment_mechanism *method)
{
    return (struct sotto_experiment_row){
        .experiment = runner->experiment->name,
        .mechanism = method->name,
        .level = place->panel->name,
        .eps = place->eps,
        .x = place->x,
        .aux_share = runner->experiment->aux_share,
        .seed = runner->options->seed,
        .accuracy = NAN,
        .loss = NAN,
        .deviation = NAN,
        .deviation_draws = NAN,
        .paper = NAN,
        .paper_deviation = NAN,
        .reach = NAN,
        .setting = place->setting,
        .version = SOTTO_VERSION,
        .command = runner->options->command,
        .commit = runner->options->commit,
        .note = place->eps > STUDY_EPS_FORMAT ? BEYOND : NULL,
    };
}

static struct sotto_experiment_row
fit_row(const struct runner *runner, const struct place *place,
        const struct experiment_mechanism *method, uint32_t trial,
        const struct row_value *value)
{
    struct sotto_experiment_row row = empty_row(runner, place, method);
    row.trial = trial;
    row.draw = 1;
    row.runs = 1;
    row.loss = value->measured;
    row.seconds = value->seconds;
    row.data = runner->data;
    row.command = value->command[0] != '\0' ? value->command : NULL;
    row.commit = value->commit[0] != '\0' ? value->commit : NULL;
    row.note = value->note[0] != '\0' ? value->note : NULL;
    return row;
}

/* The mean over trials, and the deviation with n - 1. What all fits say alike,
   the mean says. */
static struct sotto_experiment_row
mean_row(const struct runner *runner, const struct place *place,
         const struct experiment_mechanism *method,
         const struct sotto_experiment_row *fit, size_t count)
{
    struct sotto_experiment_row row = empty_row(runner, place, method);
    double squares = 0;
    row.mean = true;
    row.runs = count;
    row.data = runner->data;
    row.loss = 0;
    row.note = fit[0].note;
    row.commit = fit[0].commit;
    for (size_t i = 0; i < count; i++) {
        row.loss += fit[i].loss / (double)count;
        row.seconds += fit[i].seconds;
        if (fit[i].note == NULL || row.note == NULL ||
            strcmp(fit[i].note, row.note) != 0) {
            row.note = place->eps > STUDY_EPS_FORMAT ? BEYOND : NULL;
        }
        if (fit[i].commit == NULL || row.commit == NULL ||
            strcmp(fit[i].commit, row.commit) != 0) {
            row.commit = row.commit != NULL ? "several" : NULL;
        }
    }
    for (size_t i = 0; i < count; i++) {
        squares += pow(fit[i].loss - row.loss, 2);
    }
    if (count > 1) {
        row.deviation = sqrt(squares / ((double)count - 1));
    }
    return row;
}

/* The fits of a place and method and their mean, trials + 1 rows; 0 if one is
   not there. */
static size_t
collect(const struct runner *runner, const struct place *place,
        const struct experiment_mechanism *method,
        struct sotto_experiment_row *ret_rows)
{
    size_t count = 0;
    for (uint32_t t = 1; t <= trials_of(runner, method); t++) {
        struct row_key key = key_of(runner, place, method, t);
        const struct row_value *value = row_store_find(runner->store, &key);
        if (value == NULL) {
            return 0;
        }
        ret_rows[count++] = fit_row(runner, place, method, t, value);
    }
    ret_rows[count] = mean_row(runner, place, method, ret_rows, count);
    return count + 1;
}

/* Every row there is, of this run or of earlier ones. */
static enum sotto_status
write_results(const struct runner *runner, struct sotto_error *err)
{
    const struct experiment_mechanism *method;
    size_t count = 0, each = (size_t)runner->trials + 1;
    struct sotto_experiment_row *rows =
        calloc(runner->places * STUDY_METHODS_MOST, each * sizeof *rows);
    if (rows == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < runner->places; i++) {
        for (method = runner->experiment->mechanisms; method->name != NULL;
             method++) {
            count +=
                study_has(runner->place[i].panel, method->name)
                    ? collect(runner, &runner->place[i], method, rows + count)
                    : 0;
        }
    }
    enum sotto_status status = study_files_write(
        runner->experiment, runner->options, runner->path, rows, count, err);
    free(rows);
    return status;
}

/* ---- Running ------------------------------------------------------------- */

/* Places that one fit measures: of an output's panel all behind this one. */
static size_t
places_at_once(const struct runner *runner, size_t at)
{
    const struct study_panel *panel = runner->place[at].panel;
    size_t count = 1;
    while (panel->axis == STUDY_OUTPUT && at + count < runner->places &&
           runner->place[at + count].panel == panel) {
        count++;
    }
    return count;
}

/* Keeps what was measured, at each place that has no row yet. */
static enum sotto_status
keep_outcome(struct runner *runner, size_t at,
             const struct experiment_mechanism *method, uint32_t trial,
             const struct study_outcome *outcome, double seconds,
             struct sotto_error *err)
{
    const struct sotto_experiment_options *options = runner->options;
    const struct place *place = &runner->place[at];
    enum sotto_status status = SOTTO_STATUS_OK;
    char note[2 * EXPERIMENT_NOTE_SIZE];
    bool beyond = place->eps > STUDY_EPS_FORMAT;
    (void)snprintf(note, sizeof note, "%s%s%s", outcome->note,
                   beyond && outcome->note[0] != '\0' ? ", " : "",
                   beyond ? BEYOND : "");
    for (size_t i = 0; i < places_at_once(runner, at); i++) {
        struct row_key key = key_of(runner, place + i, method, trial);
        bool output = place->panel->axis == STUDY_OUTPUT;
        double unit = place->panel->unit > 0 ? place->panel->unit : 1;
        struct row_value value = {
            .measured = (output ? outcome->each[(size_t)place[i].x - 1]
                                : outcome->loss) /
                        unit,
            .seconds = seconds,
            .command = options->command != NULL ? options->command : "",
            .commit = options->commit != NULL ? options->commit : "",
            .note = note};
        if (row_store_find(runner->store, &key) == NULL) {
            status = HOST_THEN(
                status, row_store_add(runner->store, &key, &value, NULL, err));
        }
    }
    return status;
}

static enum sotto_status
make_fit(struct runner *runner, size_t at,
         const struct experiment_mechanism *method, uint32_t trial,
         struct sotto_error *err)
{
    const struct place *place = &runner->place[at];
    struct study_outcome outcome = {0};
    struct study_point point = {
        .method = method,
        .panel = place->panel,
        .eps = place->eps,
        .most = place->panel->axis == STUDY_SIZE ? (size_t)place->x : 0,
        .trial = trial,
        .seed = experiment_seed("study", runner->options->seed, trial, 0,
                                place->eps)};
    double started = host_seconds();
    enum sotto_status status =
        runner->study->measure(runner->state, &point, &outcome, err);
    double seconds = floor(1000 * (host_seconds() - started)) / 1000;
    return HOST_THEN(status, keep_outcome(runner, at, method, trial, &outcome,
                                          seconds, err));
}

/* The rows of a place and method: found or made, and handed on. */
static enum sotto_status
run_method(struct runner *runner, size_t at,
           const struct experiment_mechanism *method, struct sotto_error *err)
{
    const struct sotto_watch *watch = &runner->options->watch;
    size_t count = places_at_once(runner, at), trials;
    bool cached = true;
    for (uint32_t t = 1; t <= trials_of(runner, method); t++) {
        bool there = true;
        enum sotto_status status = SOTTO_STATUS_OK;
        for (size_t i = 0; i < count; i++) {
            struct row_key key =
                key_of(runner, &runner->place[at + i], method, t);
            there = there && row_store_find(runner->store, &key) != NULL;
        }
        if (watch->tick != NULL && !watch->tick(watch->context, method->name,
                                                runner->done, runner->total)) {
            return host_fail(err, SOTTO_STATUS_STOPPED, 0,
                             "stopped; the rows so far are kept, and the same "
                             "command goes on from here");
        }
        status = there ? status : make_fit(runner, at, method, t, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        cached = cached && there;
        runner->done++;
    }
    struct sotto_experiment_row *rows =
        calloc((size_t)runner->trials + 1, sizeof *rows);
    for (size_t i = 0; rows != NULL && i < count; i++) {
        trials = collect(runner, &runner->place[at + i], method, rows);
        for (size_t j = 0; runner->row != NULL && j < trials; j++) {
            rows[j].cached = cached;
            runner->row(runner->context, &rows[j]);
        }
    }
    free(rows);
    return rows != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
}

/* Every wanted method at a place that is asked for, then the result files. */
static enum sotto_status
run_place(struct runner *runner, size_t at, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    if (!runner->place[at].asked) {
        return status;
    }
    for (const struct experiment_mechanism *method =
             runner->experiment->mechanisms;
         method->name != NULL && status == SOTTO_STATUS_OK; method++) {
        if (is_wanted(runner, &runner->place[at], method)) {
            status = run_method(runner, at, method, err);
        }
    }
    if (runner->options->results != NULL) {
        status = HOST_THEN(status, write_results(runner, err));
    }
    return status;
}

static uint64_t
count_fits(const struct runner *runner)
{
    uint64_t count = 0;
    for (size_t i = 0; i < runner->places; i += places_at_once(runner, i)) {
        for (const struct experiment_mechanism *method =
                 runner->experiment->mechanisms;
             method->name != NULL; method++) {
            count += is_wanted(runner, &runner->place[i], method)
                         ? trials_of(runner, method)
                         : 0;
        }
    }
    return count;
}

static enum sotto_status
runner_open(struct runner *runner, struct sotto_error *err)
{
    const struct sotto_experiment_options *options = runner->options;
    enum sotto_status status = resolve(runner, err);
    if (status == SOTTO_STATUS_OK && runner->study->form != NULL &&
        options->data == NULL) {
        status = host_fail(err, SOTTO_STATUS_USAGE, 0, "%s needs data: name %s",
                           runner->experiment->name, runner->study->form);
        return host_about(status, err, SOTTO_ABOUT_PARAMETER, "data");
    }
    status = HOST_THEN(
        status, experiment_folder(options->folder, &runner->folder, err));
    status =
        HOST_THEN(status, experiment_lock(runner->folder, &runner->lock, err));
    status = HOST_THEN(status,
                       row_store_open(runner->folder, runner->experiment->name,
                                      "loss", &runner->store, err));
    return HOST_THEN(status, runner->study->open(options, &runner->state,
                                                 runner->data, err));
}

static void
runner_clear(struct runner *runner)
{
    if (runner->state != NULL) {
        runner->study->close(runner->state);
    }
    row_store_close(runner->store);
    if (runner->lock >= 0) {
        (void)close(runner->lock);
    }
    free(runner->place);
    free(runner->folder);
    free(runner->path);
}

static struct runner
make_runner(const struct experiment *experiment,
            const struct sotto_experiment_options *options)
{
    return (struct runner){.experiment = experiment,
                           .study = experiment->study,
                           .options = options,
                           .lock = -1};
}

enum sotto_status
study_run(const struct experiment *experiment,
          const struct sotto_experiment_options *options,
          void (*row)(void *context, const struct sotto_experiment_row *),
          void *context, struct sotto_error *err)
{
    struct runner runner = make_runner(experiment, options);
    enum sotto_status status = runner_open(&runner, err);
    runner.row = row;
    runner.context = context;
    runner.total = status == SOTTO_STATUS_OK ? count_fits(&runner) : 0;
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < runner.places;
         i += places_at_once(&runner, i)) {
        status = run_place(&runner, i, err);
    }
    runner_clear(&runner);
    return status;
}

enum sotto_status
study_plan(const struct experiment *experiment,
           const struct sotto_experiment_options *options,
           void (*row)(void *context, const struct sotto_experiment_row *),
           void *context, struct sotto_error *err)
{
    struct runner runner = make_runner(experiment, options);
    enum sotto_status status = resolve(&runner, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < runner.places; i++) {
        for (const struct experiment_mechanism *method = experiment->mechanisms;
             method->name != NULL; method++) {
            if (is_wanted(&runner, &runner.place[i], method)) {
                struct sotto_experiment_row planned =
                    empty_row(&runner, &runner.place[i], method);
                planned.mean = true;
                planned.runs = trials_of(&runner, method);
                row(context, &planned);
            }
        }
    }
    runner_clear(&runner);
    return status;
}

enum sotto_status
study_path(const struct experiment *experiment,
           const struct sotto_experiment_options *options, char **ret_path,
           struct sotto_error *err)
{
    struct runner runner = make_runner(experiment, options);
    enum sotto_status status = resolve(&runner, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_path = runner.path;
        runner.path = NULL;
    }
    runner_clear(&runner);
    return status;
}
