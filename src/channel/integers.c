/*
 * integers.c: reports that are d integers, noise added to the point.
 */
#include "channel/integers.h"

#include "base/bytes.h"

static uint32_t
width_of(int64_t clamp)
{
    if (clamp <= INT16_MAX) {
        return 2;
    }
    return clamp <= INT32_MAX ? 4 : 8;
}

void
integers_init(struct integers *integers, int64_t clamp,
              struct channel_instance *instance)
{
    integers->clamp = clamp;
    integers->width = width_of(clamp);
    instance->wire_size = instance->size * integers->width;
}

int64_t
integers_at(const struct integers *integers, const uint8_t *wire, uint32_t i)
{
    uint32_t width = integers->width, shift = 64 - 8 * width;
    uint64_t bits = bytes_load(wire + (size_t)i * width, width);
    return (int64_t)(bits << shift) / ((int64_t)1 << shift);
}

/* y if y <= bound, else bound; without a branch. */
static int64_t
least(int64_t y, int64_t bound)
{
    uint64_t over = 0 - ((uint64_t)(bound - y) >> 63);
    return (int64_t)((uint64_t)y ^ (((uint64_t)y ^ (uint64_t)bound) & over));
}

void
integers_put(const struct integers *integers, uint8_t *wire, uint32_t i,
             int64_t y)
{
    uint32_t width = integers->width;
    y = -least(-least(y, integers->clamp), integers->clamp);
    bytes_store(wire + (size_t)i * width, width, (uint64_t)y);
}

bool
integers_valid(const struct channel_instance *instance, const uint8_t *wire)
{
    const struct integers *own = (const struct integers *)instance->own;
    for (uint32_t i = 0; i < instance->size; i++) {
        int64_t y = integers_at(own, wire, i);
        if (y > own->clamp || y < -own->clamp) {
            return false;
        }
    }
    return true;
}
