/*
 * test_channel.c: the registry, the limits, and what holds for every channel
 * and is too large for test_exact.c to enumerate.
 */
#include "channel_settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "channel/symbols.h"
#include "channel/window.h"
#include "random/dlaplace.h"

/* ---- Registry and limits ---------------------------------------------------
 */

static void
test_channels_are_found_by_whole_name(void **state)
{
    size_t count = 0;
    (void)state;
    for (; channel_exact[count] != NULL; count++) {
        const char *name = channel_exact[count]->name;
        assert_ptr_equal(channel_find(channel_exact, name, strlen(name)),
                         channel_exact[count]);
        assert_null(channel_find(channel_exact, name, strlen(name) - 1));
        assert_null(channel_find(channel_exact, name, strlen(name) + 1));
        assert_true(strlen(channel_exact[count]->promise) > 0);
        assert_int_equal(channel_exact[count]->own_size % 8, 0);
    }
    assert_true(count >= 3);
    assert_null(channel_find(channel_exact, "", 0));
    assert_null(channel_find(channel_exact, "Flip", 4));
    assert_ptr_equal(channel_find(channel_exact, "flip,", 4),
                     channel_find(channel_exact, "flip", 4));
}

static void
check_limit(const char *name, uint32_t size, uint32_t l, uint64_t eps,
            enum sotto_status status)
{
    struct channel_instance instance;
    const struct channel *channel =
        channel_find(channel_exact, name, strlen(name));
    assert_int_equal(channel_init(&instance, channel, size, rows_for(channel),
                                  l, eps, delta_of(channel), own_memory),
                     status);
}

static void
test_limits(void **state)
{
    static const char *const symbols[] = {"flip", "subset"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const char *name = symbols[i];
        check_limit(name, 0, 0, DECIMAL_UNIT, SOTTO_STATUS_LIMIT);
        check_limit(name, 1, 0, DECIMAL_UNIT, SOTTO_STATUS_LIMIT);
        check_limit(name, 2, 0, DECIMAL_UNIT, SOTTO_STATUS_OK);
        check_limit(name, CHANNEL_K_MAX, 0, DECIMAL_UNIT, SOTTO_STATUS_OK);
        check_limit(name, CHANNEL_K_MAX + 1, 0, DECIMAL_UNIT,
                    SOTTO_STATUS_LIMIT);
        check_limit(name, UINT32_MAX, 0, DECIMAL_UNIT, SOTTO_STATUS_LIMIT);
        check_limit(name, 2, 1, DECIMAL_UNIT, SOTTO_STATUS_LIMIT);
    }
    check_limit("laplace", 0, 1, DECIMAL_UNIT, SOTTO_STATUS_LIMIT);
    check_limit("laplace", 1, 0, DECIMAL_UNIT, SOTTO_STATUS_LIMIT);
    check_limit("laplace", CHANNEL_D_MAX, CHANNEL_L_MAX, DECIMAL_UNIT,
                SOTTO_STATUS_OK);
    check_limit("laplace", CHANNEL_D_MAX + 1, 1, DECIMAL_UNIT,
                SOTTO_STATUS_LIMIT);
    check_limit("laplace", 1, CHANNEL_L_MAX + 1, DECIMAL_UNIT,
                SOTTO_STATUS_LIMIT);
    check_limit("duchi", 0, 1, DECIMAL_UNIT, SOTTO_STATUS_LIMIT);
    check_limit("duchi", 1, 0, DECIMAL_UNIT, SOTTO_STATUS_LIMIT);
    check_limit("duchi", CHANNEL_D_MAX, CHANNEL_L_MAX, DECIMAL_UNIT,
                SOTTO_STATUS_OK);
    check_limit("duchi", CHANNEL_D_MAX + 1, 1, DECIMAL_UNIT,
                SOTTO_STATUS_LIMIT);
    check_limit("duchi", 1, CHANNEL_L_MAX + 1, DECIMAL_UNIT,
                SOTTO_STATUS_LIMIT);
    check_limit("window", 0, 1, DECIMAL_UNIT, SOTTO_STATUS_LIMIT);
    check_limit("window", 1, 0, DECIMAL_UNIT, SOTTO_STATUS_LIMIT);
    check_limit("window", 2, 1, DECIMAL_UNIT, SOTTO_STATUS_LIMIT);
    check_limit("window", 1, CHANNEL_L_MAX, DECIMAL_UNIT, SOTTO_STATUS_OK);
    check_limit("window", 1, CHANNEL_L_MAX + 1, DECIMAL_UNIT,
                SOTTO_STATUS_LIMIT);
}

