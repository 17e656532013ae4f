/*
 * test_response.c: n k-ary responses against brute force, against Kairouz, Oh
 * and Viswanath's sum, and against the trinomial written out.
 */
#include "privacy_fixture.h"

/* For its walk: units are too coarse to show on which side it rounds. */
#include "privacy/response.c"

#define UNIT DECIMAL_UNIT

static const uint64_t eps_some[] = {
    DECIMAL_EPS_MIN, UNIT / 10, UNIT / 2, UNIT, 4 * UNIT, DECIMAL_EPS_MAX};
#define EPS_COUNT (sizeof eps_some / sizeof *eps_some)

/* Every n and k whose k^n sequences are few: delta is the true one rounded up
   to a unit, at and between the steps. */
static void
test_delta_is_brute_force(void **state)
{
    (void)state;
    static const uint32_t most[] = {0, 0, 8, 6, 5, 4, 4};
    struct brute brute;
    brute_init(&brute);
    for (uint32_t k = 2; k <= 6; k++) {
        for (size_t e = 0; e < EPS_COUNT; e++) {
            brute.rounds = 0;
            for (uint32_t n = 1; n <= most[k]; n++) {
                uint64_t eps = eps_some[e];
                brute_add_response(&brute, eps, k, n % k, (n + 1) % k);
                for (uint64_t third = 0; third <= 3 * n; third++) {
                    uint64_t total = eps * third / 3;
                    brute_delta(&brute, total);
                    assert_bounds(brute.sum, response_delta(eps, n, k, total),
                                  1);
                }
            }
        }
    }
    brute_clear(&brute);
}

/* eps'(delta) is the least whole number of units at which the true delta is
   not above the asked one. */
static void
test_eps_is_brute_force(void **state)
{
    (void)state;
    static const uint64_t deltas[] = {1,         1000000,       UNIT / 1000,
                                      UNIT / 10, 9 * UNIT / 10, UNIT - 1};
    struct brute brute;
    brute_init(&brute);
    for (uint32_t k = 2; k <= 4; k++) {
        for (size_t e = 0; e < EPS_COUNT; e++) {
            brute.rounds = 0;
            for (uint32_t n = 1; n <= 5; n++) {
                uint64_t eps = eps_some[e];
                brute_add_response(&brute, eps, k, 0, 1);
                for (size_t d = 0; d < sizeof deltas / sizeof *deltas; d++) {
                    uint64_t total = response_eps(eps, n, k, deltas[d]);
                    assert_true(total <= n * eps);
                    brute_delta(&brute, total);
                    assert_bounds(brute.sum, deltas[d], 0);
                    if (total > 0) {
                        mpfr_t asked;
                        mpfr_init2(asked, PRECISION);
                        exact_units(asked, deltas[d]);
                        brute_delta(&brute, total - 1);
                        assert_true(mpfr_cmp(brute.sum, asked) > 0);
                        mpfr_clear(asked);
                    }
                }
            }
        }
    }
    brute_clear(&brute);
}

/* Over all pairs of answers to three questions, in both directions, none
   costs more than a pair that differs everywhere, and all those the same. */
static void
test_worst_pairs(void **state)
{
    (void)state;
    const uint32_t k = 3, n = 3;
    const uint64_t eps = UNIT, total = 3 * UNIT / 2;
    uint64_t worst = response_delta(eps, n, k, total);
    struct brute brute;
    brute_init(&brute);
    for (size_t pair = 0; pair < 27 * 27; pair++) {
        size_t x = pair / 27, y = pair % 27, same = 0;
        brute.rounds = 0;
        for (uint32_t i = 0; i < n; i++, x /= 3, y /= 3) {
            same += x % 3 == y % 3;
            brute_add_response(&brute, eps, k, x % 3, y % 3);
        }
        brute_delta(&brute, total);
        assert_bounds(brute.sum, worst, same == 0);
    }
    brute_clear(&brute);
}

/* KOV, Theorem 3.3, as printed: at eps' = (n-2i) eps,
   delta_i = sum_(l<i) C(n,l) (e^((n-l)eps) - e^((n-2i+l)eps)) / (1+e^eps)^n */
