/*
 * test_signs.c: pairs too many to enumerate, which bytes are a report, limits,
 * and what a report is worth beside subset's. test_exact.c has the exact
 * distribution on small tables.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/decimal.h"
#include "channel/symbols.h"
#include "likelihood/symbols_likelihood.h"
#include "random/seeded.h"

#define WIRE_MAX 8192u
#define K_LARGE 1024u

static uint64_t own_memory[64];

/* Of the instance set up last. */
static struct likelihood_instance likelihood;

static enum sotto_status
try(struct channel_instance *instance, const char *name, uint32_t size,
    uint32_t rows, uint64_t eps)
{
    const struct channel *channel =
        channel_find(channel_exact, name, strlen(name));
    assert_true(channel->own_size <= sizeof own_memory);
    return channel_init(instance, channel, size, rows, 0, eps, 0, own_memory);
}

static void
set_up(struct channel_instance *instance, uint32_t k1, uint32_t k2,
       uint64_t eps)
{
    memset(instance, 0x5a, sizeof *instance);
    memset(own_memory, 0x5a, sizeof own_memory);
    assert_int_equal(try(instance, "signs", k1 * k2, k1, eps), SOTTO_STATUS_OK);
    assert_int_equal(instance->rows, k1);
    assert_int_equal(likelihood_init(&likelihood, instance), SOTTO_STATUS_OK);
}

/* ---- Limits ---------------------------------------------------------------
 */

static void
test_a_table_has_two_rows_and_two_columns(void **state)
{
    static const uint32_t good[][2] = {
        {4, 2}, {6, 2}, {6, 3}, {65536, 2}, {65536, 256}, {65536, 32768}};
    static const uint32_t bad[][2] = {
        {2, 1},     {2, 2},      {4, 0},          {4, 1},     {4, 4},
        {4, 3},     {9, 2},      {6, UINT32_MAX}, {65538, 2}, {65536, 65536},
        {65536, 3}, {131072, 2}, {0, 0},          {0, 2}};
    struct channel_instance instance;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(
            try(&instance, "signs", good[i][0], good[i][1], DECIMAL_UNIT),
            SOTTO_STATUS_OK);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(
            try(&instance, "signs", bad[i][0], bad[i][1], DECIMAL_UNIT),
            SOTTO_STATUS_LIMIT);
    }
    assert_int_equal(channel_init(&instance,
                                  channel_find(channel_exact, "signs", 5), 4, 0,
                                  0, DECIMAL_UNIT, 0, own_memory),
                     SOTTO_STATUS_LIMIT);
    /* Others take any number of rows, and keep none. */
    assert_int_equal(try(&instance, "flip", 7, 3, DECIMAL_UNIT),
                     SOTTO_STATUS_OK);
    assert_int_equal(instance.rows, 0);
}

/* ---- Which bytes are reports ----------------------------------------------
 */

static bool
balanced(uint32_t bits, uint32_t k)
{
    uint32_t plus = (uint32_t)__builtin_popcount(bits);
    return bits >> k == 0 && (plus == k / 2 || plus == k - k / 2);
}

/* The half of them that is sent: for even k the last is +1, for odd k there is
   one more -1. */
static bool
sent(uint32_t bits, uint32_t k)
{
    return balanced(bits, k) &&
           (k % 2 == 0 ? bits >> (k - 1) == 1
                       : (uint32_t)__builtin_popcount(bits) == k / 2);
}

static void
test_reports_are_balanced_signs(void **state)
{
    struct channel_instance instance;
    (void)state;
    for (uint32_t k1 = 2; k1 <= 8; k1++) {
        for (uint32_t k2 = 2; k2 <= 8; k2++) {
            set_up(&instance, k1, k2, DECIMAL_UNIT);
            assert_int_equal(instance.wire_size, 2);
            assert_int_equal(likelihood.values, k1 + k2);
            for (uint32_t j = 0; j < 65536; j++) {
                uint8_t wire[2];
                bytes_store(wire, 2, j);
                assert_int_equal(instance.channel->valid(&instance, wire),
                                 balanced(j & 0xff, k1) && sent(j >> 8, k2));
            }
        }
    }
    set_up(&instance, 9, 17, DECIMAL_UNIT);
    assert_int_equal(instance.wire_size, 2 + 3);
}

