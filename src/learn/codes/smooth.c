/*
 * smooth.c: particles from the prior to the posterior.
 *
 *     p_beta(e, u) ~ N(e; 0, 1) N(u; 0, 1) exp(beta V(e, u))
 *
 * beta rises from 0 to 1: to where the weights exp((beta' - beta) V) of the
 * particles are worth ESS of them; these are drawn anew by their weights
 * (systematic resampling), V is expanded about their mean, and MOVES
 * Hamiltonian moves, each with some exchanges of labels, take them apart again
 * (smooth_sampler.c). At beta = 1 it is expanded LAST times more, with
 * LAST_MOVES each; tau is averaged over the last of these.
 */
#include "learn/codes/smooth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "learn/codes/cells.h"
#include "learn/codes/smooth_sampler.h"

#define ESS 0.6
#define MOVES 3u
#define LAST 2u
#define LAST_MOVES 20u
#define KEEP_EVERY 2u /* of the last moves */
#define STEP_FIRST 0.15
#define STAGES_MOST 200u
#define CURVED_MOST                                                            \
    4e9               /* reports * pairs^2 up to which H is set anew at        \
                         every stage; else at the last ones */
#define COST_MOST 2e8 /* leaves * features * columns, of a product */
#define GAP_PARTICLES 32u

/* Tells the caller's watch how far the whole is, whichever part ticks. */
static bool
tick_whole(void *context, const char *what, uint64_t done, uint64_t total)
{
    const struct sampler *sampler = context;
    const struct sotto_watch *watch = sampler->options->watch;
    (void)done;
    (void)total;
    return watch == NULL || watch->tick == NULL ||
           watch->tick(watch->context, what, (uint64_t)(1000 * sampler->done),
                       1000);
}

/* Fewer where a product with them would cost too much. */
static size_t
count_particles(const struct smooth_problem *problem,
                const struct smooth_options *options)
{
    double each = (double)problem->leaves * (double)problem->features->count *
                  (double)problem->classes;
    double most = COST_MOST / each;
    if (options->particles > 0) {
        return options->particles;
    }
    return most >= SMOOTH_PARTICLES         ? SMOOTH_PARTICLES
           : most <= SMOOTH_PARTICLES_LEAST ? SMOOTH_PARTICLES_LEAST
                                            : (size_t)most;
}
/* ---- Tempering ------------------------------------------------------------
 */

/* Effective number of particles if beta rose by so much; cumulated weights,
   the last 1, unless NULL. */
static double
weigh(const struct sampler *sampler, double by, double *ret_cumulated)
{
    double most = -INFINITY, sum = 0, squares = 0;
    for (size_t p = 0; p < sampler->particles; p++) {
        most = fmax(most, sampler->now.value[p]);
    }
    for (size_t p = 0; p < sampler->particles; p++) {
        double w = exp(by * (sampler->now.value[p] - most));
        sum += w;
        squares += w * w;
        if (ret_cumulated != NULL) {
            ret_cumulated[p] = sum;
        }
    }
    for (size_t p = 0; p < sampler->particles && ret_cumulated != NULL; p++) {
        ret_cumulated[p] /= sum;
    }
    return sum * sum / squares;
}

static double
find_rise(const struct sampler *sampler)
{
    double least = 0, most = 1 - sampler->beta;
    double wanted = ESS * (double)sampler->particles;
    if (weigh(sampler, most, NULL) >= wanted) {
        return most;
    }
    for (size_t i = 0; i < 50; i++) {
        double middle = (least + most) / 2;
        if (weigh(sampler, middle, NULL) >= wanted) {
            least = middle;
        } else {
            most = middle;
        }
    }
    return least;
}

/* One lot for all: particle p is drawn for every (i + lot) / particles that
   falls into its part of [0, 1). */
