/*
 * test_channel.c: the registry, the limits, and what holds for every channel
 * and is too large for test_exact.c to enumerate.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/decimal.h"
#include "channel/channel.h"
#include "channel/symbols.h"
#include "random/dlaplace.h"
#include "random/seeded.h"

#define OWN_MAX 32768u
#define WIRE_MAX (8 * CHANNEL_D_MAX)

static uint64_t own_memory[OWN_MAX / 8];

/* The largest there is, for a channel that needs one. */
static uint64_t
delta_of(const struct channel *channel)
{
    return channel->approximate ? DECIMAL_DELTA_MAX : 0;
}

/* Pairs are set up in two rows. */
static uint32_t
rows_for(const struct channel *channel)
{
    return channel->pairs ? 2 : 0;
}

/* Sets up a channel by name; one at a time. */
static void
set_up(struct channel_instance *instance, const char *name, uint32_t size,
       uint32_t l, uint64_t eps)
{
    const struct channel *channel = channel_find(name, strlen(name));
    assert_non_null(channel);
    assert_true(channel->own_size <= OWN_MAX);
    memset(instance, 0x5a, sizeof *instance);
    memset(own_memory, 0x5a, sizeof own_memory);
    assert_int_equal(channel_init_rows(instance, channel, size,
                                       rows_for(channel), l, eps,
                                       delta_of(channel), own_memory),
                     SOTTO_STATUS_OK);
    assert_ptr_equal(instance->channel, channel);
    assert_int_equal(instance->size, size);
    assert_int_equal(instance->l, l);
    assert_true(instance->eps == eps);
}

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

/* ---- Registry and limits ---------------------------------------------------
 */

static void
test_channels_are_found_by_whole_name(void **state)
{
    size_t count = 0;
    (void)state;
    for (; channel_at(count) != NULL; count++) {
        const char *name = channel_at(count)->name;
        assert_ptr_equal(channel_find(name, strlen(name)), channel_at(count));
        assert_null(channel_find(name, strlen(name) - 1));
        assert_null(channel_find(name, strlen(name) + 1));
        assert_true(strlen(channel_at(count)->promise) > 0);
        assert_int_equal(channel_at(count)->own_size % 8, 0);
    }
    assert_true(count >= 3);
    assert_null(channel_find("", 0));
    assert_null(channel_find("Flip", 4));
    assert_ptr_equal(channel_find("flip,", 4), channel_find("flip", 4));
}