/* Every report there is goes to people and back, and nothing else does. */
static void
test_packing(void **state)
{
    struct channel_instance instance;
    (void)state;
    for (uint32_t k1 = 4; k1 <= 5; k1++) {
        for (uint32_t k2 = 4; k2 <= 5; k2++) {
            uint32_t all = k1 + k2;
            set_up(&instance, k1, k2, DECIMAL_UNIT);
            for (uint32_t bits = 0; bits < 1u << all; bits++) {
                uint32_t a = bits & ((1u << k1) - 1), b = bits >> k1;
                int64_t values[10], back[10];
                uint8_t wire[3] = {0x5a, 0x5a, 0x5a};
                for (uint32_t i = 0; i < all; i++) {
                    values[i] = (bits >> i & 1) != 0 ? 1 : -1;
                }
                assert_int_equal(
                    likelihood.likelihood->pack(&likelihood, values, wire),
                    balanced(a, k1) && sent(b, k2));
                if (instance.channel->valid(&instance, wire)) {
                    assert_int_equal(wire[0], a);
                    assert_int_equal(wire[1], b);
                    likelihood.likelihood->unpack(&likelihood, wire, back);
                    assert_memory_equal(values, back, all * sizeof *values);
                    values[all - 1] *= 3;
                    assert_false(
                        likelihood.likelihood->pack(&likelihood, values, wire));
                }
                assert_int_equal(wire[2], 0x5a);
            }
        }
    }
}

/* ---- Samples ---------------------------------------------------------------
 */

static uint8_t entropy_buffer[1 << 20];

static int
fill_from_stream(void *context, void *buffer, size_t size)
{
    struct seeded *seeded = context;
    for (size_t i = 0; i < size; i += 4) {
        bytes_store((uint8_t *)buffer + i, 4, random_u32(&seeded->random));
    }
    return 0;
}

/* The report draws what it says it does; and names the pair if and only if
   `log p` says that it is the likelier. */
static void
check_sample(const struct channel_instance *instance, struct seeded *seeded,
             int32_t q)
{
    static uint8_t wire[WIRE_MAX + 1];
    const struct channel *channel = instance->channel;
    const struct symbols *own = symbols_of(instance);
    size_t room = ((size_t)instance->entropy_size / 8 + 4) * 8;
    struct random random;
    double log_p, many;
    assert_true(room <= sizeof entropy_buffer);
    random_init(&random, entropy_buffer, room, fill_from_stream, seeded);
    memset(wire, 0x5a, sizeof wire);
    channel->sample(instance, &q, &random, wire);
    assert_int_equal(random.next, instance->entropy_size);
    assert_int_equal(wire[instance->wire_size], 0x5a);
    assert_true(channel->valid(instance, wire));
    log_p = likelihood.likelihood->log_p(&likelihood, wire, &q);
    likelihood.likelihood->log_p_many(&likelihood, wire, &q, 1, &many);
    assert_true(log_p == many);
    assert_true(log_p == likelihood.own[own->names(instance, wire, (uint32_t)q)
                                            ? SYMBOLS_LOG_IN
                                            : SYMBOLS_LOG_OUT]);
}

static void
test_samples_of_large_tables(void **state)
{
    static const uint32_t k[][2] = {{2, 2},     {3, 2},     {10, 10},
                                    {8, 9},     {64, 65},   {255, 257},
                                    {2, 32768}, {32768, 2}, {256, 256}};
    static const uint64_t eps[] = {DECIMAL_EPS_MIN, DECIMAL_UNIT,
                                   DECIMAL_EPS_MAX};
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 40, 0);
    for (size_t i = 0; i < sizeof k / sizeof k[0]; i++) {
        for (size_t j = 0; j < 3; j++) {
            struct channel_instance instance;
            set_up(&instance, k[i][0], k[i][1], eps[j]);
            check_sample(&instance, &seeded, 0);
            check_sample(&instance, &seeded, (int32_t)instance.size - 1);
            check_sample(&instance, &seeded,
                         (int32_t)(random_u32(&seeded.random) % instance.size));
        }
    }
}

