/*
 * test_dgauss.c: the discrete Gaussian: every table against MPFR, the exact
 * distribution of the sampler by the tape, how often it accepts, how many
 * attempts are enough, and statistics where sigma is large.
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

#include "privacy/tape.h"
#include "random/dgauss.h"
#include "random/seeded.h"
#include "random/threshold.h"

#define PRECISION 640
#define REACH 512 /* |x| that enumeration meets */

/* Sets up a noise that reaches 16 sigma and a little more. */
static void
set_up(struct dgauss *noise, uint32_t t)
{
    memset(noise, 0x5a, sizeof *noise);
    dgauss_init(noise, t, t / 16 + 4);
}

/* e^(-w 32^digit / 2t^2) */
static void
real_power(uint32_t t, uint64_t w, uint32_t digit, mpfr_t ret)
{
    mpfr_set_ui(ret, w, MPFR_RNDN);
    mpfr_mul_2ui(ret, ret, 5 * digit, MPFR_RNDN);
    mpfr_div_ui(ret, ret, t, MPFR_RNDN);
    mpfr_div_ui(ret, ret, t, MPFR_RNDN);
    mpfr_div_ui(ret, ret, 2, MPFR_RNDN);
    mpfr_neg(ret, ret, MPFR_RNDN);
    mpfr_exp(ret, ret, MPFR_RNDN);
}

/* e^(-x^2 / 2 sigma^2) */
static void
real_weight(uint32_t t, int64_t x, mpfr_t ret)
{
    uint64_t y = (uint64_t)llabs(x) * DGAUSS_UNIT;
    real_power(t, y * y, 0, ret);
}

/* Sum of the weights over |x| <= reach. */
static void
real_sum(uint32_t t, int64_t reach, mpfr_t ret)
{
    mpfr_t weight;
    mpfr_init2(weight, PRECISION);
    mpfr_set_ui(ret, 0, MPFR_RNDN);
    for (int64_t x = -reach; x <= reach; x++) {
        real_weight(t, x, weight);
        mpfr_add(ret, ret, weight, MPFR_RNDN);
    }
    mpfr_clear(weight);
}

/* ---- Tables ----------------------------------------------------------------
 */

static const uint32_t some_t[] = {
    64,   65,   90,    127,    128,     256,           300,    511,
    1000, 4096, 65536, 999999, 1 << 24, (1 << 26) - 1, 1 << 26};
#define SOME_T (sizeof some_t / sizeof some_t[0])

static void
threshold_real(const struct draw_threshold *threshold, mpfr_t ret)
{
    mpfr_set_ui(ret, threshold->high, MPFR_RNDN);
    for (int i = 6; i >= 0; i--) {
        mpfr_mul_2ui(ret, ret, i == 6 ? 8 : 32, MPFR_RNDN);
        mpfr_add_ui(ret, ret, threshold->low[i], MPFR_RNDN);
    }
    mpfr_div_2ui(ret, ret, 256, MPFR_RNDN);
}

static void
test_thresholds_are_within_2_to_the_minus_249(void **state)
{
    static struct dgauss noise;
    mpfr_t ours, truth;
    (void)state;
    mpfr_inits2(PRECISION, ours, truth, (mpfr_ptr)NULL);
    for (size_t n = 0; n < SOME_T; n++) {
        set_up(&noise, some_t[n]);
        for (uint32_t i = 0; i < noise.digits * DRAW_FULL; i++) {
            uint32_t digit = i % DRAW_FULL + 1;
            if (digit == DRAW_FULL) {
                continue; /* no digit has this value */
            }
            threshold_real(&noise.threshold[i], ours);
            real_power(noise.t, digit, i / DRAW_FULL, truth);
            mpfr_sub(ours, ours, truth, MPFR_RNDN);
            mpfr_abs(ours, ours, MPFR_RNDN);
            assert_true(mpfr_cmp_ui_2exp(ours, 1, -249) < 0);
        }
    }
    mpfr_clears(ours, truth, (mpfr_ptr)NULL);
}

