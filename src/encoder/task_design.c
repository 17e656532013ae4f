/*
 * task_design.c: candidates, and steps downhill from the best of them.
 */
#include "encoder/task_design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/task_water.h"
#include "host/error.h"
#include "host/wipe.h"

#define RADII 11u /* r of the grid: 0.25 to 8, a root of 2 apart */
#define RADIUS_LEAST 0.25
#define STARTS 3u      /* candidates that are refined, each of its own Z */
#define STEPS_MOST 80u /* of a refinement */
#define STEP_FIRST 0.1 /* of ln scale */
#define STEP_MOST 0.5
#define STEP_LEAST 1e-3  /* all below it: at the bottom */
#define MORE_WORTH 0.999 /* what more directions must lower the loss to */

/* The best candidate that keeps so many directions. */
struct candidate {
    double left_out; /* INFINITY: there is none */
    double r, radius;
    double predicted;
};

struct search {
    const struct task_design_wanted *wanted;
    const double *v, *lambda;
    size_t rows, count, most;
    struct task_fitting fitting;
    struct candidate *candidate; /* most: i keeps i + 1 */
    double *block;               /* of all that follow */
    double *z;                   /* rows of `most` */
    double *squares;             /* most, and so are the others */
    double *scale, *slope, *step, *last;
};

/* Carves the block. */
static enum sotto_status
search_init(struct search *search, struct sotto_error *err)
{
    size_t most = search->most, z = search->rows * most;
    search->candidate = calloc(most, sizeof *search->candidate);
    search->block = calloc(z + 5 * most, sizeof *search->block);
    if (search->candidate == NULL || search->block == NULL) {
        return host_fail_memory(err);
    }
    search->z = search->block;
    search->squares = search->z + z;
    search->scale = search->squares + most;
    search->slope = search->scale + most;
    search->step = search->slope + most;
    search->last = search->step + most;
    for (size_t i = 0; i < most; i++) {
        search->candidate[i].left_out = INFINITY;
    }
    return SOTTO_STATUS_OK;
}

/* The task's outputs, but for a rotation, which changes no loss. */
static enum sotto_status
search_give(struct search *search, struct sotto_error *err)
{
    size_t size = search->rows * search->count;
    double *y = calloc(size, sizeof *y);
    enum sotto_status status;
    if (y == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < size; i++) {
        y[i] = sqrt(search->lambda[i % search->count]) * search->v[i];
    }
    status = task_fitting_init(&search->fitting, y, search->rows, search->count,
                               search->most, err);
    host_wipe_free(y, size * sizeof *y);
    return status;
}

static void
search_clear(struct search *search)
{
    task_fitting_clear(&search->fitting);
    host_wipe_free(search->block, search->rows * search->most * sizeof(double));
    free(search->candidate);
}

/* z of the first `kept` directions under search->scale. */
static void
fill_z(struct search *search, size_t kept)
{
    for (size_t i = 0; i < search->rows; i++) {
        for (size_t j = 0; j < kept; j++) {
            search->z[i * kept + j] =
                search->scale[j] * search->v[i * search->count + j];
        }
    }
}

/* ---- Candidates ---------------------------------------------------------- */

/* The variance of the noise on each of `kept` numbers. */
static double
ratio_of(const struct task_design_wanted *wanted, size_t kept)
{
    return wanted->ratios != NULL ? wanted->ratios[kept - 1] : wanted->ratio;
}

/* The scales that a candidate begins with, before it is divided by its radius.
 */
static void
fill_scales(struct search *search, size_t kept, double r)
{
    const struct task_design_wanted *wanted = search->wanted;
    bool water = wanted->ball == TASK_BALL_L1;
    if (water) {
        (void)task_water_fill(search->lambda, search->most,
                              wanted->ratio * r * r, search->squares);
    }
    for (size_t j = 0; j < kept; j++) {
        search->scale[j] = water ? sqrt(search->squares[j]) : 1;
    }
}

