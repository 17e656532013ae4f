/*
 * smooth_sampler.c: particles, and how they move.
 *
 * A Hamiltonian move: momentum r ~ N(0, 1), STEPS leapfrog steps of length
 * h (1 +- JITTER),
 *
 *     r += h/2 d ln p_beta;   e += h r;   r += h/2 d ln p_beta
 *
 * and the end is taken with probability min(1, exp(change of ln p_beta -
 * |r|^2 / 2)). h follows the mean acceptance. All particles move at a time
 * (smooth_energy.c); each has a stream of its own, so threads change nothing.
 * Behind a move come exchanges of two labels, see below.
 */
#include "learn/codes/smooth_sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/pool.h"

#define STEPS 8u
#define STEP_LEAST 1e-4
#define JITTER 0.2
#define ACCEPTED 0.75
#define ADAPT 0.4
#define EXCHANGES 8u /* proposed at a time */
#define STREAM UINT64_C(0x736d6f6f74680100)

/* ---- Making and freeing ---------------------------------------------------
 */

static void
state_clear(struct sampler_state *state)
{
    free(state->e);
    free(state->u);
    free(state->de);
    free(state->du);
    free(state->value);
}

static bool
state_init(struct sampler_state *state, size_t size, size_t particles)
{
    state->e = calloc(size, sizeof(float));
    state->de = calloc(size, sizeof(float));
    state->u = calloc(SMOOTH_SCALES * particles, sizeof(float));
    state->du = calloc(SMOOTH_SCALES * particles, sizeof(float));
    state->value = calloc(particles, sizeof(double));
    return state->e != NULL && state->de != NULL && state->u != NULL &&
           state->du != NULL && state->value != NULL;
}

void
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
    free(sampler->wide_step);
    free(sampler->taken);
    free(sampler->from);
    free(sampler->pair);
    free(sampler->sum);
    free(sampler->seeded);
}

enum sotto_status
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
    sampler->wide_step = calloc(sampler->columns, sizeof(float));
    sampler->taken = calloc(particles, sizeof(bool));
    sampler->from = calloc(particles, sizeof *sampler->from);
    sampler->pair = calloc(2 * particles, sizeof *sampler->pair);
    sampler->sum = calloc(problem->leaves * problem->classes, sizeof(double));
    sampler->seeded = calloc(particles + 1, sizeof *sampler->seeded);
    if (!made || sampler->r == NULL || sampler->ru == NULL ||
        sampler->log_p == NULL || sampler->log_p_next == NULL ||
        sampler->step == NULL || sampler->wide_step == NULL ||
        sampler->taken == NULL || sampler->from == NULL ||
        sampler->pair == NULL || sampler->sum == NULL ||
        sampler->seeded == NULL) {
        return host_fail_memory(err);
    }
    for (size_t p = 0; p <= particles; p++) {
        seeded_init(&sampler->seeded[p], sampler->options->seed, STREAM + p);
    }
    return smooth_energy_init(&sampler->energy, problem, particles, err);
}
/* ---- Drawing --------------------------------------------------------------
 */

double
sampler_uniform(struct seeded *seeded)
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
            double radius = sqrt(-2 * log(sampler_uniform(seeded)));
            double angle = 6.283185307179586 * sampler_uniform(seeded);
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
                (1 + JITTER * (2 * sampler_uniform(&sampler->seeded[p]) - 1)));
}

static void
draw_all(struct sampler *sampler, float *e, float *u)
{
    struct drawing drawing = {.sampler = sampler};
    drawing.e = e;
    drawing.u = u;
    host_pool_run(sampler->problem->pool, sampler->particles, draw_task,
                  &drawing);
    for (size_t i = 0; i < sampler->columns; i++) {
        sampler->wide_step[i] = sampler->step[i / sampler->problem->classes];
    }
}

/* ---- A move ---------------------------------------------------------------
 */

/* ln of the prior and of the momenta, but for constants. */
static void
set_log_p(const struct sampler *sampler, const struct sampler_state *state,
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

/* One row of r and e, or of ru and u, and the step of each of its numbers. */
static void
leap_row(const struct leap *leap, size_t count, const float *restrict step,
         const float *restrict gradient, float *restrict r, float *restrict e)
{
    float beta = (float)leap->sampler->beta;
    float kick = leap->kick, drift = leap->drift;
    for (size_t i = 0; i < count; i++) {
        r[i] += kick * step[i] * (beta * gradient[i] - e[i]);
        e[i] += drift * step[i] * r[i];
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
        leap_row(leap, sampler->columns, sampler->wide_step,
                 sampler->next.de + at, sampler->r + at, sampler->next.e + at);
    } else {
        size_t at = (row - sampler->features) * sampler->particles;
        leap_row(leap, sampler->particles, sampler->step, sampler->next.du + at,
                 sampler->ru + at, sampler->next.u + at);
    }
}

static void
leap_all(struct sampler *sampler, float kick, float drift)
{
    struct leap leap = {sampler, kick, drift};
    host_pool_run(sampler->problem->pool, sampler->features + SMOOTH_SCALES,
                  leap_task, &leap);
}

/* Copies particles of one row. */
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

struct copying {
    const struct sampler *sampler;
    const bool *taken;
    const uint32_t *source;
    const struct sampler_state *from;
    struct sampler_state *to;
};

static void
copy_task(void *context, size_t row, unsigned worker)
{
    const struct copying *copying = context;
    const struct sampler *sampler = copying->sampler;
    const struct sampler_state *from = copying->from;
    struct sampler_state *to = copying->to;
    size_t classes = sampler->problem->classes, at = row * sampler->columns;
    (void)worker;
    copy_row(sampler, copying->taken, copying->source, classes, from->e + at,
             to->e + at);
    copy_row(sampler, copying->taken, copying->source, classes, from->de + at,
             to->de + at);
}

void
sampler_copy(const struct sampler *sampler, const bool *taken,
             const uint32_t *source, const struct sampler_state *from,
             struct sampler_state *to)
{
    struct copying copying = {sampler, taken, source, from, to};
    host_pool_run(sampler->problem->pool, sampler->features, copy_task,
                  &copying);
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

void
sampler_evaluate(struct sampler *sampler, struct sampler_state *state)
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
        sampler->taken[p] = sampler_uniform(&sampler->seeded[p]) < chance;
        sum += chance / (double)sampler->particles;
    }
    sampler_copy(sampler, sampler->taken, NULL, &sampler->next, &sampler->now);
    sampler->acceptance = sum;
    sampler->length *= exp(ADAPT * (sum - ACCEPTED));
    sampler->length = fmax(sampler->length, STEP_LEAST);
}