/* The largest square that an attempt can look at has no digit left over. */
static void
test_digits_hold_every_square(void **state)
{
    static struct dgauss noise;
    (void)state;
    for (size_t n = 0; n < SOME_T; n++) {
        uint64_t root;
        dgauss_init(&noise, some_t[n], 24 * (uint64_t)some_t[n] / 256 + 4);
        root = DGAUSS_UNIT * (noise.noise.horizon + 1);
        assert_true(root < UINT64_C(1) << 32);
        assert_in_range(noise.digits, 1, DGAUSS_DIGITS_MAX);
        assert_true(noise.digits == DGAUSS_DIGITS_MAX ||
                    root * root >> (5 * noise.digits) == 0);
    }
    dgauss_init(&noise, DGAUSS_T_MAX, DGAUSS_NEED_MAX);
    assert_true(noise.noise.horizon < (UINT64_C(1) << 24) - 1);
}

/* ---- The exact distribution -------------------------------------------------
 */

/* Weights of accepted samples, out of the tape's denominator. */
struct exact {
    mpz_t weight[2 * REACH + 1], denominator;
    uint64_t branches, shape;
};

static void
enumerate(const struct dgauss *noise, struct exact *exact)
{
    struct tape *tape = tape_new();
    struct random random;
    do {
        int64_t x[2];
        tape_random(tape, &random);
        dgauss_draw(noise, &random, 1, dgauss_tries(noise, 1), x);
        if (exact->branches++ == 0) {
            mpz_set(exact->denominator, tape_denominator(tape));
            exact->shape = tape_shape(tape);
        }
        assert_int_equal(mpz_cmp(exact->denominator, tape_denominator(tape)),
                         0);
        assert_true(exact->shape == tape_shape(tape)); /* invariant 7 */
        if (!tape_rejected(tape)) {
            assert_true(llabs(x[0]) <= (int64_t)noise->noise.horizon);
            mpz_add(exact->weight[x[0] + REACH], exact->weight[x[0] + REACH],
                    tape_numerator(tape));
        }
    } while (tape_next(tape));
    assert_null(tape_fault(tape));
    tape_free(tape);
}

static struct exact *
exact_new(const struct dgauss *noise)
{
    struct exact *exact = calloc(1, sizeof *exact);
    assert_non_null(exact);
    assert_true(noise->noise.horizon <= REACH);
    mpz_init(exact->denominator);
    for (int i = 0; i <= 2 * REACH; i++) {
        mpz_init(exact->weight[i]);
    }
    enumerate(noise, exact);
    return exact;
}

static void
exact_free(struct exact *exact)
{
    for (int i = 0; i <= 2 * REACH; i++) {
        mpz_clear(exact->weight[i]);
    }
    mpz_clear(exact->denominator);
    free(exact);
}

static void
exact_sum(const struct exact *exact, mpfr_t ret)
{
    mpz_t sum;
    mpz_init(sum);
    for (int i = 0; i <= 2 * REACH; i++) {
        mpz_add(sum, sum, exact->weight[i]);
    }
    mpfr_set_z(ret, sum, MPFR_RNDN);
    mpz_clear(sum);
}

/* Sum over x of |p(x) - P(x)| / 2, P the discrete Gaussian. */
static void
total_variation(const struct exact *exact, uint32_t t, mpfr_t ret)
{
    mpfr_t ours, truth, sum, real;
    mpfr_inits2(PRECISION, ours, truth, sum, real, (mpfr_ptr)NULL);
    exact_sum(exact, sum);
    real_sum(t, REACH, real);
    mpfr_set_ui(ret, 0, MPFR_RNDN);
    for (int64_t x = -REACH; x <= REACH; x++) {
        mpfr_set_z(ours, exact->weight[x + REACH], MPFR_RNDN);
        mpfr_div(ours, ours, sum, MPFR_RNDN);
        real_weight(t, x, truth);
        mpfr_div(truth, truth, real, MPFR_RNDN);
        mpfr_sub(ours, ours, truth, MPFR_RNDN);
        mpfr_abs(ours, ours, MPFR_RNDN);
        mpfr_add(ret, ret, ours, MPFR_RNDN);
    }
    mpfr_div_2ui(ret, ret, 1, MPFR_RNDN);
    mpfr_clears(ours, truth, sum, real, (mpfr_ptr)NULL);
}

