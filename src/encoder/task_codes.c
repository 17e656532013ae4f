/*
 * task_codes.c: the mechanism whose report names one of k cells that were cut
 * for a linear task (docs/task-codes.md).
 *
 *     x --dense--> u --dense--> k scores --largest--> code --flip--> report
 *
 * u are the task's coordinates, sqrt(lambda_i) v_i over the root of their
 * variance in all, so that a float holds them whatever the task's units are.
 * task_cells.h cuts the cells by the channel's formula. All that follows is of
 * codes as devices make them, by the floats of these two layers, and of the
 * channel's own chances.
 *
 * The decoder is task_posterior.h's D for x itself, linear in the unbiased
 * estimates e of a code's indicators, for e_c = ([r = c] - other) / gap:
 *
 *     D(r) = sum_c gap D(c) e_c + other sum_c D(c)
 *
 * It is the best for every task at once. A report that named w > 1 cells would
 * have no such layer: the sum over those it names stands in the denominator.
 * Not private towards the auxiliary data, and both files say so.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "encode/encode.h"
#include "encode/flush.h"
#include "encoder/learnt_channel.h"
#include "encoder/task_cells.h"
#include "encoder/task_ground.h"
#include "encoder/task_posterior.h"
#include "host/error.h"
#include "host/wipe.h"
#include "report/domain.h"

#define FOLDS ((size_t)4)
#define ROWS_LEAST (2 * FOLDS)
#define ROWS_MOST ((size_t)8192)    /* that cells are cut of */
#define CELLS_MOST ((size_t)1024)   /* that are tried, unless they are given */
#define WORK_MOST ((size_t)1 << 27) /* multiply-adds of a step, likewise */
#define RESTARTS 8u
#define FOLD_RESTARTS 2u
#define KEPT_BY "the codes explain"

struct settings {
    struct learnt_settings common;
    struct task_given given;
    uint32_t k;
    uint64_t seed;
};

#define AT(field) offsetof(struct settings, field)

static const struct setting settings[] = {
    TASK_GIVEN_SETTINGS(settings),
    SETTING("k", WHOLE, AT(k), 2, TASK_CELLS_REPORTS, NULL, NULL,
            "codes (as many as leave the least loss)"),
    SETTING("seed", SEED, AT(seed), 0, 0, "0", NULL,
            "the same seed, the same file"),
    LEARNT_LABEL_SETTINGS(settings), SETTING_END};

struct task_codes {
    struct task_ground ground;
    struct task_cells_plan plan;
    struct task_response response;
    double unit;        /* u is the task's coordinates times this */
    float *coordinates; /* the first layer: weights, then biases */
    float *u;           /* n rows of rank, as that layer makes them */
    float *scores;      /* the second one */
    int32_t *code;      /* of every row */
    float *decoder;
    double loss; /* of rows held out */
};

/* ---- The device's layers ------------------------------------------------- */

/* u = unit T (x - mean) has the bias -unit T mean. */
static enum sotto_status
fill_coordinates(struct task_codes *codes, struct sotto_error *err)
{
    const struct task_basis *basis = &codes->ground.basis;
    size_t rank = basis->rank, width = basis->inputs;
    codes->unit = 1 / sqrt(task_ground_variance(&codes->ground));
    codes->coordinates = calloc(rank, (width + 1) * sizeof(float));
    if (codes->coordinates == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < rank; i++) {
        double bias = 0;
        for (size_t j = 0; j < width; j++) {
            double weight = codes->unit * basis->task[i * width + j];
            codes->coordinates[i * width + j] = flush_small((float)weight);
            bias -= weight * basis->mean[j];
        }
        codes->coordinates[rank * width + i] = flush_small((float)bias);
    }
    return SOTTO_STATUS_OK;
}

static struct layer
coordinates_layer(const struct task_codes *codes)
{
    const struct task_basis *basis = &codes->ground.basis;
    return (struct layer){.in = (uint32_t)basis->inputs,
                          .out = (uint32_t)basis->rank,
                          .activation = ACTIVATION_NONE,
                          .weight = codes->coordinates,
                          .bias =
                              codes->coordinates + basis->rank * basis->inputs};
}