static void
kov_delta(uint64_t eps, uint32_t n, uint32_t i, mpfr_t ret)
{
    mpfr_t e, choose, term, other;
    mpfr_inits2(PRECISION, e, choose, term, other, NULL);
    exact_units(e, eps);
    mpfr_exp(e, e, MPFR_RNDN);
    mpfr_set_ui(ret, 0, MPFR_RNDN);
    mpfr_set_ui(choose, 1, MPFR_RNDN);
    for (uint32_t l = 0; l < i; l++) {
        mpfr_pow_ui(term, e, n - l, MPFR_RNDN);
        mpfr_pow_ui(other, e, n - 2 * i + l, MPFR_RNDN);
        mpfr_sub(term, term, other, MPFR_RNDN);
        mpfr_mul(term, term, choose, MPFR_RNDN);
        mpfr_add(ret, ret, term, MPFR_RNDN);
        mpfr_mul_ui(choose, choose, n - l, MPFR_RNDN);
        mpfr_div_ui(choose, choose, l + 1, MPFR_RNDN);
    }
    mpfr_add_ui(term, e, 1, MPFR_RNDN);
    mpfr_pow_ui(term, term, n, MPFR_RNDN);
    mpfr_div(ret, ret, term, MPFR_RNDN);
    mpfr_clears(e, choose, term, other, NULL);
}

static void
test_two_answers_are_kov(void **state)
{
    (void)state;
    static const struct {
        uint64_t eps;
        uint32_t n, i;
    } cases[] = {{UNIT / 10, 100, 40},          {UNIT, 100, 20},
                 {UNIT / 100, 1000, 480},       {UNIT / 100, 10000, 4900},
                 {UNIT / 2, 10000, 3700},       {DECIMAL_EPS_MAX, 1000, 3},
                 {DECIMAL_EPS_MIN, 10000, 4999}};
    mpfr_t delta;
    mpfr_init2(delta, PRECISION);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint64_t total = (cases[c].n - 2 * cases[c].i) * cases[c].eps;
        kov_delta(cases[c].eps, cases[c].n, cases[c].i, delta);
        assert_bounds(delta, response_delta(cases[c].eps, cases[c].n, 2, total),
                      1);
    }
    mpfr_clear(delta);
    mpfr_free_cache();
}

/* sum over i, j of n!/(i! j! m!) p^i q^j r^m (1 - e^(total - (i-j) eps))_+ */
static void
trinomial_delta(uint64_t eps, uint32_t n, uint32_t k, uint64_t total,
                mpfr_t ret)
{
    mpfr_t e, x, term, weight;
    mpfr_inits2(PRECISION, e, x, term, weight, NULL);
    exact_units(e, eps);
    mpfr_exp(e, e, MPFR_RNDN);
    mpfr_set_ui(ret, 0, MPFR_RNDN);
    for (uint32_t s = (uint32_t)(total / eps) + 1; s <= n; s++) {
        /* e^s C(n, s) (k-2)^(n-s), j = 0; then j -> j+1 */
        mpfr_pow_ui(term, e, s, MPFR_RNDN);
        mpfr_ui_pow_ui(x, k - 2, n - s, MPFR_RNDN);
        mpfr_mul(term, term, x, MPFR_RNDN);
        for (uint32_t m = 0; m < s; m++) {
            mpfr_mul_ui(term, term, n - m, MPFR_RNDN);
            mpfr_div_ui(term, term, m + 1, MPFR_RNDN);
        }
        mpfr_set(weight, term, MPFR_RNDN);
        for (uint32_t j = 0; s + 2 * j + 2 <= n; j++) {
            uint32_t m = n - s - 2 * j;
            mpfr_mul_ui(term, term, m * (m - 1), MPFR_RNDN);
            mpfr_div_ui(term, term, (s + j + 1) * (j + 1), MPFR_RNDN);
            mpfr_div_ui(term, term, (k - 2) * (k - 2), MPFR_RNDN);
            mpfr_mul(term, term, e, MPFR_RNDN);
            mpfr_add(weight, weight, term, MPFR_RNDN);
        }
        exact_units(x, s * eps - total);
        mpfr_neg(x, x, MPFR_RNDN);
        mpfr_expm1(x, x, MPFR_RNDN);
        mpfr_mul(x, x, weight, MPFR_RNDN);
        mpfr_sub(ret, ret, x, MPFR_RNDN);
    }
    mpfr_add_ui(x, e, k - 1, MPFR_RNDN);
    mpfr_pow_ui(x, x, n, MPFR_RNDN);
    mpfr_div(ret, ret, x, MPFR_RNDN);
    mpfr_clears(e, x, term, weight, NULL);
}

