/*
 * task_cells.c: cutting cells under the channel's noise, and their decoder.
 *
 * With pi_c the share of cell c, m_c its mean, and P(r | c) the channel's:
 *
 *     D(r)   = sum_c pi_c P(r | c) m_c / sum_c pi_c P(r | c)
 *     l_c(u) = sum_r P(r | c) |u - D(r)|^2 = |u|^2 - 2 u . M_c + S_c
 *     M_c    = sum_r P(r | c) D(r)         S_c = sum_r P(r | c) |D(r)|^2
 *
 * so that a step is: every row to the cell of the largest u . M_c - S_c / 2,
 * then pi, m and D anew. Neither half can raise the expected loss, but for the
 * smoothing of classes, whose D is not quite the rows' own best. For the
 * logarithmic loss l_c(u) = -u . M_c with M_c = sum_r P(r | c) ln D(r), and the
 * rest is the same: D is the best decoder for both.
 *
 * A subset channel's P has two values, `in` where r names c and `out` where it
 * does not, and sums over reports need a report's own w cells alone:
 *
 *     sum_r P(r | c) g(r) = out sum_r g(r) + (in - out) sum_{r names c} g(r)
 */
#include "encoder/task_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "random/draw.h"
#include "random/seeded.h"

#define STEPS 100u
#define STREAM (UINT64_C(0x74636c73) << 32) /* of the seed */
#define LOG_LEAST 1e-12 /* of a probability whose logarithm is taken */

/* ---- Reports ------------------------------------------------------------- */

size_t
task_cells_reports(size_t n, size_t w)
{
    double count = 1;
    for (size_t i = 1; i <= w; i++) {
        count = count * (double)(n - w + i) / (double)i;
        if (count > (double)TASK_CELLS_REPORTS) {
            return TASK_CELLS_REPORTS + 1;
        }
    }
    return (size_t)(count + 0.5);
}

static void
first_set(uint32_t *named, size_t w)
{
    for (size_t i = 0; i < w; i++) {
        named[i] = (uint32_t)i;
    }
}

/* The next set of w of k, the first element slowest. */
static void
next_set(uint32_t *named, size_t w, size_t k)
{
    size_t i = w;
    while (i > 0 && named[i - 1] == k - w + i - 1) {
        i--;
    }
    if (i > 0) {
        named[i - 1]++;
        for (; i < w; i++) {
            named[i] = named[i - 1] + 1;
        }
    }
}

/* Its rank in that order. */
static size_t
rank_set(const uint32_t *named, size_t w, size_t k)
{
    size_t rank = 0, from = 0;
    for (size_t i = 0; i < w; i++) {
        for (size_t c = from; c < named[i]; c++) {
            rank += task_cells_reports(k - c - 1, w - i - 1);
        }
        from = (size_t)named[i] + 1;
    }
    return rank;
}

const double *
task_cells_decode(const struct task_cells *cells, const uint32_t *named)
{
    return cells->decoded +
           rank_set(named, cells->plan.w, cells->plan.k) * cells->d;
}

/* ---- The decoder, and the scores that follow from it --------------------- */

/* D of every report: a sum over all cells at `out`, and over those named at
   in - out. */
static void
fit_decoder(struct task_cells *cells, uint32_t *named)
{
    size_t d = cells->d, k = cells->plan.k, w = cells->plan.w;
    double *all = cells->pull; /* not needed before fit_scores */
    memset(all, 0, d * sizeof *all);
    for (size_t c = 0; c < k; c++) {
        for (size_t j = 0; j < d; j++) {
            all[j] += cells->share[c] * cells->mean[c * d + j];
        }
    }
    first_set(named, w);
    for (size_t r = 0; r < cells->reports; r++) {
        double *to = cells->decoded + r * d, mass = cells->out;
        for (size_t j = 0; j < d; j++) {
            to[j] = cells->out * all[j];
        }
        for (size_t i = 0; i < w; i++) {
            double more = (cells->in - cells->out) * cells->share[named[i]];
            mass += more;
            for (size_t j = 0; j < d; j++) {
                to[j] += more * cells->mean[named[i] * d + j];
            }
        }
        for (size_t j = 0; j < d; j++) {
            to[j] /= mass;
        }
        next_set(named, w, k);
    }
}

/* What a report adds to M: D, or its logarithm. */
static double
pull_of(const struct task_cells *cells, double decoded)
{
    return cells->plan.loss == TASK_CELLS_LOG ? log(fmax(decoded, LOG_LEAST))
                                              : decoded;
}