static struct layer
scores_layer(const struct task_codes *codes, const float *scores)
{
    size_t rank = codes->ground.basis.rank;
    return (struct layer){.in = (uint32_t)rank,
                          .out = (uint32_t)codes->plan.k,
                          .activation = ACTIVATION_NONE,
                          .weight = scores,
                          .bias = scores + codes->plan.k * rank};
}

static enum sotto_status
fill_u(struct task_codes *codes, struct sotto_error *err)
{
    const struct learnt *learnt = &codes->ground.learnt;
    struct layer layer = coordinates_layer(codes);
    codes->u = calloc(learnt->n, layer.out * sizeof *codes->u);
    if (codes->u == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < learnt->n; i++) {
        forward_dense(&layer, learnt->x + i * learnt->width, NULL,
                      codes->u + i * layer.out);
    }
    return SOTTO_STATUS_OK;
}

/* The code of every row, as a device finds it: the first of its largest
   scores. */
static enum sotto_status
find_codes(const struct task_codes *codes, const float *scores,
           int32_t *ret_code, struct sotto_error *err)
{
    struct layer layer = scores_layer(codes, scores);
    float *score = calloc(layer.out, sizeof *score);
    if (score == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < codes->ground.learnt.n; i++) {
        forward_dense(&layer, codes->u + i * layer.in, NULL, score);
        ret_code[i] = domain_largest(score, layer.out);
    }
    host_wipe_free(score, layer.out * sizeof *score);
    return SOTTO_STATUS_OK;
}

/* ---- Rows ---------------------------------------------------------------- */

static bool
is_inside(size_t row, size_t part, bool inside)
{
    return part == FOLDS || (row % FOLDS == part) == inside;
}

/* The rows of one part, or all others; of part FOLDS all. */
static enum sotto_status
pick_rows(size_t n, size_t part, bool inside, struct task_rows *ret,
          struct sotto_error *err)
{
    *ret = (struct task_rows){.row = calloc(n, sizeof *ret->row)};
    if (ret->row == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        if (is_inside(i, part, inside)) {
            ret->row[ret->count++] = i;
        }
    }
    return SOTTO_STATUS_OK;
}

