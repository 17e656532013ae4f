/*
 * permute.h: the one Fisher-Yates, for training and simulation.
 *
 * An order is a pure function of (seed, stream, way, count), or of where a
 * generator stands: never of threads. Items are of `size` bytes, at most
 * PERMUTE_SIZE_MAX.
 */
#ifndef SOTTO_RANDOM_PERMUTE_H
#define SOTTO_RANDOM_PERMUTE_H

#include <stddef.h>

#include "random/random.h"

#define PERMUTE_SIZE_MAX 16u

/* Three ways, which draw other numbers. All orders are equally likely in each;
   files and results depend on which one made them, so all three stay. */
enum permute_way {
    PERMUTE_DOWN = 0, /* item i with one of 0 to i, from the last one down */
    PERMUTE_UP = 1,   /* the same from the first one up */
    PERMUTE_WIDE = 2  /* up, in draws of 56 bits: for more than 2^32 items */
};

/* Puts the items in an order that (seed, stream) decide. */
void permute(void *item, size_t size, size_t count, enum permute_way way,
             uint64_t seed, uint64_t stream);
/* Does so with the generator's next draws. */
void permute_drawn(void *item, size_t size, size_t count, enum permute_way way,
                   struct random *random);

#endif
