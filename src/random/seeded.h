/*
 * seeded.h: the generator for training and simulation; never for a record.
 *
 * Counter-based (Philox 4x32 with 10 rounds): the bytes of a stream are a pure
 * function of (seed, stream, position), so work split over threads by stream
 * gives the same result however many there are. No function of the device's
 * path takes this type (invariant 3).
 */
#ifndef SOTTO_RANDOM_SEEDED_H
#define SOTTO_RANDOM_SEEDED_H

#include "random/random.h"

struct seeded {
    union {
        struct random random;
        struct simulation simulation;
    };
    uint64_t seed;
    uint64_t stream;
    uint64_t block; /* next counter value */
    uint8_t buffer[512];
};

void seeded_init(struct seeded *seeded, uint64_t seed, uint64_t stream);

/* Philox 4x32-10 itself: one block, counter = (position, stream), key = seed;
   for known-answer tests, and where of many streams little is needed. */
void seeded_philox(const uint32_t counter[4], const uint32_t key[2],
                   uint32_t ret_block[4]);

#endif
