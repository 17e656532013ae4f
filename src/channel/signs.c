/*
 * signs.c: one randomised bit about a pair, for a small epsilon.
 *
 * A symbol is a pair (c, y) of k_1 and k_2. The device draws a in {-1,+1}^k_1
 * and b in {-1,+1}^k_2, balanced, without looking at the pair, and says whether
 * a_c b_y = +1, truly with probability h = floor_256(E/(E+1)). The answer is
 * multiplied into a: a report is (a, b), and names the pairs with a_c b_y = +1.
 *
 * Balanced: with n the even one of k and k+1, the first k of n signs of which
 * half are +1. So for even k as many are +1 as -1, and for odd k there is one
 * more of either, each with probability 1/2.
 *
 * (a, b) and (-a, -b) name the same pairs, so the last of b's n signs is taken
 * to be +1: for even k its last, for odd k the one that is not sent, which
 * leaves (k-1)/2 signs +1. b -> b b_n and a -> a b_n keep a uniform and
 * independent of b, since -a is as balanced as a: nothing is lost by it. So
 *
 *     p((a, b) | c, y) = A h       if a_c b_y = +1,
 *                        A (1-h)   if not,
 *     1/A = C(n_1 - 1, n_1/2 - 1) C(n_2 - 1, n_2/2 - 1),
 *
 * and the largest ratio is h/(1-h) <= E <= e^epsilon (invariant 2).
 *
 * A report is a bitmap of a and then one of b, sign i at bit i % 8 of byte
 * i / 8, 1 for +1, the bits past the last zero.
 * Theorem and proof: docs/proofs.md#signs.
 */
#include "channel/signs.h"

#include "random/draw.h"
#include "random/subsets.h"

static const struct signs *
own_of(const struct channel_instance *instance)
{
    return (const struct signs *)instance->own;
}

static uint32_t
has(const uint8_t *bitmap, uint32_t i)
{
    return (bitmap[i / 8] >> (i % 8)) & 1;
}

static uint32_t
names(const struct channel_instance *instance, const uint8_t *wire, uint32_t i)
{
    const struct signs *own = own_of(instance);
    return has(wire, i / own->k[1]) ^ has(wire + own->bytes, i % own->k[1]) ^ 1;
}

static enum sotto_status
init(struct channel_instance *instance, void *memory)
{
    struct signs *own = (struct signs *)memory;
    struct symbols *symbols = &own->symbols;
    own->k[0] = instance->rows;
    own->k[1] = instance->size / instance->rows;
    own->bytes = (own->k[0] + 7) / 8;
    odds_init(&symbols->odds, instance->eps, 1, 1);
    symbols->w = 0;
    symbols->names = names;
    instance->wire_size = own->bytes + (own->k[1] + 7) / 8;
    instance->entropy_size =
        ODDS_DRAW_SIZE +
        (signs_drawn(own->k[0]) + signs_drawn(own->k[1])) * DRAW_BELOW_SIZE;
    return SOTTO_STATUS_OK;
}

/* ---- Sampling ------------------------------------------------------------ */

/*
 * Balanced signs, the last of the n being +1: n/2 - 1 of the n - 1 others are.
 * For odd k the one fixed is past the end.
 */
static void
draw_signs(struct random *random, uint32_t k, uint8_t *ret_bitmap)
{
    uint32_t n = signs_drawn(k);
    ret_bitmap[(k - 1) / 8] = 0;
    subsets_draw(random, n, n / 2, ret_bitmap);
    ret_bitmap[(k - 1) / 8] |= (uint8_t)((k - n) << ((k - 1) % 8));
}

/* The bit at a secret place: all are looked at. */
static uint32_t
pick(const uint8_t *bitmap, uint32_t k, uint32_t at)
{
    uint32_t picked = 0;
    for (uint32_t i = 0; i < k; i++) {
        uint32_t here = (uint32_t)(((uint64_t)(i ^ at) - 1) >> 63);
        picked |= has(bitmap, i) & here;
    }
    return picked;
}

/* floor(q / k2) < k1, without dividing what is secret. */
static uint32_t
row_of(uint32_t q, uint32_t k1, uint32_t k2)
{
    uint32_t row = 0;
    for (uint32_t i = 1; i < k1; i++) {
        row += (uint32_t)(((uint64_t)q - (uint64_t)i * k2) >> 63) ^ 1;
    }
    return row;
}

/* Turns all k signs, or none. */
static void
turn(uint8_t *bitmap, uint32_t k, uint32_t all)
{
    for (uint32_t i = 0; i < k; i++) {
        bitmap[i / 8] ^= (uint8_t)(all << (i % 8));
    }
}

/* a and b, and then a or -a, whichever names the pair if the coin says so. */
static void
sample(const struct channel_instance *instance, const int32_t *q,
       struct random *random, uint8_t *ret_wire)
{
    const struct signs *own = own_of(instance);
    uint32_t k1 = own->k[0], k2 = own->k[1];
    uint32_t c = row_of((uint32_t)q[0], k1, k2);
    uint32_t y = (uint32_t)q[0] - c * k2;
    uint8_t *a = ret_wire, *b = ret_wire + own->bytes;
    uint32_t hit = odds_draw(&own->symbols.odds, random);
    draw_signs(random, k1, a);
    draw_signs(random, k2, b);
    turn(a, k1, pick(a, k1, c) ^ pick(b, k2, y) ^ hit ^ 1);
}

/* How many of k signs are +1; more than k if a bit is set past the last. */
static uint32_t
count_plus(const uint8_t *bitmap, uint32_t k)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < (k + 7) / 8 * 8; i++) {
        count += i < k ? has(bitmap, i) : (k + 1) * has(bitmap, i);
    }
    return count;
}

static bool
valid(const struct channel_instance *instance, const uint8_t *wire)
{
    const struct signs *own = own_of(instance);
    const uint8_t *b = wire + own->bytes;
    uint32_t k1 = own->k[0], k2 = own->k[1], plus = count_plus(wire, k1);
    return (plus == k1 / 2 || plus == k1 - k1 / 2) &&
           count_plus(b, k2) == k2 / 2 && (k2 % 2 | has(b, k2 - 1)) == 1;
}

const struct channel channel_signs = {
    .name = "signs",
    .domain = CHANNEL_DOMAIN_SYMBOLS,
    .promise = "one question about the two answers together, drawn by lot, is "
               "answered with yes or no, and truly only some of the time",
    .pairs = true,
    .own_size = sizeof(struct signs),
    .init = init,
    .sample = sample,
    .valid = valid,
};
