/*
 * subset_likelihood.c: what reports of subset selection say.
 */
#include "base/bytes.h"
#include "likelihood/naming.h"
#include "likelihood/symbols_likelihood.h"

static bool
pack(const struct likelihood_instance *at, const int64_t *values,
     uint8_t *ret_wire)
{
    bytes_clear(ret_wire, at->instance->wire_size);
    if (!symbols_listed(at, values)) {
        return false;
    }
    for (uint32_t i = 0; i < at->values; i++) {
        ret_wire[values[i] / 8] |= (uint8_t)(1u << (values[i] % 8));
    }
    return true;
}

/* w symbols, and nothing past the last. */
static bool
valid(const struct likelihood_instance *at, const uint8_t *wire)
{
    uint32_t size = at->instance->size, bytes = at->instance->wire_size;
    uint32_t past = size % 8 != 0 ? (uint32_t)wire[bytes - 1] >> (size % 8) : 0;
    return past == 0 &&
           naming_weight(wire, bytes) == symbols_of(at->instance)->w;
}

static void
count_named(const struct likelihood_instance *at, const uint8_t *wire,
            size_t stride, size_t n, uint64_t *count)
{
    const struct naming reports = {wire, stride, n};
    naming_count_bits(&reports, at->instance->size, count);
}

static void
unpack(const struct likelihood_instance *at, const uint8_t *wire,
       int64_t *ret_values)
{
    for (uint32_t i = 0; i < at->instance->wire_size; i++) {
        for (uint32_t byte = wire[i]; byte != 0; byte &= byte - 1) {
            *ret_values++ = 8 * (int64_t)i + __builtin_ctz(byte);
        }
    }
}

const struct likelihood likelihood_subset = {
    .name = "subset",
    .init = symbols_likelihood_init,
    .realised = symbols_realised,
    .log_p = symbols_log_p,
    .log_p_many = symbols_log_p_many,
    .estimate = symbols_estimate,
    .unpack = unpack,
    .pack = pack,
    .valid = valid,
    .count = count_named,
    .mean = symbols_mean,
};
