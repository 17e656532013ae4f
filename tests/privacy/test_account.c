/*
 * test_account.c: budgets read, added up and composed.
 */
#include "privacy_fixture.h"

#include <string.h>

#define UNIT DECIMAL_UNIT
#define OK SOTTO_STATUS_OK

static struct sotto_error err;

/* ---- Text ---------------------------------------------------------------- */

static void
test_parse(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        struct sotto_account_budget budget;
    } good[] = {
        {"4", {4 * UNIT, 0, 1}},
        {"0.5x20", {UNIT / 2, 0, 20}},
        {"1:0.000001x3", {UNIT, 1000000, 3}},
        {"1:0", {UNIT, 0, 1}},
        {"0.000001:0.999999999999x4294967295",
         {DECIMAL_EPS_MIN, UNIT - 1, UINT32_MAX}},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct sotto_account_budget budget;
        assert_int_equal(
            sotto_account_budget_parse(good[i].word, &budget, &err), OK);
        assert_int_equal(budget.eps, good[i].budget.eps);
        assert_int_equal(budget.delta, good[i].budget.delta);
        assert_int_equal(budget.times, good[i].budget.times);
    }
}

static void
test_parse_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        enum sotto_status status;
        size_t position;
        const char *message;
    } bad[] = {
        {"", SOTTO_STATUS_FORMAT, 0, "plain decimal"},
        {"x3", SOTTO_STATUS_FORMAT, 0, "'x3': epsilon"},
        {"-1", SOTTO_STATUS_FORMAT, 0, "plain decimal"},
        {"1e3", SOTTO_STATUS_FORMAT, 1, "plain decimal"},
        {"33", SOTTO_STATUS_BUDGET, 0, "at most 32"},
        {"0", SOTTO_STATUS_BUDGET, 0, "at least 0.000001"},
        {"1.1234567890123", SOTTO_STATUS_LIMIT, 14, "digits"},
        {"1:", SOTTO_STATUS_FORMAT, 2, "'1:': delta"},
        {"1:x3", SOTTO_STATUS_FORMAT, 2, "delta"},
        {"1:1e-6", SOTTO_STATUS_FORMAT, 3, "such as 0.000001"},
        {"1:1", SOTTO_STATUS_BUDGET, 2, "below 1"},
        {"1:0.5:0.5", SOTTO_STATUS_FORMAT, 5, "delta"},
        {"1x", SOTTO_STATUS_FORMAT, 2, "how often"},
        {"1x0", SOTTO_STATUS_FORMAT, 2, "how often"},
        {"1x-1", SOTTO_STATUS_FORMAT, 2, "how often"},
        {"1x3x3", SOTTO_STATUS_FORMAT, 2, "how often"},
        {"1x4294967296", SOTTO_STATUS_FORMAT, 2, "4294967295"},
        {"1x99999999999999999999999", SOTTO_STATUS_FORMAT, 2, "4294967295"},
        {"1x3:0.1", SOTTO_STATUS_FORMAT, 2, "how often"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sotto_account_budget budget = {1, 2, 3};
        memset(&err, 0x5a, sizeof err);
        assert_int_equal(sotto_account_budget_parse(bad[i].word, &budget, &err),
                         bad[i].status);
        assert_int_equal(err.status, bad[i].status);
        assert_int_equal(err.position, bad[i].position);
        assert_non_null(strstr(err.message, bad[i].message));
        assert_true(budget.eps == 1 && budget.delta == 2 && budget.times == 3);
        assert_int_equal(sotto_account_budget_parse(bad[i].word, &budget, NULL),
                         bad[i].status);
    }
}

static void
test_delta_and_units(void **state)
{
    (void)state;
    uint64_t delta = 7;
    char text[SOTTO_UNITS_SIZE];
    assert_int_equal(sotto_delta_parse("1", &delta, &err), SOTTO_STATUS_BUDGET);
    assert_int_equal(sotto_delta_parse("", &delta, &err), SOTTO_STATUS_FORMAT);
    assert_int_equal(delta, 7);
    assert_int_equal(sotto_delta_parse("0.000001", &delta, &err), OK);
    assert_int_equal(delta, 1000000);
    assert_int_equal(sotto_units_write(delta, text), 8);
    assert_string_equal(text, "0.000001");
    assert_int_equal(sotto_units_write(UINT64_MAX, text), 21);
    assert_string_equal(text, "18446744.073709551615");
}

