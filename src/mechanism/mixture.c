/*
 * mixture.c: maximum likelihood over distributions, by accelerated EM.
 *
 * An EM step multiplies p_j by D_j, and under a split scales both sides to
 * their shares: the likelihood never falls. Two steps and the way they turn
 * give a longer one (SQUAREM, Varadhan and Roland 2008), which is taken if the
 * likelihood does not fall.
 */
#include "mechanism/mixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MOST 600u
#define GAP_ENOUGH 0.01
#define EVEN 0.05 /* share of the start that is the same for all points */

bool
mixture_init(struct mixture *mixture, size_t points, size_t cells,
             size_t columns)
{
    *mixture =
        (struct mixture){.points = points, .cells = cells, .columns = columns};
    mixture->kernel = calloc(cells * points, sizeof(double));
    mixture->gone = calloc(cells, sizeof(double));
    mixture->present = calloc(columns, sizeof(double));
    mixture->absent = calloc(columns, sizeof(double));
    mixture->count = calloc(cells * columns, sizeof(double));
    mixture->room = calloc(MIXTURE_ROOM * (points + 1 + cells), sizeof(double));
    return mixture->kernel != NULL && mixture->gone != NULL &&
           mixture->present != NULL && mixture->absent != NULL &&
           mixture->count != NULL && mixture->room != NULL;
}

void
mixture_clear(struct mixture *mixture)
{
    free(mixture->kernel);
    free(mixture->gone);
    free(mixture->present);
    free(mixture->absent);
    free(mixture->count);
    free(mixture->room);
    *mixture = (struct mixture){0};
}

/* ---- One step ------------------------------------------------------------ */

/* Array number i of the room. */
static double *
room_at(const struct mixture *mixture, size_t i)
{
    return mixture->room + i * (mixture->points + 1 + mixture->cells);
}

/* Returns the log-likelihood and the slopes D_j by the weights. */
static double
differentiate(const struct mixture *m, const double *p, double *ret_slope)
{
    double *weight = room_at(m, MIXTURE_ROOM - 1) + m->points + 1;
    double likelihood = 0, gone = 0;
    for (size_t c = 0; c < m->cells; c++) {
        const double *row = m->kernel + c * m->points;
        double chance = 0;
        for (size_t j = 0; j < m->points; j++) {
            chance += row[j] * p[j];
        }
        weight[c] = 0;
        for (size_t k = 0; k < m->columns; k++) {
            double n = m->count[c * m->columns + k];
            double other = m->gone[c] * m->absent[k];
            double f = chance * m->present[k] + p[m->points] * other;
            if (n > 0) {
                likelihood += n * log(f);
                weight[c] += n / m->reports / f * m->present[k];
                gone += n / m->reports / f * other;
            }
        }
    }
    memset(ret_slope, 0, m->points * sizeof *ret_slope);
    for (size_t c = 0; c < m->cells; c++) {
        const double *row = m->kernel + c * m->points;
        for (size_t j = 0; j < m->points; j++) {
            ret_slope[j] += weight[c] * row[j];
        }
    }
    ret_slope[m->points] = gone;
    return likelihood;
}

static bool
is_inside(const struct mixture_split *split, size_t j)
{
    return j >= split->first && j < split->end;
}

/* Scales the weights to a sum of 1, and each side of a split to its share. */
static void
normalise(const struct mixture *m, const struct mixture_split *split, double *p)
{
    double inside = 0, outside = 0, all;
    p[m->points] = m->missing ? p[m->points] : 0;
    for (size_t j = 0; j < m->points; j++) {
        *(split != NULL && is_inside(split, j) ? &inside : &outside) += p[j];
    }
    all = inside + outside + p[m->points];
    for (size_t j = 0; split == NULL && j < m->points; j++) {
        p[j] /= all;
    }
    if (split != NULL) {
        double share = (inside + outside) / all;
        /* a side whose share is 0 is empty, and stays so */
        inside = inside > 0 ? share * split->share / inside : 0;
        outside = outside > 0 ? share * (1 - split->share) / outside : 0;
    }
    for (size_t j = 0; split != NULL && j < m->points; j++) {
        p[j] *= is_inside(split, j) ? inside : outside;
    }
    p[m->points] /= all;
}