/* pull = M, push = -S / 2; `all` has room for d. */
static void
fit_scores(struct task_cells *cells, uint32_t *named, double *all)
{
    size_t d = cells->d, k = cells->plan.k, w = cells->plan.w;
    bool squared = cells->plan.loss == TASK_CELLS_SQUARED;
    double all_push = 0, more = cells->in - cells->out;
    memset(cells->pull, 0, k * d * sizeof *cells->pull);
    memset(cells->push, 0, k * sizeof *cells->push);
    memset(all, 0, d * sizeof *all);
    first_set(named, w);
    for (size_t r = 0; r < cells->reports; r++) {
        const double *decoded = cells->decoded + r * d;
        double push = 0;
        for (size_t j = 0; j < d; j++) {
            double pull = pull_of(cells, decoded[j]);
            push += squared ? pull * pull : 0;
            all[j] += cells->out * pull;
            for (size_t i = 0; i < w; i++) {
                cells->pull[named[i] * d + j] += more * pull;
            }
        }
        all_push += cells->out * push;
        for (size_t i = 0; i < w; i++) {
            cells->push[named[i]] -= more * push / 2;
        }
        next_set(named, w, k);
    }
    for (size_t i = 0; i < k * d; i++) {
        cells->pull[i] += all[i % d];
    }
    for (size_t c = 0; c < k; c++) {
        cells->push[c] -= all_push / 2;
    }
}

/* ---- Rows ---------------------------------------------------------------- */

