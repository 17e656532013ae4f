/*
 * test_likelihood.c: what holds for the likelihood of every channel: in
 * doubles, where tests/channel/test_exact.c has fractions, and at settings that
 * are too large to enumerate.
 */
#include "likelihood_fixture.h"

/* ---- Channels at every setting ------------------------------------------- */

static void
test_samples_are_packed_and_likely(void **state)
{
    (void)state;
    check_grid(check_samples);
}

static void
test_duchi_and_window_packed_anywhere(void **state)
{
    (void)state;
    check_anywhere(check_samples);
}

/*
 * Invariant 2: never above what is stated, and to units of 10^-12 the same, for
 * any k and for epsilons large and small.
 */
static void
test_realised_is_the_stated_one_and_never_above(void **state)
{
    static const uint64_t eps[] = {DECIMAL_EPS_MIN,  DECIMAL_EPS_MIN + 1,
                                   DECIMAL_UNIT / 7, DECIMAL_UNIT / 10,
                                   DECIMAL_UNIT,     3 * DECIMAL_UNIT,
                                   7 * DECIMAL_UNIT, DECIMAL_EPS_MAX};
    static const uint32_t size[] = {2, 3, 10, 1000, 4096};
    (void)state;
    for (size_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        for (size_t j = 0; j < sizeof size / sizeof size[0]; j++) {
            for (size_t m = 0; channel_exact[m] != NULL; m++) {
                set_up(channel_exact[m]->name,
                       size_for(channel_exact[m], size[j]),
                       l_for(channel_exact[m]), eps[i]);
                assert_int_equal(at.realised, eps[i]);
                assert_true(at.bias >= 0);
                assert_true(isfinite(at.variance_true));
                assert_true(at.variance_true > 0);
                assert_true(at.variance_other > 0);
            }
        }
    }
}

/* ---- Channels small enough to list ----------------------------------------
 */

/* Sums over all reports of one point: of p, and of p times what is estimated
   for each entry and its square. */
struct sums {
    double one, mean[8], square[8];
    double low, high; /* of all estimates there are */
};

static struct sums
add_up(const int32_t *q)
{
    struct sums sums = {.low = INFINITY, .high = -INFINITY};
    uint32_t count = UINT32_C(1) << (8 * instance.wire_size);
    for (uint32_t i = 0; i < count; i++) {
        double estimate[8], p;
        const uint8_t wire[] = {(uint8_t)i, (uint8_t)(i >> 8)};
        if (instance.channel->valid(&instance, wire)) {
            check_packing(wire);
            p = exp(at.likelihood->log_p(&at, wire, q));
            at.likelihood->estimate(&at, wire, estimate);
            sums.one += p;
            for (uint32_t j = 0; j < instance.size; j++) {
                sums.mean[j] += p * estimate[j];
                sums.low = fmin(sums.low, estimate[j]);
                sums.high = fmax(sums.high, estimate[j]);
                sums.square[j] += p * estimate[j] * estimate[j];
            }
        }
    }
    return sums;
}

/* The entry of the truth, and the most that an estimate of it may vary. */
static double
entry_of(const int32_t *q, uint32_t entry, double *ret_variance)
{
    bool symbols = instance.channel->domain == CHANNEL_DOMAIN_SYMBOLS;
    double truth = symbols ? (uint32_t)q[0] == entry : q[entry];
    *ret_variance =
        truth == 1 || !symbols ? at.variance_true : at.variance_other;
    return truth;
}

/* Every likelihood and all that it is made of: reports have probability one
   together, and the estimate is off and varies by no more than it says; the
   largest variance is reached by some point. The ends of what a report and what
   a mean can say are reached, too. */
static void
check_small(const char *name, uint32_t size, uint32_t l, int32_t step)
{
    bool symbols = l == 0, reached = false;
    double low = INFINITY, high = -INFINITY;
    int32_t last = symbols ? (int32_t)size - 1 : (int32_t)l;
    set_up(name, size, l, DECIMAL_UNIT);
    assert_in_range(instance.wire_size, 1, 2);
    for (int32_t first = symbols ? 0 : -last; first <= last; first += step) {
        int32_t q[8] = {first};
        struct sums sums = add_up(q);
        assert_true(fabs(sums.one - 1) < 1e-12);
        assert_true(fabs(sums.low - at.low) < 1e-9 * at.most);
        assert_true(fabs(sums.high - at.high) < 1e-9 * at.most);
        for (uint32_t i = 0; i < size; i++) {
            low = fmin(low, sums.mean[i]);
            high = fmax(high, sums.mean[i]);
            double most, truth = entry_of(q, i, &most);
            double variance = sums.square[i] - sums.mean[i] * sums.mean[i];
            assert_true(fabs(sums.mean[i] - truth) <= at.bias + 1e-9);
            assert_true(variance <= most * (1 + 1e-9));
            reached = reached || variance > most * (1 - 1e-9);
        }
    }
    assert_true(reached || instance.channel->pairs);
    assert_true(at.most == fmax(at.high, -at.low));
    assert_true(fabs(low - at.mean_low) < 1e-9);
    assert_true(fabs(high - at.mean_high) < 1e-9);
}

static void
test_small_channels_add_up(void **state)
{
    (void)state;
    check_small("flip", 5, 0, 1);
    check_small("subset", 7, 0, 1);
    check_small("signs", 6, 0, 1);
    check_small("laplace", 1, 16, 8);
    check_small("gaussian", 1, 2, 1);
    check_small("duchi", 3, 2, 2);
    check_small("window", 1, 5, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_channels_add_up),
        cmocka_unit_test(test_samples_are_packed_and_likely),
        cmocka_unit_test(test_duchi_and_window_packed_anywhere),
        cmocka_unit_test(test_realised_is_the_stated_one_and_never_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