/* The water-filling of one r, at every clip. */
static enum sotto_status
try_radius(struct search *search, double r, struct sotto_error *err)
{
    const struct task_design_wanted *wanted = search->wanted;
    double radius[TASK_RADII], loss = 0, left_out = 0;
    size_t radii = 0, kept;
    enum sotto_status status;
    kept = task_water_fill(search->lambda, search->most, wanted->ratio * r * r,
                           search->squares);
    if (kept == 0) {
        return SOTTO_STATUS_OK;
    }
    fill_scales(search, kept, r);
    fill_z(search, kept);
    status = task_radii(search->z, search->rows, kept, wanted->ball, radius,
                        &radii, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < radii; i++) {
        struct candidate *best = &search->candidate[kept - 1];
        status =
            task_fitting_fit(&search->fitting, search->z, kept, wanted->ball,
                             radius[i], wanted->ratio, &loss, &left_out, err);
        if (status == SOTTO_STATUS_OK && left_out < best->left_out) {
            double c = wanted->ratio * r * r;
            *best = (struct candidate){
                left_out, r, radius[i],
                task_water_loss(search->lambda, search->count, c)};
        }
    }
    return status;
}

/* Norms of v's first Z directions, for every Z, at the quantiles that
   task_radii tries: radius[i * most + Z - 1]. In the noise's own measure: what
   is larger for more numbers counts as a larger radius. */
static enum sotto_status
find_radii(struct search *search, double *radius, size_t *ret_radii,
           struct sotto_error *err)
{
    const struct task_design_wanted *wanted = search->wanted;
    size_t most = search->most;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t kept = 1; status == SOTTO_STATUS_OK && kept <= most; kept++) {
        double own[TASK_RADII];
        fill_scales(search, kept, 1);
        fill_z(search, kept);
        status = task_radii(search->z, search->rows, kept, wanted->ball, own,
                            ret_radii, err);
        for (size_t i = 0; status == SOTTO_STATUS_OK && i < *ret_radii; i++) {
            radius[i * most + kept - 1] =
                own[i] * sqrt(ratio_of(wanted, kept) / ratio_of(wanted, 1));
        }
    }
    return status;
}

/* Equal scales: for every clip as many directions as task_gaussian_keep has. */
static enum sotto_status
try_equal(struct search *search, struct sotto_error *err)
{
    const struct task_design_wanted *wanted = search->wanted;
    double multiplier = sqrt(ratio_of(wanted, 1)) / 2;
    double *radius = calloc(search->most, TASK_RADII * sizeof *radius);
    size_t radii = 0;
    enum sotto_status status = radius != NULL
                                   ? find_radii(search, radius, &radii, err)
                                   : host_fail_memory(err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < radii; i++) {
        const double *own = radius + i * search->most;
        double loss = 0, left_out = 0, predicted = 0, at;
        size_t kept = task_gaussian_keep(search->lambda, search->most,
                                         multiplier, own, &predicted);
        struct candidate *best = &search->candidate[kept - 1];
        at = own[kept - 1] * sqrt(ratio_of(wanted, 1) / ratio_of(wanted, kept));
        for (size_t j = search->most; j < search->count; j++) {
            predicted += search->lambda[j];
        }
        fill_scales(search, kept, 1);
        fill_z(search, kept);
        status =
            task_fitting_fit(&search->fitting, search->z, kept, wanted->ball,
                             at, ratio_of(wanted, kept), &loss, &left_out, err);
        if (status == SOTTO_STATUS_OK && left_out < best->left_out) {
            *best = (struct candidate){left_out, at, at, predicted};
        }
    }
    free(radius);
    return status;
}

/* The best candidate that is left, which is then taken away; 0: there is none.
 */
static size_t
take_candidate(struct search *search, struct candidate *ret)
{
    size_t at = 0;
    for (size_t i = 1; i < search->most; i++) {
        if (search->candidate[i].left_out < search->candidate[at].left_out) {
            at = i;
        }
    }
    *ret = search->candidate[at];
    search->candidate[at].left_out = INFINITY;
    return isfinite(ret->left_out) ? at + 1 : 0;
}

/* ---- Downhill ------------------------------------------------------------ */

/* dL / d ln scale_j = scale_j sum_i dL/dz_ij v_ij. */
static void
find_slope(struct search *search, size_t kept)
{
    const double *g = search->fitting.g;
    task_fitting_slope(&search->fitting, search->z, kept, search->wanted->ball,
                       1);
    memset(search->slope, 0, kept * sizeof *search->slope);
    for (size_t i = 0; i < search->rows; i++) {
        for (size_t j = 0; j < kept; j++) {
            search->slope[j] += g[i * kept + j] * search->z[i * kept + j];
        }
    }
}

/* One step of each ln scale, whose length is its own: longer while the slope
   keeps its sign, half where it turns (Rprop). False: all are short. */
