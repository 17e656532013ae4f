/*
 * channel_settings.h: settings that every channel's tests go through: sizes,
 * radii and epsilons at their ends and between, and a point of the domain.
 */
#ifndef TESTS_CHANNEL_SETTINGS_H
#define TESTS_CHANNEL_SETTINGS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/decimal.h"
#include "channel/channel.h"
#include "random/seeded.h"

#define OWN_MAX 32768u
#define WIRE_MAX (8 * CHANNEL_D_MAX)

/* Of the channel that was set up last. */
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

/* A size and a radius that this channel takes. */
__attribute__((unused)) static uint32_t
size_for(const struct channel *channel, uint32_t size)
{
    return channel->scalar ? 1 : channel->pairs ? 2 * size : size;
}

__attribute__((unused)) static uint32_t
l_for(const struct channel *channel)
{
    return channel->domain != CHANNEL_DOMAIN_SYMBOLS;
}

/* Sets up a channel by name; one at a time. */
__attribute__((unused)) static void
set_up_channel(struct channel_instance *instance, const char *name,
               uint32_t size, uint32_t l, uint64_t eps)
{
    const struct channel *channel =
        channel_find(channel_exact, name, strlen(name));
    assert_non_null(channel);
    assert_true(channel->own_size <= OWN_MAX);
    memset(instance, 0x5a, sizeof *instance);
    memset(own_memory, 0x5a, sizeof own_memory);
    assert_int_equal(channel_init(instance, channel, size, rows_for(channel), l,
                                  eps, delta_of(channel), own_memory),
                     SOTTO_STATUS_OK);
    assert_ptr_equal(instance->channel, channel);
    assert_int_equal(instance->size, size);
    assert_int_equal(instance->l, l);
    assert_true(instance->eps == eps);
}

/* A point of the domain: a vertex, or any symbol; any point of a cube. */
__attribute__((unused)) static void
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

/* What is tried at every setting. */
typedef void check_setting(const char *name, uint32_t size, uint32_t l,
                           uint64_t eps);

/* All channels at the ends of what they take, and between. */
__attribute__((unused)) static void
check_grid(check_setting *check)
{
    static const uint32_t size[] = {2, 3, 64, 65, 256, 257, 4096};
    static const uint32_t l[] = {1, 1000, CHANNEL_L_MAX};
    static const uint64_t eps[] = {DECIMAL_EPS_MIN, DECIMAL_UNIT,
                                   DECIMAL_EPS_MAX};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        for (size_t j = 0; j < 3; j++) {
            check("flip", size[i], 0, eps[j]);
            check("subset", size[i], 0, eps[j]);
            check("signs", 2 * size[i], 0, eps[j]);
            for (size_t m = 0; m < 3; m++) {
                check("laplace", size[i], l[m], eps[j]);
                check("duchi", size[i], l[m], eps[j]);
                check("window", 1, l[m], eps[j]);
            }
            check("gaussian", size[i], 1, eps[j]);
            check("gaussian", size[i], 1000, eps[j]);
        }
    }
    check("flip", CHANNEL_K_MAX, 0, DECIMAL_UNIT);
    check("subset", CHANNEL_K_MAX, 0, DECIMAL_UNIT);
    check("laplace", 1, 1, DECIMAL_UNIT);
    check("duchi", 1, 1, DECIMAL_UNIT);
    check("gaussian", 1, 1, DECIMAL_UNIT);
}

/* Settings at random: l and epsilon of every magnitude. */
__attribute__((unused)) static void
check_anywhere(check_setting *check)
{
    struct seeded seeded;
    seeded_init(&seeded, 19, 0);
    for (int i = 0; i < 300; i++) {
        uint32_t d = 1 + random_u32(&seeded.random) % 512;
        uint32_t l = 1 + (random_u32(&seeded.random) % CHANNEL_L_MAX >>
                          random_u32(&seeded.random) % 20);
        uint64_t eps =
            DECIMAL_EPS_MIN +
            (random_u56(&seeded.random) % (DECIMAL_EPS_MAX - DECIMAL_EPS_MIN) >>
             random_u32(&seeded.random) % 25);
        check("duchi", d, l, eps);
        check("window", 1, l, eps);
    }
}

#endif
