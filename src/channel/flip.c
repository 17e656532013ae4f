/*
 * flip.c: k-ary randomised response: the true symbol with probability
 * e^epsilon / (e^epsilon + k - 1), each other one equally often.
 *
 * The case w = 1 of symbols.h. A report is the index of one symbol, in one
 * byte for k <= 256 and two above.
 * Theorem and proof: docs/proofs.md#flip.
 */
#include "base/bytes.h"
#include "channel/symbols.h"
#include "random/draw.h"

static uint32_t
names(const struct channel_instance *instance, const uint8_t *wire, uint32_t i)
{
    return bytes_load(wire, instance->wire_size) == i;
}

static enum sotto_status
init(struct channel_instance *instance, void *own)
{
    struct symbols *symbols = (struct symbols *)own;
    symbols_init(instance, symbols, 1);
    symbols->names = names;
    instance->wire_size = instance->size <= 256 ? 1 : 2;
    instance->entropy_size = ODDS_DRAW_SIZE + DRAW_BELOW_SIZE;
    return SOTTO_STATUS_OK;
}

/* Another symbol is drawn whether it is needed or not. */
static void
sample(const struct channel_instance *instance, const int32_t *q,
       struct random *random, uint8_t *ret_wire)
{
    uint32_t truth = (uint32_t)q[0];
    uint32_t hit = odds_draw(&symbols_of(instance)->odds, random);
    uint32_t other = draw_below(random, instance->size - 1);
    other += (uint32_t)(((uint64_t)other - truth) >> 63) ^ 1; /* skip truth */
    bytes_store(ret_wire, instance->wire_size,
                other ^ ((other ^ truth) & (0 - hit)));
}

const struct channel channel_flip = {
    .name = "flip",
    .domain = CHANNEL_DOMAIN_SYMBOLS,
    .promise = "the true answer is sent only some of the time; otherwise "
               "another answer is drawn by lot",
    .own_size = sizeof(struct symbols),
    .init = init,
    .sample = sample,
    .valid = symbols_valid,
};
