/*
 * mutants_symbols.h: broken samplers that choose: flip, subset, signs, duchi,
 * window.
 */
#ifndef SOTTO_TESTS_MUTANTS_SYMBOLS_H
#define SOTTO_TESTS_MUTANTS_SYMBOLS_H

#include <math.h>

#include "base/bytes.h"
#include "channel/odds.h"
#include "channel/symbols.h"
#include "likelihood/symbols_likelihood.h"
#include "privacy/mutant.h"
#include "random/draw.h"
#include "random/subsets.h"

/* ---- Flip ---------------------------------------------------------------- */

static uint32_t
past(uint32_t other, uint32_t truth)
{
    return other + (other >= truth);
}

static void
put_symbol(const struct channel_instance *instance, uint8_t *wire,
           uint32_t symbol)
{
    bytes_store(wire, instance->wire_size, symbol);
}

/* The lot may fall on the truth. */
static void
any_symbol_sample(const struct channel_instance *instance, const int32_t *q,
                  struct random *random, uint8_t *ret_wire)
{
    uint32_t hit = odds_draw(&symbols_of(instance)->odds, random);
    uint32_t other = draw_below(random, instance->size);
    put_symbol(instance, ret_wire, hit ? (uint32_t)q[0] : other);
}

/* Bytes modulo k - 1: some symbols come more often than others. */
static void
modulo_sample(const struct channel_instance *instance, const int32_t *q,
              struct random *random, uint8_t *ret_wire)
{
    uint32_t hit = odds_draw(&symbols_of(instance)->odds, random);
    uint32_t other = (random_u32(random) & 0xff) % (instance->size - 1);
    put_symbol(instance, ret_wire,
               hit ? (uint32_t)q[0] : past(other, (uint32_t)q[0]));
}

/* As C libraries have it: draw again while below 2^32 mod n. Exact, but the
   steps depend on the noise. */
static void
rejecting_sample(const struct channel_instance *instance, const int32_t *q,
                 struct random *random, uint8_t *ret_wire)
{
    uint32_t hit = odds_draw(&symbols_of(instance)->odds, random);
    uint32_t n = instance->size - 1, least = (0 - n) % n, other;
    do {
        other = random_u32(random);
    } while (other < least);
    put_symbol(instance, ret_wire,
               hit ? (uint32_t)q[0] : past(other % n, (uint32_t)q[0]));
}

/* Done once the truth is to be told: the other symbol is not drawn. */
static void
early_exit_sample(const struct channel_instance *instance, const int32_t *q,
                  struct random *random, uint8_t *ret_wire)
{
    put_symbol(instance, ret_wire, (uint32_t)q[0]);
    if (odds_draw(&symbols_of(instance)->odds, random)) {
        return;
    }
    put_symbol(instance, ret_wire,
               past(draw_below(random, instance->size - 1), (uint32_t)q[0]));
}

/* Nothing to say, no report: the last symbol stands for a missing value. */
static void
silent_sample(const struct channel_instance *instance, const int32_t *q,
              struct random *random, uint8_t *ret_wire)
{
    if ((uint32_t)q[0] + 1 < instance->size) {
        channel_flip.sample(instance, q, random, ret_wire);
    }
}

/* Sound while it is watched, that is on a tape; the truth otherwise. */
static void
watched_sample(const struct channel_instance *instance, const int32_t *q,
               struct random *random, uint8_t *ret_wire)
{
    channel_flip.sample(instance, q, random, ret_wire);
    if (random->tape == NULL && random_u32(random) % 4 == 0) {
        put_symbol(instance, ret_wire, (uint32_t)q[0]);
    }
}

/* The id, which lies in front of the answer, begins with what the person said.
   It is drawn before the record is read, so only what comes later can tell. */
static void
telling_sample(const struct channel_instance *instance, const int32_t *q,
               struct random *random, uint8_t *ret_wire)
{
    channel_flip.sample(instance, q, random, ret_wire);
    if (random->tape == NULL) {
        *(ret_wire - SOTTO_ID_SIZE) = (uint8_t)q[0];
    }
}

/* A flag in the id: "no valid answer was given". */
static void
flagging_sample(const struct channel_instance *instance, const int32_t *q,
                struct random *random, uint8_t *ret_wire)
{
    channel_flip.sample(instance, q, random, ret_wire);
    if (random->tape == NULL) {
        uint8_t *id = ret_wire - SOTTO_ID_SIZE;
        id[0] = (uint8_t)((id[0] & 0xfe) | (q[0] == 4));
    }
}

