/*
 * test_dlaplace.c: the discrete Laplace sampler's tables, and what they imply.
 *
 * That rounding stays on the safe side (invariant 2). Write lambda =
 * epsilon / 2l, and P for the realised distribution: that of the tables as
 * they are, 256-bit integers. For x >= 1 with base-32 digits g_j of x - 1,
 *
 *     P(x) = P(-x) = S_2 D_0(g_0) D_1(g_1) ... D_top(g_top),    P(0) = 1 - 2
 * S_2
 *
 * where D_j(i) = S_i - S_(i+1) in table j. If for all x from 0 to horizon - 1
 *
 *     (L)   |ln P(x) - ln P(x+1)| <= lambda
 *     (T)   P(horizon) <= (e^lambda - 1) P(X > horizon)
 *
 * then epsilon-LDP holds for every dimension d. Proof. Let a = e^-lambda and
 * T(m) = P(X >= m). For m <= horizon, by (L) and (T),
 *
 *     T(m+1) >= P(m) (a + a^2 + ... + a^(h-m)) + P(m) a^(h-m) / (e^lambda - 1)
 *             = P(m) / (e^lambda - 1),
 *
 * hence 1 <= T(m) / T(m+1) = 1 + P(m) / T(m+1) <= e^lambda. One coordinate of
 * a report has probability P(y - q) inside the clamp and T(c - q) or T(c + q)
 * at it, with arguments at most horizon, so its logarithm moves by at most
 * lambda when q moves by one: by lambda |q - q'|_1 <= 2 l lambda = epsilon over
 * all coordinates, since they are drawn independently.
 *
 * Why (L) and (T) hold. Without rounding, (L) would hold with lambda 2^-60 to
 * spare, at least 2^-101, and (T) with a factor of at least 1 + 2^-60. Every S
 * is within 2^-254 of its real value, so every D within 2^-253. The tables end
 * at need = ceil(32 t) + 2l <= 64 t + 1, and horizon = need if there is one
 * digit, horizon < 2 need and t >= 1/2 if there are more. So every D is above
 * e^-66 / 64 > 2^-102, and P(X > horizon) / 2 S_2 above e^-132 > 2^-191. The
 * 22 logarithms that (L) can change are off by less than 22 2^-253 / 2^-102 <
 * 2^-146 together, and both sides of (T) by less than 2^-62 relatively. The
 * checks below do not rest on these estimates: they take the tables as they
 * are.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gmp.h>
#include <mpfr.h>

#include "base/decimal.h"
#include "channel/channel.h"
#include "random/dlaplace.h"
#include "random/seeded.h"

#define PRECISION 512
#define GROUPS_MAX 10u
#define DIGITS (DLAPLACE_RADIX + 1) /* values a digit can have, at most */

/* The realised logarithms of one noise, from its tables. */
struct realised {
    struct dlaplace noise;
    mpfr_t lambda;                    /* epsilon / 2l, rounded down */
    mpfr_t zero, side;                /* ln P(0), ln S_2 */
    mpfr_t digit[GROUPS_MAX][DIGITS]; /* ln D_j(i) */
    mpfr_t here, there, step;
};

/* ---- The tables as exact numbers ------------------------------------------
 */

/* S_i of the table at `first`, times 2^256; S_0 = 1. */
static void
exact_threshold(const struct dlaplace *noise, uint32_t first, uint32_t i,
                mpz_t ret)
{
    const struct draw_threshold *t;
    mpz_set_ui(ret, 1);
    mpz_mul_2exp(ret, ret, 256);
    if (i == 0) {
        return;
    }
    t = &noise->threshold[first + i - 1];
    mpz_set_ui(ret, t->high);
    mpz_mul_2exp(ret, ret, 8);
    mpz_add_ui(ret, ret, t->low[6]);
    for (int j = 5; j >= 0; j--) {
        mpz_mul_2exp(ret, ret, 32);
        mpz_add_ui(ret, ret, t->low[j]);
    }
}

/* ln of value / 2^256, which must be above zero: else epsilon is infinite. */
static void
log_weight(mpz_srcptr value, mpfr_t ret)
{
    assert_true(mpz_sgn(value) > 0);
    mpfr_set_z(ret, value, MPFR_RNDN);
    mpfr_div_2ui(ret, ret, 256, MPFR_RNDN);
    mpfr_log(ret, ret, MPFR_RNDN);
}

