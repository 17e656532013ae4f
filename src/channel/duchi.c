/*
 * duchi.c: signs of a vector in a cube, after Duchi, Jordan and Wainwright,
 * with ties counted on one side.
 *
 * q is rounded to a corner v of the cube, v_j = +1 with probability (l+q_j)/2l,
 * and a report is t in {-1,+1}^d with
 *
 *     p(t | v) = A h      if t.v > 0,
 *                A (1-h)  if t.v <= 0,     h = floor_256(E/(E+1)),
 *
 * where A is the same for every v: any two corners, and so any two mixtures of
 * corners, are within h/(1-h) <= E <= e^epsilon. (With ties on both sides, as
 * it is commonly written, even d gives 1 + e^epsilon.)
 *
 * In fixed work: t = v but for the coordinates in a set F of flips, drawn
 * before it meets q. t.v = d - 2|F|. F is drawn uniformly, then F or its
 * complement is taken, whichever makes "t.v > 0" what the coin h says: that
 * gives a set on one side 2^(1-d) h, on the other 2^(1-d) (1-h). If |F| = d/2
 * both are ties, of 2^-d each, and are kept with probability 2(1-h): the same
 * 2^(1-d) (1-h). With b = C(n, n/2) / 2^n for the even n of d-1 and d,
 *
 *     R = (2h-1) b if d is even, else 0     is the probability of a rejection,
 *     A = 2^(1-d) / (1-R).
 *
 * A report is a bitmap of d bits, bit j % 8 of byte j / 8 being 1 for
 * t_j = +1, the bits past d zero.
 * Theorem and proof: docs/proofs.md#duchi.
 */
#include "channel/duchi.h"

#include "base/bytes.h"
#include "base/wide.h"
#include "channel/channel.h"
#include "channel/odds.h"
#include "random/threshold.h"

#define BITMAP_MAX (CHANNEL_D_MAX / 8)

/* R^tries must be below this: 2^-65 for the 2^15 blocks of two numbers that a
   report may have. One number, or any odd d, is never rejected. */
#define FAILURE 0x1p-80

static const struct duchi *
own_of(const struct channel_instance *instance)
{
    return (const struct duchi *)instance->own;
}

double
duchi_central(uint32_t n)
{
    double b = 1;
    for (uint32_t i = 1; i < n; i += 2) {
        b *= (double)i / (double)(i + 1);
    }
    return b;
}

/* Both h and 2(1-h) are whole numbers of 2^-256: nothing is rounded here.
   Returns 2h-1. */
static double
set_thresholds(struct duchi *own, const struct odds *odds)
{
    struct wide h, one, out, gap;
    threshold_wide(&odds->threshold[0], &h);
    wide_ratio(1, 1, &one);
    wide_subtract(&one, &h, &out);
    wide_subtract(&h, &out, &gap);
    bytes_clear((uint8_t *)own->threshold, sizeof own->threshold);
    own->threshold[0] = odds->threshold[0];
    wide_add(&out, &out, &out);
    threshold_from(&out, &own->threshold[DRAW_SMALL]);
    return wide_double(&gap);
}

static enum sotto_status
init(struct channel_instance *instance, void *memory)
{
    struct duchi *own = (struct duchi *)memory;
    uint32_t d = instance->size;
    double lead, rejected, left = 1;
    struct odds odds;
    odds_init(&odds, instance->eps, 1, 1);
    lead = set_thresholds(own, &odds);
    rejected = d % 2 == 0 ? lead * duchi_central(d) : 0;
    for (own->tries = 0; left >= FAILURE; own->tries++) {
        left *= rejected;
    }
    instance->wire_size = (d + 7) / 8;
    instance->entropy_size =
        own->tries * (instance->wire_size * DRAW_BELOW_SIZE + DRAW_TABLES_SIZE +
                      2 * DRAW_SYMBOL_SIZE) +
        d * DRAW_BELOW_SIZE;
    return SOTTO_STATUS_OK;
}

/* ---- Sampling ------------------------------------------------------------ */

struct trial {
    const struct channel_instance *instance;
    uint8_t flips[2][BITMAP_MAX]; /* F: the set kept, and room for others */
};

static uint32_t
count_bits(uint32_t byte)
{
    byte = (byte & 0x55) + (byte >> 1 & 0x55);
    byte = (byte & 0x33) + (byte >> 2 & 0x33);
    return (byte & 0x0f) + (byte >> 4);
}

/* All ones for the bits of byte i that are coordinates. */
static uint32_t
byte_mask(uint32_t d, uint32_t i)
{
    uint32_t rest = d - 8 * i;
    return rest >= 8 ? 0xff : (1u << rest) - 1;
}

/* One F, as the comment at the top has it. What is kept depends on nothing
   but what is drawn here, and on no record. */
static uint32_t
attempt(struct random *random, void *context, uint32_t place)
{
    struct trial *trial = (struct trial *)context;
    const struct duchi *own = own_of(trial->instance);
    uint32_t d = trial->instance->size, count = 0;
    uint8_t *flips = trial->flips[place];
    struct draw_tables tables;
    uint32_t hit, keep, agree, tie;
    for (uint32_t i = 0; i < trial->instance->wire_size; i++) {
        flips[i] = (uint8_t)draw_below(random, byte_mask(d, i) + 1);
        count += count_bits(flips[i]);
    }
    draw_tables(random, own->threshold, 2 * DRAW_SMALL, &tables);
    hit = draw_symbol(random, &tables, 0, DRAW_SMALL);
    keep = draw_symbol(random, &tables, DRAW_SMALL, DRAW_SMALL);
    agree = (2 * count - d) >> 31; /* t.v > 0 */
    for (uint32_t i = 0; i < trial->instance->wire_size; i++) {
        flips[i] ^= (uint8_t)(byte_mask(d, i) & (0 - (agree ^ hit)));
    }
    tie = ((2 * count ^ d) - 1) >> 31;
    return keep | (tie ^ 1);
}

static void
sample(const struct channel_instance *instance, const int32_t *q,
       struct random *random, uint8_t *ret_wire)
{
    struct trial trial;
    trial.instance = instance;
    draw_accepted(random, attempt, &trial, 1, own_of(instance)->tries);
    bytes_copy(ret_wire, trial.flips[0], instance->wire_size);
    for (uint32_t j = 0; j < instance->size; j++) {
        uint32_t v = draw_bernoulli(random, instance->l + (uint32_t)q[j],
                                    2 * instance->l);
        ret_wire[j / 8] ^= (uint8_t)(v << (j % 8));
    }
    bytes_wipe(&trial, sizeof trial);
}

static bool
valid(const struct channel_instance *instance, const uint8_t *wire)
{
    uint32_t last = instance->wire_size - 1;
    return (wire[last] & ~byte_mask(instance->size, last)) == 0;
}

const struct channel channel_duchi = {
    .name = "duchi",
    .domain = CHANNEL_DOMAIN_CUBE,
    .promise = "only a plus or a minus is sent for every number; together "
               "they lean towards the truth only some of the time",
    .own_size = sizeof(struct duchi),
    .init = init,
    .sample = sample,
    .valid = valid,
};
