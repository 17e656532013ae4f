/*
 * test_gaussian.c: the delta that the channel gaussian really has.
 *
 * The device chooses sigma by zCDP and a conversion: an upper bound. Here the
 * hockey-stick divergence of the discrete distribution is summed itself,
 *
 *     delta(eps) = sum over reports of (p(report | q) - e^eps p(report | q'))^+
 *
 * in MPFR from the pmf; and where sigma is small, also from the exact
 * probabilities of the sampler that ships, by the tape. It must not exceed the
 * stated delta (invariant 2) for any shift q - q' tried: on a line every one,
 * in two to four dimensions those that might be worse.
 *
 * It prints the table that docs/channels.md shows.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gmp.h>
#include <mpfr.h>

#include "base/bytes.h"
#include "base/decimal.h"
#include "likelihood/likelihood.h"
#include "privacy/tape.h"

#define PRECISION 192
#define SMALL 3.0 /* sigma up to which the tape is run */
#define ROOM 256  /* reports of one coordinate there */

/* A channel on a line, and the parameters it chose. */
struct line {
    struct channel_instance instance;
    struct likelihood_instance likelihood;
    uint64_t own[4096];
    uint32_t t; /* 256 sigma */
    int64_t clamp;
};

static double
real(uint64_t units)
{
    return (double)units / (double)DECIMAL_UNIT;
}

/* ---- Setting up -------------------------------------------------------------
 */

static double
log_p_at(const struct line *line, int64_t y, int32_t q)
{
    uint8_t wire[8];
    const struct likelihood_instance *own = &line->likelihood;
    assert_true(own->likelihood->pack(own, &y, wire));
    return own->likelihood->log_p(own, wire, &q);
}

static int64_t
find_clamp(const struct line *line)
{
    int64_t low = 0, high = INT32_MAX;
    uint8_t wire[8];
    while (high - low > 1) {
        int64_t y = low + (high - low) / 2;
        if (line->likelihood.likelihood->pack(&line->likelihood, &y, wire)) {
            low = y;
        } else {
            high = y;
        }
    }
    return low;
}

/* sigma from the likelihood: ln p(0) - ln p(y) = y^2 / 2 sigma^2. */
static uint32_t
find_t(const struct line *line)
{
    int64_t y = line->clamp / 2;
    double exponent = log_p_at(line, 0, 0) - log_p_at(line, y, 0);
    double t = 256 * (double)y / sqrt(2 * exponent);
    assert_true(fabs(t - round(t)) < 1e-3);
    return (uint32_t)(t + 0.5);
}

static enum sotto_status
line_init(struct line *line, uint32_t l, uint64_t eps, uint64_t delta)
{
    const struct channel *channel = channel_find(channel_exact, "gaussian", 8);
    enum sotto_status status;
    assert_true(channel->own_size <= sizeof line->own);
    status =
        channel_init(&line->instance, channel, 1, 0, l, eps, delta, line->own);
    if (status == SOTTO_STATUS_OK) {
        assert_int_equal(likelihood_init(&line->likelihood, &line->instance),
                         SOTTO_STATUS_OK);
        line->clamp = find_clamp(line);
        line->t = find_t(line);
    }
    return status;
}

/* ---- The pmf, in MPFR -------------------------------------------------------
 */

/* -x / 2 sigma^2 */
static void
exponent(uint32_t t, double x, mpfr_t ret)
{
    mpfr_set_d(ret, -32768 * x, MPFR_RNDN);
    mpfr_div_ui(ret, ret, t, MPFR_RNDN);
    mpfr_div_ui(ret, ret, t, MPFR_RNDN);
}

/* Sum of e^(-x^2 / 2 sigma^2) over x >= from >= 0, by its terms' ratios. */
static void
sum_from(uint32_t t, int64_t from, mpfr_t ret)
{
    mpfr_t term, ratio, step;
    mpfr_inits2(PRECISION, term, ratio, step, (mpfr_ptr)NULL);
    exponent(t, (double)(from * from), term);
    mpfr_exp(term, term, MPFR_RNDN);
    exponent(t, (double)(2 * from + 1), ratio);
    mpfr_exp(ratio, ratio, MPFR_RNDN);
    exponent(t, 2, step);
    mpfr_exp(step, step, MPFR_RNDN);
    mpfr_set_ui(ret, 0, MPFR_RNDN);
    for (;;) {
        mpfr_add(ret, ret, term, MPFR_RNDN);
        if (mpfr_get_exp(term) < mpfr_get_exp(ret) - 110) {
            break;
        }
        mpfr_mul(term, term, ratio, MPFR_RNDN);
        mpfr_mul(ratio, ratio, step, MPFR_RNDN);
    }
    mpfr_clears(term, ratio, step, (mpfr_ptr)NULL);
}