/* Values digit j has: the top one also has `top`, for beyond the horizon. */
static uint32_t
digit_values(const struct dlaplace *noise, uint32_t j)
{
    return j + 1 < noise->groups ? DLAPLACE_RADIX : noise->top + 1;
}

static uint32_t
table_first(uint32_t j)
{
    return DRAW_SMALL + DRAW_FULL * j;
}

static void
realise_digit(struct realised *realised, uint32_t j)
{
    uint32_t values = digit_values(&realised->noise, j);
    mpz_t high, low;
    mpz_inits(high, low, NULL);
    for (uint32_t i = 0; i < values; i++) {
        exact_threshold(&realised->noise, table_first(j), i, high);
        if (i + 1 < values) {
            exact_threshold(&realised->noise, table_first(j), i + 1, low);
            mpz_sub(high, high, low);
        }
        log_weight(high, realised->digit[j][i]);
    }
    for (uint32_t i = values; i <= DRAW_FULL; i++) { /* padding */
        exact_threshold(&realised->noise, table_first(j), i, low);
        assert_int_equal(mpz_sgn(low), 0);
    }
    mpz_clears(high, low, NULL);
}

/* Also: plus and minus weigh exactly the same, S_1 = 2 S_2. */
static void
realise_sign(struct realised *realised)
{
    mpz_t any, minus;
    mpz_inits(any, minus, NULL);
    exact_threshold(&realised->noise, 0, 1, any);
    exact_threshold(&realised->noise, 0, 2, minus);
    log_weight(minus, realised->side);
    mpz_mul_ui(minus, minus, 2);
    assert_int_equal(mpz_cmp(any, minus), 0);
    exact_threshold(&realised->noise, 0, 0, minus);
    mpz_sub(any, minus, any);
    log_weight(any, realised->zero);
    exact_threshold(&realised->noise, 0, 3, any);
    assert_int_equal(mpz_sgn(any), 0);
    mpz_clears(any, minus, NULL);
}

static struct realised *
realised_new(uint32_t l, uint64_t eps)
{
    struct realised *realised = calloc(1, sizeof *realised);
    assert_non_null(realised);
    dlaplace_init(&realised->noise, l, eps);
    assert_in_range(realised->noise.groups, 1, GROUPS_MAX);
    mpfr_inits2(PRECISION, realised->lambda, realised->zero, realised->side,
                realised->here, realised->there, realised->step,
                (mpfr_ptr)NULL);
    for (uint32_t i = 0; i < GROUPS_MAX * DIGITS; i++) {
        mpfr_init2(realised->digit[i / DIGITS][i % DIGITS], PRECISION);
    }
    mpfr_set_ui(realised->lambda, eps, MPFR_RNDD);
    mpfr_div_ui(realised->lambda, realised->lambda, 2 * l * DECIMAL_UNIT,
                MPFR_RNDD);
    realise_sign(realised);
    for (uint32_t j = 0; j < realised->noise.groups; j++) {
        realise_digit(realised, j);
    }
    return realised;
}

static void
realised_free(struct realised *realised)
{
    mpfr_clears(realised->lambda, realised->zero, realised->side,
                realised->here, realised->there, realised->step,
                (mpfr_ptr)NULL);
    for (uint32_t i = 0; i < GROUPS_MAX * DIGITS; i++) {
        mpfr_clear(realised->digit[i / DIGITS][i % DIGITS]);
    }
    free(realised);
}

/* ---- (L) and (T) -----------------------------------------------------------
 */

/* ln P(x), 0 <= x <= horizon, digit by digit. */
static void
log_probability(const struct realised *realised, uint64_t x, mpfr_t ret)
{
    uint64_t rest = x - 1;
    if (x == 0) {
        mpfr_set(ret, realised->zero, MPFR_RNDN);
        return;
    }
    mpfr_set(ret, realised->side, MPFR_RNDN);
    for (uint32_t j = 0; j < realised->noise.groups; j++) {
        uint64_t digit = rest;
        if (j + 1 < realised->noise.groups) {
            digit = rest % DLAPLACE_RADIX;
            rest /= DLAPLACE_RADIX;
        }
        assert_true(digit < digit_values(&realised->noise, j));
        mpfr_add(ret, ret, realised->digit[j][digit], MPFR_RNDN);
    }
}

/* (L) at x, with an allowance for MPFR's own rounding; and no more is given
   away than the 2^-59 that channel.h tells of. */