static void
test_budget_limits(void **state)
{
    (void)state;
    for (size_t i = 0; channel_exact[i] != NULL; i++) {
        const char *name = channel_exact[i]->name;
        uint32_t size = size_for(channel_exact[i], 2),
                 l = l_for(channel_exact[i]);
        check_limit(name, size, l, 0, SOTTO_STATUS_BUDGET);
        check_limit(name, size, l, DECIMAL_EPS_MIN - 1, SOTTO_STATUS_BUDGET);
        check_limit(name, size, l, DECIMAL_EPS_MIN, SOTTO_STATUS_OK);
        check_limit(name, size, l, DECIMAL_EPS_MAX, SOTTO_STATUS_OK);
        check_limit(name, size, l, DECIMAL_EPS_MAX + 1, SOTTO_STATUS_BUDGET);
        check_limit(name, size, l, UINT64_MAX, SOTTO_STATUS_BUDGET);
    }
}

/* ---- Which bytes are reports -----------------------------------------------
 */

static void
test_flip_is_valid_below_k(void **state)
{
    static const uint32_t k[] = {2, 3, 255, 256, 257, 1000, 65535, 65536};
    struct channel_instance instance;
    (void)state;
    for (size_t i = 0; i < sizeof k / sizeof k[0]; i++) {
        set_up_channel(&instance, "flip", k[i], 0, DECIMAL_UNIT);
        assert_int_equal(instance.wire_size, k[i] <= 256 ? 1 : 2);
        for (uint32_t j = 0; j < UINT32_C(1) << (8 * instance.wire_size); j++) {
            uint8_t wire[2];
            if (j > 1002 && j < 65534 && j % 509 != 0) {
                continue; /* a sample of what lies between the edges */
            }
            bytes_store(wire, 2, j);
            assert_int_equal(instance.channel->valid(&instance, wire),
                             j < k[i]);
        }
    }
}

static void
test_subset_is_valid_with_w_bits_below_k(void **state)
{
    struct channel_instance instance;
    (void)state;
    for (uint32_t k = 9; k <= 16; k++) {
        set_up_channel(&instance, "subset", k, 0, DECIMAL_UNIT / 2);
        assert_int_equal(instance.wire_size, 2);
        for (uint32_t j = 0; j < 65536; j++) {
            uint8_t wire[2];
            bytes_store(wire, 2, j);
            assert_int_equal(instance.channel->valid(&instance, wire),
                             j >> k == 0 && (uint32_t)__builtin_popcount(j) ==
                                                symbols_of(&instance)->w);
        }
    }
}

/* Every width a coordinate can have: valid to the clamp and no further. */
static void
test_laplace_is_valid_up_to_its_clamp(void **state)
{
    static const uint32_t l[] = {1, 10000, CHANNEL_L_MAX};
    static const uint64_t eps[] = {DECIMAL_UNIT, DECIMAL_UNIT, DECIMAL_EPS_MIN};
    struct channel_instance instance;
    struct dlaplace noise;
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t width = UINT32_C(2) << i;
        int64_t clamp;
        uint8_t wire[24];
        set_up_channel(&instance, "laplace", 3, l[i], eps[i]);
        dlaplace_init(&noise, l[i], eps[i]);
        clamp = (int64_t)noise.horizon - l[i];
        assert_int_equal(instance.wire_size, 3 * width);
        for (int64_t off = -2; off <= 2; off++) {
            for (int sign = -1; sign <= 1; sign += 2) {
                memset(wire, 0, sizeof wire);
                bytes_store(wire + width, width,
                            (uint64_t)(sign * (clamp + off)));
                assert_int_equal(instance.channel->valid(&instance, wire),
                                 off <= 0);
            }
        }
    }
}