/* j -> j+1 multiplies the power of e^1 by one more +eps step and one more
   -eps step: e q q against r r, so by e / (k-2)^2. */
static void
test_trinomial_written_out(void **state)
{
    (void)state;
    static const struct {
        uint64_t eps;
        uint32_t n, k;
        uint64_t total;
    } cases[] = {{UNIT / 2, 20, 3, 5 * UNIT},
                 {UNIT, 100, 5, 60 * UNIT},
                 {UNIT / 10, 400, 10, 2 * UNIT},
                 {4 * UNIT, 100, 1000, 123 * UNIT},
                 {UNIT / 10, 600, 3, 0}};
    mpfr_t delta;
    mpfr_init2(delta, PRECISION);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        trinomial_delta(cases[c].eps, cases[c].n, cases[c].k, cases[c].total,
                        delta);
        assert_bounds(delta,
                      response_delta(cases[c].eps, cases[c].n, cases[c].k,
                                     cases[c].total),
                      1);
    }
    mpfr_clear(delta);
    mpfr_free_cache();
}

/* P(S = s) for s = -n, ..., n, by adding one response after the other. */
#define STEPS 60u
static void
convolve(mpfr_t p[2 * STEPS + 3], uint64_t eps, uint32_t n, uint32_t k)
{
    mpfr_t e, all, next, term;
    mpfr_inits2(PRECISION, e, all, next, term, NULL);
    exact_units(e, eps);
    mpfr_exp(e, e, MPFR_RNDN);
    mpfr_add_ui(all, e, k - 1, MPFR_RNDN);
    mpfr_set_ui(p[STEPS], 1, MPFR_RNDN);
    for (uint32_t i = 0; i < n; i++) {
        mpfr_t was[3]; /* of s - 1, s and s + 1 */
        mpfr_inits2(PRECISION, was[0], was[1], was[2], NULL);
        mpfr_set_ui(was[1], 0, MPFR_RNDN);
        mpfr_set(was[2], p[0], MPFR_RNDN);
        for (uint32_t s = 0; s <= 2 * STEPS; s++) {
            mpfr_swap(was[0], was[1]);
            mpfr_swap(was[1], was[2]);
            mpfr_set(was[2], p[s + 1], MPFR_RNDN);
            mpfr_mul(next, was[0], e, MPFR_RNDN);
            mpfr_mul_ui(term, was[1], k - 2, MPFR_RNDN);
            mpfr_add(next, next, term, MPFR_RNDN);
            mpfr_add(next, next, was[2], MPFR_RNDN);
            mpfr_div(p[s], next, all, MPFR_RNDN);
        }
        mpfr_clears(was[0], was[1], was[2], NULL);
    }
    mpfr_clears(e, all, next, term, NULL);
}

/* Whether `bound` is on its side of the truth, nearer than 2^-190. Then the
   same for what they are in units of the first tail, because the spare room in
   that, from e^eps, would hide a rounding to the wrong side. */
static void
assert_side(mpfr_t truth, mpfr_t bound, mpfr_t first_truth, mpfr_t first_bound,
            int side)
{
    mpfr_t gap, ratio;
    mpfr_inits2(PRECISION, gap, ratio, NULL);
    mpfr_sub(gap, bound, truth, MPFR_RNDN);
    assert_true(mpfr_sgn(gap) == side);
    mpfr_div(gap, gap, truth, MPFR_RNDN);
    mpfr_abs(gap, gap, MPFR_RNDN);
    assert_true(mpfr_cmp_ui_2exp(gap, 1, -190) < 0);
    mpfr_div(ratio, truth, first_truth, MPFR_RNDN);
    mpfr_div(gap, bound, first_bound, MPFR_RNDN);
    mpfr_sub(gap, gap, ratio, MPFR_RNDN);
    mpfr_div(gap, gap, ratio, MPFR_RNDN);
    mpfr_mul_si(gap, gap, side, MPFR_RNDN);
    mpfr_set_ui_2exp(ratio, 1, -350, MPFR_RNDN); /* our own rounding */
    mpfr_add(gap, gap, ratio, MPFR_RNDN);
    assert_true(mpfr_sgn(gap) >= 0);
    mpfr_clears(gap, ratio, NULL);
}

