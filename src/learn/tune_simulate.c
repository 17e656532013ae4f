/*
 * tune_simulate.c: tuning on a curator's table, for planning and experiments.
 *
 * Half of the rows, by lot, play those who report, the others those who answer;
 * person i is a row of the half that the person's place belongs to, drawn with
 * replacement. Places, rounds and estimates are those of a real plan (tune.c).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "learn/asking.h"
#include "learn/learner.h"
#include "learn/tune.h"
#include "mechanism/rows.h"
#include "random/draw.h"
#include "random/permute.h"
#include "random/seeded.h"

#define NAME_SIZE 24u
#define LOT_STREAM UINT64_MAX /* no person's */

struct sotto_tune_simulation {
    struct sotto_tune_options options;
    struct sotto_tune_people people;
    uint8_t key[TUNE_KEY_SIZE]; /* of those who report */
    struct sotto_tune *tune;    /* behind TRAIN */
    struct sotto_table *reporting, *answering;
    uint8_t *right; /* candidates rows of answering rows */
    size_t rows;    /* that answer */
    double clean[SOTTO_TUNE_CANDIDATES_MAX];
};

/* ---- People ---------------------------------------------------------------
 */

static void
make_key(uint64_t seed, uint8_t ret_key[TUNE_KEY_SIZE])
{
    struct seeded seeded;
    seeded_init(&seeded, seed, LOT_STREAM);
    for (size_t i = 0; i < TUNE_KEY_SIZE; i++) {
        ret_key[i] = (uint8_t)draw_below(&seeded.random, 256);
    }
}

static struct tune_place
place_person(const struct sotto_tune *tune, size_t person)
{
    char name[NAME_SIZE];
    int size = snprintf(name, sizeof name, "%zu", person);
    return tune_place(tune, name, (size_t)size);
}

/* The row that a person has, of `rows`. */
static size_t
draw_row(uint64_t seed, size_t person, size_t rows)
{
    struct seeded seeded;
    seeded_init(&seeded, ~seed, person);
    return draw_below(&seeded.random, (uint32_t)rows);
}

/* ---- Asking ---------------------------------------------------------------
 */

struct round {
    size_t yes[SOTTO_TUNE_CANDIDATES_MAX], asked[SOTTO_TUNE_CANDIDATES_MAX];
};

/* Asks everybody whose place is now. */
static void
ask_stage(const struct sotto_tune *tune, const struct asking *asking,
          const struct tune_place *at, size_t people, const uint8_t *right,
          size_t rows, uint64_t seed, struct round *round)
{
    for (size_t i = 0; i < people; i++) {
        struct tune_place place = at[i];
        if (place.stage == tune->stage &&
            (place.stage != SOTTO_TUNE_ROUND || place.round == tune->round)) {
            size_t candidate = tune->order[place.question];
            size_t row = draw_row(seed, i, rows);
            round->asked[candidate]++;
            round->yes[candidate] +=
                asking_draw(asking, seed, i, right[candidate * rows + row] != 0)
                    ? 1
                    : 0;
        }
    }
}

/* Tells the plan what candidate's answers say. */
static void
tell_answers(struct sotto_tune *tune, const struct right_flip *flip,
             const struct round *round)
{
    struct sotto_tune_question question;
    struct sotto_tune_info info;
    sotto_tune_info(tune, &info);
    for (size_t i = 0; i < info.questions; i++) {
        sotto_tune_question(tune, i, &question);
        size_t asked = round->asked[question.candidate];
        struct sotto_right found = {.reports = asked, .simulated = asked};
        if (asked > 0) {
            right_read(flip, round->yes[question.candidate],
                       1.959963984540054 /* 95% */, &found);
        }
        sotto_tune_answered(tune, question.candidate, &found);
    }
}

enum sotto_status
tune_ask_all(struct sotto_tune *tune, const uint8_t *right, size_t rows,
             size_t people, uint64_t seed, struct sotto_error *err)
{
    struct asking asking = {0};
    struct right_flip flip;
    struct round round = {{0}, {0}};
    struct tune_place *at = malloc((people + 1) * sizeof *at);
    enum sotto_status status;
    if (at == NULL) {
        return host_fail_memory(err);
    }
    status = asking_init(&asking, tune->eps, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < people; i++) {
        at[i] = place_person(tune, i);
    }
    while (status == SOTTO_STATUS_OK && tune->stage != SOTTO_TUNE_DONE) {
        asking_chances(&asking, &flip);
        if (tune->stage == SOTTO_TUNE_FINAL) {
            round = (struct round){{0}, {0}}; /* its answers are others' */
        }
        ask_stage(tune, &asking, at, people, right, rows, seed, &round);
        tell_answers(tune, &flip, &round);
        status = sotto_tune_next(tune, err);
    }
    asking_clear(&asking);
    free(at);
    return status;
}