/* ---- Basic --------------------------------------------------------------- */

static void
test_basic(void **state)
{
    (void)state;
    static const struct sotto_account_budget budgets[] = {
        {4 * UNIT, 0, 1}, {UNIT / 2, 0, 20}, {UNIT, 1000000, 3}};
    static const struct sotto_account_budget leaky[] = {
        {UNIT, UNIT / 2, 1}, {UNIT, UNIT - 1, UINT32_MAX}};
    struct sotto_account_cost cost;
    assert_int_equal(sotto_account_basic(budgets, 3, &cost, &err), OK);
    assert_int_equal(cost.eps, 17 * UNIT);
    assert_int_equal(cost.delta, 3000000);
    assert_int_equal(sotto_account_basic(leaky, 1, &cost, &err), OK);
    assert_int_equal(cost.delta, UNIT / 2);
    struct sotto_account_budget many = leaky[1];
    many.times = 3;
    assert_int_equal(sotto_account_basic(&many, 1, &cost, &err), OK);
    assert_int_equal(cost.delta, UNIT); /* nothing beyond 1 */
}

/* Calls all five; none may succeed or touch its answer. */
static void
assert_all(const struct sotto_account_budget *budgets, size_t count,
           uint64_t slack, enum sotto_status status)
{
    struct sotto_account_cost cost = {1, 2};
    uint64_t delta = 3;
    if (slack < UNIT) {
        assert_int_equal(sotto_account_basic(budgets, count, &cost, &err),
                         status);
        assert_int_equal(
            sotto_account_delta(budgets, count, 2, UNIT, &delta, &err), status);
    }
    assert_int_equal(sotto_account_drv(budgets, count, slack, &cost, &err),
                     status);
    assert_int_equal(sotto_account_kov(budgets, count, slack, &cost, &err),
                     status);
    assert_int_equal(
        sotto_account_optimal(budgets, count, 2, slack, &cost, &err), status);
    assert_int_equal(
        sotto_account_optimal(budgets, count, 2, slack, &cost, NULL), status);
    assert_true(cost.eps == 1 && cost.delta == 2 && delta == 3);
}

static void
test_refuses(void **state)
{
    (void)state;
    static const struct sotto_account_budget pure = {UNIT, 0, 1};
    static const struct sotto_account_budget never = {UNIT, 0, 0};
    static const struct sotto_account_budget bad[] = {
        {DECIMAL_EPS_MIN - 1, 0, 1},
        {DECIMAL_EPS_MAX + 1, 0, 1},
        {UNIT, UNIT, 1}};
    static const struct sotto_account_budget most = {32 * UNIT, 0, 576461};
    static const struct sotto_account_budget two[] = {{9 * UNIT, 0, 1000000},
                                                      {9 * UNIT, 0, 1049639}};
    struct sotto_account_cost cost;
    assert_all(&pure, 0, 0, SOTTO_STATUS_USAGE);
    assert_all(&never, 1, 0, SOTTO_STATUS_USAGE);
    for (size_t i = 0; i < 3; i++) {
        assert_all(bad + i, 1, 0, SOTTO_STATUS_BUDGET);
    }
    assert_all(&pure, 1, UNIT, SOTTO_STATUS_BUDGET);
    assert_all(&most, 1, 1, SOTTO_STATUS_LIMIT);
    assert_all(two, 2, 1, SOTTO_STATUS_LIMIT);
    struct sotto_account_budget fits = most;
    fits.times--;
    assert_int_equal(sotto_account_basic(&fits, 1, &cost, &err), OK);
    assert_true(cost.eps == UINT64_C(576460) * 32 * UNIT);
}