static bool
step_down(struct search *search, size_t kept)
{
    double longest = 0;
    for (size_t j = 0; j < kept; j++) {
        double slope = search->slope[j], last = search->last[j];
        double *step = &search->step[j];
        if (slope * last > 0) {
            *step = fmin(1.2 * *step, STEP_MOST);
        } else if (slope * last < 0) {
            *step *= 0.5;
            slope = 0;
        }
        search->last[j] = slope;
        search->scale[j] *= exp(slope > 0 ? -*step : slope < 0 ? *step : 0);
        longest = fmax(longest, *step);
    }
    return longest > STEP_LEAST;
}

/* Whether to take `kept` directions with this loss: not more of them than the
   best so far has for next to nothing. */
static bool
is_better(const struct task_design *best, size_t kept, double left_out)
{
    double most = best->left_out * (kept > best->kept ? MORE_WORTH : 1);
    return left_out < most;
}

/* Keeps the scales of this fit where they are the best so far. */
static void
keep_best(struct task_design *design, const struct search *search, size_t kept,
          const struct candidate *from, double loss, double left_out)
{
    if (is_better(design, kept, left_out)) {
        memcpy(design->scale, search->scale, kept * sizeof *search->scale);
        design->kept = kept;
        design->r = from->r;
        design->predicted = from->predicted;
        design->loss = loss;
        design->left_out = left_out;
    }
}

static enum sotto_status
refine(struct search *search, size_t kept, const struct candidate *from,
       struct task_design *design, struct sotto_error *err)
{
    const struct task_design_wanted *wanted = search->wanted;
    size_t steps = wanted->plain ? 1 : STEPS_MOST;
    double loss = 0, left_out = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    fill_scales(search, kept, from->r);
    for (size_t j = 0; j < kept; j++) {
        search->scale[j] /= from->radius;
        search->step[j] = STEP_FIRST;
        search->last[j] = 0;
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < steps; i++) {
        fill_z(search, kept);
        status =
            task_fitting_fit(&search->fitting, search->z, kept, wanted->ball, 1,
                             ratio_of(wanted, kept), &loss, &left_out, err);
        if (status == SOTTO_STATUS_OK) {
            keep_best(design, search, kept, from, loss, left_out);
            find_slope(search, kept);
            if (!step_down(search, kept)) {
                break;
            }
        }
    }
    return status;
}

/* ---- All of it ----------------------------------------------------------- */

enum sotto_status
task_design_find(struct task_design *design, const double *v, size_t rows,
                 const double *lambda, size_t count,
                 const struct task_design_wanted *wanted,
                 struct sotto_error *err)
{
    struct search search = {.wanted = wanted,
                            .v = v,
                            .lambda = lambda,
                            .rows = rows,
                            .count = count,
                            .most = wanted->most > 0 && wanted->most < count
                                        ? wanted->most
                                        : count};
    double r = RADIUS_LEAST;
    enum sotto_status status;
    *design = (struct task_design){.left_out = INFINITY};
    design->scale = calloc(search.most, sizeof *design->scale);
    if (design->scale == NULL) {
        return host_fail_memory(err);
    }
    status = search_init(&search, err);
    if (status != SOTTO_STATUS_OK || search.squares == NULL) {
        goto done;
    }
    status = search_give(&search, err);
    if (status == SOTTO_STATUS_OK && wanted->ball != TASK_BALL_L1) {
        status = try_equal(&search, err);
    }
    for (size_t i = 0;
         status == SOTTO_STATUS_OK && i < RADII && wanted->ball == TASK_BALL_L1;
         i++) {
        status = try_radius(&search, r, err);
        r *= sqrt(2);
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < STARTS; i++) {
        struct candidate from;
        size_t kept = take_candidate(&search, &from);
        if (kept > 0) {
            status = refine(&search, kept, &from, design, err);
        }
    }
    if (status == SOTTO_STATUS_OK && design->kept == 0) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "no scales of the directions have a loss that is a "
                           "number");
    }
done:
    search_clear(&search);
    return status;
}

void
task_design_clear(struct task_design *design)
{
    free(design->scale);
    *design = (struct task_design){0};
}

void
task_design_apply(const struct task_design *design, const double *v,
                  size_t rows, size_t count, double *ret_z)
{
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < design->kept; j++) {
            ret_z[i * design->kept + j] = design->scale[j] * v[i * count + j];
        }
    }
}
