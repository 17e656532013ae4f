/*
 * draw.c: the exact primitives every sampler is made of.
 *
 * draw_symbol compares a 256-bit uniform with 256-bit thresholds but draws
 * only its first 56 bits: entropy is what sampling costs. The other 200 matter
 * only if those 56 equal the first 56 of a threshold: a tie. So one 200-bit
 * tail is drawn ahead for a batch of samples:
 *
 *     U < S   <=>   u < high  or  (u = high and tail < low)
 *             <=>   2u < 2 high + [tail < low]  =: edge
 *
 * The tail serves one tie. A draw that ties after the tail was spent gets a
 * fresh one. Whether the tail is spent depends on the ties so far and not on
 * the tail itself (it must not: a tail that survives because of its value is
 * no longer uniform), so every draw is exact and independent of all others.
 * Only a second tie changes the number of steps. A sample meets at most 324
 * thresholds of one tail (draw_under looks at one of its 32) and ties with
 * probability below 2^-47.6, so two ties in a batch of 64 have probability
 * below 2^-84. The largest report has 2^10 such batches, or 2^16 of attempts
 * that meet 164: below 2^-69, whatever the record (docs/channels.md).
 */
#include "random/draw.h"

#include "base/bytes.h"

#define BELOW_TRIES 8

/*
 * Lemire's method on 96 bits: U n = outcome 2^96 + rest, rejected if rest <
 * 2^96 mod n, which leaves exactly floor(2^96 / n) values of U for every
 * outcome. A rejection has probability below n 2^-96 <= 2^-64 and is
 * independent of the outcome; after eight in a row the source is broken. Two
 * differences are negative if it is one, and one jump looks at both: of two
 * comparisons clang makes two jumps, and the first would be taken or not once
 * in 2^32/n draws.
 */
uint32_t
draw_below(struct random *random, uint32_t n)
{
    uint64_t step = (UINT64_C(1) << 32) % n;
    uint64_t excess = (step * step % n) * step % n; /* 2^96 mod n */
    if (random->tape != NULL) {
        return random->tape->below(random->context, n);
    }
    for (int i = 0; i < BELOW_TRIES; i++) {
        uint64_t low = (uint64_t)random_u32(random) * n;
        uint64_t middle = (uint64_t)random_u32(random) * n + (low >> 32);
        uint64_t high = (uint64_t)random_u32(random) * n + (middle >> 32);
        uint64_t above = (uint32_t)high | (uint32_t)middle;
        if ((((uint32_t)low - excess) & (above - 1)) >> 63 == 0) {
            return (uint32_t)(high >> 32);
        }
    }
    random->failed = true;
    return 0;
}

uint32_t
draw_bernoulli(struct random *random, uint32_t numerator, uint32_t denominator)
{
    uint64_t drawn;
    if (random->tape != NULL) {
        return random->tape->bernoulli(random->context, numerator, denominator);
    }
    drawn = draw_below(random, denominator);
    return (uint32_t)((drawn - numerator) >> 63);
}

/* Whether a < b, both 200 bits, without a branch. */
static uint64_t
less(const uint32_t a[7], const uint32_t b[7])
{
    uint64_t borrow = 0;
    for (int i = 0; i < 7; i++) {
        borrow = ((uint64_t)a[i] - b[i] - borrow) >> 63;
    }
    return borrow;
}

static void
set_edges(struct random *random, struct draw_tables *tables)
{
    uint32_t tail[7];
    for (int i = 0; i < 7; i++) {
        tail[i] = random_u32(random);
    }
    tail[6] &= 0xff;
    for (uint32_t i = 0; i < tables->count; i++) {
        const struct draw_threshold *threshold = &tables->threshold[i];
        tables->edge[i] = 2 * threshold->high + less(tail, threshold->low);
    }
    tables->spent = 0;
    bytes_wipe(tail, sizeof tail);
}