/* ---- Moments ----------------------------------------------------------------
 */

/* Sums of an estimate's rows and of its columns are those of the uniform. */
static void
test_estimates_say_nothing_of_rows_and_columns(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 41, 0);
    for (uint32_t k1 = 9; k1 <= 10; k1++) {
        for (uint32_t k2 = 12; k2 <= 13; k2++) {
            struct channel_instance instance;
            double estimate[K_LARGE];
            uint8_t wire[8];
            int32_t q = 17;
            set_up(&instance, k1, k2, DECIMAL_UNIT / 10);
            instance.channel->sample(&instance, &q, &seeded.random, wire);
            likelihood.likelihood->estimate(&likelihood, wire, estimate);
            for (uint32_t i = 0; i < k1; i++) {
                double sum = 0;
                for (uint32_t j = 0; j < k2; j++) {
                    sum += estimate[i * k2 + j];
                }
                assert_true(fabs(sum - 1.0 / k1) < 1e-11);
            }
            for (uint32_t j = 0; j < k2; j++) {
                double sum = 0;
                for (uint32_t i = 0; i < k1; i++) {
                    sum += estimate[i * k2 + j];
                }
                assert_true(fabs(sum - 1.0 / k2) < 1e-11);
            }
        }
    }
}

/*
 * ((e+1)/(e-1))^2 spread_1 spread_2 less the mean's square, as docs/channels.md
 * has it, to the last digits also where h is next to 1/2.
 */
static void
test_variance_is_the_formula(void **state)
{
    static const uint64_t eps[] = {DECIMAL_EPS_MIN, DECIMAL_UNIT / 10,
                                   DECIMAL_UNIT, 8 * DECIMAL_UNIT};
    (void)state;
    for (uint32_t k1 = 2; k1 <= 21; k1++) {
        for (uint32_t k2 = 2; k2 <= 21; k2++) {
            for (size_t i = 0; i < 4; i++) {
                struct channel_instance instance;
                double coth = 1 / tanh((double)eps[i] / 2e12), k = k1 * k2;
                double n1 = k1 + k1 % 2, n2 = k2 + k2 % 2, square;
                square = (k1 % 2 ? 1 - 1.0 / k1 / k1 : 1) *
                         (k2 % 2 ? 1 - 1.0 / k2 / k2 : 1) *
                         pow(coth * (1 - 1 / n1) * (1 - 1 / n2), 2);
                set_up(&instance, k1, k2, eps[i]);
                assert_true(fabs(likelihood.variance_other + 1 / (k * k) -
                                 square) <= 1e-13 * square);
                assert_true(fabs(likelihood.bias - (k1 + k2 - 2) / k) < 1e-15);
            }
        }
    }
}

/* ---- Beside subset ----------------------------------------------------------
 */

/* The variance of the estimate of a contrast of length 1 within the
   interaction, mean square over uniform pairs: docs/channels.md. */
static double
signs_contrast(uint32_t k1, uint32_t k2, double eps)
{
    double n1 = k1 + k1 % 2, n2 = k2 + k2 % 2, coth = 1 / tanh(eps / 2);
    return coth * coth * (1 - 1 / n1) * (1 - 1 / n2);
}

static double
subset_contrast(uint32_t k, double eps)
{
    double e = exp(eps), least = INFINITY;
    for (uint32_t w = 1; w < k; w++) {
        double z = w * e + k - w;
        least = fmin(least, (k - 1.0) * z * z /
                                ((double)k * w * (k - w) * (e - 1) * (e - 1)));
    }
    return least;
}

/* cosh(eps/2)^2 = lambda_1 lambda_2 (k-1)/k, where w need not be whole. */
static double
crossover(uint32_t k1, uint32_t k2)
{
    double n1 = k1 + k1 % 2, n2 = k2 + k2 % 2, k = k1 * k2;
    return 2 * acosh(sqrt(n1 / (n1 - 1) * n2 / (n2 - 1) * (k - 1) / k));
}

