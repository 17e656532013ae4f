/*
 * divergence.c: how far apart the reports of any two points are, exactly.
 *
 * Both claims become comparisons of integers: with B = floor(e^eps 2^P),
 *
 *     pure          w(r|q) 2^P <= B w(r|q')                      for every r
 *     approximate   sum of max(0, w(r|q) 2^P - B w(r|q'))
 *                       <= delta 2^P (sum of all w)
 *
 * B is rounded down, so a claim that fails is never passed; one that holds by
 * less than 2^-P of itself is not either, and none of ours comes that close.
 */
#include "privacy/divergence.h"

#include <math.h>
#include <stdlib.h>

#include <mpfr.h>

#include "base/decimal.h"

#define PRECISION 512
#define WORKING 1024   /* bits for e^epsilon, of which PRECISION are kept */
#define EPS_MOST 512.0 /* beyond, epsilon might as well be infinite */
#define NEAR 1e-12     /* of the worst pair, relatively: looked at exactly */
#define NEAR_MOST 64u

/* floor(e^epsilon 2^PRECISION). */
static void
scaled_bound(uint64_t units, mpz_t ret)
{
    mpfr_t bound;
    mpfr_init2(bound, WORKING);
    mpfr_set_ui(bound, units, MPFR_RNDD);
    mpfr_div_ui(bound, bound, DECIMAL_UNIT, MPFR_RNDD);
    mpfr_exp(bound, bound, MPFR_RNDD);
    mpfr_mul_2ui(bound, bound, PRECISION, MPFR_RNDD);
    mpfr_get_z(ret, bound, MPFR_RNDD);
    mpfr_clear(bound);
}

/* ---- Pure ---------------------------------------------------------------- */

static void
extremes(const struct weights *weights, uint32_t at, mpz_srcptr *least,
         mpz_srcptr *most)
{
    const struct weights_row *row = &weights->row[at];
    *least = row->weight[0];
    *most = row->weight[0];
    for (uint32_t i = 1; i < weights->points; i++) {
        if (mpz_cmp(row->weight[i], *least) < 0) {
            *least = row->weight[i];
        }
        if (mpz_cmp(row->weight[i], *most) > 0) {
            *most = row->weight[i];
        }
    }
}

/* ln(most / least), the nearest double. */
static double
log_ratio(mpz_srcptr most, mpz_srcptr least)
{
    mpfr_t ratio, below;
    double log;
    if (mpz_sgn(least) == 0) {
        return INFINITY;
    }
    mpfr_init2(ratio, PRECISION);
    mpfr_init2(below, PRECISION);
    mpfr_set_z(ratio, most, MPFR_RNDN);
    mpfr_set_z(below, least, MPFR_RNDN);
    mpfr_div(ratio, ratio, below, MPFR_RNDN);
    mpfr_log(ratio, ratio, MPFR_RNDN);
    log = mpfr_get_d(ratio, MPFR_RNDN);
    mpfr_clear(ratio);
    mpfr_clear(below);
    return log;
}

/* Sums are the same for all points, so ratios of weights are those of p. The
   doubles only save most logarithms to many digits. */
void
divergence_pure(const struct weights *weights, uint64_t eps,
                struct divergence *ret)
{
    mpz_t bound, left, right;
    *ret = (struct divergence){.within = true};
    mpz_inits(bound, left, right, NULL);
    scaled_bound(eps, bound);
    for (uint32_t i = 0; i < weights->rows; i++) {
        mpz_srcptr least, most;
        extremes(weights, i, &least, &most);
        mpz_mul_2exp(left, most, PRECISION);
        mpz_mul(right, least, bound);
        ret->within = ret->within && mpz_cmp(left, right) <= 0;
        if (mpz_sgn(least) == 0 ||
            weights_log(most) - weights_log(least) >= ret->eps - 1e-9) {
            ret->eps = fmax(ret->eps, log_ratio(most, least));
        }
    }
    mpz_clears(bound, left, right, NULL);
}

/* ---- Approximate --------------------------------------------------------- */

/* Two points, and their sum of max(0, p(r|a) - e^eps p(r|b)). */
struct pair {
    uint32_t a, b;
    double delta;
};

/* p(r | q) as doubles, the reports of a point one after another. */
static double *
doubles_of(const struct weights *weights)
{
    size_t rows = weights->rows;
    double log_sum = weights_log(weights->sum[0]);
    double *p = malloc(rows * weights->points * sizeof *p);
    for (size_t i = 0; p != NULL && i < rows; i++) {
        for (uint32_t j = 0; j < weights->points; j++) {
            mpz_srcptr weight = weights->row[i].weight[j];
            p[j * rows + i] =
                mpz_sgn(weight) > 0 ? exp(weights_log(weight) - log_sum) : 0;
        }
    }
    return p;
}

static double
hockey_stick(const double *p, size_t rows, uint32_t a, uint32_t b, double eps)
{
    const double *left = p + a * rows, *right = p + b * rows;
    double sum = 0, factor = exp(eps);
    for (size_t i = 0; i < rows; i++) {
        double above = left[i] - factor * right[i];
        sum += above > 0 ? above : 0;
    }
    return sum;
}

