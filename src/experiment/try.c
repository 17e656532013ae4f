/*
 * try.c: what a campaign would come to on a table.
 *
 *     table --by classes, or by lot--> auxiliary | people | test
 *     before: people drawn from one half of the auxiliary rows, tested on the
 *             other, and the halves exchanged: it decides which kind, and what
 *             is said before anybody is asked
 *     after:  the people's reports, tested on the test rows
 *
 * Encoders and cells are learnt from all auxiliary rows, without a label, so
 * the halves share them: what is learnt from labels is learnt from one half.
 */
#include "experiment/try.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/campaign.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/text.h"

#define DRAWS 3u        /* after */
#define DRAWS_BEFORE 2u /* of each half */
#define PRIOR_MOST "2000"
#define CLASS_ROWS_LEAST 5u /* on average: else the label is a text */

/* ---- Progress -------------------------------------------------------------
 */

/* Tells of the encoder while it is trained, then of campaigns. */
static bool
tick(void *context, const char *what, uint64_t done, uint64_t total)
{
    const struct try_job *job = context;
    const struct sotto_watch *watch = &job->options->watch;
    if (watch->tick == NULL) {
        return true;
    }
    return job->done == 0 ? watch->tick(watch->context, what, done, total)
                          : watch->tick(watch->context, "simulated campaigns",
                                        job->done, job->total);
}

/* ---- Runs -----------------------------------------------------------------
 */

/* Runs that nothing but a lack of memory or a wish to stop ends. */
static bool
is_final(enum sotto_status status)
{
    return status == SOTTO_STATUS_MEMORY || status == SOTTO_STATUS_STOPPED;
}

static enum sotto_status
run_once(struct try_job *job, struct sotto_campaign *campaign, const char *eps,
         const struct sotto_table *people, const struct sotto_table *test,
         uint64_t draw, struct sotto_try_mean *mean,
         struct sotto_try_cell *cell, struct sotto_error *err)
{
    const struct sotto_campaign_run run = {.eps = eps,
                                           .people = job->result->people,
                                           .seed = job->options->seed +
                                                   1000 * draw};
    struct sotto_campaign_outcome outcome = {.k = 0};
    enum sotto_status status = sotto_campaign_simulate(
        campaign, people, test, &run, &outcome, NULL, NULL, err);
    if (status == SOTTO_STATUS_OK) {
        if (job->number) {
            try_mean_add_number(mean, &outcome.number);
        } else {
            try_score_count_unknown(&outcome.score, test);
            try_mean_add(mean, &outcome.score);
        }
        cell->k = outcome.k;
        cell->books = outcome.books;
        memcpy(cell->channel, outcome.channel, sizeof cell->channel);
        job->done++;
        status = tick(job, "simulated campaigns", job->done, job->total)
                     ? status
                     : host_fail(err, SOTTO_STATUS_STOPPED, 0, "stopped");
    }
    return status;
}

/* In the auxiliary rows: what one half says of the other. */
static enum sotto_status
run_before(struct try_job *job, struct sotto_campaign *campaign,
           const char *eps, struct sotto_try_cell *cell,
           struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    try_mean_begin(&cell->before);
    for (uint64_t draw = 0;
         draw < UINT64_C(2) * DRAWS_BEFORE && status == SOTTO_STATUS_OK;
         draw++) {
        status = run_once(job, campaign, eps, job->split.half[draw % 2],
                          job->split.half[1 - draw % 2], draw, &cell->before,
                          cell, err);
    }
    if (status == SOTTO_STATUS_OK) {
        try_mean_end(&cell->before, 2);
    }
    return status;
}

static enum sotto_status
run_after(struct try_job *job, struct sotto_campaign *campaign, const char *eps,
          struct sotto_try_cell *cell, struct sotto_error *err)
{
    uint32_t draws = job->options->draws > 0 ? job->options->draws : DRAWS;
    enum sotto_status status = SOTTO_STATUS_OK;
    try_mean_begin(&cell->after);
    for (uint32_t draw = 0; draw < draws && status == SOTTO_STATUS_OK; draw++) {
        status = run_once(job, campaign, eps, job->split.people,
                          job->split.test, 100 + draw, &cell->after, cell, err);
    }
    if (status == SOTTO_STATUS_OK) {
        try_mean_end(&cell->after, 1);
    }
    return status;
}

