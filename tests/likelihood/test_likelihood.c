/*
 * test_likelihood.c: what holds for the likelihood of every channel and is too
 * large for tests/channel/test_exact.c to enumerate.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/decimal.h"
#include "channel/window.h"
#include "likelihood/chance.h"
#include "likelihood/likelihood.h"
#include "random/seeded.h"

#define OWN_MAX 32768u
#define WIRE_MAX (8 * CHANNEL_D_MAX)

static uint64_t own_memory[OWN_MAX / 8];
static struct channel_instance instance;
static struct likelihood_instance at;

/* A size and a radius that this channel takes. */
static uint32_t
size_for(const struct channel *channel, uint32_t size)
{
    return channel->scalar ? 1 : channel->pairs ? 2 * size : size;
}

static uint32_t
l_for(const struct channel *channel)
{
    return channel->domain != CHANNEL_DOMAIN_SYMBOLS;
}

/* Sets up a channel by name, and its likelihood; one at a time. */
static void
set_up(const char *name, uint32_t size, uint32_t l, uint64_t eps)
{
    const struct channel *channel = channel_find(name, strlen(name));
    assert_non_null(channel);
    assert_true(channel->own_size <= OWN_MAX);
    memset(own_memory, 0x5a, sizeof own_memory);
    memset(&at, 0x5a, sizeof at);
    assert_int_equal(
        channel_init_rows(&instance, channel, size, channel->pairs ? 2 : 0, l,
                          eps, channel->approximate ? DECIMAL_DELTA_MAX : 0,
                          own_memory),
        SOTTO_STATUS_OK);
    assert_int_equal(likelihood_init(&at, &instance), SOTTO_STATUS_OK);
    assert_ptr_equal(at.instance, &instance);
}

/* ---- Registry -------------------------------------------------------------
 */

static void
test_every_channel_has_a_likelihood(void **state)
{
    (void)state;
    for (size_t i = 0; channel_exact[i] != NULL; i++) {
        const struct likelihood *found =
            likelihood_find(channel_exact[i]->name);
        assert_non_null(found);
        assert_string_equal(found->name, channel_exact[i]->name);
    }
    assert_null(likelihood_find(""));
    assert_null(likelihood_find("fli"));
}

static void
test_a_channel_without_one_is_refused(void **state)
{
    struct channel nameless = *channel_find("flip", 4);
    (void)state;
    set_up("flip", 3, 0, DECIMAL_UNIT);
    nameless.name = "nameless";
    instance.channel = &nameless;
    memset(&at, 0x5a, sizeof at);
    assert_int_equal(likelihood_init(&at, &instance), SOTTO_STATUS_USAGE);
    assert_int_equal(at.values, 0x5a5a5a5a);
}

/* ---- The coin -------------------------------------------------------------
 */

static void
test_chance_is_the_coins(void **state)
{
    static const double eps[] = {0.000001, 0.1, 1, 4, 32};
    (void)state;
    for (size_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        struct chance chance;
        struct odds odds;
        double e = exp(eps[i]);
        odds_init(&odds, (uint64_t)(eps[i] * (double)DECIMAL_UNIT + 0.5), 3, 2);
        chance_init(&chance, &odds);
        assert_true(fabs(chance.in / (3 * e / (3 * e + 2)) - 1) < 1e-14);
        assert_true(fabs(chance.out / (2 / (3 * e + 2)) - 1) < 1e-14);
        odds_init(&odds, (uint64_t)(eps[i] * (double)DECIMAL_UNIT + 0.5), 1, 1);
        chance_init(&chance, &odds);
        assert_true(fabs(chance.lead / tanh(eps[i] / 2) - 1) < 1e-14);
    }
}

/* ---- Packing --------------------------------------------------------------
 */

/* A point of the domain: a vertex, or any symbol; any point of a cube. */
static void
draw_point(struct seeded *seeded, int32_t *ret_q)
{
    uint32_t word = random_u32(&seeded->random);
    if (instance.channel->domain == CHANNEL_DOMAIN_SYMBOLS) {
        ret_q[0] = (int32_t)(word % instance.size);
        return;
    }
    for (uint32_t i = 0;
         instance.channel->domain == CHANNEL_DOMAIN_CUBE && i < instance.size;
         i++) {
        uint32_t any = random_u32(&seeded->random) % (2 * instance.l + 1);
        ret_q[i] = (int32_t)any - (int32_t)instance.l;
    }
    if (instance.channel->domain == CHANNEL_DOMAIN_CUBE) {
        return;
    }
    memset(ret_q, 0, instance.size * sizeof *ret_q);
    ret_q[word % instance.size] =
        (word >> 31) ? (int32_t)instance.l : -(int32_t)instance.l;
}

