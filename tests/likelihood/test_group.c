/*
 * test_group.c: the variance of a set's share, against the sum over all
 * reports; and the largest estimate, against all reports.
 */
#include "likelihood_fixture.h"

#include "likelihood/group.h"

/* Walks over all bitmaps of k symbols: calls for each report its probability
   given q = 0, and the sum of the estimates of symbols first..first+size-1. */
static void
sum_moments(uint32_t first, uint32_t size, double *ret_mean,
            double *ret_variance, double *ret_most)
{
    uint32_t k = instance.size;
    double estimate[16], p, all = 0, mean = 0, square = 0, most = 0;
    const int32_t q = 0;
    for (uint32_t map = 0; map < 1u << k; map++) {
        int64_t values[16];
        uint8_t wire[16] = {0};
        uint32_t named = 0;
        for (uint32_t i = 0; i < k && named <= at.values; i++) {
            if ((map >> i & 1) != 0) {
                values[named++] = i;
            }
        }
        if (named != at.values || !at.likelihood->pack(&at, values, wire)) {
            continue;
        }
        at.likelihood->estimate(&at, wire, estimate);
        p = exp(at.likelihood->log_p(&at, wire, &q));
        double sum = 0;
        for (uint32_t i = first; i < first + size; i++) {
            sum += estimate[i];
        }
        most = fmax(most, fabs(sum));
        all += p;
        mean += p * sum;
        square += p * sum * sum;
    }
    assert_true(fabs(all - 1) < 1e-12);
    *ret_mean = mean;
    *ret_variance = square - mean * mean;
    *ret_most = most;
}

static void
check_sets(const char *channel, uint32_t k, uint64_t eps)
{
    set_up(channel, k, 0, eps);
    for (uint32_t size = 1; size < k; size++) {
        double with, without, mean, variance, most;
        assert_true(group_variances(&at, size, &with, &without));
        sum_moments(0, size, &mean, &variance, &most);
        assert_true(fabs(mean - 1) < 1e-9);
        assert_true(fabs(variance - with) <= 1e-9 * (1 + with));
        assert_true(fabs(most - group_most(&at, size)) <= 1e-9 * most);
        assert_true(size > 1 || fabs(most - at.most) <= 1e-9 * most);
        sum_moments(1, size, &mean, &variance, &most);
        assert_true(fabs(mean) < 1e-9);
        assert_true(fabs(variance - without) <= 1e-9 * (1 + without));
        if (size == 1) {
            assert_true(fabs(with - at.variance_true) <= 1e-9 * with);
            assert_true(fabs(without - at.variance_other) <= 1e-9 * without);
        }
    }
}

static void
test_sets_against_all_reports(void **state)
{
    static const uint64_t eps[] = {DECIMAL_UNIT / 10, DECIMAL_UNIT,
                                   4 * DECIMAL_UNIT};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (uint32_t k = 2; k <= 9; k++) {
            check_sets("flip", k, eps[i]);
            check_sets("subset", k, eps[i]);
        }
    }
}

static void
test_other_channels_have_no_sets(void **state)
{
    double with = -1, without = -1;
    (void)state;
    set_up("signs", 8, 0, DECIMAL_UNIT);
    assert_false(group_variances(&at, 2, &with, &without));
    set_up("laplace", 1, 8, DECIMAL_UNIT);
    assert_false(group_variances(&at, 1, &with, &without));
    assert_true(with == -1 && without == -1);
}

/* No sampled report of any channel of numbers gives an estimate beyond the
   most, and the ends of what packs reach it. */
static void
test_the_largest_estimate(void **state)
{
    static const char *const names[] = {"laplace", "window", "duchi", "signs"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct seeded seeded;
        double estimate[8], largest = 0;
        uint8_t wire[64];
        int32_t q[8] = {0};
        bool pairs = strcmp(names[i], "signs") == 0;
        set_up(names[i], pairs ? 6 : 1, pairs ? 0 : 16, DECIMAL_UNIT);
        seeded_init(&seeded, 7, i);
        for (int j = 0; j < 2000; j++) {
            instance.channel->sample(&instance, q, &seeded.random, wire);
            at.likelihood->estimate(&at, wire, estimate);
            for (uint32_t e = 0; e < instance.size; e++) {
                largest = fmax(largest, fabs(estimate[e]));
            }
        }
        assert_true(largest <= at.most * (1 + 1e-12));
        assert_true(i == 0 || largest >= 0.95 * at.most);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets_against_all_reports),
        cmocka_unit_test(test_other_channels_have_no_sets),
        cmocka_unit_test(test_the_largest_estimate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
