/*
 * regression_solve.c: the most likely line through what reports say.
 *
 * With A_k = sum_g t(g) p_mg c_g^k and E_k = sum_g p_mg c_g^k, and v_m = A_0,
 *
 *     u_m = dv_m / dmu_m      = (A_1 - E_1 A_0) / sigma^2
 *     r_m = dv_m / dln sigma  = (A_2 - E_2 A_0 - 2 mu (A_1 - E_1 A_0)) /
 * sigma^2 d ln s_n / dtheta_i     = sum_m w_nm u_m phi_mi / s_n
 *
 * and all rows of a group have one t, so one v, u and r. The matrix of second
 * derivatives is taken as H = sum_n g_n g_n' (Berndt et al. 1974), which is
 * Fisher's information where the model is right, and never negative: a step is
 * (H + Lambda)^-1 (g - Lambda theta), halved until it goes up.
 *
 * Lambda of a kind of terms follows MacKay (1992): lambda = gamma / |theta|^2,
 * gamma = k - lambda tr (H + Lambda)^-1, the number of terms that the reports
 * determine. Where they determine none it grows without bound, and the answer
 * is a constant.
 *
 * Work is cut by rows alone and sums run in a fixed order: the answer does not
 * depend on the number of threads.
 */
#include "learn/lattice/regression_solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/pool.h"

#define BLOCK 64u   /* rows of a task */
#define STEPS 40u   /* for one Lambda */
#define LEAST 1e-30 /* of a likelihood */
#define HALVES 12u
#define ROUNDS 12u        /* of Lambda */
#define DECREMENT 0.01    /* nats that a step may still bring */
#define ROUND_CHANGE 0.05 /* of ln lambda */
#define SHIFT_SHARE 0.5   /* of the spread: how far people's mean may be off */
#define EXPLAINED                                                              \
    0.25                /* of the labels' variance, before any report is seen  \
                         */
#define SIGMA_DOUBT 0.5 /* of ln sigma */
#define SIGMA_LEAST 0.01
#define SIGMA_MOST 10.0
#define LAMBDA_LEAST 1e-3
#define LAMBDA_MOST 1e9

/* A pass over the rows, at one theta. */
struct solve_work {
    const struct regression_problem *problem;
    size_t parameters; /* terms and ln sigma */
    double *memory;    /* of the six behind it */
    double *theta, *trial, *gradient, *step, *centre, *lambda;
    double *h;                   /* parameters squared; then its inverse */
    double *room;                /* likewise */
    float *p;                    /* points rows of cells, at `at` */
    double *mu, *first, *second; /* of every point: mu, E_1, E_2 */
    const double *at;
    float *rate;   /* v, u and r of a group: 3 points a worker */
    float *slope;  /* g_n: rows of parameters */
    double *log_s; /* of every row */
    bool gradients;
};

/* ---- The likelihood ------------------------------------------------------ */

void
regression_cells(const double *cell, size_t cells, double mu, double sigma,
                 double *ret_p)
{
    double least = INFINITY, sum = 0;
    for (size_t g = 0; g < cells; g++) {
        double off = (cell[g] - mu) / sigma;
        ret_p[g] = off * off / 2;
        least = ret_p[g] < least ? ret_p[g] : least;
    }
    for (size_t g = 0; g < cells; g++) {
        ret_p[g] = exp(least - ret_p[g]);
        sum += ret_p[g];
    }
    for (size_t g = 0; g < cells; g++) {
        ret_p[g] /= sum;
    }
}

static double
sigma_of(const struct solve_work *work)
{
    return exp(work->at[work->parameters - 1]);
}