static void
test_optimal_refuses(void **state)
{
    (void)state;
    static const struct sotto_account_budget two[] = {{UNIT, 0, 1},
                                                      {UNIT, 1, 1}};
    static const struct sotto_account_budget many = {UNIT, 0, 1000001};
    struct sotto_account_cost cost = {1, 2};
    assert_int_equal(sotto_account_optimal(two, 2, 2, 1, &cost, &err),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "budget 2 differs"));
    assert_int_equal(sotto_account_optimal(two, 1, 1, 1, &cost, &err),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(sotto_account_optimal(two + 1, 1, 3, 1, &cost, &err),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(sotto_account_optimal(&many, 1, 2, 1, &cost, &err),
                     SOTTO_STATUS_LIMIT);
    assert_true(cost.eps == 1 && cost.delta == 2);
}

/* ---- Advanced ------------------------------------------------------------ */

/* Both bounds as the papers print them, straight from MPFR's functions. */
static void
formula(const struct sotto_account_budget *budgets, size_t count,
        uint64_t slack, int kov, mpfr_t ret)
{
    mpfr_t eps, term, square, first, second;
    mpfr_inits2(PRECISION, eps, term, square, first, second, NULL);
    mpfr_set_ui(ret, 0, MPFR_RNDN);
    mpfr_set_ui(square, 0, MPFR_RNDN);
    for (size_t i = 0; i < count; i++) {
        exact_units(eps, budgets[i].eps);
        mpfr_expm1(term, eps, MPFR_RNDN);
        if (kov) { /* (e^eps - 1) / (e^eps + 1) */
            mpfr_add_ui(first, term, 2, MPFR_RNDN);
            mpfr_div(term, term, first, MPFR_RNDN);
        }
        mpfr_mul(term, term, eps, MPFR_RNDN);
        mpfr_mul_ui(term, term, budgets[i].times, MPFR_RNDN);
        mpfr_add(ret, ret, term, MPFR_RNDN);
        mpfr_sqr(term, eps, MPFR_RNDN);
        mpfr_mul_ui(term, term, budgets[i].times, MPFR_RNDN);
        mpfr_add(square, square, term, MPFR_RNDN);
    }
    exact_units(term, slack);
    mpfr_log(first, term, MPFR_RNDN);
    mpfr_neg(first, first, MPFR_RNDN); /* ln(1/slack) */
    mpfr_sqrt(second, square, MPFR_RNDN);
    mpfr_div(second, second, term, MPFR_RNDN);
    mpfr_set_ui(term, 1, MPFR_RNDN);
    mpfr_exp(term, term, MPFR_RNDN);
    mpfr_add(second, second, term, MPFR_RNDN);
    mpfr_log(second, second, MPFR_RNDN); /* ln(e + sqrt(square)/slack) */
    if (kov) {
        mpfr_min(first, first, second, MPFR_RNDN);
    }
    mpfr_mul(first, first, square, MPFR_RNDN);
    mpfr_mul_ui(first, first, 2, MPFR_RNDN);
    mpfr_sqrt(first, first, MPFR_RNDN);
    mpfr_add(ret, ret, first, MPFR_RNDN);
    mpfr_clears(eps, term, square, first, second, NULL);
}

/* At most `spare` units above the formula, never below it; or basic. */
static void
assert_formula(mpfr_t truth, uint64_t eps, uint64_t basic, uint64_t spare)
{
    mpfr_t least;
    mpfr_init2(least, PRECISION);
    mpfr_mul_ui(truth, truth, UNIT, MPFR_RNDN);
    mpfr_set_uj(least, eps, MPFR_RNDN);
    if (eps < basic) {
        assert_true(mpfr_cmp(truth, least) <= 0);
    }
    mpfr_sub_ui(least, least, spare, MPFR_RNDN);
    assert_true(eps <= basic && mpfr_cmp(truth, least) >= 0);
    mpfr_clear(least);
}

static const struct sotto_account_budget lists[][3] = {
    {{UNIT / 10, 0, 52}, {UNIT / 2, 0, 3}, {UNIT / 100, 1000, 500}},
    {{DECIMAL_EPS_MIN, 0, 10000}, {DECIMAL_EPS_MIN, 0, 1}, {UNIT / 50, 0, 9}},
    {{UNIT, 1000000, 3}, {4 * UNIT, 0, 1}, {UNIT / 2, 0, 20}},
    {{DECIMAL_EPS_MAX, 0, 10000}, {UNIT, 0, 1}, {UNIT, 0, 1}},
    {{UNIT / 1000, 0, 1000000}, {UNIT / 1000, 1, 1}, {UNIT / 7, 0, 30}},
    {{DECIMAL_EPS_MIN, 0, UINT32_MAX}, {UNIT / 5, 0, 2}, {UNIT, 0, 2}},
};
#define LISTS (sizeof lists / sizeof *lists)

static void
test_advanced_is_the_formula(void **state)
{
    (void)state;
    static const uint64_t slacks[] = {1, 1000000, UNIT / 1000, UNIT / 2,
                                      UNIT - 1};
    mpfr_t truth;
    mpfr_init2(truth, PRECISION);
    for (size_t i = 0; i < LISTS * 15; i++) {
        const struct sotto_account_budget *list = lists[i / 15];
        size_t count = 1 + i % 3;
        uint64_t slack = slacks[i / 3 % 5];
        struct sotto_account_cost basic, drv, kov;
        assert_int_equal(sotto_account_basic(list, count, &basic, &err), OK);
        assert_int_equal(sotto_account_drv(list, count, slack, &drv, &err), OK);
        assert_int_equal(sotto_account_kov(list, count, slack, &kov, &err), OK);
        /* The logarithm is rounded up to a unit, which moves the bound by
           sqrt(square / 2 ln(1/slack)) units, below 3,000 here; but near
           slack = 1 the logarithm is a unit itself. */
        uint64_t spare = slack < UNIT - 1 ? 3000 : UINT64_MAX / 2;
        formula(list, count, slack, 0, truth);
        assert_formula(truth, drv.eps, basic.eps, spare);
        formula(list, count, slack, 1, truth);
        assert_formula(truth, kov.eps, basic.eps, spare);
        assert_true(kov.eps <= drv.eps && drv.eps <= basic.eps);
        assert_true(drv.delta <= basic.delta + slack);
        assert_true(kov.delta <= drv.delta ||
                    (drv.eps == basic.eps && kov.eps < basic.eps));
        if (drv.eps == basic.eps) {
            assert_int_equal(drv.delta, basic.delta);
        }
        if (kov.eps == basic.eps) {
            assert_int_equal(kov.delta, basic.delta);
        }
    }
    mpfr_clear(truth);
    mpfr_free_cache();
}

/* Figures from a table of logarithms, to see that they are the right size. */
static void
test_known_values(void **state)
{
    (void)state;
    static const struct sotto_account_budget weekly = {UNIT / 10, 0, 52};
    struct sotto_account_cost cost;
    /* sqrt(2 52 0.01 ln 10^6) + 52 0.1 (e^0.1 - 1) = 3.790533 + 0.546888 */
    assert_int_equal(sotto_account_drv(&weekly, 1, 1000000, &cost, &err), OK);
    assert_int_equal((cost.eps + 500000) / 1000000, 4337421);
    assert_int_equal(cost.delta, 1000000);
    /* 3.745421 (the weighted logarithm) + 52 0.1 tanh 0.05 = 0.259784 */
    assert_int_equal(sotto_account_kov(&weekly, 1, 1000000, &cost, &err), OK);
    assert_int_equal((cost.eps + 500000) / 1000000, 4005193);
    assert_int_equal(cost.delta, 1000000);
}

/* Heterogeneous binary responses are the worst there is: the delta they really
   have at KOV's epsilon is within the slack. */
static void
test_kov_is_sound(void **state)
{
    (void)state;
    struct brute brute;
    brute_init(&brute);
    for (uint64_t slack = UNIT / 200; slack < UNIT; slack *= 3) {
        struct sotto_account_budget budgets[10];
        struct sotto_account_cost cost;
        brute.rounds = 0;
        for (size_t i = 0; i < 10; i++) {
            budgets[i].eps = UNIT * (i + 1) / 40;
            budgets[i].delta = 0;
            budgets[i].times = 1;
            brute_add_response(&brute, budgets[i].eps, 2, i % 2, 1 - i % 2);
        }
        assert_int_equal(sotto_account_kov(budgets, 10, slack, &cost, &err),
                         OK);
        brute_delta(&brute, cost.eps);
        assert_bounds(brute.sum, slack, 0);
        assert_true(slack < UNIT / 30 || cost.eps < UNIT * 55 / 40);
    }
    brute_clear(&brute);
}

/* ---- Optimal ------------------------------------------------------------- */

/* With a delta: mechanisms that tell the truth in clear that often. */
static void
test_optimal_with_delta(void **state)
{
    (void)state;
    struct brute brute;
    brute_init(&brute);
    for (uint32_t n = 1; n <= 6; n++) {
        struct sotto_account_budget one = {UNIT / 2, UNIT / 100, n};
        struct sotto_account_cost cost;
        uint64_t delta;
        brute_add_leaky(&brute, one.eps, one.delta);
        for (uint64_t eps = 0; eps <= n * one.eps; eps += UNIT / 5) {
            assert_int_equal(sotto_account_delta(&one, 1, 2, eps, &delta, &err),
                             OK);
            brute_delta(&brute, eps);
            assert_bounds(brute.sum, delta, 0);
            mpfr_mul_ui(brute.sum, brute.sum, UNIT, MPFR_RNDN);
            mpfr_add_ui(brute.sum, brute.sum, 2, MPFR_RNDN); /* two roundings */
            assert_true(mpfr_cmp_ui(brute.sum, delta) >= 0);
        }
        assert_int_equal(
            sotto_account_optimal(&one, 1, 2, UNIT / 50, &cost, &err), OK);
        brute_delta(&brute, cost.eps);
        assert_bounds(brute.sum, cost.delta, 0);
    }
    brute_clear(&brute);
}

static void
test_order(void **state)
{
    (void)state;
    static const uint64_t eps[] = {DECIMAL_EPS_MIN, UNIT / 10, UNIT, 4 * UNIT,
                                   DECIMAL_EPS_MAX};
    static const uint32_t times[] = {1, 2, 50, 10000};
    for (size_t i = 0; i < 20; i++) {
        struct sotto_account_budget one = {eps[i / 4], 0, times[i % 4]};
        struct sotto_account_budget parts[2] = {one, one};
        for (uint64_t slack = 0; slack < UNIT; slack = 1000 * slack + 7) {
            struct sotto_account_cost basic, kov, optimal, exact, split;
            assert_int_equal(sotto_account_basic(&one, 1, &basic, &err), OK);
            assert_int_equal(sotto_account_kov(&one, 1, slack, &kov, &err), OK);
            assert_int_equal(
                sotto_account_optimal(&one, 1, 2, slack, &optimal, &err), OK);
            assert_int_equal(
                sotto_account_optimal(&one, 1, 7, slack, &exact, &err), OK);
            assert_true(exact.eps <= optimal.eps && optimal.eps <= kov.eps &&
                        kov.eps <= basic.eps);
            assert_true(exact.delta <= slack && optimal.delta <= slack);
            if (slack == 0) {
                assert_true(exact.eps == basic.eps && kov.eps == basic.eps);
                assert_true(exact.delta == 0 && kov.delta == 0);
            }
            if (one.times > 1) { /* the same list in two parts */
                parts[0].times = 1;
                parts[1].times = one.times - 1;
                assert_int_equal(
                    sotto_account_optimal(parts, 2, 7, slack, &split, &err),
                    OK);
                assert_memory_equal(&split, &exact, sizeof exact);
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_parse_refuses),
        cmocka_unit_test(test_delta_and_units),
        cmocka_unit_test(test_basic),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_optimal_refuses),
        cmocka_unit_test(test_advanced_is_the_formula),
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_kov_is_sound),
        cmocka_unit_test(test_optimal_with_delta),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