static size_t
fewer(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* u of these rows in doubles, of ROWS_MOST of them where there are more, at
   even distances; for the caller to wipe. NULL: no memory. */
static double *
take_u(const struct task_codes *codes, const struct task_rows *rows,
       size_t *ret_count)
{
    size_t rank = codes->ground.basis.rank;
    size_t count = fewer(rows->count, ROWS_MOST);
    double *u = malloc(count * rank * sizeof *u);
    for (size_t i = 0; u != NULL && i < count; i++) {
        size_t row = rows->row[i * rows->count / count];
        for (size_t j = 0; j < rank; j++) {
            u[i * rank + j] = (double)codes->u[row * rank + j];
        }
    }
    *ret_count = count;
    return u;
}

/* ---- Cells --------------------------------------------------------------- */

static enum sotto_status
choose_k(struct task_codes *codes, const double *u, size_t count, uint32_t k,
         struct sotto_error *err)
{
    size_t rank = codes->ground.basis.rank;
    size_t work = count * rank > 0 ? count * rank : 1; /* of a cell, a step */
    size_t most = fewer(CELLS_MOST, WORK_MOST / work);
    codes->plan.k = k;
    codes->plan.w = 1;
    return k > 0 ? SOTTO_STATUS_OK
                 : task_cells_choose(&codes->plan, most, u, NULL, count, rank,
                                     err);
}

/* Cuts cells of these rows, and makes their scores a layer. */
static enum sotto_status
cut_cells(const struct task_codes *codes, const struct task_rows *rows,
          uint32_t restarts, float *ret_scores, struct sotto_error *err)
{
    struct task_cells_plan plan = codes->plan;
    struct task_cells cells = {0};
    size_t count, rank = codes->ground.basis.rank;
    double *u = take_u(codes, rows, &count);
    enum sotto_status status;
    if (u == NULL) {
        return host_fail_memory(err);
    }
    plan.restarts = restarts;
    plan.done = plan.total;
    status = task_cells_init(&cells, &plan, u, NULL, count, rank, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < plan.k * rank; i++) {
        ret_scores[i] = flush_small((float)cells.weight[i]);
    }
    for (size_t c = 0; status == SOTTO_STATUS_OK && c < plan.k; c++) {
        ret_scores[plan.k * rank + c] = flush_small((float)cells.bias[c]);
    }
    task_cells_clear(&cells);
    host_wipe_free(u, count * rank * sizeof *u);
    return status;
}

/* ---- The decoder --------------------------------------------------------- */

/* The layer that is linear in the code's indicators. */
static enum sotto_status
fill_decoder(struct task_codes *codes, const struct task_rows *all,
             struct sotto_error *err)
{
    const struct learnt *learnt = &codes->ground.learnt;
    const struct task_response *response = &codes->response;
    size_t k = codes->plan.k, width = learnt->width;
    double *answer = calloc(k, (width + 1) * sizeof *answer);
    codes->decoder = calloc(width, (k + 1) * sizeof *codes->decoder);
    if (answer == NULL || codes->decoder == NULL) {
        host_wipe_free(answer, k * (width + 1) * sizeof *answer);
        return host_fail_memory(err);
    }
    task_posterior_fit(response, k, all, codes->code, learnt->x, width,
                       answer + k * width, answer);
    for (size_t j = 0; j < width; j++) {
        double sum = 0;
        for (size_t c = 0; c < k; c++) {
            double at = answer[c * width + j];
            codes->decoder[j * k + c] = (float)(response->gap * at);
            sum += at;
        }
        codes->decoder[width * k + j] = (float)(response->other * sum);
    }
    host_wipe_free(answer, k * (width + 1) * sizeof *answer);
    return SOTTO_STATUS_OK;
}

/* ---- The loss ------------------------------------------------------------ */

/* The loss of one part's rows by cells and answers of the others. */
static enum sotto_status
try_part(const struct task_codes *codes, size_t part, float *scores,
         int32_t *code, double *answer, double *ret_loss,
         struct sotto_error *err)
{
    size_t n = codes->ground.learnt.n, rank = codes->ground.basis.rank;
    size_t k = codes->plan.k;
    struct task_rows others = {0}, own = {0};
    enum sotto_status status = pick_rows(n, part, false, &others, err);
    status = HOST_THEN(status, pick_rows(n, part, true, &own, err));
    status = HOST_THEN(status,
                       cut_cells(codes, &others, FOLD_RESTARTS, scores, err));
    status = HOST_THEN(status, find_codes(codes, scores, code, err));
    if (status == SOTTO_STATUS_OK) {
        task_posterior_fit(&codes->response, k, &others, code, codes->u, rank,
                           answer + k * rank, answer);
        *ret_loss += task_posterior_loss(&codes->response, k, &own, code,
                                         codes->u, rank, answer);
    }
    free(others.row);
    free(own.row);
    return status;
}

/* The loss of a record that neither cells nor answers were fitted to, in the
   task's own units. */
static enum sotto_status
hold_out(struct task_codes *codes, struct sotto_error *err)
{
    size_t n = codes->ground.learnt.n, rank = codes->ground.basis.rank;
    size_t k = codes->plan.k;
    float *scores = calloc(k, (rank + 1) * sizeof *scores);
    int32_t *code = calloc(n, sizeof *code);
    double *answer = calloc(k, (rank + 1) * sizeof *answer), loss = 0;
    enum sotto_status status = scores != NULL && code != NULL && answer != NULL
                                   ? SOTTO_STATUS_OK
                                   : host_fail_memory(err);
    for (size_t part = 0; status == SOTTO_STATUS_OK && part < FOLDS; part++) {
        status = try_part(codes, part, scores, code, answer, &loss, err);
    }
    codes->loss = loss / (double)n / (codes->unit * codes->unit);
    host_wipe_free(scores, k * (rank + 1) * sizeof *scores);
    host_wipe_free(code, n * sizeof *code);
    host_wipe_free(answer, k * (rank + 1) * sizeof *answer);
    return status;
}

/* ---- What is kept -------------------------------------------------------- */

/* The part of every entry's variance that lies between codes:
   sum_c pi_c (m_c - m)^2. */
static enum sotto_status
find_kept(struct task_codes *codes, struct sotto_error *err)
{
    const struct learnt *learnt = &codes->ground.learnt;
    const double *mean = codes->ground.basis.mean;
    size_t k = codes->plan.k, width = learnt->width;
    double *sum = calloc(k, (width + 1) * sizeof *sum), *count;
    if (sum == NULL) {
        return host_fail_memory(err);
    }
    count = sum + k * width;
    for (size_t i = 0; i < learnt->n; i++) {
        size_t c = (size_t)codes->code[i];
        count[c]++;
        for (size_t j = 0; j < width; j++) {
            sum[c * width + j] += codes->ground.x[i * width + j] - mean[j];
        }
    }
    for (size_t i = 0; i < k * width; i++) {
        if (count[i / width] > 0) {
            codes->ground.kept[i % width].part +=
                sum[i] * sum[i] / count[i / width] / (double)learnt->n;
        }
    }
    host_wipe_free(sum, k * (width + 1) * sizeof *sum);
    return SOTTO_STATUS_OK;
}

static void
tell(const struct task_codes *codes)
{
    struct sotto_train_facts *facts = codes->ground.learnt.job->facts;
    double all = task_ground_without(&codes->ground);
    task_ground_tell(&codes->ground, facts);
    fact_whole(facts, "k", codes->plan.k);
    fact_number(facts, "loss", codes->loss);
    fact_number(facts, "without", all);
    fact_say(facts,
             "For %s, a report names one of %zu codes.\nThe task's loss for "
             "one report is %.4g; it is %.4g without reports (%.0f%%).\n",
             codes->ground.matrix.said, codes->plan.k, codes->loss, all,
             100 * codes->loss / all);
    if (!(codes->loss < all)) {
        fact_say(facts, "So a report tells nothing of the task: give more "
                        "records or a larger epsilon.\n");
    }
    task_kept_say(&codes->ground, KEPT_BY, facts);
}

/* ---- All of it ----------------------------------------------------------- */

static enum sotto_status
write_files(const struct task_codes *codes, struct sotto_error *err)
{
    const struct learnt *learnt = &codes->ground.learnt;
    size_t k = codes->plan.k;
    struct layer encoder[2] = {coordinates_layer(codes),
                               scores_layer(codes, codes->scores)};
    struct layer decoder = {.in = (uint32_t)k,
                            .out = (uint32_t)learnt->width,
                            .activation = ACTIVATION_NONE,
                            .weight = codes->decoder,
                            .bias = codes->decoder + learnt->width * k};
    struct analyst_block block = {ANALYST_GAUSSIAN, 0, learnt->width};
    json_t *facts = json_pack(
        "{s:I, s:s, s:I, s:f, s:f, s:I, s:o}", "rows", (json_int_t)learnt->n,
        "task", codes->ground.matrix.said, "k", (json_int_t)k, "loss",
        codes->loss, "without", task_ground_without(&codes->ground), "seed",
        (json_int_t)(codes->plan.seed & INT64_MAX), "columns",
        task_kept_pack(&codes->ground));
    struct learnt_result result = {.encoder = encoder,
                                   .encoder_layers = 2,
                                   .codes = k,
                                   .representation = codes->u,
                                   .decoder = &decoder,
                                   .decoder_layers = 1,
                                   .block = &block,
                                   .blocks = 1,
                                   .at_eps = true,
                                   .task = codes->ground.matrix.said,
                                   .facts = facts};
    enum sotto_status status = facts != NULL
                                   ? learnt_finish(learnt, &result, err)
                                   : host_fail_memory(err);
    json_decref(facts);
    return status;
}

static enum sotto_status
check_rows(const struct learnt *learnt, uint32_t k, struct sotto_error *err)
{
    if (learnt->n < ROWS_LEAST) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "%zu rows are too few to cut cells of them and hold "
                         "some out: at least %zu",
                         learnt->n, ROWS_LEAST);
    }
    return k <= learnt->n
               ? SOTTO_STATUS_OK
               : settings_fail(err, "k", "is %u, and there are %zu rows only",
                               (unsigned)k, learnt->n);
}