/* Sets p, mu, E_1 and E_2 of a block of points. */
static void
place_points(void *context, size_t task, unsigned worker)
{
    const struct solve_work *work = context;
    const struct regression_problem *problem = work->problem;
    size_t cells = problem->cells, end = (task + 1) * BLOCK;
    double p[REGRESSION_CELLS], sigma = sigma_of(work);
    (void)worker;
    end = end < problem->points ? end : problem->points;
    for (size_t m = task * BLOCK; m < end; m++) {
        const float *phi = problem->phi + m * problem->terms;
        double mu = 0, first = 0, second = 0;
        for (size_t i = 0; i < problem->terms; i++) {
            mu += work->at[i] * (double)phi[i];
        }
        regression_cells(problem->cell, cells, mu, sigma, p);
        for (size_t g = 0; g < cells; g++) {
            work->p[m * cells + g] = (float)p[g];
            first += p[g] * problem->cell[g];
            second += p[g] * problem->cell[g] * problem->cell[g];
        }
        work->mu[m] = mu;
        work->first[m] = first;
        work->second[m] = second;
    }
}

/* Sets v, u and r of one point for what a label report says. */
static void
rate_point(const struct solve_work *work, const double *t, size_t m, float *v)
{
    const struct regression_problem *problem = work->problem;
    size_t cells = problem->cells, points = problem->points;
    const float *p = work->p + m * cells;
    double zero = 0, one = 0, two = 0, sigma = sigma_of(work);
    for (size_t g = 0; g < cells; g++) {
        double tp = t[g] * (double)p[g], c = problem->cell[g];
        zero += tp;
        one += tp * c;
        two += tp * c * c;
    }
    one -= work->first[m] * zero;
    two -= work->second[m] * zero;
    v[m] = (float)zero;
    v[points + m] = (float)(one / (sigma * sigma));
    v[2 * points + m] =
        (float)((two - 2 * work->mu[m] * one) / (sigma * sigma));
}

static void
rate_points(const struct solve_work *work, uint32_t group, float *v)
{
    const double *t = work->problem->t + group * work->problem->cells;
    for (size_t m = 0; m < work->problem->points; m++) {
        rate_point(work, t, m, v);
    }
}

/* What a weight's code stands for (posterior_kernel.h). */
static float
decode_weight(uint16_t code)
{
    union {
        uint32_t bits;
        float value;
    } u = {((uint32_t)code << 12) + (UINT32_C(96) << 23)};
    return u.value;
}

/* Adds a point's share to the slopes of a row. */
static void
add_slopes(const struct regression_problem *problem, const float *v, size_t m,
           float w, float *slope)
{
    size_t terms = problem->terms;
    const float *phi = problem->phi + m * terms;
    float by = w * v[problem->points + m];
    for (size_t i = 0; i < terms; i++) {
        slope[i] += by * phi[i];
    }
    slope[terms] += w * v[2 * problem->points + m];
}

/* Sums v, and with `gradients` the slopes, over where a row's record may be. */
static double
sum_points(const struct solve_work *work, const float *v, size_t n,
           float *slope)
{
    const struct regression_problem *problem = work->problem;
    const struct posterior_row *row = &problem->posterior->row[n];
    size_t kept = row->kept;
    double s = 0;
    if (row->index == NULL && kept > problem->points) {
        kept = problem->points; /* the padding weighs nothing */
    }
    for (size_t i = 0; i < kept; i++) {
        size_t m = row->index != NULL ? row->index[i] : i;
        float w = row->scale * decode_weight(row->code[i]);
        s += (double)(w * v[m]);
        if (work->gradients) {
            add_slopes(problem, v, m, w, slope);
        }
    }
    return s;
}

/* Sets log s_n, and g_n, of a row. */
static void
pass_row(const struct solve_work *work, const float *v, size_t n, float *slope)
{
    const struct regression_problem *problem = work->problem;
    double s;
    memset(slope, 0, work->parameters * sizeof *slope);
    if (problem->posterior != NULL) {
        s = sum_points(work, v, n, slope);
    } else {
        s = (double)v[n];
        add_slopes(problem, v, n, 1, slope);
    }
    s = s > LEAST ? s : LEAST;
    work->log_s[n] = log(s);
    for (size_t i = 0; work->gradients && i < work->parameters; i++) {
        work->slope[n * work->parameters + i] = (float)((double)slope[i] / s);
    }
}