static void
draw_anew(struct sampler *sampler, double by)
{
    size_t particles = sampler->particles, from = 0;
    double lot = sampler_uniform(&sampler->seeded[particles]);
    (void)weigh(sampler, by, sampler->log_p);
    for (size_t i = 0; i < particles; i++) {
        double at = ((double)i + lot) / (double)particles;
        while (from + 1 < particles && sampler->log_p[from] <= at) {
            from++;
        }
        sampler->from[i] = (uint32_t)from;
    }
    sampler_copy(sampler, NULL, sampler->from, &sampler->now, &sampler->next);
    sampler_copy(sampler, NULL, NULL, &sampler->next, &sampler->now);
}

static enum sotto_status
expand(struct sampler *sampler, bool curved, struct sotto_error *err)
{
    enum sotto_status status;
    smooth_energy_forward(&sampler->energy, sampler->now.e, sampler->now.u);
    status = smooth_energy_expand(&sampler->energy, curved, err);
    if (status == SOTTO_STATUS_OK) {
        sampler_evaluate(sampler, &sampler->now);
        sampler->settled = false; /* V is another one */
    }
    return status;
}

static bool
is_curved_cheap(const struct smooth_problem *problem)
{
    double sum = 0;
    for (size_t b = 0; b < problem->books; b++) {
        const struct codes *codes = problem->book[b].codes;
        double pairs = (double)codes->pairs;
        sum +=
            (double)codes->rows * pairs * (pairs <= SMOOTH_DENSE ? pairs : 1);
    }
    return sum <= CURVED_MOST;
}

static enum sotto_status
move_some(struct sampler *sampler, size_t moves, double done,
          struct sotto_error *err)
{
    for (size_t i = 0; i < moves; i++) {
        enum sotto_status status;
        sampler->done = done;
        status = cells_tick(&sampler->watch, i, moves, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        sampler_move(sampler);
        if (sampler->problem->classes > 1 && !sampler->settled) {
            sampler_exchange(sampler);
        }
    }
    return SOTTO_STATUS_OK;
}

/* The watch has half for tempering, by stages of a guess: how many there will
   be is not known. */
static enum sotto_status
temper(struct sampler *sampler, struct sotto_error *err)
{
    bool cheap = is_curved_cheap(sampler->problem);
    enum sotto_status status;
    sampler_start(sampler);
    status = expand(sampler, true, err);
    while (status == SOTTO_STATUS_OK && sampler->beta < 1) {
        double by = find_rise(sampler), stage = (double)sampler->stage;
        if (sampler->stage + 1 >= STAGES_MOST) {
            by = 1 - sampler->beta;
        }
        draw_anew(sampler, by);
        sampler->beta += by;
        if (1 - sampler->beta < 1e-9) {
            sampler->beta = 1;
        }
        sampler->stage++;
        status = expand(sampler, cheap, err);
        status = HOST_THEN(
            status, move_some(sampler, MOVES, stage / (2 * stage + 20), err));
    }
    return status;
}

/* ---- The result -----------------------------------------------------------
 */

static void
keep_mean(struct sampler *sampler)
{
    const struct smooth_problem *problem = sampler->problem;
    size_t classes = problem->classes;
    smooth_energy_forward(&sampler->energy, sampler->now.e, sampler->now.u);
    for (size_t l = 0; l < problem->leaves; l++) {
        const float *tau = sampler->energy.tau + l * sampler->columns;
        for (size_t i = 0; i < sampler->columns; i++) {
            sampler->sum[l * classes + i % classes] += (double)tau[i];
        }
    }
    sampler->kept += sampler->particles;
}

static enum sotto_status
sample_last(struct sampler *sampler, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t round = 0; round < LAST && status == SOTTO_STATUS_OK; round++) {
        status = expand(sampler, true, err);
        for (size_t i = 0; i < LAST_MOVES && status == SOTTO_STATUS_OK; i++) {
            double done = 0.5 + 0.5 * (double)(round * LAST_MOVES + i) /
                                    (LAST * LAST_MOVES);
            status = move_some(sampler, 1, done, err);
            if (round + 1 == LAST && (i + 1) % KEEP_EVERY == 0) {
                keep_mean(sampler);
            }
        }
    }
    return status;
}

