/*
 * smooth.c: particles from the prior to the posterior.
 *
 *     p_beta(e, u) ~ N(e; 0, 1) N(u; 0, 1) exp(beta V(e, u))
 *
 * beta rises from 0 to 1: to where the weights exp((beta' - beta) V) of the
 * particles are worth ESS of them; these are drawn anew by their weights
 * (systematic resampling), V is expanded about their mean, and MOVES
 * Hamiltonian moves take them apart again. At beta = 1 it is expanded LAST
 * times more, with LAST_MOVES each; tau is averaged over the last of these.
 *
 * A move: momentum r ~ N(0, 1), STEPS leapfrog steps of length h (1 +- JITTER),
 *
 *     r += h/2 d ln p_beta;   e += h r;   r += h/2 d ln p_beta
 *
 * and the end is taken with probability min(1, exp(change of ln p_beta -
 * |r|^2 / 2)). h follows the mean acceptance. All particles move at a time
 * (smooth_energy.c); each has a stream of its own, so threads change nothing.
 */
#include "learn/codes/smooth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/pool.h"
#include "learn/codes/cells.h"
#include "random/seeded.h"

#define ESS 0.6
#define MOVES 3u
#define LAST 2u
#define LAST_MOVES 20u
#define KEEP_EVERY 2u /* of the last moves */
#define STEPS 8u
#define STEP_FIRST 0.15
#define STEP_LEAST 1e-4
#define JITTER 0.2
#define ACCEPTED 0.75
#define ADAPT 0.4
#define STAGES_MOST 200u
#define CURVED_MOST                                                            \
    4e9               /* reports * pairs^2 up to which H is set anew at        \
                         every stage; else at the last ones */
#define COST_MOST 2e8 /* leaves * features * columns, of a product */
#define GAP_PARTICLES 32u
#define STREAM UINT64_C(0x736d6f6f74680100)

struct state {
    float *e, *u;   /* where particles are */
    float *de, *du; /* the gradient of V there */
    double *value;  /* V */
};

struct sampler {
    const struct smooth_problem *problem;
    const struct smooth_options *options;
    struct smooth_energy energy;
    size_t particles, columns, features;
    struct state now, next;
    float *r, *ru;         /* momenta */
    double *log_p;         /* particles: ln of prior and momenta, before */
    double *log_p_next;    /* after */
    float *step;           /* particles */
    bool *taken;           /* particles */
    uint32_t *from;        /* particles: whom each was drawn from */
    double *sum;           /* leaves rows of classes: tau, summed */
    size_t kept;           /* in it */
    struct seeded *seeded; /* particles, and one for all */
    double beta, length, acceptance;
    size_t stage;
    double done;              /* of all the work, about */
    struct sotto_watch watch; /* tells the caller's how much is done */
};

/* ---- Making and freeing ---------------------------------------------------
 */

static void
state_clear(struct state *state)
{
    free(state->e);
    free(state->u);
    free(state->de);
    free(state->du);
    free(state->value);
}

static bool
state_init(struct state *state, size_t size, size_t particles)
{
    state->e = calloc(size, sizeof(float));
    state->de = calloc(size, sizeof(float));
    state->u = calloc(SMOOTH_SCALES * particles, sizeof(float));
    state->du = calloc(SMOOTH_SCALES * particles, sizeof(float));
    state->value = calloc(particles, sizeof(double));
    return state->e != NULL && state->de != NULL && state->u != NULL &&
           state->du != NULL && state->value != NULL;
}

static void
sampler_clear(struct sampler *sampler)
{
    smooth_energy_clear(&sampler->energy);
    state_clear(&sampler->now);
    state_clear(&sampler->next);
    free(sampler->r);
    free(sampler->ru);
    free(sampler->log_p);
    free(sampler->log_p_next);
    free(sampler->step);
    free(sampler->taken);
    free(sampler->from);
    free(sampler->sum);
    free(sampler->seeded);
}

static enum sotto_status
sampler_init(struct sampler *sampler, struct sotto_error *err)
{
    const struct smooth_problem *problem = sampler->problem;
    size_t particles = sampler->particles;
    size_t size = sampler->features * sampler->columns;
    bool made = state_init(&sampler->now, size, particles);
    made = state_init(&sampler->next, size, particles) && made;
    sampler->r = calloc(size, sizeof(float));
    sampler->ru = calloc(SMOOTH_SCALES * particles, sizeof(float));
    sampler->log_p = calloc(particles, sizeof(double));
    sampler->log_p_next = calloc(particles, sizeof(double));
    sampler->step = calloc(particles, sizeof(float));
    sampler->taken = calloc(particles, sizeof(bool));
    sampler->from = calloc(particles, sizeof *sampler->from);
    sampler->sum = calloc(problem->leaves * problem->classes, sizeof(double));
    sampler->seeded = calloc(particles + 1, sizeof *sampler->seeded);
    if (!made || sampler->r == NULL || sampler->ru == NULL ||
        sampler->log_p == NULL || sampler->log_p_next == NULL ||
        sampler->step == NULL || sampler->taken == NULL ||
        sampler->from == NULL || sampler->sum == NULL ||
        sampler->seeded == NULL) {
        return host_fail_memory(err);
    }
    for (size_t p = 0; p <= particles; p++) {
        seeded_init(&sampler->seeded[p], sampler->options->seed, STREAM + p);
    }
    return smooth_energy_init(&sampler->energy, problem, particles, err);
}

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