/* ---- Subset -------------------------------------------------------------- */

static uint32_t
bit_of(const uint8_t *bitmap, uint32_t i)
{
    return (bitmap[i / 8] >> (i % 8)) & 1;
}

static void
set_bit(uint8_t *bitmap, uint32_t i, uint32_t bit)
{
    bitmap[i / 8] =
        (uint8_t)((bitmap[i / 8] & ~(1u << (i % 8))) | bit << (i % 8));
}

/* Moves the bits from `at` on up by one, from the top: it stops at the truth,
   so the steps tell where that is. */
static void
insert_until(uint8_t *bitmap, uint32_t size, uint32_t at, uint32_t bit)
{
    for (uint32_t i = size - 1; i > at; i--) {
        set_bit(bitmap, i, bit_of(bitmap, i - 1));
    }
    set_bit(bitmap, at, bit);
}

static void
draw_others(const struct channel_instance *instance, struct random *random,
            uint32_t hit, uint8_t *ret_wire)
{
    uint32_t k = instance->size;
    ret_wire[(k - 1) / 8] = 0;
    subsets_draw(random, k - 1, symbols_of(instance)->w - hit, ret_wire);
}

static void
short_loop_sample(const struct channel_instance *instance, const int32_t *q,
                  struct random *random, uint8_t *ret_wire)
{
    uint32_t hit = odds_draw(&symbols_of(instance)->odds, random);
    draw_others(instance, random, hit, ret_wire);
    insert_until(ret_wire, instance->size, (uint32_t)q[0], hit);
}

/* The coin is drawn, and its outcome forgotten. */
static void
never_drops_sample(const struct channel_instance *instance, const int32_t *q,
                   struct random *random, uint8_t *ret_wire)
{
    (void)odds_draw(&symbols_of(instance)->odds, random);
    draw_others(instance, random, 1, ret_wire);
    insert_until(ret_wire, instance->size, (uint32_t)q[0], 1);
}

/* A report is w symbols, a byte each, as they were drawn. */
static uint32_t
listed(const struct channel_instance *instance, const uint8_t *wire, uint32_t i)
{
    return memchr(wire, (int)i, instance->wire_size) != NULL;
}

static enum sotto_status
unsorted_init(struct channel_instance *instance, void *memory)
{
    struct symbols *symbols = memory;
    enum sotto_status status = channel_subset.init(instance, memory);
    symbols->names = listed;
    instance->wire_size = symbols->w;
    return status;
}

/* The truth first, if it is to be named; then others, by lot. */
static void
unsorted_sample(const struct channel_instance *instance, const int32_t *q,
                struct random *random, uint8_t *ret_wire)
{
    const struct symbols *own = symbols_of(instance);
    uint32_t k = instance->size, count = 0;
    uint8_t left[256];
    for (uint32_t i = 0; i + 1 < k; i++) {
        left[i] = (uint8_t)past(i, (uint32_t)q[0]);
    }
    if (odds_draw(&own->odds, random)) {
        ret_wire[count++] = (uint8_t)q[0];
    }
    for (uint32_t i = 0; i < own->w; i++) {
        uint32_t at = draw_below(random, k - 1 - i);
        if (count < own->w) {
            ret_wire[count++] = left[at];
        }
        left[at] = left[k - 2 - i];
    }
}

static double
unsorted_log_p(const struct likelihood_instance *at, const uint8_t *wire,
               const int32_t *q)
{
    return symbols_log_p(at, wire, q) -
           lgamma(1.0 + symbols_of(at->instance)->w);
}

/* The listed symbols: the bits of this wire are no bitmap. */
static void
unsorted_unpack(const struct likelihood_instance *at, const uint8_t *wire,
                int64_t *ret_values)
{
    for (uint32_t i = 0; i < symbols_of(at->instance)->w; i++) {
        ret_values[i] = wire[i];
    }
}

/* ---- Signs --------------------------------------------------------------- */

/*
 * Of an odd number of codes always one more is -1: the true one's sign as the
 * coin has it, and the others by lot, whatever is still to be +1. One sign is
 * then likelier than the other.
 */