static void
check_packing(const uint8_t *wire)
{
    static int64_t values[CHANNEL_K_MAX];
    static uint8_t packed[WIRE_MAX + 1];
    const struct likelihood *likelihood = at.likelihood;
    likelihood->unpack(&at, wire, values);
    memset(packed, 0x5a, sizeof packed);
    assert_true(likelihood->pack(&at, values, packed));
    assert_memory_equal(packed, wire, instance.wire_size);
    assert_int_equal(packed[instance.wire_size], 0x5a);
    for (uint32_t i = 0; i < at.values; i += 1 + i / 4) {
        int64_t kept = values[i];
        values[i] = INT64_MAX;
        assert_false(likelihood->pack(&at, values, packed));
        values[i] = INT64_MIN;
        assert_false(likelihood->pack(&at, values, packed));
        values[i] = kept;
    }
}

static void
check_samples(const char *name, uint32_t size, uint32_t l, uint64_t eps)
{
    static uint8_t wire[WIRE_MAX + 1];
    static int32_t q[CHANNEL_D_MAX];
    struct seeded seeded;
    set_up(name, size, l, eps);
    seeded_init(&seeded, 18, size);
    for (int i = 0; i < 3; i++) {
        double one, many;
        draw_point(&seeded, q);
        instance.channel->sample(&instance, q, &seeded.random, wire);
        check_packing(wire);
        one = at.likelihood->log_p(&at, wire, q);
        at.likelihood->log_p_many(&at, wire, q, 1, &many);
        assert_true(one <= 0 && fabs(one - many) <= 1e-12 * fabs(one));
    }
}

static void
test_samples_are_packed_and_likely(void **state)
{
    static const uint32_t size[] = {2, 3, 64, 65, 256, 257, 4096};
    static const uint32_t l[] = {1, 1000, CHANNEL_L_MAX};
    static const uint64_t eps[] = {DECIMAL_EPS_MIN, DECIMAL_UNIT,
                                   DECIMAL_EPS_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        for (size_t j = 0; j < 3; j++) {
            check_samples("flip", size[i], 0, eps[j]);
            check_samples("subset", size[i], 0, eps[j]);
            for (size_t m = 0; m < 3; m++) {
                check_samples("laplace", size[i], l[m], eps[j]);
                check_samples("duchi", size[i], l[m], eps[j]);
                check_samples("window", 1, l[m], eps[j]);
            }
            check_samples("gaussian", size[i], 1, eps[j]);
            check_samples("gaussian", size[i], 1000, eps[j]);
        }
    }
    check_samples("flip", CHANNEL_K_MAX, 0, DECIMAL_UNIT);
    check_samples("subset", CHANNEL_K_MAX, 0, DECIMAL_UNIT);
    check_samples("laplace", 1, 1, DECIMAL_UNIT);
    check_samples("duchi", 1, 1, DECIMAL_UNIT);
    check_samples("gaussian", 1, 1, DECIMAL_UNIT);
}

/* Settings at random: l and epsilon of every magnitude. */
static void
test_duchi_and_window_packed_anywhere(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 19, 0);
    for (int i = 0; i < 300; i++) {
        uint32_t d = 1 + random_u32(&seeded.random) % 512;
        uint32_t l = 1 + (random_u32(&seeded.random) % CHANNEL_L_MAX >>
                          random_u32(&seeded.random) % 20);
        uint64_t eps =
            DECIMAL_EPS_MIN +
            (random_u56(&seeded.random) % (DECIMAL_EPS_MAX - DECIMAL_EPS_MIN) >>
             random_u32(&seeded.random) % 25);
        check_samples("duchi", d, l, eps);
        check_samples("window", 1, l, eps);
    }
}

/* What pack takes is what the device calls valid, to the last number. */
static void
test_window_is_packed_up_to_its_ends(void **state)
{
    static const uint32_t l[] = {1, 100, 16384, 32767, CHANNEL_L_MAX};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        uint8_t wire[4];
        int64_t most, y;
        set_up("window", 1, l[i], DECIMAL_UNIT);
        most = (int64_t)l[i] + ((const struct window *)instance.own)->w;
        for (int64_t off = -2; off <= 2; off++) {
            y = most + off;
            assert_int_equal(at.likelihood->pack(&at, &y, wire), off <= 0);
            y = -most - off;
            assert_int_equal(at.likelihood->pack(&at, &y, wire), off <= 0);
        }
    }
}

