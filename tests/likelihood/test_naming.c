/*
 * test_naming.c: counting names at memory speed is counting names one by one,
 * and what the host's half of a channel finds faster is what the channel finds.
 */
#include "likelihood_fixture.h"

#include "likelihood/naming.h"

#define MOST 700u
#define BYTES 40u

static void
fill(struct seeded *seeded, uint8_t *to, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        to[i] = (uint8_t)random_u32(&seeded->random);
    }
}

static uint32_t
bit_of(const uint8_t *bitmap, size_t i)
{
    return (uint32_t)bitmap[i / 8] >> (i % 8) & 1;
}

static void
test_bits(void **state)
{
    static const size_t sizes[] = {0,  1,   2,   15,  16,  17,  63,
                                   64, 254, 255, 256, 257, 511, MOST};
    static uint8_t data[MOST * (BYTES + 3)];
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 5, 1);
    fill(&seeded, data, sizeof data);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t bits = 1; bits <= (size_t)8 * BYTES; bits += 1 + bits / 7) {
            uint64_t count[8 * BYTES + 1], want[8 * BYTES + 1];
            const struct naming reports = {data + 3, BYTES + 3, sizes[s]};
            for (size_t i = 0; i <= bits; i++) {
                count[i] = want[i] = 11 * i;
                for (size_t r = 0; i < bits && r < sizes[s]; r++) {
                    want[i] += bit_of(data + 3 + r * (BYTES + 3), i);
                }
            }
            naming_count_bits(&reports, bits, count);
            assert_memory_equal(count, want, (bits + 1) * sizeof *count);
        }
    }
}

static void
check_pairs(const uint8_t *data, size_t n, uint32_t k1, uint32_t k2)
{
    static uint64_t count[150 * 150], want[150 * 150];
    const uint32_t k[2] = {k1, k2};
    const struct naming reports = {data, BYTES, n};
    for (size_t i = 0; i < (size_t)k1 * k2; i++) {
        count[i] = want[i] = i;
        for (size_t r = 0; r < n; r++) {
            const uint8_t *a = data + r * BYTES;
            want[i] += bit_of(a, i / k2) == bit_of(a + 20, i % k2);
        }
    }
    naming_count_pairs(&reports, 20, k, count);
    assert_memory_equal(count, want, (size_t)k1 * k2 * sizeof *count);
}

static void
test_pairs(void **state)
{
    static const uint32_t sizes[] = {2, 3, 11, 63, 64, 65, 129, 150};
    static uint8_t data[130 * BYTES];
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 6, 1);
    fill(&seeded, data, sizeof data);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_pairs(data, 130, sizes[i], sizes[7 - i]);
        check_pairs(data, 64, sizes[i], 2);
        check_pairs(data, i, 5, sizes[i]);
    }
}

static void
test_weight(void **state)
{
    uint8_t bytes[19];
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 7, 1);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        uint32_t want = 0;
        fill(&seeded, bytes, size);
        for (size_t i = 0; i < 8 * size; i++) {
            want += bit_of(bytes, i);
        }
        assert_int_equal(naming_weight(bytes, size), want);
    }
}

/* ---- Channels ------------------------------------------------------------ */

#define SAMPLES 300u

/* Both say the same of samples, and of samples with a byte changed. */
static void
check_valid(struct seeded *seeded, uint8_t *wire)
{
    assert_true(likelihood_valid(&at, wire));
    for (uint32_t i = 0; i < instance.wire_size; i += 1 + i / 3) {
        uint8_t kept = wire[i];
        for (int j = 0; j < 4; j++) {
            wire[i] =
                (uint8_t)(j == 0 ? kept ^ 0x80 : random_u32(&seeded->random));
            assert_int_equal(likelihood_valid(&at, wire),
                             instance.channel->valid(&instance, wire));
        }
        wire[i] = kept;
    }
}

static void
check_counts(const char *name, uint32_t size, uint32_t l, uint64_t eps)
{
    static uint8_t wire[SAMPLES][WIRE_MAX];
    static double mean[CHANNEL_K_MAX], sum[CHANNEL_K_MAX], one[CHANNEL_K_MAX];
    static uint64_t count[CHANNEL_K_MAX];
    int32_t q[CHANNEL_D_MAX];
    struct seeded seeded;
    set_up(name, size, l, eps);
    seeded_init(&seeded, 19, size);
    memset(sum, 0, sizeof sum);
    memset(count, 0, sizeof count);
    for (size_t i = 0; i < SAMPLES; i++) {
        draw_point(&instance, &seeded, q);
        instance.channel->sample(&instance, q, &seeded.random, wire[i]);
        check_valid(&seeded, wire[i]);
        at.likelihood->estimate(&at, wire[i], one);
        for (uint32_t j = 0; j < instance.size; j++) {
            sum[j] += one[j];
        }
    }
    if (instance.channel->domain != CHANNEL_DOMAIN_SYMBOLS) {
        static int64_t values[CHANNEL_D_MAX];
        assert_null(at.likelihood->count);
        at.likelihood->unpack(&at, wire[0], values);
        at.likelihood->estimate(&at, wire[0], one);
        for (uint32_t j = 0; j < instance.size; j++) {
            double got = at.unit * (double)values[j];
            assert_true(fabs(got - one[j]) <= 1e-14 * fabs(one[j]));
        }
        return;
    }
    at.likelihood->count(&at, wire[0], sizeof wire[0], 100, count);
    at.likelihood->count(&at, wire[100], sizeof wire[0], SAMPLES - 100, count);
    at.likelihood->mean(&at, count, SAMPLES, mean);
    for (uint32_t j = 0; j < instance.size; j++) {
        double want = sum[j] / SAMPLES;
        assert_true(fabs(mean[j] - want) <= 1e-9 * (1 + fabs(want)));
    }
}

static void
test_counts_say_what_estimates_do(void **state)
{
    static const uint64_t eps[] = {DECIMAL_UNIT / 7, 3 * DECIMAL_UNIT};
    static const uint32_t size[] = {2, 3, 10, 66, 330};
    (void)state;
    for (size_t i = 0; i < sizeof eps / sizeof *eps; i++) {
        for (size_t j = 0; j < sizeof size / sizeof *size; j++) {
            for (size_t m = 0; channel_exact[m] != NULL; m++) {
                check_counts(channel_exact[m]->name,
                             size_for(channel_exact[m], size[j]),
                             l_for(channel_exact[m]), eps[i]);
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_weight),
        cmocka_unit_test(test_counts_say_what_estimates_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