/* The number of cells, the cells, and the codes of all rows. */
static enum sotto_status
fit_cells(struct task_codes *codes, const struct task_rows *all, uint32_t k,
          struct sotto_error *err)
{
    size_t count, rank = codes->ground.basis.rank, n = codes->ground.learnt.n;
    double *u = take_u(codes, all, &count);
    enum sotto_status status =
        u != NULL ? choose_k(codes, u, count, k, err) : host_fail_memory(err);
    host_wipe_free(u, count * rank * sizeof *u);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    codes->scores = calloc(codes->plan.k, (rank + 1) * sizeof *codes->scores);
    codes->code = calloc(n, sizeof *codes->code);
    if (codes->scores == NULL || codes->code == NULL) {
        return host_fail_memory(err);
    }
    status = task_response_find(&codes->response, codes->plan.k,
                                codes->ground.learnt.eps_x, err);
    status =
        HOST_THEN(status, cut_cells(codes, all, RESTARTS, codes->scores, err));
    return HOST_THEN(status,
                     find_codes(codes, codes->scores, codes->code, err));
}

static enum sotto_status
fit(struct task_codes *codes, const struct settings *set,
    struct sotto_error *err)
{
    const struct learnt *learnt = &codes->ground.learnt;
    struct task_rows all = {0};
    enum sotto_status status = check_rows(learnt, set->k, err);
    codes->plan = (struct task_cells_plan){
        .loss = TASK_CELLS_SQUARED,
        .eps = (double)learnt->eps_x / (double)DECIMAL_UNIT,
        .seed = set->seed,
        .flip = true,
        .watch = &learnt->job->options->watch};
    status = HOST_THEN(status, fill_coordinates(codes, err));
    status = HOST_THEN(status, fill_u(codes, err));
    status = HOST_THEN(status, pick_rows(learnt->n, FOLDS, true, &all, err));
    status = HOST_THEN(status, fit_cells(codes, &all, set->k, err));
    status = HOST_THEN(status, hold_out(codes, err));
    status = HOST_THEN(status, find_kept(codes, err));
    status = HOST_THEN(status, fill_decoder(codes, &all, err));
    free(all.row);
    return status;
}