static void
check_limit(const char *name, uint32_t size, uint32_t l, uint64_t eps,
            enum sotto_status status)
{
    struct channel_instance instance;
    const struct channel *channel = channel_find(name, strlen(name));
    assert_int_equal(channel_init_rows(&instance, channel, size,
                                       rows_for(channel), l, eps,
                                       delta_of(channel), own_memory),
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
    for (size_t i = 0; channel_at(i) != NULL; i++) {
        const char *name = channel_at(i)->name;
        uint32_t size = size_for(channel_at(i), 2), l = l_for(channel_at(i));
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
        set_up(&instance, "flip", k[i], 0, DECIMAL_UNIT);
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
        set_up(&instance, "subset", k, 0, DECIMAL_UNIT / 2);
        assert_int_equal(instance.wire_size, 2);
        for (uint32_t j = 0; j < 65536; j++) {
            uint8_t wire[2];
            bytes_store(wire, 2, j);
            assert_int_equal(instance.channel->valid(&instance, wire),
                             j >> k == 0 && (uint32_t)__builtin_popcount(j) ==
                                                instance.values);
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
        set_up(&instance, "laplace", 3, l[i], eps[i]);
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
        set_up(&instance, "duchi", d, 3, DECIMAL_UNIT);
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
            set_up(&instance, "duchi", d, 1,
                   (uint64_t)(eps[i] * (double)DECIMAL_UNIT + 0.5));
            each = instance.wire_size * DRAW_BELOW_SIZE + DRAW_TABLES_SIZE +
                   2 * DRAW_SYMBOL_SIZE;
            tries = (instance.entropy_size - d * DRAW_BELOW_SIZE) / each;
            assert_true(tries * log2(b * tanh(eps[i] / 2)) + log2(65536.0 / d) <
                        -64);
        }
    }
}

/* w is at hand as the largest report less l. */
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
        set_up(&instance, "window", 1, l[i / 3], eps[i % 3]);
        while (instance.channel->pack(&instance, &most, wire)) {
            most++;
        }
        most--;
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

/* A point of the domain: a vertex, or any symbol; any point of a cube. */
static void
draw_point(const struct channel_instance *instance, struct seeded *seeded,
           int32_t *ret_q)
{
    uint32_t word = random_u32(&seeded->random);
    if (instance->channel->domain == CHANNEL_DOMAIN_SYMBOLS) {
        ret_q[0] = (int32_t)(word % instance->size);
        return;
    }
    for (uint32_t i = 0;
         instance->channel->domain == CHANNEL_DOMAIN_CUBE && i < instance->size;
         i++) {
        uint32_t any = random_u32(&seeded->random) % (2 * instance->l + 1);
        ret_q[i] = (int32_t)any - (int32_t)instance->l;
    }
    if (instance->channel->domain == CHANNEL_DOMAIN_CUBE) {
        return;
    }
    memset(ret_q, 0, instance->size * sizeof *ret_q);
    ret_q[word % instance->size] =
        (word >> 31) ? (int32_t)instance->l : -(int32_t)instance->l;
}

static void
check_packing(const struct channel_instance *instance, const uint8_t *wire)
{
    static int64_t values[CHANNEL_K_MAX];
    static uint8_t packed[WIRE_MAX + 1];
    const struct channel *channel = instance->channel;
    channel->unpack(instance, wire, values);
    memset(packed, 0x5a, sizeof packed);
    assert_true(channel->pack(instance, values, packed));
    assert_memory_equal(packed, wire, instance->wire_size);
    assert_int_equal(packed[instance->wire_size], 0x5a);
    for (uint32_t i = 0; i < instance->values; i += 1 + i / 4) {
        int64_t kept = values[i];
        values[i] = INT64_MAX;
        assert_false(channel->pack(instance, values, packed));
        values[i] = INT64_MIN;
        assert_false(channel->pack(instance, values, packed));
        values[i] = kept;
    }
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
    set_up(&instance, name, size, l, eps);
    assert_in_range(instance.wire_size, 1, WIRE_MAX);
    room = (instance.entropy_size / 8 + 4) * 8;
    assert_true(room < sizeof entropy_buffer);
    seeded_init(&seeded, 18, size);
    for (int i = 0; i < 3; i++) {
        double one, many;
        random_init(&random, entropy_buffer, room, fill_from_stream, &seeded);
        draw_point(&instance, &seeded, q);
        memset(wire, 0x5a, sizeof wire);
        instance.channel->sample(&instance, q, &random, wire);
        assert_int_equal(random.next, instance.entropy_size);
        assert_int_equal(wire[instance.wire_size], 0x5a);
        assert_true(instance.channel->valid(&instance, wire));
        check_packing(&instance, wire);
        one = instance.channel->log_p(&instance, wire, q);
        instance.channel->log_p_many(&instance, wire, q, 1, &many);
        assert_true(one <= 0 && fabs(one - many) <= 1e-12 * fabs(one));
    }
}

static void
test_samples_are_reports_of_the_stated_size(void **state)
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
test_duchi_and_window_anywhere(void **state)
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

static void
test_pack_refuses_a_set_that_is_not_in_order(void **state)
{
    struct channel_instance instance;
    uint8_t wire[2];
    int64_t values[4] = {2, 5, 7, 8};
    (void)state;
    set_up(&instance, "subset", 10, 0, DECIMAL_UNIT / 2);
    assert_int_equal(instance.values, 4);
    assert_true(instance.channel->pack(&instance, values, wire));
    values[1] = 2;
    assert_false(instance.channel->pack(&instance, values, wire));
    values[1] = 1;
    assert_false(instance.channel->pack(&instance, values, wire));
    values[1] = 5;
    values[3] = 10;
    assert_false(instance.channel->pack(&instance, values, wire));
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
window_variance(uint32_t l, uint32_t w, double eps)
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
            set_up(&instance, "window", 1, l,
                   (uint64_t)(eps[i] * (double)DECIMAL_UNIT + 0.5));
            for (uint32_t w = 0; w <= 3 * l; w++) {
                assert_true(instance.variance_true <=
                            window_variance(l, w, eps[i]) * (1 + 1e-9));
            }
        }
    }
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
            struct channel_instance instance;
            set_up(&instance, names[j], 1, 4096,
                   (uint64_t)(eps[i] * (double)DECIMAL_UNIT + 0.5));
            deviation[j] = sqrt(instance.variance_true) / 4096;
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
    static long double at[CHANNEL_D_MAX + 1];
    long double sum = 0;
    memset(at, 0, sizeof at);
    at[0] = 1;
    for (uint32_t j = 0; j < d; j++) {
        long double yes = ((long double)l + q[j]) / (2 * (long double)l);
        for (uint32_t i = j + 1; i > 0; i--) {
            at[i] = at[i] * (1 - yes) + at[i - 1] * yes;
        }
        at[0] *= 1 - yes;
    }
    for (uint32_t i = d / 2 + 1; i <= d; i++) {
        sum += at[i];
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
    struct channel_instance instance;
    double h = exp(2) / (exp(2) + 1);
    (void)state;
    for (uint32_t i = 0; i < sizeof d / sizeof d[0]; i++) {
        double size = d[i] * log(2), one, far, near;
        set_up(&instance, "duchi", d[i], 1000, 2 * DECIMAL_UNIT);
        memset(wire, 0, sizeof wire);
        for (uint32_t j = 0; j < d[i]; j++) {
            wire[j / 8] |= (uint8_t)(1u << j % 8);
            q[j] = (int32_t)(j * 7919 % 2001) - 995;
        }
        one = instance.channel->log_p(&instance, wire, centre);
        assert_true(fabs(one + size) <= 1e-14 * size);
        near = (double)majority(centre, d[i], 1000);
        far = (double)majority(q, d[i], 1000);
        one += log((1 - h + (2 * h - 1) * far) / (1 - h + (2 * h - 1) * near));
        assert_true(fabs(instance.channel->log_p(&instance, wire, q) - one) <=
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
    struct channel_instance instance;
    struct seeded seeded;
    uint32_t along = 0;
    (void)state;
    set_up(&instance, "duchi", WIDE_D, 50, DECIMAL_UNIT);
    seeded_init(&seeded, 20, 0);
    for (uint32_t j = 0; j < WIDE_D; j++) {
        q[j] = (int32_t)j - 49;
        corner[j] = j % 3 == 0 ? 50 : -50;
        b *= j % 2 == 0 ? (double)(j + 1) : 1 / (double)(j + 1);
    }
    for (int i = 0; i < REPORTS; i++) {
        double dot = 0;
        instance.channel->sample(&instance, q, &seeded.random, wire);
        instance.channel->estimate(&instance, wire, estimate);
        for (uint32_t j = 0; j < WIDE_D; j++) {
            sum[j] += estimate[j];
        }
        instance.channel->sample(&instance, corner, &seeded.random, wire);
        instance.channel->estimate(&instance, wire, estimate);
        for (uint32_t j = 0; j < WIDE_D; j++) {
            dot += estimate[j] > 0 ? corner[j] : -corner[j];
        }
        along += dot > 0;
    }
    assert_false(seeded.random.failed);
    for (uint32_t j = 0; j < WIDE_D; j++) {
        double variance = instance.variance_true - q[j] * q[j];
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
            for (size_t m = 0; channel_at(m) != NULL; m++) {
                struct channel_instance instance;
                set_up(&instance, channel_at(m)->name,
                       size_for(channel_at(m), size[j]), l_for(channel_at(m)),
                       eps[i]);
                assert_true(instance.eps_exact <= stated);
                assert_true(instance.eps_exact >= stated * (1 - 1e-15));
                assert_true(instance.bias >= 0);
                assert_true(isfinite(instance.variance_true));
                assert_true(instance.variance_true > 0);
                assert_true(instance.variance_other > 0);
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
        struct channel_instance instance;
        int32_t in = 0, out;
        double w, total;
        set_up(&instance, "subset", k[i], 0, DECIMAL_UNIT);
        w = instance.values;
        out = (int32_t)w;
        for (int64_t j = 0; j < out; j++) {
            values[j] = j; /* the first w symbols */
        }
        assert_true(instance.channel->pack(&instance, values, wire));
        total = exp(instance.channel->log_p(&instance, wire, &in) +
                    log_choose(k[i] - 1, w - 1)) +
                exp(instance.channel->log_p(&instance, wire, &out) +
                    log_choose(k[i] - 1, w));
        assert_true(fabs(total - 1) < 1e-9);
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
        cmocka_unit_test(test_pack_refuses_a_set_that_is_not_in_order),
        cmocka_unit_test(test_subset_has_the_best_size),
        cmocka_unit_test(test_window_has_the_best_width),
        cmocka_unit_test(test_noise_of_one_number),
        cmocka_unit_test(test_duchi_log_p_where_there_are_many_signs),
        cmocka_unit_test(test_duchi_has_the_right_means),
        cmocka_unit_test(test_eps_exact_is_the_stated_one_and_never_above),
        cmocka_unit_test(test_log_p_of_large_sets_sums_to_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
