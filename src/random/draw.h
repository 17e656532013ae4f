/*
 * draw.h: the exact primitives every sampler is made of.
 *
 * Draws with exactly known probabilities, each in a number of steps that
 * depends on neither its outcome nor a record (invariant 7), except with
 * probability below 2^-64:
 *
 *   draw_below      uniform on {0, ..., n-1}
 *   draw_bernoulli  a coin with a rational probability
 *   draw_symbol     a symbol of a table of 256-bit thresholds
 *   draw_under      a coin with one threshold of a table, which one a secret
 *   draw_accepted   rejection sampling, in a fixed number of attempts
 *
 * An audit answers these few questions itself (struct draw_tape): it takes
 * every answer in turn and multiplies up its exact probability. So the very
 * samplers that ship are enumerated, not their formulas.
 */
#ifndef SOTTO_RANDOM_DRAW_H
#define SOTTO_RANDOM_DRAW_H

#include <stdint.h>

#include "random/random.h"

/* Uniform on {0, ..., n-1}, exactly; n >= 1 must be public. 12 bytes. */
uint32_t draw_below(struct random *random, uint32_t n);

/* 1 with probability numerator / denominator, exactly. 12 bytes. */
uint32_t draw_bernoulli(struct random *random, uint32_t numerator,
                        uint32_t denominator);

/*
 * A probability as a 256-bit fraction: high 2^-56 + low 2^-256, where low is
 * 200 bits in little-endian limbs, the last of 8 bits. high < 2^56 - 1.
 */
struct draw_threshold {
    uint64_t high;
    uint32_t low[7];
};

/* A table has room for 4 or 32 thresholds; those it does not use are zero. */
#define DRAW_SMALL 4u
#define DRAW_FULL 32u
#define DRAW_THRESHOLDS_MAX (13 * DRAW_FULL)

#define DRAW_TABLES_SIZE 28u /* bytes drawn by draw_tables */
#define DRAW_SYMBOL_SIZE 7u  /* bytes drawn by draw_symbol */
#define DRAW_BELOW_SIZE 12u  /* bytes drawn by draw_below */

/*
 * The tables of one sampler, made ready for drawing: `threshold` are the
 * concatenated tables; `edge` is twice `high`, and one more with exactly the
 * probability of the bits dropped.
 */
struct draw_tables {
    const struct draw_threshold *threshold;
    uint32_t count;
    uint32_t spent;
    uint64_t edge[DRAW_THRESHOLDS_MAX];
};

/* Makes `count` thresholds ready, for DRAW_BATCH samples at most. */
#define DRAW_BATCH 64u
void draw_tables(struct random *random, const struct draw_threshold *threshold,
                 uint32_t count, struct draw_tables *ret_tables);

/*
 * Draws from the table of `size` (DRAW_SMALL or DRAW_FULL) thresholds
 * S_1 >= S_2 >= ... that starts at `first`: returns how many of them lie above
 * a uniform U in [0, 1), that is symbol i with probability S_i - S_(i+1),
 * where S_0 = 1 and S_(size+1) = 0.
 */
uint32_t draw_symbol(struct random *random, struct draw_tables *tables,
                     uint32_t first, uint32_t size);

/*
 * 1 with probability S_index of the table of DRAW_FULL thresholds that starts
 * at `first`, where S_0 = 1; index <= DRAW_FULL may be secret.
 */
uint32_t draw_under(struct random *random, struct draw_tables *tables,
                    uint32_t first, uint32_t index);

/*
 * Rejection sampling in fixed work: runs `attempt` exactly `tries` times.
 * Each run writes a candidate at `place` and returns 1 to keep it or 0 not to;
 * `place` counts those kept, up to `wanted`, so there must be room for
 * wanted + 1 candidates. Which attempts are kept must depend on nothing but
 * what they drew. If fewer than `wanted` were kept, the source has failed:
 * choose `tries` so that this has probability below 2^-64.
 */
void draw_accepted(struct random *random,
                   uint32_t (*attempt)(struct random *random, void *context,
                                       uint32_t place),
                   void *context, uint32_t wanted, uint32_t tries);

/*
 * What answers in an audit in place of random bytes. `context` is the source's.
 * draw_accepted runs `wanted` attempts, tells `rejected` of each that would
 * not have been kept, and goes on as if it had: what the sampler gives on the
 * other branches is, up to the normalising constant, what it gives on a device
 * that has not failed.
 */
struct draw_tape {
    uint32_t (*below)(void *context, uint32_t n);
    uint32_t (*bernoulli)(void *context, uint32_t numerator,
                          uint32_t denominator);
    uint32_t (*symbol)(void *context, const struct draw_threshold *table,
                       uint32_t size);
    uint32_t (*under)(void *context, const struct draw_threshold *table,
                      uint32_t index);
    void (*rejected)(void *context);
};

#endif