static void
check_lipschitz(struct realised *realised, uint64_t x)
{
    log_probability(realised, x, realised->here);
    log_probability(realised, x + 1, realised->there);
    mpfr_sub(realised->step, realised->here, realised->there, MPFR_RNDN);
    mpfr_abs(realised->step, realised->step, MPFR_RNDN);
    mpfr_set_ui_2exp(realised->here, 1, -480, MPFR_RNDN);
    mpfr_add(realised->step, realised->step, realised->here, MPFR_RNDU);
    assert_true(mpfr_cmp(realised->step, realised->lambda) <= 0);
    mpfr_mul_2si(realised->here, realised->lambda, -59, MPFR_RNDN);
    mpfr_sub(realised->here, realised->lambda, realised->here, MPFR_RNDN);
    assert_true(mpfr_cmp(realised->step, realised->here) >= 0);
}

/* (L) around x, as far as there are points. */
static void
check_around(struct realised *realised, uint64_t x)
{
    uint64_t from = x < 3 ? 0 : x - 3;
    for (uint64_t i = from; i <= x + 3 && i < realised->noise.horizon; i++) {
        check_lipschitz(realised, i);
    }
}

/* Every carry: around multiples i 32^j, near zero and near the horizon. */
static void
check_carries(struct realised *realised)
{
    uint64_t horizon = realised->noise.horizon;
    for (uint64_t unit = 1; unit < horizon; unit *= DLAPLACE_RADIX) {
        for (uint64_t i = 0; i <= DLAPLACE_RADIX; i++) {
            check_around(realised, i * unit);
            if (i * unit < horizon) {
                check_around(realised, horizon - i * unit);
            }
        }
    }
}

static void
check_random(struct realised *realised, struct seeded *seeded, int times)
{
    for (int i = 0; i < times; i++) {
        uint64_t x = random_u56(&seeded->random) % realised->noise.horizon;
        check_lipschitz(realised, x);
    }
}

static void
check_overflow(struct realised *realised)
{
    const struct dlaplace *noise = &realised->noise;
    log_probability(realised, noise->horizon, realised->here);
    mpfr_add(realised->there, realised->side,
             realised->digit[noise->groups - 1][noise->top], MPFR_RNDD);
    mpfr_sub(realised->step, realised->here, realised->there, MPFR_RNDU);
    mpfr_exp(realised->step, realised->step, MPFR_RNDU);
    mpfr_expm1(realised->here, realised->lambda, MPFR_RNDD);
    assert_true(mpfr_cmp(realised->step, realised->here) <= 0);
}

/* horizon >= 32 t + 2l, so noise beyond it is rarer than e^-32. */
static void
check_horizon(const struct realised *realised, uint32_t l, uint64_t eps)
{
    mpz_t left, right;
    mpz_init_set_ui(left, realised->noise.horizon - 2 * (uint64_t)l);
    mpz_init_set_ui(right, 2 * (uint64_t)l * DECIMAL_UNIT);
    mpz_mul_ui(left, left, eps);
    mpz_mul_ui(right, right, 32);
    assert_true(mpz_cmp(left, right) >= 0);
    mpz_clears(left, right, NULL);
}

static void
check_safe(uint32_t l, uint64_t eps, struct seeded *seeded)
{
    struct realised *realised = realised_new(l, eps);
    check_horizon(realised, l, eps);
    check_carries(realised);
    check_random(realised, seeded, 200);
    check_overflow(realised);
    realised_free(realised);
}

static const uint64_t epsilons[] = {DECIMAL_EPS_MIN, DECIMAL_UNIT / 10,
                                    DECIMAL_UNIT, 10 * DECIMAL_UNIT,
                                    DECIMAL_EPS_MAX};
static const uint32_t radii[] = {1, UINT32_C(1) << 10, CHANNEL_L_MAX};
#define EPSILONS (sizeof epsilons / sizeof epsilons[0])
#define RADII (sizeof radii / sizeof radii[0])

static void
test_rounding_is_safe_invariant_2(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 4, 0);
    for (size_t i = 0; i < EPSILONS; i++) {
        for (size_t j = 0; j < RADII; j++) {
            check_safe(radii[j], epsilons[i], &seeded);
        }
    }
}

/* Where t is small and digits are improbable; every x is visited here. */
static void
test_rounding_is_safe_for_large_epsilon_invariant_2(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 5, 0);
    for (uint32_t l = 1; l <= 20; l++) {
        check_safe(l, 32 * DECIMAL_UNIT, &seeded);
        check_safe(l, 17 * DECIMAL_UNIT, &seeded);
        check_safe(l, 10 * DECIMAL_UNIT, &seeded);
        check_safe(l, 5 * DECIMAL_UNIT, &seeded);
    }
}