/* ---- Drawing --------------------------------------------------------------
 */

static double
draw_uniform(struct seeded *seeded)
{
    return ((double)random_u32(&seeded->random) + 0.5) / 4294967296.0;
}

/* `count` rows of a particle's `width` numbers, `stride` apart; the sum of
   their squares. Two by two (Box and Muller). */
static double
draw_normal(struct seeded *seeded, size_t count, size_t width, size_t stride,
            float *to)
{
    double next = 0, sum = 0;
    bool held = false;
    for (size_t i = 0; i < count * width; i++) {
        double at = next;
        if (!held) {
            double radius = sqrt(-2 * log(draw_uniform(seeded)));
            double angle = 6.283185307179586 * draw_uniform(seeded);
            at = radius * cos(angle);
            next = radius * sin(angle);
        }
        held = !held;
        to[i / width * stride + i % width] = (float)at;
        sum += at * at;
    }
    return sum;
}

struct drawing {
    struct sampler *sampler;
    float *e, *u;
};

static void
draw_task(void *context, size_t p, unsigned worker)
{
    const struct drawing *drawing = context;
    struct sampler *sampler = drawing->sampler;
    size_t classes = sampler->problem->classes;
    (void)worker;
    (void)draw_normal(&sampler->seeded[p], sampler->features, classes,
                      sampler->columns, drawing->e + p * classes);
    (void)draw_normal(&sampler->seeded[p], SMOOTH_SCALES, 1, sampler->particles,
                      drawing->u + p);
    sampler->step[p] =
        (float)(sampler->length *
                (1 + JITTER * (2 * draw_uniform(&sampler->seeded[p]) - 1)));
}

static void
draw_all(struct sampler *sampler, float *e, float *u)
{
    struct drawing drawing = {.sampler = sampler};
    drawing.e = e;
    drawing.u = u;
    host_pool_run(sampler->problem->pool, sampler->particles, draw_task,
                  &drawing);
}

/* ---- A move ---------------------------------------------------------------
 */

/* ln of the prior and of the momenta, but for constants. */
static void
set_log_p(const struct sampler *sampler, const struct state *state,
          double *ret_log_p)
{
    size_t classes = sampler->problem->classes, particles = sampler->particles;
    memset(ret_log_p, 0, particles * sizeof *ret_log_p);
    for (size_t row = 0; row < sampler->features; row++) {
        const float *e = state->e + row * sampler->columns;
        const float *r = sampler->r + row * sampler->columns;
        for (size_t p = 0; p < particles; p++) {
            float sum = 0;
            for (size_t i = p * classes; i < (p + 1) * classes; i++) {
                sum += e[i] * e[i] + r[i] * r[i];
            }
            ret_log_p[p] -= (double)sum / 2;
        }
    }
    for (size_t i = 0; i < SMOOTH_SCALES * particles; i++) {
        double u = (double)state->u[i], r = (double)sampler->ru[i];
        ret_log_p[i % particles] -= (u * u + r * r) / 2;
    }
}

struct leap {
    struct sampler *sampler;
    float kick;  /* of a step, by the gradient */
    float drift; /* of a step, by the momentum */
};

/* One row of r and e, or of ru and u: `each` numbers of a particle. */
static void
leap_row(const struct leap *leap, size_t each, const float *gradient, float *r,
         float *e)
{
    const struct sampler *sampler = leap->sampler;
    float beta = (float)sampler->beta;
    for (size_t p = 0; p < sampler->particles; p++) {
        float kick = leap->kick * sampler->step[p];
        float drift = leap->drift * sampler->step[p];
        for (size_t i = p * each; i < (p + 1) * each; i++) {
            r[i] += kick * (beta * gradient[i] - e[i]);
            e[i] += drift * r[i];
        }
    }
}

static void
leap_task(void *context, size_t row, unsigned worker)
{
    const struct leap *leap = context;
    struct sampler *sampler = leap->sampler;
    (void)worker;
    if (row < sampler->features) {
        size_t at = row * sampler->columns;
        leap_row(leap, sampler->problem->classes, sampler->next.de + at,
                 sampler->r + at, sampler->next.e + at);
    } else {
        size_t at = (row - sampler->features) * sampler->particles;
        leap_row(leap, 1, sampler->next.du + at, sampler->ru + at,
                 sampler->next.u + at);
    }
}

static void
leap_all(struct sampler *sampler, float kick, float drift)
{
    struct leap leap = {sampler, kick, drift};
    host_pool_run(sampler->problem->pool, sampler->features + SMOOTH_SCALES,
                  leap_task, &leap);
}