/*
 * Fair signs, exactly; total variation below 2^-182; accepted at least as
 * often as claimed.
 */
static void
test_the_sampler_is_exact(void **state)
{
    static const uint32_t small[] = {64, 80, 90, 128, 200, 256, 400, 777, 2048};
    static struct dgauss noise;
    mpfr_t x, whole;
    (void)state;
    mpfr_inits2(PRECISION, x, whole, (mpfr_ptr)NULL);
    for (size_t n = 0; n < sizeof small / sizeof small[0]; n++) {
        struct exact *exact;
        set_up(&noise, small[n]);
        exact = exact_new(&noise);
        for (int i = 0; i < REACH; i++) {
            assert_int_equal(
                mpz_cmp(exact->weight[i], exact->weight[2 * REACH - i]), 0);
        }
        total_variation(exact, small[n], x);
        mpfr_printf("t %4u: %lu branches, total variation %.2Re\n", small[n],
                    (unsigned long)exact->branches, x);
        assert_true(mpfr_cmp_ui_2exp(x, 1, -182) < 0);
        exact_sum(exact, x);
        mpfr_set_z(whole, exact->denominator, MPFR_RNDN);
        mpfr_div(x, x, whole, MPFR_RNDN);
        assert_true(mpfr_cmp_d(x, noise.accepted) >= 0);
        assert_true(mpfr_cmp_d(x, noise.accepted * 1.03) <= 0);
        exact_free(exact);
    }
    mpfr_clears(x, whole, (mpfr_ptr)NULL);
}

/* Two at once are two independent ones. */
static void
test_samples_of_a_run_are_independent(void **state)
{
    static struct dgauss noise;
    static mpz_t joint[16][16];
    struct tape *tape = tape_new();
    struct random random;
    mpz_t left, right;
    (void)state;
    dgauss_init(&noise, 64, 3);
    assert_true(noise.noise.horizon <= 7);
    mpz_inits(left, right, NULL);
    for (int i = 0; i < 256; i++) {
        mpz_init(joint[i / 16][i % 16]);
    }
    do {
        int64_t x[3];
        tape_random(tape, &random);
        dgauss_draw(&noise, &random, 2, 2, x);
        if (!tape_rejected(tape)) {
            mpz_ptr at = joint[x[0] + 7][x[1] + 7];
            mpz_add(at, at, tape_numerator(tape));
        }
    } while (tape_next(tape));
    for (int i = 0; i < 256; i++) { /* rank one, and not zero */
        mpz_mul(left, joint[i / 16][i % 16], joint[7][7]);
        mpz_mul(right, joint[i / 16][7], joint[7][i % 16]);
        assert_int_equal(mpz_cmp(left, right), 0);
    }
    assert_true(mpz_sgn(joint[7][7]) > 0);
    for (int i = 0; i < 256; i++) {
        mpz_clear(joint[i / 16][i % 16]);
    }
    mpz_clears(left, right, NULL);
    tape_free(tape);
}

/* ---- Attempts ---------------------------------------------------------------
 */

/* (1-r)/(1+r) e^(-1/2) Z. */
static double
real_accepted(uint32_t t)
{
    double sigma = t / 256.0, z = 1;
    for (int x = 1; x < 40 && sigma < 3; x++) {
        z += 2 * exp(-x * x / (2 * sigma * sigma));
    }
    if (sigma >= 3) {
        z = sigma * sqrt(2 * M_PI);
    }
    return tanh(1 / (2 * sigma)) * exp(-0.5) * z;
}

