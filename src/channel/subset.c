/*
 * subset.c: subset selection: a set of w of the k symbols, of the size that
 * estimates frequencies best, which holds the true one with probability
 * w e^epsilon / (w e^epsilon + k - w) and is uniform otherwise.
 *
 * A report is a bitmap of k bits, symbol i at bit i % 8 of byte i / 8, the
 * bits past k zero: a bitmap has no order that could point at the truth.
 * Theorem and proof: docs/proofs.md#subset.
 */
#include "channel/symbols.h"
#include "random/draw.h"
#include "random/subsets.h"

static uint32_t
has(const uint8_t *bitmap, uint32_t i)
{
    return (bitmap[i / 8] >> (i % 8)) & 1;
}

static uint32_t
names(const struct channel_instance *instance, const uint8_t *wire, uint32_t i)
{
    (void)instance;
    return has(wire, i);
}

static enum sotto_status
init(struct channel_instance *instance, void *own)
{
    struct symbols *symbols = (struct symbols *)own;
    uint32_t k = instance->size;
    symbols_init(instance, symbols, symbols_best_w(k, instance->eps));
    symbols->names = names;
    instance->wire_size = (k + 7) / 8;
    instance->entropy_size = ODDS_DRAW_SIZE + (k - 1) * DRAW_BELOW_SIZE;
    return SOTTO_STATUS_OK;
}

/*
 * Makes room at bit `at` of a bitmap of `size` bits, the last of them zero,
 * and puts `bit` there. Every bit is rewritten, whatever `at` is:
 * new[i] = old[i] below it, `bit` at it, old[i-1] above it.
 */
static void
insert_bit(uint8_t *bitmap, uint32_t size, uint32_t at, uint32_t bit)
{
    uint32_t before = 0; /* old[i-1] */
    for (uint32_t i = 0; i < size; i++) {
        uint32_t old = has(bitmap, i);
        uint32_t below = (uint32_t)(((uint64_t)i - at) >> 63);
        uint32_t above = (uint32_t)(((uint64_t)at - i) >> 63);
        uint32_t new = (old & below) | (before & above) |
                       (bit & (below ^ 1) & (above ^ 1));
        bitmap[i / 8] ^= (uint8_t)((old ^ new) << (i % 8));
        before = old;
    }
}

/* The others first, w or w-1 of k-1; then the truth takes its place. */
static void
sample(const struct channel_instance *instance, const int32_t *q,
       struct random *random, uint8_t *ret_wire)
{
    const struct symbols *own = symbols_of(instance);
    uint32_t k = instance->size;
    uint32_t hit = odds_draw(&own->odds, random);
    ret_wire[(k - 1) / 8] = 0;
    subsets_draw(random, k - 1, own->w - hit, ret_wire);
    insert_bit(ret_wire, k, (uint32_t)q[0], hit);
}

/* w symbols, and nothing past the last. */
static bool
valid(const struct channel_instance *instance, const uint8_t *wire)
{
    uint32_t past = 0;
    for (uint32_t i = instance->size; i < 8 * instance->wire_size; i++) {
        past |= has(wire, i);
    }
    return past == 0 && symbols_valid(instance, wire);
}

const struct channel channel_subset = {
    .name = "subset",
    .domain = CHANNEL_DOMAIN_SYMBOLS,
    .promise = "a set of several possible answers is sent, which holds the "
               "true one only some of the time",
    .own_size = sizeof(struct symbols),
    .init = init,
    .sample = sample,
    .valid = valid,
};