static void
sum_all(uint32_t t, mpfr_t ret)
{
    mpfr_t half;
    mpfr_init2(half, PRECISION);
    sum_from(t, 1, half);
    mpfr_mul_ui(half, half, 2, MPFR_RNDN);
    mpfr_add_ui(ret, half, 1, MPFR_RNDN);
    mpfr_clear(half);
}

/* Sum over x >= from, of any sign. */
static void
sum_tail(uint32_t t, int64_t from, mpfr_srcptr all, mpfr_t ret)
{
    if (from >= 0) {
        sum_from(t, from, ret);
        return;
    }
    sum_from(t, 1 - from, ret);
    mpfr_sub(ret, all, ret, MPFR_RNDN);
}

/*
 * delta(eps) at a shift s on the line: the ratio is above e^eps where
 * x > eps sigma^2 / s - s/2 =: x*, so it is P(X > x*) - e^eps P(X > x* + s).
 */
static double
delta_at(uint32_t t, mpfr_srcptr all, double eps, int64_t s)
{
    double sigma = t / 256.0, ret;
    int64_t from =
        (int64_t)floor(eps * sigma * sigma / (double)s - (double)s / 2) + 1;
    mpfr_t sum, other, factor;
    mpfr_inits2(PRECISION, sum, other, factor, (mpfr_ptr)NULL);
    sum_tail(t, from, all, sum);
    sum_tail(t, from + s, all, other);
    mpfr_set_d(factor, eps, MPFR_RNDN);
    mpfr_exp(factor, factor, MPFR_RNDN);
    mpfr_mul(other, other, factor, MPFR_RNDN);
    mpfr_sub(sum, sum, other, MPFR_RNDN);
    mpfr_div(sum, sum, all, MPFR_RNDN);
    ret = mpfr_get_d(sum, MPFR_RNDU);
    mpfr_clears(sum, other, factor, (mpfr_ptr)NULL);
    return ret;
}

/* The largest over shifts up to 2l: all if those are few, else the last. */
static double
delta_on_line(uint32_t t, double eps, uint32_t l)
{
    double worst = 0;
    mpfr_t all;
    mpfr_init2(all, PRECISION);
    sum_all(t, all);
    for (int64_t s = l <= 10 ? 1 : 2 * (int64_t)l - 1; s <= 2 * (int64_t)l;
         s++) {
        worst = fmax(worst, delta_at(t, all, eps, s));
    }
    mpfr_clear(all);
    return worst;
}

/* The least eps that goes with a delta on the line, at shift 2l. */
static double
eps_on_line(uint32_t t, double eps, double delta, uint32_t l)
{
    double low = 0, high = eps;
    mpfr_t all;
    mpfr_init2(all, PRECISION);
    sum_all(t, all);
    for (int i = 0; i < 24; i++) {
        double middle = (low + high) / 2;
        if (delta_at(t, all, middle, 2 * (int64_t)l) <= delta) {
            high = middle;
        } else {
            low = middle;
        }
    }
    mpfr_clear(all);
    return high;
}

/* ---- Shifts in several dimensions -------------------------------------------
 *
 * The ratio depends on the scalar product s.x alone, whose distribution is a
 * convolution of the coordinates'.
 */

#define SPREAD 4096 /* |s.x| up to which it is kept */

struct spread {
    double p[2 * SPREAD + 1];
};

static void
spread_add(struct spread *spread, uint32_t t, int s)
{
    static struct spread before;
    double sigma = t / 256.0, all = 0;
    int reach = (int)ceil(14 * sigma);
    before = *spread;
    memset(spread, 0, sizeof *spread);
    for (int x = -reach; x <= reach; x++) {
        all += exp(-x * x / (2 * sigma * sigma));
    }
    for (int x = -reach; x <= reach; x++) {
        double p = exp(-x * x / (2 * sigma * sigma)) / all;
        int from = s * x < 0 ? -s * x : 0, to = s * x > 0 ? s * x : 0;
        for (int i = from; i <= 2 * SPREAD - to; i++) {
            spread->p[i + s * x] += p * before.p[i];
        }
    }
}

