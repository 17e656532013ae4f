/*
 * test_guess.c: what a guess can become: against the formula in longer
 * arithmetic, met exactly by randomised response, and never below the bound.
 */
#include "likelihood_fixture.h"

#include "likelihood/guess.h"
#include "sotto/sotto.h"

static const double epsilons[] = {0.001, 0.01, 0.1, 0.5, 1,  2,  4,
                                  8,     10,   16,  20,  24, 28, 32};
#define EPSILONS (sizeof epsilons / sizeof *epsilons)
static const uint64_t one_in[] = {2, 3, 10, 1000, 1000000, UINT64_C(1) << 40};
#define PRIORS (sizeof one_in / sizeof *one_in)

static uint64_t
units(double eps)
{
    return (uint64_t)(eps * 1e6 + 0.5) * 1000000;
}

/* p e^eps / (p e^eps + 1 - p), in long doubles. */
static long double
posterior(uint64_t k, long double eps)
{
    long double p = 1.0L / (long double)k;
    return p * expl(eps) / (p * expl(eps) + 1 - p);
}

/* Above the bound, by less than two units. */
static void
test_direct(void **state)
{
    (void)state;
    for (size_t i = 0; i < EPSILONS; i++) {
        for (size_t j = 0; j < PRIORS; j++) {
            long double eps = (long double)units(epsilons[i]) / 1e12L;
            long double high = 1e12L * posterior(one_in[j], eps);
            long double low = 1e12L * posterior(one_in[j], -eps);
            uint64_t most = sotto_guess_most(one_in[j], units(epsilons[i]));
            uint64_t least = sotto_guess_least(one_in[j], units(epsilons[i]));
            assert_true((long double)most >= high);
            assert_true((long double)most < high + 2);
            assert_true((long double)least <= low);
            assert_true((long double)least > low - 2);
        }
    }
}

static void
test_known(void **state)
{
    (void)state;
    assert_true(sotto_guess_most(2, 0) - SOTTO_UNIT / 2 <= 1);
    assert_true(SOTTO_UNIT / 2 - sotto_guess_least(2, 0) <= 1);
    /* e / (1 + e) = 0.731058578630004..., e / (e + 9) = 0.231969316683...,
       1 / (1 + 9 e) = 0.039270525... */
    assert_int_equal(sotto_guess_most(2, SOTTO_UNIT), 731058578631);
    assert_int_equal(sotto_guess_least(2, SOTTO_UNIT), 268941421369);
    assert_int_equal(sotto_guess_most(10, SOTTO_UNIT) / 1000000, 231969);
    assert_int_equal(sotto_guess_least(10, SOTTO_UNIT) / 1000000, 39270);
}

/* More epsilon and more reports, up to 1,000, never narrow it; in the end it is
   all, and stays so. */
static void
test_monotone(void **state)
{
    (void)state;
    for (size_t j = 0; j < PRIORS; j++) {
        uint64_t most = 0, least = UINT64_MAX;
        for (size_t i = 0; i < EPSILONS; i++) {
            for (uint32_t m = 1; m <= 1000; m++) {
                uint64_t eps, delta, high, low;
                guess_add_up(units(epsilons[i]), 0, m, &eps, &delta);
                assert_int_equal(eps, m * units(epsilons[i]));
                high = sotto_guess_most(one_in[j], eps);
                low = sotto_guess_least(one_in[j], eps);
                assert_true(m == 1 || (high >= most && low <= least));
                assert_true(high <= SOTTO_UNIT && low < high);
                most = high;
                least = low;
            }
            assert_int_equal(sotto_guess_most(one_in[j], 32000 * SOTTO_UNIT),
                             SOTTO_UNIT);
            assert_int_equal(sotto_guess_least(one_in[j], 32000 * SOTTO_UNIT),
                             0);
        }
    }
    for (size_t i = 1; i < EPSILONS; i++) {
        assert_true(sotto_guess_most(10, units(epsilons[i])) >=
                    sotto_guess_most(10, units(epsilons[i - 1])));
    }
    assert_int_equal(sotto_guess_most(2, UINT64_MAX), SOTTO_UNIT);
}

static void
test_add_up(void **state)
{
    uint64_t eps, delta;
    (void)state;
    guess_add_up(4 * SOTTO_UNIT, 1500000, 12, &eps, &delta);
    assert_int_equal(eps, 48 * SOTTO_UNIT);
    assert_int_equal(delta, 18000000);
    guess_add_up(UINT64_MAX / 2, SOTTO_UNIT / 2, 1000, &eps, &delta);
    assert_true(eps == UINT64_MAX);
    assert_int_equal(delta, SOTTO_UNIT);
}

