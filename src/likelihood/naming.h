/*
 * naming.h: how many of many reports name each symbol, counted as fast as
 * memory gives them.
 *
 * A bitmap names symbol i by bit i % 8 of byte i / 8. Counting it bit by bit
 * would take a step a symbol and a report; here 64 symbols of 16 reports are
 * added at a time by carry-save adders (Harley and Seal), whose planes are
 * emptied into the counts after 256 reports.
 */
#ifndef SOTTO_LIKELIHOOD_NAMING_H
#define SOTTO_LIKELIHOOD_NAMING_H

#include <stddef.h>
#include <stdint.h>

/* Reports that lie `stride` bytes from one to the next. */
struct naming {
    const uint8_t *first;
    size_t stride, n;
};

/* Adds how many bitmaps have each of their first `bits` bits set. */
void naming_count_bits(const struct naming *reports, size_t bits,
                       uint64_t *count);
/* Adds how many pairs of a bitmap of k[0] bits and one of k[1] bits, which
   begins `second` bytes behind it, agree in bits i and j: count[i k[1] + j]. */
void naming_count_pairs(const struct naming *reports, size_t second,
                        const uint32_t k[2], uint64_t *count);
/* How many bits of a bitmap of `bytes` bytes are set. */
uint32_t naming_weight(const uint8_t *bitmap, size_t bytes);

#endif