/* delta(eps) at a shift of d entries; doubles are enough here. */
static double
delta_of_shift(uint32_t t, double eps, const int *shift, int d)
{
    static struct spread spread;
    double sigma = t / 256.0, delta = 0, square = 0;
    memset(&spread, 0, sizeof spread);
    spread.p[SPREAD] = 1;
    for (int i = 0; i < d; i++) {
        square += shift[i] * shift[i];
        if (shift[i] != 0) {
            spread_add(&spread, t, shift[i]);
        }
    }
    for (int i = -SPREAD; i <= SPREAD; i++) {
        double loss = (2 * i + square) / (2 * sigma * sigma);
        if (loss > eps) {
            delta += spread.p[i + SPREAD] * -expm1(eps - loss);
        }
    }
    return delta;
}

/* The largest over all shifts of two entries in the ball of radius 2l, and
   over those of three and four entries on it or next to it. */
static double
delta_in_space(uint32_t t, double eps, int l)
{
    static const int more[][4] = {{1, 1, 1, 0}, {1, 1, 1, 1}, {2, 2, 1, 0},
                                  {2, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3},
                                  {4, 4, 2, 0}, {5, 3, 1, 1}, {4, 4, 1, 1}};
    double worst = 0;
    for (int a = 1; a <= 2 * l; a++) {
        for (int b = 1; b <= a && a * a + b * b <= 4 * l * l; b++) {
            int shift[2] = {a, b};
            worst = fmax(worst, delta_of_shift(t, eps, shift, 2));
        }
    }
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        int square = 0;
        for (int j = 0; j < 4; j++) {
            square += more[i][j] * more[i][j];
        }
        if (square <= 4 * l * l) {
            worst = fmax(worst, delta_of_shift(t, eps, more[i], 4));
        }
    }
    return worst;
}

/* ---- The sampler that ships, by the tape
 * -------------------------------------
 */

/* p(y | q) of one point, as exact integers and as reals. */
struct point {
    mpz_t weight[2 * ROOM + 1], sum;
    mpfr_t p[2 * ROOM + 1];
};

static struct point *
point_new(const struct line *line, int32_t q)
{
    struct point *point = calloc(1, sizeof *point);
    struct tape *tape = tape_new();
    struct random random;
    assert_true(line->clamp <= ROOM);
    mpz_init(point->sum);
    for (int i = 0; i <= 2 * ROOM; i++) {
        mpz_init(point->weight[i]);
        mpfr_init2(point->p[i], PRECISION);
    }
    do {
        uint8_t wire[8];
        int64_t y;
        tape_random(tape, &random);
        line->instance.channel->sample(&line->instance, &q, &random, wire);
        assert_true(line->instance.channel->valid(&line->instance, wire));
        line->likelihood.likelihood->unpack(&line->likelihood, wire, &y);
        if (!tape_rejected(tape)) {
            mpz_add(point->weight[y + ROOM], point->weight[y + ROOM],
                    tape_numerator(tape));
            mpz_add(point->sum, point->sum, tape_numerator(tape));
        }
    } while (tape_next(tape));
    assert_null(tape_fault(tape));
    for (int i = 0; i <= 2 * ROOM; i++) {
        mpfr_set_z(point->p[i], point->weight[i], MPFR_RNDN);
        mpfr_div_z(point->p[i], point->p[i], point->sum, MPFR_RNDN);
    }
    tape_free(tape);
    return point;
}

static void
point_free(struct point *point)
{
    for (int i = 0; i <= 2 * ROOM; i++) {
        mpz_clear(point->weight[i]);
        mpfr_clear(point->p[i]);
    }
    mpz_clear(point->sum);
    free(point);
}

static double
delta_between(const struct point *a, const struct point *b, double eps)
{
    mpfr_t sum, part, factor;
    double ret;
    mpfr_inits2(PRECISION, sum, part, factor, (mpfr_ptr)NULL);
    mpfr_set_d(factor, eps, MPFR_RNDN);
    mpfr_exp(factor, factor, MPFR_RNDN);
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    for (int i = 0; i <= 2 * ROOM; i++) {
        mpfr_mul(part, b->p[i], factor, MPFR_RNDN);
        mpfr_sub(part, a->p[i], part, MPFR_RNDN);
        if (mpfr_sgn(part) > 0) {
            mpfr_add(sum, sum, part, MPFR_RNDU);
        }
    }
    ret = mpfr_get_d(sum, MPFR_RNDU);
    mpfr_clears(sum, part, factor, (mpfr_ptr)NULL);
    return ret;
}

