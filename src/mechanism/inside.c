/*
 * inside.c: whether a point lies in a domain of numbers.
 */
#include "mechanism/inside.h"

#include <stdlib.h>

bool
inside_domain(enum channel_domain domain, size_t d, size_t l, const int32_t *q)
{
    uint64_t sum = 0, squares = 0;
    for (size_t i = 0; i < d; i++) {
        uint64_t size = (uint64_t)llabs((long long)q[i]);
        if (size > l) {
            return false;
        }
        sum += size;
        squares += size * size; /* 2^12 of at most 2^40 each */
    }
    switch (domain) {
    case CHANNEL_DOMAIN_CUBE:
        return true;
    case CHANNEL_DOMAIN_BALL:
        return squares <= (uint64_t)l * l;
    default:
        return sum <= l;
    }
}