/* Both; a kind that this table does not allow says why. */
static enum sotto_status
run_codebook(struct try_job *job, struct sotto_try_at *at,
             struct sotto_error *err)
{
    struct sotto_try_cell *cell = &at->kind[SOTTO_TRY_CODEBOOK];
    enum sotto_status status =
        run_before(job, job->codebook, at->eps, cell, err);
    status =
        HOST_THEN(status, run_after(job, job->codebook, at->eps, cell, err));
    if (status == SOTTO_STATUS_OK || is_final(status)) {
        return status;
    }
    *cell = (struct sotto_try_cell){.k = 0};
    (void)snprintf(cell->why, sizeof cell->why, "%.240s", err->message);
    return SOTTO_STATUS_OK;
}

/* Tries direct with one column, two, ...; goes on with as many as did best in
   the auxiliary rows. */
static enum sotto_status
run_direct(struct try_job *job, struct sotto_try_at *at,
           struct sotto_error *err)
{
    struct sotto_try_cell *cell = &at->kind[SOTTO_TRY_DIRECT];
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < job->result->columns && !is_final(status); i++) {
        struct sotto_try_cell one = {.columns = i + 1};
        status = run_before(job, job->direct[i], at->eps, &one, err);
        if (status == SOTTO_STATUS_OK &&
            try_mean_is_better(&one.before, &cell->before)) {
            *cell = one;
        }
    }
    if (is_final(status)) {
        return status;
    }
    if (cell->columns == 0) {
        (void)snprintf(cell->why, sizeof cell->why, "%.240s",
                       job->result->columns > 0
                           ? err->message
                           : "no column tells anything of the label");
        return SOTTO_STATUS_OK;
    }
    return run_after(job, job->direct[cell->columns - 1], at->eps, cell, err);
}