static void
test_acceptance_is_never_below_what_is_claimed(void **state)
{
    static struct dgauss noise;
    double least = 1;
    (void)state;
    for (uint32_t t = DGAUSS_T_MIN; t <= DGAUSS_T_MAX;
         t += 1 + (t > 512 ? t / 16 : 0)) {
        double real = real_accepted(t);
        set_up(&noise, t);
        assert_true(noise.accepted <= real * (1 - 1e-7));
        assert_true(noise.accepted >= real * 0.97);
        assert_true(noise.accepted > 0.557);
        least = fmin(least, real);
    }
    assert_true(least > 0.557 && least < 0.5601);
}

/* P(fewer than `count` of n are accepted), as a power of two. */
static double
log2_shortfall(uint32_t count, uint32_t n, double p)
{
    mpfr_t term, sum, odds;
    double ret;
    mpfr_inits2(256, term, sum, odds, (mpfr_ptr)NULL);
    mpfr_set_d(odds, 1 - p, MPFR_RNDN);
    mpfr_pow_ui(term, odds, n, MPFR_RNDN);
    mpfr_d_div(odds, p, odds, MPFR_RNDN);
    mpfr_set(sum, term, MPFR_RNDN);
    for (uint32_t i = 1; i < count; i++) {
        mpfr_mul(term, term, odds, MPFR_RNDN);
        mpfr_mul_ui(term, term, n - i + 1, MPFR_RNDN);
        mpfr_div_ui(term, term, i, MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
    }
    mpfr_log2(sum, sum, MPFR_RNDN);
    ret = mpfr_get_d(sum, MPFR_RNDU);
    mpfr_clears(term, sum, odds, (mpfr_ptr)NULL);
    return ret;
}

/* Below 2^-82 for every size of run, and not far below. */
static void
test_tries_are_enough_invariant_7(void **state)
{
    static const uint32_t t[] = {64, 90, 128, 256, 4096, DGAUSS_T_MAX};
    static struct dgauss noise;
    (void)state;
    for (size_t n = 0; n < sizeof t / sizeof t[0]; n++) {
        set_up(&noise, t[n]);
        for (uint32_t count = 1; count <= DGAUSS_RUN_MAX; count++) {
            double log2_p = log2_shortfall(count, dgauss_tries(&noise, count),
                                           noise.accepted);
            assert_true(log2_p < -82);
            assert_true(log2_p > -89);
        }
    }
}

/* ---- The sampler ------------------------------------------------------------
 */

static void
test_known_answers(void **state)
{
    static const int64_t known[2][8] = {
        {0, 4, 0, 0, -3, 1, 2, 0},
        {3598, -1185, 2917, -4858, -2088, -5346, 1149, -7119}};
    static const uint32_t t[2] = {512, 1 << 20};
    static struct dgauss noise;
    (void)state;
    for (int n = 0; n < 2; n++) {
        struct seeded seeded;
        int64_t x[9];
        seeded_init(&seeded, 30, 0);
        set_up(&noise, t[n]);
        dgauss_draw(&noise, &seeded.random, 8, dgauss_tries(&noise, 8), x);
        assert_false(seeded.random.failed);
        for (int i = 0; i < 8; i++) {
            assert_int_equal(x[i], known[n][i]);
        }
    }
}

static int
fill_with(void *context, void *buffer, size_t size)
{
    memset(buffer, *(const int *)context, size);
    return 0;
}

/* All zeros pass every coin, but lie beyond the horizon; all ones are Y = 0,
   and fail the coins: either way none is accepted, and the source has failed.
   The bytes drawn are those stated. */
static void
test_a_source_that_accepts_nothing_fails(void **state)
{
    static struct dgauss noise;
    static uint8_t buffer[1 << 16];
    struct random random;
    (void)state;
    set_up(&noise, 512);
    for (int byte = 0; byte <= 0xff; byte += 0xff) {
        int64_t x[6] = {1, 1, 1, 1, 1, 1};
        uint32_t tries = dgauss_tries(&noise, 5);
        random_init(&random, buffer, sizeof buffer, fill_with, &byte);
        dgauss_draw(&noise, &random, 5, tries, x);
        assert_true(random.failed);
        if (byte != 0) {
            assert_int_equal(random.next, dgauss_draw_size(&noise, tries));
        }
        for (int i = 1; i < 5; i++) {
            assert_int_equal(x[i], 0);
        }
    }
}

/*
 * Chi-square at sigma = 1000 and at 2^18, 256,000 samples of the seeded
 * generator each, in 128 cells of about the same probability: 127 degrees of
 * freedom; alpha = 1e-6: the bound is 213. The cell edges' rounding to integers
 * is taken into account.
 */
#define CELLS 128

static double
normal_cdf(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

/* P(X <= x): from sigma = 1,000 on, a sum is the integral between halves. */
static double
cdf(double sigma, double x)
{
    return normal_cdf((x + 0.5) / sigma);
}

/* The last x with normal_cdf(x / sigma) < cell / CELLS. */
static double
cell_end(double sigma, int cell)
{
    double low = -9, high = 9;
    if (cell == 0 || cell == CELLS) {
        return cell == 0 ? -INFINITY : INFINITY;
    }
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        bool under = normal_cdf(middle) < cell / (double)CELLS;
        low = under ? middle : low;
        high = under ? high : middle;
    }
    return ceil(high * sigma) - 1;
}

static void
count_cells(uint32_t t, uint64_t seed, uint32_t count[CELLS])
{
    static struct dgauss noise;
    struct seeded seeded;
    uint32_t tries;
    set_up(&noise, t);
    tries = dgauss_tries(&noise, DGAUSS_RUN_MAX);
    seeded_init(&seeded, seed, 0);
    for (int n = 0; n < 1000; n++) {
        int64_t x[DGAUSS_RUN_MAX + 1];
        dgauss_draw(&noise, &seeded.random, DGAUSS_RUN_MAX, tries, x);
        for (uint32_t i = 0; i < DGAUSS_RUN_MAX; i++) {
            double u = normal_cdf((double)x[i] * 256 / t);
            count[(int)(u * CELLS)]++;
        }
    }
    assert_false(seeded.random.failed);
}

static void
check_statistics(uint32_t t, uint64_t seed)
{
    uint32_t count[CELLS] = {0};
    double sigma = t / 256.0, chi = 0;
    count_cells(t, seed, count);
    for (int i = 0; i < CELLS; i++) {
        double p =
            cdf(sigma, cell_end(sigma, i + 1)) - cdf(sigma, cell_end(sigma, i));
        double expected = 1000 * DGAUSS_RUN_MAX * p;
        chi += (count[i] - expected) * (count[i] - expected) / expected;
    }
    printf("sigma %g: chi-square %.1f\n", sigma, chi);
    assert_true(chi < 213);
}

static void
test_samples_follow_the_distribution(void **state)
{
    (void)state;
    check_statistics(256000, 31);
    check_statistics(DGAUSS_T_MAX, 32);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thresholds_are_within_2_to_the_minus_249),
        cmocka_unit_test(test_digits_hold_every_square),
        cmocka_unit_test(test_the_sampler_is_exact),
        cmocka_unit_test(test_samples_of_a_run_are_independent),
        cmocka_unit_test(test_acceptance_is_never_below_what_is_claimed),
        cmocka_unit_test(test_tries_are_enough_invariant_7),
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_a_source_that_accepts_nothing_fails),
        cmocka_unit_test(test_samples_follow_the_distribution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