/* The most that a distribution with that split can have above this one. */
static double
measure_gap(const struct mixture *m, const struct mixture_split *split,
            const double *slope)
{
    double inside = 0, outside = 0, most;
    for (size_t j = 0; j < m->points; j++) {
        double *side =
            split != NULL && is_inside(split, j) ? &inside : &outside;
        *side = fmax(*side, slope[j]);
    }
    most = split == NULL ? outside
                         : split->share * inside + (1 - split->share) * outside;
    most = m->missing ? fmax(most, slope[m->points]) : most;
    return m->reports * (most - 1);
}

/* ---- The climb ----------------------------------------------------------- */

struct climb {
    const struct mixture *mixture;
    const struct mixture_split *split;
    double *p; /* where it is */
    double log_likelihood, gap;
};

/* An EM step from `from` to `to`; returns the log-likelihood of `from`. */
static double
step(const struct climb *climb, const double *from, double *to, double *slope)
{
    const struct mixture *m = climb->mixture;
    double likelihood = differentiate(m, from, slope);
    for (size_t j = 0; j <= m->points; j++) {
        to[j] = from[j] * slope[j];
    }
    normalise(m, climb->split, to);
    return likelihood;
}

/* p - 2 a r + a^2 v, with a shortened towards -1, where it is the second step,
   until no weight is negative. */
static void
leap(const struct climb *climb, const double *one, const double *two,
     double *to)
{
    const struct mixture *m = climb->mixture;
    double along = 0, turn = 0, a, least = -1;
    for (size_t j = 0; j <= m->points; j++) {
        double r = one[j] - climb->p[j], v = two[j] - one[j] - r;
        along += r * r;
        turn += v * v;
    }
    a = turn > 0 ? fmin(-1, -sqrt(along / turn)) : -1;
    for (int tries = 0; least < 0 && tries < 9; tries++) {
        least = 0;
        for (size_t j = 0; j <= m->points; j++) {
            double r = one[j] - climb->p[j], v = two[j] - one[j] - r;
            to[j] = climb->p[j] - 2 * a * r + a * a * v;
            least = fmin(least, to[j]);
        }
        a = (a - 1) / 2;
    }
    if (least < 0) {
        memcpy(to, two, (m->points + 1) * sizeof *to);
    }
    normalise(m, climb->split, to);
}

/* Goes three steps up, and says how high it is now. */
static void
climb_on(struct climb *climb)
{
    const struct mixture *m = climb->mixture;
    double *one = room_at(m, 0), *two = room_at(m, 1), *far = room_at(m, 2);
    double *beyond = room_at(m, 3), *slope = room_at(m, 4);
    double here = step(climb, climb->p, one, slope), there;
    (void)step(climb, one, two, slope);
    leap(climb, one, two, far);
    there = step(climb, far, beyond, slope);
    memcpy(climb->p, there >= here ? beyond : two,
           (m->points + 1) * sizeof *climb->p);
    climb->log_likelihood = differentiate(m, climb->p, slope);
    climb->gap = measure_gap(m, climb->split, slope);
}

void
mixture_maximise(const struct mixture *mixture, struct mixture_fit *fit)
{
    struct climb climb = {.mixture = mixture, .p = fit->p};
    for (size_t j = 0; j <= mixture->points; j++) {
        fit->p[j] = 1;
    }
    normalise(mixture, NULL, fit->p);
    for (unsigned i = 0; i < ROUNDS_MOST; i++) {
        climb_on(&climb);
        if (climb.gap < GAP_ENOUGH) {
            break;
        }
    }
    fit->log_likelihood = climb.log_likelihood;
    fit->gap = climb.gap;
}

bool
mixture_rules_out(const struct mixture *mixture, const struct mixture_fit *best,
                  const struct mixture_split *split, double limit)
{
    struct climb climb = {
        .mixture = mixture, .split = split, .p = room_at(mixture, 5)};
    for (size_t j = 0; j <= mixture->points; j++) {
        climb.p[j] = best->p[j] + EVEN / (double)(mixture->points + 1);
    }
    normalise(mixture, split, climb.p);
    for (unsigned i = 0; i < ROUNDS_MOST; i++) {
        climb_on(&climb);
        double below = best->log_likelihood - climb.log_likelihood;
        if (2 * (below - climb.gap) > limit) {
            return true;
        }
        if (2 * (below + best->gap) <= limit) {
            return false;
        }
    }
    return false;
}
