/*
 * distribution.c: quantiles and histograms of a number, from reports.
 *
 * Numbers are taken to be on a grid of points from one end of the range to the
 * other, every lattice point where there are few. A number between two points
 * has its weight on both, so that the mean is kept: with F its distribution and
 * G_j the weight of points up to x_j,
 *
 *     F(x_j) <= G_j <= F(x_(j+1))
 *
 * and what is ruled out of G rules out something of F, a point farther out. The
 * grid is fine beside the noise, so that reports cannot tell the two apart.
 *
 * Reports are counted in cells. Beyond the lattice every point is equally much
 * farther away for laplace, so what lies there is one cell on either side and
 * nothing is lost. Chances of cells are sums of the channel's own
 * probabilities. (A window's chances jump at its ends, so that a grid shows:
 * intervals did not hold, and there are none.)
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "host/error.h"
#include "mechanism/mechanism.h"
#include "mechanism/mixture.h"

#define CELLS 64u
#define COLUMNS 12u
#define STEPS_LEAST 32u /* of the grid */
#define STEPS_MOST 256u
#define STEPS_PER_EPS 16.0 /* a noise's scale is 2 / eps, of a range of 2 */
#define BINS_MOST 100u
#define HALVINGS 7

/* Integers from low to high in `cells` cells, and one on either side. */
struct cells {
    int64_t low, high;
    size_t cells;
};

struct sotto_distribution {
    const struct sotto_mechanism *mechanism;
    const struct likelihood_instance *likelihood;
    size_t part, block;
    size_t steps; /* of the grid: one point more */
    size_t bins;
    struct cells across, missing;
    struct mixture mixture;
    struct mixture_fit best;
    bool fitted;
    double shift, scale;
};

/* ---- The channel's chances ------------------------------------------------
 */

/* ln p of one coordinate: the others at 0, which then cost the same each. */
static double
log_chance(const struct likelihood_instance *at, int64_t y, int32_t q)
{
    uint8_t wire[32] = {0};
    int64_t values[2] = {0, 0};
    int32_t point[2] = {0, 0}, zero[2] = {0, 0};
    double each = 0;
    if (at->values == 2) {
        (void)at->likelihood->pack(at, values, wire);
        each = at->likelihood->log_p(at, wire, zero) / 2;
    }
    values[0] = y;
    point[0] = q;
    (void)at->likelihood->pack(at, values, wire);
    return at->likelihood->log_p(at, wire, point) - each;
}

static size_t
find_cell(const struct cells *cells, int64_t y)
{
    uint64_t width = (uint64_t)(cells->high - cells->low) + 1;
    if (y < cells->low) {
        return 0;
    }
    return y > cells->high ? cells->cells + 1
                           : 1 + (size_t)((uint64_t)(y - cells->low) *
                                          cells->cells / width);
}

/* The chance of each cell where the number is q, every `stride`-th of
   `ret_chance`. What is beyond is shared as the first integers there are: the
   chances on either side fall off alike. */
static void
fill_chances(const struct sotto_distribution *own, const struct cells *cells,
             int32_t q, double *ret_chance, size_t stride)
{
    const struct likelihood_instance *at = own->likelihood;
    double inside = 0, low, high;
    for (int64_t y = cells->low; y <= cells->high; y++) {
        double p = exp(log_chance(at, y, q));
        ret_chance[find_cell(cells, y) * stride] += p;
        inside += p;
    }
    low = exp(log_chance(at, cells->low - 1, q));
    high = exp(log_chance(at, cells->high + 1, q));
    ret_chance[0] = fmax(0, 1 - inside) * low / (low + high);
    ret_chance[(cells->cells + 1) * stride] =
        fmax(0, 1 - inside) * high / (low + high);
}

/* The lattice point that is point j of the grid. */
static int32_t
grid_point(const struct sotto_distribution *own, size_t j)
{
    double l = own->likelihood->instance->l;
    return (int32_t)lround(l * (2 * (double)j / (double)own->steps - 1));
}