/* log_p where the sampler's probabilities are good to 2^-60 and more; mean and
   variance. */
static void
check_point(const struct line *line, const struct point *point, int32_t q)
{
    double mean = 0, square = 0, total = 0;
    mpfr_t log_p;
    mpfr_init2(log_p, PRECISION);
    for (int64_t y = -line->clamp; y <= line->clamp; y++) {
        mpfr_srcptr p = point->p[y + ROOM];
        double ours = log_p_at(line, y, q), off = (double)(y - q);
        mean += mpfr_get_d(p, MPFR_RNDN) * off;
        square += mpfr_get_d(p, MPFR_RNDN) * off * off;
        total += exp(ours);
        if (mpfr_cmp_ui_2exp(p, 1, -190) > 0) {
            double truth;
            mpfr_log(log_p, p, MPFR_RNDN);
            truth = mpfr_get_d(log_p, MPFR_RNDN);
            assert_true(fabs(ours - truth) <= 1e-14 * fmax(1, fabs(truth)));
        }
    }
    assert_true(fabs(mean) <= line->likelihood.bias + 1e-14);
    assert_true(fabs(square - line->likelihood.variance_true) <=
                1e-12 * square);
    assert_true(fabs(total - 1) <= 1e-13);
    mpfr_clear(log_p);
}

/* delta(eps) of the sampler over all pairs of points on the line. */
static double
delta_of_sampler(const struct line *line, double eps)
{
    int32_t l = (int32_t)line->instance.l;
    struct point *point[16];
    double worst = 0;
    assert_true(2 * l + 1 <= 16);
    for (int32_t q = -l; q <= l; q++) {
        point[q + l] = point_new(line, q);
        check_point(line, point[q + l], q);
    }
    for (int32_t i = 0; i <= 2 * l; i++) {
        for (int32_t j = 0; j <= 2 * l; j++) {
            worst = fmax(worst, delta_between(point[i], point[j], eps));
        }
    }
    for (int32_t i = 0; i <= 2 * l; i++) {
        point_free(point[i]);
    }
    return worst;
}

/* ---- The continuous Gaussian's calibration ----------------------------------
 */

/* delta(eps) of the continuous one (Balle and Wang 2018, Theorem 8). */
static double
continuous_delta(double sigma, double eps, double s)
{
    double a = s / (2 * sigma), b = eps * sigma / s, root = sqrt(2);
    return (erfc((b - a) / root) - exp(eps) * erfc((a + b) / root)) / 2;
}

/* The least t for which that is at most delta. */
static uint32_t
continuous_t(double eps, double delta, uint32_t l)
{
    uint32_t low = 1, high = 1 << 26;
    while (high - low > 1) {
        uint32_t t = low + (high - low) / 2;
        if (continuous_delta(t / 256.0, eps, 2.0 * l) <= delta) {
            high = t;
        } else {
            low = t;
        }
    }
    return high;
}

/* ---- The table --------------------------------------------------------------
 */

static void
check_setting(uint32_t l, uint64_t eps_units, uint64_t delta_units)
{
    static struct line line;
    double eps = real(eps_units), delta = real(delta_units);
    double exact, tape = 0, space = 0;
    uint32_t other = continuous_t(eps, delta, l);
    bool small;
    assert_int_equal(line_init(&line, l, eps_units, delta_units),
                     SOTTO_STATUS_OK);
    small = line.t <= SMALL * 256 && l <= 3;
    exact = delta_on_line(line.t, eps, l);
    if (small) {
        tape = delta_of_sampler(&line, eps);
        space = delta_in_space(line.t, eps, (int)l);
        assert_true(fabs(tape - exact) <= 1e-12 * exact);
    }
    assert_true(exact <= delta && tape <= delta && space <= delta);
    printf("| %4g | %5g | %4u | %9.3f | %8.2e | %5.3f | %6.3f | ", eps, delta,
           l, line.t / 256.0, exact, exact / delta,
           eps_on_line(line.t, eps, delta, l));
    if (small) {
        printf("%5.3f | tape | ", space / delta);
    } else {
        printf("      | sum  | ");
    }
    printf("%9.3f | %5.3f |\n", other / 256.0,
           delta_on_line(other, eps, l) / delta);
}

