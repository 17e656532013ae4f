/*
 * ring_a.c: calls the noise, the channels and the reports with everything that
 * they may be called with, for Frama-C's Eva: sizes, radii, epsilons, points,
 * random bytes and reports are unknown within the limits that channel.h and
 * random.h state. A source that fails is among them. scripts/prove lists what
 * is called as a function of its own: one state for all would be coarser.
 */
#include "__fc_builtin.h"

#include "base/decimal.h"
#include "base/wide.h"
#include "channel/channel.h"
#include "random/dlaplace.h"
#include "random/draw.h"
#include "random/random.h"
#include "random/subsets.h"
#include "random/threshold.h"
#include "report/report.h"

extern const struct channel channel_flip, channel_subset, channel_signs,
    channel_laplace, channel_duchi, channel_window;

static uint8_t buffer[64];
static uint64_t own[2048];
static uint8_t wire[8 * CHANNEL_D_MAX];
static int32_t q[CHANNEL_D_MAX];

int
sotto_entropy(void *at, size_t size)
{
    Frama_C_make_unknown((char *)at, size);
    return Frama_C_interval(0, 1);
}

static void
call_channel(const struct channel *channel, uint32_t size, uint32_t rows,
             uint32_t l)
{
    struct channel_instance instance;
    struct entropy entropy;
    uint64_t eps =
        Frama_C_unsigned_long_long_interval(DECIMAL_EPS_MIN, DECIMAL_EPS_MAX);
    bool symbols = channel->domain == CHANNEL_DOMAIN_SYMBOLS;
    for (uint32_t i = 0; i < CHANNEL_D_MAX; i++) {
        q[i] = symbols ? Frama_C_interval(0, (int)size - 1)
                       : Frama_C_interval(-(int)l, (int)l);
    }
    if (channel_init(&instance, channel, size, rows, l, eps, 0, own) !=
        SOTTO_STATUS_OK) {
        return;
    }
    entropy_init(&entropy, buffer, sizeof buffer);
    channel->sample(&instance, q, &entropy.random, wire);
    random_clear(&entropy.random);
    Frama_C_make_unknown((char *)wire, sizeof wire);
    Frama_C_show_each_valid(channel->valid(&instance, wire));
}

/* Every operation on any limbs; but for wide_exp, whose loop ends because its
   terms vanish, which intervals do not see. */
void
call_wide(void)
{
    struct wide a, b, ret;
    Frama_C_make_unknown((char *)&a, sizeof a);
    Frama_C_make_unknown((char *)&b, sizeof b);
    wide_add(&a, &b, &ret);
    wide_subtract(&a, &b, &ret);
    wide_scale(&a, (uint32_t)Frama_C_unsigned_int_interval(0, UINT32_MAX),
               &ret);
    wide_multiply(&a, &b, &ret);
    wide_shift(&a, (uint32_t)Frama_C_interval(0, 383), &ret);
    wide_split(&a, (uint32_t)Frama_C_unsigned_int_interval(1, UINT32_MAX),
               &ret);
    wide_divide(&a, &b, &ret);
    wide_ratio(Frama_C_unsigned_long_long_interval(0, UINT64_MAX),
               Frama_C_unsigned_long_long_interval(1, INT64_MAX), &ret);
    Frama_C_show_each_double(wide_double(&a));
}

void
call_flip(void)
{
    call_channel(&channel_flip, (uint32_t)Frama_C_interval(2, CHANNEL_K_MAX), 0,
                 0);
}

void
call_subset(void)
{
    call_channel(&channel_subset, (uint32_t)Frama_C_interval(2, CHANNEL_K_MAX),
                 0, 0);
}

void
call_signs(void)
{
    uint32_t rows = (uint32_t)Frama_C_interval(2, CHANNEL_K_MAX / 2);
    uint32_t size = (uint32_t)Frama_C_interval(4, CHANNEL_K_MAX);
    call_channel(&channel_signs, size, rows, 0);
}

void
call_laplace(void)
{
    call_channel(&channel_laplace, (uint32_t)Frama_C_interval(1, CHANNEL_D_MAX),
                 0, (uint32_t)Frama_C_interval(1, CHANNEL_L_MAX));
}

void
call_duchi(void)
{
    call_channel(&channel_duchi, (uint32_t)Frama_C_interval(1, CHANNEL_D_MAX),
                 0, (uint32_t)Frama_C_interval(1, CHANNEL_L_MAX));
}

void
call_window(void)
{
    call_channel(&channel_window, 1, 0,
                 (uint32_t)Frama_C_interval(1, CHANNEL_L_MAX));
}