/* The deviation of ln p from its expansion over some particles, whose tau the
   energy holds. */
static enum sotto_status
find_gap(struct sampler *sampler, double *ret_gap, struct sotto_error *err)
{
    const struct smooth_problem *problem = sampler->problem;
    size_t count =
        sampler->particles < GAP_PARTICLES ? sampler->particles : GAP_PARTICLES;
    size_t pairs = 0;
    double sum = 0, squares = 0, *room;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t b = 0; b < problem->books; b++) {
        size_t own = problem->book[b].codes->pairs;
        pairs = own > pairs ? own : pairs;
    }
    room = malloc((problem->leaves * problem->classes + pairs) * sizeof *room);
    if (room == NULL) {
        return host_fail_memory(err);
    }
    smooth_energy_likely(&sampler->energy, sampler->next.value);
    for (size_t p = 0; p < count && status == SOTTO_STATUS_OK; p++) {
        double off = smooth_energy_exact(&sampler->energy, p, room) -
                     sampler->next.value[p];
        status = cells_tick(&sampler->watch, p, count, err);
        sum += off / (double)count;
        squares += off * off / (double)count;
    }
    *ret_gap = sqrt(fmax(squares - sum * sum, 0));
    free(room);
    return status;
}

static enum sotto_status
finish(struct sampler *sampler, double *ret_tau, double *ret_exchanged,
       struct smooth_info *ret_info, struct sotto_error *err)
{
    const struct smooth_problem *problem = sampler->problem;
    size_t classes = problem->classes, size = problem->leaves * classes;
    struct smooth_info info = {.plain = problem->plain,
                               .particles = sampler->particles,
                               .stages = sampler->stage,
                               .acceptance = sampler->acceptance};
    enum sotto_status status = find_gap(sampler, &info.gap, err);
    for (size_t i = 0; i < size; i++) {
        sampler->sum[i] /= (double)sampler->kept;
    }
    status =
        HOST_THEN(status, smooth_check_answer(&sampler->energy, sampler->sum,
                                              &info.check, err));
    status = HOST_THEN(status,
                       smooth_expected(sampler->energy.tau, sampler->energy.pi,
                                       problem->leaves, sampler->particles,
                                       classes, &info.check, &info.right, err));
    if (status == SOTTO_STATUS_OK && ret_exchanged != NULL) {
        status = smooth_exchanged(sampler->energy.tau, sampler->sum,
                                  sampler->energy.pi, problem->leaves,
                                  sampler->particles, classes, &sampler->watch,
                                  ret_exchanged, err);
    }
    if (status == SOTTO_STATUS_OK) {
        memcpy(ret_tau, sampler->sum, size * sizeof *ret_tau);
        *ret_info = info;
    }
    return status;
}

enum sotto_status
smooth_fit(const struct smooth_problem *problem,
           const struct smooth_options *options, double *ret_tau,
           double *ret_exchanged, struct smooth_info *ret_info,
           struct sotto_error *err)
{
    struct sampler sampler = {
        .problem = problem, .options = options, .length = STEP_FIRST};
    enum sotto_status status;
    sampler.particles = count_particles(problem, options);
    sampler.columns = sampler.particles * problem->classes;
    sampler.features = problem->features->count;
    sampler.watch.tick = tick_whole;
    sampler.watch.context = &sampler;
    status = sampler_init(&sampler, err);
    sampler.energy.watch = &sampler.watch;
    status = HOST_THEN(status, temper(&sampler, err));
    status = HOST_THEN(status, sample_last(&sampler, err));
    status = HOST_THEN(status,
                       finish(&sampler, ret_tau, ret_exchanged, ret_info, err));
    sampler_clear(&sampler);
    return status;
}