void
sampler_move(struct sampler *sampler)
{
    draw_all(sampler, sampler->r, sampler->ru);
    sampler_copy(sampler, NULL, NULL, &sampler->now, &sampler->next);
    set_log_p(sampler, &sampler->now, sampler->log_p);
    leap_all(sampler, 0.5F, 1);
    for (size_t i = 0; i < STEPS; i++) {
        sampler_evaluate(sampler, &sampler->next);
        leap_all(sampler, i + 1 < STEPS ? 1 : 0.5F, i + 1 < STEPS ? 1 : 0);
    }
    set_log_p(sampler, &sampler->next, sampler->log_p_next);
    accept_all(sampler);
}

void
sampler_start(struct sampler *sampler)
{
    draw_all(sampler, sampler->now.e, sampler->now.u);
}

/* ---- An exchange of labels ------------------------------------------------
 *
 * The prior of e is the same for every label, so two labels of a particle may
 * change places everywhere with probability min(1, exp(beta (V' - V))). This
 * takes particles from one way to name groups to another, which lie too far
 * apart for small steps. tau follows e by the same exchange: no product with A.
 */

static void
draw_pairs(struct sampler *sampler)
{
    uint32_t classes = (uint32_t)sampler->problem->classes;
    for (size_t p = 0; p < sampler->particles; p++) {
        struct random *random = &sampler->seeded[p].random;
        uint32_t first = random_u32(random) % classes;
        uint32_t second = random_u32(random) % (classes - 1);
        sampler->pair[2 * p] = first;
        sampler->pair[2 * p + 1] = second + (second >= first ? 1 : 0);
    }
}

struct exchange {
    const struct sampler *sampler;
    bool taken; /* of these particles, or of the others */
    float *at;  /* rows of columns */
};

static void
exchange_task(void *context, size_t row, unsigned worker)
{
    const struct exchange *exchange = context;
    const struct sampler *sampler = exchange->sampler;
    size_t classes = sampler->problem->classes;
    float *at = exchange->at + row * sampler->columns;
    (void)worker;
    for (size_t p = 0; p < sampler->particles; p++) {
        if (sampler->taken[p] == exchange->taken) {
            float *a = at + p * classes + sampler->pair[2 * p];
            float *b = at + p * classes + sampler->pair[2 * p + 1];
            float held = *a;
            *a = *b;
            *b = held;
        }
    }
}

static void
exchange_rows(const struct sampler *sampler, bool taken, float *at, size_t rows)
{
    struct exchange exchange = {.sampler = sampler, .taken = taken};
    exchange.at = at;
    host_pool_run(sampler->problem->pool, rows, exchange_task, &exchange);
}

/* Decides for every particle, whose V with the exchange is in next.value;
   returns how many take it. */
static size_t
decide_exchange(struct sampler *sampler)
{
    size_t count = 0;
    for (size_t p = 0; p < sampler->particles; p++) {
        double gain =
            sampler->beta * (sampler->next.value[p] - sampler->now.value[p]);
        double lot = sampler_uniform(&sampler->seeded[p]);
        sampler->taken[p] = gain >= 0 || lot < exp(gain);
        if (sampler->taken[p]) {
            sampler->now.value[p] = sampler->next.value[p];
            count++;
        }
    }
    return count;
}

void
sampler_exchange(struct sampler *sampler)
{
    struct smooth_energy *energy = &sampler->energy;
    struct sampler_state *now = &sampler->now;
    size_t leaves = sampler->problem->leaves, count = 0;
    smooth_energy_forward(energy, now->e, now->u);
    for (size_t i = 0; i < EXCHANGES; i++) {
        draw_pairs(sampler);
        memset(sampler->taken, 0, sampler->particles * sizeof(bool));
        exchange_rows(sampler, false, energy->tau, leaves);
        smooth_energy_value(energy, now->e, now->u, sampler->next.value, NULL,
                            NULL);
        count += decide_exchange(sampler);
        exchange_rows(sampler, false, energy->tau, leaves);
        exchange_rows(sampler, true, now->e, sampler->features);
    }
    smooth_energy_value(energy, now->e, now->u, now->value, now->de, now->du);
    sampler->settled = count == 0;
}