/* The chance of symbol 0 after k-ary response has said `said`; before, it was
   1 / k, and the others' as 1 : 2 : 3 and so on, or even. */
static double
respond(uint32_t k, double eps, uint32_t said, bool even)
{
    double all = 0, zero = 0;
    for (uint32_t x = 0; x < k; x++) {
        double rest = (k - 1) * (double)k / 2; /* 1 + 2 + ... + (k - 1) */
        double before = x == 0 || even ? 1.0 / k : (1 - 1.0 / k) * x / rest;
        double joint = before * (x == said ? exp(eps) : 1);
        all += joint;
        zero += x == 0 ? joint : 0;
    }
    return zero / all;
}

/* k-ary response meets the bound for a guess of 1 in k; no report passes it,
   above or below: enumerated. */
static void
test_response(void **state)
{
    (void)state;
    for (size_t i = 0; i < EPSILONS; i++) {
        for (uint32_t k = 2; k <= 12; k++) {
            double most =
                (double)sotto_guess_most(k, units(epsilons[i])) / 1e12;
            double least =
                (double)sotto_guess_least(k, units(epsilons[i])) / 1e12;
            assert_true(most - respond(k, epsilons[i], 0, true) < 3e-12);
            for (uint32_t said = 0; said < 2 * k; said++) {
                double after = respond(k, epsilons[i], said % k, said < k);
                assert_true(after <= most && after >= least);
            }
        }
    }
}

/*
 * With a delta: the answer of the four outcomes that is as good as any
 * (eps, delta) mechanism (Kairouz, Oh and Viswanath 2015). With probability
 * delta it says outright; else nothing passes the table.
 */
static void
test_outright(void **state)
{
    double eps = 1, delta = 0.01, e = exp(eps);
    double if_true[] = {delta, (1 - delta) * e / (1 + e), (1 - delta) / (1 + e),
                        0};
    double if_false[] = {0, (1 - delta) / (1 + e), (1 - delta) * e / (1 + e),
                         delta};
    (void)state;
    for (size_t j = 0; j < PRIORS; j++) {
        double p = 1 / (double)one_in[j], outright = 0;
        double most = (double)sotto_guess_most(one_in[j], SOTTO_UNIT) / 1e12;
        double least = (double)sotto_guess_least(one_in[j], SOTTO_UNIT) / 1e12;
        for (size_t r = 0; r < 4; r++) {
            double chance = p * if_true[r] + (1 - p) * if_false[r];
            double after = p * if_true[r] / chance;
            if (after > most || after < least || after <= 0) {
                outright += chance;
            }
            assert_true(if_true[r] <= e * if_false[r] + delta + 1e-15);
            assert_true(if_false[r] <= e * if_true[r] + delta + 1e-15);
        }
        assert_true(fabs(outright - delta) < 1e-15);
    }
}

/* Whoever says "true" upon any set of those outcomes, used in a share f of
   cases, is right no more often than docs/threat-model.md says. */
static void
test_rule(void **state)
{
    double eps = 1, delta = 0.01, e = exp(eps);
    double if_true[] = {delta, (1 - delta) * e / (1 + e), (1 - delta) / (1 + e),
                        0};
    double if_false[] = {0, (1 - delta) / (1 + e), (1 - delta) * e / (1 + e),
                         delta};
    (void)state;
    for (size_t j = 0; j < PRIORS; j++) {
        for (unsigned set = 1; set < 16; set++) {
            double p = 1 / (double)one_in[j], a = 0, b = 0;
            for (size_t r = 0; r < 4; r++) {
                a += (set >> r & 1) != 0 ? if_true[r] : 0;
                b += (set >> r & 1) != 0 ? if_false[r] : 0;
            }
            double f = p * a + (1 - p) * b;
            double most = (p * e + p * (1 - p) * delta / f) / (p * e + 1 - p);
            assert_true(p * a / f <= most * (1 + 1e-12));
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct),   cmocka_unit_test(test_known),
        cmocka_unit_test(test_monotone), cmocka_unit_test(test_add_up),
        cmocka_unit_test(test_response), cmocka_unit_test(test_outright),
        cmocka_unit_test(test_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
