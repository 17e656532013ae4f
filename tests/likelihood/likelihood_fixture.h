/*
 * likelihood_fixture.h: a channel and its likelihood, set up one at a time, and
 * what holds of samples of every channel.
 */
#ifndef TESTS_LIKELIHOOD_FIXTURE_H
#define TESTS_LIKELIHOOD_FIXTURE_H

#include <math.h>

#include "channel/channel_settings.h"
#include "likelihood/likelihood.h"

static struct channel_instance instance;
static struct likelihood_instance at;

/* Sets up a channel by name, and its likelihood. */
static void
set_up(const char *name, uint32_t size, uint32_t l, uint64_t eps)
{
    set_up_channel(&instance, name, size, l, eps);
    memset(&at, 0x5a, sizeof at);
    assert_int_equal(likelihood_init(&at, &instance), SOTTO_STATUS_OK);
    assert_ptr_equal(at.instance, &instance);
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

__attribute__((unused)) static void
check_samples(const char *name, uint32_t size, uint32_t l, uint64_t eps)
{
    static uint8_t wire[WIRE_MAX + 1];
    static int32_t q[CHANNEL_D_MAX];
    struct seeded seeded;
    set_up(name, size, l, eps);
    seeded_init(&seeded, 18, size);
    for (int i = 0; i < 3; i++) {
        double one, many;
        draw_point(&instance, &seeded, q);
        instance.channel->sample(&instance, q, &seeded.random, wire);
        check_packing(wire);
        one = at.likelihood->log_p(&at, wire, q);
        at.likelihood->log_p_many(&at, wire, q, 1, &many);
        assert_true(one <= 0 && fabs(one - many) <= 1e-12 * fabs(one));
    }
}

#endif