static double
dot(const double *a, const double *b, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static double
squared(const double *a, const double *b, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sum;
}

static double
score(const struct task_cells *cells, size_t c, const double *u)
{
    return dot(cells->weight + c * cells->d, u, cells->d) + cells->bias[c];
}

size_t
task_cells_code(const struct task_cells *cells, const double *u)
{
    size_t best = 0;
    double most = score(cells, 0, u);
    for (size_t c = 1; c < cells->plan.k; c++) {
        double at = score(cells, c, u);
        if (at > most) {
            most = at;
            best = c;
        }
    }
    return best;
}

/* l_c of a row. */
static double
loss_of(const struct task_cells *cells, size_t c, const double *target)
{
    double at =
        dot(cells->pull + c * cells->d, target, cells->d) + cells->push[c];
    return cells->plan.loss == TASK_CELLS_LOG
               ? -at
               : dot(target, target, cells->d) - 2 * at;
}

/* Adds sum_r P(r | c) (t_j - D_j)^2 of every coordinate. */
static void
add_each(const struct task_cells *cells, size_t c, const double *target,
         uint32_t *named, double *ret_each)
{
    size_t w = cells->plan.w;
    first_set(named, w);
    for (size_t r = 0; r < cells->reports; r++) {
        double chance = cells->out;
        for (size_t i = 0; i < w; i++) {
            chance = named[i] == c ? cells->in : chance;
        }
        for (size_t j = 0; j < cells->d; j++) {
            double off = target[j] - cells->decoded[r * cells->d + j];
            ret_each[j] += chance * off * off;
        }
        next_set(named, w, cells->plan.k);
    }
}

double
task_cells_loss(const struct task_cells *cells, const double *u,
                const double *target, size_t n, double *ret_each)
{
    uint32_t named[TASK_CELLS_NAMED];
    double sum = 0;
    for (size_t j = 0; ret_each != NULL && j < cells->d; j++) {
        ret_each[j] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        size_t c = task_cells_code(cells, u + i * cells->d);
        sum += loss_of(cells, c, target + i * cells->d);
        if (ret_each != NULL) {
            add_each(cells, c, target + i * cells->d, named, ret_each);
        }
    }
    for (size_t j = 0; ret_each != NULL && j < cells->d; j++) {
        ret_each[j] /= (double)n;
    }
    return sum / (double)n;
}

/* ---- Lloyd's steps ------------------------------------------------------- */

struct fitting {
    struct task_cells *cells;
    const double *u;
    size_t n;
    uint32_t *code; /* of every row */
    double *near;   /* squared distance to the nearest centre so far */
    double *all;    /* room for d */
    uint32_t named[TASK_CELLS_NAMED];
};

/* Draws the means of probabilities towards that of all rows: by the weight of
   one row. */
static void
smooth_means(struct task_cells *cells, size_t n)
{
    size_t d = cells->d, k = cells->plan.k;
    for (size_t j = 0; j < d; j++) {
        double all = 0;
        for (size_t c = 0; c < k; c++) {
            all += cells->share[c] * cells->mean[c * d + j];
        }
        for (size_t c = 0; c < k; c++) {
            double rows = cells->share[c] * (double)n;
            double *mean = &cells->mean[c * d + j];
            *mean = (rows * *mean + all) / (rows + 1);
        }
    }
}

/* pi, and m of these rows, by the rows' codes. A cell without rows keeps its
   mean, and has no weight. `pull` is room. */
static void
fit_means(struct fitting *fitting, const double *rows)
{
    struct task_cells *cells = fitting->cells;
    size_t d = cells->d, k = cells->plan.k;
    memset(cells->share, 0, k * sizeof *cells->share);
    memset(cells->pull, 0, k * d * sizeof *cells->pull);
    for (size_t i = 0; i < fitting->n; i++) {
        double *sum = cells->pull + fitting->code[i] * d;
        cells->share[fitting->code[i]]++;
        for (size_t j = 0; j < d; j++) {
            sum[j] += rows[i * d + j];
        }
    }
    for (size_t c = 0; c < k; c++) {
        for (size_t j = 0; j < d && cells->share[c] > 0; j++) {
            cells->mean[c * d + j] = cells->pull[c * d + j] / cells->share[c];
        }
        cells->share[c] /= (double)fitting->n;
    }
    if (cells->plan.loss == TASK_CELLS_LOG) {
        smooth_means(cells, fitting->n);
    }
}

/* k-means++: the first centres, and the nearest of them for every row. */
static void
seed_cells(struct fitting *fitting, struct random *random)
{
    struct task_cells *cells = fitting->cells;
    size_t d = cells->d, row = draw_below(random, (uint32_t)fitting->n);
    for (size_t c = 0; c < cells->plan.k; c++) {
        double total = 0, at;
        for (size_t i = 0; i < fitting->n; i++) {
            double distance =
                squared(fitting->u + i * d, fitting->u + row * d, d);
            if (c == 0 || distance < fitting->near[i]) {
                fitting->near[i] = distance;
                fitting->code[i] = (uint32_t)c;
            }
            total += fitting->near[i];
        }
        memcpy(cells->mean + c * d, fitting->u + row * d,
               d * sizeof *cells->mean);
        at = total * ((double)random_u56(random) / 72057594037927936.0);
        for (row = 0; row + 1 < fitting->n && at >= fitting->near[row]; row++) {
            at -= fitting->near[row];
        }
    }
}

static bool
is_watched(const struct task_cells_plan *plan)
{
    const struct sotto_watch *watch = plan->watch;
    return watch == NULL || watch->tick == NULL ||
           watch->tick(watch->context, "cells", plan->done, plan->total);
}

/* Steps until no row moves. The scores are of the last decoder. Statuses:
   STOPPED. */
static enum sotto_status
settle(struct fitting *fitting, struct sotto_error *err)
{
    struct task_cells *cells = fitting->cells;
    size_t weights = cells->plan.k * cells->d;
    bool moved = true;
    for (uint32_t step = 0; step < STEPS && moved; step++) {
        if (!is_watched(&cells->plan)) {
            return host_fail(err, SOTTO_STATUS_STOPPED, 0,
                             "stopped while cutting cells");
        }
        moved = false;
        fit_means(fitting, fitting->u);
        fit_decoder(cells, fitting->named);
        fit_scores(cells, fitting->named, fitting->all);
        memcpy(cells->weight, cells->pull, weights * sizeof *cells->weight);
        memcpy(cells->bias, cells->push, cells->plan.k * sizeof *cells->bias);
        cells->loss = 0;
        for (size_t i = 0; i < fitting->n; i++) {
            const double *u = fitting->u + i * cells->d;
            size_t code = task_cells_code(cells, u);
            cells->loss += loss_of(cells, code, u) / (double)fitting->n;
            moved = moved || code != fitting->code[i];
            fitting->code[i] = (uint32_t)code;
        }
    }
    return SOTTO_STATUS_OK;
}

/* The decoder of targets, for the cells that stand: what they are cut by stays,
   and what a report of them costs is another. */
static void
fit_targets(struct fitting *fitting, const double *target)
{
    struct task_cells *cells = fitting->cells;
    for (size_t i = 0; i < fitting->n; i++) {
        fitting->code[i] =
            (uint32_t)task_cells_code(cells, fitting->u + i * cells->d);
    }
    fit_means(fitting, target);
    fit_decoder(cells, fitting->named);
    fit_scores(cells, fitting->named, fitting->all);
}

/* ---- All of it ----------------------------------------------------------- */

static enum sotto_status
check_plan(const struct task_cells_plan *plan, size_t n, size_t d,
           struct sotto_error *err)
{
    if (n == 0 || d == 0 || n > UINT32_MAX || plan->w < 1 ||
        plan->w >= plan->k || plan->w > TASK_CELLS_NAMED ||
        task_cells_reports(plan->k, plan->w) > TASK_CELLS_REPORTS ||
        !(plan->eps > 0)) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "%zu cells of %zu rows, of which a report names %zu "
                         "at epsilon %g: not to be had",
                         plan->k, n, plan->w, plan->eps);
    }
    return SOTTO_STATUS_OK;
}