void
draw_tables(struct random *random, const struct draw_threshold *threshold,
            uint32_t count, struct draw_tables *ret_tables)
{
    ret_tables->threshold = threshold;
    ret_tables->count = count;
    if (random->tape == NULL) {
        set_edges(random, ret_tables);
    }
}

/*
 * How many edges lie above 2u; bit 16 is set if u ties with a threshold, that
 * is, if an edge is 2u or 2u + 1. All values are below 2^63, so the sign of a
 * difference is a comparison: shifts and sums alone, because compilers turn
 * those into vector code everywhere. Inlined so that `size` is a constant.
 */
static inline uint32_t
scan(const uint64_t *edge, uint32_t size, uint64_t u)
{
    uint64_t above = 0, tie = 0;
    for (uint32_t i = 0; i < size; i++) {
        uint64_t x = 2 * u - edge[i];
        above += x >> 63;
        tie |= ((x + 1) >> 1) - 1; /* negative if x is 0 or -1 */
    }
    return (uint32_t)(above | tie >> 63 << 16);
}

static uint32_t
scan_table(const struct draw_tables *tables, uint32_t first, uint32_t size,
           uint64_t u)
{
    return size == DRAW_FULL ? scan(tables->edge + first, DRAW_FULL, u)
                             : scan(tables->edge + first, DRAW_SMALL, u);
}

uint32_t
draw_symbol(struct random *random, struct draw_tables *tables, uint32_t first,
            uint32_t size)
{
    uint64_t u;
    uint32_t found;
    if (random->tape != NULL) {
        return random->tape->symbol(random->context, tables->threshold + first,
                                    size);
    }
    u = random_u56(random);
    found = scan_table(tables, first, size, u);
    if ((found >> 16 & tables->spent) != 0) {
        set_edges(random, tables);
        found = scan_table(tables, first, size, u);
    }
    tables->spent |= found >> 16;
    return found & 0xffff;
}

/* The edge of threshold `index` of a table of DRAW_FULL, found by looking at
   all; one above everything for index 0. The mask is volatile because clang,
   seeing that it is all ones or nothing, jumps instead. */
static uint64_t
pick_edge(const uint64_t *edge, uint32_t index)
{
    uint64_t picked = (uint64_t)1 << 62;
    for (uint32_t i = 0; i < DRAW_FULL; i++) {
        uint64_t other = (uint64_t)(index ^ (i + 1));
        volatile uint64_t hidden = 0 - ((other - 1) >> 63);
        uint64_t mask = hidden;
        picked = (picked & ~mask) | (edge[i] & mask);
    }
    return picked;
}

uint32_t
draw_under(struct random *random, struct draw_tables *tables, uint32_t first,
           uint32_t index)
{
    uint64_t u, edge;
    uint32_t found;
    if (random->tape != NULL) {
        return random->tape->under(random->context, tables->threshold + first,
                                   index);
    }
    u = random_u56(random);
    edge = pick_edge(tables->edge + first, index);
    found = scan(&edge, 1, u);
    if ((found >> 16 & tables->spent) != 0) {
        set_edges(random, tables);
        edge = pick_edge(tables->edge + first, index);
        found = scan(&edge, 1, u);
    }
    tables->spent |= found >> 16;
    return found & 1;
}

static void
play_accepted(struct random *random,
              uint32_t (*attempt)(struct random *, void *, uint32_t),
              void *context, uint32_t wanted)
{
    for (uint32_t i = 0; i < wanted; i++) {
        if (attempt(random, context, i) == 0) {
            random->tape->rejected(random->context);
        }
    }
}

void
draw_accepted(struct random *random,
              uint32_t (*attempt)(struct random *, void *, uint32_t),
              void *context, uint32_t wanted, uint32_t tries)
{
    uint32_t kept = 0;
    if (random->tape != NULL) {
        play_accepted(random, attempt, context, wanted);
        return;
    }
    for (uint32_t i = 0; i < tries; i++) {
        uint32_t room = (uint32_t)(((uint64_t)kept - wanted) >> 63);
        kept += attempt(random, context, kept) & room;
    }
    random->failed |= kept < wanted;
}