static void
unfair_sample(const struct channel_instance *instance, const int32_t *q,
              struct random *random, uint8_t *ret_wire)
{
    uint32_t k1 = instance->rows, k2 = instance->size / k1;
    uint32_t hit = odds_draw(&symbols_of(instance)->odds, random), plus;
    assert_true(k1 <= 8 && k2 == 2);
    plus = (uint32_t)q[0] % 2 ^ hit ^ 1; /* b is -, + */
    ret_wire[1] = 2;
    subsets_draw(random, k1 - 1, k1 / 2 - plus, ret_wire);
    insert_until(ret_wire, k1, (uint32_t)q[0] / 2, plus);
}

/* The signs are turned so that the pair is named, if the coin says so; if it
   does not they stay as they fell, and may name it all the same. */
static void
as_they_fell_sample(const struct channel_instance *instance, const int32_t *q,
                    struct random *random, uint8_t *ret_wire)
{
    uint32_t hit = odds_draw(&symbols_of(instance)->odds, random);
    uint32_t c = (uint32_t)q[0] / 2, y = (uint32_t)q[0] % 2;
    assert_true(instance->rows == 2 && instance->size == 4);
    ret_wire[0] = (uint8_t)(1 + draw_below(random, 2)); /* +, - or -, + */
    ret_wire[1] = 2;                                    /* -, + */
    if (hit && bit_of(ret_wire, c) != bit_of(ret_wire + 1, y)) {
        ret_wire[0] ^= 3;
    }
}

/* ---- Duchi --------------------------------------------------------------- */

/* As commonly coded: t uniform with t.v >= 0 if the coin says so, uniform with
   t.v <= 0 if not; ties are on both sides. */
#define TIES_TRIES 20u

struct ties {
    const struct channel_instance *instance;
    const struct odds *odds;
    uint8_t flips[2][8];
};

static uint32_t
ties_attempt(struct random *random, void *context, uint32_t place)
{
    struct ties *ties = context;
    uint32_t d = ties->instance->size, hit, count;
    uint32_t flips = draw_below(random, 1u << d);
    hit = odds_draw(ties->odds, random);
    count = (uint32_t)__builtin_popcount(flips);
    ties->flips[place][0] = (uint8_t)flips;
    return hit ? 2 * count <= d : 2 * count >= d;
}

static enum sotto_status
ties_init(struct channel_instance *instance, void *memory)
{
    odds_init(extra_at(&channel_duchi, memory), instance->eps, 1, 1);
    return channel_duchi.init(instance, memory);
}

static void
ties_sample(const struct channel_instance *instance, const int32_t *q,
            struct random *random, uint8_t *ret_wire)
{
    struct ties ties = {.instance = instance,
                        .odds = extra_at(&channel_duchi, instance->own)};
    assert_true(instance->size <= 8);
    draw_accepted(random, ties_attempt, &ties, 1, TIES_TRIES);
    ret_wire[0] = ties.flips[0][0];
    for (uint32_t j = 0; j < instance->size; j++) {
        uint32_t v = draw_bernoulli(random, instance->l + (uint32_t)q[j],
                                    2 * instance->l);
        ret_wire[0] ^= (uint8_t)(v << j);
    }
}

/* ---- Window -------------------------------------------------------------- */

/* What is not to be near is drawn from everywhere, near ones too. */
struct everywhere {
    struct odds odds;
    uint32_t w;
};

static enum sotto_status
everywhere_init(struct channel_instance *instance, void *memory)
{
    struct everywhere *own = extra_at(&channel_window, memory);
    enum sotto_status status = channel_window.init(instance, memory);
    uint8_t wire[4];
    own->w = 0; /* as the sound channel has it: the reports end at l + w */
    do {
        own->w++;
        bytes_store(wire, instance->wire_size, instance->l + own->w);
    } while (channel_window.valid(instance, wire));
    own->w--;
    odds_init(&own->odds, instance->eps, 2 * own->w + 1, 2 * instance->l);
    return status;
}

static void
everywhere_sample(const struct channel_instance *instance, const int32_t *q,
                  struct random *random, uint8_t *ret_wire)
{
    const struct everywhere *own = extra_at(&channel_window, instance->own);
    uint32_t reach = instance->l + own->w;
    uint32_t hit = odds_draw(&own->odds, random);
    int64_t near = (int64_t)draw_below(random, 2 * own->w + 1) - own->w + q[0];
    int64_t any = (int64_t)draw_below(random, 2 * reach + 1) - reach;
    bytes_store(ret_wire, instance->wire_size, (uint64_t)(hit ? near : any));
}

#endif
