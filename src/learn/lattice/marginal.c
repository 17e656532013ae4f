/*
 * marginal.c: the likelihood of reports under all points of the prior (Eq. 11),
 * and its gradient.
 *
 * Report n is about point m with probability w_nm, and its label report says
 * t_n(y) of class y. With P the network's probabilities, rows of points,
 *
 *     s_n        = sum_m w_nm v_nm          v_n = P t_n
 *     d(-ln s_n) / dP_my = -(1 / s_n) w_nm t_n(y)
 *
 * Rows are sorted by t. All rows of a group have one t, so one v serves them,
 * and their gradient is an outer product:
 *
 *     dP = -a t'                            a_m = sum_n (1 / s_n) w_nm
 *
 * A few rows are dotted with v and, still in the cache, added to a: one pass
 * over the weights an epoch.
 *
 * As p(. | q) adds up to 1, v = t_min + sum_y (t(y) - t_min) p(y | q); and
 * whatever the gradient adds to all classes alike, a softmax takes away again.
 * So t_min is taken out of both: of flip's t one entry is left. Of subset's w
 * are left, and there may be as many groups as reports: then P and its gradient
 * are turned once a pass, so that classes are rows and the loops run along
 * them. The sums are the same, term by term, either way.
 */
#include "learn/lattice/marginal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/pool.h"
#include "learn/lattice/posterior_kernel.h"
#include "learn/objective.h"
#include "learn/vectors.h"

#define WAVE 32u   /* chunks at a time */
#define TILE 1024u /* points that a task adds up over */
#define TURN 64u   /* rows of a matrix turned at a time */

enum sotto_status
marginal_init(struct marginal *marginal, const struct posterior *posterior,
              const struct labels *labels, const struct plan *plan,
              struct host_pool *pool, struct sotto_error *err)
{
    unsigned workers = pool != NULL ? host_pool_threads(pool) : 1;
    bool turn = labels->groups > 2 * labels->classes;
    *marginal = (struct marginal){
        .posterior = posterior, .labels = labels, .plan = plan, .pool = pool};
    marginal->v = calloc(workers * posterior->padded, sizeof(float));
    marginal->a = calloc(WAVE * posterior->padded, sizeof(float));
    marginal->log_s = calloc(WAVE, sizeof(double));
    if (turn) {
        marginal->turned =
            calloc(2 * labels->classes, posterior->points * sizeof(float));
    }
    if (marginal->v == NULL || marginal->a == NULL || marginal->log_s == NULL ||
        (turn && marginal->turned == NULL)) {
        marginal_clear(marginal);
        return host_fail_memory(err);
    }
    return SOTTO_STATUS_OK;
}

void
marginal_clear(struct marginal *marginal)
{
    free(marginal->v);
    free(marginal->a);
    free(marginal->log_s);
    free(marginal->turned);
    memset(marginal, 0, sizeof *marginal);
}

struct marginal_work {
    struct marginal *marginal;
    size_t first; /* chunk of the wave */
    size_t tasks;
    const float *p;
    double scale;
    float *dp;
    size_t along, across; /* from a point to the next; from a class */
};

/* Rows of points to rows of classes, or back. */
static void
turn_matrix(const float *from, size_t rows, size_t columns, float *to)
{
    for (size_t first = 0; first < rows; first += TURN) {
        size_t end = rows - first < TURN ? rows : first + TURN;
        for (size_t j = 0; j < columns; j++) {
            for (size_t i = first; i < end; i++) {
                to[j * rows + i] = from[i * columns + j];
            }
        }
    }
}

/* to += by from; steps are from an entry to the next. */
static void
add_row(float by, const float *from, size_t from_step, size_t n, float *to,
        size_t to_step)
{
    size_t i = 0;
    for (; from_step == 1 && to_step == 1 && i + LANES <= n; i += LANES) {
        STORE(floats, to + i,
              LOAD(floats, to + i) + by * LOAD(floats, from + i));
    }
    for (; i < n; i++) {
        to[i * to_step] += by * from[i * from_step];
    }
}

static double
least_of(const double *t, size_t classes)
{
    double least = t[0];
    for (size_t y = 1; y < classes; y++) {
        least = t[y] < least ? t[y] : least;
    }
    return least;
}

/* v = t_min + sum_y (t(y) - t_min) p_y */
static void
set_v(const struct marginal_work *pass, const double *t, float *v)
{
    size_t classes = pass->marginal->labels->classes;
    size_t points = pass->marginal->posterior->points;
    double least = least_of(t, classes);
    for (size_t m = 0; m < points; m++) {
        v[m] = (float)least;
    }
    for (size_t y = 0; y < classes; y++) {
        float more = (float)(t[y] - least);
        if (more > 0) {
            add_row(more, pass->p + y * pass->across, pass->along, points, v,
                    1);
        }
    }
}