static void
task_codes_clear(struct task_codes *codes)
{
    const struct learnt *learnt = &codes->ground.learnt;
    size_t n = learnt->n, rank = codes->ground.basis.rank;
    host_wipe_free(codes->u, n * rank * sizeof *codes->u);
    host_wipe_free(codes->code, n * sizeof *codes->code);
    free(codes->coordinates);
    free(codes->scores);
    free(codes->decoder);
    task_ground_clear(&codes->ground);
}

static enum sotto_status
check_settings(const struct encoder_job *job, void *own,
               struct sotto_error *err)
{
    struct settings *set = own;
    (void)job;
    return task_ground_check(&set->common, &set->given, err);
}

static enum sotto_status
fit_task_codes(const struct encoder_job *job, void *own,
               struct sotto_error *err)
{
    struct settings *set = own;
    struct task_codes codes = {.loss = 0};
    enum sotto_status status =
        task_ground_init(&codes.ground, job, &set->common, &set->given, err);
    status = HOST_THEN(status, fit(&codes, set, err));
    if (status == SOTTO_STATUS_OK) {
        set->k = (uint32_t)codes.plan.k;
        tell(&codes);
        status = write_files(&codes, err);
    }
    task_codes_clear(&codes);
    return status;
}

const struct encoder encoder_task_codes = {
    .kind = {.name = "task-codes",
             .about = "which of a few cells a record lies in, cut for a linear "
                      "task: loses\nless than task-linear where epsilon is "
                      "small and records are many.",
             .analyst = "decoder, codes and representations",
             .example = "weights=radius_mean=1"},
    .settings = settings,
    .own_size = sizeof(struct settings),
    .check = check_settings,
    .fit = fit_task_codes,
};