static void
test_delta_is_never_above_the_stated_one_invariant_2(void **state)
{
    static const uint64_t eps[] = {DECIMAL_UNIT / 10, DECIMAL_UNIT / 2,
                                   DECIMAL_UNIT,      2 * DECIMAL_UNIT,
                                   4 * DECIMAL_UNIT,  10 * DECIMAL_UNIT};
    static const uint64_t delta[] = {100, 1000000, 1000000000};
    static const uint32_t l[] = {1, 3, 30, 1000};
    (void)state;
    printf("| eps | delta | l | sigma | exact delta | / delta | exact eps | "
           "d 2 to 4 / delta | from | continuous sigma | its delta / delta "
           "|\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof l / sizeof l[0]; i++) {
        for (size_t j = 0; j < sizeof eps / sizeof eps[0]; j++) {
            for (size_t k = 0; k < sizeof delta / sizeof delta[0]; k++) {
                check_setting(l[i], eps[j], delta[k]);
            }
        }
    }
}

static void
test_delta_at_the_ends_of_epsilon_invariant_2(void **state)
{
    static const uint64_t delta[] = {DECIMAL_DELTA_MIN, 12345,
                                     DECIMAL_DELTA_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof delta / sizeof delta[0]; i++) {
        for (uint32_t l = 1; l <= 3; l++) {
            check_setting(l, 20 * DECIMAL_UNIT, delta[i]);
            check_setting(l, DECIMAL_EPS_MAX, delta[i]);
        }
        check_setting(1, DECIMAL_UNIT / 100, delta[i]);
    }
    check_setting(1, DECIMAL_EPS_MIN, DECIMAL_DELTA_MAX);
}

/* ERRATA: at a small sigma the continuous formula promises less delta than
   the discrete noise has: 2.3 times less at sigma = 1/2 and a shift of 1. */
static void
test_the_continuous_formula_does_not_hold(void **state)
{
    static const uint32_t t[] = {90, 128, 192, 256, 384, 512, 1024, 4096};
    (void)state;
    printf("\n| sigma | shift | eps | continuous delta | exact delta | ratio "
           "|\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < 2 * sizeof t / sizeof t[0]; i++) {
        uint32_t at = t[i / 2];
        int s = 1 + (int)(i % 2);
        double sigma = at / 256.0, worst = 0, at_eps = 0;
        mpfr_t all;
        mpfr_init2(all, PRECISION);
        sum_all(at, all);
        for (int j = 1; j <= 3000; j++) {
            double eps = j / 100.0, claim = continuous_delta(sigma, eps, s);
            if (claim >= 1e-4 && delta_at(at, all, eps, s) / claim > worst) {
                worst = delta_at(at, all, eps, s) / claim;
                at_eps = eps;
            }
        }
        printf("| %5g | %d | %5.2f | %8.2e | %8.2e | %5.3f |\n", sigma, s,
               at_eps, continuous_delta(sigma, at_eps, s),
               delta_at(at, all, at_eps, s), worst);
        assert_true(worst > 1);
        if (at == 128 && s == 1) {
            assert_true(worst > 2.3 && worst < 2.4);
        }
        mpfr_clear(all);
    }
}

/* ---- Calibration ------------------------------------------------------------
 */

/* ln delta by the conversion, minimised over a fine grid in long doubles. */
static double
converted(uint32_t t, double eps, double l)
{
    long double rho = 131072 * (long double)l * l / t / t, best = INFINITY;
    for (int i = -4000; i <= 5000; i++) {
        long double gamma = powl(2, i / 400.0L), alpha = 1 + gamma;
        long double value = gamma * (alpha * rho - (long double)eps) -
                            alpha * log1pl(1 / gamma) - logl(gamma);
        best = value < best ? value : best;
    }
    return (double)best;
}

/* Enough, and (but for the grid and the margin) the next smaller is not. */
static void
test_sigma_is_the_least_that_zcdp_allows(void **state)
{
    static const uint64_t eps[] = {DECIMAL_UNIT / 100, DECIMAL_UNIT,
                                   8 * DECIMAL_UNIT, DECIMAL_EPS_MAX};
    static const uint64_t delta[] = {DECIMAL_DELTA_MIN, 1000000,
                                     DECIMAL_DELTA_MAX};
    static struct line line;
    (void)state;
    for (size_t i = 0; i < 12; i++) {
        uint64_t e = eps[i / 3], d = delta[i % 3];
        for (uint32_t l = 1; l <= 100; l *= 10) {
            assert_int_equal(line_init(&line, l, e, d), SOTTO_STATUS_OK);
            assert_true(converted(line.t, real(e), l) <= log(real(d)) + 1e-4);
            assert_true(converted(line.t - 1, real(e), l) > log(real(d)));
        }
    }
}