/*
 * Where the horizon is furthest beyond need, twice as far: need just above
 * 32^j. At epsilon 32 need is 4l, so l just above 32^j / 4.
 */
static void
test_rounding_is_safe_where_the_horizon_is_far_invariant_2(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 6, 0);
    for (uint32_t power = 32; power / 4 < CHANNEL_L_MAX; power *= 32) {
        for (uint32_t more = 0; more <= 2; more++) {
            check_safe(power / 4 + more, DECIMAL_EPS_MAX, &seeded);
            check_safe(power / 4 + more, DECIMAL_EPS_MAX - 1, &seeded);
        }
    }
}

static void
test_rounding_is_safe_for_random_parameters_invariant_2(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 7, 0);
    for (int i = 0; i < 60; i++) {
        uint32_t l =
            1 + random_u32(&seeded.random) % (CHANNEL_L_MAX >> (i % 20));
        uint64_t eps = DECIMAL_EPS_MIN +
                       random_u56(&seeded.random) %
                           ((DECIMAL_EPS_MAX >> (i % 24)) - DECIMAL_EPS_MIN);
        check_safe(l, eps, &seeded);
    }
}

/* ---- The tables against their definition -----------------------------------
 */

/* S_i of digit j: (R^i - R^32) / (1 - R^32), or R^i for the top digit. */
static void
real_threshold(const struct realised *realised, mpfr_srcptr rate, uint32_t j,
               uint32_t i, mpfr_t ret)
{
    mpfr_t last;
    mpfr_init2(last, PRECISION);
    mpfr_mul_2ui(last, rate, 5 * (unsigned long)j, MPFR_RNDN);
    mpfr_mul_si(ret, last, -(long)i, MPFR_RNDN);
    mpfr_mul_si(last, last, -(long)DLAPLACE_RADIX, MPFR_RNDN);
    if (j + 1 < realised->noise.groups) {
        mpfr_expm1(ret, ret, MPFR_RNDN);
        mpfr_expm1(last, last, MPFR_RNDN);
        mpfr_sub(ret, last, ret, MPFR_RNDN);
        mpfr_div(ret, ret, last, MPFR_RNDN);
    } else {
        mpfr_exp(ret, ret, MPFR_RNDN);
    }
    mpfr_clear(last);
}

static void
check_near(const struct dlaplace *noise, uint32_t first, uint32_t i,
           mpfr_t truth)
{
    mpz_t value;
    mpfr_t error;
    mpz_init(value);
    mpfr_init2(error, PRECISION);
    exact_threshold(noise, first, i, value);
    mpfr_set_z(error, value, MPFR_RNDN);
    mpfr_div_2ui(error, error, 256, MPFR_RNDN);
    mpfr_sub(error, error, truth, MPFR_RNDN);
    mpfr_abs(error, error, MPFR_RNDN);
    assert_true(mpfr_cmp_ui_2exp(error, 1, -254) < 0);
    mpfr_clear(error);
    mpz_clear(value);
}

static void
check_tables(uint32_t l, uint64_t eps)
{
    struct realised *realised = realised_new(l, eps);
    mpfr_t rate, truth;
    mpfr_inits2(PRECISION, rate, truth, (mpfr_ptr)NULL);
    mpfr_set_ui_2exp(rate, 1, -60, MPFR_RNDN);
    mpfr_ui_sub(rate, 1, rate, MPFR_RNDN);
    mpfr_mul(rate, rate, realised->lambda, MPFR_RNDN);
    mpfr_exp(truth, rate, MPFR_RNDN); /* r/(1+r) = 1/(1 + 1/r) */
    mpfr_add_ui(truth, truth, 1, MPFR_RNDN);
    mpfr_ui_div(truth, 1, truth, MPFR_RNDN);
    check_near(&realised->noise, 0, 2, truth);
    for (uint32_t j = 0; j < realised->noise.groups; j++) {
        uint32_t values = digit_values(&realised->noise, j);
        for (uint32_t i = 1; i < values; i++) {
            real_threshold(realised, rate, j, i, truth);
            check_near(&realised->noise, table_first(j), i, truth);
        }
    }
    mpfr_clears(rate, truth, (mpfr_ptr)NULL);
    realised_free(realised);
}