/* ---- Training -------------------------------------------------------------
 */

/* The reports of those whose place is to report by mechanism `m`. */
static enum sotto_status
take_reports(struct sotto_tune_simulation *simulation, size_t m,
             struct sotto_report_reader **ret_reader, struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = simulation->options.mechanism[m];
    const struct sotto_tune_people *people = &simulation->people;
    size_t size = mechanism->shape.report_size, count = 0;
    uint8_t *reports = calloc(people->people + 1, size);
    struct rows rows = {0};
    enum sotto_status status =
        reports == NULL
            ? host_fail_memory(err)
            : rows_init(&rows, mechanism, simulation->reporting, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < people->people; i++) {
        struct tune_place place = place_person(simulation->tune, i);
        if (place.stage == SOTTO_TUNE_TRAIN && place.question == m) {
            size_t row = draw_row(people->seed, i,
                                  sotto_table_rows(simulation->reporting));
            status =
                sotto_simulate(mechanism, people->seed, i, rows_at(&rows, row),
                               rows.count, reports + size * count++, size);
        }
    }
    if (status == SOTTO_STATUS_OK && count == 0) {
        status = host_fail(err, SOTTO_STATUS_INPUT, m,
                           "nobody reports by '%.200s': more people are "
                           "needed, or fewer mechanisms",
                           simulation->options.path[m]);
    }
    status = HOST_THEN(status, sotto_report_reader_parse(
                                   mechanism, reports, count * size,
                                   "simulated reports", ret_reader, err));
    if (status == SOTTO_STATUS_OK) {
        sotto_tune_learnt(simulation->tune, m, count);
    }
    if (rows.mechanism != NULL) {
        rows_clear(&rows);
    }
    free(reports);
    return status;
}

/* Whether a model is right about each answering row. */
static enum sotto_status
find_right(struct sotto_tune_simulation *simulation, struct sotto_model *model,
           size_t candidate, struct sotto_error *err)
{
    size_t n = simulation->rows, classes = model->classes, sum = 0;
    uint8_t *right = simulation->right + candidate * n;
    double *p = malloc((n * classes + 1) * sizeof *p);
    size_t *truth = malloc((n + 1) * sizeof *truth);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (p == NULL || truth == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = model_truth(model, simulation->answering, truth, err);
    status = HOST_THEN(
        status, sotto_model_predict(model, simulation->answering, p, err));
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < n; i++) {
        right[i] = model_likeliest(p + i * classes, classes) == truth[i];
        sum += right[i];
    }
    simulation->clean[candidate] = (double)sum / (double)n;
done:
    host_wipe_free(p, (n * classes + 1) * sizeof *p);
    host_wipe_free(truth, (n + 1) * sizeof *truth);
    return status;
}

/* Fits one candidate and makes its question, as a device would get it: what no
   device can be asked fails here, and not after a campaign. */
static enum sotto_status
train_candidate(struct sotto_tune_simulation *simulation, size_t candidate,
                const struct sotto_report_reader *reader,
                struct sotto_error *err)
{
    const struct tune_candidate *own = &simulation->tune->candidate[candidate];
    const struct sotto_tune_people *people = &simulation->people;
    const struct sotto_analyst *analyst =
        people->analyst != NULL ? people->analyst[own->mechanism] : NULL;
    const struct sotto_fit_options fit = {.learner = simulation->tune->learner,
                                          .set = own->set,
                                          .sets = own->sets,
                                          .threads = people->threads,
                                          .watch = people->watch};
    struct sotto_mechanism *question = NULL;
    struct sotto_model *model = NULL;
    struct sotto_fit_info info;
    enum sotto_status status =
        sotto_fit(simulation->options.mechanism[own->mechanism], reader,
                  analyst, people->aux, &fit, &model, &info, err);
    status = HOST_THEN(status, sotto_tune_ask(simulation->tune, candidate,
                                              model, NULL, &question, err));
    status = HOST_THEN(status, find_right(simulation, model, candidate, err));
    sotto_mechanism_free(question);
    sotto_model_free(model);
    return status;
}

static enum sotto_status
train_all(struct sotto_tune_simulation *simulation, struct sotto_error *err)
{
    struct sotto_tune *tune = simulation->tune;
    enum sotto_status status = SOTTO_STATUS_OK;
    simulation->right = calloc(tune->candidates, simulation->rows);
    if (simulation->right == NULL) {
        return host_fail_memory(err);
    }
    for (size_t m = 0; status == SOTTO_STATUS_OK && m < tune->mechanisms; m++) {
        struct sotto_report_reader *reader = NULL;
        status = take_reports(simulation, m, &reader, err);
        for (size_t i = 0; status == SOTTO_STATUS_OK && i < tune->candidates;
             i++) {
            if (tune->candidate[i].mechanism == m) {
                status = train_candidate(simulation, i, reader, err);
            }
        }
        sotto_report_reader_free(reader);
    }
    return status;
}