static void
test_a_sigma_out_of_reach_is_refused(void **state)
{
    static struct line line;
    (void)state;
    assert_int_equal(line_init(&line, 1, DECIMAL_EPS_MIN, DECIMAL_DELTA_MIN),
                     SOTTO_STATUS_LIMIT);
    assert_int_equal(
        line_init(&line, CHANNEL_L_MAX, DECIMAL_UNIT, DECIMAL_DELTA_MIN),
        SOTTO_STATUS_LIMIT);
    assert_int_equal(line_init(&line, 1, DECIMAL_UNIT, 0), SOTTO_STATUS_BUDGET);
    assert_int_equal(line_init(&line, 1, DECIMAL_UNIT, DECIMAL_DELTA_MAX + 1),
                     SOTTO_STATUS_BUDGET);
}

/* ---- Likelihood where sigma is large ----------------------------------------
 */

/* ln P(X >= m). */
static double
real_log_tail(uint32_t t, int64_t m)
{
    mpfr_t tail, all;
    double ret;
    mpfr_inits2(PRECISION, tail, all, (mpfr_ptr)NULL);
    sum_all(t, all);
    sum_from(t, m, tail);
    mpfr_div(tail, tail, all, MPFR_RNDN);
    mpfr_log(tail, tail, MPFR_RNDN);
    ret = mpfr_get_d(tail, MPFR_RNDN);
    mpfr_clears(tail, all, (mpfr_ptr)NULL);
    return ret;
}

static void
test_log_p_at_the_clamp_is_the_tail(void **state)
{
    static const uint64_t eps[] = {DECIMAL_UNIT / 10, DECIMAL_UNIT,
                                   10 * DECIMAL_UNIT, DECIMAL_EPS_MAX};
    static struct line line;
    (void)state;
    for (size_t i = 0; i < 28; i++) {
        static const uint32_t l[] = {1, 2, 5, 20, 100, 1000, 2500};
        uint64_t delta = i % 2 ? 1 : DECIMAL_DELTA_MAX;
        if (line_init(&line, l[i % 7], eps[i / 7], delta) != SOTTO_STATUS_OK) {
            continue;
        }
        for (int side = -1; side <= 1; side++) {
            int32_t q = side * (int32_t)line.instance.l;
            double truth = real_log_tail(line.t, line.clamp - q);
            assert_true(line.clamp - q >= 16 * (int64_t)line.t / 256);
            assert_true(fabs(log_p_at(&line, line.clamp, q) - truth) <=
                        1e-13 * fabs(truth));
            assert_true(fabs(log_p_at(&line, -line.clamp, -q) - truth) <=
                        1e-13 * fabs(truth));
        }
    }
}

static void
test_log_p_sums_to_one(void **state)
{
    static const uint64_t eps[] = {DECIMAL_UNIT / 10, DECIMAL_UNIT,
                                   4 * DECIMAL_UNIT, DECIMAL_EPS_MAX};
    static struct line line;
    (void)state;
    for (size_t i = 0; i < 16; i++) {
        static const uint32_t l[] = {1, 2, 17, 100};
        int32_t q = (int32_t)l[i / 4];
        double total = 0, square = 0;
        assert_int_equal(line_init(&line, l[i / 4], eps[i % 4], 1000000),
                         SOTTO_STATUS_OK);
        for (int64_t y = -line.clamp; y <= line.clamp; y++) {
            double p = exp(log_p_at(&line, y, q));
            total += p;
            square += p * (double)(y - q) * (double)(y - q);
        }
        assert_true(fabs(total - 1) <= 1e-11);
        assert_true(fabs(square / line.likelihood.variance_true - 1) <= 1e-11);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delta_is_never_above_the_stated_one_invariant_2),
        cmocka_unit_test(test_delta_at_the_ends_of_epsilon_invariant_2),
        cmocka_unit_test(test_the_continuous_formula_does_not_hold),
        cmocka_unit_test(test_sigma_is_the_least_that_zcdp_allows),
        cmocka_unit_test(test_a_sigma_out_of_reach_is_refused),
        cmocka_unit_test(test_log_p_at_the_clamp_is_the_tail),
        cmocka_unit_test(test_log_p_sums_to_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