static void
test_pack_refuses_a_set_that_is_not_in_order(void **state)
{
    uint8_t wire[2];
    int64_t values[4] = {2, 5, 7, 8};
    (void)state;
    set_up("subset", 10, 0, DECIMAL_UNIT / 2);
    assert_int_equal(at.values, 4);
    assert_true(at.likelihood->pack(&at, values, wire));
    values[1] = 2;
    assert_false(at.likelihood->pack(&at, values, wire));
    values[1] = 1;
    assert_false(at.likelihood->pack(&at, values, wire));
    values[1] = 5;
    values[3] = 10;
    assert_false(at.likelihood->pack(&at, values, wire));
}

/* What docs/channels.md shows: the noise of one number, relative to l. */
static void
test_noise_of_one_number(void **state)
{
    static const char *const names[] = {"laplace", "duchi", "window"};
    static const double eps[] = {0.5, 1, 2, 4, 8};
    (void)state;
    printf("| epsilon | laplace | duchi | window |\n|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        double deviation[3];
        for (size_t j = 0; j < 3; j++) {
            set_up(names[j], 1, 4096,
                   (uint64_t)(eps[i] * (double)DECIMAL_UNIT + 0.5));
            deviation[j] = sqrt(at.variance_true) / 4096;
        }
        printf("| %g | %.4f | %.4f | %.4f |\n", eps[i], deviation[0],
               deviation[1], deviation[2]);
        assert_true(deviation[2] < deviation[0]);
    }
}

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

/* ---- Statistics ----------------------------------------------------------
 */

#define REPORTS 20000
#define WIDE_D 100u

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

/*
 * Invariant 2: never above what is stated. As near to it as doubles are, for
 * any k and for epsilons large and small.
 */
static void
test_eps_exact_is_the_stated_one_and_never_above(void **state)
{
    static const uint64_t eps[] = {DECIMAL_EPS_MIN,  DECIMAL_EPS_MIN + 1,
                                   DECIMAL_UNIT / 7, DECIMAL_UNIT / 10,
                                   DECIMAL_UNIT,     3 * DECIMAL_UNIT,
                                   7 * DECIMAL_UNIT, DECIMAL_EPS_MAX};
    static const uint32_t size[] = {2, 3, 10, 1000, 4096};
    (void)state;
    for (size_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        double stated = (double)eps[i] / (double)DECIMAL_UNIT;
        for (size_t j = 0; j < sizeof size / sizeof size[0]; j++) {
            for (size_t m = 0; channel_exact[m] != NULL; m++) {
                set_up(channel_exact[m]->name,
                       size_for(channel_exact[m], size[j]),
                       l_for(channel_exact[m]), eps[i]);
                assert_true(at.eps_exact <= stated);
                assert_true(at.eps_exact >= stated * (1 - 1e-15));
                assert_true(at.bias >= 0);
                assert_true(isfinite(at.variance_true));
                assert_true(at.variance_true > 0);
                assert_true(at.variance_other > 0);
            }
        }
    }
}

/*
 * All reports together have probability one where they are too many to list:
 * C(k-1, w-1) of them name the truth, C(k-1, w) do not.
 */
static double
log_choose(double n, double m)
{
    return lgamma(n + 1) - lgamma(m + 1) - lgamma(n - m + 1);
}

static void
test_log_p_of_large_sets_sums_to_one(void **state)
{
    static const uint32_t k[] = {20, 100, 1000, 4096};
    static uint8_t wire[CHANNEL_K_MAX / 8];
    static int64_t values[CHANNEL_K_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof k / sizeof k[0]; i++) {
        int32_t in = 0, out;
        double w, total;
        set_up("subset", k[i], 0, DECIMAL_UNIT);
        w = at.values;
        out = (int32_t)w;
        for (int64_t j = 0; j < out; j++) {
            values[j] = j; /* the first w symbols */
        }
        assert_true(at.likelihood->pack(&at, values, wire));
        total = exp(at.likelihood->log_p(&at, wire, &in) +
                    log_choose(k[i] - 1, w - 1)) +
                exp(at.likelihood->log_p(&at, wire, &out) +
                    log_choose(k[i] - 1, w));
        assert_true(fabs(total - 1) < 1e-9);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_channel_has_a_likelihood),
        cmocka_unit_test(test_a_channel_without_one_is_refused),
        cmocka_unit_test(test_chance_is_the_coins),
        cmocka_unit_test(test_samples_are_packed_and_likely),
        cmocka_unit_test(test_duchi_and_window_packed_anywhere),
        cmocka_unit_test(test_window_is_packed_up_to_its_ends),
        cmocka_unit_test(test_pack_refuses_a_set_that_is_not_in_order),
        cmocka_unit_test(test_noise_of_one_number),
        cmocka_unit_test(test_duchi_log_p_where_there_are_many_signs),
        cmocka_unit_test(test_duchi_has_the_right_means),
        cmocka_unit_test(test_eps_exact_is_the_stated_one_and_never_above),
        cmocka_unit_test(test_log_p_of_large_sets_sums_to_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