/* ---- A simulation ---------------------------------------------------------
 */

static enum sotto_status
split_rows(struct sotto_tune_simulation *simulation, struct sotto_error *err)
{
    const struct sotto_table *table = simulation->people.table;
    size_t n = sotto_table_rows(table);
    size_t *row = malloc((n + 1) * sizeof *row);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (row == NULL) {
        return host_fail_memory(err);
    }
    if (n < 2 || n > UINT32_MAX) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "a table of %zu rows: half of them report, half "
                           "answer",
                           n);
    }
    for (size_t i = 0; i < n; i++) {
        row[i] = i;
    }
    permute(row, sizeof *row, n, PERMUTE_DOWN, simulation->people.seed,
            LOT_STREAM - 1);
    simulation->rows = n - n / 2;
    status = HOST_THEN(status, sotto_table_select(table, row, n / 2,
                                                  &simulation->reporting, err));
    status = HOST_THEN(status,
                       sotto_table_select(table, row + n / 2, simulation->rows,
                                          &simulation->answering, err));
    free(row);
    return status;
}

enum sotto_status
sotto_tune_simulation_new(const struct sotto_tune_options *options,
                          const struct sotto_tune_people *people,
                          struct sotto_tune_simulation **ret_simulation,
                          struct sotto_error *err)
{
    struct sotto_tune_simulation *simulation = calloc(1, sizeof *simulation);
    if (simulation == NULL) {
        return host_fail_memory(err);
    }
    simulation->options = *options;
    simulation->people = *people;
    make_key(people->seed, simulation->key);
    enum sotto_status status =
        tune_make(options, simulation->key, &simulation->tune, err);
    status = HOST_THEN(status, split_rows(simulation, err));
    status = HOST_THEN(status, train_all(simulation, err));
    if (status != SOTTO_STATUS_OK) {
        sotto_tune_simulation_free(simulation);
        return status;
    }
    *ret_simulation = simulation;
    return SOTTO_STATUS_OK;
}

void
sotto_tune_simulation_free(struct sotto_tune_simulation *simulation)
{
    if (simulation != NULL) {
        host_wipe_free(simulation->right,
                       simulation->right != NULL
                           ? simulation->tune->candidates * simulation->rows
                           : 0);
        sotto_table_free(simulation->reporting);
        sotto_table_free(simulation->answering);
        sotto_tune_free(simulation->tune);
        free(simulation);
    }
}

double
sotto_tune_simulation_clean(const struct sotto_tune_simulation *simulation,
                            size_t candidate)
{
    return simulation->clean[candidate];
}

/* ---- A run ----------------------------------------------------------------
 */

static void
read_outcome(const struct sotto_tune_simulation *simulation,
             const struct sotto_tune *tune,
             struct sotto_tune_outcome *ret_outcome)
{
    size_t winner = tune->order[0];
    struct sotto_tune_outcome outcome = {.winner = winner,
                                         .clean = simulation->clean[winner],
                                         .won = tune->candidate[winner].right,
                                         .final = tune->right};
    for (size_t i = 0; i < tune->candidates; i++) {
        outcome.best = fmax(outcome.best, simulation->clean[i]);
        outcome.choosing += tune->candidate[i].right.reports;
    }
    for (size_t i = 0; i < tune->mechanisms; i++) {
        outcome.reports += tune->mechanism[i].reports;
    }
    *ret_outcome = outcome;
}

enum sotto_status
sotto_tune_simulation_run(const struct sotto_tune_simulation *simulation,
                          uint64_t seed, struct sotto_tune_outcome *ret_outcome,
                          struct sotto_tune **ret_tune, struct sotto_error *err)
{
    uint8_t key[TUNE_KEY_SIZE];
    struct sotto_tune *tune = NULL;
    make_key(seed, key);
    enum sotto_status status = tune_make(&simulation->options, key, &tune, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < tune->mechanisms; i++) {
        sotto_tune_learnt(tune, i, simulation->tune->mechanism[i].reports);
    }
    status = HOST_THEN(status, sotto_tune_next(tune, err));
    status = HOST_THEN(status,
                       tune_ask_all(tune, simulation->right, simulation->rows,
                                    simulation->people.people, seed, err));
    if (status == SOTTO_STATUS_OK) {
        read_outcome(simulation, tune, ret_outcome);
    }
    if (status == SOTTO_STATUS_OK && ret_tune != NULL) {
        *ret_tune = tune;
    } else {
        sotto_tune_free(tune);
    }
    return status;
}