/* One chunk: its log s, and a. */
static void
pass_chunk(void *context, size_t task, unsigned worker)
{
    const struct marginal_work *pass = context;
    const struct marginal *marginal = pass->marginal;
    const struct posterior *posterior = marginal->posterior;
    const struct plan *plan = marginal->plan;
    size_t chunk = pass->first + task, end = plan->chunk[chunk + 1];
    uint32_t group = plan->group[plan->chunk[chunk]];
    float *v = marginal->v + worker * posterior->padded;
    float *a = marginal->a + task * posterior->padded;
    double sum = 0;
    set_v(pass, marginal->labels->t + group * marginal->labels->classes, v);
    if (pass->dp != NULL) {
        memset(a, 0, posterior->padded * sizeof *a);
    }
    for (size_t n = plan->chunk[chunk]; n < end; n += POSTERIOR_ROWS) {
        double s[POSTERIOR_ROWS];
        size_t rows = end - n < POSTERIOR_ROWS ? end - n : POSTERIOR_ROWS;
        posterior_dots(posterior, n, rows, v, s);
        for (size_t i = 0; i < rows; i++) {
            double by =
                marginal->weight != NULL ? (double)marginal->weight[n + i] : 1;
            s[i] = s[i] <= OBJECTIVE_LEAST ? OBJECTIVE_LEAST
                                           : s[i]; /* NaN stays */
            sum += by * (log(s[i]) + marginal->labels->log_t[group]);
            s[i] = by / s[i];
        }
        if (pass->dp != NULL) {
            posterior_add(posterior, n, rows, s, a);
        }
    }
    marginal->log_s[task] = sum;
}

/* dp_my -= scale sum over tasks of a_m (t(y) - t_min), for a tile of points. */
static void
pass_tile(void *context, size_t tile, unsigned worker)
{
    const struct marginal_work *pass = context;
    const struct marginal *marginal = pass->marginal;
    const struct labels *labels = marginal->labels;
    size_t classes = labels->classes, from = tile * TILE;
    size_t end = marginal->posterior->points;
    (void)worker;
    end = end - from < TILE ? end : from + TILE;
    for (size_t task = 0; task < pass->tasks; task++) {
        const float *a = marginal->a + task * marginal->posterior->padded;
        size_t row = marginal->plan->chunk[pass->first + task];
        const double *t =
            labels->t + (size_t)marginal->plan->group[row] * classes;
        double least = least_of(t, classes);
        for (size_t y = 0; y < classes; y++) {
            float by = (float)(pass->scale * (t[y] - least));
            if (by > 0) {
                add_row(-by, a + from, 1, end - from,
                        pass->dp + y * pass->across + from * pass->along,
                        pass->along);
            }
        }
    }
}

/* Goes on with p and dp turned. */
static void
pass_turn(struct marginal_work *pass)
{
    const struct marginal *marginal = pass->marginal;
    size_t points = marginal->posterior->points;
    size_t classes = marginal->labels->classes;
    float *p = marginal->turned, *dp = p + classes * points;
    turn_matrix(pass->p, points, classes, p);
    if (pass->dp != NULL) {
        turn_matrix(pass->dp, points, classes, dp);
        pass->dp = dp;
    }
    pass->p = p;
    pass->along = 1;
    pass->across = points;
}

double
marginal_pass(struct marginal *marginal, size_t first, size_t end,
              const float *p, double scale, float *dp)
{
    size_t points = marginal->posterior->points;
    size_t classes = marginal->labels->classes;
    size_t tiles = (points + TILE - 1) / TILE;
    struct marginal_work pass = {.marginal = marginal,
                                 .p = p,
                                 .scale = scale,
                                 .along = classes,
                                 .across = 1};
    double sum = 0;
    pass.dp = dp;
    if (marginal->turned != NULL) {
        pass_turn(&pass);
    }
    for (size_t at = first; at < end; at += WAVE) {
        pass.first = at;
        pass.tasks = end - at < WAVE ? end - at : WAVE;
        host_pool_run(marginal->pool, pass.tasks, pass_chunk, &pass);
        for (size_t i = 0; i < pass.tasks; i++) {
            sum += marginal->log_s[i];
        }
        if (dp != NULL) {
            host_pool_run(marginal->pool, tiles, pass_tile, &pass);
        }
    }
    if (dp != NULL && pass.dp != dp) {
        turn_matrix(pass.dp, classes, points, dp);
    }
    return sum;
}

double
marginal_batch(void *context, size_t batch, const float *weight, const float *p,
               double scale, float *dp)
{
    struct marginal *marginal = context;
    const size_t *chunk = marginal->plan->batch_chunk;
    marginal->weight = weight;
    return marginal_pass(marginal, chunk[batch], chunk[batch + 1], p, scale,
                         dp);
}