static void
test_thresholds_are_within_2_to_the_minus_254(void **state)
{
    (void)state;
    for (size_t i = 0; i < EPSILONS; i++) {
        for (size_t j = 0; j < RADII; j++) {
            check_tables(radii[j], epsilons[i]);
        }
    }
}

/* ---- The sampler ------------------------------------------------------------
 */

static int
fill_with(void *context, void *buffer, size_t size)
{
    memset(buffer, *(const int *)context, size);
    return 0;
}

/* A uniform of all zeros lies below every threshold: minus, beyond the horizon;
   one of all ones above every threshold: zero. */
static void
test_extremes_and_bytes(void **state)
{
    struct dlaplace noise;
    struct draw_tables tables;
    struct random random;
    uint8_t buffer[1024];
    (void)state;
    for (int byte = 0; byte <= 0xff; byte += 0xff) {
        size_t before;
        dlaplace_init(&noise, 1000, DECIMAL_UNIT);
        random_init(&random, buffer, sizeof buffer, fill_with, &byte);
        draw_tables(&random, noise.threshold, noise.count, &tables);
        before = random.next;
        assert_true(dlaplace_draw(&noise, &random, &tables) ==
                    (byte == 0 ? -(int64_t)noise.horizon - 1 : 0));
        if (byte != 0) {
            assert_int_equal(random.next - before, dlaplace_draw_size(&noise));
        }
    }
}

/*
 * Chi-square at t = 1000 (l = 500, epsilon 1), 400,000 samples of the seeded
 * generator in 64 cells of |x| that are equally probable but for rounding, and
 * the sign. 127 degrees of freedom; alpha = 1e-6: the bound is 213.
 */
#define CELLS 64u
#define SAMPLES 400000u

/* Where a cell of |x| - 1 ends; the last has no end. */
static double
cell_end(uint32_t cell)
{
    return cell + 1 < CELLS ? round(-1000 * log(1 - (cell + 1.0) / CELLS))
                            : INFINITY;
}

/* P(|X| - 1 in the cell, X > 0) = r/(1+r) (r^from - r^end). */
static double
cell_probability(uint32_t cell)
{
    double from = cell == 0 ? 0 : cell_end(cell - 1);
    return (exp(-from / 1000) - exp(-cell_end(cell) / 1000)) / (1 + exp(1e-3));
}

static uint32_t
cell_of(const double end[CELLS], int64_t x)
{
    double magnitude = (double)(x < 0 ? -x : x) - 1;
    uint32_t cell = 0;
    while (magnitude >= end[cell]) {
        cell++;
    }
    return 2 * cell + (x < 0);
}

static void
test_samples_follow_the_distribution(void **state)
{
    struct dlaplace noise;
    struct draw_tables tables;
    struct seeded seeded;
    double end[CELLS];
    uint32_t count[2 * CELLS] = {0};
    double chi = 0, left = SAMPLES;
    (void)state;
    dlaplace_init(&noise, 500, DECIMAL_UNIT);
    seeded_init(&seeded, 8, 0);
    for (uint32_t i = 0; i < CELLS; i++) {
        end[i] = cell_end(i);
    }
    for (uint32_t i = 0; i < SAMPLES; i++) {
        int64_t x;
        if (i % DRAW_BATCH == 0) {
            draw_tables(&seeded.random, noise.threshold, noise.count, &tables);
        }
        x = dlaplace_draw(&noise, &seeded.random, &tables);
        if (x != 0) {
            count[cell_of(end, x)]++;
            left -= 1;
        }
    }
    for (uint32_t i = 0; i < 2 * CELLS; i++) {
        double expected = SAMPLES * cell_probability(i / 2);
        double off = count[i] - expected;
        chi += off * off / expected;
    }
    assert_true(chi < 213);
    assert_true(left > 100 && left < 320); /* zeros: 200 +- 14, 8.5 sigma */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounding_is_safe_invariant_2),
        cmocka_unit_test(test_rounding_is_safe_for_large_epsilon_invariant_2),
        cmocka_unit_test(
            test_rounding_is_safe_where_the_horizon_is_far_invariant_2),
        cmocka_unit_test(
            test_rounding_is_safe_for_random_parameters_invariant_2),
        cmocka_unit_test(test_thresholds_are_within_2_to_the_minus_254),
        cmocka_unit_test(test_extremes_and_bytes),
        cmocka_unit_test(test_samples_follow_the_distribution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
