/*
 * lanes.h: w . x in sixteen running sums, added up in a fixed order: fast
 * without letting the compiler reorder, and the same bits everywhere.
 */
#ifndef SOTTO_ENCODE_LANES_H
#define SOTTO_ENCODE_LANES_H

#include <stdint.h>

#define LANES 16u

/* Product i goes to sum i mod 16. */
static inline void
lanes_add(float sum[LANES], const float *w, const float *x, uint32_t n)
{
    uint32_t whole = n - n % LANES;
    for (uint32_t i = 0; i < whole; i += LANES) {
        for (uint32_t j = 0; j < LANES; j++) {
            sum[j] += w[i + j] * x[i + j];
        }
    }
    for (uint32_t i = whole; i < n; i++) {
        sum[i - whole] += w[i] * x[i];
    }
}

/* The same with weights of which only the upper halves are kept. */
static inline void
lanes_add_half(float sum[LANES], const uint16_t *w, const float *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        union {
            uint32_t bits;
            float value;
        } u = {(uint32_t)w[i] << 16};
        sum[i % LANES] += u.value * x[i];
    }
}

static inline float
lanes_total(const float sum[LANES])
{
    float total = 0;
    for (uint32_t j = 0; j < LANES; j++) {
        total += sum[j];
    }
    return total;
}

#endif