static void
test_duchi_is_valid_with_no_bit_past_d(void **state)
{
    struct channel_instance instance;
    (void)state;
    for (uint32_t d = 1; d <= 16; d++) {
        set_up_channel(&instance, "duchi", d, 3, DECIMAL_UNIT);
        assert_int_equal(instance.wire_size, d <= 8 ? 1 : 2);
        for (uint32_t j = 0; j < UINT32_C(1) << (8 * instance.wire_size); j++) {
            uint8_t wire[2];
            bytes_store(wire, 2, j);
            assert_int_equal(instance.channel->valid(&instance, wire),
                             j >> d == 0);
        }
    }
}

/* No attempt kept in any block of the largest report, 2^16/d of them: below
   2^-64. The number of attempts is at hand in the entropy that they draw. */
static void
test_duchi_hardly_ever_fails(void **state)
{
    static const double eps[] = {0.000001, 0.1, 1, 4, 32};
    struct channel_instance instance;
    (void)state;
    for (size_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        double b = 1;
        for (uint32_t d = 2; d <= CHANNEL_D_MAX; d += 2) {
            uint32_t each, tries;
            b *= (d - 1.0) / d;
            set_up_channel(&instance, "duchi", d, 1,
                           (uint64_t)(eps[i] * (double)DECIMAL_UNIT + 0.5));
            each = instance.wire_size * DRAW_BELOW_SIZE + DRAW_TABLES_SIZE +
                   2 * DRAW_SYMBOL_SIZE;
            tries = (instance.entropy_size - d * DRAW_BELOW_SIZE) / each;
            assert_true(tries * log2(b * tanh(eps[i] / 2)) + log2(65536.0 / d) <
                        -64);
        }
    }
}

static void
test_window_is_valid_up_to_its_ends(void **state)
{
    static const uint32_t l[] = {1, 100, 16384, 32767, CHANNEL_L_MAX};
    static const uint64_t eps[] = {DECIMAL_EPS_MIN, DECIMAL_UNIT,
                                   DECIMAL_EPS_MAX};
    struct channel_instance instance;
    (void)state;
    for (size_t i = 0; i < 15; i++) {
        int64_t most = l[i / 3];
        uint8_t wire[4];
        set_up_channel(&instance, "window", 1, l[i / 3], eps[i % 3]);
        most += ((const struct window *)instance.own)->w;
        assert_in_range(most, l[i / 3], 2 * l[i / 3] + 1);
        assert_int_equal(instance.wire_size, most <= INT16_MAX ? 2 : 4);
        for (int64_t off = -2; off <= 2; off++) {
            if (instance.wire_size == 2 && most + off > INT16_MAX) {
                continue; /* two bytes cannot say it */
            }
            bytes_store(wire, 4, (uint64_t)(most + off));
            assert_int_equal(instance.channel->valid(&instance, wire),
                             off <= 0);
            bytes_store(wire, 4, (uint64_t)(-most - off));
            assert_int_equal(instance.channel->valid(&instance, wire),
                             off <= 0);
        }
    }
}

/* ---- Samples, packing, bytes drawn ------------------------------------------
 */

/* Room for all that any sample takes, so that it is filled once. */
static uint8_t entropy_buffer[1 << 21];

static int
fill_from_stream(void *context, void *buffer, size_t size)
{
    struct seeded *seeded = context;
    for (size_t i = 0; i < size; i += 4) {
        bytes_store((uint8_t *)buffer + i, 4, random_u32(&seeded->random));
    }
    return 0;
}

static void
check_samples(const char *name, uint32_t size, uint32_t l, uint64_t eps)
{
    static uint8_t wire[WIRE_MAX + 1];
    static int32_t q[CHANNEL_D_MAX];
    struct channel_instance instance;
    struct seeded seeded;
    struct random random;
    size_t room;
    set_up_channel(&instance, name, size, l, eps);
    assert_in_range(instance.wire_size, 1, WIRE_MAX);
    room = (instance.entropy_size / 8 + 4) * 8;
    assert_true(room < sizeof entropy_buffer);
    seeded_init(&seeded, 18, size);
    for (int i = 0; i < 3; i++) {
        random_init(&random, entropy_buffer, room, fill_from_stream, &seeded);
        draw_point(&instance, &seeded, q);
        memset(wire, 0x5a, sizeof wire);
        instance.channel->sample(&instance, q, &random, wire);
        assert_int_equal(random.next, instance.entropy_size);
        assert_int_equal(wire[instance.wire_size], 0x5a);
        assert_true(instance.channel->valid(&instance, wire));
    }
}

