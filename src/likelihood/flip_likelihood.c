/*
 * flip_likelihood.c: what reports of k-ary randomised response say.
 */
#include "base/bytes.h"
#include "likelihood/symbols_likelihood.h"

static bool
pack(const struct likelihood_instance *at, const int64_t *values,
     uint8_t *ret_wire)
{
    bytes_store(ret_wire, at->instance->wire_size, (uint64_t)values[0]);
    return symbols_listed(at, values);
}

static bool
valid(const struct likelihood_instance *at, const uint8_t *wire)
{
    return bytes_load(wire, at->instance->wire_size) < at->instance->size;
}

static void
count_named(const struct likelihood_instance *at, const uint8_t *wire,
            size_t stride, size_t n, uint64_t *count)
{
    for (size_t i = 0; i < n; i++, wire += stride) {
        count[bytes_load(wire, at->instance->wire_size)]++;
    }
}

const struct likelihood likelihood_flip = {
    .name = "flip",
    .init = symbols_likelihood_init,
    .realised = symbols_realised,
    .log_p = symbols_log_p,
    .log_p_many = symbols_log_p_many,
    .estimate = symbols_estimate,
    .unpack = symbols_unpack,
    .pack = pack,
    .valid = valid,
    .count = count_named,
    .mean = symbols_mean,
};