static void
fill_mixture(struct sotto_distribution *own)
{
    struct mixture *m = &own->mixture;
    int32_t l = (int32_t)own->likelihood->instance->l;
    for (size_t j = 0; j <= own->steps; j++) {
        fill_chances(own, &own->across, grid_point(own, j), m->kernel + j,
                     m->points);
    }
    if (!m->missing) {
        m->present[0] = 1;
        return;
    }
    fill_chances(own, &own->across, 0, m->gone, 1);
    fill_chances(own, &own->missing, 0, m->present, 1);
    fill_chances(own, &own->missing, l, m->absent, 1);
}

/* ---- Making one -----------------------------------------------------------
 */

/* Whether a part holds the number of a column, alone or in a pair. */
static bool
holds_column(const struct sotto_mechanism *mechanism, size_t part,
             const struct schema_column *column)
{
    const struct shape_part *own = &mechanism->shape.part[part];
    const char *name = own->instance->channel->name;
    size_t size = own->instance->size, off = column->at - own->from;
    return own->numbers && mechanism->shape.layers == 0 &&
           strcmp(name, "laplace") == 0 && column->at >= own->from &&
           off / size < own->blocks && size == (column->missing ? 2 : 1) &&
           off % size == 0;
}

/* The block that a column's number goes through by itself; false: none. */
static bool
find_block(const struct sotto_mechanism *mechanism, size_t column,
           struct sotto_distribution *own)
{
    const struct shape *shape = &mechanism->shape;
    const struct schema_column *from = &shape->schema.column[column];
    bool number =
        schema_kind(from->kind)->ranged && from->inputs > 0 && !from->log;
    for (size_t i = 0; i < shape->parts && number; i++) {
        if (holds_column(mechanism, i, from) && isfinite(1 / from->scale) &&
            from->scale > 0) {
            own->part = i;
            own->block =
                (from->at - shape->part[i].from) / shape->part[i].width;
            own->likelihood = &mechanism->likelihood[i];
            own->shift = from->shift;
            own->scale = from->scale;
            return true;
        }
    }
    return false;
}

static void
plan_cells(struct sotto_distribution *own)
{
    const struct channel_instance *instance = own->likelihood->instance;
    int64_t reach = instance->l;
    uint64_t across = 2 * (uint64_t)reach + 1;
    own->across =
        (struct cells){-reach, reach, across < CELLS ? across : CELLS};
    own->missing = (struct cells){
        0, instance->l, instance->l < COLUMNS ? instance->l : COLUMNS};
}

/* As fine as the noise asks for, at least two steps a bin. */
static bool
plan_grid(struct sotto_distribution *own, size_t bins)
{
    const struct channel_instance *instance = own->likelihood->instance;
    double eps = (double)instance->eps / (double)DECIMAL_UNIT;
    double wanted = fmin(fmax(STEPS_PER_EPS * eps, STEPS_LEAST), STEPS_MOST);
    size_t most = 2 * (size_t)instance->l;
    wanted = fmin(wanted, (double)most);
    if (bins == 0 || bins > BINS_MOST || 2 * bins > most) {
        return false;
    }
    own->bins = bins;
    own->steps = (size_t)ceil(wanted / (double)bins) * bins;
    own->steps -= own->steps > most ? bins : 0;
    own->steps = own->steps < 2 * bins ? 2 * bins : own->steps;
    return true;
}

static enum sotto_status
set_up(struct sotto_distribution *own, size_t column, size_t bins,
       struct sotto_error *err)
{
    const char *name = own->mechanism->shape.schema.column[column].name;
    bool pair = own->mechanism->shape.schema.column[column].missing;
    if (!find_block(own->mechanism, column, own)) {
        return schema_column_fail(
            SOTTO_STATUS_INPUT, "column ", name,
            " is no number that goes through laplace by itself: its "
            "distribution cannot be told",
            err);
    }
    if (!plan_grid(own, bins)) {
        return schema_column_fail(SOTTO_STATUS_INPUT, "column ", name,
                                  " has too few steps for so many bins: ask "
                                  "for fewer, 100 at most",
                                  err);
    }
    plan_cells(own);
    own->best.p = calloc(own->steps + 2, sizeof *own->best.p);
    if (!mixture_init(&own->mixture, own->steps + 1, own->across.cells + 2,
                      pair ? own->missing.cells + 2 : 1) ||
        own->best.p == NULL) {
        return host_fail_memory(err);
    }
    own->mixture.missing = pair;
    fill_mixture(own);
    return SOTTO_STATUS_OK;
}

