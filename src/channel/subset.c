/*
 * subset.c: subset selection: a set of w of the k symbols, of the size that
 * estimates frequencies best, which holds the true one with probability
 * w e^epsilon / (w e^epsilon + k - w) and is uniform otherwise.
 *
 * A report is a bitmap of k bits, symbol i at bit i % 8 of byte i / 8, the
 * bits past k zero: a bitmap has no order that could point at the truth.
 */
#include "base/bytes.h"
#include "channel/symbols.h"
#include "random/draw.h"
#include "random/subsets.h"

static const struct symbols *
own_of(const struct channel_instance *instance)
{
    return (const struct symbols *)instance->own;
}

static enum sotto_status
init(struct channel_instance *instance, void *own)
{
    uint32_t k = instance->size;
    symbols_init(instance, (struct symbols *)own,
                 symbols_best_w(k, instance->eps));
    instance->wire_size = (k + 7) / 8;
    instance->entropy_size = SYMBOLS_HIT_SIZE + (k - 1) * DRAW_BELOW_SIZE;
    instance->values = own_of(instance)->w;
    return SOTTO_STATUS_OK;
}

static uint32_t
has(const uint8_t *bitmap, uint32_t i)
{
    return (bitmap[i / 8] >> (i % 8)) & 1;
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
    const struct symbols *own = own_of(instance);
    uint32_t k = instance->size;
    uint32_t hit = symbols_draw_hit(own, random);
    ret_wire[(k - 1) / 8] = 0;
    subsets_draw(random, k - 1, own->w - hit, ret_wire);
    insert_bit(ret_wire, k, (uint32_t)q[0], hit);
}

static bool
valid(const struct channel_instance *instance, const uint8_t *wire)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < 8 * instance->wire_size; i++) {
        if (has(wire, i) && i >= instance->size) {
            return false;
        }
        count += has(wire, i);
    }
    return count == own_of(instance)->w;
}

static double
log_p(const struct channel_instance *instance, const uint8_t *wire,
      const int32_t *q)
{
    const struct symbols *own = own_of(instance);
    return has(wire, (uint32_t)q[0]) ? own->log_in : own->log_out;
}

static void
log_p_many(const struct channel_instance *instance, const uint8_t *wire,
           const int32_t *q, size_t n, double *ret_log_p)
{
    for (size_t i = 0; i < n; i++) {
        ret_log_p[i] = log_p(instance, wire, q + i);
    }
}

static void
estimate(const struct channel_instance *instance, const uint8_t *wire,
         double *ret_estimate)
{
    double hit = symbols_estimate(own_of(instance), true);
    double miss = symbols_estimate(own_of(instance), false);
    for (uint32_t i = 0; i < instance->size; i++) {
        ret_estimate[i] = has(wire, i) ? hit : miss;
    }
}

/* The members, in increasing order. */
static void
unpack(const struct channel_instance *instance, const uint8_t *wire,
       int64_t *ret_values)
{
    for (uint32_t i = 0; i < instance->size; i++) {
        if (has(wire, i)) {
            *ret_values++ = i;
        }
    }
}

static bool
pack(const struct channel_instance *instance, const int64_t *values,
     uint8_t *ret_wire)
{
    bytes_clear(ret_wire, instance->wire_size);
    for (uint32_t i = 0; i < instance->values; i++) {
        if (values[i] < 0 || values[i] >= instance->size ||
            (i > 0 && values[i] <= values[i - 1])) {
            return false;
        }
        ret_wire[values[i] / 8] |= (uint8_t)(1u << (values[i] % 8));
    }
    return true;
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
    .log_p = log_p,
    .log_p_many = log_p_many,
    .estimate = estimate,
    .unpack = unpack,
    .pack = pack,
};