/* e^eps B against B, over all sets that name a cell and all that do not. */
static void
set_channel(struct task_cells *cells)
{
    const struct task_cells_plan *plan = &cells->plan;
    double odds = exp(-plan->eps);
    double named = (double)task_cells_reports(plan->k - 1, plan->w - 1);
    double total = named + odds * ((double)cells->reports - named);
    cells->in = 1 / total;
    cells->out = odds / total;
}

/* All arrays are one, of which `mean` is the beginning. */
static size_t
doubles_of(const struct task_cells *cells)
{
    size_t k = cells->plan.k;
    return 3 * k * cells->d + 3 * k + cells->reports * cells->d;
}

static bool
allocate(struct task_cells *cells)
{
    size_t k = cells->plan.k, d = cells->d;
    double *at = calloc(doubles_of(cells), sizeof *at);
    if (at == NULL) {
        return false;
    }
    cells->mean = at;
    cells->weight = cells->mean + k * d;
    cells->pull = cells->weight + k * d;
    cells->share = cells->pull + k * d;
    cells->bias = cells->share + k;
    cells->push = cells->bias + k;
    cells->decoded = cells->push + k;
    return true;
}

void
task_cells_clear(struct task_cells *cells)
{
    if (cells->mean != NULL) {
        host_wipe_free(cells->mean, doubles_of(cells) * sizeof *cells->mean);
    }
    memset(cells, 0, sizeof *cells);
}

/* Fits from several beginnings, and leaves the best. */
static enum sotto_status
fit_restarts(struct fitting *fitting, struct sotto_error *err)
{
    struct task_cells *cells = fitting->cells;
    uint32_t restarts = cells->plan.restarts > 0 ? cells->plan.restarts : 1;
    size_t size = doubles_of(cells) * sizeof *cells->mean;
    double *best = malloc(size), least = INFINITY;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (best == NULL) {
        return host_fail_memory(err);
    }
    for (uint32_t i = 0; i < restarts && status == SOTTO_STATUS_OK; i++) {
        struct seeded seeded;
        seeded_init(&seeded, cells->plan.seed, STREAM + i);
        seed_cells(fitting, &seeded.random);
        status = settle(fitting, err);
        if (i == 0 || cells->loss < least) {
            least = cells->loss;
            memcpy(best, cells->mean, size);
        }
    }
    memcpy(cells->mean, best, size);
    cells->loss = least;
    host_wipe_free(best, size);
    return status;
}

enum sotto_status
task_cells_init(struct task_cells *cells, const struct task_cells_plan *plan,
                const double *u, const double *target, size_t n, size_t d,
                struct sotto_error *err)
{
    struct task_cells made = {.plan = *plan, .d = d};
    struct fitting fitting = {.cells = &made, .u = u, .n = n};
    enum sotto_status status = check_plan(plan, n, d, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    made.reports = task_cells_reports(plan->k, plan->w);
    set_channel(&made);
    fitting.code = calloc(n, sizeof *fitting.code);
    fitting.near = calloc(n, sizeof *fitting.near);
    fitting.all = calloc(d, sizeof *fitting.all);
    if (fitting.code == NULL || fitting.near == NULL || fitting.all == NULL ||
        !allocate(&made)) {
        (void)host_fail_memory(err);
        status = SOTTO_STATUS_MEMORY;
        goto done;
    }
    status = fit_restarts(&fitting, err);
    if (status == SOTTO_STATUS_OK && target != NULL && target != u) {
        fit_targets(&fitting, target);
    }
    if (status == SOTTO_STATUS_OK) {
        *cells = made;
        made.mean = NULL;
    }
done:
    task_cells_clear(&made);
    host_wipe_free(fitting.code, n * sizeof *fitting.code);
    host_wipe_free(fitting.near, n * sizeof *fitting.near);
    free(fitting.all);
    return status;
}
