/*
 * flip.c: k-ary randomised response: the true symbol with probability
 * e^epsilon / (e^epsilon + k - 1), each other one equally often.
 *
 * The case w = 1 of symbols.h. A report is the index of one symbol, in one
 * byte for k <= 256 and two above.
 */
#include "base/bytes.h"
#include "channel/symbols.h"
#include "random/draw.h"

static const struct symbols *
own_of(const struct channel_instance *instance)
{
    return (const struct symbols *)instance->own;
}

static enum sotto_status
init(struct channel_instance *instance, void *own)
{
    symbols_init(instance, (struct symbols *)own, 1);
    instance->wire_size = instance->size <= 256 ? 1 : 2;
    instance->entropy_size = SYMBOLS_HIT_SIZE + DRAW_BELOW_SIZE;
    instance->values = 1;
    return SOTTO_STATUS_OK;
}

/* Another symbol is drawn whether it is needed or not. */
static void
sample(const struct channel_instance *instance, const int32_t *q,
       struct random *random, uint8_t *ret_wire)
{
    uint32_t truth = (uint32_t)q[0];
    uint32_t hit = symbols_draw_hit(own_of(instance), random);
    uint32_t other = draw_below(random, instance->size - 1);
    other += (uint32_t)(((uint64_t)other - truth) >> 63) ^ 1; /* skip truth */
    bytes_store(ret_wire, instance->wire_size,
                other ^ ((other ^ truth) & (0 - hit)));
}

static int32_t
named(const struct channel_instance *instance, const uint8_t *wire)
{
    return (int32_t)bytes_load(wire, instance->wire_size);
}

static bool
valid(const struct channel_instance *instance, const uint8_t *wire)
{
    return (uint32_t)named(instance, wire) < instance->size;
}

static double
log_p(const struct channel_instance *instance, const uint8_t *wire,
      const int32_t *q)
{
    const struct symbols *own = own_of(instance);
    return named(instance, wire) == q[0] ? own->log_in : own->log_out;
}

static void
log_p_many(const struct channel_instance *instance, const uint8_t *wire,
           const int32_t *q, size_t n, double *ret_log_p)
{
    const struct symbols *own = own_of(instance);
    int32_t symbol = named(instance, wire);
    for (size_t i = 0; i < n; i++) {
        ret_log_p[i] = q[i] == symbol ? own->log_in : own->log_out;
    }
}

static void
estimate(const struct channel_instance *instance, const uint8_t *wire,
         double *ret_estimate)
{
    double miss = symbols_estimate(own_of(instance), false);
    for (uint32_t i = 0; i < instance->size; i++) {
        ret_estimate[i] = miss;
    }
    ret_estimate[named(instance, wire)] =
        symbols_estimate(own_of(instance), true);
}

static void
unpack(const struct channel_instance *instance, const uint8_t *wire,
       int64_t *ret_values)
{
    ret_values[0] = named(instance, wire);
}

static bool
pack(const struct channel_instance *instance, const int64_t *values,
     uint8_t *ret_wire)
{
    if (values[0] < 0 || values[0] >= instance->size) {
        return false;
    }
    bytes_store(ret_wire, instance->wire_size, (uint64_t)values[0]);
    return true;
}

const struct channel channel_flip = {
    .name = "flip",
    .domain = CHANNEL_DOMAIN_SYMBOLS,
    .promise = "the true answer is sent only some of the time; otherwise "
               "another answer is drawn by lot",
    .own_size = sizeof(struct symbols),
    .init = init,
    .sample = sample,
    .valid = valid,
    .log_p = log_p,
    .log_p_many = log_p_many,
    .estimate = estimate,
    .unpack = unpack,
    .pack = pack,
};