static void
test_which_is_better_for_pairs(void **state)
{
    static const uint32_t k[][2] = {{2, 2},   {3, 3},   {5, 5},
                                    {10, 10}, {50, 10}, {100, 100}};
    static const double eps[] = {0.1, 0.5, 1, 2};
    (void)state;
    printf("| k_1 x k_2 | crossover | eps 0.1 | 0.5 | 1 | 2 |\n"
           "|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof k / sizeof k[0]; i++) {
        uint32_t k1 = k[i][0], k2 = k[i][1];
        double at = crossover(k1, k2);
        printf("| %u x %u | %.2f |", k1, k2, at);
        for (size_t j = 0; j < 4; j++) {
            printf(" %.3f |", subset_contrast(k1 * k2, eps[j]) /
                                  signs_contrast(k1, k2, eps[j]));
        }
        printf("\n");
        assert_true(signs_contrast(k1, k2, 0.9 * at) <
                    subset_contrast(k1 * k2, 0.9 * at));
        /* A whole w may cost subset more where k is small. */
        assert_true(k1 < 5 || signs_contrast(k1, k2, 1.1 * at) >
                                  subset_contrast(k1 * k2, 1.1 * at));
    }
    /* 99/81 as epsilon goes to 0: 22% more reports' worth. */
    assert_true(fabs(subset_contrast(100, 1e-4) / signs_contrast(10, 10, 1e-4) -
                     99.0 / 81) < 1e-6);
    assert_true(fabs(crossover(10, 10) - 0.911) < 0.001);
}

/* The formulas are those of the estimates: mean squares over what samples of
   uniform pairs say of a swap, (e_c - e_c')(e_y - e_y')' / 2. 100,000 reports
   of either: 5 deviations of the mean square are below 4%. */
static double
mean_square(const char *name, double eps, double *ret_signal)
{
    struct channel_instance instance;
    struct seeded seeded;
    double sum = 0, signal = 0;
    assert_int_equal(
        try(&instance, name, 100, 10, (uint64_t)(eps * (double)DECIMAL_UNIT)),
        SOTTO_STATUS_OK);
    assert_int_equal(likelihood_init(&likelihood, &instance), SOTTO_STATUS_OK);
    seeded_init(&seeded, 42, 0);
    for (int i = 0; i < 100000; i++) {
        uint8_t wire[16];
        double estimate[100], contrast;
        int32_t q = (int32_t)draw_below(&seeded.random, 100);
        double sign = (q == 12 || q == 34) - (q == 14 || q == 32);
        instance.channel->sample(&instance, &q, &seeded.random, wire);
        likelihood.likelihood->estimate(&likelihood, wire, estimate);
        contrast =
            (estimate[12] - estimate[14] - estimate[32] + estimate[34]) / 2;
        sum += contrast * contrast;
        signal += contrast * sign;
    }
    *ret_signal = signal / 100000;
    return sum / 100000;
}

static void
test_formulas_are_what_samples_show(void **state)
{
    double signs, subset, signal;
    (void)state;
    signs = mean_square("signs", 1, &signal);
    assert_true(fabs(signs / signs_contrast(10, 10, 1) - 1) < 0.04);
    assert_true(fabs(signal - 0.02) < 0.01); /* 4/100 at contrast 1/2 */
    subset = mean_square("subset", 1, &signal);
    assert_true(fabs(subset / subset_contrast(100, 1) - 1) < 0.04);
    assert_true(fabs(signal - 0.02) < 0.01);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_table_has_two_rows_and_two_columns),
        cmocka_unit_test(test_reports_are_balanced_signs),
        cmocka_unit_test(test_packing),
        cmocka_unit_test(test_samples_of_large_tables),
        cmocka_unit_test(test_estimates_say_nothing_of_rows_and_columns),
        cmocka_unit_test(test_variance_is_the_formula),
        cmocka_unit_test(test_which_is_better_for_pairs),
        cmocka_unit_test(test_formulas_are_what_samples_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