static enum sotto_status
run_eps(struct try_job *job, struct sotto_try_at *at, struct sotto_error *err)
{
    enum sotto_status status = run_codebook(job, at, err);
    status = HOST_THEN(status, run_direct(job, at, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    at->best = try_mean_is_better(&at->kind[SOTTO_TRY_DIRECT].before,
                                  &at->kind[SOTTO_TRY_CODEBOOK].before)
                   ? SOTTO_TRY_DIRECT
                   : SOTTO_TRY_CODEBOOK;
    if (at->kind[at->best].before.runs == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "no kind takes the table: %s",
                         at->kind[SOTTO_TRY_CODEBOOK].why);
    }
    at->before = at->kind[at->best].before.verdict;
    at->after = at->kind[at->best].after.verdict;
    return SOTTO_STATUS_OK;
}

/* ---- What is tried --------------------------------------------------------
 */

/* The campaign of direct with the first `keep` columns of the list. */
static enum sotto_status
make_direct(struct try_job *job, size_t keep,
            struct sotto_campaign_options options, struct sotto_error *err)
{
    /* A tenth of few, noisy reports stops a fit by chance; that of a number
       has no such end. */
    static const struct sotto_setting fit[] = {{"prior-most", PRIOR_MOST},
                                               {"validation", "0"}};
    static const struct sotto_setting half[] = {{"lambda", "0.5"}};
    const struct sotto_table *aux = job->split.aux;
    size_t columns = sotto_table_columns(aux), drops = 0;
    const char **drop = calloc(columns + 1, sizeof *drop);
    job->narrow[keep - 1] = drop;
    if (drop == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < columns; i++) {
        const char *name = sotto_table_name(aux, i);
        if (strcmp(name, options.label) != 0 &&
            !try_is_among(name, (const char *const *)job->result->column,
                          keep)) {
            drop[drops++] = name;
        }
    }
    options.kind = "direct";
    options.drop = drop;
    options.drops = drops;
    options.fit = fit;
    options.fits = job->number ? 1 : sizeof fit / sizeof *fit;
    options.set = half;
    options.sets = job->number ? 1 : 0;
    return sotto_campaign_new(aux, &options, &job->direct[keep - 1], err);
}

/* Chooses the columns of direct. */
static enum sotto_status
choose_columns(struct try_job *job, struct sotto_error *err)
{
    size_t column[SOTTO_CAMPAIGN_COLUMNS_MAX], count = 0;
    double gain[SOTTO_CAMPAIGN_COLUMNS_MAX];
    struct sotto_try *result = job->result;
    enum sotto_status status = sotto_campaign_rank_columns(
        job->split.aux, job->options->label, job->drop, job->drops,
        job->options->seed, column, gain, &count, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    result->column = calloc(SOTTO_TRY_COLUMNS_MAX, sizeof *result->column);
    for (size_t i = 0;
         result->column != NULL && i < count && i < SOTTO_TRY_COLUMNS_MAX;
         i++) {
        result->column[i] =
            host_text_copy(sotto_table_name(job->split.aux, column[i]),
                           strlen(sotto_table_name(job->split.aux, column[i])));
        result->gain[i] = gain[i];
        if (result->column[i] == NULL) {
            return host_fail_memory(err);
        }
        result->columns++;
    }
    return result->column != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
}

static enum sotto_status
make_campaigns(struct try_job *job, struct sotto_error *err)
{
    const struct sotto_try_options *from = job->options;
    struct sotto_campaign_options options = {.kind = "codebook",
                                             .label = from->label,
                                             .drop = job->drop,
                                             .drops = job->drops,
                                             .schema = job->schema,
                                             .seed = from->seed,
                                             .threads = from->threads,
                                             .watch = {tick, job}};
    uint32_t draws = from->draws > 0 ? from->draws : DRAWS;
    enum sotto_status status = choose_columns(job, err);
    status = HOST_THEN(status, sotto_campaign_new(job->split.aux, &options,
                                                  &job->codebook, err));
    for (size_t i = 0; i < job->result->columns && status == SOTTO_STATUS_OK;
         i++) {
        status = make_direct(job, i + 1, options, err);
    }
    job->total =
        from->eps_count * (2 * (size_t)draws + (size_t)2 * DRAWS_BEFORE *
                                                   (1 + job->result->columns));
    return status;
}

/* ---- Without privacy ------------------------------------------------------
 */

static enum sotto_status
fit_clean(struct try_job *job, enum sotto_campaign_clean how,
          const struct sotto_table *records, struct sotto_campaign_score *score,
          struct sotto_error *err)
{
    const struct sotto_campaign_options options = {.label = job->options->label,
                                                   .drop = job->drop,
                                                   .drops = job->drops,
                                                   .seed = job->options->seed,
                                                   .threads =
                                                       job->options->threads,
                                                   .watch = {tick, job}};
    enum sotto_status status = sotto_campaign_fit_clean(
        job->split.aux, &options, how, records, job->split.test, score, err);
    if (status == SOTTO_STATUS_OK) {
        try_score_count_unknown(score, job->split.test);
    }
    return is_final(status) ? status : SOTTO_STATUS_OK;
}

/* A line through clean rows, of a number as the label. */
static enum sotto_status
fit_line(struct try_job *job, const struct sotto_table *records,
         struct sotto_campaign_number *number, struct sotto_error *err)
{
    const struct sotto_campaign_options options = {.label = job->options->label,
                                                   .drop = job->drop,
                                                   .drops = job->drops,
                                                   .schema = job->schema,
                                                   .threads =
                                                       job->options->threads,
                                                   .watch = {tick, job}};
    enum sotto_status status = sotto_campaign_fit_clean_number(
        job->split.aux, &options, records, job->split.test, number, err);
    return is_final(status) ? status : SOTTO_STATUS_OK;
}

static enum sotto_status
fit_lines(struct try_job *job, struct sotto_error *err)
{
    enum sotto_status status =
        fit_line(job, job->split.people, &job->result->line, err);
    return HOST_THEN(
        status, fit_line(job, job->split.aux, &job->result->aux_line, err));
}

static enum sotto_status
fit_baselines(struct try_job *job, struct sotto_error *err)
{
    struct sotto_try *to = job->result;
    const struct try_split *split = &job->split;
    enum sotto_status status =
        fit_clean(job, SOTTO_CAMPAIGN_LINEAR, split->people, &to->linear, err);
    status = HOST_THEN(status, fit_clean(job, SOTTO_CAMPAIGN_NETWORK,
                                         split->people, &to->network, err));
    status = HOST_THEN(status, fit_clean(job, SOTTO_CAMPAIGN_LINEAR, split->aux,
                                         &to->aux_linear, err));
    return HOST_THEN(status, fit_clean(job, SOTTO_CAMPAIGN_NETWORK, split->aux,
                                       &to->aux_network, err));
}

/* ---- All of it ------------------------------------------------------------
 */

/* Finds the best constant of the test rows, and how far they lie from it. */
static enum sotto_status
describe_number(struct try_job *job, size_t label, struct sotto_error *err)
{
    struct sotto_try *to = job->result;
    double n = 0, mean = 0, squares = 0;
    for (size_t i = 0; i < to->test; i++) {
        double x = sotto_table_cell(job->split.test, i, label).number;
        double off = x - mean;
        mean += off / ++n;
        squares += off * (x - mean);
    }
    to->constant = mean;
    to->constant_rmse = sqrt(squares / n);
    return squares > 0 ? SOTTO_STATUS_OK
                       : host_fail(err, SOTTO_STATUS_INPUT, 0,
                                   "column \"%.80s\" has the same value in "
                                   "every row: there is nothing to learn",
                                   job->options->label);
}

static void
count_rows(struct try_job *job)
{
    struct sotto_try *to = job->result;
    to->aux = sotto_table_rows(job->split.aux);
    to->people = sotto_table_rows(job->split.people);
    to->test = sotto_table_rows(job->split.test);
    to->left = job->split.left;
}

/* Finds the largest class. */
static enum sotto_status
describe_classes(struct try_job *job, size_t label, struct sotto_error *err)
{
    struct sotto_try *to = job->result;
    struct sotto_value largest = {.size = 0};
    size_t rows = 0, there = 0;
    enum sotto_status status = try_column_largest(
        job->split.aux, label, &largest, &rows, &to->classes, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (to->classes < 2) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "column \"%.80s\" has the same value in every row: "
                         "there is nothing to learn",
                         job->options->label);
    }
    (void)snprintf(to->largest, sizeof to->largest, "%.*s", (int)largest.size,
                   (const char *)largest.data);
    for (size_t i = 0; i < to->test; i++) {
        struct sotto_value cell = sotto_table_cell(job->split.test, i, label);
        there += cell.size == largest.size &&
                         memcmp(cell.data, largest.data, cell.size) == 0
                     ? 1
                     : 0;
    }
    to->share = (double)there / (double)to->test;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
run_all(struct try_job *job, struct sotto_error *err)
{
    struct sotto_try *to = job->result;
    enum sotto_status status = make_campaigns(job, err);
    to->at = calloc(job->options->eps_count, sizeof *to->at);
    if (to->at == NULL) {
        return host_fail_memory(err);
    }
    status = HOST_THEN(status, job->number ? fit_lines(job, err)
                                           : fit_baselines(job, err));
    to->advised = SIZE_MAX;
    for (size_t i = 0; i < job->options->eps_count && status == SOTTO_STATUS_OK;
         i++) {
        struct sotto_try_at *at = &to->at[i];
        (void)snprintf(at->eps, sizeof at->eps, "%s", job->options->eps[i]);
        status = run_eps(job, at, err);
        to->count += status == SOTTO_STATUS_OK ? 1 : 0;
        if (status == SOTTO_STATUS_OK && at->before == SOTTO_TRY_LEARNS &&
            (to->advised == SIZE_MAX ||
             strtod(at->eps, NULL) < strtod(to->at[to->advised].eps, NULL))) {
            to->advised = i;
        }
    }
    return status;
}

static void
job_clear(struct try_job *job)
{
    sotto_campaign_free(job->codebook);
    for (size_t i = 0; i < SOTTO_TRY_COLUMNS_MAX; i++) {
        sotto_campaign_free(job->direct[i]);
        free(job->narrow[i]);
    }
    try_split_clear(&job->split);
    free(job->drop);
    sotto_schema_free(job->inferred);
}

static enum sotto_status
check_options(const struct sotto_try_options *options, struct sotto_error *err)
{
    if (options->eps_count < 1 || options->eps_count > SOTTO_TRY_EPS_MAX) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "give 1 to %u epsilons, not %zu", SOTTO_TRY_EPS_MAX,
                         options->eps_count);
    }
    for (size_t i = 0; i < options->eps_count; i++) {
        if (strlen(options->eps[i]) >= CAMPAIGN_EPS_SIZE) {
            return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                             "epsilon '%.60s' is too long a number",
                             options->eps[i]);
        }
    }
    return SOTTO_STATUS_OK;
}