static struct pair
worst_pair(const struct weights *weights, const double *p, double eps)
{
    struct pair worst = {0, 0, 0};
    for (uint32_t a = 0; a < weights->points; a++) {
        for (uint32_t b = 0; b < weights->points; b++) {
            double delta = hockey_stick(p, weights->rows, a, b, eps);
            if (delta > worst.delta) {
                worst = (struct pair){a, b, delta};
            }
        }
    }
    return worst;
}

/* The sum of max(0, w(r|a) 2^P - B w(r|b)). */
static void
exact_excess(const struct weights *weights, uint32_t a, uint32_t b,
             mpz_srcptr bound, mpz_t ret)
{
    mpz_t above, part;
    mpz_inits(above, part, NULL);
    mpz_set_ui(ret, 0);
    for (uint32_t i = 0; i < weights->rows; i++) {
        mpz_mul_2exp(above, weights->row[i].weight[a], PRECISION);
        mpz_mul(part, weights->row[i].weight[b], bound);
        if (mpz_cmp(above, part) > 0) {
            mpz_sub(above, above, part);
            mpz_add(ret, ret, above);
        }
    }
    mpz_clears(above, part, NULL);
}

/* excess <= delta 2^P sum, where delta = units / DECIMAL_UNIT. */
static bool
is_within(const struct weights *weights, mpz_srcptr excess, uint64_t units)
{
    mpz_t left, right;
    bool within;
    mpz_inits(left, right, NULL);
    mpz_mul_ui(left, excess, DECIMAL_UNIT);
    mpz_mul_2exp(right, weights->sum[0], PRECISION);
    mpz_mul_ui(right, right, units);
    within = mpz_cmp(left, right) <= 0;
    mpz_clears(left, right, NULL);
    return within;
}

/* Looks at one pair as integers. */
static void
compare_exactly(const struct weights *weights, uint32_t a, uint32_t b,
                mpz_srcptr bound, uint64_t delta, struct divergence *ret)
{
    double whole = weights_log(weights->sum[0]) + PRECISION * log(2);
    mpz_t excess;
    mpz_init(excess);
    exact_excess(weights, a, b, bound, excess);
    if (mpz_sgn(excess) > 0) {
        ret->delta = fmax(ret->delta, exp(weights_log(excess) - whole));
    }
    ret->within = ret->within && is_within(weights, excess, delta);
    mpz_clear(excess);
}

/* Pairs that doubles cannot tell from the worst are looked at, too. */
static void
compare_worst(const struct weights *weights, const double *p, uint64_t eps,
              uint64_t delta, double least, struct divergence *ret)
{
    double stated = (double)eps / (double)DECIMAL_UNIT;
    uint32_t looked = 0;
    mpz_t bound;
    mpz_init(bound);
    scaled_bound(eps, bound);
    for (uint32_t a = 0; a < weights->points; a++) {
        for (uint32_t b = 0; b < weights->points && looked < NEAR_MOST; b++) {
            if (a != b &&
                hockey_stick(p, weights->rows, a, b, stated) >= least) {
                compare_exactly(weights, a, b, bound, delta, ret);
                looked++;
            }
        }
    }
    mpz_clear(bound);
}

/* The epsilon at which one pair meets delta, from above. */
static double
solve_pair(const struct weights *weights, const double *p, struct pair pair,
           double delta)
{
    double low = 0, high = 1;
    while (high < EPS_MOST &&
           hockey_stick(p, weights->rows, pair.a, pair.b, high) > delta) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 60 && high < EPS_MOST; i++) {
        double middle = (low + high) / 2;
        if (hockey_stick(p, weights->rows, pair.a, pair.b, middle) > delta) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high < EPS_MOST ? high : INFINITY;
}

/* Which pair is the worst depends on epsilon: until it is the same one. */
static double
solve_all(const struct weights *weights, const double *p, struct pair pair,
          double delta)
{
    double eps = solve_pair(weights, p, pair, delta);
    for (int i = 0; i < 16 && eps < EPS_MOST; i++) {
        struct pair worst = worst_pair(weights, p, eps);
        if (worst.delta <= delta * (1 + 1e-9)) {
            break;
        }
        eps = solve_pair(weights, p, worst, delta);
    }
    return eps;
}

enum sotto_status
divergence_approximate(const struct weights *weights, uint64_t eps,
                       uint64_t delta, struct divergence *ret)
{
    double stated = (double)eps / (double)DECIMAL_UNIT;
    double *p = doubles_of(weights);
    struct pair worst;
    if (p == NULL) {
        return SOTTO_STATUS_MEMORY;
    }
    *ret = (struct divergence){.within = true};
    worst = worst_pair(weights, p, stated);
    compare_worst(weights, p, eps, delta, worst.delta * (1 - NEAR), ret);
    ret->eps =
        solve_all(weights, p, worst, (double)delta / (double)DECIMAL_UNIT);
    if (ret->within) {
        ret->eps = fmin(ret->eps, stated);
    }
    free(p);
    return SOTTO_STATUS_OK;
}