static void
pass_block(void *context, size_t task, unsigned worker)
{
    const struct solve_work *work = context;
    const struct regression_problem *problem = work->problem;
    size_t end = (task + 1) * BLOCK;
    float *v = work->rate + 3 * problem->points * worker;
    float slope[REGRESSION_TERMS_MOST + 1];
    end = end < problem->rows ? end : problem->rows;
    for (size_t n = task * BLOCK; n < end; n++) {
        uint32_t group = problem->group[n];
        if (n == task * BLOCK || group != problem->group[n - 1]) {
            if (problem->posterior != NULL) {
                rate_points(work, group, v);
            }
        }
        if (problem->posterior == NULL) {
            rate_point(work, problem->t + group * problem->cells, n, v);
        }
        pass_row(work, v, n, slope);
    }
}

/* Returns the penalised log-likelihood at theta; with `gradients` sets g_n. */
static double
pass_rows(struct solve_work *work, const double *theta, bool gradients)
{
    const struct regression_problem *problem = work->problem;
    double sum = 0;
    work->at = theta;
    work->gradients = gradients;
    host_pool_run(problem->pool, (problem->points + BLOCK - 1) / BLOCK,
                  place_points, work);
    host_pool_run(problem->pool, (problem->rows + BLOCK - 1) / BLOCK,
                  pass_block, work);
    for (size_t n = 0; n < problem->rows; n++) {
        sum += work->log_s[n];
    }
    for (size_t i = 0; i < work->parameters; i++) {
        double off = theta[i] - work->centre[i];
        sum -= work->lambda[i] * off * off / 2;
    }
    return sum;
}

/* ---- Matrices ------------------------------------------------------------ */

/* One row of H = sum_n g_n g_n' + Lambda, up to the diagonal. */
static void
fill_row(void *context, size_t i, unsigned worker)
{
    const struct solve_work *work = context;
    size_t k = work->parameters;
    double *row = work->h + i * k;
    (void)worker;
    memset(row, 0, k * sizeof *row);
    for (size_t n = 0; n < work->problem->rows; n++) {
        const float *slope = work->slope + n * k;
        double by = (double)slope[i];
        for (size_t j = 0; j <= i; j++) {
            row[j] += by * (double)slope[j];
        }
    }
    row[i] += work->lambda[i];
}

/* Replaces the lower half of a positive matrix by its root L, A = L L'. */
static void
take_root(double *a, size_t k)
{
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * k + j];
            for (size_t o = 0; o < j; o++) {
                sum -= a[i * k + o] * a[j * k + o];
            }
            a[i * k + j] =
                i == j ? sqrt(sum > 1e-12 ? sum : 1e-12) : sum / a[j * k + j];
        }
    }
}

/* x = (L L')^-1 b */
static void
solve_root(const double *root, size_t k, const double *b, double *x)
{
    for (size_t i = 0; i < k; i++) {
        double sum = b[i];
        for (size_t j = 0; j < i; j++) {
            sum -= root[i * k + j] * x[j];
        }
        x[i] = sum / root[i * k + i];
    }
    for (size_t i = k; i-- > 0;) {
        double sum = x[i];
        for (size_t j = i + 1; j < k; j++) {
            sum -= root[j * k + i] * x[j];
        }
        x[i] = sum / root[i * k + i];
    }
}

/* ---- Steps --------------------------------------------------------------- */

/* Sets H's root, the gradient and the step; returns what it should bring. */
static double
find_step(struct solve_work *work)
{
    size_t k = work->parameters;
    double gain = 0;
    host_pool_run(work->problem->pool, k, fill_row, work);
    for (size_t i = 0; i < k; i++) {
        work->gradient[i] =
            -work->lambda[i] * (work->theta[i] - work->centre[i]);
    }
    for (size_t n = 0; n < work->problem->rows; n++) {
        for (size_t i = 0; i < k; i++) {
            work->gradient[i] += (double)work->slope[n * k + i];
        }
    }
    take_root(work->h, k);
    solve_root(work->h, k, work->gradient, work->step);
    for (size_t i = 0; i < k; i++) {
        gain += work->step[i] * work->gradient[i] / 2;
    }
    return gain;
}