/* Refuses a label most of whose rows have a class that hardly anybody else
   has: a text, or somebody's name. */
static enum sotto_status
check_classes(const struct sotto_table *table, size_t label,
              struct sotto_error *err)
{
    struct sotto_value largest = {.size = 0};
    size_t most = 0, classes = 0, rows = 0;
    for (size_t i = 0; i < sotto_table_rows(table); i++) {
        rows += sotto_table_cell(table, i, label).size > 0 ? 1 : 0;
    }
    enum sotto_status status =
        try_column_largest(table, label, &largest, &most, &classes, err);
    if (status != SOTTO_STATUS_OK || classes < 2 ||
        rows >= classes * CLASS_ROWS_LEAST) {
        return status;
    }
    return host_fail(err, SOTTO_STATUS_INPUT, 0,
                     "column \"%.80s\" has %zu different values in %zu rows, "
                     "the largest class %zu of them: it is no class label, for "
                     "of so few rows a class nothing can be learnt. Take a "
                     "column of classes, or group its values",
                     sotto_table_name(table, label), classes, rows, most);
}

enum sotto_status
sotto_try_new(const struct sotto_table *table,
              const struct sotto_try_options *options,
              struct sotto_try **ret_try, struct sotto_error *err)
{
    double start = host_seconds();
    struct try_job job = {.options = options,
                          .result = calloc(1, sizeof *job.result)};
    struct sotto_error spare; /* why a kind was not tried is kept */
    size_t label = 0;
    err = err != NULL ? err : &spare;
    enum sotto_status status = job.result != NULL ? check_options(options, err)
                                                  : host_fail_memory(err);
    status =
        HOST_THEN(status, campaign_label(table, options->label, &label, err));
    if (status == SOTTO_STATUS_OK) {
        job.number = sotto_table_kind(table, label) == SOTTO_COLUMN_NUMBER;
        status = job.number ? status : check_classes(table, label, err);
    }
    status =
        HOST_THEN(status, try_split_init(&job.split, table, label,
                                         options->people, options->seed, err));
    if (status == SOTTO_STATUS_OK) {
        count_rows(&job);
        status = job.number ? describe_number(&job, label, err)
                            : describe_classes(&job, label, err);
    }
    status = HOST_THEN(status, try_leave_out(&job, err));
    status = HOST_THEN(status, run_all(&job, err));
    if (status == SOTTO_STATUS_OK) {
        job.result->seconds = host_seconds() - start;
        *ret_try = job.result;
    } else {
        sotto_try_free(job.result);
    }
    job_clear(&job);
    return status;
}

void
sotto_try_free(struct sotto_try *result)
{
    if (result == NULL) {
        return;
    }
    for (size_t i = 0; i < result->columns; i++) {
        free(result->column[i]);
    }
    for (size_t i = 0; i < result->outs; i++) {
        free(result->out[i]);
        free(result->why[i]);
    }
    for (size_t i = 0; i < result->warnings; i++) {
        free(result->warning[i]);
    }
    free(result->warning);
    free(result->column);
    free(result->out);
    free(result->why);
    free(result->at);
    free(result);
}