static void
test_samples_are_reports_of_the_stated_size(void **state)
{
    (void)state;
    check_grid(check_samples);
}

static void
test_duchi_and_window_anywhere(void **state)
{
    (void)state;
    check_anywhere(check_samples);
}

/* ---- Parameters
 * -------------------------------------------------------------- */

/* The variance of a rare symbol's frequency, from the definition. */
static double
variance_with(double k, double w, double eps)
{
    double e = exp(eps), z = w * e + k - w;
    double in = w * e / z;
    double other = (w - in) / (k - 1);
    return other * (1 - other) / ((in - other) * (in - other));
}

/* At a tie either will do: the variance is compared, not w. */
static void
check_best(uint32_t k, uint64_t eps)
{
    double real = (double)eps / (double)DECIMAL_UNIT;
    uint32_t w = symbols_best_w(k, eps);
    double ours = variance_with(k, w, real);
    assert_in_range(w, 1, k - 1);
    for (uint32_t i = 1; i < k; i++) {
        assert_true(ours <= variance_with(k, i, real) * (1 + 1e-9));
    }
}

static void
test_subset_has_the_best_size(void **state)
{
    static const uint64_t eps[] = {
        DECIMAL_UNIT / 1000, DECIMAL_UNIT / 10, DECIMAL_UNIT / 2,
        DECIMAL_UNIT,        2 * DECIMAL_UNIT,  3 * DECIMAL_UNIT,
        5 * DECIMAL_UNIT,    8 * DECIMAL_UNIT,  DECIMAL_EPS_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        for (uint32_t k = 2; k <= 64; k++) {
            check_best(k, eps[i]);
        }
        check_best(1000, eps[i]);
        check_best(4096, eps[i]);
        check_best(CHANNEL_K_MAX, eps[i]);
    }
}

/* The variance at q = +-l, from the definition: e^eps : 1 are the weights of a
   y near q and of any other. */
static double
plain_variance(uint32_t l, uint32_t w, double eps)
{
    int64_t most = (int64_t)l + w;
    double mass = 0, first = 0, second = 0;
    for (int64_t y = -most; y <= most; y++) {
        double weight = y >= (int64_t)l - w ? exp(eps) : 1;
        mass += weight;
        first += weight * (double)y;
        second += weight * (double)y * (double)y;
    }
    return l * (l * (second / mass) / (first / mass) / (first / mass) - l);
}

static void
test_window_has_the_best_width(void **state)
{
    static const double eps[] = {0.001, 0.1, 0.5, 1, 2, 4, 8, 16};
    struct channel_instance instance;
    (void)state;
    for (size_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        for (uint32_t l = 1; l <= 64; l++) {
            set_up_channel(&instance, "window", 1, l,
                           (uint64_t)(eps[i] * (double)DECIMAL_UNIT + 0.5));
            double ours = plain_variance(
                l, ((const struct window *)instance.own)->w, eps[i]);
            for (uint32_t w = 0; w <= 3 * l; w++) {
                assert_true(ours <= plain_variance(l, w, eps[i]) * (1 + 1e-9));
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_channels_are_found_by_whole_name),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_budget_limits),
        cmocka_unit_test(test_flip_is_valid_below_k),
        cmocka_unit_test(test_subset_is_valid_with_w_bits_below_k),
        cmocka_unit_test(test_laplace_is_valid_up_to_its_clamp),
        cmocka_unit_test(test_duchi_is_valid_with_no_bit_past_d),
        cmocka_unit_test(test_duchi_hardly_ever_fails),
        cmocka_unit_test(test_window_is_valid_up_to_its_ends),
        cmocka_unit_test(test_samples_are_reports_of_the_stated_size),
        cmocka_unit_test(test_duchi_and_window_anywhere),
        cmocka_unit_test(test_subset_has_the_best_size),
        cmocka_unit_test(test_window_has_the_best_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