static void
limit_sigma(struct solve_work *work)
{
    double *own = &work->trial[work->parameters - 1];
    *own = *own > log(SIGMA_MOST) ? log(SIGMA_MOST) : *own;
    *own = *own < log(SIGMA_LEAST) ? log(SIGMA_LEAST) : *own;
}

/* Goes along the step, less and less far, until it goes up; false: it does
   not. */
static bool
take_step(struct solve_work *work, double *value)
{
    double share = 1;
    for (unsigned i = 0; i < HALVES; i++) {
        double reached;
        for (size_t j = 0; j < work->parameters; j++) {
            work->trial[j] = work->theta[j] + share * work->step[j];
        }
        limit_sigma(work);
        reached = pass_rows(work, work->trial, false);
        if (reached > *value) {
            *value = reached;
            memcpy(work->theta, work->trial,
                   work->parameters * sizeof *work->theta);
            return true;
        }
        share /= 2;
    }
    return false;
}

static enum sotto_status
climb(struct solve_work *work, uint64_t *passes, struct sotto_error *err)
{
    const struct sotto_watch *watch = work->problem->watch;
    for (unsigned step = 0; step < STEPS; step++) {
        double value = pass_rows(work, work->theta, true);
        double gain = find_step(work);
        ++*passes;
        if (watch != NULL && watch->tick != NULL &&
            !watch->tick(watch->context, "learning", *passes,
                         *passes + STEPS)) {
            return host_fail(err, SOTTO_STATUS_STOPPED, 0, "stopped");
        }
        if (gain < DECREMENT || !take_step(work, &value)) {
            break;
        }
    }
    return SOTTO_STATUS_OK;
}

/* ---- Lambda -------------------------------------------------------------- */

static size_t
kind_first(const struct regression_problem *problem, size_t kind)
{
    return kind == 0 ? 1 : problem->linear;
}

static size_t
kind_end(const struct regression_problem *problem, size_t kind)
{
    return kind == 0 ? problem->linear : problem->terms;
}

/* Sets the whole of (H + Lambda)^-1 from its root. */
static void
invert(struct solve_work *work)
{
    size_t k = work->parameters;
    for (size_t i = 0; i < k; i++) {
        memset(work->step, 0, k * sizeof *work->step);
        work->step[i] = 1;
        solve_root(work->h, k, work->step, work->room + i * k);
    }
}

/* Chooses Lambda of one kind; returns how far it moved, and adds gamma. */
static double
choose_lambda(struct solve_work *work, size_t kind, double *known)
{
    size_t first = kind_first(work->problem, kind);
    size_t end = kind_end(work->problem, kind), k = work->parameters;
    double gamma = (double)(end - first), size = 0, before, after;
    if (end == first) {
        return 0;
    }
    before = work->lambda[first];
    for (size_t i = first; i < end; i++) {
        gamma -= before * work->room[i * k + i];
        size += work->theta[i] * work->theta[i];
    }
    gamma = gamma > 1e-6 ? gamma : 1e-6;
    after = gamma / (size > 1e-12 ? size : 1e-12);
    after = after < LAMBDA_LEAST ? LAMBDA_LEAST : after;
    after = after > LAMBDA_MOST ? LAMBDA_MOST : after;
    for (size_t i = first; i < end; i++) {
        work->lambda[i] = after;
    }
    *known += gamma;
    return fabs(log(after / before));
}

static void
start(struct solve_work *work)
{
    const struct regression_problem *problem = work->problem;
    size_t k = work->parameters;
    double spread = problem->spread, shift = SHIFT_SHARE * spread;
    work->centre[0] = work->theta[0] = problem->centre;
    work->centre[k - 1] = work->theta[k - 1] = log(spread);
    work->lambda[0] = 1 / (shift * shift);
    work->lambda[k - 1] = 1 / (SIGMA_DOUBT * SIGMA_DOUBT);
    for (size_t kind = 0; kind < REGRESSION_KINDS; kind++) {
        size_t first = kind_first(problem, kind);
        size_t end = kind_end(problem, kind);
        for (size_t i = first; i < end; i++) {
            work->lambda[i] =
                (double)(end - first) / (EXPLAINED * spread * spread);
        }
    }
}