static void
test_tails_are_bounds(void **state)
{
    (void)state;
    mpfr_t p[2 * STEPS + 3], a, b, a_first, b_first;
    mpfr_inits2(PRECISION, a, b, a_first, b_first, NULL);
    for (uint32_t s = 0; s < 2 * STEPS + 3; s++) {
        mpfr_init2(p[s], PRECISION);
    }
    for (size_t i = 0; i < 3 * EPS_COUNT; i++) {
        uint32_t k = 2 + 4 * (uint32_t)(i / EPS_COUNT), s = STEPS;
        struct walk walk;
        for (uint32_t j = 0; j < 2 * STEPS + 3; j++) {
            mpfr_set_ui(p[j], 0, MPFR_RNDN);
        }
        convolve(p, eps_some[i % EPS_COUNT], STEPS, k);
        walk_init(&walk, eps_some[i % EPS_COUNT], STEPS, k);
        mpfr_set(a_first, walk.a_tail.value, MPFR_RNDN);
        mpfr_set(b_first, walk.b_tail.value, MPFR_RNDN);
        mpfr_set_ui(a, 0, MPFR_RNDN);
        mpfr_set_ui(b, 0, MPFR_RNDN);
        do { /* P_b(S = s) = P_a(S = -s) */
            mpfr_add(a, a, p[STEPS + s], MPFR_RNDN);
            mpfr_add(b, b, p[STEPS - s], MPFR_RNDN);
            assert_side(a, walk.a_tail.value, p[2 * STEPS], a_first, 1);
            assert_side(b, walk.b_tail.value, p[0], b_first, -1);
            s--;
        } while (walk_step(&walk));
        assert_int_equal(s, 0);
    }
    for (uint32_t s = 0; s < 2 * STEPS + 3; s++) {
        mpfr_clear(p[s]);
    }
    mpfr_clears(a, b, a_first, b_first, NULL);
    mpfr_free_cache();
}

static void
test_round_trips(void **state)
{
    (void)state;
    static const uint32_t times[] = {1, 2, 7, 100, 10000};
    for (size_t e = 0; e < EPS_COUNT; e++) {
        for (size_t t = 0; t < sizeof times / sizeof *times; t++) {
            for (uint32_t k = 2; k <= 20; k += 9) {
                uint64_t eps = eps_some[e], all = times[t] * eps;
                uint64_t total = all / 3;
                uint64_t delta = response_delta(eps, times[t], k, total);
                assert_true(delta <= UNIT);
                if (delta < UNIT) {
                    assert_true(response_eps(eps, times[t], k, delta) <= total);
                }
                for (delta = 1; delta < UNIT; delta *= 1000) {
                    total = response_eps(eps, times[t], k, delta);
                    assert_true(response_delta(eps, times[t], k, total) <=
                                delta + 1);
                }
                assert_int_equal(response_eps(eps, times[t], k, 0), all);
                assert_int_equal(response_delta(eps, times[t], k, all), 0);
            }
        }
    }
}

/* More responses, more epsilon, fewer answers or a smaller delta never cost
   less. */
static void
test_monotone(void **state)
{
    (void)state;
    uint64_t slack = 1000000;
    for (uint32_t n = 1; n < 200; n++) {
        assert_true(response_eps(UNIT / 4, n, 5, slack) <=
                    response_eps(UNIT / 4, n + 1, 5, slack));
    }
    for (uint64_t eps = UNIT / 10; eps < 3 * UNIT; eps += UNIT / 10) {
        assert_true(response_eps(eps, 50, 5, slack) <=
                    response_eps(eps + UNIT / 10, 50, 5, slack));
    }
    for (uint32_t k = 2; k < 100; k++) {
        assert_true(response_eps(UNIT, 50, k + 1, slack) <=
                    response_eps(UNIT, 50, k, slack));
    }
    for (uint64_t delta = 0; delta < UNIT / 2; delta = 2 * delta + 1) {
        assert_true(response_eps(UNIT, 50, 3, 2 * delta + 1) <=
                    response_eps(UNIT, 50, 3, delta));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delta_is_brute_force),
        cmocka_unit_test(test_eps_is_brute_force),
        cmocka_unit_test(test_worst_pairs),
        cmocka_unit_test(test_two_answers_are_kov),
        cmocka_unit_test(test_trinomial_written_out),
        cmocka_unit_test(test_tails_are_bounds),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_monotone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
