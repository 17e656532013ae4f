/*
 * vectors.h: 16 numbers at a time, for the inner loops: vectors that the
 * compiler cuts to what the processor has.
 */
#ifndef SOTTO_LEARN_VECTORS_H
#define SOTTO_LEARN_VECTORS_H

#include <stddef.h>
#include <stdint.h>

#define LANES 16u

typedef float floats __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t ints __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint16_t halves __attribute__((vector_size(32), aligned(2), may_alias));

#define INLINE static inline __attribute__((always_inline))
#define LOAD(type, from) (*(const type *)(const void *)(from))
#define STORE(type, to, value) (*(type *)(void *)(to) = (value))

/* Adds them up: pairs, then pairs of pairs, one order for all. */
INLINE double
sum_lanes(const floats *lanes)
{
    double part[LANES];
    for (size_t i = 0; i < LANES; i++) {
        part[i] = (double)(*lanes)[i];
    }
    for (size_t width = LANES / 2; width > 0; width /= 2) {
        for (size_t i = 0; i < width; i++) {
            part[i] += part[i + width];
        }
    }
    return part[0];
}

#endif