static enum sotto_status
run_rounds(struct solve_work *work, struct regression_answer *ret,
           struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (unsigned round = 0; round < ROUNDS; round++) {
        double moved = 0, known = 0;
        status = climb(work, &ret->passes, err);
        if (status != SOTTO_STATUS_OK) {
            break;
        }
        invert(work);
        for (size_t kind = 0; kind < REGRESSION_KINDS; kind++) {
            moved = fmax(moved, choose_lambda(work, kind, &known));
        }
        ret->known = known;
        if (moved < ROUND_CHANGE) {
            break;
        }
    }
    return status;
}

static void
finish(struct solve_work *work, struct regression_answer *ret)
{
    const struct regression_problem *problem = work->problem;
    size_t k = work->parameters, terms = problem->terms;
    double sum = 0;
    (void)pass_rows(work, work->theta, true);
    (void)find_step(work);
    invert(work);
    for (size_t n = 0; n < problem->rows; n++) {
        sum += work->log_s[n] + problem->log_t[problem->group[n]];
    }
    ret->log_p = problem->rows > 0 ? sum / (double)problem->rows : 0;
    memcpy(ret->theta, work->theta, k * sizeof *ret->theta);
    for (size_t i = 0; i < terms; i++) {
        memcpy(ret->covariance + i * terms, work->room + i * k,
               terms * sizeof *ret->covariance);
    }
}

static void
clear_work(struct solve_work *work)
{
    free(work->memory);
    free(work->h);
    free(work->p);
    free(work->mu);
    free(work->rate);
    free(work->slope);
    free(work->log_s);
}

/* Makes room; false: there is none. */
static bool
init_work(struct solve_work *work, const struct regression_problem *problem)
{
    size_t k = problem->terms + 1, points = problem->points;
    unsigned workers =
        problem->pool != NULL ? host_pool_threads(problem->pool) : 1;
    *work = (struct solve_work){.problem = problem, .parameters = k};
    work->memory = calloc(6 * k, sizeof *work->memory);
    work->h = calloc(2 * k, k * sizeof *work->h);
    work->p = calloc(points + 1, problem->cells * sizeof *work->p);
    work->mu = calloc(points + 1, 3 * sizeof *work->mu);
    work->rate = calloc(workers, (3 * points + 1) * sizeof *work->rate);
    work->slope = calloc(problem->rows + 1, k * sizeof *work->slope);
    work->log_s = calloc(problem->rows + 1, sizeof *work->log_s);
    if (work->memory == NULL || work->h == NULL || work->p == NULL ||
        work->mu == NULL || work->rate == NULL || work->slope == NULL ||
        work->log_s == NULL) {
        return false;
    }
    work->theta = work->memory;
    work->trial = work->memory + k;
    work->gradient = work->memory + 2 * k;
    work->step = work->memory + 3 * k;
    work->centre = work->memory + 4 * k;
    work->lambda = work->memory + 5 * k;
    work->room = work->h + k * k;
    work->first = work->mu + points;
    work->second = work->mu + 2 * points;
    return true;
}

enum sotto_status
regression_solve(const struct regression_problem *problem,
                 struct regression_answer *ret, struct sotto_error *err)
{
    struct solve_work work, room; /* the same, as it was made */
    enum sotto_status status = SOTTO_STATUS_OK;
    ret->passes = 0;
    if (!init_work(&work, problem)) {
        clear_work(&work);
        return host_fail_memory(err);
    }
    room = work;
    start(&work);
    status = run_rounds(&work, ret, err);
    if (status == SOTTO_STATUS_OK) {
        finish(&work, ret);
    }
    clear_work(&room);
    return status;
}
