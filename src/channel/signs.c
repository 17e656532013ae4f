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
 * E[a_i a_j] = -1/(n-1), so with lambda = n/(n-1), P = I - J/k, and g = 2h-1,
 *
 *     E[P_1 a b' P_2 | c, y] = g lambda_1 lambda_2 P_1 e_c e_y' P_2:
 *
 * it is the interaction of the two factors that a report tells of, and the
 * estimate of the indicator of (i, j) is
 *
 *     (a_i - mean a)(b_j - mean b) / (g lambda_1 lambda_2) + 1/k,
 *
 * whose mean is [c=i, y=j] - [c=i]/k_2 - [y=j]/k_1 + 2/k.
 *
 * A report is a bitmap of a and then one of b, sign i at bit i % 8 of byte
 * i / 8, 1 for +1, the bits past the last zero.
 */
#include "base/bytes.h"
#include "base/maths.h"
#include "channel/symbols.h"
#include "random/draw.h"
#include "random/subsets.h"

struct signs {
    struct symbols symbols; /* first: symbols_of. w is not used */
    uint32_t k[2];
    uint32_t bytes; /* of a's bitmap */
    double scale;   /* 1 / (g lambda_1 lambda_2) */
};

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

/* Signs drawn for k that are sent, the one held fixed not among them. */
static uint32_t
drawn(uint32_t k)
{
    return k - 1 + k % 2;
}

static uint32_t
names(const struct channel_instance *instance, const uint8_t *wire, uint32_t i)
{
    const struct signs *own = own_of(instance);
    return has(wire, i / own->k[1]) ^ has(wire + own->bytes, i % own->k[1]) ^ 1;
}

/*
 * With lambda = n/(n-1), n - 1 = drawn(k), the mean of (a_i - mean a)^2 is 1
 * for even k and 1 - 1/k^2 for odd: over lambda^2 that is spread(k). The
 * estimate's mean square about 1/k is the product of both over g^2; its mean
 * about 1/k is (1 - 1/k_1)(1 - 1/k_2) for the truth and at least 1/k in size
 * for the others.
 */
static double
spread(double k, uint32_t odd)
{
    return odd != 0 ? (k - 1) / (k + 1) : (k - 1) * (k - 1) / (k * k);
}

static void
set_moments(struct channel_instance *instance, struct signs *own)
{
    double gap = odds_lead(&own->symbols.odds), k = instance->size;
    double k1 = own->k[0], k2 = own->k[1], mean = (k1 - 1) * (k2 - 1) / k;
    double square =
        spread(k1, own->k[0] % 2) * spread(k2, own->k[1] % 2) / (gap * gap);
    double n1 = drawn(own->k[0]), n2 = drawn(own->k[1]);
    own->scale = n1 / (n1 + 1) * (n2 / (n2 + 1)) / gap;
    instance->variance_true = square - mean * mean;
    instance->variance_other = square - 1 / (k * k);
    instance->bias = (k1 + k2 - 2) / k;
}

static enum sotto_status
init(struct channel_instance *instance, void *memory)
{
    struct signs *own = (struct signs *)memory;
    struct symbols *symbols = &own->symbols;
    double log_a = 0;
    own->k[0] = instance->rows;
    own->k[1] = instance->size / instance->rows;
    own->bytes = (own->k[0] + 7) / 8;
    odds_init(&symbols->odds, instance->eps, 1, 1);
    for (int i = 0; i < 2; i++) {
        uint32_t n = drawn(own->k[i]);
        log_a -= symbols_log_binomial(n, n / 2);
    }
    symbols->w = 0;
    symbols->names = names;
    symbols->rate_other = 0;
    symbols->log_in = maths_log(symbols->odds.in) + log_a;
    symbols->log_out = maths_log(symbols->odds.out) + log_a;
    set_moments(instance, own);
    instance->wire_size = own->bytes + (own->k[1] + 7) / 8;
    instance->entropy_size =
        ODDS_DRAW_SIZE +
        (drawn(own->k[0]) + drawn(own->k[1])) * DRAW_BELOW_SIZE;
    instance->values = own->k[0] + own->k[1];
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
    uint32_t n = drawn(k);
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

/* ---- The collector's half ------------------------------------------------ */

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

static double
mean_sign(const uint8_t *bitmap, uint32_t k)
{
    return 2.0 * count_plus(bitmap, k) / k - 1;
}

static void
estimate(const struct channel_instance *instance, const uint8_t *wire,
         double *ret_estimate)
{
    const struct signs *own = own_of(instance);
    const uint8_t *b = wire + own->bytes;
    double mean_a = mean_sign(wire, own->k[0]),
           mean_b = mean_sign(b, own->k[1]);
    for (uint32_t i = 0; i < own->k[0]; i++) {
        double row = own->scale * (2.0 * has(wire, i) - 1 - mean_a);
        for (uint32_t j = 0; j < own->k[1]; j++) {
            *ret_estimate++ =
                row * (2.0 * has(b, j) - 1 - mean_b) + 1.0 / instance->size;
        }
    }
}

static void
unpack(const struct channel_instance *instance, const uint8_t *wire,
       int64_t *ret_values)
{
    const struct signs *own = own_of(instance);
    for (uint32_t i = 0; i < own->k[0]; i++) {
        *ret_values++ = 2 * (int64_t)has(wire, i) - 1;
    }
    for (uint32_t i = 0; i < own->k[1]; i++) {
        *ret_values++ = 2 * (int64_t)has(wire + own->bytes, i) - 1;
    }
}

static bool
pack_signs(const int64_t *values, uint32_t k, uint8_t *ret_bitmap)
{
    for (uint32_t i = 0; i < k; i++) {
        if (values[i] != 1 && values[i] != -1) {
            return false;
        }
        ret_bitmap[i / 8] |= (uint8_t)((values[i] == 1) << (i % 8));
    }
    return true;
}

static bool
pack(const struct channel_instance *instance, const int64_t *values,
     uint8_t *ret_wire)
{
    const struct signs *own = own_of(instance);
    bytes_clear(ret_wire, instance->wire_size);
    return pack_signs(values, own->k[0], ret_wire) &&
           pack_signs(values + own->k[0], own->k[1], ret_wire + own->bytes) &&
           valid(instance, ret_wire);
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
    .log_p = symbols_log_p,
    .log_p_many = symbols_log_p_many,
    .estimate = estimate,
    .unpack = unpack,
    .pack = pack,
};
