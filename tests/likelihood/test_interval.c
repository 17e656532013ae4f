/*
 * test_interval.c: the score interval against its definition, and its cover
 * by the exact distribution of how often a symbol is named.
 */
#include "likelihood/symbols_likelihood.h"

#include "likelihood_fixture.h"

#include "likelihood/interval.h"

static struct interval_share
share_of(const char *channel, uint32_t k, uint64_t eps)
{
    set_up(channel, k, 0, eps);
    return (struct interval_share){at.variance_other,
                                   at.variance_true - at.variance_other + 1};
}

/* Either end f has |value - f| = z sqrt(V(f)/n); the half is the farther. */
static void
test_ends_solve_their_equation(void **state)
{
    struct interval_share share = share_of("flip", 5, DECIMAL_UNIT);
    (void)state;
    for (double value = 0; value < 1.05; value += 0.1) {
        double half = interval_share_half(&share, value, 400, 1.96);
        double up = value + half, down = value - half;
        double off_up =
            half - 1.96 * sqrt(interval_share_variance(&share, up) / 400);
        double off_down =
            half - 1.96 * sqrt(interval_share_variance(&share, down) / 400);
        assert_true(fabs(off_up) < 1e-12 || fabs(off_down) < 1e-12 ||
                    fabs(half - 1.96 * sqrt(share.other / 400)) < 1e-12);
        assert_true(off_up > -1e-12 && off_down > -1e-12);
    }
}

/* The number of n reports that name a symbol is binomial, of rate
   o + gap f: the interval covers f at least as often as it claims, nearly. */
static void
test_cover_by_the_exact_distribution(void **state)
{
    static const double f[] = {0, 0.02, 0.3, 0.9};
    struct interval_share share = share_of("subset", 12, DECIMAL_UNIT);
    double gap = at.own[SYMBOLS_GAP], other = at.own[SYMBOLS_RATE_OTHER];
    uint32_t n = 300;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        double rate = other + gap * f[i], covered = 0, width = 0;
        for (uint32_t named = 0; named <= n; named++) {
            double p = exp(symbols_log_binomial(n, named) + named * log(rate) +
                           (n - named) * log(1 - rate));
            double value = ((double)named / n - other) / gap;
            double half = interval_share_half(&share, value, n, 1.96);
            covered += fabs(value - f[i]) <= half ? p : 0;
            width += p * half;
        }
        assert_true(covered > 0.945 && covered < 0.985);
        /* What plan prints, at value = f, is what decode will on average. */
        assert_true(fabs(width / interval_share_half(&share, f[i], n, 1.96) -
                         1) < 0.02);
    }
}

static void
test_the_worst_share(void **state)
{
    (void)state;
    for (uint32_t k = 2; k < 40; k += 7) {
        struct interval_share share = share_of("flip", k, 2 * DECIMAL_UNIT);
        double worst =
            interval_share_variance(&share, interval_share_worst(&share));
        for (double f = 0; f <= 1; f += 0.01) {
            assert_true(interval_share_variance(&share, f) <= worst + 1e-12);
        }
    }
}

/* Student's quantiles at 95%: 4.303, 2.262, 1.984 for 2, 9, 99 degrees. */
static void
test_a_mean_has_students_width(void **state)
{
    (void)state;
    assert_true(fabs(interval_mean_half(1, 0, 10, 1.96) * sqrt(10) - 2.262) <
                0.01);
    assert_true(fabs(interval_mean_half(1, 0, 100, 1.96) * 10 - 1.984) < 0.01);
    assert_true(interval_mean_half(1, 9, 100, 2) == 1.8);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends_solve_their_equation),
        cmocka_unit_test(test_cover_by_the_exact_distribution),
        cmocka_unit_test(test_the_worst_share),
        cmocka_unit_test(test_a_mean_has_students_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