enum sotto_status
sotto_distribution_new(const struct sotto_mechanism *mechanism, size_t column,
                       size_t bins, struct sotto_distribution **ret,
                       struct sotto_error *err)
{
    struct sotto_distribution *own = calloc(1, sizeof *own);
    enum sotto_status status;
    if (own == NULL) {
        return host_fail_memory(err);
    }
    own->mechanism = mechanism;
    status = set_up(own, column, bins, err);
    if (status == SOTTO_STATUS_OK) {
        *ret = own;
    } else {
        sotto_distribution_free(own);
    }
    return status;
}

void
sotto_distribution_free(struct sotto_distribution *distribution)
{
    if (distribution != NULL) {
        mixture_clear(&distribution->mixture);
        free(distribution->best.p);
        free(distribution);
    }
}

void
sotto_distribution_add(struct sotto_distribution *distribution,
                       const uint8_t *report)
{
    const struct sotto_mechanism *mechanism = distribution->mechanism;
    const struct report_plan *plan = mechanism->device.report;
    struct mixture *m = &distribution->mixture;
    int64_t value[2] = {0, 0};
    size_t column = 0;
    if (!report_valid(plan, report, plan->size)) {
        return;
    }
    sotto_report_values(mechanism, report, distribution->part,
                        distribution->block, value);
    if (m->missing) {
        column = find_cell(&distribution->missing, value[1]);
    }
    m->count[find_cell(&distribution->across, value[0]) * m->columns +
             column] += 1;
    m->reports += 1;
    distribution->fitted = false;
}

/* ---- Asking it ------------------------------------------------------------
 */

static void
fit(struct sotto_distribution *own)
{
    if (!own->fitted) {
        mixture_maximise(&own->mixture, &own->best);
        own->fitted = true;
    }
}

/* Point j of the grid in the column's units. */
static double
value_at(const struct sotto_distribution *own, size_t j)
{
    double l = own->likelihood->instance->l;
    return own->shift + grid_point(own, j) / l / own->scale;
}

/* The weight of points from `first` to `end` - 1 among those who have a value.
 */
static double
weight_of(const struct sotto_distribution *own, size_t first, size_t end)
{
    double inside = 0, all = 0;
    for (size_t j = 0; j <= own->steps; j++) {
        all += own->best.p[j];
        inside += j >= first && j < end ? own->best.p[j] : 0;
    }
    return all > 0 ? inside / all : 0;
}

static bool
rules_out(const struct sotto_distribution *own, size_t first, size_t end,
          double share, double z)
{
    const struct mixture_split split = {first, end, share};
    return mixture_rules_out(&own->mixture, &own->best, &split, z * z);
}

/* The first point up to which the weight reaches the level. */
static size_t
find_level(const struct sotto_distribution *own, double level)
{
    size_t j = 0;
    while (j < own->steps && weight_of(own, 0, j + 1) < level) {
        j++;
    }
    return j;
}

/*
 * If the quantile were below x_j, then G_j >= F(x_j) >= level: ruled out for
 * the largest such j below it. If it were above x_(j+1), then
 * G_j <= F(x_(j+1)) < level: likewise for the smallest from it on. Halving
 * finds them; each is ruled out by a test of its own.
 */
void
sotto_distribution_quantile(struct sotto_distribution *distribution,
                            double level, double z,
                            struct sotto_distribution_row *ret_row)
{
    struct sotto_distribution *own = distribution;
    double half = 0.5 / own->likelihood->instance->l / own->scale;
    double bottom = value_at(own, 0), top = value_at(own, own->steps);
    size_t at, low, high;
    fit(own);
    at = find_level(own, level);
    low = 0; /* one more than the largest j that is ruled out */
    for (size_t end = at; low < end;) {
        size_t j = low + (end - low) / 2;
        if (rules_out(own, 0, j + 1, level, z)) {
            low = j + 1;
        } else {
            end = j;
        }
    }
    high = own->steps; /* the smallest j that is ruled out, or all */
    for (size_t start = at; start < high;) {
        size_t j = start + (high - start) / 2;
        if (rules_out(own, 0, j + 1, level, z)) {
            high = j;
        } else {
            start = j + 1;
        }
    }
    *ret_row = (struct sotto_distribution_row){
        .from = bottom,
        .to = top,
        .value = value_at(own, at),
        .low = fmax(bottom, value_at(own, low > 0 ? low - 1 : 0) - half),
        .high = fmin(top, value_at(own, high < own->steps ? high + 1 : high) +
                              half)};
}

