/*
 * test_duchi_likelihood.c: log p and means of many signs.
 */
#include "likelihood_fixture.h"

#define REPORTS 20000
#define WIDE_D 100u

/* P(more than half of the v_j are t_j), every t_j = +1, from all counts. */
static long double
majority(const int32_t *q, uint32_t d, uint32_t l)
{
    static long double share[CHANNEL_D_MAX + 1];
    long double sum = 0;
    memset(share, 0, sizeof share);
    share[0] = 1;
    for (uint32_t j = 0; j < d; j++) {
        long double yes = ((long double)l + q[j]) / (2 * (long double)l);
        for (uint32_t i = j + 1; i > 0; i--) {
            share[i] = share[i] * (1 - yes) + share[i - 1] * yes;
        }
        share[0] *= 1 - yes;
    }
    for (uint32_t i = d / 2 + 1; i <= d; i++) {
        sum += share[i];
    }
    return sum;
}

/* At the centre every report is equally likely, which takes b, R, A and the
   recursion to be right together: ln p = -d ln 2. And one way from it. */
static void
test_duchi_log_p_where_there_are_many_signs(void **state)
{
    static const uint32_t d[] = {1, 2, 99, 100, 1000, 4095, 4096};
    static int32_t centre[CHANNEL_D_MAX], q[CHANNEL_D_MAX];
    static uint8_t wire[CHANNEL_D_MAX / 8];
    double h = exp(2) / (exp(2) + 1);
    (void)state;
    for (uint32_t i = 0; i < sizeof d / sizeof d[0]; i++) {
        double size = d[i] * log(2), one, far, near;
        set_up("duchi", d[i], 1000, 2 * DECIMAL_UNIT);
        memset(wire, 0, sizeof wire);
        for (uint32_t j = 0; j < d[i]; j++) {
            wire[j / 8] |= (uint8_t)(1u << j % 8);
            q[j] = (int32_t)(j * 7919 % 2001) - 995;
        }
        one = at.likelihood->log_p(&at, wire, centre);
        assert_true(fabs(one + size) <= 1e-14 * size);
        near = (double)majority(centre, d[i], 1000);
        far = (double)majority(q, d[i], 1000);
        one += log((1 - h + (2 * h - 1) * far) / (1 - h + (2 * h - 1) * near));
        assert_true(fabs(at.likelihood->log_p(&at, wire, q) - one) <=
                    1e-13 * fmax(1, size));
    }
}

/*
 * duchi at d = 100: the mean of every coordinate over 20,000 seeded reports,
 * and how often t.q > 0 at a corner q, which has probability
 * h (1-b) / (1-R). Each of the 101 may be off by 5.8 standard deviations:
 * alpha = 101 * 6.7e-9 < 1e-6 in all.
 */
static void
test_duchi_has_the_right_means(void **state)
{
    static double sum[WIDE_D];
    double estimate[WIDE_D], h = exp(1) / (exp(1) + 1), b = 1, share;
    int32_t q[WIDE_D], corner[WIDE_D];
    uint8_t wire[(WIDE_D + 7) / 8];
    struct seeded seeded;
    uint32_t along = 0;
    (void)state;
    set_up("duchi", WIDE_D, 50, DECIMAL_UNIT);
    seeded_init(&seeded, 20, 0);
    for (uint32_t j = 0; j < WIDE_D; j++) {
        q[j] = (int32_t)j - 49;
        corner[j] = j % 3 == 0 ? 50 : -50;
        b *= j % 2 == 0 ? (double)(j + 1) : 1 / (double)(j + 1);
    }
    for (int i = 0; i < REPORTS; i++) {
        double dot = 0;
        instance.channel->sample(&instance, q, &seeded.random, wire);
        at.likelihood->estimate(&at, wire, estimate);
        for (uint32_t j = 0; j < WIDE_D; j++) {
            sum[j] += estimate[j];
        }
        instance.channel->sample(&instance, corner, &seeded.random, wire);
        at.likelihood->estimate(&at, wire, estimate);
        for (uint32_t j = 0; j < WIDE_D; j++) {
            dot += estimate[j] > 0 ? corner[j] : -corner[j];
        }
        along += dot > 0;
    }
    assert_false(seeded.random.failed);
    for (uint32_t j = 0; j < WIDE_D; j++) {
        double variance = at.variance_true - q[j] * q[j];
        assert_true(fabs(sum[j] / REPORTS - q[j]) <=
                    5.8 * sqrt(variance / REPORTS));
    }
    share = h * (1 - b) / (1 - (2 * h - 1) * b);
    assert_true(fabs((double)along / REPORTS - share) <=
                5.8 * sqrt(share * (1 - share) / REPORTS));
}

/* Points side by side have what each has alone, to the last bit, however many
   there are. */
static void
test_duchi_log_p_of_many_points(void **state)
{
    enum { POINTS = 21, D_MOST = 30 };
    static const uint32_t d[] = {1, 2, 7, 8, D_MOST};
    int32_t q[POINTS * D_MOST];
    uint8_t wire[8];
    (void)state;
    for (size_t i = 0; i < sizeof d / sizeof d[0]; i++) {
        struct seeded seeded;
        double many[POINTS];
        set_up("duchi", d[i], 50, 3000000000000);
        seeded_init(&seeded, 4, d[i]);
        for (size_t m = 0; m < POINTS; m++) {
            draw_point(&instance, &seeded, q + m * d[i]);
        }
        instance.channel->sample(&instance, q, &seeded.random, wire);
        for (size_t n = 1; n <= POINTS; n++) {
            at.likelihood->log_p_many(&at, wire, q, n, many);
            for (size_t m = 0; m < n; m++) {
                assert_true(many[m] ==
                            at.likelihood->log_p(&at, wire, q + m * d[i]));
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duchi_log_p_where_there_are_many_signs),
        cmocka_unit_test(test_duchi_log_p_of_many_points),
        cmocka_unit_test(test_duchi_has_the_right_means),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