/* Copies particles of one row: all, or those that are taken; from where `from`
   says, or from their own place. */
static void
copy_row(const struct sampler *sampler, const bool *taken,
         const uint32_t *source, size_t each, const float *from, float *to)
{
    for (size_t p = 0; p < sampler->particles; p++) {
        size_t other = source != NULL ? source[p] : p;
        if (taken == NULL || taken[p]) {
            memcpy(to + p * each, from + other * each, each * sizeof *to);
        }
    }
}

static void
copy_state(const struct sampler *sampler, const bool *taken,
           const uint32_t *source, const struct state *from, struct state *to)
{
    size_t classes = sampler->problem->classes;
    for (size_t row = 0; row < sampler->features; row++) {
        size_t at = row * sampler->columns;
        copy_row(sampler, taken, source, classes, from->e + at, to->e + at);
        copy_row(sampler, taken, source, classes, from->de + at, to->de + at);
    }
    for (size_t m = 0; m < SMOOTH_SCALES; m++) {
        size_t at = m * sampler->particles;
        copy_row(sampler, taken, source, 1, from->u + at, to->u + at);
        copy_row(sampler, taken, source, 1, from->du + at, to->du + at);
    }
    for (size_t p = 0; p < sampler->particles; p++) {
        if (taken == NULL || taken[p]) {
            to->value[p] = from->value[source != NULL ? source[p] : p];
        }
    }
}

static void
evaluate(struct sampler *sampler, struct state *state)
{
    smooth_energy_forward(&sampler->energy, state->e, state->u);
    smooth_energy_value(&sampler->energy, state->e, state->u, state->value,
                        state->de, state->du);
}

/* Takes or leaves where the particles are now; h follows. */
static void
accept_all(struct sampler *sampler)
{
    double sum = 0;
    for (size_t p = 0; p < sampler->particles; p++) {
        double gain =
            sampler->log_p_next[p] - sampler->log_p[p] +
            sampler->beta * (sampler->next.value[p] - sampler->now.value[p]);
        double chance = gain >= 0 ? 1 : isfinite(gain) ? exp(gain) : 0;
        sampler->taken[p] = draw_uniform(&sampler->seeded[p]) < chance;
        sum += chance / (double)sampler->particles;
    }
    copy_state(sampler, sampler->taken, NULL, &sampler->next, &sampler->now);
    sampler->acceptance = sum;
    sampler->length *= exp(ADAPT * (sum - ACCEPTED));
    sampler->length = fmax(sampler->length, STEP_LEAST);
}

static void
move_all(struct sampler *sampler)
{
    draw_all(sampler, sampler->r, sampler->ru);
    copy_state(sampler, NULL, NULL, &sampler->now, &sampler->next);
    set_log_p(sampler, &sampler->now, sampler->log_p);
    leap_all(sampler, 0.5F, 1);
    for (size_t i = 0; i < STEPS; i++) {
        evaluate(sampler, &sampler->next);
        leap_all(sampler, i + 1 < STEPS ? 1 : 0.5F, i + 1 < STEPS ? 1 : 0);
    }
    set_log_p(sampler, &sampler->next, sampler->log_p_next);
    accept_all(sampler);
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
    double lot = draw_uniform(&sampler->seeded[particles]);
    (void)weigh(sampler, by, sampler->log_p);
    for (size_t i = 0; i < particles; i++) {
        double at = ((double)i + lot) / (double)particles;
        while (from + 1 < particles && sampler->log_p[from] <= at) {
            from++;
        }
        sampler->from[i] = (uint32_t)from;
    }
    copy_state(sampler, NULL, sampler->from, &sampler->now, &sampler->next);
    copy_state(sampler, NULL, NULL, &sampler->next, &sampler->now);
}

static enum sotto_status
expand(struct sampler *sampler, bool curved, struct sotto_error *err)
{
    enum sotto_status status;
    smooth_energy_forward(&sampler->energy, sampler->now.e, sampler->now.u);
    status = smooth_energy_expand(&sampler->energy, curved, err);
    if (status == SOTTO_STATUS_OK) {
        evaluate(sampler, &sampler->now);
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
        sum += (double)codes->reports * pairs *
               (pairs <= SMOOTH_DENSE ? pairs : 1);
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
        move_all(sampler);
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
    draw_all(sampler, sampler->now.e, sampler->now.u);
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
    struct smooth_info info = {.particles = sampler->particles,
                               .stages = sampler->stage,
                               .acceptance = sampler->acceptance};
    enum sotto_status status = find_gap(sampler, &info.gap, err);
    for (size_t i = 0; i < size; i++) {
        sampler->sum[i] /= (double)sampler->kept;
    }
    status = HOST_THEN(status,
                       smooth_expected(sampler->energy.tau, sampler->energy.pi,
                                       problem->leaves, sampler->particles,
                                       classes, &info.right, err));
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