/* The share nearest to `far`, an end of [0, 1], that is not ruled out for these
   points; `near` is not. */
static double
find_end(const struct sotto_distribution *own, size_t first, size_t end,
         double near, double far, double z)
{
    bool all = end - first > own->steps; /* who have a value: nothing to rule */
    if (first >= end || all || !rules_out(own, first, end, far, z)) {
        return far;
    }
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (near + far) / 2;
        *(rules_out(own, first, end, middle, z) ? &far : &near) = middle;
    }
    return far;
}

/* Numbers in a bin have their weight on its points, those on its edges
   included; those on its edges may belong to its neighbours. */
void
sotto_distribution_bin(struct sotto_distribution *distribution, size_t bin,
                       double z, struct sotto_distribution_row *ret_row)
{
    struct sotto_distribution *own = distribution;
    size_t wide = own->steps / own->bins;
    size_t first = bin * wide, last = first + wide;
    size_t inner = first > 0 ? first + 1 : 0;
    size_t inner_end = last < own->steps ? last : own->steps + 1;
    double least, most, low, high;
    fit(own);
    least = weight_of(own, inner, inner_end);
    most = weight_of(own, first, last + 1);
    low = own->bins > 1 ? find_end(own, inner, inner_end, least, 0, z) : 1;
    high = find_end(own, first, last + 1, most, 1, z);
    *ret_row = (struct sotto_distribution_row){.from = value_at(own, first),
                                               .to = value_at(own, last),
                                               .value = (least + most) / 2,
                                               .low = low,
                                               .high = high};
}

/* ---- Liars ----------------------------------------------------------------
 */

/*
 * A report moves the log-likelihood of any two distributions by no more than
 * epsilon apart: that is what the channel promises. So if m of the n reports
 * are lies and p is the best distribution by the others,
 *
 *     L - L_p <= m epsilon
 *
 * where L is the largest by all, and where lies were added to honest reports
 * likewise: what is not ruled out at z^2 = 2 m epsilon, m = n a / (1 - a),
 * holds both (docs/liars.md).
 */
static double
forged_z(const struct sotto_distribution *own, double liars)
{
    double eps = (double)own->likelihood->instance->eps / (double)DECIMAL_UNIT;
    return sqrt(2 * own->mixture.reports * liars / (1 - liars) * eps);
}

static double
farther(const struct sotto_distribution_row *row)
{
    return fmax(row->value - row->low, row->high - row->value);
}

/*
 * False answers on honest devices put a share of the weight elsewhere: what is
 * printed is a quantile whose level is off by that share at most.
 */
void
sotto_distribution_quantile_reach(struct sotto_distribution *distribution,
                                  double level, double liars,
                                  struct sotto_reach *ret_reach)
{
    struct sotto_distribution *own = distribution;
    struct sotto_distribution_row row;
    size_t at, low, high;
    *ret_reach = (struct sotto_reach){0, 0};
    if (!(liars > 0)) {
        return;
    }
    sotto_distribution_quantile(own, level, forged_z(own, liars), &row);
    ret_reach->forged = farther(&row);
    at = find_level(own, level);
    low = level > liars ? find_level(own, level - liars) : 0;
    high = level + liars < 1 ? find_level(own, level + liars) : own->steps;
    ret_reach->answered = fmax(value_at(own, at) - value_at(own, low),
                               value_at(own, high) - value_at(own, at));
}

void
sotto_distribution_bin_reach(struct sotto_distribution *distribution,
                             size_t bin, double liars,
                             struct sotto_reach *ret_reach)
{
    struct sotto_distribution_row row;
    *ret_reach = (struct sotto_reach){0, 0};
    if (!(liars > 0)) {
        return;
    }
    sotto_distribution_bin(distribution, bin, forged_z(distribution, liars),
                           &row);
    ret_reach->forged = farther(&row);
    ret_reach->answered = fmin(liars, fmax(row.value, 1 - row.value));
}
