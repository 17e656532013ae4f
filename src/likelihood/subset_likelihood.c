/*
 * subset_likelihood.c: what reports of subset selection say.
 */
#include "base/bytes.h"
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

const struct likelihood likelihood_subset = {
    .name = "subset",
    .init = symbols_likelihood_init,
    .realised = symbols_realised,
    .log_p = symbols_log_p,
    .log_p_many = symbols_log_p_many,
    .estimate = symbols_estimate,
    .unpack = symbols_unpack,
    .pack = pack,
};
