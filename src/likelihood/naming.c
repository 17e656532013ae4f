/*
 * naming.c: vertical counters.
 *
 * plane[j] holds bit j of 64 counters. A carry-save adder takes three words of
 * weight 2^j to one of 2^j and one of 2^(j+1):
 *
 *     16 reports -> 15 adders -> ones, twos, fours, eights and a word of 16s
 *     word of 16s -> ripples into planes 4 to 7, emptied every 16 such words
 */
#include "likelihood/naming.h"

#include <string.h>

#define PLANES 8u
#define GROUP 16u                  /* reports that are added at a time */
#define ROUND ((size_t)16 * GROUP) /* of which the planes can hold no more */
#define WORD 64u                   /* symbols */

/* Bits `from` to from + 63 of a bitmap of so many bits; 0 past the last. */
static uint64_t
load_word(const uint8_t *bitmap, size_t from, size_t bits)
{
    size_t bytes = (bits + 7) / 8 - from / 8;
    uint64_t word = 0;
    memcpy(&word, bitmap + from / 8, bytes < sizeof word ? bytes : sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The same where eight bytes can be read whatever they hold. */
static inline uint64_t
load_eight(const uint8_t *bitmap, size_t from, uint64_t mask)
{
    uint64_t word;
    memcpy(&word, bitmap + from / 8, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word & mask;
}

uint32_t
naming_weight(const uint8_t *bitmap, size_t bytes)
{
    uint32_t weight = 0;
    for (size_t from = 0; from < 8 * bytes; from += WORD) {
        weight +=
            (uint32_t)__builtin_popcountll(load_word(bitmap, from, 8 * bytes));
    }
    return weight;
}

/* a + b + *low: *low is of the same weight, what is returned of twice it. */
static inline uint64_t
add_three(uint64_t *low, uint64_t a, uint64_t b)
{
    uint64_t half = a ^ b, carry = (a & b) | (half & *low);
    *low ^= half;
    return carry;
}

/* Adds 16 words; what is over is of weight 16. */
static uint64_t
add_group(uint64_t plane[PLANES], const uint64_t word[GROUP])
{
    uint64_t twos[2], fours[2], eights[2];
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < 2; j++) {
            const uint64_t *at = word + 8 * i + 4 * j;
            twos[0] = add_three(&plane[0], at[0], at[1]);
            twos[1] = add_three(&plane[0], at[2], at[3]);
            fours[j] = add_three(&plane[1], twos[0], twos[1]);
        }
        eights[i] = add_three(&plane[2], fours[0], fours[1]);
    }
    return add_three(&plane[3], eights[0], eights[1]);
}

/* Adds a word of weight 2^j. */
static void
ripple(uint64_t plane[PLANES], size_t j, uint64_t word)
{
    for (; word != 0 && j < PLANES; j++) {
        uint64_t carry = plane[j] & word;
        plane[j] ^= word;
        word = carry;
    }
}

static void
empty_planes(uint64_t plane[PLANES], size_t bits, uint64_t *count)
{
    for (size_t i = 0; i < bits && i < WORD; i++) {
        uint64_t sum = 0;
        for (size_t j = 0; j < PLANES; j++) {
            sum |= (plane[j] >> i & 1) << j;
        }
        count[i] += sum;
    }
    memset(plane, 0, PLANES * sizeof *plane);
}

/* Adds one column of words of fewer than ROUND reports: 8 planes hold 255. */
static void
count_word(const struct naming *reports, size_t from, size_t bits,
           uint64_t *count)
{
    uint64_t plane[PLANES] = {0}, word[GROUP];
    uint64_t mask =
        bits - from < WORD ? (UINT64_C(1) << (bits - from)) - 1 : UINT64_MAX;
    const uint8_t *at = reports->first;
    size_t left = reports->n;
    /* Eight bytes from one of a bitmap's end before the next one does. */
    while (left > GROUP && reports->stride >= sizeof mask) {
        for (size_t i = 0; i < GROUP; i++, at += reports->stride) {
            word[i] = load_eight(at, from, mask);
        }
        ripple(plane, 4, add_group(plane, word));
        left -= GROUP;
    }
    for (; left > 0; left--, at += reports->stride) {
        ripple(plane, 0, load_word(at, from, bits));
    }
    empty_planes(plane, bits - from, count + from);
}

/* Some reports of all, fewer than a round holds. */
static struct naming
take_round(const struct naming *reports, size_t at, size_t most)
{
    size_t left = reports->n - at;
    return (struct naming){reports->first + at * reports->stride,
                           reports->stride, left < most ? left : most};
}

void
naming_count_bits(const struct naming *reports, size_t bits, uint64_t *count)
{
    for (size_t at = 0; at < reports->n; at += ROUND - 1) {
        const struct naming some = take_round(reports, at, ROUND - 1);
        for (size_t from = 0; from < bits; from += WORD) {
            count_word(&some, from, bits, count);
        }
    }
}

/* ---- Pairs ----------------------------------------------------------------
 */

/* Row i of 64 becomes column i: blocks of 32, 16, ... change places. */
static void
transpose(uint64_t row[WORD])
{
    uint64_t mask = UINT64_C(0x00000000ffffffff);
    for (size_t j = WORD / 2; j != 0; j /= 2, mask ^= mask << j) {
        for (size_t k = 0; k < WORD; k = (k + j + 1) & ~j) {
            uint64_t moved = (row[k] >> j ^ row[k + j]) & mask;
            row[k] ^= moved << j;
            row[k + j] ^= moved;
        }
    }
}

/* Bit r of ret_column[i] is bit from + i of report r of 64. */
static void
take_columns(const struct naming *reports, size_t from, size_t bits,
             uint64_t ret_column[WORD])
{
    for (size_t r = 0; r < WORD; r++) {
        ret_column[r] =
            r < reports->n
                ? load_word(reports->first + r * reports->stride, from, bits)
                : 0;
    }
    transpose(ret_column);
}

static void
count_block(const struct naming *reports, size_t second, const uint32_t k[2],
            uint64_t *count)
{
    struct naming other = *reports;
    uint64_t a[WORD], b[WORD];
    uint64_t there =
        reports->n < WORD ? (UINT64_C(1) << reports->n) - 1 : UINT64_MAX;
    other.first += second;
    for (size_t right = 0; right < k[1]; right += WORD) {
        take_columns(&other, right, k[1], b);
        for (size_t left = 0; left < k[0]; left += WORD) {
            take_columns(reports, left, k[0], a);
            for (size_t i = left; i < k[0] && i < left + WORD; i++) {
                for (size_t j = right; j < k[1] && j < right + WORD; j++) {
                    uint64_t same = ~(a[i - left] ^ b[j - right]) & there;
                    count[i * k[1] + j] += (uint64_t)__builtin_popcountll(same);
                }
            }
        }
    }
}

void
naming_count_pairs(const struct naming *reports, size_t second,
                   const uint32_t k[2], uint64_t *count)
{
    for (size_t at = 0; at < reports->n; at += WORD) {
        const struct naming some = take_round(reports, at, WORD);
        count_block(&some, second, k, count);
    }
}
